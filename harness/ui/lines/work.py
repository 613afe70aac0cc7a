"""Lines that need earlier events: subagents, background commands, checkpoints; and the summary of many subagents."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby

from harness.base.clock import time_of_day
from harness.base.external_text import CUT, counted
from harness.events import (
    AdmissionPool,
    AgentCreated,
    AgentEnd,
    AgentEnded,
    ArrivalKind,
    Arrived,
    CheckpointMade,
    ClaimEnd,
    ClaimEnded,
    ClaimsSwitched,
    CommandEnd,
    CommandEnded,
    CommandHandedOver,
    CommandQuiet,
    Delivered,
    Event,
    GoalEnded,
    GoalStarted,
    MailKind,
    MailReturned,
    MailSent,
    MemberAnswered,
    MemberChanged,
    MemberClaimed,
    MemberState,
    Message,
    MessageAdded,
    MonitorEnd,
    MonitorEnded,
    MonitorSet,
    MovedToBackground,
    MoveReason,
    Origin,
    PlanChanged,
    PollNoted,
    RequestChanged,
    RequestState,
    RespawnDecided,
    TurnStarted,
    WorkAdmitted,
)
from harness.policies.schedule.job import job_id_of
from harness.policies.team.claims import goal_text
from harness.ui.folds.work import Plan, WorkFold, how_far, plan_after
from harness.ui.lines.events import line_of
from harness.ui.lines.line import Line, Tone, priced, seconds

DELEGATES = frozenset({"agent", "task"})
"""The tool whose calls are shown by the lines of their subagents, and its name in older recorded sessions."""
MOST_LEFT_OUT = 46
"""Characters about the files that a checkpoint does not hold."""
SEVERAL = 5
"""Sources of arrivals that are named; more are counted."""


class EventLines:
    """The line of each event of a session, in order."""

    def __init__(self, *, of_calls: bool = True) -> None:
        """`of_calls`: also report subagents that a call waits for, where the call itself does not show them."""
        self._of_calls = of_calls
        self._work = WorkFold()
        self._plan: Plan = ()
        self._calls: set[str] = set()
        """Ids of calls that wait for a subagent."""
        self._arrived: dict[int, str] = {}
        self._scheduled: set[int] = set()
        """Numbers of arrivals that are scheduled prompts."""
        self._reported_left_out = False
        self.checked: tuple[str, ...] = ()
        """The lines of the checklist that the last event has changed."""
        self.task: AgentCreated | None = None
        """The task that the last event was about."""

    def shows(self, call_id: str) -> bool:
        """Whether the lines of its subagent show a call."""
        return call_id in self._calls

    def line(self, event: Event) -> Line | None:
        """The line for the next event; None if it has none."""
        self.task = self._work.on_event(event)
        before, self._plan, self.checked = self._plan, plan_after(self._plan, event), ()
        match event:
            case TurnStarted():
                self._calls.clear()
            case AgentCreated(call_id=call_id, background=background):
                if self._of_calls and not background:
                    self._calls.add(call_id)
            case WorkAdmitted(key=key, pool=AdmissionPool.AGENTS):
                return Line("→", f"{_named(key, self.task)} started") if self._is_shown(self.task) else None
            case AgentEnded(agent=agent):
                return _agent_ended(event, _named(agent, self.task)) if self._is_shown(self.task) else None
            case CommandQuiet(command=command, quiet_s=quiet, tail=tail):
                silence = f"has been silent for {seconds(quiet)} and seems to wait for input"
                return Line("?", f"{self._command(command)} {silence}: {_last_line(tail)}", Tone.TROUBLE)
            case MovedToBackground(work=work):
                return _moved(event, _named(work, self.task) if self.task else self._command(work))
            case MonitorSet(command=command, words=words, until=until):
                which = f" with {' or '.join(words)}" if words else ""
                return Line("·", f"new lines of {self._command(command)}{which} are sent until {time_of_day(until)}")
            case MonitorEnded(command=command, end=MonitorEnd.DEADLINE | MonitorEnd.TOO_MANY as end):
                why = "its time is over" if end is MonitorEnd.DEADLINE else f"after {event.notifications} notifications"
                return Line("·", f"new lines of {self._command(command)} are no longer sent: {why}")
            case PollNoted(running=running):
                return Line("·", f"the model waits for {', '.join(running)}; a note says that ends are announced")
            case CommandHandedOver(command=command, pid=pid):
                return Line("→", f"{self._command(command)} continues on its own as process {pid}")
            case CommandEnded(command=command):
                return _command_ended(event, self._command(command))
            case Arrived(number=number, source=source, kind=kind):
                self._arrived[number] = source
                if kind is ArrivalKind.SCHEDULED:
                    self._scheduled.add(number)
            case Delivered(numbers=numbers):
                return self._delivered(numbers)
            case CheckpointMade():
                return self._left_out(event)
            case MailSent(id=id, sender=sender, recipient=recipient, kind=kind, text=text):
                what = "" if kind in (MailKind.MESSAGE, MailKind.USER) else f" ({kind.value.replace('_', ' ')})"
                return Line("·", f"mail {id} from {sender} to {recipient}{what}: {text}")
            case MemberAnswered(member=member, text=text):
                return Line("✓", f"{member} answers you: {text}")
            case MessageAdded(message=message, origin=Origin.MAIL):
                return Line("·", "\n".join(_mails(message)))
            case MailReturned(member=member, ids=ids, why=why):
                return Line("!", f"{counted(len(ids), 'message')} to {member} not read: {why}", Tone.TROUBLE)
            case MemberChanged(member=member, state=MemberState.PAUSED, why=why):
                return Line("‖", f"{member} is paused: {why}", Tone.TROUBLE)
            case MemberChanged(member=member, state=MemberState.ENDED, why=why):
                return Line("○", f"{member} has ended: {why}")
            case MemberClaimed(member=member, task=task, subject=subject, attempt=attempt):
                again = f" (attempt {attempt})" if attempt > 1 else ""
                return Line("◍", f"{member} claims {task}{again}: {subject}")
            case ClaimEnded(member=member, task=task, end=ClaimEnd.COMPLETED, why=why):
                return Line("✓", f"{task} is completed by {member}: {why}")
            case ClaimEnded(member=member, task=task, end=end, why=why):
                return Line("!", f"{task} is {end.value.replace('_', ' ')} by {member}: {why}", Tone.TROUBLE)
            case RespawnDecided(member=member, what=what, why=why):
                follows = {"go on": "keeps its task", "respawn": "is started again"}.get(what, "is not started again")
                return Line("‖", f"{member} {follows}: {why}", Tone.TROUBLE)
            case ClaimsSwitched(on=on, why=why):
                return Line("·", f"idle members claim {'ready tasks' if on else 'no tasks'} from now on: {why}")
            case GoalStarted(goal=goal, members=members):
                return Line("▸", f"goal for {counted(members, 'member')}: {goal}")
            case GoalEnded():
                return Line("✓", goal_text(event))
            case RequestChanged(id=id, state=state, by=by, why=why) if state is not RequestState.REMINDED:
                return Line("·", f"request {id} is {state.value.replace('_', ' ')} by {by}{why and f': {why}'}")
            case PlanChanged(items=items):
                self.checked = checked(before, items)
                return Line("·", f"checklist: {'; '.join(self.checked)}") if self.checked else None
            case _:
                return line_of(event)
        return None

    def _is_shown(self, task: AgentCreated | None) -> bool:
        return self._of_calls or (task is not None and task.background)

    def _command(self, command: str) -> str:
        line = self._work.command_line(command)
        return f'{command} "{line}"' if line else command

    def _delivered(self, numbers: tuple[int, ...]) -> Line | None:
        fired = [job_id_of(self._arrived.pop(number, "")) for number in numbers if number in self._scheduled]
        numbers = tuple(number for number in numbers if number not in self._scheduled)
        if not numbers:
            return Line("·", f"the prompt of {', '.join(fired)} begins a turn")
        sources = list(dict.fromkeys(self._arrived.pop(number, "") for number in numbers))
        named = [source for source in sources if source]
        what = f"results of {', '.join(named)}" if 0 < len(named) <= SEVERAL else counted(len(numbers), "result")
        return Line("·", f"{what} delivered to the model")

    def _left_out(self, event: CheckpointMade) -> Line | None:
        """Files that a checkpoint does not hold, in a line of its own once a session; `/undo` names them all."""
        if self._reported_left_out or not event.left_out:
            return None
        self._reported_left_out = True
        files = "; ".join(event.left_out)
        cut = files if len(files) <= MOST_LEFT_OUT else files[: MOST_LEFT_OUT - len(CUT)].rstrip(" ,") + CUT
        return Line("·", f"a rollback cannot restore: {cut}")


def _moved(event: MovedToBackground, name: str) -> Line:
    if event.reason is MoveReason.ASKED:
        return Line("→", f"{name} continues in the background")
    silence = f"silent for {seconds(event.silent_s)}"
    return Line("→", f"{name} reached its time limit and continues in the background ({silence})", Tone.TROUBLE)


def checked(before: Plan, items: Plan) -> tuple[str, ...]:
    """The checklist in lines: all of it where it is a new one, else the items that have changed; empty: nothing has."""
    if items == before or not items:
        return () if items == before else ("no items left",)
    known = {item.text: item for item in before}
    changed = tuple(item.line for item in items if known.get(item.text) != item)
    return (*changed, f"{how_far(items)} done") if any(item.text in known for item in items) else changed


def _named(agent: str, task: AgentCreated | None) -> str:
    if task is None:
        return agent
    name = task.member or agent
    return f'{name} "{task.task}"' if task.task else name


_MAIL = re.compile(r'<mail id="(\d+)" kind="\w+" from="([^"]*)">\n(.*)\n</mail>', re.DOTALL)


def _mails(message: Message) -> Iterator[str]:
    """The mail that a member reads, one text for each."""
    for block in message.content:
        if found := _MAIL.fullmatch(str(block.get("text", ""))):
            yield f"mail {found[1]} from {found[2]}: {found[3]}"


def _agent_ended(event: AgentEnded, name: str) -> Line:
    cost = f", {priced(event.cost_usd, event.unpriced)}" if event.cost_usd or event.unpriced else ""
    tokens = event.usage.prompt + event.usage.output
    used = f", {tokens:,} tokens{cost}" if tokens else ""
    totals = f"{seconds(event.duration_s)}, {counted(event.steps, 'step')}{used}"
    match event.end:
        case AgentEnd.ANSWERED:
            return Line("✓", f"{name} answered ({totals})")
        case AgentEnd.NOT_STARTED:
            return Line("✗", f"{name} not started: {event.reason}", Tone.BAD)
        case AgentEnd.CANCELLED:
            return Line("○", f"{name} was stopped ({totals})", Tone.TROUBLE)
        case _:
            return Line("✗", f"{name} did not finish: {event.reason} ({totals})", Tone.BAD)


def _command_ended(event: CommandEnded, name: str) -> Line:
    took = seconds(event.duration_s)
    why = f": {event.reason}" if event.reason else ""
    match event.end:
        case CommandEnd.EXITED if not event.exit_code:
            return Line("✓", f"{name} is done ({took})")
        case CommandEnd.EXITED:
            last = _last_line(event.tail)
            output = f"; its last line: {last}" if last else ""
            return Line("✗", f"{name} {_exit(event.exit_code)} after {took}{output}", Tone.TROUBLE)
        case CommandEnd.STOPPED | CommandEnd.SHUT_DOWN:
            left = f"; still running: {', '.join(event.left)}" if event.left else ""
            tone = Tone.BAD if event.left else Tone.QUIET
            return Line("○", f"{name} was {'killed' if event.forced else 'stopped'} after {took}{why}{left}", tone)
        case CommandEnd.TIMED_OUT:
            return Line("✗", f"{name} exceeded its time limit after {took} and was stopped{why}", Tone.TROUBLE)
        case CommandEnd.TOO_LONG:
            return Line("✗", f"{name} exceeded its output limit after {took} and was stopped{why}", Tone.TROUBLE)
        case CommandEnd.NOT_STARTED:
            return Line("✗", f"{name} was not started{why}", Tone.BAD)
        case CommandEnd.LOST:
            return Line("✗", f"the end of {name} is unknown{why}", Tone.TROUBLE)


def _exit(code: int | None) -> str:
    return f"was killed by signal {-code}" if code is not None and code < 0 else f"failed with exit code {code}"


def _last_line(text: str) -> str:
    return text.strip().rpartition("\n")[2].strip()


# ── the summary of many subagents ───────────────────────────────────────────────────────────────

FEW = 10
"""Starts, answers, cancellations and rejections of a batch that have a line each."""
PAUSE_S = 1.0
"""Seconds between two summaries."""
_ID = re.compile(r"(\D*)(\d+)")


class SubagentSummary:
    """Event lines for a log, with a summary of many subagents.

    A batch is all subagents created until each of them has ended. The first of a batch start and answer in a line
    each; the rest is summarised once a second. Each failure has a line; subagents that never started or were stopped
    are listed together by their ids. There is no timer: a due summary follows the next event, whatever it is about.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        """`now`: seconds of a monotonic clock."""
        self._now = now
        self._lines = EventLines()
        self._summarised_at = 0.0
        self._created = 0
        self._started = 0
        self._running: set[str] = set()
        self._ends: Counter[AgentEnd] = Counter()
        self._grouped: dict[tuple[AgentEnd, str], list[str]] = {}
        """Subagents that never started or were stopped and were not listed yet, by end and reason."""
        self._pending = False
        """Whether anything happened since the last summary."""

    def lines(self, event: Event) -> Iterator[Line]:
        """The lines for an event."""
        line = self._lines.line(event)
        if self._is_summarised(event):
            self._pending = True
        elif line is not None:
            yield line
        if self._pending and (self._all_ended or self._now() - self._summarised_at >= PAUSE_S):
            yield from self.rest()

    def rest(self) -> Iterator[Line]:
        """The summary of everything that was not reported yet."""
        if not self._pending:
            return
        self._pending, self._summarised_at = False, self._now()
        grouped, self._grouped = self._grouped, {}
        for (end, reason), agents in grouped.items():
            if end is AgentEnd.CANCELLED:
                yield Line("○", f"{spans(agents)} {'were' if len(agents) > 1 else 'was'} stopped", Tone.TROUBLE)
            else:
                yield Line("✗", f"{spans(agents)} not started: {reason}", Tone.BAD)
        yield Line("·", self._numbers())

    @property
    def _all_ended(self) -> bool:
        return self._ends.total() >= self._created

    def _is_summarised(self, event: Event) -> bool:
        """Count an event; whether it has no line of its own because there are many like it."""
        match event:
            case AgentCreated():
                if self._all_ended:
                    self._begin_batch()
                self._created += 1
            case WorkAdmitted(key=key, pool=AdmissionPool.AGENTS):
                self._started += 1
                self._running.add(key)
                return self._started > FEW
            case AgentEnded(agent=agent, end=end, reason=reason):
                self._ends[end] += 1
                if end is not AgentEnd.NOT_STARTED:
                    self._running.discard(agent)
                match end:
                    case AgentEnd.ANSWERED:
                        return self._ends[end] > FEW
                    case AgentEnd.CANCELLED | AgentEnd.NOT_STARTED if self._ends[end] > FEW:
                        why = reason if end is AgentEnd.NOT_STARTED else ""
                        self._grouped.setdefault((end, why), []).append(agent)
                        return True
            case MailSent(kind=MailKind.LAST_WORDS):
                return self._ends[AgentEnd.ANSWERED] > FEW
        return False

    def _begin_batch(self) -> None:
        self._created = self._started = 0
        self._ends.clear()
        self._summarised_at = self._now()

    def _numbers(self) -> str:
        answered, stopped, not_started = (
            self._ends[end] for end in (AgentEnd.ANSWERED, AgentEnd.CANCELLED, AgentEnd.NOT_STARTED)
        )
        running = len(self._running)
        counts = (
            (answered, "answered"),
            (self._ends.total() - answered - stopped - not_started, "did not finish"),
            (stopped, "stopped"),
            (not_started, "not started"),
            (running, "running"),
            (self._created - self._ends.total() - running, "queued"),
        )
        parts = ", ".join(f"{number:,} {words}" for number, words in counts if number > 0)
        return f"{counted(self._created, 'agent')}: {parts}"


def spans(ids: Iterable[str]) -> str:
    """Ids in order, consecutive ones as a span: "a3, a6–a400"."""
    plain = sorted({id for id in ids if not _ID.fullmatch(id)})
    numbered = sorted({(found[1], int(found[2])) for id in ids if (found := _ID.fullmatch(id))})
    parts = [*plain]
    for _, run in groupby(enumerate(numbered), key=lambda pair: (pair[1][0], pair[1][1] - pair[0])):
        numbers = [f"{letters}{number}" for _, (letters, number) in run]
        parts.append(numbers[0] if len(numbers) == 1 else f"{numbers[0]}–{numbers[-1]}")
    return ", ".join(parts)
