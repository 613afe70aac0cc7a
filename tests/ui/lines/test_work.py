"""What agents, commands in the background and admission do, in one line each."""

import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.events import (
    Address,
    AdmissionClosed,
    AdmissionPool,
    AgentEnd,
    ArrivalKind,
    Arrived,
    BreakerState,
    CheckpointMade,
    CommandEnd,
    CommandHandedOver,
    ConversationRemoved,
    Delivered,
    DropReason,
    Event,
    MailKind,
    MailReturned,
    MailSent,
    MemberAnswered,
    MemberChanged,
    MemberState,
    Message,
    MessageAdded,
    Origin,
    PermissionAsked,
    RejectionReason,
    RemovalReason,
    ToolEnded,
    ToolOutcome,
    ToolStarted,
    TurnStarted,
    WorkDropped,
    WorkQueued,
    WorkRejected,
)
from harness.ui.lines.line import Line
from harness.ui.lines.work import FEW, EventLines, SubagentSummary, spans
from harness.ui.plain.printer import LinePrinter, RecordedPrinter
from tests.ui import members, work


def lines(*events: Event, of_calls: bool = True) -> list[Line]:
    """The lines printed for these events."""
    told = EventLines(of_calls=of_calls)
    return [line for event in events if (line := told.line(event)) is not None]


def printed(events: Iterable[Event], kind: type[LinePrinter] = LinePrinter) -> list[str]:
    out = io.StringIO()
    plain = kind(out)
    for event in events:
        plain.show(event)
    return out.getvalue().splitlines()


NAMED = (work.created("a1"), work.command("b1", "npm test"))


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (work.admitted("a1", 1, 1), '→ a1 "find the tests" started'),
        (work.moved("a1"), None),
        (work.ended("a1"), '✓ a1 "find the tests" answered (8.2 s, 3 steps, 12,300 tokens, $0.0300)'),
        (
            work.ended("a1", AgentEnd.STUCK, "it was in a loop"),
            '✗ a1 "find the tests" did not finish: it was in a loop (8.2 s, 3 steps, 12,300 tokens, $0.0300)',
        ),
        (work.ended("a9", AgentEnd.NOT_STARTED, "the queue is full"), "✗ a9 not started: the queue is full"),
        (
            work.ended("a1", AgentEnd.CANCELLED, "stopped"),
            '○ a1 "find the tests" was stopped (8.2 s, 3 steps, 12,300 tokens, $0.0300)',
        ),
        (work.begun("b1"), None),
        (
            work.quiet("b1"),
            '? b1 "npm test" has been silent for 45 s and seems to wait for input: Is this OK? (yes)',
        ),
        (CommandHandedOver("b1", 7), '→ b1 "npm test" continues on its own as process 7'),
        (work.over("b1"), '✓ b1 "npm test" is done (12 s)'),
        (work.over("b1", 1), '✗ b1 "npm test" failed with exit code 1 after 12 s; its last line: 2 failed'),
        (
            replace(work.over("b1", -11), tail=""),
            '✗ b1 "npm test" was killed by signal 11 after 12 s',
        ),
        (work.over("b1", None, CommandEnd.STOPPED), '○ b1 "npm test" was stopped after 12 s'),
        (
            replace(work.over("b1", None, CommandEnd.STOPPED), forced=True, left=("npm (7)",)),
            '○ b1 "npm test" was killed after 12 s; still running: npm (7)',
        ),
        (
            work.over("b1", None, CommandEnd.TIMED_OUT),
            '✗ b1 "npm test" exceeded its time limit after 12 s and was stopped',
        ),
        (
            work.over("b1", None, CommandEnd.TOO_LONG),
            '✗ b1 "npm test" exceeded its output limit after 12 s and was stopped',
        ),
        (
            work.over("b1", None, CommandEnd.NOT_STARTED, "no such file"),
            '✗ b1 "npm test" was not started: no such file',
        ),
        (work.over("b1", None, CommandEnd.LOST), '✗ the end of b1 "npm test" is unknown'),
        (work.LIMITS, None),
        (WorkQueued("a1", 1, 1), None),
        (work.admitted("b1", 1, 1, AdmissionPool.COMMANDS), None),
        (work.put_off("a1", 1), None),
        (WorkDropped("a1", 1, DropReason.ENDED, deferred=False), None),  # the agent's own end says so
        (
            WorkDropped("a1", 1, DropReason.PAUSED, deferred=False),
            "! a1 not started: it failed too often and is paused",
        ),
        (WorkDropped("a1", 1, DropReason.QUEUE_FULL, deferred=False), "! a1 not started: the queue is full"),
        (WorkRejected("a1", RejectionReason.SHUTTING_DOWN), "! a1 not started: shutting down"),
        (WorkRejected("a1", RejectionReason.NOT_KNOWN), "! a1 not started: it has ended"),
        (replace(work.RESTS, until=None), "‖ a3 is paused: it failed 5 times in a row"),
        (replace(work.RESTS, before=BreakerState.OPEN, after=BreakerState.HALF_OPEN), None),
        (replace(work.RESTS, before=BreakerState.HALF_OPEN, after=BreakerState.CLOSED), "✓ a3 works again"),
        (ConversationRemoved("a1", RemovalReason.ENDED, running=False), None),
        (work.CLOSED, "! 18 queued pieces of work dropped"),
        (AdmissionClosed(0, 0), None),
    ],
)
def test_one_line_for_what_a_user_wants_to_know_later(event: Event, line: str | None) -> None:
    assert list(map(str, lines(*NAMED, event))) == ([] if line is None else [line])


