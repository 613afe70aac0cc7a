"""The reports of turns that paused or ended in a loop, as Markdown for an exported page."""

from collections.abc import Iterator, Mapping, Sequence

from harness.events import PauseReport, Rung, StuckReported


def pause_blocks(report: PauseReport) -> Iterator[str]:
    """The report of a pause: how far the turn came, and what a person could do."""
    yield f"> **paused**: {_line(report.reason) or 'a person asked'}"
    sections = {
        "Done": report.completed,
        "Begun and not finished": report.failed,
        "Not attempted": report.not_attempted,
        "Deferred": [f"{one.item.text}: {one.reason}; needs {one.unblock}" for one in report.deferred],
        "Failure budget": [f"{report.consumed} of {report.budget or 'an unknown number'} used"],
    }
    yield from _sections(sections, report.next_steps)


def stuck_blocks(report: StuckReported) -> Iterator[str]:
    """The report of a turn that ended in a loop."""
    loop = report.loop
    yield f"> **in a loop**: {_line(loop.summary)}, {loop.copies} times ({loop.projection})"
    tried = [
        f"step {attempt.step}, {attempt.rung}: {attempt.detail}"
        for attempt in report.tried
        if attempt.rung is not Rung.STOP
    ]
    yield from _sections({"What was tried": tried}, report.next_steps)


def _sections(sections: Mapping[str, Sequence[str]], next_steps: Sequence[str]) -> Iterator[str]:
    for title, lines in sections.items():
        if lines:
            yield f"{title}:"
            yield "\n".join(f"- {_line(line)}" for line in lines)
    if next_steps:
        yield "What you can do:"
        yield "\n".join(f"{number}. {_line(line)}" for number, line in enumerate(next_steps, 1))


def _line(text: str) -> str:
    return " ".join(text.split())
