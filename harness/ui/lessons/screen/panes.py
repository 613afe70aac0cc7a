"""Which parts of the screen are in sight: it goes by the room there is, and by what the learner looks at."""

from enum import Enum

WIDE = 100
"""Columns from which two parts stand side by side."""
HIGH = 34
"""Rows from which text and code stand one above the other."""


class Part(Enum):
    """A part of the screen that can be looked at and scrolled."""

    TEXT = "text"
    CODE = "code"
    """Or the difference, or the wire: what was asked for last."""
    TALK = "talk"
    """The conversation, with the panel below it."""


def in_sight(columns: int, rows: int, active: Part, *, reading: bool) -> frozenset[Part]:
    """The parts that are shown on a screen of this size; the active one is always among them.

    `reading`: the text alone, as wide as it can be.
    """
    if reading:
        return frozenset({Part.TEXT})
    if columns < WIDE:
        return frozenset({active})
    if rows >= HIGH:
        return frozenset(Part)
    return frozenset({Part.TALK, Part.TEXT if active is Part.TEXT else Part.CODE})
