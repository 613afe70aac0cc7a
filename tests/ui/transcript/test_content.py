"""How entries look: one line for each call, colour for what needs a look, red for the end of a turn that failed."""

import itertools
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.content import Content

from harness.events import (
    Alternative,
    Attempt,
    Dispatch,
    ItemStatus,
    OutputDelta,
    PauseReport,
    PlanItem,
    ProposedPlan,
    Rank,
    Rung,
    ToolOutcome,
    TransitionCode,
    TurnEnded,
    Usage,
)
from harness.ui.lines.line import Line, Tone
from harness.ui.transcript.content import entry_content, set_off
from harness.ui.transcript.entries import (
    AnswerEntry,
    CallEntry,
    ChecklistEntry,
    Entry,
    LiveLines,
    LoopReportEntry,
    NoteEntry,
    PauseEntry,
    PlanEntry,
    PromptEntry,
    TextEntry,
    ThinkingEntry,
    TurnEndEntry,
)
from tests.ui.loops import REPORT

CALL = CallEntry("c1", "grep", '"timeout" src/', 0.0, outcome=ToolOutcome.OK, result="3 hits", duration_s=0.2)
DIFF = "--- a/x.py\n+++ b/x.py\n@@ -1,1 +1,20 @@\n-old\n" + "".join(f"+new {number}\n" for number in range(20))
END = TurnEnded(1, TransitionCode.COMPLETED, "done", "", Usage(), 0.11, 5, 7, 45.2)


def look(entry: Entry, width: int = 60, *, expanded: bool = False, now: float = 0.0) -> list[str]:
    """The lines of an entry without their styles."""
    return entry_content(entry, width, expanded=expanded, now=now).plain.split("\n")


def call(outcome: ToolOutcome, result: str = "", **more: object) -> CallEntry:
    """A call that ended in a certain way."""
    return replace(CALL, outcome=outcome, result=result, **more)  # type: ignore[arg-type]


def styles(content: Content) -> str:
    return " ".join(str(span.style) for span in content.spans)


def test_a_prompt_stands_behind_its_bar() -> None:
    assert look(PromptEntry(1, "find where the config is read", 0.0), 16) == [
        "▌ find where the",
        "▌ config is read",
    ]
    assert look(PromptEntry(0, "ls -l\ncd", 0.0, shell=True), 18) == ["▌ ! ls -l         ", "▌   cd            "]


@given(st.text(st.sampled_from("ab 天\n\t"), max_size=60), st.integers(4, 60), st.booleans())
def test_a_prompt_has_its_bar_and_its_tint_over_the_whole_width(text: str, width: int, shell: bool) -> None:
    content = entry_content(PromptEntry(1, text, 0.0, shell=shell), width)
    for line in content.split("\n", allow_blank=True):
        assert line.plain.startswith("▌ ")
        assert line.cell_length == width
        tint = {place for span in line.spans if "$tint" in str(span.style) for place in range(span.start, span.end)}
        assert tint == set(range(len(line.plain)))
    assert not any("$tint" in str(span.style) for span in entry_content(AnswerEntry("a"), width).spans)


def test_a_long_prompt_is_shown_in_short_and_whole_when_expanded() -> None:
    said = PromptEntry(1, "\n".join(f"line {number}" for number in range(1, 31)), 0.0)
    short = entry_content(said, 60).plain.split("\n")
    assert (len(short), short[0].rstrip(), short[-1].rstrip()) == (11, "▌ line 1", "▌ … 20 more lines")
    assert entry_content(said, 60, key="Ctrl+O").plain.rstrip().endswith("… 20 more lines (Ctrl+O)")
    assert "line 30" in entry_content(said, 60, expanded=True).plain


