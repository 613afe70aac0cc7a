"""A walk as lines: everything of it is shown, and nothing can dress up the screen."""

import pytest

from chapters.s22_loops.graph_agents.printed import ENDS, lines
from harness.events import (
    Event,
    Intervened,
    Loop,
    LoopFound,
    LoopLeft,
    NodeVisited,
    Projection,
    RolledBack,
    Rung,
    StepStarted,
    StuckReported,
    ToolEnded,
    ToolOutcome,
    WalkEnd,
    WalkEnded,
)

LOOP = Loop(Projection.INTERACTION, "abc", 1, 3, "door()", ("door",), failing=True)
HERE = NodeVisited("here", 0)


def shown(*events: Event) -> list[str]:
    """What is shown of some events, without the heading of the columns."""
    return list(lines(events))[1:]


def ended(tool: str, outcome: ToolOutcome, summary: str) -> ToolEnded:
    return ToolEnded("1.1", tool, outcome, summary, 0.1)


def test_calls_side_by_side_stand_below_each_other_and_the_last_one_says_where_it_led() -> None:
    calls = ended("door", ToolOutcome.OK, "open"), ended("bell", ToolOutcome.BROKEN, "no answer")
    assert shown(HERE, StepStarted(1), *calls, NodeVisited("there", 1, "here"), StepStarted(2)) == [
        "   1  here  door      ✓ open",
        "            bell      ✗ no answer  → there",
    ]


def test_a_step_in_which_nothing_was_done_is_shown() -> None:
    assert shown(HERE, StepStarted(1), NodeVisited("here", 1), StepStarted(2)) == ["   1  here            nothing"]


def test_a_loop_is_found_goes_on_is_left_and_comes_again() -> None:
    events = (
        LoopFound(LOOP, 3),
        LoopFound(LOOP, 6),
        LoopLeft("abc", Projection.INTERACTION, 7, Rung.NUDGE),
        LoopFound(LOOP, 9, relapse=True),
        LoopLeft("abc", Projection.INTERACTION, 10),
    )
    words = [line.split(" (")[0].strip() for line in shown(*events)]
    assert words == [
        "⟲ loop found",
        "⟲ loop goes on",
        "✓ loop left, after nudge",
        "⟲ loop again",
        "✓ loop left by itself",
    ]


def test_what_was_not_possible_is_told_apart_from_what_was_done() -> None:
    for applied, mark in ((True, "▸"), (False, "▹")):
        event = Intervened("abc", Projection.INTERACTION, Rung.NUDGE, 1, 1, 3, "so", applied=applied)
        assert shown(event) == [f"      {mark} nudge      1/1  so"]


def test_what_could_not_be_undone_and_what_a_person_can_do_are_listed() -> None:
    assert shown(RolledBack(1, 2, not_undone=("step 1: pen()",))) == ["        not undone: step 1: pen()"]
    report = StuckReported(LOOP, 9, (), 4, ("look at the door",))
    assert shown(report)[-1] == "        look at the door"


@pytest.mark.parametrize("end", WalkEnd)
def test_every_end_has_its_words(end: WalkEnd) -> None:
    told = shown(WalkEnded(end, "here", 4, 2, 1, 0, 0.25))
    assert told == ["", f"{ENDS[end]}, at here", "  4 steps, 2 calls (1 failed), 0 interventions, 0.2 s waited"]


def test_text_of_others_cannot_move_the_cursor_or_grow_beyond_the_line() -> None:
    evil = "\x1b[2J" + "x" * 200
    events = (
        NodeVisited(evil, 0),
        StepStarted(1),
        ended(evil, ToolOutcome.OK, evil),
        LoopFound(Loop(Projection.NODE, "a", 1, 3, evil), 1),
        Intervened("a", Projection.NODE, Rung.NUDGE, 1, 1, 1, evil),
        RolledBack(1, 1, not_undone=(evil,)),
        StuckReported(LOOP, 1, (), 1, (evil,)),
        WalkEnded(WalkEnd.STOP, evil, 1, 1, 0, 0, 0.0),
    )
    told = shown(*events)
    assert not any("\x1b" in line for line in told)
    assert max(map(len, told)) < 80
