"""What one agent does on a board: its claims, renewed for as long as it runs, and its changes as events."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from typing import TypeVar

from harness.base.clock import Clock, SystemClock
from harness.base.concurrency import in_thread, shielded
from harness.events import BoardCounted, Event, HookPoint, Json, Notice, TaskChanged, TaskState
from harness.policies.tasks.decisions import Changes, Refused, TaskDraft, TaskEdit
from harness.policies.tasks.graph import Standing, Tasks, standings
from harness.policies.tasks.task import ENDED, Actor, Task, TaskAction, TaskClaim, number_of
from harness.tasks.board import BoardError, HistoryLine, TaskBoard
from harness.tasks.lines import MOST_LISTED, line_of, text_of, tree_lines

T = TypeVar("T")
RefusesTask = Callable[[HookPoint, Json], Awaitable[str]]
"""Says why a task may not be created or completed; empty: it may."""
RENEWALS = 3
"""How often a claim is renewed within its lease."""
WATCH_S = 10.0
"""Interval at which a session looks for tasks that other programs have made ready."""


class TaskWork:
    """One agent on one board. Methods that read or change it raise BoardError, except for `give_back` and `aclose`."""

    def __init__(
        self,
        board: TaskBoard,
        actor: Actor,
        clock: Clock | None = None,
        *,
        emit: Callable[[Event], None],
        wake: Callable[[str, str], None] = lambda actor, sentence: None,
        refuses: RefusesTask | None = None,
    ) -> None:
        """
        Args:
            board: the board; the caller closes it.
            actor: the agent.
            emit: reports changes.
            wake: called with the name of an actor and the sentence that it is to read.
            refuses: asks hooks whether a task may be created or completed, and returns why not; empty: it may. None: no
                hooks are asked.
        """
        self.board = board
        self.actor = actor
        self._clock = clock or SystemClock()
        self._emit = emit
        self._wake = wake
        self._refuses = refuses
        self._claims: dict[int, TaskClaim] = {}
        self._renewal: asyncio.Task[None] | None = None
        self._counted: BoardCounted | None = None
        self._folded: set[int] = set()
        self._watching: asyncio.Task[None] | None = None
        self._known: set[str] = set()
        """Sentences about ready tasks that this agent has read, or caused."""

    @property
    def name(self) -> str:
        """File name of the board."""
        return self.board.place.stem

    @property
    def claims(self) -> tuple[int, ...]:
        """Numbers of the tasks that it holds."""
        return tuple(self._claims)

    # ── changes ─────────────────────────────────────────────────────────────────────────────────

    async def create(self, drafts: Sequence[TaskDraft]) -> Changes | Refused:
        """Create tasks, all or none."""
        for draft in drafts:
            fields = self._hook_fields(draft.subject, draft.description)
            if why := await self._objection(HookPoint.TASK_CREATED, fields):
                return Refused(f"A hook refused the task {draft.subject!r}: {why}")
        return await self._changed(lambda: self.board.create(drafts, self.actor))

    async def claim(self, id: str = "") -> Changes | Refused:
        """Claim a task, or the first one that is ready."""
        return await self._changed(lambda: self.board.claim(self.actor, id))

    async def edit(self, id: str, edit: TaskEdit) -> Changes | Refused:
        """Change what a task says or needs."""
        return await self._changed(lambda: self.board.edit(id, edit, self.actor))

    async def act(self, id: str, action: TaskAction, text: str = "", edit: TaskEdit | None = None) -> Changes | Refused:
        """End, defer, release or reopen a task, with `edit` after that edit: both or nothing."""
        task = (await self.tasks()).get(number_of(id) or 0) if action is TaskAction.COMPLETE else None
        if task is not None and (refused := await self.not_completed(task, text)) is not None:
            return refused
        claim = self._claims.get(number_of(id) or 0)
        fence = None if claim is None else claim.fence
        return await self._changed(lambda: self.board.act(id, action, self.actor, text=text, fence=fence, edit=edit))

    async def not_completed(self, task: Task, text: str) -> Refused | None:
        """Why a task is not accepted as completed; None: it is."""
        fields = {"id": task.id, **self._hook_fields(task.subject, task.description, text)}
        why = await self._objection(HookPoint.TASK_COMPLETED, fields)
        return Refused(f"A hook does not accept {task.id} as completed: {why}") if why else None

    async def delete(self, id: str) -> Changes | Refused:
        """Remove a task that no other one needs."""
        return await self._changed(lambda: self.board.delete(id, self.actor))

    async def give_back(self, why: str) -> None:
        """Return all tasks that it holds, because its work has ended.

        A board that cannot be used is reported, and frees them when their leases end.
        """
        if not self._claims:
            return
        try:
            await self._changed(lambda: self.board.give_back(self.actor.name, why))
        except BoardError as error:
            self._emit(Notice("warning", str(error)))

    async def _objection(self, point: HookPoint, task: Json) -> str:
        return "" if self._refuses is None else await self._refuses(point, task)

    def _hook_fields(self, subject: str, description: str, note: str = "") -> Json:
        return {"subject": subject, "description": description, "note": note, "actor": self.actor.name}

    # ── reading ─────────────────────────────────────────────────────────────────────────────────

    async def tasks(self) -> dict[int, Task]:
        """All tasks by number, in the order of claims."""
        found = await in_thread(self.board.tasks)
        self._count(found)
        return found

    async def counts(self) -> BoardCounted:
        """How many tasks are in each state. Raises BoardError."""
        return counts(await self.tasks())

    async def listed(self, most: int) -> str:
        """The board as a tree of at most so many lines, folded as it was last."""
        return "\n".join(tree_lines(await self.tasks(), most, self._folded))

    async def fold(self, ids: Sequence[str], most: int, *, folded: bool) -> str:
        """Hide what is below some tasks, or show it again; no ids: of all. Returns `listed`. Raises BoardError."""
        tasks = await self.tasks()
        numbers = {number_of(id) or 0: id for id in ids} or dict.fromkeys(tasks, "")
        if unknown := [id for number, id in numbers.items() if number not in tasks]:
            raise BoardError(f"There is no task {unknown[0]!r}; the list has their ids.")
        self._folded = self._folded | numbers.keys() if folded else self._folded - numbers.keys()
        return await self.listed(most)

    async def described(self, id: str) -> str:
        """A task with its description and history. Raises BoardError if there is none with this id."""
        tasks = await self.tasks()
        task = tasks.get(number_of(id) or 0)
        if task is None:
            raise BoardError(f"There is no task {id!r}; the list has their ids.")
        return text_of(task, standings(tasks).get(task.number), tasks, await self.history(task.id))

    async def open_tasks(self) -> str:
        """The open tasks as lines, the most urgent first, and the whole text of those that it holds; empty if there is
        none, or the board cannot be read."""
        try:
            tasks = await self.tasks()
        except BoardError as error:
            self._emit(Notice("warning", str(error)))
            return ""
        positions = standings(tasks)
        chosen = [task for task in tasks.values() if task.state not in ENDED]
        lines = [line_of(task, positions.get(task.number), tasks) for task in chosen[:MOST_LISTED]]
        more = [f"… and {len(chosen) - len(lines)} more"] if len(chosen) > len(lines) else []
        held = [f"\nYou hold:\n{text_of(tasks[number], None, tasks)}" for number in self._claims if number in tasks]
        return "\n".join([*lines, *more, *held])

    async def history(self, id: str) -> tuple[HistoryLine, ...]:
        """The changes of a task, oldest first."""
        return await in_thread(lambda: self.board.history(id))

    # ── end ─────────────────────────────────────────────────────────────────────────────────────

    async def turn_ended(self, why: str) -> None:
        """A turn of its agent has ended in a way after which others may take its tasks."""
        await self.give_back(why)

    async def agent_closed(self) -> None:
        """Its agent is closed."""
        await self.aclose()

    async def aclose(self, why: str = "its agent has ended") -> None:
        """Return what it holds, and stop."""
        watching, self._watching = self._watching, None
        if watching is not None:
            watching.cancel()
        try:
            await self.give_back(why)
        finally:
            self._stop_renewal()

    # ── tasks that others made ready ────────────────────────────────────────────────────────────

    def watch(self) -> None:
        """From now on, wake this agent for tasks that become ready for it, also when another program was the cause."""
        if self._watching is None:
            self._watching = asyncio.create_task(self._watch(), name="task board")

    def notify(self, actor: str, sentence: str) -> None:
        """Wake an agent for a task that is ready, unless it knows."""
        if sentence not in self._known:
            self._known.add(sentence)
            self._wake(actor, sentence)

    async def _watch(self) -> None:
        seen = None if self.board.place.exists() else 0  # of a new board nothing is known
        reported = ""
        while True:
            try:
                seen = await self._look(seen)
                reported = ""
            except BoardError as error:
                if str(error) != reported:
                    reported = str(error)
                    self._emit(Notice("warning", reported))
            await self._clock.sleep(WATCH_S)

    async def _look(self, seen: int | None) -> int | None:
        """Tell of tasks that are ready since version `seen` of the board; returns its version."""
        if not self.board.place.exists() or (version := await in_thread(self.board.version)) == seen:
            return seen
        self._count(tasks := await in_thread(self.board.tasks))
        ready = _ready_for(self.actor, tasks)
        if seen is None:
            self._known |= ready.keys()
        for sentence in sorted(ready.keys() - self._known):
            self.notify(ready[sentence], sentence)
        self._known &= ready.keys()
        return version

    # ── claims and events ───────────────────────────────────────────────────────────────────────

    async def _changed(self, change: Callable[[], T]) -> T:
        """Run a change to its end, also when the turn is interrupted meanwhile: what is written is reported."""

        async def changed() -> T:
            decided = await in_thread(change)
            if isinstance(decided, Changes):
                tasks = await in_thread(self.board.tasks)
                self._take_in(decided, tasks)
                self._count(tasks)
            return decided

        return await shielded(changed())

    def _take_in(self, changes: Changes, tasks: Tasks) -> None:
        for task in changes.tasks:
            if task.claim is not None and task.claim.actor == self.actor.name:
                self._claims[task.number] = task.claim
            else:
                self._claims.pop(task.number, None)
        for event in events_of(changes):
            self._emit(event)
        for number, actor in changes.wakes:
            if number in tasks and self.actor.answers_for(actor):
                self._known.add(_can_be_claimed(tasks[number]))
            elif number in tasks:
                self._wake(actor, _can_be_claimed(tasks[number]))
        if self._claims and self._renewal is None:
            self._renewal = asyncio.create_task(self._renew())
        elif not self._claims:
            self._stop_renewal()

    def _stop_renewal(self) -> None:
        renewal, self._renewal = self._renewal, None
        if renewal is not None:
            renewal.cancel()

    async def _renew(self) -> None:
        while self._claims:
            await self._clock.sleep(self.board.limits.lease_s / RENEWALS)
            held = dict(self._claims)
            try:
                lost = await in_thread(lambda held=held: self.board.renew(held.values(), held))  # type: ignore[misc]
            except BoardError as error:
                self._emit(Notice("warning", str(error)))
                continue
            for number in lost:
                if self._claims.get(number) == held[number]:
                    self.lost(number)
        self._renewal = None

    def lost(self, number: int) -> None:
        """Somebody else may have this task now."""
        self._claims.pop(number, None)
        text = f"The claim of t{number} by {self.actor.name} has ended: it was not renewed in time."
        self._emit(Notice("warning", text))
        self._wake(self.actor.name, f"{text} To go on with the task, claim it again.")

    def _count(self, tasks: Tasks) -> None:
        counted = counts(tasks)
        if counted != self._counted:
            self._counted = counted
            self._emit(counted)


def _can_be_claimed(task: Task) -> str:
    return f"{task.id} can be claimed now: {task.subject}"


def _ready_for(actor: Actor, tasks: Tasks) -> dict[str, str]:
    """A sentence for each task that an agent, or a subagent which it leads, is to claim or has created, and that has
    become ready: not for those that it created so. With who is to read it, its assignee or else its creator."""
    ready = (tasks[number] for number, one in standings(tasks).items() if one.standing is Standing.READY)
    return {
        _can_be_claimed(task): task.assignee or task.creator
        for task in ready
        if actor.answers_for(task.assignee or task.creator)
        and (task.needs or task.updated_at > task.created_at or not actor.answers_for(task.creator))
    }


def events_of(changes: Changes) -> Iterable[TaskChanged]:
    """One event for each changed task."""
    tasks = {task.number: task for task in changes.tasks}
    for record in changes.records:
        task = tasks.get(record.number)
        last = record is changes.records[-1] and len({one.number for one in changes.records}) == 1
        yield TaskChanged(
            f"t{record.number}",
            task.subject if task else record.text,
            task.state if task else TaskState.CANCELLED,
            record.what,
            record.actor,
            "" if record.what in ("create", "delete") else record.text,
            tuple(f"t{number}" for number in changes.unblocked) if last else (),
            tuple(f"t{number}" for number in changes.deferred) if last else (),
        )


def counts(tasks: Tasks) -> BoardCounted:
    """How many tasks are in each state."""
    number = dict.fromkeys(TaskState, 0)
    for task in tasks.values():
        number[task.state] += 1
    ready = sum(one.standing is Standing.READY for one in standings(tasks).values())
    return BoardCounted(
        ready,
        number[TaskState.PENDING] - ready,
        number[TaskState.IN_PROGRESS],
        number[TaskState.COMPLETED],
        number[TaskState.FAILED],
        number[TaskState.CANCELLED],
        number[TaskState.DEFERRED],
    )