def test_joined_calls_are_counted_in_one_line_and_listed_when_expanded() -> None:
    result = "not started: max_subagents is 100"
    joined = replace(CALL, tool="agent", summary="part 1", outcome=ToolOutcome.ERROR, result=result, joined=("b", "c"))
    assert look(joined, 80)[0].split("  ")[0] == "✗ agent × 3"
    assert look(joined, 80)[0].endswith(result)
    assert look(joined, 80, expanded=True)[1:4] == ["  part 1", "  b", "  c"]


def test_duration_and_result_are_in_columns_of_their_own() -> None:
    lines = [*look(CALL, 80), *look(replace(CALL, tool="read_file", summary="a.py", result="88 lines"), 80)]
    assert lines == [
        '● grep "timeout" src/                               0.2 s · 3 hits',
        "● read_file a.py                                    0.2 s · 88 lines",
    ]


@pytest.mark.parametrize("outcome", [ToolOutcome.DENIED, ToolOutcome.INVALID])
def test_a_call_that_did_not_run_uses_the_column_of_the_duration(outcome: ToolOutcome) -> None:
    for length in range(20, 90):
        [line] = look(replace(call(outcome, "no"), summary="x" * length), 80)
        assert f" {'x' * length} " in line or "x…  not" in line


def test_on_a_narrow_screen_the_result_outlives_the_duration() -> None:
    assert look(CALL, 32) == ['● grep "timeout" src/   3 hits']
    assert look(replace(CALL, summary="a long summary of a call"), 32) == ["● grep a long summary o…  3 hits"]


def test_wide_characters_count_as_what_they_take() -> None:
    [line] = look(replace(CALL, summary="天気予報" * 20), 40)
    assert Content(line).cell_length <= 40
    assert line.endswith("3 hits")


@pytest.mark.parametrize(
    ("entry", "begins", "ends"),
    [
        (call(ToolOutcome.BROKEN, "timed out", failures=3), "✗ grep", "timed out (3rd)"),
        (call(ToolOutcome.BROKEN, "timed out", failures=1), "✗ grep", "timed out"),
        (call(ToolOutcome.ERROR, failures=22), "✗ grep", "failed (22nd)"),
        (call(ToolOutcome.ERROR, "exit 1", failures=11), "✗ grep", "exit 1 (11th)"),
        (call(ToolOutcome.INVALID, "no such tool"), "✗ grep", "not run, no such tool"),
        (call(ToolOutcome.INVALID, "grep was not run: no path"), "✗ grep", "  not run: no path"),
        (call(ToolOutcome.DENIED, "not allowed: no"), "○ grep", "not allowed: no"),
        (call(ToolOutcome.CANCELLED), "○ grep", "interrupted"),
        (call(ToolOutcome.OK, dispatch=Dispatch.PROBE), '● grep "timeout" src/  probe', "ok"),
        (call(ToolOutcome.OK, in_place_of="find"), '● grep "timeout" src/  in place of find', "ok"),
        (call(ToolOutcome.SKIPPED, dispatch=Dispatch.PAUSE), "○ grep", "not run: the turn pauses"),
        (call(ToolOutcome.SKIPPED, why="it is off"), "○ grep", "skipped  it is off"),
    ],
)
def test_how_a_call_ended_is_visible_without_colour(entry: CallEntry, begins: str, ends: str) -> None:
    [line] = look(entry, 72)
    assert line.startswith(begins)
    assert line.endswith(ends)


def test_a_call_that_is_skipped_says_what_takes_its_place_and_what_is_lost() -> None:
    route = Alternative(Rank.LOW, "rg", "grep's own formatting", "bash")
    skipped = call(ToolOutcome.SKIPPED, summary="", dispatch=Dispatch.SKIP, route=route, why="it failed 3 times")
    assert look(skipped) == ["○ grep skipped → bash: rg   loses: grep's own formatting"]
    wanted = look(replace(skipped, summary="timeout src/"), expanded=True)
    assert wanted[1:] == ["  timeout src/", "  it failed 3 times"]