def test_a_pause_says_until_when() -> None:
    (line,) = lines(work.RESTS)
    assert line.text.startswith("a3 is paused until ")


def test_deliveries_to_the_model_are_named() -> None:
    assert list(map(str, lines(work.arrived(1, "b1"), work.arrived(2, "a1"), work.delivered(1, 2)))) == [
        "· results of b1, a1 delivered to the model"
    ]
    many = (*(work.arrived(number, f"b{number}") for number in range(1, 9)), work.delivered(*range(1, 9)))
    assert list(map(str, lines(*many))) == ["· 8 results delivered to the model"]
    assert list(map(str, lines(work.delivered(3)))) == ["· 1 result delivered to the model"]


def test_a_scheduled_prompt_that_begins_a_turn_is_named() -> None:
    fired = lines(Arrived(1, ArrivalKind.SCHEDULED, "c1@1795661643", "Nobody is typing."), Delivered((1,)))
    assert list(map(str, fired)) == ["· the prompt of c1 begins a turn"]


def test_where_calls_are_shown_only_agents_in_the_background_have_lines() -> None:
    told = lines(
        *(work.created("a1"), work.created("a2", background=True)),
        *(work.admitted("a1", 1, 1), work.admitted("a2", 2, 2), work.ended("a1"), work.ended("a2")),
        of_calls=False,
    )
    assert [line.text.split()[0] for line in told] == ["a2", "a2"]


def test_work_that_newer_work_replaced_is_listed_under_its_own_name() -> None:
    told = lines(
        work.created("a1", "read part 1"),
        work.created("a1", "read part 2"),
        work.ended("a1", AgentEnd.NOT_STARTED, "newer work took its place"),
        work.admitted("a1", 2, 1),
        work.created("a1", "read part 3"),
        work.created("a1", "read part 4"),
        work.ended("a1", AgentEnd.NOT_STARTED, "newer work took its place"),
        work.ended("a1"),
        work.admitted("a1", 4, 1),
    )
    assert [line.text.partition("(")[0].rstrip() for line in told] == [
        'a1 "read part 1" not started: newer work took its place',
        'a1 "read part 2" started',
        'a1 "read part 3" not started: newer work took its place',
        'a1 "read part 2" answered',
        'a1 "read part 4" started',
    ]


def task(call_id: str, outcome: ToolOutcome = ToolOutcome.OK) -> tuple[ToolStarted, ToolEnded]:
    return ToolStarted(call_id, "agent", "find the tests", {}), ToolEnded(call_id, "agent", outcome, "answered", 8.3)


def test_in_lines_a_call_is_described_by_what_its_agent_does() -> None:
    started, over = task("call-a1")
    assert printed((started, work.created("a1"), work.admitted("a1", 1, 1), work.ended("a1"), over)) == [
        '→ a1 "find the tests" started',
        '✓ a1 "find the tests" answered (8.2 s, 3 steps, 12,300 tokens, $0.0300)',
    ]


def test_a_call_without_an_agent_is_described_as_any_other() -> None:
    assert printed(task("x", ToolOutcome.DENIED)) == ["○ agent find the tests: not allowed, answered, 8.3 s"]
    background = (work.created("a1", background=True), *task("call-a1"))
    assert printed(background) == ["✓ agent find the tests: ok, answered, 8.3 s"]
    started, over = task("call-a1")
    assert printed((work.created("a1"), TurnStarted(2, ""), started, over)) == [
        "✓ agent find the tests: ok, answered, 8.3 s"
    ]


