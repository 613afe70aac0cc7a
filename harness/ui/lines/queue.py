"""Texts and prompts that wait, in lines."""

from collections.abc import Sequence

from harness.base.external_text import counted, visible
from harness.events import ToolStarted
from harness.ui.turn_queue import TurnQueue, TypedLine

SHOWN = 4
"""Waiting texts of each kind with a row of their own above the prompt."""
LISTED = 50
"""Queued prompts that `/queue` lists."""
WIDEST_CALL = 24
"""Characters of the call that a text joins after."""
TAKES_BACK = "\u2191 takes it back"


def waiting_rows(joining: Sequence[str], where: str, queue: TurnQueue, *, brief: bool) -> list[tuple[str, str]]:
    """Rows above the prompt, each with a note for its right end; none if nothing waits.

    Args:
        joining: texts for the running turn, oldest first.
        where: the place in the turn at which they join.
        queue: prompts with turns of their own; only its first entries are read, so its length does not matter.
        brief: a single row.
    """
    others = len(joining) + len(queue) - 1
    if brief and joining:
        return [(f"\u25b8 {_first_line(joining[0])}", f"{where}, {others:,} more" if others else where)]
    rows = [(f"\u25b8 {_first_line(text)}", "") for text in joining[:SHOWN]]
    if len(joining) > SHOWN:
        rows.append((f"  \u2026 {len(joining) - SHOWN:,} more", ""))
    if joining:
        rows[-1] = (rows[-1][0], "" if queue else TAKES_BACK)  # the last one, or the row that counts it
        rows[0] = (rows[0][0], f"{where} \u00b7 {TAKES_BACK}" if not others else where)
    if not queue:
        return rows
    head = f"{len(queue):,} queued{until(queue)}"
    if brief:
        return [(f"{head}: {_first_line(queue.first(1)[0])}", "")]
    rows.append((f"{head} (\u2191 edits the last, Esc returns all)", ""))
    return rows + [(row, "") for row in _listed(queue.first(SHOWN), len(queue))]


def until(queue: TurnQueue) -> str:
    """What the queued lines wait for, if a command runs: " until /compact ends"; else empty."""
    running = queue.running.text.split(maxsplit=1) if isinstance(queue.running, TypedLine) else []
    name = running[0] if running else ""
    is_command = name.startswith(("/", "!")) and "/" not in name[1:]  # and no path, which may begin a prompt
    return f" until {visible(name[:WIDEST_CALL])} ends" if is_command else ""


def joins_after(running: Sequence[ToolStarted]) -> str:
    """Where a text joins the running turn, with the calls that run now."""
    if not running:
        return "joins the next request"
    if len(running) > 1:
        return f"joins after {len(running):,} calls"
    (one,) = running
    call = " ".join(visible(one.summary if one.tool == "bash" else f"{one.tool} {one.summary}").split())
    return "joins after " + (call if len(call) <= WIDEST_CALL else f"{call[: WIDEST_CALL - 1].rstrip()}…")


def queue_text(joining: Sequence[str], queue: TurnQueue, *, clear: bool) -> str:
    """The answer to `/queue`; `clear`: what is listed is being removed."""
    ends = " removed:" if clear else "; /queue clear removes them:"
    rows = []
    if joining:
        rows += [
            f"{counted(len(joining), 'prompt')} for the running turn{ends}",
            *_listed(joining[:LISTED], len(joining)),
        ]
    if queue:
        head = counted(len(queue), "queued prompt") if clear else f"{counted(len(queue), 'prompt')} queued"
        rows += [f"{head}{ends}", *_listed(queue.first(LISTED), len(queue))]
    return "\n".join(rows) or "Nothing is queued."


def _listed(texts: Sequence[str], count: int) -> list[str]:
    rows = [f"  {_first_line(text)}" for text in texts]
    return [*rows, f"  \u2026 {count - len(texts):,} more"] if count > len(texts) else rows


def _first_line(text: str) -> str:
    first, *others = text.strip().splitlines()
    return visible(f"{first} (+ {counted(len(others), 'line')})" if others else first)
