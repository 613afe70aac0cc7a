"""todo_write: the model declares the sub-tasks of its turn.

The tool keeps nothing. What it is given leaves it as `ToolResult.plan` and becomes an event, so that the plan
survives a restart and everybody who follows the session sees the same one. With the tools that each sub-task
needs, the dispatch layer can say what cannot be done while one of them is open.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field
from pydantic_core import from_json

from harness.events import ItemStatus, Json, PlanItem
from harness.tools.tool import Effect, Tool, ToolArguments, ToolContext, ToolResult, broken_rule, shorten_line

TODO_WRITE = "todo_write"
MOST_ITEMS = 20


def _one_line(text: str) -> str:
    line = " ".join(text.split())
    if not line:
        raise broken_rule("is empty")
    return line


def _none_as_empty(value: Any) -> Any:
    return [] if value is None else value


def parsed(value: Any) -> Any:
    """A list that came as JSON in a string, as models sometimes write it; other text stays, to be refused."""
    if not isinstance(value, str):
        return value
    try:
        return from_json(value)
    except ValueError:
        return value


OneLine = Annotated[str, AfterValidator(_one_line)]
"""Text on one line, not empty."""


class PlanItemArguments(ToolArguments):
    """One sub-task."""

    text: OneLine = Field(description="The sub-task, in a few words.")
    status: ItemStatus = Field(description="At most one item is in_progress.")
    tools: Annotated[list[OneLine], BeforeValidator(_none_as_empty)] = Field(
        default=[], description="Names of the tools it needs."
    )

    def item(self) -> PlanItem:
        """The item as the events know it."""
        return PlanItem(self.text, self.status, tuple(dict.fromkeys(self.tools)))


def _checked(items: list[PlanItemArguments]) -> list[PlanItemArguments]:
    """The list, when it is one plan. Raises what pydantic makes an error of."""
    if len(items) > MOST_ITEMS:
        raise broken_rule(f"has {len(items)} items; {MOST_ITEMS} are the most, so join some of them")
    twice = next((text for text, count in Counter(item.text for item in items).items() if count > 1), None)
    if twice is not None:
        raise broken_rule(f"names the same sub-task twice: {shorten_line(twice, 60)!r}")
    begun = sum(item.status is ItemStatus.IN_PROGRESS for item in items)
    if begun > 1:
        raise broken_rule(f"has {begun} items in progress; at most one may be")
    return items


class PlanArguments(ToolArguments):
    """Arguments of todo_write."""

    items: Annotated[list[PlanItemArguments], BeforeValidator(parsed), AfterValidator(_checked)] = Field(
        description=f"The whole list each time, in the order of work; {MOST_ITEMS} items at most."
    )


def todo_write_tool() -> Tool:
    """The tool todo_write."""

    async def todo_write(context: ToolContext, arguments: PlanArguments) -> ToolResult:
        plan = tuple(item.item() for item in arguments.items)
        return ToolResult(_plan_text(plan), summary=_counted(plan), plan=plan)

    return Tool(
        name=TODO_WRITE,
        description=(
            "Declare the sub-tasks of the current work. Send the whole list each time, and again whenever a sub-task "
            "starts or ends. Use it for work of several parts, not for a single step."
        ),
        arguments=PlanArguments,
        effect=Effect.READ,
        run=todo_write,
        summarise=_summary,
    )


def _plan_text(plan: Sequence[PlanItem]) -> str:
    if not plan:
        return "The list is empty."
    return "\n".join([*(item.line for item in plan), f"{_counted(plan)}."])


def _counted(plan: Sequence[PlanItem]) -> str:
    done = sum(not item.is_open for item in plan)
    return f"{_items(len(plan))}, {done} done" if plan else _items(0)


def _items(count: int) -> str:
    return f"{count or 'no'} item{'s' * (count != 1)}"


def _summary(input: Json) -> str:
    """The item in progress, or the length of the list. The input may be anything."""
    items = parsed(input.get("items"))
    if not isinstance(items, list):
        return ""
    for item in items:
        match item:
            case {"text": str(text), "status": ItemStatus.IN_PROGRESS.value}:
                return shorten_line(f"▸ {text}")
    return _items(len(items))