def test_a_call_that_runs_says_for_how_long() -> None:
    running = replace(CALL, outcome=None, running=True, at=100.0)
    assert look(running, 40, now=112.9) == ['◍ grep "timeout" src/               12 s']
    assert look(running, 40) == ['◍ grep "timeout" src/']
    assert look(replace(running, running=False), 40, now=112.9) == ['◌ grep "timeout" src/']


def test_a_call_that_an_agent_works_for_says_which_and_what_it_does() -> None:
    task = replace(CALL, tool="agent", summary="find the tests", agent="a1", doing="grep timeout")
    [line] = look(replace(task, outcome=None, running=True))
    assert line.rstrip() == "◍ agent find the tests  a1 · grep timeout"
    [line] = look(replace(task, result="a1 answered, 2 steps"), 80)
    assert line.split(maxsplit=5) == ["●", "agent", "find", "the", "tests", "0.2 s · a1 answered, 2 steps"]


def test_a_label_has_a_line_of_its_own() -> None:
    assert look(replace(CALL, label="stale: it was changed"))[1] == "  ! stale: it was changed"


def test_a_change_is_shown_in_short_and_whole_when_expanded() -> None:
    edit = replace(CALL, detail=DIFF)
    assert [line.rstrip() for line in look(edit)[1:4]] == ["   1 - old", "   1 + new 0", "   2 + new 1"]
    assert look(edit)[0].rstrip().endswith("+20 -1")
    assert look(edit)[-1] == "  … 9 more lines"
    assert entry_content(edit, 60, key="Ctrl+O").plain.endswith("  … 9 more lines (Ctrl+O)")
    assert look(edit, expanded=True)[-1].rstrip() == "  20 + new 19"
    for line in entry_content(edit, 60).split("\n")[1:-1]:
        assert line.cell_length == 60
        assert any("$diff-" in str(span.style) and span.end == len(line.plain) for span in line.spans)
    cut = replace(edit, detail_of=40, result="1 replacement")
    assert look(cut)[0].rstrip().endswith("1 replacement")
    assert look(cut, expanded=True)[-1] == "  … 16 more lines"


ERROR = "old_string does not occur in src/settings.py. Line 12 matches but for white space; copy its indentation."


@pytest.mark.parametrize(
    ("entry", "head", "below"),
    [
        (call(ToolOutcome.ERROR, ERROR[:60] + " …", detail=ERROR), "failed", ERROR),
        (call(ToolOutcome.ERROR, ERROR[:60] + " …", detail=ERROR, failures=2), "failed (2nd)", ERROR),
        (call(ToolOutcome.DENIED, f"not allowed: {ERROR}"), "not allowed", ERROR),
        (call(ToolOutcome.INVALID, ERROR), "not run", ERROR),
        (call(ToolOutcome.BROKEN, "cut …", detail="cut\n  in two"), "broke", "cut in two"),
        (call(ToolOutcome.ERROR, "no such file", detail="no such file, and advice"), "no such file", ""),
        (call(ToolOutcome.ERROR, "exit 1", tool="bash"), "exit 1", ""),
    ],
)
@pytest.mark.parametrize("expanded", [False, True])
def test_an_error_is_shown_whole_and_once(entry: CallEntry, head: str, below: str, expanded: bool) -> None:
    lines = look(entry, 80, expanded=expanded)
    assert lines[0].rstrip().endswith(head)
    if below or not expanded:
        assert " ".join(" ".join(lines[1:]).split()) == below


def test_output_is_shown_when_expanded_and_says_where_the_rest_is() -> None:
    long = replace(CALL, detail="line\n" * 2_100, full_output="/tmp/out.txt")
    assert len(look(long)) == 1
    shown = look(long, 120, expanded=True)
    assert shown[1:2_001] == ["  line"] * 2_000
    whole = "  … the model was given the beginning and the end; the whole output is in /tmp/out.txt"
    assert shown[2_001:] == ["  … 97 more lines", *["  line"] * 3, whole]
    assert "".join(look(long, 40, expanded=True)[2_005:]).replace(" ", "") == whole.replace(" ", ""), (
        "a path is never cut"
    )


