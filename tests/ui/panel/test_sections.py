"""What the panel says in each situation, in whatever room there is."""

from dataclasses import replace

import pytest
from rich.cells import cell_len
from textual.content import Content

from harness.events import (
    BreakerState,
    CompactionEnded,
    HealthRow,
    ItemStatus,
    LoopAnswered,
    LoopChoice,
    PauseReported,
    PermissionAsked,
    PlanItem,
    StepStarted,
    StuckReported,
    TransitionCode,
)
from harness.ui.folds.loops import LoopsView, LoopView
from harness.ui.folds.model import Phase
from harness.ui.panel import breaker_lines
from harness.ui.panel.sections import is_calm
from harness.ui.panel.state import Panel
from tests.ui.loops import CIRCLE, FOUND
from tests.ui.panel import situations as situation
from tests.ui.panel.drawn import panel_content
from tests.ui.panel.situations import ALL, NOW, ended

KEYS = (("Alt+R", "retry now"), ("Alt+M", "fallback model"), ("Esc", "stop"))


def look(panel: Panel, width: int = 60, height: int = 60, now: float = NOW, **more: object) -> list[str]:
    """The lines of the panel without their styles."""
    return panel_content(panel, width, height, now, **more).plain.split("\n")


def says(panel: Panel, *texts: str, width: int = 60, **more: object) -> None:
    """The panel has lines with these texts, in this order."""
    lines = iter(look(panel, width, **more))  # type: ignore[arg-type]
    for text in texts:
        assert any(text in line for line in lines), f"{text!r} is not in\n" + "\n".join(look(panel, width))


def colours(content: Content) -> set[str]:
    return {str(span.style) for span in content.spans}


# ── the model ───────────────────────────────────────────────────────────────────────────────────


def test_when_all_is_well_the_model_is_one_line_and_nothing_has_a_colour() -> None:
    assert look(situation.CALM) == [
        "model    claude-sonnet-4-6 answers",
        "context  ▓▓░░░░░░░░ 41k of 200k",
        "",
        "7 tools working",
        "",
        "steps    ∙",
    ]
    for panel in (situation.CALM, situation.IDLE):
        assert is_calm(panel)
        seen = colours(panel_content(panel, 60, 60, NOW))
        assert not any("warning" in colour or "error" in colour for colour in seen)


def test_a_retry_tells_why_which_when_what_was_kept_and_what_can_be_pressed() -> None:
    assert look(situation.WAITING, now=NOW + 0.05, actions=KEYS)[:6] == [
        "model    529 overloaded · attempt 3 of 10",
        "         next try in 3 s",
        "         kept: 1,204 characters, 1 tool call",
        "         Alt+R retry now   Alt+M fallback model   Esc stop",
        "context  ▓▓░░░░░░░░ 41k of 200k",
        "spent    $0.11, of it $0.02 on retries",
    ]


@pytest.mark.parametrize(("later", "left"), [(-1.0, 4), (0.0, 3), (0.2, 2), (1.2, 1), (2.05, 1), (2.5, 0), (99.0, 0)])
def test_the_countdown_is_derived_from_the_moment_of_the_retry_and_never_negative(later: float, left: int) -> None:
    says(situation.WAITING, f"next try in {left} s", now=NOW + later)


def test_a_long_wait_is_a_question() -> None:
    says(
        situation.OFFERED,
        "the server asks for a wait of 21 min",
        "until",
        "30,000 tokens",
        "w wait",
        actions=[("w", "wait")],
    )


def test_a_fallback_tells_for_whom_it_answers_and_how_that_one_is() -> None:
    says(situation.FALLBACK, "asking claude-haiku-4-5", "→ instead of claude-sonnet-4-6")
    says(situation.FALLBACK, "claude-sonnet-4-6: PAUSED after 3 failures")


def test_a_model_that_is_asked_again_is_not_called_paused() -> None:
    waiting = situation.after(situation.FAILED, situation.MODEL_OPENED, situation.RETRY)
    says(waiting, "529 overloaded · attempt 3 of 10", "next try in")
    assert "PAUSED" not in "\n".join(look(waiting, 60))


