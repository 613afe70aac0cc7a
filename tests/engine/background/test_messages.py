"""What the model reads of a command that ended, fell silent or was given away."""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.engine.background.background_command import ended_text
from harness.events import CommandEnd, CommandEnded

FILE = Path("/outputs/b1.out")
ENDED = CommandEnded("b1", CommandEnd.EXITED, 0, 12.34, 1_234, "compiling\ndone\n")


def told(event: CommandEnded, line: str = "make all") -> str:
    return ended_text(event, line, FILE, 3_600, 256_000_000)


AFTER, LOST = "after 12.3 s", "the program that watched it ended without warning; what became of it is not known"
HEADS = {
    f"b1 ended with exit code 0 {AFTER}": ENDED,
    f"b1 ended with exit code 2 {AFTER}": replace(ENDED, exit_code=2),
    f"b1 was killed by signal 9 {AFTER}": replace(ENDED, exit_code=-9),
    "b1 was ended, because its time limit of 3600 s was up": replace(ENDED, end=CommandEnd.TIMED_OUT),
    f"b1 was ended {AFTER}, because it wrote more than 256,000,000 bytes": replace(ENDED, end=CommandEnd.TOO_LONG),
    f"b1 was stopped {AFTER}": replace(ENDED, end=CommandEnd.STOPPED),
    "b1 was stopped": replace(ENDED, end=CommandEnd.STOPPED, exit_code=None, duration_s=0.0),
    f"b1 was ended {AFTER}, because the session ended": replace(ENDED, end=CommandEnd.SHUT_DOWN),
    f"b1 is lost: {LOST}": replace(ENDED, end=CommandEnd.LOST, exit_code=None, duration_s=0.0),
    f"b1 ended with exit code 0 {AFTER} (2 processes lived on)": replace(ENDED, reason="2 processes lived on"),
}


@pytest.mark.parametrize("head", HEADS)
def test_every_end_is_reported_with_its_output(head: str) -> None:
    rest = f"Its output, 1,234 bytes, is in {FILE}. The end of it:\ncompiling\ndone"
    assert told(HEADS[head]) == f"{head}: make all\n{rest}"


def test_what_was_not_started_has_no_output() -> None:
    event = CommandEnded("b1", CommandEnd.NOT_STARTED, None, 0.0, 0, "", "no such folder")
    assert told(event) == "b1 was not started (no such folder): make all"


def test_silence_and_what_could_not_be_ended_are_said() -> None:
    event = replace(ENDED, output_bytes=0, tail="", left=("nfsd (12)",))
    assert told(event).splitlines()[1:] == [
        "These of its processes could not be ended: nfsd (12).",
        "It wrote nothing.",
    ]


@pytest.mark.parametrize("line", ["x" * 5_000, "cat <<END\none\nEND"])
def test_only_the_beginning_of_a_long_line_is_repeated(line: str) -> None:
    first = told(ENDED, line).splitlines()[0]
    assert first.endswith(" …")
    assert len(first) < 300
