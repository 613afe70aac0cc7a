"""Streams of symbols with a known character."""

import random
from collections.abc import Iterator


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


def random_walk(generator: random.Random, nodes: int, visits: int) -> Iterator[str]:
    """A walk without memory: each visit is to any of the nodes, the one it comes from included."""
    return (str(generator.randrange(nodes)) for _ in range(visits))
