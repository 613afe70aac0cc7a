"""propose_plan: the model ends plan mode with a plan, and the user decides.

The tool is always described, so that entering and leaving plan mode keeps the prompt cache; a call outside of plan mode
is refused. It waits for as long as the user thinks.
"""

from typing import Annotated, Protocol

from pydantic import AfterValidator, BeforeValidator, Field

from harness.events import Json, ProposedPlan
from harness.tools.todo_write import MOST_ITEMS, OneLine, parsed
from harness.tools.tool import Effect, Tool, ToolArguments, ToolContext, ToolResult, broken_rule, shorten_line

PROPOSE_PLAN = "propose_plan"


def _text(text: str) -> str:
    if not text.strip():
        raise broken_rule("is empty")
    return text.strip()


def _steps(steps: list[str]) -> list[str]:
    if len(steps) > MOST_ITEMS:
        raise broken_rule(f"has {len(steps)} items; {MOST_ITEMS} are the most, so join some of them")
    return list(dict.fromkeys(steps))


class ProposalArguments(ToolArguments):
    """Arguments of propose_plan."""

    plan: Annotated[str, AfterValidator(_text)] = Field(
        description="The whole plan in Markdown: what changes, where, why, and how it is checked."
    )
    steps: Annotated[list[OneLine], BeforeValidator(parsed), AfterValidator(_steps)] = Field(
        default=[], description=f"The steps in the order of work, each in a few words; {MOST_ITEMS} at most."
    )


class PlanProposals(Protocol):
    """Puts plans to the user."""

    async def propose(self, context: ToolContext, plan: ProposedPlan) -> ToolResult:
        """Ask whether to carry it out, and return the answer for the model. A cancellation takes the question back."""
        ...


def propose_plan_tool(proposals: PlanProposals) -> Tool:
    """The tool propose_plan."""

    async def propose_plan(context: ToolContext, arguments: ProposalArguments) -> ToolResult:
        return await proposals.propose(context, ProposedPlan(arguments.plan, tuple(arguments.steps)))

    return Tool(
        name=PROPOSE_PLAN,
        description=(
            "Only in plan mode: propose a plan and wait for the user, who approves it, edits it, or says what to "
            "change. The steps of an approved plan become the checklist of todo_write."
        ),
        arguments=ProposalArguments,
        effect=Effect.READ,
        run=propose_plan,
        summarise=_summary,
        caches=False,
        idempotent=False,
        timeout_s=float("inf"),
    )


def _summary(input: Json) -> str:
    """The first line of the plan. The input may be anything."""
    plan = input.get("plan")
    return shorten_line(plan.strip().lstrip("# ").partition("\n")[0]) if isinstance(plan, str) else ""
