"""Idle members claim ready tasks of the board; what becomes of a claim when a turn ends; the report at the end.

    board changes, a member is idle ──▶ look ──▶ claimed for it ──▶ its turn ──▶ ended, merged, kept, given back
                     ▲                                                               │
                     └───────────────────────────────────────────────────────────────┘

`policies.team.claims` and `policies.team.respawn` decide. No model is asked, and nothing waits but for events.
"""

import asyncio
from collections.abc import Collection, Coroutine, Iterable
from functools import partial
from typing import Any, Protocol

from harness.base.clock import time_of_day
from harness.base.concurrency import in_thread
from harness.base.errors import HarnessError
from harness.base.external_text import counted
from harness.engine.core import AgentCore
from harness.engine.inbox import Inbox
from harness.engine.subagents.reports import SubagentReport
from harness.engine.subagents.subagents import USER_STOPPED
from harness.engine.team.member import Member
from harness.engine.team.member_work import MemberWork
from harness.engine.team.trees import MemberTrees
from harness.events import (
    Address,
    AgentEnd,
    ArrivalKind,
    BoardCounted,
    ClaimEnd,
    ClaimEnded,
    ClaimsSwitched,
    Event,
    GoalEnded,
    MemberChanged,
    MemberClaimed,
    MemberStarted,
    Notice,
    RespawnDecided,
    TaskChanged,
    TaskState,
    TransitionCode,
    TurnEnded,
    TurnStarted,
)
from harness.model import notices
from harness.policies.tasks.decisions import Refused
from harness.policies.tasks.graph import Tasks
from harness.policies.tasks.task import Actor, Task, TaskAction, number_of
from harness.policies.team.claims import (
    OF_THE_ACCOUNT,
    PASSING,
    Claimant,
    ClaimOutcome,
    Pair,
    at_rest,
    at_turn_end,
    goal_ended,
    goal_text,
    pairs,
)
from harness.policies.team.members import MemberRow, spent
from harness.policies.team.respawn import GoOn, NoRespawn, Respawn, after_failure
from harness.tasks.board import BoardError, TaskBoard
from harness.tasks.lines import text_of
from harness.tasks.work import events_of
from harness.tools.tool import shorten_line
from harness.worktrees import WorktreeError
from harness.worktrees.look import BRANCH

MOST_REDS = 3
"""Times that the branch of a task is given back before the task is set aside."""
ENDS = {
    TaskState.COMPLETED: ClaimEnd.COMPLETED,
    TaskState.FAILED: ClaimEnd.FAILED,
    TaskState.CANCELLED: ClaimEnd.CANCELLED,
    TaskState.DEFERRED: ClaimEnd.DEFERRED,
    TaskState.PENDING: ClaimEnd.GIVEN_BACK,
}
LEFT = "it was at work when the session was left"


class ClaimingTeam(Protocol):
    """What claims need of their team."""

    @property
    def trees(self) -> MemberTrees: ...

    @property
    def rows(self) -> tuple[MemberRow, ...]: ...

    @property
    def live(self) -> Collection[Member]:
        """The members that have not ended."""
        ...

    def row(self, member: Member) -> MemberRow: ...

    def free(self, member: Member) -> bool:
        """It is idle, has no mail to read first, and waits for nothing."""
        ...

    def waits(self, member: Member) -> bool:
        """It has asked for something and waits for the answer."""
        ...

    def work_on(self, member: Member, prompt: str, description: str) -> None:
        """Begin its next turn."""
        ...

    def step(self, member: Member) -> None:
        """Let it do what follows from its state and its mail."""
        ...

    async def end_now(self, member: Member) -> None:
        """End a member that does nothing and is to end."""
        ...

    async def given_back(self, branch: str, output: str) -> None:
        """Mail to the member whose branch was not merged. Raises MailError."""
        ...

    async def start_again(self, member: Member, why: str) -> str:
        """End a member and begin a new generation of it; returns why there is none, or nothing."""
        ...


