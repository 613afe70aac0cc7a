"""What agents, commands in the background and the gate do, in one line each."""

import io
from collections.abc import Iterable
from dataclasses import replace

import pytest

from harness.events import (
    AgentEnd,
    BreakerState,
    CommandEnd,
    CommandHandedOver,
    ConversationRemoved,
    DropReason,
    Event,
    GateClosed,
    GateName,
    PermissionAsked,
    RefusalReason,
    RemovalReason,
    ToolEnded,
    ToolOutcome,
    ToolStarted,
    TurnStarted,
    WorkDropped,
    WorkQueued,
    WorkRefused,
)
from harness.ui.lines.line import Line
from harness.ui.lines.work import WorkLines
from harness.ui.plain.plain import Plain
from harness.ui.plain.recorded_lines import RecordedLines
from tests.ui import work


def lines(*events: Event, of_calls: bool = True) -> list[Line]:
    """What is told of these events."""
    told = WorkLines(of_calls=of_calls)
    return [line for event in events if (line := told.line(event)) is not None]


def printed(events: Iterable[Event], kind: type[Plain] = Plain) -> list[str]:
    out = io.StringIO()
    plain = kind(out)
    for event in events:
        plain.show(event)
    return out.getvalue().splitlines()


NAMED = (work.created("a1"), work.command("b1", "npm test"))


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (work.admitted("a1", 1, 1), '→ a1 "find the tests" begins'),
        (work.moved("a1"), None),
        (work.ended("a1"), '✓ a1 "find the tests" answered (8.2 s, 3 steps, 12,300 tokens, $0.0300)'),
        (
            work.ended("a1", AgentEnd.STUCK, "it went in circles"),
            '✗ a1 "find the tests" did not finish: it went in circles (8.2 s, 3 steps, 12,300 tokens, $0.0300)',
        ),
        (work.ended("a9", AgentEnd.NOT_STARTED, "the queue is full"), "✗ a9 did not begin: the queue is full"),
        (
            work.ended("a1", AgentEnd.CANCELLED, "stopped"),
            '○ a1 "find the tests" was stopped (8.2 s, 3 steps, 12,300 tokens, $0.0300)',
        ),
        (work.begun("b1"), None),
        (
            work.quiet("b1"),
            '? b1 "npm test" has been silent for 45 s and seems to wait for an answer: Is this OK? (yes)',
        ),
        (CommandHandedOver("b1", 7), '→ b1 "npm test" goes on by itself (process 7); nobody ends it any more'),
        (work.over("b1"), '✓ b1 "npm test" is done (12 s)'),
        (work.over("b1", 1), '✗ b1 "npm test" failed with exit code 1 after 12 s; its last line: 2 failed'),
        (
            replace(work.over("b1", -11), tail=""),
            '✗ b1 "npm test" was killed by signal 11 after 12 s',
        ),
        (work.over("b1", None, CommandEnd.STOPPED), '○ b1 "npm test" was stopped after 12 s'),
        (
            replace(work.over("b1", None, CommandEnd.STOPPED), forced=True, left=("npm (7)",)),
            '○ b1 "npm test" was killed after 12 s; still there: npm (7)',
        ),
        (
            work.over("b1", None, CommandEnd.TIMED_OUT),
            '✗ b1 "npm test" ran for 12 s, longer than it may; it was stopped',
        ),
        (
            work.over("b1", None, CommandEnd.TOO_LONG),
            '✗ b1 "npm test" wrote more than may be kept and was stopped after 12 s',
        ),
        (
            work.over("b1", None, CommandEnd.NOT_STARTED, "no such file"),
            '✗ b1 "npm test" was not started: no such file',
        ),
        (work.over("b1", None, CommandEnd.LOST), '✗ what became of b1 "npm test" is not known'),
        (work.LIMITS, None),
        (WorkQueued("a1", 1, 1), None),
        (work.admitted("b1", 1, 1, GateName.COMMANDS), None),
        (work.put_off("a1", 1), None),
        (WorkDropped("a1", 1, DropReason.ENDED, dirty=False), None),  # the agent's own end says so
        (
            WorkDropped("a1", 1, DropReason.PAUSED, dirty=False),
            "! a1 does not begin: it failed too often and rests",
        ),
        (WorkDropped("a1", 1, DropReason.QUEUE_FULL, dirty=False), "! a1 does not begin: the queue is full"),
        (WorkRefused("a1", RefusalReason.SHUTTING_DOWN), "! a1 does not begin: nothing is begun any more"),
        (WorkRefused("a1", RefusalReason.NOT_KNOWN), "! a1 does not begin: it is over"),
        (replace(work.RESTS, until=None), "‖ a3 rests: it failed 5 times in a row"),
        (replace(work.RESTS, before=BreakerState.OPEN, after=BreakerState.HALF_OPEN), None),
        (replace(work.RESTS, before=BreakerState.HALF_OPEN, after=BreakerState.CLOSED), "✓ a3 works again"),
        (ConversationRemoved("a1", RemovalReason.ENDED, running=False), None),
        (work.CLOSED, "! 18 pieces of work that waited will not be done"),
        (GateClosed(0, 0), None),
    ],
)
def test_one_line_for_what_a_person_would_want_to_know_later(event: Event, line: str | None) -> None:
    assert list(map(str, lines(*NAMED, event))) == ([] if line is None else [line])


