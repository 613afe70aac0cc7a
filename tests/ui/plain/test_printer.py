"""Events as lines."""

import io
from collections.abc import Iterable
from dataclasses import replace

import pytest

from harness.events import (
    AgentMoved,
    CheckpointMade,
    Event,
    FaultKind,
    ItemStatus,
    Message,
    MessageAdded,
    ModelSwitched,
    Notice,
    Origin,
    OutputDelta,
    PartialDiscarded,
    PermissionAsked,
    PlanChanged,
    PlanItem,
    PlanReminded,
    RequestSent,
    RetryScheduled,
    Rung,
    TextDelta,
    ThinkingDelta,
    ThinkingEnded,
    ToolEnded,
    ToolOutcome,
    ToolStarted,
    TransitionCode,
    TurnEnded,
    TurnStarted,
    Usage,
)
from harness.ui.lines.line import dollars, seconds
from harness.ui.lines.reports import stuck_lines
from harness.ui.plain.printer import LinePrinter, RecordedPrinter, has_colours
from tests.ui.loops import FOUND, REPORT, took

RETRY = RetryScheduled("model", FaultKind.OVERLOADED, 2, 10, 1.5, 0.0, 529, None, "Overloaded")
REPLY = MessageAdded(Message("assistant", ()), Origin.REPLY)


def ended(code: TransitionCode = TransitionCode.COMPLETED, reason: str = "answered") -> TurnEnded:
    return TurnEnded(1, code, reason, "", Usage(), 0.0123, 1, 2, 3.21)


def printed(events: Iterable[Event], *, colours: bool = False) -> str:
    out = io.StringIO()
    plain = LinePrinter(out, colours=colours)
    for event in events:
        plain.show(event)
    return out.getvalue()


def test_of_a_running_command_a_line_a_second_is_printed() -> None:
    times, out = [0.0], io.StringIO()
    plain = LinePrinter(out, clock=lambda: times[-1])
    plain.show(tool("c1", "make"))
    for at, lines in ((0.4, ("1", "2")), (0.5, ("3",)), (1.3, ("4",)), (1.5, ("5\x1b[31m", "")), (2.6, ())):
        times.append(at)
        plain.show(OutputDelta("c1", lines, "half" if lines else "5\x1b[31m"))
    plain.show(OutputDelta("c1", (), "6 …"))
    plain.show(bash_ended("1\n2\n3\n4\n5\n6 …"))
    assert out.getvalue() == "○ bash make … \n  2\n  5\\x1b[31m\n  6 …\n✓ bash make: ok, exit 0, 0.2 s\n"


def bash_ended(detail: str, call_id: str = "c1") -> ToolEnded:
    return ToolEnded(call_id, "bash", ToolOutcome.OK, "exit 0", 0.2, detail)


@pytest.mark.parametrize(
    ("detail", "printed_below"),
    [
        ("one\n", "  one\n"),
        ("\n", ""),
        ("", ""),
        ("one\ntwo\n", "  one\n  two\n"),
        ("a\x1bb", "  a\\x1bb\n"),
        ("x" * 501, f"  {'x' * 500}…\n"),
    ],
)
def test_the_first_lines_of_output_are_always_printed(detail: str, printed_below: str) -> None:
    assert printed([tool("c1", "cat x"), bash_ended(detail)]) == f"○ bash cat x … ✓ ok, exit 0, 0.2 s\n{printed_below}"


def test_a_line_that_was_printed_while_the_command_ran_is_not_repeated() -> None:
    shown = printed([tool("c1", "make"), OutputDelta("c1", ("only",)), bash_ended("only\n")])
    assert shown == "○ bash make … \n  only\n✓ bash make: ok, exit 0, 0.2 s\n"
    later = printed(
        [tool("c1", "make"), OutputDelta("c1", ("only",)), bash_ended("only\n"), *[bash_ended("only\n", "c2")]]
    )
    assert later.endswith("  only\n")


def tool(call_id: str, summary: str) -> ToolStarted:
    return ToolStarted(call_id, "bash", summary, {})