def test_a_compaction_tells_the_tokens_before_and_after() -> None:
    says(situation.COMPACTING, "compacting about 212k tokens")
    says(situation.COMPACTED, "✂ compacted 212k → 38k tokens", "38k of 200k")


def test_other_ways_to_go_on_are_told() -> None:
    says(situation.CAP_RAISED, "▲ output cap 8k → 64k tokens")
    says(situation.CONTINUED, "… continuation 2 of 3")
    says(situation.DRAINED, "↻ collapse drain retry: why")


def test_a_way_to_go_on_is_told_for_one_more_step() -> None:
    drained = situation.next_request(TransitionCode.COLLAPSE_DRAIN_RETRY)
    assert "collapse drain" in "\n".join(look(situation.after(*drained)))
    assert "collapse drain" not in "\n".join(look(situation.after(*drained, StepStarted(3))))


def test_silence_is_told_with_the_time_that_is_left() -> None:
    says(situation.STALLED, "silent for 22 s · asks again in 68 s")


def test_a_question_about_a_call_tells_what_would_run() -> None:
    says(situation.QUESTION, "a question for you", "Which colour shall the header have?")
    says(situation.ASKED, "may bash run?", "rm -rf build", "it runs a program", "y once", actions=[("y", "once")])


def test_why_a_call_is_asked_about_takes_one_line() -> None:
    asked = PermissionAsked("a", "bash", "rm -rf build", "no rule allows it, " * 9)
    assert sum("no rule" in line for line in look(situation.after(situation.REPLIED, asked))) == 1


def test_the_end_of_a_turn_that_failed_stays_with_its_reason() -> None:
    says(situation.FAILING, "claude-sonnet-4-6 · model error", "the key was refused")
    assert not is_calm(situation.FAILING)


def test_why_a_turn_ended_is_not_told_after_an_answer_nor_twice() -> None:
    assert not any("answered" in line for line in look(situation.IDLE))
    paused = situation.after(PauseReported(situation.REPORT), *ended(TransitionCode.FAILURE_BUDGET_PAUSED, "because"))
    assert not any("because" in line for line in look(paused))


def test_how_long_it_has_been_going_on_is_told_when_it_is_noticed() -> None:
    assert look(situation.CALM, now=NOW + 1.9)[0] == "model    claude-sonnet-4-6 answers"
    assert look(situation.CALM, now=NOW + 12.3)[0] == "model    claude-sonnet-4-6 answers · 12 s"


# ── the tools ───────────────────────────────────────────────────────────────────────────────────


def test_an_open_tool_stands_out_with_its_probe_and_the_way_round() -> None:
    says(situation.OPEN, "grep PAUSED        3", '→ bash: rg "timeout" src/; loses grep\'s own formatting')
    [line] = (line for line in look(situation.OPEN) if line.startswith("grep"))
    assert line.endswith("step 4")
    says(situation.PROBING, "running grep", "grep being tried     3 08:00:00            running")


def test_where_there_is_little_room_only_the_troubled_tools_are_listed() -> None:
    lines = look(situation.OPEN, 44, 8)
    assert any(line.startswith("grep") for line in lines)
    assert "6 others working" in lines
    assert not any(line.startswith("bash") for line in lines)


@pytest.mark.parametrize(
    ("width", "columns"),
    [
        (24, "tool state     next try"),
        (32, "tool state     fails next try"),
        (40, "tool state     fails last fail next try"),
        (52, "tool state     fails last fail last ok   next try"),
    ],
)
def test_a_wider_panel_has_more_columns(width: int, columns: str) -> None:
    assert columns in look(situation.OPEN, width)


def test_the_expanded_panel_lists_all_tools_with_the_technical_words_and_explains_them() -> None:
    rows = "bash       working (closed)     0", "grep       PAUSED (open)        3"
    says(situation.OPEN, *rows, "⊘ a tool was paused", expanded=True)
    assert not any("(open)" in line for line in look(situation.OPEN))


def test_failures_say_what_follows_in_as_many_lines_as_it_takes() -> None:
    failing = situation.CALM._replace(consumed=2)
    says(failing, "failures ▓▓░░░ 2 of 5, then the turn pauses and asks you")
    says(failing, "failures ▓▓░░░ 2 of 5", "         then the turn pauses and asks you", width=44)
    says(failing._replace(consumed=4), "failures ▓▓▓▓░ 4 of 5, one more pauses the turn")
    says(failing._replace(ended=situation.IDLE.ended), "failures ▓▓░░░ 2 of 5 in the last turn")
    says(failing._replace(consumed=6), "failures ▓▓▓▓▓ 5 of 5 · used up")