def test_a_command_shows_three_lines_and_counts_the_others() -> None:
    command = call(ToolOutcome.OK, tool="bash", detail="".join(f"{number}\n" for number in range(1, 301)))
    assert look(command, 80)[0].endswith("300 lines")
    assert look(command, 80)[1:] == ["  1", "  2", "  3", "  … 297 more lines"]
    with_key = entry_content(command, 80, key="Ctrl+O").plain.splitlines()
    assert with_key[-1] == "  … 297 more lines (Ctrl+O)"
    assert entry_content(command, 80, expanded=True, key="Ctrl+O").plain.splitlines()[-1] == "  300"
    one = replace(command, detail="only\n", result="exit 0")
    assert look(one)[0].endswith("exit 0")
    assert look(one)[1:] == ["  only"], "one line of output is always shown"
    assert look(replace(one, outcome=ToolOutcome.ERROR, result="exit 1"))[1:] == ["  only"]
    assert look(replace(one, detail="\n"))[1:] == []
    failed = replace(command, outcome=ToolOutcome.ERROR, result="exit 1")
    assert look(failed, 80)[0].endswith("exit 1")
    beyond = replace(command, detail="1\n2\n", detail_of=50)
    assert entry_content(beyond, 80, key="Ctrl+O").plain.splitlines()[-1] == "  … 48 more lines"


def test_of_a_running_command_the_last_lines_are_shown() -> None:
    live = LiveLines().after(OutputDelta("c1", tuple(map(str, range(40))), "open", 1_000))
    running = CallEntry("c1", "bash", "make", 10.0, running=True, live=live)
    shown = entry_content(running, 80, now=14.0, rows=4).plain.split("\n")
    assert shown == [f"◍ bash make{'1,041 lines · 4 s':>69}", "  37", "  38", "  39", "  open"]
    erased = replace(running, live=LiveLines().after(OutputDelta("c1", ("a", "b"), "c")).after(OutputDelta("c1", ())))
    assert look(erased)[1:] == ["  a", "  b", ""], "an erased line leaves its row"
    growing = replace(running, live=LiveLines().after(OutputDelta("c1", ("x" * 100 + "end",), "日本" * 50 + "end")))
    assert look(growing, 30)[1] == "  " + "x" * 27 + "…"
    assert look(growing, 30)[2].startswith("  …")
    assert look(growing, 30)[2].endswith("本end")
    assert max(map(cell_len, look(growing, 30))) <= 30


def test_of_a_command_that_failed_the_last_lines_are_shown() -> None:
    failed = call(ToolOutcome.ERROR, "exit 1", tool="bash", detail="".join(f"{number}\n" for number in range(1, 301)))
    assert look(failed, 80)[1:] == ["  … 297 more lines", "  298", "  299", "  300"]
    longer = replace(failed, detail_of=1_000, detail_end="999\n1000\n")
    assert look(longer, 80)[1:] == ["  … 998 more lines", "  999", "  1000"]
    assert look(longer, 80, expanded=True)[300:] == ["  300", "  … 698 more lines", "  999", "  1000"]
    assert look(replace(longer, detail_end=""), 80)[1:] == ["  1", "  2", "  3", "  … 997 more lines"]


def test_an_expanded_line_is_wrapped() -> None:
    long = call(ToolOutcome.OK, tool="bash", detail="word " * 30 + "\nnext\n")
    assert look(long, 40)[1].endswith("…")
    shown = look(long, 40, expanded=True)
    assert " ".join(shown[1:]).split() == [*["word"] * 30, "next"]
    assert max(map(len, shown)) <= 40


