"""The tools that schedule prompts."""

from collections.abc import Awaitable, Callable
from typing import Any

from pydantic import Field

from harness.base.errors import HarnessError
from harness.engine.schedule.runner import ScheduleRunner
from harness.events import Json, ToolOutcome
from harness.policies.schedule.job import MissedTimes
from harness.tools.tool import Effect, Tool, ToolArguments, ToolContext, ToolResult, shorten_line

SCHEDULE_CREATE, SCHEDULE_LIST, SCHEDULE_DELETE = "schedule_create", "schedule_list", "schedule_delete"


class ScheduleArguments(ToolArguments):
    """Arguments of schedule_create."""

    when: str = Field(
        description="`in 3 minutes`, `at 09:30`, `2026-11-24 09:30`, @daily, or five cron fields: `30 9 * * 1-5`."
    )
    prompt: str = Field(description="What you are to do then, complete in itself.")
    lasting: bool = Field(default=False, description="Keep it for later sessions of this project.")
    missed: MissedTimes = Field(
        default=MissedTimes.ONCE, description="Times that pass while nothing can fire: skip them, fire once, or each."
    )
    zone: str = Field(default="", description="Time zone such as Europe/Oslo. Default: that of this machine.")


class NoArguments(ToolArguments):
    """Arguments of schedule_list."""


class JobArguments(ToolArguments):
    """Arguments of schedule_delete."""

    id: str = Field(description="Such as c3.")


def schedule_tools(schedule: Callable[[], ScheduleRunner]) -> tuple[Tool, ...]:
    """The tools of the schedule, which is made on first use."""

    async def create(_: ToolContext, arguments: ScheduleArguments) -> ToolResult:
        runner = schedule()
        given = arguments.model_dump()
        job = await runner.create(given.pop("when"), given.pop("prompt"), **given)
        text = f"{runner.described(job)}\nIt is {runner.now_text()} now."
        return ToolResult(text, summary=f"{job.id}: {job.when}")

    async def show(_: ToolContext, arguments: NoArguments) -> ToolResult:
        runner = schedule()
        text = await runner.listed()
        return ToolResult(f"{text}\nIt is {runner.now_text()} now.", summary=shorten_line(text, 60))

    async def delete(_: ToolContext, arguments: JobArguments) -> ToolResult:
        await schedule().delete(arguments.id)
        return ToolResult(f"{arguments.id} is deleted.", summary="deleted")

    def tool(name: str, arguments: type[ToolArguments], run: Callable[..., Any], words: str) -> Tool:
        effect = Effect.RUN if name == SCHEDULE_CREATE else Effect.READ
        return Tool(name, words, arguments, effect, _answered(run), _summary, changes=name == SCHEDULE_DELETE)

    return (
        tool(
            SCHEDULE_CREATE,
            ScheduleArguments,
            create,
            "Schedule a prompt that this session gets later, once or again and again. It fires only between turns. Not "
            "needed for background work, whose end is announced by itself.",
        ),
        tool(SCHEDULE_LIST, NoArguments, show, "List the scheduled prompts with their next times, and the time now."),
        tool(SCHEDULE_DELETE, JobArguments, delete, "Delete a scheduled prompt."),
    )


def _answered(run: Callable[[ToolContext, Any], Awaitable[ToolResult]]) -> Callable[..., Awaitable[ToolResult]]:
    async def answered(context: ToolContext, arguments: Any) -> ToolResult:
        try:
            return await run(context, arguments)
        except HarnessError as error:
            return ToolResult(str(error), ToolOutcome.ERROR, summary=shorten_line(str(error), 60))

    return answered


def _summary(input: Json) -> str:
    """A call in one line. The input may be anything."""
    parts = (input.get("when"), input.get("id"), input.get("prompt"))
    return shorten_line(" · ".join(part for part in parts if isinstance(part, str)))