@pytest.mark.parametrize(("state", "told"), [(BreakerState.CLOSED, False), (BreakerState.HALF_OPEN, True)])
def test_the_last_failure_of_a_tool_is_told_until_it_works_again(state: BreakerState, told: bool) -> None:
    row = HealthRow("grep", state, 0, message="timed out", note="degraded")
    lines = look(situation.CALM._replace(rows=(row,)))
    assert ("  degraded; timed out" in lines, "  degraded" in lines) == (told, not told)


def test_names_of_wide_characters_keep_the_columns_in_line() -> None:
    rows = (HealthRow("天気予報", BreakerState.OPEN, 3), *situation.CALM.rows)
    lines = look(situation.CALM._replace(rows=rows), expanded=True)
    places = {cell_len(line[: line.index(word)]) for line in lines for word in ("PAUSED", "working (") if word in line}
    assert places == {11}


def test_the_full_table_has_the_error_rate_of_every_tool_and_the_short_one_has_not() -> None:
    rows = (
        HealthRow("grep", BreakerState.OPEN, 3, calls=12, failed=3),
        HealthRow("glob", BreakerState.CLOSED, 0, calls=7),
    )
    panel = situation.CALM._replace(rows=rows)
    head, grep, glob = (
        next(line for line in look(panel, 90, expanded=True) if line.startswith(name))
        for name in ("tool", "grep", "glob")
    )
    assert [line[head.index("error rate") :].split("  ")[0] for line in (grep, glob)] == ["3/12 (25%)", "0/7"]
    assert not any("error rate" in line or "3/12" in line for line in look(panel, 90))


LONG_NAMES = ("list_background", "read_background", "kill_background")
LONG_ROWS = tuple(HealthRow(name, BreakerState.CLOSED, 0) for name in LONG_NAMES)


def test_columns_give_room_to_names_that_would_be_cut() -> None:
    panel = situation.CALM._replace(rows=(*situation.CALM.rows, *LONG_ROWS))
    lines = look(panel, 47, expanded=True)
    assert "tool            state            fails next try" in lines
    assert f"{'bash':<16}working (closed)     0" in lines
    for name in LONG_NAMES:
        assert f"{name:<16}working (closed)     0" in lines


def test_names_that_have_no_room_are_cut_so_that_they_stay_apart() -> None:
    opened = HealthRow(LONG_NAMES[0], BreakerState.OPEN, 3, probe_at=1_234)
    panel = situation.CALM._replace(rows=(*situation.CALM.rows, opened, *LONG_ROWS[1:]))
    lines = look(panel, 46, expanded=True)
    assert all(any(line.startswith(f"{start}…") for line in lines) for start in ("list_b", "read_b", "kill_b"))
    assert max(map(cell_len, lines)) <= 46


def test_a_common_cause_is_told_once_and_not_again_for_each_tool() -> None:
    says(situation.SYSTEMIC, "cause    the network", "glob, grep, read_file failed together")
    lines = look(situation.SYSTEMIC)
    assert sum("network" in line for line in lines) == 1
    assert is_calm(situation.SYSTEMIC) is False


def test_a_pause_tells_why_what_it_cost_and_what_to_do() -> None:
    says(
        situation.PAUSED,
        "claude-sonnet-4-6 · the turn is paused",
        "failures ▓▓▓▓▓ 5 of 5 · used up",
        "step 1 grep: timed out after 30 s",
        "step 1 grep: the same cause, not counted again",
        "paused   the failure budget of this turn is used up",
        "1 done, 1 failed, 1 not begun",
        "· Check grep. When it works again: /reset grep",
        "later    1 sub-task deferred",
        "· ask the server: bash is paused; needs a",
        "steps    ‖",
    )


def test_a_deferred_part_says_what_it_needs_below_its_own_text() -> None:
    assert [line for line in look(situation.PAUSED, 60) if "ask the server" in line or "step 9" in line] == [
        "         · ask the server: bash is paused; needs a",
        "           successful try from step 9 on",
    ]