def result(call_id: str, outcome: ToolOutcome, summary: str) -> ToolEnded:
    return ToolEnded(call_id, "bash", outcome, summary, 0.23)


def test_text_goes_out_as_it_comes_and_lines_are_separate() -> None:
    assert printed([TextDelta("Hel"), TextDelta("lo"), REPLY, ended()]) == "Hello\n· 3.2 s, 2 requests, $0.0123\n"


def test_thinking_is_one_line_that_says_how_long_it_took() -> None:
    pieces = [ThinkingDelta("Hm. "), ThinkingDelta("So."), ThinkingEnded(12.0), TextDelta("Yes"), REPLY]
    assert printed(pieces) == "· thinking … 12 s\nYes"
    assert printed([ThinkingEnded(12.0), TextDelta("Yes"), REPLY]) == "· thought for 12 s\nYes"


def test_thinking_that_breaks_off_leaves_a_line_of_its_own() -> None:
    request = RequestSent("m", 1, 1, 1)
    pieces = [
        ThinkingDelta("Hm. "),
        RETRY,
        request,
        ThinkingDelta("Hm. "),
        request,
        ThinkingDelta("So."),
        ThinkingEnded(3),
    ]
    first, retry, second, third = printed(pieces).splitlines()
    assert (first, second, third) == ("· thinking … ", "· thinking … ", "· thinking … 3.0 s")
    assert retry.startswith("↻")


def test_an_answer_that_never_streamed_is_printed_when_it_is_whole() -> None:
    whole = MessageAdded(Message("assistant", ({"type": "text", "text": "Hello \x07"},)), Origin.REPLY)
    assert printed([whole, ended()]) == "Hello \\x07\n· 3.2 s, 2 requests, $0.0123\n"


def test_an_answer_is_printed_once_whether_it_streamed_or_not() -> None:
    whole = MessageAdded(Message("assistant", ({"type": "text", "text": "Hello"},)), Origin.REPLY)
    assert printed([TextDelta("Hel"), TextDelta("lo"), whole, Notice("info", "and"), whole]) == "Hello\n· and\nHello"


def test_a_retry_says_why_which_and_when() -> None:
    assert printed([RETRY]) == "↻ retry 2 of 10 in 1.5 s: overloaded (529)\n"


def test_a_retry_quotes_the_server_where_they_say_more() -> None:
    assert printed([replace(RETRY, detail="try later")]).endswith(": overloaded (529), try later\n")


def test_text_that_comes_again_is_shown_once() -> None:
    events = [TextDelta("Hello wor"), PartialDiscarded(9, "reset"), RETRY, TextDelta("Hello world"), REPLY]
    assert printed(events).replace(printed([RETRY]), "") == "Hello wor\nld"


def test_text_that_comes_differently_is_marked() -> None:
    shown = printed([TextDelta("Hello wor"), PartialDiscarded(9, "reset"), TextDelta("Good day"), REPLY])
    first, mark, second = shown.split("\n")
    assert (first, second) == ("Hello wor", "Good day")
    assert "the last 9 characters of text above are withdrawn" in mark


def test_a_tool_call_is_one_line() -> None:
    shown = printed([tool("1", "make test"), result("1", ToolOutcome.ERROR, "exit 2")])
    assert shown == "○ bash make test … ✗ failed, exit 2, 0.2 s\n"


def test_an_error_is_printed_whole() -> None:
    failed = replace(result("1", ToolOutcome.ERROR, "no such thing in …"), detail="no such thing in\n  a.py")
    assert printed([tool("1", "x"), failed]) == "○ bash x … ✗ failed, no such thing in   a.py, 0.2 s\n"


def test_a_checklist_is_shown_whole_once_and_then_what_changes() -> None:
    items = (PlanItem("read", ItemStatus.DONE), PlanItem("write", ItemStatus.IN_PROGRESS), PlanItem("test"))
    later = (*items[:1], PlanItem("write", ItemStatus.DONE), items[2])
    shown = printed([PlanChanged(items), PlanChanged(items), PlanChanged(later), PlanChanged(())])
    whole = "  [x] read\n  [▸] write\n  [ ] test\n"
    assert shown == f"{whole}  [x] write\n  2 of 3 done\n  no items left\n"
    reminded = "· reminded the model of its plan after 8 steps; open: write; test\n"
    assert printed([PlanReminded(8, ("write", "test"))]) == reminded


