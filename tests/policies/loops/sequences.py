"""Streams of symbols with a known character."""

import random
from collections.abc import Iterator
from itertools import islice


def with_loops(generator: random.Random, length: int) -> Iterator[str | None]:
    """Random symbols of a small alphabet, among them loops, loops with an error in them, and symbols without equals."""
    letters = "abcdefgh"[: generator.randint(1, 8)]
    left = length
    while left > 0:
        word: list[str | None] = [generator.choice(letters) for _ in range(generator.randint(1, 9))]
        match generator.randrange(4):
            case 0:
                word = word * generator.randint(1, 6)
            case 1:
                word = word * generator.randint(2, 4)
                word[generator.randrange(len(word))] = generator.choice(letters)
            case 2:
                word.append(None)
        yield from word[:left]
        left -= len(word)


def thue_morse(length: int) -> str:
    """No word comes three times in a row anywhere in it."""
    return "".join("ab"[number.bit_count() % 2] for number in range(length))


def square_free(length: int) -> str:
    """Three symbols, and no word comes twice in a row anywhere: the ones between the zeros of Thue–Morse."""
    return "".join(islice(_gaps(), length))


def _gaps() -> Iterator[str]:
    ones, number = 0, 1
    while True:
        if number.bit_count() % 2:
            ones += 1
        else:
            yield "abc"[ones]
            ones = 0
        number += 1


def random_walk(generator: random.Random, nodes: int, visits: int) -> Iterator[str]:
    """A walk without memory: each visit is to any of the nodes, the one it comes from included."""
    return (str(generator.randrange(nodes)) for _ in range(visits))
