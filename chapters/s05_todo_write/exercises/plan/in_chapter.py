"""An agent whose plan the learner keeps: its own `todo_write`, and hooks that report turns and steps."""

from collections.abc import Callable
from types import ModuleType
from typing import Any

from chapters.course import DemoSession
from harness.events import ItemStatus, PlanItem
from harness.hooks import HookAnswer, HookCall, hook
from harness.tools import Effect, ToolError, ToolResult, tool

STANDARD = ("read_file", "write_file", "edit_file", "bash", "glob")
EVERY = 2


async def demo(session: DemoSession, work: ModuleType) -> None:
    """One conversation. Its model makes one call per step, so the end of a call is the end of a step."""
    plan = work.Plan(EVERY)
    errors: list[Exception] = []

    def kept(function: Callable[..., Any], *given: Any) -> Any:
        try:
            return function(*given)
        except Exception as error:
            errors.append(error)
            raise

    @tool(effect=Effect.READ)
    async def todo_write(items: list[Any]) -> ToolResult:
        """Declare the parts of the work: the whole list each time, each part with a text and a status."""
        if wrong := kept(plan.write, items):
            raise ToolError(wrong)
        done = kept(lambda: tuple(PlanItem(item.text, ItemStatus(item.status)) for item in plan.items))
        lines = "\n".join(item.line for item in done) or "The list is empty."
        return ToolResult(lines, summary=f"{len(done)} items", plan=done)

    @hook("prompt_submit", name="begin_turn")
    async def begin_turn(call: HookCall) -> None:
        kept(plan.begin_turn)

    @hook("after_tool", name="after_step")
    async def after_step(call: HookCall) -> HookAnswer | None:
        left = kept(plan.after_step)
        return HookAnswer(context=f"Still open in your plan: {'; '.join(left)}") if left else None

    settings = session.settings(permission_mode="edits", plan_reminder=0)
    hooks = [begin_turn, after_step]
    async with session.agent(settings, tools=[todo_write], standard=STANDARD, hooks=hooks) as agent:
        async for prompt in session.prompts():
            await session.watch(agent.run(prompt))
            if errors:
                raise errors[0]
