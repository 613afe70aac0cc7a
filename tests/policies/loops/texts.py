"""What replies are made of that repeat themselves, or look as if they did."""

import random
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Stuck:
    """A reply that falls into a cycle: `start`, then `unit` without an end."""

    name: str
    start: str
    unit: str
    numbered: bool = False
    """`{}` in the unit is replaced by a running number."""

    def text(self, length: int = 60_000) -> str:
        """So much of it that any detector should have spoken."""
        text = [self.start]
        size, number = 0, 1
        while size < length:
            text.append(self.unit.format(number) if self.numbered else self.unit)
            size += len(text[-1])
            number += 1
        return "".join(text)


@dataclass(frozen=True, slots=True)
class Sound:
    """A reply that is meant as it is."""

    name: str
    text: str


def lines(count: int, line: Callable[[int], str]) -> str:
    return "".join(f"{line(number)}\n" for number in range(1, count + 1))


def prose(seed: int, sentences: int) -> str:
    """Sentences of a small vocabulary, such as a monotonous writer has."""
    dice = random.Random(seed)
    subjects = "The parser", "The test", "This module", "The user", "A request", "The cache", "Our loop"
    verbs = "reads", "keeps", "returns", "drops", "checks", "copies", "needs"
    objects = "the file", "a token", "the result", "every line", "its state", "the old value", "one message"
    return " ".join(
        f"{dice.choice(subjects)} {dice.choice(verbs)} {dice.choice(objects)} before it {dice.choice(verbs)} "
        f"{dice.choice(objects)}."
        for _ in range(sentences)
    )
