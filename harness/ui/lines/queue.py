"""Queued prompts in lines."""

from harness.base.external_text import counted, visible
from harness.ui.turn_queue import TurnQueue

SHOWN = 4
"""Queued prompts with a row of their own above the prompt."""
LISTED = 50
"""Queued prompts that `/queue` lists."""


def queue_rows(queue: TurnQueue, *, brief: bool) -> list[str]:
    """Number and first lines of the queued prompts, oldest first; no row if there are none.

    Args:
        queue: only its first entries are read, so its length does not matter.
        brief: a single row.
    """
    if not queue:
        return []
    if brief:
        return [f"{len(queue):,} queued (\u2191 edits the last): {_first_line(queue.first(1)[0])}"]
    return [f"{len(queue):,} queued (\u2191 edits the last, Esc returns all)", *_listed(queue, SHOWN)]


def queue_text(queue: TurnQueue, *, clear: bool) -> str:
    """The answer to `/queue`; `clear` removes the queued prompts."""
    if not queue:
        return "Nothing is queued."
    rows = _listed(queue, LISTED)
    if clear:
        return "\n".join((f"{counted(queue.clear(), 'queued prompt')} removed:", *rows))
    return "\n".join((f"{counted(len(queue), 'prompt')} queued; /queue clear removes them:", *rows))


def _listed(queue: TurnQueue, most: int) -> list[str]:
    rows = [f"  {_first_line(line)}" for line in queue.first(most)]
    return [*rows, f"  \u2026 {len(queue) - most:,} more"] if len(queue) > most else rows


def _first_line(text: str) -> str:
    first, *others = text.strip().splitlines()
    return visible(f"{first} (+ {counted(len(others), 'line')})" if others else first)
