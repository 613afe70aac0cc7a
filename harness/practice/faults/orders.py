"""What orders of faults for the model and for tools have in common; see `model_orders` and `tool_orders`."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from harness.base.errors import HarnessError
from harness.practice.faults.words import OFF

MOST = 1_000
"""Requests of one order."""


class OrderError(HarnessError):
    """An invalid order. `str(error)` names what to type instead."""

    exit_code = 2


@dataclass(frozen=True, slots=True)
class FaultCommandResult:
    """The result of `/fault` or `/toolfault`."""

    said: str
    """For the user: one sentence, or the list."""
    ordered: str = ""
    """The order as typed ("529 3"), "off", or empty where nothing changed."""


def counted(text: str) -> int:
    """A number of times. Raises OrderError."""
    if not (text.isascii() and text.isdigit()) or not 1 <= int(text) <= MOST:
        raise OrderError(f"{text!r} is not a number of times; type one from 1 to {MOST:,}.")
    return int(text)


def nearest(word: str, known: Collection[str]) -> str:
    """The hint for an unknown word."""
    near = get_close_matches(word, known, n=1, cutoff=0.4)
    return f"did you mean {near[0]}?" if near else f"there are {', '.join(known)}."


def overview(kinds: Sequence[str], waiting: Iterable[str], usage: str) -> str:
    waits = ", ".join(waiting)
    return "\n".join((*kinds, f"waiting: {waits or 'nothing'}", usage))


def cancelled(left: int, what: str) -> FaultCommandResult:
    if not left:
        return FaultCommandResult("No fault was ordered.")
    return FaultCommandResult(f"Called off; {left:,} {what}{'s' * (left != 1)} would have gone wrong.", OFF)