def test_long_texts_of_others_take_no_more_than_their_lines() -> None:
    long = "word " * 100
    deferred = situation.PAUSED._replace(deferred=(replace(situation.DEFERRED, reason=long),))
    lines = look(deferred, 60)
    first = next(number for number, line in enumerate(lines) if "· ask the server" in line)
    assert [line.startswith(" " * 11) for line in lines[first + 1 : first + 4]] == [True, True, False]
    planned = situation.OPEN._replace(plan=(PlanItem(long, ItemStatus.IN_PROGRESS),))
    lines = look(planned, 60)
    first = next(number for number, line in enumerate(lines) if line.startswith("plan"))
    assert lines[first + 1].endswith("…")
    assert "word" not in lines[first + 2]
    [row] = [row for row in situation.OPEN.rows if row.tool == "grep"]
    failed = situation.OPEN._replace(rows=(replace(row, message=long),))
    lines = look(failed, 60)
    assert sum("word" in line for line in lines) == 1


def test_of_several_loops_that_were_left_a_small_panel_names_the_last() -> None:
    left = situation.FREED.loops.loops[0]
    panel = situation.FREED._replace(loops=replace(situation.FREED.loops, loops=(left, left)))
    heights = {sum("left after" in line for line in look(panel, height=height)) for height in range(1, 40)}
    assert heights == {0, 1, 2}


def test_how_the_history_was_compacted_is_said_where_there_is_room() -> None:
    says(situation.COMPACTED, "tokens, by summary", width=64)
    assert not any("by summary" in line for line in look(situation.COMPACTED, 63))


def test_tools_without_trouble_are_quiet_in_the_list_of_all() -> None:
    content = panel_content(situation.OPEN, 80, 60, NOW, expanded=True)
    at = {name: content.plain.index(f"\n{name}") + 1 for name in ("bash", "grep")}
    quiet = {
        name for name, start in at.items() if any(s.start == start and str(s.style) == "dim" for s in content.spans)
    }
    assert quiet == {"bash"}


# ── loops ───────────────────────────────────────────────────────────────────────────────────────


def test_a_loop_tells_what_repeats_and_how_far_the_ladder_was_climbed() -> None:
    says(
        situation.NUDGED,
        "loop     read_file notes.txt, 4 times in a row, with the",
        "         same result each time",
        "         tried: nudge 1 of 1",
        "steps    ∞ ∙",
    )
    says(situation.CLIMBED, "loop     grep fails: timed out after 30 s", "retry 2 of 3", "again: read_file")
    says(situation.CLIMBED, "nudge 1 of 1 · other tool 1 of 1 · rollback not possible", width=80)
    assert not is_calm(situation.NUDGED)


def test_a_loop_that_was_left_is_one_quiet_line_until_the_turn_ends() -> None:
    says(situation.FREED, "loop     ✓ left after: nudge · read_file notes.txt")
    assert is_calm(situation.FREED)
    assert look(situation.FREED, height=1) == ["model    asking claude-sonnet-4-6"]


def test_a_question_about_a_loop_is_the_first_thing_to_see() -> None:
    says(situation.LOOP_ASKED, "model    a loop was found; what now?", "nudge 1 of 1 · question 1 of 1")
    assert not is_calm(situation.LOOP_ASKED)


def test_a_turn_that_was_stopped_in_a_loop_tells_what_a_person_can_do() -> None:
    says(
        situation.STOPPED_IN_A_LOOP,
        "model    claude-sonnet-4-6 · stopped in a loop",
        "loop     read_file notes.txt",
        "         tried: nudge 1 of 1 · other tool 1 of 1",
        "· Say in other words what you want",
        "· /rewind goes back before this prompt.",
        "steps    ⟳",
    )
    assert sum("nothing  freed it" in line for line in look(situation.STOPPED_IN_A_LOOP)) == 0
    assert not is_calm(situation.STOPPED_IN_A_LOOP)


def test_what_the_person_said_of_a_loop_is_told() -> None:
    panel = situation.after(FOUND, LoopAnswered(CIRCLE.signature, LoopChoice.CONTINUE))
    says(panel, "loop     read_file notes.txt", "you let it continue")