def test_a_recorded_question_of_an_agent_says_whose_it_was() -> None:
    asked = PermissionAsked("c", "bash", "rm -rf build", "it runs a program", "a3")
    assert printed([asked], RecordedPrinter) == ["? may agent a3 run bash rm -rf build (it runs a program)"]


def test_text_of_others_cannot_write_to_the_terminal() -> None:
    events = (
        work.created("a1", "\x1b[2J\nx"),
        work.ended("a1", AgentEnd.FAILED, "\x07"),
        work.quiet("b1", "\x1b]0;x\x07"),
    )
    assert not set("\x1b\x07") & set("".join(printed(events)))


def test_what_happens_at_the_prompt_is_above_it() -> None:
    out = io.StringIO()
    plain = LinePrinter(out)
    plain.ask("> ")
    for event in (
        *(work.command("b1", "npm test"), work.begun("b1"), work.over("b1")),
        *(work.moved("a1"), work.moved("a1", asks=True)),
    ):
        plain.interject(event, "> ")
    plain.say("? agent a1: may it?")
    plain.interject(work.moved("a1"), "> ")
    assert out.getvalue() == '> \n✓ b1 "npm test" is done (12 s)\n> \n? agent a1: may it?\n> '


def test_what_is_not_kept_is_said_once_a_session_in_one_line() -> None:
    left_out = EventLines()
    lines = [
        left_out.line(CheckpointMade("c", 1, step, 1, reasons))
        for step, reasons in enumerate(
            [(), ("a.bin: too big",), ("a.bin: too big",), ("a.bin: too big", "b: a socket")]
        )
    ]
    assert [str(line) for line in lines if line] == ["· a rollback cannot restore: a.bin: too big"]
    many = CheckpointMade("c", 1, 1, 1, ("ignored by git: .env, .venv/, build/, dist/, node_modules/ and 30 more",))
    said = EventLines().line(many)
    assert str(said) == "· a rollback cannot restore: ignored by git: .env, .venv/, build/, dist/ …"
    assert len(str(said)) <= 76


# ── many subagents ──────────────────────────────────────────────────────────────────────────────

ENDS = st.sampled_from(AgentEnd)


class Passing:
    """A clock on which so many seconds pass before each event."""

    def __init__(self, step_s: float) -> None:
        self.at, self._step_s = 100.0, step_s

    def __call__(self) -> float:
        """Seconds."""
        return self.at

    def tell(self, events: Iterable[Event]) -> Iterator[tuple[float, str]]:
        """Each line with its moment, the rest at the end."""
        lines = SubagentSummary(self)
        for event in events:
            self.at += self._step_s
            for line in lines.lines(event):
                yield self.at, str(line)
        for line in lines.rest():
            yield self.at, str(line)


def told(events: Iterable[Event], step_s: float = 0.01) -> list[str]:
    """The lines."""
    return [line for _, line in Passing(step_s).tell(events)]


def numbers(lines: Iterable[str]) -> list[str]:
    """Those with numbers of agents."""
    return [line for line in lines if re.match(r"· [\d,]+ agents: ", line)]


def whole(ends: Iterable[tuple[AgentEnd, str]], at_once: int = 5) -> Iterator[Event]:
    """Agents that are asked for together, work so many at a time, and end like this."""
    named = [(f"a{number}", end, reason) for number, (end, reason) in enumerate(ends, 1)]
    for agent, _, _ in named:
        yield work.created(agent, f"task of {agent}")
    for first in range(0, len(named), at_once):
        now = named[first : first + at_once]
        for agent, end, _ in now:
            if end is not AgentEnd.NOT_STARTED:
                yield work.admitted(agent, first, 1)
        for agent, end, reason in now:
            yield work.ended(agent, end, reason)


def test_of_four_hundred_the_first_have_lines_and_then_numbers_come_once_a_second() -> None:
    lines = list(Passing(0.01).tell(whole([(AgentEnd.ANSWERED, "")] * 400)))
    told_numbers = [(at, line) for at, line in lines if numbers([line])]
    assert len(lines) - len(told_numbers) == 2 * FEW
    assert 8 <= len(told_numbers) <= 13  # twelve seconds
    moments = [at for at, _ in told_numbers[:-1]]
    assert all(after - before >= 1.0 for before, after in pairwise(moments))
    assert told_numbers[0][1] == "· 400 agents: 10 answered, 1 running, 389 queued"
    assert told_numbers[-1][1] == "· 400 agents: 400 answered"


