"""Measure how long a streamed reply is watched for repeating itself, beside looking for a character in it.

    python -m benchmarks.loop_text

Microseconds for 1,000 characters in pieces of four, as a model streams them: of prose, of a cycle that is never a
verdict, and of texts that are made to be hard. Four times the length must cost four times as much. The
baseline is a Python loop over the characters, the least work that any detector has to do.
"""

import random
import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator

from benchmarks.figures import Figure, show
from harness.policies.loops.text_loops import RepeatedText, TextLimits

SHORT, LONG = 25_000, 100_000
ROUNDS = 3
PIECE = 4


def prose(length: int) -> str:
    """Words of a vocabulary of five hundred, at random."""
    dice = random.Random(5)
    words = ["".join(dice.choices("etaoinshrdlu", k=dice.randint(2, 9))) for _ in range(500)]
    return " ".join(dice.choices(words, k=length // 4))[:length]


def japanese(length: int) -> str:
    """Random characters outside Latin-1."""
    return "".join(chr(code) for code in random.Random(6).choices(range(0x3041, 0x9000), k=length))


def block(length: int) -> str:
    """One line again and again in a block of code: it repeats, and is never a verdict."""
    return ("```\n" + "assert total(cart) == 3\n" * length)[:length]


def numbers(length: int) -> str:
    """Rows that differ in their digits alone."""
    return " ".join(str(10_000 + number) for number in range(length // 4))[:length]


def fibonacci(length: int) -> str:
    """Repeats almost everywhere, and nowhere for long."""
    now, then = "ab", "a"
    while len(now) < length:
        now, then = now + then, now
    return now[:length]


TEXTS: tuple[Callable[[int], str], ...] = (prose, japanese, block, numbers, fibonacci)


def watched(pieces: list[str]) -> None:
    """Feed one reply."""
    watch = RepeatedText(TextLimits())
    for piece in pieces:
        watch.feed(piece)


def scanned(pieces: list[str]) -> int:
    """Look at each character once."""
    found = 0
    for piece in pieces:
        for character in piece:
            if character == "\n":
                found += 1
    return found


def microseconds(work: Callable[[list[str]], object], text: str) -> float:
    """Microseconds for 1,000 characters, in the round that was disturbed least."""
    pieces = [text[start : start + PIECE] for start in range(0, len(text), PIECE)]
    best = float("inf")
    for _ in range(ROUNDS):
        began = time.perf_counter()
        work(pieces)
        best = min(best, time.perf_counter() - began)
    return best / len(text) * 1e9


def figures() -> Iterator[Figure]:
    """Each text at the greater length, its growth, and the memory held at the end."""
    for text in TEXTS:
        cost, scan = microseconds(watched, text(LONG)), microseconds(scanned, text(LONG))
        name = text.__name__
        yield Figure(f"{name}: 1,000 characters, beside a scan", cost, "µs", scan, limit=5_000)
        growth = cost / microseconds(watched, text(SHORT))
        yield Figure(f"{name}: a character of {LONG:,} to one of {SHORT:,}", growth, "×", limit=2)
    yield Figure("memory after Japanese, at its peak", peak(japanese(LONG)), "MB", limit=5)


def peak(text: str) -> float:
    """Megabytes that watching a reply takes at most."""
    watch = RepeatedText()
    tracemalloc.start()
    watch.feed(text)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return most / 1e6


def main() -> int:
    """Print the table; exit code 1 when a bar is missed."""
    found = list(figures())
    show(f"Replies that repeat themselves, Python {sys.version.split()[0]}", found)
    return int(any(one.holds is False for one in found))


if __name__ == "__main__":
    sys.exit(main())
