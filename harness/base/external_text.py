"""Text from outside, made safe to show and to send."""

import re

_HIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def visible(text: str) -> str:
    """Text for display: control characters and bidirectional marks are escaped, except line breaks and tabs. Otherwise
    a command could move the cursor and disguise the question about itself.
    """
    return _HIDDEN.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


CUT = " …"
"""The end of a text that is cut."""


def counted(number: int, one: str, many: str = "") -> str:
    """A number and what it counts: "1 line", "2,000 lines"; `many` where more than one is not `one` and an s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


def sendable(text: str) -> str:
    """`text` with each lone surrogate, which JSON and the SDK cannot carry, replaced by U+FFFD."""
    return _LONE_SURROGATE.sub("\ufffd", text)