@given(
    st.integers(1, 40),
    st.integers(0, 40),
    st.integers(0, 5),
    st.sampled_from([ToolOutcome.OK, ToolOutcome.ERROR]),
    st.booleans(),
    st.booleans(),
    st.sampled_from(["", "\n", "\r\n"]),
)
def test_the_lines_shown_and_those_counted_are_all_lines(
    there: int, lost: int, known: int, outcome: ToolOutcome, own: bool, expanded: bool, end: str
) -> None:
    detail = "\n".join(f"line {number}" for number in range(there)) + end
    last = "\n".join(f"line {number}" for number in range(there + lost - known, there + lost))
    entry = call(outcome, tool="bash", detail=detail, by_user=own, detail_of=there + lost, detail_end=last)
    rows = entry_content(entry, 80, expanded=expanded, key="Ctrl+O").plain.split("\n")[1:]
    lines = [row for row in rows if row.startswith("  line")]
    (left,) = [int(row.split()[1]) for row in rows if row.startswith("  … ")] or [0]
    assert lines == sorted(set(lines), key=lambda line: int(line.split()[1])), "in order, and none of them twice"
    if lines:
        assert len(lines) + left == there + lost
    else:
        assert there + lost == 1
        assert not expanded


def test_added_lines_of_a_diff_are_highlighted_by_the_name_of_the_file() -> None:
    diff = '--- shop.py\n+++ shop.py\n@@ -1,2 +1,2 @@\n def price():\n-    return 1\n+    return "two"  # why\n'
    edit = call(ToolOutcome.OK, tool="edit_file", detail=diff)
    shown = entry_content(edit, 80)
    plain = entry_content(replace(edit, detail=diff.replace("shop.py", "shop.unknown")), 80)
    assert shown.plain == plain.plain
    [added] = [line for line in shown.split("\n") if "two" in line.plain]
    [removed] = [line for line in shown.split("\n") if "return 1" in line.plain]
    assert "$text-error" in styles(removed)
    assert len(added.spans) > len(next(line for line in plain.split("\n") if "two" in line.plain).spans)


def test_lines_that_are_not_there_are_counted_by_what_the_output_had() -> None:
    head = replace(CALL, by_user=True, detail="1\n2\n3\n", detail_of=20_000)
    assert look(head)[1:] == ["  1", "  2", "  3", "  … 19,997 more lines"]
    assert look(replace(head, detail_of=3))[1:] == ["  1", "  2", "  3"]
    assert look(replace(head, detail_of=4))[-1] == "  … 1 more line"


def test_the_output_of_the_users_own_command_is_shown_at_once() -> None:
    assert look(replace(CALL, by_user=True, detail="one\ntwo"))[1:] == ["  one", "  two"]


def test_thinking_is_one_line_until_it_is_expanded() -> None:
    assert look(ThinkingEntry("Hm.")) == ["· thinking …"]
    assert look(ThinkingEntry("Hm.", done=True)) == ["· thought"]
    assert look(ThinkingEntry("Hm.", done=True, duration_s=12.0, tokens=1_234)) == ["· thought for 12 s · 1.2k tokens"]
    assert look(ThinkingEntry("", done=True, tokens=80), expanded=True) == ["· thought · 80 tokens"]
    assert look(ThinkingEntry("Hm.\nSo.", done=True), expanded=True) == ["· thought", "  Hm.", "  So."]


def test_an_answer_is_markdown_and_what_a_command_printed_is_not() -> None:
    assert look(AnswerEntry("a **b**")) == ["a b"]
    assert look(TextEntry("a **b** [red]c[/]")) == ["a **b** [red]c[/]"]