def test_those_that_were_stopped_or_never_began_are_grouped() -> None:
    ends = [(AgentEnd.CANCELLED, "")] * 15 + [(AgentEnd.NOT_STARTED, "the turn was stopped")] * 385
    lines = told(whole(ends, at_once=400), step_s=0.0)
    assert lines[-3:] == [
        "○ a11–a15 were stopped",
        "✗ a26–a400 not started: the turn was stopped",
        "· 400 agents: 15 stopped, 385 not started",
    ]
    assert len(lines) == 3 * FEW + 3


def test_what_waits_for_its_second_comes_with_whatever_happens_next() -> None:
    clock = Passing(0.0)
    lines = SubagentSummary(clock)
    events = list(whole([(AgentEnd.ANSWERED, "")] * 20))
    assert not numbers(str(line) for event in events[:-1] for line in lines.lines(event))
    clock.at += 1.0
    assert [str(line) for line in lines.lines(work.moved("a20"))] == ["· 20 agents: 19 answered, 1 running"]
    assert [str(line) for line in lines.rest()] == []
    assert [str(line) for line in lines.lines(events[-1])] == ["· 20 agents: 20 answered"]


def test_the_next_crowd_begins_with_names_again() -> None:
    crowd = list(whole([(AgentEnd.ANSWERED, "")] * 30))
    once = told(crowd)
    assert told([*crowd, *crowd]) == [*once, *once]


def test_commands_and_admission_have_the_same_lines_as_elsewhere() -> None:
    lines = told([*whole([(AgentEnd.ANSWERED, "")] * 20), work.command("b1"), work.over("b1"), work.CLOSED])
    assert lines[-2:] == ['✓ b1 "npm run dev" is done (12 s)', "! 18 queued pieces of work dropped"]


@given(st.lists(st.tuples(ENDS, st.sampled_from(["it is over", "the queue is full"])), max_size=60), st.integers(1, 9))
def test_every_failure_is_named_and_the_last_numbers_are_right(ends: list[tuple[AgentEnd, str]], at_once: int) -> None:
    lines = told(whole(ends, at_once), step_s=0.05)
    failures = [line for line in lines if line[0] in "✗○"]
    named = [id for line in failures for id in unfolded(line)]
    assert sorted(named) == sorted(f"a{number}" for number, (end, _) in enumerate(ends, 1) if end != "answered")
    if summary := numbers(lines):
        counted = [int(number) for number in re.findall(r"\d+", summary[-1])]
        assert counted[0] == len(ends) == sum(counted[1:])


def unfolded(line: str) -> Iterator[str]:
    """The ids that a line begins with."""
    for first, last in re.findall(r"\ba(\d+)(?:–a(\d+))?(?=,| |$)", re.split(r'"| did| was| were', line)[0]):
        yield from (f"a{number}" for number in range(int(first), int(last or first) + 1))


@pytest.mark.parametrize(
    ("ids", "text"),
    [
        (["a1"], "a1"),
        (["a3", "a1", "a2"], "a1–a3"),
        (["a10", "a9", "a3", "b4"], "a3, a9–a10, b4"),
        (["me", "a1"], "me, a1"),
    ],
)
def test_ids_that_follow_one_another_are_a_span(ids: list[str], text: str) -> None:
    assert spans(ids) == text


def test_members_have_their_names_and_their_mail() -> None:
    lines = EventLines(of_calls=False)
    ann, lead = Address("ann", 2), Address("lead", 1)
    text = '<mail id="4" kind="message" from="ben">\nLook\nhere.\n</mail>'
    happened: list[tuple[Event, str | None]] = [
        *((event, None) for event in members.joined("ann", "a1")),
        (work.admitted("a1", 1, 1), '→ ann "find the tests" started'),
        (MailSent(3, ann, lead, MailKind.LAST_WORDS, "Done."), "· mail 3 from ann (2) to lead (last words): Done."),
        (MailSent(4, lead, ann, MailKind.MESSAGE, "Look."), "· mail 4 from lead to ann (2): Look."),
        (
            MessageAdded(Message("user", ({"type": "text", "text": text},)), Origin.MAIL),
            "· mail 4 from ben: Look\nhere.",
        ),
        (MailReturned(ann, (4, 5), "it was stopped"), "! 2 messages to ann (2) not read: it was stopped"),
        (MemberAnswered(ann, "Seven."), "✓ ann (2) answers you: Seven."),
        (MemberChanged(ann, MemberState.PAUSED, "failed 5 times"), "‖ ann (2) is paused: failed 5 times"),
        (MemberChanged(ann, MemberState.IDLE, "done"), None),
        (MemberChanged(ann, MemberState.ENDED, "the lead ended it"), "○ ann (2) has ended: the lead ended it"),
    ]
    assert [(event, None if (line := lines.line(event)) is None else str(line)) for event, _ in happened] == happened
