"""What the panel says of loops, the failure budget, a pause and deferred work."""

from dataclasses import replace

from harness.events import (
    ItemStatus,
    LoopAnswered,
    LoopChoice,
    PlanItem,
    StuckReported,
)
from harness.ui.folds.loops import LoopsView, LoopView
from harness.ui.panel.sections import is_calm
from tests.ui.loops import CIRCLE, FOUND
from tests.ui.panel import situations as situation
from tests.ui.panel.drawn import look, says


def test_failures_say_what_follows_in_as_many_lines_as_it_takes() -> None:
    failing = situation.CALM._replace(consumed=2)
    says(failing, "failures ▓▓░░░ 2 of 5, then the turn pauses and asks you")
    says(failing, "failures ▓▓░░░ 2 of 5", "         then the turn pauses and asks you", width=44)
    says(failing._replace(consumed=4), "failures ▓▓▓▓░ 4 of 5, one more pauses the turn")
    says(failing._replace(ended=situation.IDLE.ended), "failures ▓▓░░░ 2 of 5 in the last turn")
    says(failing._replace(consumed=6), "failures ▓▓▓▓▓ 5 of 5 · used up")


def test_a_pause_says_why_what_it_cost_and_what_to_do() -> None:
    says(
        situation.PAUSED,
        "claude-sonnet-4-6 · the turn is paused",
        "failures ▓▓▓▓▓ 5 of 5 · used up",
        "step 1   grep: timed out after 30 s",
        "step 1   grep: the same cause, not counted again",
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
    first = next(number for number, line in enumerate(lines) if line.startswith("todo"))
    assert lines[first].endswith("…")
    assert "word" not in lines[first + 1]
    [row] = [row for row in situation.OPEN.rows if row.tool == "grep"]
    failed = situation.OPEN._replace(rows=(replace(row, message=long),))
    lines = look(failed, 60)
    assert sum("word" in line for line in lines) == 1


def test_of_several_loops_that_were_left_a_small_panel_names_the_last() -> None:
    left = situation.FREED.loops.loops[0]
    panel = situation.FREED._replace(loops=replace(situation.FREED.loops, loops=(left, left)))
    heights = {sum("left after" in line for line in look(panel, height=height)) for height in range(1, 40)}
    assert heights == {0, 1, 2}


def test_a_loop_says_what_repeats_and_how_far_the_ladder_was_climbed() -> None:
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


def test_a_question_of_the_model_leaves_the_panel_calm_and_one_for_a_permission_does_not() -> None:
    assert is_calm(situation.QUESTION)
    assert not is_calm(situation.ASKED)


def test_a_turn_that_was_stopped_in_a_loop_lists_the_users_options() -> None:
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


def test_the_users_answer_about_a_loop_is_shown() -> None:
    panel = situation.after(FOUND, LoopAnswered(CIRCLE.signature, LoopChoice.CONTINUE))
    says(panel, "loop     read_file notes.txt", "you let it continue")


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