def test_calls_side_by_side_each_have_a_line() -> None:
    events = [tool("1", "a"), tool("2", "b"), result("2", ToolOutcome.OK, "2"), result("1", ToolOutcome.OK, "1")]
    assert printed(events) == "○ bash a … \n✓ bash b: ok, 2, 0.2 s\n✓ bash a: ok, 1, 0.2 s\n"


def test_a_denied_call_says_what_was_denied_and_why() -> None:
    asked = PermissionAsked("1", "bash", "rm -r build", "bash runs a program")
    shown = printed([asked, result("1", ToolOutcome.DENIED, "not allowed: keep it")])
    assert shown == "○ bash rm -r build: not allowed: keep it\n"


def test_nothing_from_outside_can_move_the_cursor() -> None:
    wild = "\x1b[2J\x07\u202eevil"
    events = [TextDelta(wild), tool("1", wild), result("1", ToolOutcome.OK, wild), Notice("error", wild)]
    shown = printed(events)
    assert not set(shown) & set("\x1b\x07\u202e")
    assert shown.count("\\x1b[2J\\x07\\u202eevil") == 4


def test_a_turn_that_failed_says_why_and_an_interrupted_one_that_nothing_is_lost() -> None:
    assert printed([ended(TransitionCode.API_ERROR, "no key")]).startswith("✗ no key (api_error; 3.2 s")
    assert printed([ended(TransitionCode.ABORTED_TOOLS)]).startswith("○ interrupted; partial results are kept")


def test_a_loop_is_reported_with_its_steps_and_its_report() -> None:
    kept = CheckpointMade("c", 1, 1, 3, ("a.bin: too big",))
    shown = printed(
        [kept, kept, FOUND, took(Rung.NUDGE), REPORT, ended(TransitionCode.LOOP_STOPPED, "nothing freed it")]
    )
    assert shown.splitlines() == [
        "· a rollback cannot restore: a.bin: too big",
        "⟳ loop: read_file notes.txt, 4 times in a row, with the same result each time",
        "↳ nudge: the model is told",
        *stuck_lines(REPORT),
        "⟳ nothing freed it (3.2 s, 2 requests, $0.0123)",
    ]


def test_colour_only_repeats_what_the_words_say() -> None:
    events = [RETRY, ModelSwitched("a", "b", "overloaded"), tool("1", "x"), result("1", ToolOutcome.BROKEN, "killed")]
    coloured = printed(events, colours=True)
    for code in ("2", "31", "33"):
        coloured = coloured.replace(f"\x1b[{code}m", "")
    assert coloured.replace("\x1b[0m", "") == printed(events)


class Screen(io.StringIO):
    """A terminal."""

    def isatty(self) -> bool:
        return True


class HungUp(io.StringIO):
    """A terminal whose person has gone."""

    def write(self, text: str) -> int:
        raise OSError(5, "Input/output error")


def test_colours_need_a_terminal_that_has_them_and_a_user_who_wants_them() -> None:
    assert has_colours(Screen(), {"TERM": "xterm"})
    assert not has_colours(Screen(), {"TERM": "xterm", "NO_COLOR": "1"})
    assert not has_colours(Screen(), {"TERM": "dumb"})
    assert not has_colours(io.StringIO(), {"TERM": "xterm"})


def test_a_terminal_that_is_gone_is_remembered() -> None:
    plain = LinePrinter(HungUp())
    plain.show(TextDelta("x"))
    assert plain.gone


def test_durations_and_amounts_read_well() -> None:
    assert [seconds(value) for value in (0.04, 9.94, 9.96, 119, 120, 200)] == [
        "0.0 s",
        "9.9 s",
        "10 s",
        "119 s",
        "2 min",
        "3 min 20 s",
    ]
    assert [dollars(value) for value in (0.0, 0.0123, 1.5)] == ["$0.0000", "$0.0123", "$1.50"]