def test_a_pause_says_until_when() -> None:
    (line,) = lines(work.RESTS)
    assert line.text.startswith("a3 rests until ")


def test_what_the_model_is_told_of_is_named() -> None:
    assert list(map(str, lines(work.arrived(1, "b1"), work.arrived(2, "a1"), work.delivered(1, 2)))) == [
        "· the model is told what came of b1, a1"
    ]
    many = (*(work.arrived(number, f"b{number}") for number in range(1, 9)), work.delivered(*range(1, 9)))
    assert list(map(str, lines(*many))) == ["· the model is told what came of 8 results"]
    assert list(map(str, lines(work.delivered(3)))) == ["· the model is told what came of 1 result"]


def test_where_calls_are_shown_only_agents_in_the_background_have_lines() -> None:
    told = lines(
        *(work.created("a1"), work.created("a2", background=True)),
        *(work.admitted("a1", 1, 1), work.admitted("a2", 2, 2), work.ended("a1"), work.ended("a2")),
        of_calls=False,
    )
    assert [line.text.split()[0] for line in told] == ["a2", "a2"]


def test_work_that_newer_work_replaced_is_told_by_its_own_name() -> None:
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
        'a1 "read part 1" did not begin: newer work took its place',
        'a1 "read part 2" begins',
        'a1 "read part 3" did not begin: newer work took its place',
        'a1 "read part 2" answered',
        'a1 "read part 4" begins',
    ]


def test_four_hundred_agents_are_two_lines_each() -> None:
    told = lines(*work.crowd(400, done=395))
    assert len(told) == 400 + 395


def task(call_id: str, outcome: ToolOutcome = ToolOutcome.OK) -> tuple[ToolStarted, ToolEnded]:
    return ToolStarted(call_id, "task", "find the tests", {}), ToolEnded(call_id, "task", outcome, "answered", 8.3)


def test_in_lines_a_call_is_told_by_what_its_agent_does() -> None:
    started, over = task("call-a1")
    assert printed((started, work.created("a1"), work.admitted("a1", 1, 1), work.ended("a1"), over)) == [
        '→ a1 "find the tests" begins',
        '✓ a1 "find the tests" answered (8.2 s, 3 steps, 12,300 tokens, $0.0300)',
    ]


def test_a_call_without_an_agent_is_told_as_any_other() -> None:
    assert printed(task("x", ToolOutcome.DENIED)) == ["○ task find the tests: not allowed, answered, 8.3 s"]
    background = (work.created("a1", background=True), *task("call-a1"))
    assert printed(background) == ["✓ task find the tests: ok, answered, 8.3 s"]
    started, over = task("call-a1")
    assert printed((work.created("a1"), TurnStarted(2, ""), started, over)) == [
        "✓ task find the tests: ok, answered, 8.3 s"
    ]


def test_a_recorded_question_of_an_agent_says_whose_it_was() -> None:
    asked = PermissionAsked("c", "bash", "rm -rf build", "it runs a program", "a3")
    assert printed([asked], RecordedLines) == ["? may agent a3 run bash rm -rf build (it runs a program)"]


def test_text_of_others_cannot_write_to_the_terminal() -> None:
    events = (
        work.created("a1", "\x1b[2J\nx"),
        work.ended("a1", AgentEnd.FAILED, "\x07"),
        work.quiet("b1", "\x1b]0;x\x07"),
    )
    assert not set("\x1b\x07") & set("".join(printed(events)))


def test_what_happens_at_the_prompt_stands_above_it() -> None:
    out = io.StringIO()
    plain = Plain(out)
    plain.ask("> ")
    for event in (
        *(work.command("b1", "npm test"), work.begun("b1"), work.over("b1")),
        *(work.moved("a1"), work.moved("a1", asks=True)),
    ):
        plain.interject(event, "> ")
    plain.say("? agent a1: may it?")
    plain.interject(work.moved("a1"), "> ")
    assert out.getvalue() == '> \n✓ b1 "npm test" is done (12 s)\n> \n? agent a1: may it?\n> '
