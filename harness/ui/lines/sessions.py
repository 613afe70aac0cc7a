"""Lists of sessions, apart from the commands, so that `harness sessions` does not load the engine."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime

from harness.base.external_text import visible
from harness.journal import SessionSummary


def session_lines(sessions: Sequence[SessionSummary]) -> Iterator[str]:
    """One numbered line per session: id, last use in local time, whether it was interrupted, name, first prompt."""
    for number, summary in enumerate(sessions, start=1):
        yield f"{number:>3}  {_session_line(summary)}"


def _session_line(summary: SessionSummary) -> str:
    used = datetime.fromtimestamp(summary.updated_at, UTC).astimezone().strftime("%Y-%m-%d %H:%M")
    broken = "interrupted: " if summary.interrupted else ""
    name = f"{visible(summary.name)} · " if summary.name else ""
    return f"{summary.id}  {used}  {broken}{name}{visible(summary.title) or '(no prompt yet)'}"


def hit_lines(found: Iterable[tuple[SessionSummary, str]]) -> Iterator[str]:
    """Two lines per session that a search has found: the session, and the line with the hit."""
    for summary, hit in found:
        yield _session_line(summary)
        yield f"    {visible(hit)}"
