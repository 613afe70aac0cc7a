"""What the model reads of its own plan, when it is far away or has not been looked at for long."""

import re
from collections.abc import Iterable, Sequence

from harness.events import PlanItem

OPENING = "<plan>"
"""How each of these texts begins."""
_TAG = re.compile(r"<(?=\s*/?\s*plan\b)", re.IGNORECASE)


def handed_back(plan: Sequence[PlanItem]) -> str:
    """The whole plan, word for word, for a history from which it may be gone (recovery E8); "" where nothing is left.

    What stands in it is no new request: the model has written it itself.
    """
    if not any(item.is_open for item in plan):
        return ""
    return _fenced(plan, "Your plan as you wrote it last, with todo_write. Go on with it and keep it true.")


def reminder(plan: Sequence[PlanItem], rounds: int) -> str:
    """A word about the open items, after so many tool rounds without one about them (lessons s05)."""
    items = [item for item in plan if item.is_open]
    passed = f"{rounds} round{'s' * (rounds != 1)}"
    count = f"{len(items)} of {len(plan)} item{'s' * (len(plan) != 1)}"
    return _fenced(
        items,
        f"Your plan has not been brought up to date for {passed}; {count} of it are open. Mark with todo_write what is "
        "done or begun by now, or write the list anew if it does not hold any more. Then go on; the person does not "
        "see this and expects no answer to it.",
    )


def _fenced(items: Iterable[PlanItem], why: str) -> str:
    lines = "\n".join(_TAG.sub("&lt;", item.line) for item in items)
    return f"{OPENING}\n{why}\n\n{lines}\n</plan>"
