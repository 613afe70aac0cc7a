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
from harness.session import RUNGS
from harness.ui.lines.events import line_of
from harness.ui.lines.line import Tone
from harness.ui.lines.loop_names import PROJECTIONS
from harness.ui.lines.loops import ANSWERS, LeftOut, escape_line
from tests.ui.loops import BACK, CIRCLE, FAILING_CIRCLE, FOUND, LEFT, took


@pytest.mark.parametrize(
    ("event", "line"),
    [
        (FOUND, "⟳ in circles: read_file notes.txt, 4 times in a row, with the same result each time"),
        (
            LoopFound(replace(CIRCLE, copies=8), 10),
            "⟳ in circles: read_file notes.txt, 8 times in a row, with the same result each time",
        ),
        (
            replace(FOUND, relapse=True),
            "⟳ in circles again: read_file notes.txt, 4 times in a row, with the same result each time",
        ),
        (
            LoopFound(replace(CIRCLE, projection=Projection.ACTION, copies=101, weak=True), 101),
            "⟳ perhaps in circles: read_file notes.txt, 101 times in a row, whatever comes of it",
        ),
        (
            LoopFound(FAILING_CIRCLE, 4),
            "⟳ in circles: grep fails: timed out after 30 s, 4 times in a row, with the same error each time",
        ),
        (took(Rung.NUDGE), "↳ nudge: the model is told"),
        (took(Rung.RETRY, "grep is tried once more in 0.4 s", 2), "↳ retry 2 of 3: grep is tried once more in 0.4 s"),
        (
            took(Rung.ROLLBACK, "there is nothing to go back to", applied=False),
            "○ rollback is not possible: there is nothing to go back to",
        ),
        (took(Rung.HUMAN, "a person is asked"), None),  # the question says so
        (took(Rung.ROLLBACK, "back to the end of step 4"), None),  # RolledBack says so
        (took(Rung.STOP, "the turn ends with a report"), None),  # the report says so
        (LEFT, "✓ out of the circle (same calls, same results), after: nudge"),
        (replace(LEFT, freed_by=None), "· that circle is over (same calls, same results)"),
        (
            LoopAsked(CIRCLE, tuple(LoopChoice)),
            "? what to do about read_file notes.txt, 4 times in a row, with the same result each time",
        ),
        (LoopAnswered(CIRCLE.signature, LoopChoice.CONTINUE), "· you let it go on"),
        (
            BACK,
            (
                "↩ rolled back to the end of step 4: the model does not see what came after it; "
                "as they were then: src/a.py, src/b.py; not undone: bash rm -rf build"
            ),
        ),
        (
            RolledBack(1, 4),
            "↩ rolled back to the end of step 4: the model does not see what came after it; files stay as they are",
        ),
        (
            RolledBack(2, 4, ("a.py",), ("bash make",), "rewind", "0" * 16),
            (
                "↩ as they were before turn 2: a.py; not undone: bash make; "
                "/rewind undo lets them be as they were before this"
            ),
        ),
        (RolledBack(2, 4, why="rewind"), "↩ files stay as they are"),
        (RolledBack(2, 6, ("a.py",), why="undo"), "↩ as they were before they were taken back: a.py"),
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


def test_everything_has_a_word() -> None:
    assert set(RUNGS) == set(Rung)
    assert set(PROJECTIONS) == set(Projection)
    assert set(ANSWERS) == set(LoopChoice)