def test_the_output_of_a_command_of_the_users_own_is_shown_with_the_number_of_lines_that_are_not() -> None:
    start = ToolStarted("shell-1", "bash", "seq 20000", {})
    end = ToolEnded("shell-1", "bash", ToolOutcome.OK, "exit 0", 0.1, "1\n2\n", "/tmp/o.txt", detail_of=20_000)
    assert printed([start, end]).splitlines()[1:] == [
        "  1",
        "  2",
        "  … 19,998 more lines",
        "  … the model was given the beginning and the end; the whole output is in /tmp/o.txt",
    ]
    start, end = replace(start, call_id="t1"), replace(end, call_id="t1", detail="1\n2\n3\n4\n5\n", detail_of=5)
    assert printed([start, end]).splitlines()[1:] == ["  1", "  2", "  3", "  … 2 more lines"]
    stopped = replace(end, outcome=ToolOutcome.CANCELLED, summary="interrupted")
    assert printed([start, OutputDelta("t1", ("5",)), stopped]).splitlines()[1:] == [
        "  5",
        "○ bash seq 20000: interrupted, 0.1 s",
    ]
    failed = replace(end, outcome=ToolOutcome.ERROR, summary="exit 1")
    assert printed([start, failed]).splitlines()[1:] == ["  … 2 more lines", "  3", "  4", "  5"]
    assert printed([start, OutputDelta("t1", ("1",)), end]).splitlines()[1:] == [
        "  1",
        "✓ bash seq 20000: ok, exit 0, 0.1 s",
    ]


def test_a_prompt_is_shown_again_after_the_question_of_an_agent_that_began_to_wait_before_it() -> None:
    out = io.StringIO()
    plain = LinePrinter(out)
    waits = AgentMoved("a1", 1, "waits", 1, 10, 0.0, waits_for_user=True)
    plain.show(waits)  # in the turn that started the agent
    plain.ask("> ")
    plain.leave_question()
    plain.say("? may it?")
    plain.ask("  allow it? ")
    plain.entered()
    plain.interject(replace(waits, waits_for_user=False), "> ")
    assert out.getvalue() == "> \n? may it?\n  allow it? > "


def test_the_prompt_is_repeated_also_behind_a_question_that_began_before_it() -> None:
    waits = AgentMoved("a1", 1, "waits", 1, 10, 0.0, waits_for_user=True)
    out = io.StringIO()
    plain = LinePrinter(out, colours=False)
    plain.note(waits)  # between a turn and its prompt, where nothing is printed
    plain.ask("> ")
    plain.say("? may it?")
    plain.interject(replace(waits, waits_for_user=False), "> ")
    assert out.getvalue().endswith("? may it?\n> ")


def test_a_recording_shows_the_prompt_of_each_turn_once() -> None:
    out = io.StringIO()
    recorded = RecordedPrinter(out, colours=False)
    for event in (TurnStarted(1, "first"), ended(), TurnStarted(2, ""), ended()):
        recorded.show(event)
    assert [line for line in out.getvalue().splitlines() if line.startswith(">")] == ["> first"]


def test_after_enter_the_next_line_needs_no_other_line_end() -> None:
    out = io.StringIO()
    plain = LinePrinter(out, colours=False)
    plain.show(TextDelta("an answer"))
    plain.entered()
    plain.say("typed")
    assert out.getvalue() == "an answertyped\n"


def test_questions_and_calls_of_an_earlier_turn_are_not_those_of_a_later_call_with_the_same_id() -> None:
    late = ToolEnded("c1", "bash", ToolOutcome.DENIED, "", 2.0)
    asked, started = PermissionAsked("c1", "bash", "rm x", "it writes"), ToolStarted("c1", "bash", "rm x", {})
    first, second = TurnStarted(1, "first"), TurnStarted(2, "second")
    assert printed([first, asked, late]) == "○ bash rm x: not allowed\n"
    assert printed([first, asked, second, late]) == "○ bash: not allowed\n"
    assert printed([first, started, late]) == "○ bash rm x … ○ not allowed, 2.0 s\n"
    assert printed([first, started, second, late]) == "○ bash rm x … ○ not allowed\n"