# ── the room ────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("panel", "line"),
    [
        (situation.CALM, "model    claude-sonnet-4-6 answers"),
        (situation.WAITING, "model    529 overloaded · next try in 3 s · 3 of 10"),
        (situation.OPEN, "1 paused: grep"),
        (situation.SYSTEMIC, 'loop     read_file src/settings.py + grep "TIMEOUT_S" + glo…'),
        (situation.PAUSED, "paused   the failure budget of this turn is used up"),
        (situation.ASKED, "model    may bash run?"),
        (situation.LOOP_ASKED, "model    a loop was found; what now?"),
        (situation.NUDGED, "loop     read_file notes.txt, 4 times in a row, with the sa…"),
        (situation.STOPPED_IN_A_LOOP, "loop     read_file notes.txt, 4 times in a row, with the sa…"),
    ],
)
def test_one_line_says_the_most_important_thing(panel: Panel, line: str) -> None:
    assert look(panel, height=1) == [line]


@pytest.mark.parametrize("name", ALL)
def test_every_situation_fits_into_any_room_and_more_room_never_says_less(name: str) -> None:
    for width in (30, 44, 100):
        whole = look(ALL[name], width, 200, actions=KEYS)
        assert len(whole) < 60
        for height in range(1, len(whole)):
            assert len(look(ALL[name], width, height, actions=KEYS)) <= height
        assert all(look(ALL[name], width, height, actions=KEYS) == whole for height in (len(whole), 60))


def test_a_moment_of_the_past_says_which_and_what_happened_in_it() -> None:
    fold = situation.recorded("grep-dies")
    lines = look(fold.at_step(3), shown_step=3)
    assert lines[0] == "◂ step 3 of 8 · a tool was paused"
    assert lines[-1] == "steps    ✗ ✗ ⊘ ○ · ◌ · ●"


def test_joiners_with_nothing_to_join_do_no_harm() -> None:
    rows = (HealthRow("\u200d\u200d天", BreakerState.OPEN, 3, message="\u200d\u200d天 \u200d\u200d天"),)
    assert look(situation.CALM._replace(rows=rows), 30)[5] == "天   PAUSED        3 by hand"


def test_a_compaction_that_gained_nothing_is_no_success() -> None:
    grown = situation.after(CompactionEnded("summary", 4_138, 4_150, succeeded=True, detail=""))
    says(grown, "✂ compaction gained nothing: 4.1k → 4.2k tokens")


def test_what_is_kept_of_an_answer_is_said_while_it_is_continued_and_not_of_a_whole_one() -> None:
    model = situation.CALM.model._replace(phase=Phase.ASKING, kept_characters=120)
    kept = [
        "kept: 120 characters" in "\n".join(look(situation.CALM._replace(model=one)))
        for one in (model, model._replace(continuations=1))
    ]
    assert kept == [False, True]


def test_the_short_form_of_a_cause_is_its_first_line() -> None:
    (*_, short) = breaker_lines.causes(situation.SYSTEMIC, 60)
    assert [line.plain for line in short] == ["cause    the network"]


def test_a_column_is_shown_as_soon_as_it_fits() -> None:
    rows = (HealthRow("grep", BreakerState.OPEN, 3, probe_at=9),)
    panel = situation.CALM._replace(rows=rows)
    widths = {
        name: min(width for width in range(8, 80) if name in breaker_lines.table(panel, width)[0][0].plain)
        for name in ("state", "next try", "fails")
    }
    assert widths == {"state": 14, "next try": 23, "fails": 29}


def test_the_next_steps_of_a_loop_that_stopped_the_turn_hang_behind_their_dots_in_three_lines_each() -> None:
    advice = ("Give it the file that it is looking for, and say where it is.", "Go on with /retry.")
    stuck = StuckReported(CIRCLE, 9, (), 6, advice)
    lines = look(situation.CALM._replace(loops=LoopsView((LoopView(CIRCLE),), stuck=stuck)), width=32)
    first = next(number for number, line in enumerate(lines) if "· Give" in line)
    assert lines[first : first + 4] == [
        "         · Give it the file",
        "           that it is looking",
        "           for, and say where i…",
        "         · Go on with /retry.",
    ]
