"""Text on a user's screen: that of others, and numbers of things."""

import re

_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """Text for a person to judge: control characters and marks that turn the writing direction are spelt out.

    Otherwise a command could move the cursor and dress up the very question whether it may run. Line breaks
    and tabs stay.
    """
    return _HIDDEN.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


def counted(number: int, one: str, many: str = "") -> str:
    """A number and what it counts: "1 line", "2,000 lines"; `many` where more than one is not `one` and an s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