def test_only_the_end_of_a_turn_that_failed_is_red() -> None:
    failed = replace(END, code=TransitionCode.MODEL_ERROR, reason="overloaded")
    assert look(TurnEndEntry(END)) == ["· 45 s, 7 requests, $0.11"]
    assert "$text-error" in styles(entry_content(TurnEndEntry(failed), 60))
    others: list[Entry] = [
        TurnEndEntry(END),
        TurnEndEntry(replace(END, code=TransitionCode.ABORTED_TOOLS)),
        NoteEntry(Line("✗", "grep is open", Tone.BAD)),
        call(ToolOutcome.BROKEN, failures=3),
        PauseEntry(PauseReport("the budget is spent")),
        LoopReportEntry(REPORT),
        TurnEndEntry(replace(END, code=TransitionCode.LOOP_STOPPED)),
    ]
    assert "error" not in " ".join(styles(entry_content(entry, 60)) for entry in others)


def test_a_blank_line_separates_all_but_what_belongs_together() -> None:
    shell = PromptEntry(0, "ls", 0.0, shell=True)
    entries: list[Entry] = [
        PromptEntry(1, "hi", 0.0),
        CALL,
        CALL,
        NoteEntry(Line("✗", "it is paused")),
        NoteEntry(Line("↻", "retry")),
        AnswerEntry("ok"),
        TurnEndEntry(END),
        shell,
        CALL,
        TextEntry("1 $"),
    ]
    apart = [set_off(above, below) for above, below in itertools.pairwise(entries)]
    assert apart == [True, True, False, False, True, False, True, False, True]


def test_a_pause_shows_its_report() -> None:
    assert look(PauseEntry(PauseReport("the budget is spent")))[0] == "PAUSED: the budget is spent"


def test_the_report_of_a_loop_wraps_below_itself_and_is_separate() -> None:
    lines = look(LoopReportEntry(REPORT), 40)
    assert lines[:3] == [
        "IN A LOOP: read_file notes.txt, 4 times",
        "           in a row, with the same",
        "           result each time",
    ]
    assert set_off(CALL, LoopReportEntry(REPORT))
    assert not set_off(LoopReportEntry(REPORT), TurnEndEntry(END))


def test_a_turn_that_was_stopped_in_a_loop_says_in_which() -> None:
    stopped = replace(END, code=TransitionCode.LOOP_STOPPED, reason="stopped: read_file notes.txt, 4 times")
    assert look(TurnEndEntry(stopped), 90) == ["⟳ stopped: read_file notes.txt, 4 times (45 s, 7 requests, $0.11)"]


def test_control_characters_of_others_are_spelt_out() -> None:
    bad = "a\x1b[2J\nb"
    entries: list[Entry] = [
        PromptEntry(1, bad, 0.0),
        AnswerEntry(bad),
        ThinkingEntry(bad),
        TextEntry(bad),
        NoteEntry(Line("·", bad)),
        TurnEndEntry(replace(END, code=TransitionCode.MODEL_ERROR, reason=bad)),
        LoopReportEntry(replace(REPORT, tried=(Attempt(Rung.NUDGE, 1, bad),), next_steps=(bad,))),
        CallEntry(
            bad, bad, bad, 0.0, outcome=ToolOutcome.ERROR, result=bad, detail=bad, full_output=bad, label=bad, why=bad
        ),
        call(ToolOutcome.SKIPPED, why=bad, route=Alternative(Rank.LOW, bad, bad, bad)),
    ]
    for entry in entries:
        assert "\x1b" not in entry_content(entry, 60, expanded=True).plain


def test_a_checklist_has_a_mark_for_each_item_and_a_plan_its_steps_as_boxes() -> None:
    items = (PlanItem("read", ItemStatus.DONE), PlanItem("write \x1b[31mit", ItemStatus.IN_PROGRESS), PlanItem("test"))
    assert entry_content(ChecklistEntry(items), 60).plain.split("\n") == [
        *("checklist · 1 of 3 done", "  ☑ read", "  ▸ write \\x1b[31mit", "  ☐ test"),
    ]
    plan = entry_content(PlanEntry(ProposedPlan("# Notes\n\nWrite **one**.", ("a", "b"))), 60).plain
    assert plan.split("\n") == ["the plan", "Notes", "", "Write one.", "", "☐ a", "☐ b"]
