"""The tools of a task board."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field
from pydantic.json_schema import SkipJsonSchema
from pydantic_core import from_json

from harness.base.external_text import counted
from harness.events import Json, TaskState, ToolOutcome
from harness.policies.tasks.decisions import DEFAULT_PRIORITY, Changes, Refused, TaskDraft, TaskEdit
from harness.policies.tasks.graph import Position, Standing, standings
from harness.policies.tasks.task import Task, TaskAction, number_of
from harness.tasks.board import BoardError
from harness.tasks.lines import MOST_LISTED, line_of, text_of
from harness.tasks.work import TaskWork
from harness.tools.tool import Effect, Tool, ToolArguments, ToolContext, ToolError, ToolResult, shorten_line

TASK_CREATE, TASK_UPDATE, TASK_CLAIM = "task_create", "task_update", "task_claim"
TASK_LIST, TASK_GET = "task_list", "task_get"
BOARD_TOOLS = (TASK_CREATE, TASK_UPDATE, TASK_CLAIM, TASK_LIST, TASK_GET)


def _parsed(value: Any) -> Any:
    """A list that came as JSON in a string, as models sometimes write it; other text stays, to be refused."""
    if not isinstance(value, str):
        return value
    try:
        return from_json(value)
    except ValueError:
        return value


Names = Annotated[list[str], BeforeValidator(_parsed)]


class NewTask(ToolArguments):
    """One task of task_create."""

    subject: str = Field(description="The task in one line.")
    description: str = Field(default="", description="All that whoever works on it has to know.")
    priority: int = Field(default=DEFAULT_PRIORITY, description="0 (most urgent) to 4.")
    needs: Names = Field(
        default=[], description="What must be completed first: ids, or names of other tasks of this call."
    )
    name: str = Field(default="", description="A name for `needs` of other tasks of this call.")
    assignee: str = Field(default="", description="The only agent that may claim it. Default: any.")


class CreateArguments(ToolArguments):
    """Arguments of task_create."""

    tasks: Annotated[list[NewTask], BeforeValidator(_parsed)] = Field(description="All of them, or none, are created.")


STATUSES: dict[str, TaskAction] = {
    "completed": TaskAction.COMPLETE,
    "failed": TaskAction.FAIL,
    "cancelled": TaskAction.CANCEL,
    "deferred": TaskAction.DEFER,
}
Status = Literal["pending", "completed", "failed", "cancelled", "deferred"]


class UpdateArguments(ToolArguments):
    """Arguments of task_update."""

    id: str = Field(description="Such as t3.")
    status: Status | SkipJsonSchema[None] = Field(
        default=None, description="pending gives your claim back, resumes a deferred task or reopens a failed one."
    )
    note: str | SkipJsonSchema[None] = Field(
        default=None, description="completed: what you checked; failed and deferred: why. Otherwise a remark."
    )
    subject: str | SkipJsonSchema[None] = None
    description: str | SkipJsonSchema[None] = None
    priority: int | SkipJsonSchema[None] = None
    assignee: str | SkipJsonSchema[None] = None
    add_needs: Names = Field(default=[], description="Ids.")
    drop_needs: Names = Field(default=[], description="Ids.")
    delete: bool = Field(default=False, description="Remove the task; only if no other one needs it.")


class ClaimArguments(ToolArguments):
    """Arguments of task_claim."""

    id: str = Field(default="", description="Default: the most urgent task that is ready.")


class ListArguments(ToolArguments):
    """Arguments of task_list."""

    status: Literal["open", "ready", "all"] | TaskState = Field(
        default="open", description="open: not completed, failed or cancelled; ready: can be claimed now."
    )
    offset: int = Field(default=0, ge=0, description="Tasks to skip.")


class GetArguments(ToolArguments):
    """Arguments of task_get."""

    id: str


def board_tools(work: TaskWork) -> tuple[Tool, ...]:
    """The tools with which an agent works on a board. They change only the board, so they need no permission."""

    def tool(name: str, arguments: type[ToolArguments], run: Callable[..., Any], words: str) -> Tool:
        changes = name not in (TASK_LIST, TASK_GET)
        on_board = _on_board(partial(run, work))
        return Tool(name, words, arguments, Effect.READ, on_board, summary_of, changes=changes, parallel=True)

    return (
        tool(
            TASK_CREATE,
            CreateArguments,
            _create,
            "Create tasks on the task board, which sessions and agents share and which survives this session. Use it "
            "for a goal that takes more than this conversation or several agents, with `needs` for what has to come "
            "first. For your own next steps use todo_write.",
        ),
        tool(
            TASK_CLAIM,
            ClaimArguments,
            _claim,
            "Claim a task of the board before you work on it. Only one agent can hold a task at a time.",
        ),
        tool(
            TASK_UPDATE,
            UpdateArguments,
            _update,
            "End a task that you have claimed, or change a task: its status, text, priority, assignee or needs.",
        ),
        tool(TASK_LIST, ListArguments, _show, "List the tasks of the board, the most urgent first."),
        tool(TASK_GET, GetArguments, _get, "One task of the board with its description and history."),
    )


async def _create(work: TaskWork, arguments: CreateArguments) -> ToolResult:
    drafts = [
        TaskDraft(one.subject, one.description, one.priority, tuple(one.needs), one.name, one.assignee)
        for one in arguments.tasks
    ]
    made = _done(await work.create(drafts)).tasks
    lines = [line_of(task) for task in made]
    return ToolResult("\n".join(["Created:", *lines]), summary=f"{made[0].id} to {made[-1].id}")


async def _update(work: TaskWork, arguments: UpdateArguments) -> ToolResult:
    id = arguments.id
    if arguments.delete:
        _done(await work.delete(id))
        return ToolResult(f"{id} is deleted.", summary="deleted")
    edit = TaskEdit(
        arguments.subject,
        arguments.description,
        arguments.priority,
        arguments.assignee,
        tuple(arguments.add_needs),
        tuple(arguments.drop_needs),
        arguments.note if arguments.status is None else None,
    )
    if arguments.status is not None:
        action = STATUSES.get(arguments.status) or await _back_to_pending(work, id)
        decided = await work.act(id, action, arguments.note or "", None if edit == TaskEdit() else edit)
    elif edit != TaskEdit():
        decided = await work.edit(id, edit)
    else:
        raise ToolError("Nothing to change; give a status or another field.")
    change = _done(decided)
    return ToolResult("\n".join(_change_lines(change)), summary=change.tasks[0].state.replace("_", " "))


async def _claim(work: TaskWork, arguments: ClaimArguments) -> ToolResult:
    (task,) = _done(await work.claim(arguments.id)).tasks
    text = "It is yours. End it with task_update: completed with what you checked, failed with why, or pending."
    return ToolResult(f"{text_of(task)}\n\n{text}", summary=f"{task.id}: {shorten_line(task.subject, 60)}")


async def _show(work: TaskWork, arguments: ListArguments) -> ToolResult:
    tasks = await work.tasks()
    positions = standings(tasks)
    chosen = [task for task in tasks.values() if _is_wanted(task, positions, arguments.status)]
    part = chosen[arguments.offset : arguments.offset + MOST_LISTED]
    lines = [line_of(task, positions.get(task.number), tasks) for task in part]
    if left := len(chosen) - arguments.offset - len(part):
        lines.append(f"… {left} more; offset {arguments.offset + len(part)} continues.")
    return ToolResult("\n".join(lines) or "No such task.", summary=counted(len(chosen), "task"))


async def _get(work: TaskWork, arguments: GetArguments) -> ToolResult:
    text = await work.described(arguments.id)
    return ToolResult(text, summary=shorten_line(text, 60))


def _on_board(run: Callable[[Any], Awaitable[ToolResult]]) -> Callable[..., Awaitable[ToolResult]]:
    async def answered(_: ToolContext, arguments: Any) -> ToolResult:
        try:
            return await run(arguments)
        except (ToolError, BoardError) as error:
            return ToolResult(str(error), ToolOutcome.ERROR, summary=shorten_line(str(error), 60))

    return answered


def _done(decided: Changes | Refused) -> Changes:
    if isinstance(decided, Refused):
        raise ToolError(decided.reason)
    return decided


async def _back_to_pending(work: TaskWork, id: str) -> TaskAction:
    task = (await work.tasks()).get(number_of(id) or 0)
    ended = task is not None and task.state in (TaskState.FAILED, TaskState.CANCELLED)
    return TaskAction.REOPEN if ended else TaskAction.RELEASE


def _is_wanted(task: Task, positions: dict[int, Position], status: str) -> bool:
    match status:
        case "all":
            return True
        case "open":
            return task.state in (TaskState.PENDING, TaskState.IN_PROGRESS, TaskState.DEFERRED)
        case "ready":
            position = positions.get(task.number)
            return position is not None and position.standing is Standing.READY
    return task.state == status


def _change_lines(change: Changes) -> list[str]:
    lines = [line_of(change.tasks[0])]
    if change.unblocked:
        lines.append(f"Can be claimed now: {', '.join(f't{number}' for number in change.unblocked)}.")
    if change.deferred:
        lines.append(f"Wait for it: {', '.join(f't{number}' for number in change.deferred)}.")
    lines += [change.said] if change.said else []
    return lines


def summary_of(input: Json) -> str:
    """A call in one line. The input may be anything."""
    tasks = _parsed(input.get("tasks"))
    if isinstance(tasks, list):
        return counted(len(tasks), "task")
    id, status = input.get("id"), input.get("status")
    return shorten_line(" ".join(part for part in (id, status) if isinstance(part, str)))
