"""The members of one session: started, woken by mail, paused and ended.

    team_start ──▶ a task of its subagent ──▶ idle: nothing of it is in memory but its row
                        ▲                         │
                        └── mail that begins work ┘

A member is a subagent, so its tasks, admission, history, recovery and cost are those of `engine.subagents`. Here is
what it has besides: a mailbox, and a reason to work again.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from harness.base.clock import time_of_day
from harness.base.concurrency import in_thread, shielded
from harness.base.errors import HarnessError
from harness.engine.core import AgentCore
from harness.engine.inbox import Inbox
from harness.engine.store_places import mail_place, store_clock
from harness.engine.subagents.reports import SubagentReport, report_text
from harness.engine.subagents.subagents import LEFT, MemberTask, Subagents
from harness.engine.team.claims import Claims
from harness.engine.team.lead import LeadTools
from harness.engine.team.member import Member, MemberDraft
from harness.engine.team.requests import LEAD_BOX, PROGRAM_BOX, USER_BOX, Requests
from harness.engine.team.seat import MemberSeat, fate_of, text_of
from harness.engine.team.trees import MemberTrees
from harness.events import (
    Address,
    AgentEnd,
    ArrivalKind,
    Arrived,
    Event,
    MailDelivered,
    MailKind,
    MailReturned,
    MailSent,
    MemberAnswered,
    MemberChanged,
    MemberStarted,
    MemberState,
    Notice,
    TurnStarted,
)
from harness.model import notices
from harness.policies.protocols.table import RequestMessage, word
from harness.policies.recovery import Stop, TurnState, over_budget
from harness.policies.team.mail import (
    LEAD,
    MailDraft,
    MailLimits,
    MailRefused,
    name_problem,
    owed_to,
    waits_for,
)
from harness.policies.team.members import (
    AT_WORK,
    REST,
    Begin,
    MemberRow,
    Stay,
    TeamFold,
    WaitUntil,
    counted_members,
    full,
    lasted,
    next_step,
    roster_lines,
    spent,
)
from harness.tasks.tools import TASK_UPDATE
from harness.team.mail import Mail, MailError, MailStore, MemoryMail, SqliteMail
from harness.tools.output import shorten
from harness.tools.tool import shorten_line
from harness.worktrees import WorktreeError
from harness.worktrees.look import BRANCH

TRY_AGAIN = "To let it try again, write to it with message."
SHOWN_CHARACTERS = 200
"""Of a message in events."""

T = TypeVar("T")


class Team:
    """All members of a session."""

    def __init__(self, core: AgentCore, subagents: Subagents, inbox: Inbox, store: MailStore) -> None:
        """
        Args:
            subagents: lets the members work.
            inbox: receives the mail of the lead.
            store: the mailboxes; closed with the team.
        """
        self._core = core
        self._emit = core.conversation.emit
        self._clock = core.clock
        self._subagents = subagents
        self._inbox = inbox
        self._store = store
        self._fold = TeamFold()
        self.requests = Requests(core, self)
        self.trees = MemberTrees(core)
        board = core.shared.board
        self.claims = None if board is None else Claims(core, self, board, inbox)
        """What members do on the board of the session; None: it has none."""
        self.lead = LeadTools(self, subagents)
        """What the lead does with its tools."""
        self._members: dict[Address, Member] = {}
        """Those that have not ended."""
        self.starting: set[str] = set()
        """Names of members that are about to start."""
        self._one_at_a_time, self._one_step = asyncio.Lock(), asyncio.Lock()
        self._opened: asyncio.Task[None] | None = None
        self._arrived: set[int] = set()
        """Ids of messages that the lead has in its inbox, from an earlier run."""
        self._announced: set[int] = set()
        """Ids of messages whose `MailSent` is in the journal."""
        self._closing = False

    # ── who joins and ends ──────────────────────────────────────────────────────────────────────

    def check(self, name: str) -> None:
        """Raise HarnessError where no other member may join, or none with this name."""
        names = [row.name for row in self._fold.live] + list(self.starting)
        if problem := full(len(names), self._core.settings.team_members) or name_problem(name, names):
            raise HarnessError(problem)

    async def started(self, draft: MemberDraft, task: str, description: str) -> Member:
        """Let a member join and begin its first task. Raises MailError and WorktreeError."""
        member = await self._joined(draft)
        self._begin(member, task, description, draft.call_id)
        return member

    async def join(self, draft: MemberDraft) -> None:
        """Let a member join that is idle, so that it claims tasks of the board. Raises HarnessError."""
        await self.open()
        self.check(draft.name)
        if (full := self._subagents.full()) is not None:
            raise HarnessError(full.content)
        self.step(await shielded(self._joined(draft)))

    async def _joined(self, asked: MemberDraft) -> Member:
        address = await self._stored(partial(self._store.begin, asked.name))
        worktree, role = self.trees.name_for(address) if asked.worktree else "", shorten_line(asked.role)
        try:
            workspace = await self.trees.entered(worktree)
        except WorktreeError:
            await self._stored(partial(self._store.end, address, "it never started"))
            raise
        member = self._members[address] = Member(address, self._subagents.enlist(), workspace)
        more = asked.kind, asked.tools, worktree, asked.call_id, asked.plans
        self._emit(MemberStarted(address, member.agent, role, *more))
        return member

    async def shut_down(self, address: Address, why: str, *, forced: bool) -> None:
        """End a member: at once, or after its present task."""
        if (member := self._members.get(address)) is None:
            return
        before, member.ending = member.ending, member.ending or why
        if member.busy and forced:
            self._subagents.stop(member.agent, why)  # what it leads to ends the member
        elif not (member.busy or before):
            await self.end_now(member)

    async def end(self, name: str, why: str) -> None:
        """End a member for the user: cancel its work, return its mail, free its name. Raises HarnessError."""
        await self.open()
        member = self.member(name)
        await self.requests.shutdown(USER_BOX, member.address, why, RequestMessage.FORCE)
        await member.ended.wait()

    async def end_all(self, why: str) -> str:
        """End every member; returns a sentence about it."""
        await self.open()
        names = [member.name for member in self._members.values()]
        await asyncio.gather(*(self.end(name, why) for name in names))
        return f"Ended: {', '.join(names)}." if names else "There is no member."

    def hold(self, why: str) -> None:
        """Cancel what the members do; mail begins no work of theirs before the user's next prompt."""
        for member in self._members.values():
            member.held = True
            if member.busy:
                self._subagents.stop(member.agent, why)

    # ── mail ────────────────────────────────────────────────────────────────────────────────────

    async def say(self, names: Sequence[str], text: str) -> str:
        """Send words of the user; returns a sentence about each recipient. Raises HarnessError."""
        await self.open()
        sent = await self.send(MailDraft(USER_BOX, tuple(names), text, MailKind.USER))
        if isinstance(sent, MailRefused):
            raise HarnessError(f"Not sent. {sent.reason}")
        return "\n".join(map(self.fate, sent))

    async def given_back(self, branch: str, output: str) -> None:
        """Mail the conflict or the output of the check to the member whose branch was not merged, if it is there."""
        await self.open()
        found = (one for one in self.live if branch == f"{BRANCH}{self.row(one).worktree}")
        if (member := next(found, None)) is None or not (self.claims is None or await self.claims.red(member, output)):
            return
        body = notices.branch_given_back(output, task=bool(self.claims and self.claims.work_of(member).claims))
        try:
            sent = await self.send(MailDraft(PROGRAM_BOX, (member.name,), body, MailKind.GIVEN_BACK))
        except MailError as error:
            sent = MailRefused(str(error))
        if isinstance(sent, MailRefused):
            self._emit(Notice("warning", why := f"{member.name} was not told about its red branch: {sent.reason}"))
            if self.claims is not None:
                await self.claims.work_of(member).give_back(why)

    async def send(self, draft: MailDraft) -> tuple[Mail, ...] | MailRefused:
        """Write a message to mailboxes, and let it begin what it begins. Raises MailError."""
        draft = replace(draft, body=self._core.conversation.masking.text(draft.body))
        return await shielded(self._sent(draft))

    async def _sent(self, draft: MailDraft) -> tuple[Mail, ...] | MailRefused:
        async with self._one_at_a_time:  # the order of ids is the order in which they are read
            sent = await self._stored(partial(self._store.send, draft))
            if isinstance(sent, MailRefused):
                return sent
            protocol = draft.kind in (MailKind.REQUEST, MailKind.ANSWER)
            if (sender := self._members.get(draft.sender)) is not None and not protocol:
                sender.wrote_to |= {mail.recipient.name for mail in sent}
                sender.asked |= {
                    mail.recipient.name for mail in sent if mail.recipient in self._members and mail.begins_work
                }
            await self._route(sent)
        return sent

    async def _route(self, sent: Sequence[Mail]) -> None:
        for mail in sent:
            self._announce(mail)
            if mail.recipient == LEAD_BOX:
                self._to_lead(mail)
            elif (member := self._members.get(mail.recipient)) is not None:
                if mail not in member.box:
                    member.box.append(mail)
                member.held = member.held and mail.sender not in (LEAD_BOX, USER_BOX)
                self.step(member)
        if last := max((mail.id for mail in sent if mail.recipient == LEAD_BOX), default=0):
            await self._marked(LEAD_BOX, last)

    def _announce(self, mail: Mail) -> None:
        self._announced.add(mail.id)
        text = shorten_line(mail.body, SHOWN_CHARACTERS)
        self._emit(MailSent(mail.id, mail.sender, mail.recipient, mail.kind, text, mail.key))

    def _to_lead(self, mail: Mail) -> None:
        kind = ArrivalKind.MAIL if mail.begins_work else ArrivalKind.NOTE
        self._inbox.arrive(kind, mail.sender.name, text_of(mail))

    def fate(self, mail: Mail) -> str:
        """What becomes of a message now, for its sender."""
        member = self._members.get(mail.recipient)
        return fate_of(mail, member, None if member is None else self.row(member))

    async def _stored(self, step: Callable[[], T]) -> T:
        """One step of the mailboxes, after those before it: a step that waits for hundreds of others would seem to
        hang. Raises MailError."""
        async with self._one_step:
            return await in_thread(step)

    async def _marked(self, address: Address, last: int) -> None:
        """Move the cursor. It is only a copy of what a journal says, so a failure is reported and nothing else."""
        try:
            await self._stored(partial(self._store.read, address, last))
        except MailError as error:
            self._emit(Notice("warning", str(error)))

    # ── requests ────────────────────────────────────────────────────────────────────────────────

    async def reply(self, id: str, said: RequestMessage, text: str) -> str:
        """What the user says about a request; returns a sentence. Raises HarnessError."""
        await self.open()
        request = await self.requests.say(USER_BOX, id, said, text)
        return f"{request.id} is {word(request.state)}."

    def unread(self, address: Address, text: str) -> bool:
        """A message that holds this text waits to be read."""
        if address == LEAD_BOX:
            return any(text in one.text for one in self._inbox.waiting)
        member = self._members.get(address)
        return member is not None and any(text in mail.body for mail in member.box)

    def there(self, address: Address) -> bool:
        """It is the lead, or a member that has not ended."""
        return address == LEAD_BOX or address in self._members

    def blocked(self, member: Member) -> str:
        """Why a member may write and run nothing now; empty: it may."""
        return self.requests.fold.blocked(member.address, plans_first=self.row(member).plans)

    # ── what a seat does ────────────────────────────────────────────────────────────────────────

    async def delivered(self, member: Member, mails: Sequence[Mail]) -> None:
        """A member has read these messages."""
        member.box = [mail for mail in member.box if mail not in mails]
        member.read += [(mail.sender, mail.kind, mail.body) for mail in mails]
        self._emit(MailDelivered(member.address, tuple(mail.id for mail in mails)))
        await self._marked(member.address, mails[-1].id)

    def over_budget(self, state: TurnState) -> Stop | None:
        """What ends the turn of a member because the money of the team is spent."""
        limits = replace(self._core.limits, max_cost_usd=self._core.settings.team_budget_usd)
        stop = over_budget(state, limits, spent(self._fold.rows).cost_usd)
        return stop and replace(stop, reason=f"{stop.reason}, which the whole team has (team_budget_usd)")

    # ── tasks of members ────────────────────────────────────────────────────────────────────────

    def work_on(self, member: Member, prompt: str, description: str) -> None:
        """Give a member a task of the board, or let it go on with it; nobody is owed its last words."""
        self._begin(member, prompt, description)
        member.read = []

    def _begin(self, member: Member, prompt: str | None, description: str, call_id: str = "") -> None:
        """Give a member a task; no prompt: its mail is the task."""
        row = self.row(member)
        self._silence(member)
        before = [(one, MailKind.MESSAGE, member.name) for one in row.owes]
        member.read = before if prompt is None else [(LEAD_BOX, MailKind.MESSAGE, prompt)]
        member.wrote_to, member.asked, member.busy = set(), set(), True
        role = notices.member_prompt(member.name, row.role, own_tree=bool(row.worktree), plans=row.plans)
        seat = MemberSeat(self, member)
        task = MemberTask(member.name, description, prompt, row.tools, row.kind, role, seat, member.workspace)
        self._subagents.begin(member.agent, task, partial(self._task_ended, member), call_id)

    async def _task_ended(self, member: Member, report: SubagentReport) -> None:
        if self._closing:
            return
        of_board = self.claims is not None and await self.claims.turn_ended(member, report)
        if member.ended.is_set():  # another generation of it has begun
            return
        member.busy = False
        if member.ending:
            kind = MailKind.LAST_WORDS if report.answered else MailKind.NOTE
            await self._from_program(member, (LEAD_BOX,), kind, report_text(member.agent, report, ""))
            await self.end_now(member)
            return
        if report.answered and any(kind is MailKind.USER for _, kind, _ in member.read):
            self._emit(MemberAnswered(member.address, report.text))
        owed = owed_to(member.read, member.wrote_to)
        names = ", ".join(one.name for one in owed)
        if (waits := self._waits_for(member)) and report.answered:
            why = f"waits for {', '.join(waits)}" + (f"; owes {names} a report" if owed else "")
            self._emit(MemberChanged(member.address, MemberState.IDLE, why, owed))
        elif report.answered or (report.end is AgentEnd.SILENT and not owed):
            why = f"done; no report, so its last words went to {names}" if owed else "done"
            self._emit(MemberChanged(member.address, MemberState.IDLE, why))
            await self._from_program(member, owed, MailKind.LAST_WORDS, report.text)
        else:
            self._emit(MemberChanged(member.address, MemberState.FAILED, report.reason))
            recipients = dict.fromkeys(owed if of_board else (*owed, LEAD_BOX))  # the board has its own report
            await self._from_program(member, recipients, MailKind.FAILED, report_text(member.agent, report, TRY_AGAIN))
        self.step(member)

    def _waits_for(self, member: Member) -> tuple[str, ...]:
        asks = (f"{one.with_} ({one.id})" for one in self.requests.fold.asked_by(member.address))
        return (*waits_for(member.read, member.asked), *asks)

    async def _from_program(self, member: Member, owed: Iterable[Address], kind: MailKind, body: str) -> None:
        """Send what a member did not send itself. Recipients that have ended get nothing."""
        there = [one.name for one in owed if self.there(one)]
        if not there:
            return
        file = self._core.outputs / f"{member.agent}-mail-{self.row(member).tasks}.txt"
        text, _ = shorten(body, MailLimits().characters // 2, file)
        try:
            sent = await self.send(MailDraft(member.address, tuple(there), text, kind))
        except MailError as error:
            self._emit(Notice("warning", f"The end of {member.name} could not be reported by mail: {error}"))
            return
        if isinstance(sent, MailRefused):
            self._emit(Notice("warning", f"The end of {member.name} was not reported: {sent.reason}"))

    def step(self, member: Member) -> None:
        """Let a member do what follows from its state and its mail."""
        if self._closing or member.held or member.ending or member.busy:
            return
        until = self._subagents.admission.paused_until(member.agent)
        reasons = member.reasons
        state, now = self.row(member).state, self._clock.now()
        if member.goes_on and not reasons:
            until = max(until or 0.0, member.goes_on)
        match next_step(state, begins_work=bool(reasons or member.goes_on), paused_until=until, now=now):
            case Begin() if reasons:
                first = reasons[0]
                self._begin(member, None, f"mail from {first.sender.name}: {shorten_line(first.body)}")
            case Begin():
                member.goes_on = 0.0
                assert self.claims is not None, "it has a task of the board"
                self.claims.again(member)
            case WaitUntil(at):
                if state is not MemberState.PAUSED:
                    failures = self._subagents.admission.failures(member.agent)
                    why = f"failed {failures} times in a row; its mail waits until {time_of_day(at)}"
                    if not reasons:
                        why = f"the model failed; its task waits until {time_of_day(at)}"
                    self._emit(MemberChanged(member.address, MemberState.PAUSED, why))
                if member.alarm is None:
                    member.alarm = asyncio.create_task(self._later(member, at - now), name=f"pause of {member.name}")
            case Stay() if (limit := self._core.settings.team_idle_s) and state in REST and member.leaves is None:
                member.leaves = asyncio.create_task(
                    self._leave_later(member, limit), name=f"idle time of {member.name}"
                )

    async def _later(self, member: Member, seconds: float) -> None:
        await self._clock.sleep(seconds)
        member.alarm = None
        self.step(member)

    async def _leave_later(self, member: Member, seconds: float) -> None:
        await self._clock.sleep(seconds)
        while not self._rests(member) or (self.claims is not None and self.claims.work_of(member).claims):
            await self._clock.sleep(seconds)
        member.leaves, member.ending = None, f"idle for {lasted(seconds)} (team_idle_s)"
        await self.end_now(member)

    def _silence(self, member: Member) -> None:
        member.goes_on = 0.0
        for alarm in filter(None, (member.alarm, member.leaves)):
            alarm.cancel()
        member.alarm = member.leaves = None

    async def end_now(self, member: Member) -> None:
        """End a member that does nothing, and whose end was decided."""
        self._silence(member)
        try:
            ids, back = await self._stored(partial(self._store.end, member.address, member.ending))
        except MailError as error:
            ids, back = (), ()
            self._emit(Notice("warning", f"The mail of {member.name} could not be returned: {error}"))
        self._members.pop(member.address, None)
        await self.requests.ended(member.address)
        if ids:
            self._emit(MailReturned(member.address, ids, member.ending))
        await self.trees.leave(member, self.row(member).worktree)
        self._emit(MemberChanged(member.address, MemberState.ENDED, member.ending))
        self._subagents.release(member.agent)
        if self.claims is not None:
            await self.claims.member_ended(member)
        member.ended.set()
        await self._route(back)

    # ── tasks of the board ──────────────────────────────────────────────────────────────────────

    @property
    def live(self) -> tuple[Member, ...]:
        """The members that have not ended."""
        return tuple(self._members.values())

    def waits(self, member: Member) -> bool:
        """It has asked for something and waits for the answer."""
        return bool(self._waits_for(member))

    def free(self, member: Member) -> bool:
        """It is idle, has no mail to read first, and waits for nothing."""
        return TASK_UPDATE in self.row(member).tools and self._rests(member)

    def _rests(self, member: Member) -> bool:
        rests = self.row(member).state in REST and self._subagents.admission.paused_until(member.agent) is None
        busy = member.busy or member.held or member.ending or member.goes_on or self._closing
        return rests and not (busy or member.reasons or self.waits(member))

    async def start_again(self, member: Member, why: str) -> str:
        """End a member and begin a new generation of it, which claims for itself; returns why there is none."""
        row, member.busy, member.ending = self.row(member), False, why
        await self.end_now(member)
        try:
            await self.join(MemberDraft(row.name, row.tools, row.role, row.kind, bool(row.worktree), row.plans))
        except HarnessError as error:
            return str(error)
        return ""

    # ── who is there ────────────────────────────────────────────────────────────────────────────

    def member(self, name: str) -> Member:
        """The live member of a name. Raises HarnessError."""
        for member in self._members.values():
            if member.name == name:
                return member
        names = ", ".join(sorted(member.name for member in self._members.values())) or "nobody"
        raise HarnessError(f"There is no member {name!r}; there is: {names}.")

    def row(self, member: Member) -> MemberRow:
        row = self._fold.of_agent(member.agent)
        assert row is not None, "a member has a row from its first event on"
        return row

    @property
    def rows(self) -> tuple[MemberRow, ...]:
        """All members, also those that have ended; the most recently active one last."""
        return self._fold.rows

    def named(self, name: str) -> MemberRow | None:
        """The newest member of a name, also one that has ended."""
        return self._fold.named(name)

    @property
    def counted(self) -> str:
        """How many members there are, and in which state; empty: there is none."""
        return counted_members(self._fold.live)

    def listed(self) -> str:
        """The members as lines."""
        lines = (*roster_lines(self._fold.rows, self._clock.now()), *self.requests.lines())
        return "\n".join(lines) or "There is no member yet."

    # ── the session ─────────────────────────────────────────────────────────────────────────────

    def on_event(self, event: Event) -> None:
        """An event of the session."""
        self._fold.on_event(event, self._clock.now())
        self.requests.on_event(event)
        if self.claims is not None:
            self.claims.on_event(event)
        if isinstance(event, TurnStarted) and event.prompt:
            for member in [one for one in self._members.values() if one.held]:
                member.held = False
                self.step(member)

    def recall(self, events: Iterable[Event]) -> None:
        """Restore the members of an earlier run of this session. They are idle until the user's first prompt."""
        earlier = tuple(events)
        self.requests.recall(earlier)
        if self.claims is not None:
            self.claims.recall(earlier)
        for event in earlier:
            self._fold.on_event(event, 0.0)
            if isinstance(event, Arrived) and event.kind in (ArrivalKind.MAIL, ArrivalKind.NOTE):
                self._arrived.add(notices.mail_id(event.text))
            elif isinstance(event, MailSent):
                self._announced.add(event.id)
        for row in self._fold.live:
            ending = self.requests.fold.ending(row.address)  # that was decided, and the program was killed before
            self._members[row.address] = Member(row.address, row.agent, held=True, ending=ending)
            if row.state in AT_WORK:
                self._left(row)
        if self._fold.rows:
            self._opened = asyncio.create_task(self._open(), name="mailboxes")

    def _left(self, row: MemberRow) -> None:
        """A member did not come to the end of its task; the lead reads so with the next prompt."""
        self._emit(MemberChanged(row.address, MemberState.FAILED, LEFT.reason))
        more = "" if self.requests.fold.ending(row.address) else "; a message lets it continue"
        text = f"{row.name} did not finish: {LEFT.reason}. Its history is kept{more}."
        self._inbox.arrive(ArrivalKind.NOTE, row.name, f"{text} Its task: {row.task}")

    async def open(self) -> None:
        """Open the mailboxes, once. Raises MailError."""
        if self._opened is None or (self._opened.done() and self._opened.exception() is not None):
            self._opened = asyncio.create_task(self._open(), name="mailboxes")
        await asyncio.shield(self._opened)

    async def _open(self) -> None:
        """Make the mailbox of the lead; take over what earlier runs left in the mailboxes."""
        boxes = await self._stored(self._store.boxes)
        if LEAD not in boxes:
            await self._stored(partial(self._store.begin, LEAD))
        for box in boxes.values():
            if box.address not in self._members and not box.ended and box.address != LEAD_BOX:
                await self._stored(partial(self._store.end, box.address, "it never started"))
        for mail in await self._unread(LEAD_BOX) if LEAD in boxes else ():  # before anything new goes there
            if mail.id not in self._arrived:
                self._to_lead(mail)
            await self._marked(LEAD_BOX, mail.id)
        for member in tuple(self._members.values()):
            found = boxes.get(member.name)
            if found is None or found.address != member.address or found.ended:
                member.ending = found.ended if found and found.ended else "its mailbox is gone"
                self._inbox.arrive(ArrivalKind.NOTE, member.name, f"{member.name} is gone: {member.ending}.")
                await self._end_without_box(member)
            else:
                await self.trees.enter_again(member, self.row(member).worktree)
                member.box = list(await self._unread(member.address))
        for member in tuple(self._members.values()):
            if member.ending:
                await self.end_now(member)
            self.step(member)

    async def _unread(self, address: Address) -> tuple[Mail, ...]:
        """What waits in a mailbox. The journal learns of a message that a crash has separated from its event."""
        unread = await self._stored(partial(self._store.unread, address))
        for mail in unread:
            if mail.id not in self._announced:
                self._announce(mail)
        return unread

    async def _end_without_box(self, member: Member) -> None:
        self._members.pop(member.address, None)
        self._emit(MemberChanged(member.address, MemberState.ENDED, member.ending))
        await self.requests.ended(member.address)
        member.ended.set()

    async def aclose(self) -> None:
        """Begin nothing from now on, and close the mailboxes. Running tasks are ended by their subagents."""
        self._closing = True
        if self.claims is not None:
            self.claims.close()
        for member in self._members.values():
            if member.busy:
                self._left(self.row(member))
        alarms = [task for one in self.live for task in (one.alarm, one.leaves) if task is not None]
        for alarm in (alarms := [*alarms, *filter(None, [self._opened])]):
            alarm.cancel()
        await asyncio.gather(*alarms, self.requests.aclose(), return_exceptions=True)

    async def close_mail(self) -> None:
        """Give the tasks of the members back and close the mailboxes, after the last member has stopped."""
        if self.claims is not None:
            await self.claims.aclose()
        await in_thread(self._store.close)


def team_of(core: AgentCore, subagents: Subagents, inbox: Inbox) -> Team:
    """The team of a session. Its mailboxes are kept, or in memory where no journal is kept."""
    store: MailStore
    if core.agents_folder is None:
        store = MemoryMail()
    else:
        place = mail_place(core.settings, core.session)
        store = SqliteMail(place, clock=store_clock(), report=core.shared.notices.append)
    return Team(core, subagents, inbox, store)
