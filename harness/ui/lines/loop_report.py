"""The report of a turn that ended in a loop, as plain text and without colour."""

from collections.abc import Iterator
from textwrap import wrap

from harness.events import Rung, StuckReported
from harness.session import RUNGS, described

WIDTH = 100
NARROWEST = 12
"""Columns of text below which nothing is wrapped any more."""


def stuck_lines(report: StuckReported, width: int = WIDTH) -> tuple[str, ...]:
    """What repeats, what was tried step by step, and what a person can do (resilience B25).

    In lines of at most `width` characters, as far as its columns allow.
    """
    return tuple(_lines(report, width))


def _lines(report: StuckReported, width: int) -> Iterator[str]:
    yield from _wrapped("IN A LOOP: ", described(report.loop), width)
    steps = f"{report.steps_in_loop} step{'' if report.steps_in_loop == 1 else 's'}"
    yield from _wrapped("", f"The turn ended in step {report.step}, after {steps} in it.", width)
    yield ""
    tried = [attempt for attempt in report.tried if attempt.rung is not Rung.STOP]
    if tried:
        yield "What was tried"
        last = max(len(str(attempt.step)) for attempt in tried)
        longest = max(len(RUNGS[attempt.rung]) for attempt in tried)
        for attempt in tried:
            start = f"  step {attempt.step:>{last}}  {RUNGS[attempt.rung]:<{longest}}  "
            yield from _wrapped(start, attempt.detail, width)
    else:
        yield "Nothing was tried."
    if report.next_steps:
        yield from ("", "What you can do")
        for number, text in enumerate(report.next_steps, 1):
            yield from _wrapped(f"  {number}. ", text, width)


def _wrapped(start: str, text: str, width: int) -> Iterator[str]:
    """The text behind `start`, and what does not fit in the line below it, under itself."""
    lines = wrap(" ".join(text.split()), max(NARROWEST, width - len(start)), break_on_hyphens=False) or [""]
    yield (start + lines[0]).rstrip()
    yield from (" " * len(start) + line for line in lines[1:])
