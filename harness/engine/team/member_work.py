"""What one member does on the task board. Its claims outlive its turns, and a task is done only with evidence."""

from collections.abc import Awaitable, Callable
from dataclasses import replace

from harness.events import (
    Address,
    ClaimEnd,
    ClaimEnded,
    Event,
    MemberClaimed,
    ToolEnded,
    ToolOutcome,
    ToolStarted,
    TurnEnded,
)
from harness.permissions.requirements import SHELL
from harness.permissions.rules import FILE_TOOLS, WRITE
from harness.policies.tasks.decisions import Changes, Refused, TaskEdit
from harness.policies.tasks.task import Actor, Task, TaskAction, number_of
from harness.policies.team.claims import CommandRun, NoEvidence, Work, evidence
from harness.tasks.board import TaskBoard
from harness.tasks.work import RefusesTask, TaskWork
from harness.tools.tool import shorten_line

WRITES = frozenset(tool for tool, kind in FILE_TOOLS.items() if kind == WRITE)
LINE_CHARACTERS = 80
"""Of a command line that is named as evidence."""

Progress = Callable[[], Awaitable[tuple[int, int]]]
"""Commits since the task was claimed, and files that are not committed."""


class MemberWork(TaskWork):
    """One member on the board of its session, from its first task to its end."""

    def __init__(
        self, board: TaskBoard, actor: Actor, member: Address, emit: Callable[[Event], None], progress: Progress | None
    ) -> None:
        """
        Args:
            progress: looks at its worktree; None: it has none, and nothing of it is merged.
        """
        super().__init__(board, actor, emit=emit)
        self.member = member
        self._report = emit
        self._progress = progress
        self._work = Work()
        self._calls: dict[str, ToolStarted] = {}
        self.merging: dict[int, str] = {}
        """Finished tasks whose branch is to be merged first, by number, with the note of their completion."""
        self.reds = 0
        """How often its branch was given back since it claimed its task."""
        self.faults = 0
        """Faults of the model in a row."""
        self.denied: list[str] = []
        """Calls that were not allowed, each with why."""

    def at(self, refuses: RefusesTask | None) -> TaskWork:
        """The same, for an agent with these hooks."""
        self._refuses = refuses
        return self

    async def claim(self, id: str = "") -> Changes | Refused:
        """Claim a task; what shows that it is done counts from here."""
        decided = await super().claim(id)
        if isinstance(decided, Changes):
            (task,) = decided.tasks
            self._work, self.reds = Work(), 0
            self._report(MemberClaimed(self.member, task.id, task.subject, task.attempts + 1))
        return decided

    async def act(self, id: str, action: TaskAction, text: str = "", edit: TaskEdit | None = None) -> Changes | Refused:
        """End, defer, release or reopen a task. One that it holds is completed with evidence; if it has a worktree with
        commits, the program completes it, as soon as they are merged."""
        number = number_of(id) or 0
        if action is not TaskAction.COMPLETE or number not in self.claims or not text.strip():
            self.merging.pop(number, None)
            return await super().act(id, action, text, edit)
        commits, uncommitted = await self._progress() if self._progress is not None else (0, 0)
        found = evidence(replace(self._work, commits=commits, uncommitted=uncommitted))
        if isinstance(found, NoEvidence):
            return Refused(found.why)
        text = f"{text.strip()} ({found.text})"
        if not commits:
            return await super().act(id, action, text, edit)
        task = (await self.tasks())[number]
        if (refused := await self.not_completed(task, text)) is not None:
            return refused
        if edit is not None and isinstance(edited := await self.edit(id, edit), Refused):
            return edited
        self.merging[number] = text
        return Changes((task,), said=f"{id} is finished. End your turn: its branch is merged, then it is completed.")

    async def merged(self, number: int) -> Changes | Refused:
        """Complete a task whose branch is merged now."""
        return await super().act(f"t{number}", TaskAction.COMPLETE, self.merging.pop(number))

    def lost(self, number: int) -> None:
        """Somebody else may have this task now, so the branch of this member is not merged for it."""
        super().lost(number)
        self.merging.pop(number, None)
        self._report(ClaimEnded(self.member, f"t{number}", ClaimEnd.GIVEN_BACK, "its claim was not renewed in time"))

    async def held(self) -> tuple[Task, ...]:
        """The tasks that it holds."""
        tasks = await self.tasks()
        return tuple(tasks[number] for number in self.claims if number in tasks)

    async def turn_ended(self, why: str) -> None:
        """Its team decides what becomes of its claims."""

    async def agent_closed(self) -> None:
        """Its claims go on."""

    def on_event(self, event: Event) -> None:
        """An event of its agent."""
        match event:
            case ToolStarted(tool=tool) if tool == SHELL or tool in WRITES:
                self._calls[event.call_id] = event
            case ToolEnded(call_id=call_id, outcome=outcome, summary=summary) if call_id in self._calls:
                self._done(self._calls.pop(call_id), outcome, summary)
            case TurnEnded(denials=denials):
                self._calls.clear()
                self.denied += [f"{self.member.name}: {denial.tool}: {denial.why}" for denial in denials]

    def _done(self, call: ToolStarted, outcome: ToolOutcome, summary: str) -> None:
        succeeded = outcome is ToolOutcome.OK
        if call.tool == SHELL:
            run = CommandRun(shorten_line(call.summary, LINE_CHARACTERS), summary, succeeded)
            self._work = replace(self._work, runs=(*self._work.runs, run))
        elif succeeded and call.summary not in self._work.files:
            self._work = replace(self._work, files=(*self._work.files, call.summary))
