"""Sessions as numbered lines."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime

from harness.base.terminal_text import visible
from harness.session import SessionSummary


def session_lines(sessions: Sequence[SessionSummary]) -> Iterator[str]:
    """One line for each session: number, id, when it was used last (local time), how it ended, first prompt."""
    for number, summary in enumerate(sessions, start=1):
        used = datetime.fromtimestamp(summary.updated_at, UTC).astimezone().strftime("%Y-%m-%d %H:%M")
        broken = "interrupted: " if summary.interrupted else ""
        yield f"{number:>3}  {summary.id}  {used}  {broken}{visible(summary.title) or '(nothing said yet)'}"
