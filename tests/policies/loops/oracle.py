"""The end of a stream, judged by looking at all of it: slow, and plainly right."""

from collections.abc import Sequence

Symbols = Sequence[str | None]


def run(symbols: Symbols, period: int) -> int:
    """How many symbols at the end are the same as the one `period` before; None equals nothing."""
    length = 0
    while length + period < len(symbols):
        one, before = symbols[-1 - length], symbols[-1 - length - period]
        if one is None or one != before:
            break
        length += 1
    return length


def shortest(symbols: Symbols, wanted: Sequence[int]) -> int:
    """The period of the shortest word, not itself copies of a shorter one, that is matched as long as wanted; or 0."""
    for period in range(1, min(len(wanted), len(symbols))):
        if run(symbols, period) >= wanted[period] and not is_power(symbols[-period:]):
            return period
    return 0


def is_power(word: Symbols) -> bool:
    """Whether a word is several copies of a shorter one."""
    pieces = (length for length in range(1, len(word)) if len(word) % length == 0)
    return any(list(word) == list(word[:length]) * (len(word) // length) for length in pieces)