class Claims:
    """The claims of all members of a session."""

    def __init__(self, core: AgentCore, team: ClaimingTeam, board: TaskBoard, inbox: Inbox) -> None:
        self._core = core
        self._emit = core.conversation.emit
        self._team = team
        self._board = board
        self._inbox = inbox
        self.on = core.settings.team_claims
        """Idle members claim tasks."""
        self._works: dict[Address, MemberWork] = {}
        self._held: dict[str, Address] = {}
        """Who holds a task, by its id."""
        self._begun: set[str] = set()
        """Tasks that members have claimed since the last report."""
        self._left: list[str] = []
        """Actors of an earlier run, what they hold is to be given back."""
        self._denied: list[str] = []
        self._respawns: list[tuple[float, str]] = []
        self._again = self._closed = self._lead_works = False
        self._deciding = 0
        """Turns that have ended and whose claims are not decided yet."""
        self._looking: asyncio.Task[None] | None = None
        self._merging: asyncio.Task[None] | None = None

    # ── what members do ─────────────────────────────────────────────────────────────────────────

    def work_of(self, member: Member) -> MemberWork:
        """What a member does on the board."""
        if (work := self._works.get(member.address)) is None:
            row = self._team.row(member)
            names = frozenset(filter(None, (member.name, row.role, row.kind)))
            actor = Actor(f"{self._core.session}/{member.agent}", also=names - {"lead", "user"})
            progress = partial(self._progress, member) if row.worktree else None
            work = MemberWork(self._board, actor, member.address, self._emit, progress)
            self._works[member.address] = work
        return work

    async def _progress(self, member: Member) -> tuple[int, int]:
        try:
            return await self._team.trees.since(self._team.row(member).worktree, member.claimed_at)
        except WorktreeError as error:
            raise BoardError(f"The worktree cannot be looked at: {error}") from error

    @property
    def busy(self) -> bool:
        """Something follows, although no subagent may run: what a turn has led to, a claim, a merge, or the end of a
        wait."""
        waits = any(one.busy or (one.goes_on and not one.held) for one in self._team.live)
        return waits or self._looking is not None or self._merging is not None

    @property
    def active(self) -> bool:
        """There are members, and idle ones claim tasks."""
        return self.on and bool(self._team.live)

    def switch(self, *, on: bool, why: str) -> None:
        """Let idle members claim tasks from now on, or no longer."""
        if on is not self.on:
            self.on = on
            self._emit(ClaimsSwitched(on, why))
            if on:
                self._go_on()
            self.look()

    def _go_on(self) -> None:
        """Members that keep a task after a fault that the user had to mend try again."""
        for member in self._team.live:
            work = self._works.get(member.address)
            if work and work.faults and not (member.busy or member.goes_on):
                member.goes_on = self._core.clock.now()
                self._team.step(member)

    # ── idle members claim ──────────────────────────────────────────────────────────────────────

    def look(self) -> None:
        """Look at the board as soon as possible."""
        self._again = True
        if self._looking is None and not self._closed:
            self._looking = self._begin(self._look(), "claims of members")

    async def _look(self) -> None:
        try:
            while self._again and not self._closed and (self._team.live or self._begun):
                self._again = False
                while self._left:
                    for event in events_of(await in_thread(partial(self._board.give_back, self._left.pop(), LEFT))):
                        self._emit(event)
                await self._end_spent()
                tasks = await in_thread(self._board.tasks)
                found = pairs(tasks, self._claimants())
                for pair in found:
                    await self._claim(pair)
                if not found:
                    self._report(tasks)
        except BoardError as error:
            self._emit(Notice("warning", str(error)))
        finally:
            self._looking = None
            self._inbox.changed()

    async def _end_spent(self) -> None:
        """End idle members that have claimed as many tasks as one may."""
        most = self._core.settings.team_member_tasks
        for member in self._team.live if self.on and most else ():
            if self._team.row(member).claimed >= most and self._team.free(member) and not self.work_of(member).claims:
                member.ending = f"it has claimed {counted(most, 'task')} (team_member_tasks)"
                await self._team.end_now(member)

    def _claimants(self) -> tuple[Claimant, ...]:
        free = (one for one in self._team.live if self._team.free(one) and not self.work_of(one).claims)
        return tuple(map(self._claimant, free)) if self.on else ()

    def _claimant(self, member: Member) -> Claimant:
        actor = self.work_of(member).actor
        return Claimant(member.name, actor.also | {actor.name}, self._team.row(member).since)

    async def _claim(self, pair: Pair) -> None:
        member = next((one for one in self._team.live if one.name == pair.name), None)
        if member is None or not self._team.free(member):
            return
        work, member.busy = self.work_of(member), True  # mail that comes meanwhile joins its turn
        claimed: Task | None = None
        try:
            if worktree := self._team.row(member).worktree:
                member.claimed_at = await self._team.trees.caught_up(worktree)
            decided = await work.claim(f"t{pair.number}")
            claimed = None if isinstance(decided, Refused) else decided.tasks[0]
        except WorktreeError as error:
            member.ending = member.ending or f"its worktree cannot be used: {error}"
        finally:
            member.busy = False
        if claimed is not None and not (member.held or member.ending or self._closed or not self.on):
            self._team.work_on(
                member, notices.claimed_task(text_of(claimed._replace(claim=None))), f"{claimed.id}: {claimed.subject}"
            )
        elif claimed is not None:
            await work.give_back("the member was stopped before it began")
        if member.ending and not member.busy:
            await self._team.end_now(member)
        elif not member.busy:
            self._team.step(member)

    # ── the end of a turn ───────────────────────────────────────────────────────────────────────

    async def turn_ended(self, member: Member, report: SubagentReport) -> bool:
        """Decide what becomes of the claims of a member whose turn has ended. False: it had none."""
        work = self._works.get(member.address)
        mine = [id for id, holder in self._held.items() if holder == member.address]
        if work is None or not mine:
            return False
        self._deciding += 1
        try:
            for id in mine:
                await self._decide(member, work, id, report)
            if not member.ending:
                await self._after(member, work, report)
        except BoardError as error:  # the leases end by themselves
            self._emit(Notice("warning", str(error)))
        finally:
            self._deciding -= 1
            self.look()
        if work.merging and self._merging is None and not self._closed:
            self._merging = self._begin(self._merge(), "merge queue of members")
        return True

    async def _decide(self, member: Member, work: MemberWork, id: str, report: SubagentReport) -> None:
        number = number_of(id) or 0
        outcome = at_turn_end(
            report.end,
            held=number in work.claims,
            finished=number in work.merging,
            waits=self._team.waits(member) and not member.ending,
            transient=report.fault in PASSING | OF_THE_ACCOUNT and not member.ending,
            stopped=report.end is AgentEnd.CANCELLED and report.reason == USER_STOPPED,
        )
        said = f": {shorten_line(report.text)}" if report.text else ""
        ended = f"{member.name} ended its turn, and not the task{said}"
        why = ended if report.end in (AgentEnd.ANSWERED, AgentEnd.SILENT) else f"{member.name}: {report.reason}"
        match outcome:
            case ClaimOutcome.GIVE_BACK | ClaimOutcome.SET_ASIDE:
                action = TaskAction.DEFER if outcome is ClaimOutcome.SET_ASIDE else TaskAction.RELEASE
                await self._given_up(work, number, action, why)
            case ClaimOutcome.OVER | ClaimOutcome.KEEP | ClaimOutcome.MERGE:
                pass

    async def _given_up(self, work: MemberWork, number: int, action: TaskAction, why: str) -> None:
        if isinstance(await work.act(f"t{number}", action, why), Refused):
            work.lost(number)

    async def _after(self, member: Member, work: MemberWork, report: SubagentReport) -> None:
        """What follows a failure."""
        stopped = report.end is AgentEnd.CANCELLED
        if report.end in (AgentEnd.ANSWERED, AgentEnd.SILENT) or stopped:
            work.faults = 0
            return
        work.faults += 1
        if report.fault in OF_THE_ACCOUNT:
            self.switch(on=False, why=f"the model cannot be used: {report.reason}")
            return
        now = self._core.clock.now()
        transient = report.fault in PASSING
        decided = after_failure(member.name, self._respawns, transient=transient, in_a_row=work.faults, now=now)
        if report.code is TransitionCode.BUDGET_EXHAUSTED:
            decided = NoRespawn("its money is spent")
        if isinstance(decided, Respawn):
            self._respawns.append((now, member.name))
            refused = await self._team.start_again(member, report.reason)
            decided = NoRespawn(refused) if refused else decided
        match decided:
            case GoOn() if set(work.claims) <= work.merging.keys():
                pass  # its task is finished, and the merge queue has the branch
            case GoOn(after_s):
                member.goes_on = now + after_s
                at = f"{report.reason}; it goes on at {time_of_day(member.goes_on)}"
                self._emit(RespawnDecided(member.address, "go on", at, after_s))
            case Respawn():
                self._emit(RespawnDecided(member.address, "respawn", report.reason))
            case NoRespawn(why):
                self._emit(RespawnDecided(member.address, "stop", why))
                member.ending = member.ending or f"{report.reason}; {why}"

    def again(self, member: Member) -> None:
        """Let a member go on with the task that it has kept."""
        self._begin(self._resumed(member), f"task of {member.name}")

    async def _resumed(self, member: Member) -> None:
        held = await self.work_of(member).held()
        if held and self._team.free(member):
            text = notices.kept_task("\n\n".join(map(text_of, held)))
            self._team.work_on(member, text, f"{held[0].id}: {held[0].subject}")
        self.look()

    async def member_ended(self, member: Member) -> None:
        """Give back what a member holds that has ended."""
        if (work := self._works.pop(member.address, None)) is not None:
            self._denied += work.denied
            await work.aclose(f"{member.name} has ended: {member.ending}")
        self.look()

    # ── finished branches ───────────────────────────────────────────────────────────────────────

    async def _merge(self) -> None:
        """Merge the branches of finished tasks, one batch after the other."""
        try:
            while not self._closed and (finished := self._finished()):
                names = [self._team.row(member).worktree for member in finished]
                merged = await self._team.trees.merged(names)
                for member, name in zip(finished, names, strict=True):
                    if red := merged[name].red:
                        await self._team.given_back(f"{BRANCH}{name}", red)
                    else:
                        await self._settle(self.work_of(member), merged[name].problem)
        except BoardError as error:
            self._emit(Notice("warning", str(error)))
        finally:
            self._merging = None
            self.look()

    def _finished(self) -> list[Member]:
        live = self._team.live
        return [one for one in live if not one.busy and (work := self._works.get(one.address)) and work.merging]

    async def _settle(self, work: MemberWork, problem: str) -> None:
        """Complete the tasks of a merged branch. Where it could not be merged, they are set aside."""
        for number in tuple(work.merging):
            done = work.act(f"t{number}", TaskAction.DEFER, problem) if problem else work.merged(number)
            if isinstance(refused := await done, Refused):
                await self._given_up(work, number, TaskAction.DEFER, refused.reason)

    async def red(self, member: Member, output: str) -> bool:
        """Count that the branch of a member was given back. Returns whether the member is to mend it: a task that it
        has finished too often is set aside, and the member begins again without that branch."""
        if (work := self._works.get(member.address)) is None or not work.merging:
            return True
        work.reds += 1
        if work.reds < MOST_REDS:
            work.merging.clear()
            return True
        why = f"given back {MOST_REDS} times"
        for number in tuple(work.merging):
            await work.act(f"t{number}", TaskAction.DEFER, f"{why}: {output}")
        if not (member.busy or member.ending):
            refused = await self._team.start_again(member, f"its branch was {why}")
            what = "stop" if refused else "respawn"
            self._emit(RespawnDecided(member.address, what, refused or f"its branch was {why}"))
        return False

    # ── the end of a goal ───────────────────────────────────────────────────────────────────────

    def _report(self, tasks: Tasks) -> None:
        """Say how the tasks have ended, once nothing follows by itself."""
        live = self._team.live
        if not self._begun or self._lead_works or self._inbox.waking or any(one.held for one in live):
            return
        working = sum(one.busy or bool(one.goes_on) for one in live) + self._deciding + (self._merging is not None)
        able = len(pairs(tasks, map(self._claimant, live)))
        if working or (self.on and not at_rest(tasks, working=0, able=able)):
            return
        rows, money = self._team.rows, spent(self._team.rows)
        denied = (*self._denied, *(one for work in self._works.values() for one in work.denied))
        known = {name for one in self._team.live for name in self.work_of(one).actor.also} if rows else set()
        holders = {task: member.name for task, member in self._held.items()}
        lists = goal_ended(tasks, self._begun, known, holders)
        report = GoalEnded(*lists, money.tokens, money.cost_usd, money.unpriced, denied)
        self._emit(report)
        self._inbox.arrive(ArrivalKind.TASK_READY, "board", goal_text(report))

    # ── the session ─────────────────────────────────────────────────────────────────────────────

    def _end(self, id: str, end: ClaimEnd, why: str) -> None:
        if (member := self._held.get(id)) is not None:
            self._emit(ClaimEnded(member, id, end, shorten_line(why)))

    def on_event(self, event: Event) -> None:
        """An event of the session."""
        match event:
            case MemberClaimed(member=member, task=task):
                self._held[task] = member
                self._begun.add(task)
            case ClaimEnded(task=task):
                self._held.pop(task, None)
            case GoalEnded():
                self._begun &= self._held.keys()
            case ClaimsSwitched(on=on):
                self.on = on
            case TaskChanged(task=id, state=state, text=text):
                if id in self._held and state in ENDS:
                    self._end(id, ENDS[state], text)
                self.look()
            case TurnStarted():
                self._lead_works = True
            case TurnEnded():
                self._lead_works = False
                self.look()
            case BoardCounted() | MemberChanged() | MemberStarted():
                self.look()

    def recall(self, events: Iterable[Event]) -> None:
        """Continue from an earlier run: what its members held, they hold no longer."""
        agents: dict[Address, str] = {}
        for event in events:
            if isinstance(event, MemberStarted):
                agents[event.member] = event.agent
            if isinstance(event, MemberClaimed | ClaimEnded | GoalEnded | ClaimsSwitched):
                self.on_event(event)
        self._left = [f"{self._core.session}/{agents[one]}" for one in set(self._held.values()) if one in agents]
        for id in tuple(self._held):
            self._end(id, ClaimEnd.GIVEN_BACK, LEFT)
        self._held.clear()

    def _begin(self, work: Coroutine[Any, Any, None], name: str) -> asyncio.Task[None]:
        task = asyncio.create_task(work, name=name)
        task.add_done_callback(partial(self._done, name))
        return task

    def _done(self, name: str, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()) is not None:
            self._core.log.error("%s failed", name, exc_info=error)

    def close(self) -> None:
        """Claim nothing from now on."""
        self._closed = True

    async def aclose(self) -> None:
        """Give back what members hold, after the last of them has stopped."""
        tasks = [task for task in (self._looking, self._merging) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for work in self._works.values():
            try:
                await work.aclose("the session was closed")
            except HarnessError as error:
                self._emit(Notice("warning", str(error)))
