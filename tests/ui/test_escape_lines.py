"""What the escape mechanism does, in one line each."""

from dataclasses import replace

import pytest

from harness.events import (
    CheckpointMade,
    EscapeSet,
    Event,
    LoopAnswered,
    LoopAsked,
    LoopChoice,
    LoopFound,
    Projection,
    RolledBack,
    Rung,
)
from harness.ui.escape_lines import ANSWERS, LeftOut, escape_line
from harness.ui.line import Tone
from harness.ui.lines import line_of
from harness.ui.loop_words import PROJECTIONS, RUNGS, repeats
from tests.ui.loops import BACK, CIRCLE, FAILING, FOUND, LEFT, took


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (FOUND, "⟳ in circles: read_file notes.txt, 4 times with the same result"),
        (
            LoopFound(replace(CIRCLE, copies=8), 10),
            "⟳ in circles: read_file notes.txt, 8 times with the same result",
        ),
        (
            replace(FOUND, relapse=True),
            "⟳ in circles again: read_file notes.txt, 4 times with the same result",
        ),
        (
            LoopFound(replace(CIRCLE, projection=Projection.ACTION, copies=101, weak=True), 101),
            "⟳ perhaps in circles: read_file notes.txt, 101 times",
        ),
        (
            LoopFound(FAILING, 4),
            "⟳ in circles: grep fails: timed out after 30 s, failed 4 times in the same way",
        ),
        (took(Rung.NUDGE), "↳ nudge: the model is told"),
        (took(Rung.RETRY, "grep is tried once more in 0.4 s", 2), "↳ retry 2 of 3: grep is tried once more in 0.4 s"),
        (
            took(Rung.ROLLBACK, "there is nothing to go back to", applied=False),
            "○ rollback is not possible: there is nothing to go back to",
        ),
        (took(Rung.HUMAN, "a person is asked"), None),  # the question says so
        (took(Rung.STOP, "the turn ends with a report"), None),  # the report says so
        (LEFT, "✓ out of the circle (same calls, same results), after: nudge"),
        (replace(LEFT, freed_by=None), "✓ out of the circle (same calls, same results) by itself"),
        (
            LoopAsked(CIRCLE, tuple(LoopChoice)),
            "? what to do about read_file notes.txt, 4 times with the same result",
        ),
        (LoopAnswered(CIRCLE.signature, LoopChoice.CONTINUE), "· you let it go on"),
        (
            BACK,
            (
                "↩ back to the end of step 4, and the model does not see what came after it; "
                "as they were then: src/a.py, src/b.py; not undone: bash rm -rf build"
            ),
        ),
        (
            RolledBack(1, 4),
            "↩ back to the end of step 4, and the model does not see what came after it; files stay as they are",
        ),
        (EscapeSet(enabled=True, version=1), None),
        (EscapeSet(enabled=False, version=2), "→ loops are told of, and nothing is done about them"),
        (
            EscapeSet(enabled=True, version=3, changed=("copies=6", "nudges=0")),
            "→ watching for loops with other numbers than shipped: copies=6, nudges=0",
        ),
        (CheckpointMade("c", 1, 1, "git", 12, ("big.bin: 40 MB",)), None),  # the views remember what was said
    ],
)
def test_what_a_person_reads(event: Event, line: str | None) -> None:
    found = escape_line(event)
    assert (str(found) if found else None) == line
    assert line_of(event) == found


def test_of_many_files_the_first_are_named_and_the_others_counted() -> None:
    found = escape_line(RolledBack(1, 4, tuple(f"{number}.py" for number in range(1_205))))
    assert found is not None
    assert found.text.endswith("as they were then: 0.py, 1.py, 2.py, 3.py, 4.py and 1,200 more")


def test_what_is_not_kept_is_said_once_and_again_when_there_is_more() -> None:
    left_out = LeftOut()
    lines = [
        left_out.line(CheckpointMade("c", 1, step, "copies", 1, reasons))
        for step, reasons in enumerate(
            [(), ("a.bin: too big",), ("a.bin: too big",), ("a.bin: too big", "b: a socket")]
        )
    ]
    assert [str(line) for line in lines if line] == [
        "· a rollback cannot bring back: a.bin: too big",
        "· a rollback cannot bring back: b: a socket",
    ]
    assert lines[2] is None


def test_only_what_goes_on_well_is_quiet() -> None:
    quiet = [
        event
        for event in (FOUND, LEFT, BACK, took(Rung.NUDGE))
        if (line := escape_line(event)) and line.tone is Tone.QUIET
    ]
    assert quiet == [LEFT]


@pytest.mark.parametrize("projection", Projection)
def test_every_projection_says_in_its_own_words_what_repeats_and_how_often(projection: Projection) -> None:
    said = {repeats(replace(CIRCLE, projection=each, summary="a\nb")) for each in Projection}
    assert len(said) == len(Projection)
    text = repeats(replace(CIRCLE, projection=projection, summary="a\nb"))
    assert "a b" in text
    assert "4 times" in text


def test_a_poll_that_is_too_fast_and_one_that_lasts_too_long_are_told_apart() -> None:
    poll = replace(CIRCLE, projection=Projection.POLL)
    assert repeats(replace(poll, weak=True)) != repeats(poll)
    assert repeats(replace(CIRCLE, failing=True)) == "read_file notes.txt, 4 times with the same failure"
    assert "once" in repeats(replace(poll, copies=1))


def test_everything_has_a_word() -> None:
    assert set(RUNGS) == set(Rung)
    assert set(PROJECTIONS) == set(Projection)
    assert set(ANSWERS) == set(LoopChoice)
