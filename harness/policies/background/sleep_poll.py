"""Recognises a model that sleeps and then looks, and decides when to note that ends are announced."""

import re
from collections.abc import Sequence

LOOKS = frozenset(
    {"cat", "tail", "head", "less", "ls", "ps", "pgrep", "pidof", "grep", "rg", "wc", "jobs", "test", "[", "[[", "stat"}
    | {"echo", "printf", "date", "true", ":", "sed", "awk", "sort", "uniq", "cut", "tr", "kill", "find", "du", "sleep"}
)
"""Programs that only look, or write what others have found. Of kill only `kill -0` looks."""
LEAST_S = 1.0
"""Seconds of sleep; shorter ones wait for nothing in particular."""
EVERY = 3
"""The first poll has a note, and then every third."""
_DURATION = re.compile(r"(\d+(?:\.\d*)?|\.\d+)([smhd]?)")
_UNITS = {"": 1, "s": 1, "m": 60, "h": 3_600, "d": 86_400}


def polls(commands: Sequence[tuple[str, ...]]) -> bool:
    """Return whether a command line only sleeps and checks something.

    Args:
        commands: its commands as words, with the names of programs without folders.
    """
    slept = sum(_slept(words) for words in commands if words[:1] == ("sleep",))
    return slept >= LEAST_S and all(map(_looks, commands))


def note_due(polled: int) -> bool:
    """Whether this poll has a note; `polled` counts the polls, with this one."""
    return polled % EVERY == 1


def _looks(words: tuple[str, ...]) -> bool:
    if words[:1] == ("kill",):
        return words[1:2] == ("-0",)
    return not words or words[0] in LOOKS


def _slept(words: tuple[str, ...]) -> float:
    found = (_DURATION.fullmatch(word) for word in words[1:])
    return sum(float(one[1]) * _UNITS[one[2]] for one in found if one is not None)
