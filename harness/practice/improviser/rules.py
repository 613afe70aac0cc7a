"""One row of the intent table: words to look for, and what they mean."""

import re
from collections.abc import Callable
from dataclasses import dataclass

from harness.practice.improviser.goals import Goal
from harness.practice.improviser.memory import Memory
from harness.practice.improviser.mentions import Sentence

Meaning = Callable[[Sentence, Memory], tuple[Goal, ...]]
"""Makes goals of a clause; an empty tuple means "not this after all", and the next row is tried."""


@dataclass(frozen=True, slots=True)
class Rule:
    """If a clause has these words, this is what is meant."""

    english: re.Pattern[str]
    japanese: re.Pattern[str]
    meaning: Meaning

    def goals(self, clause: Sentence, memory: Memory) -> tuple[Goal, ...]:
        """The goals that the clause names under this rule; empty when it does not apply."""
        if self.english.search(clause.words) or self.japanese.search(clause.words):
            return self.meaning(clause, memory)
        return ()


NEVER = r"(?!)"
"""For a row that one of the languages does not need."""


def rule(english: str, japanese: str, meaning: Meaning) -> Rule:
    """A row of the table.

    Patterns are searched in the lower-case clause, in which «» stands for the name of a file and ⟦⟧ for a quote.
    """
    return Rule(re.compile(english), re.compile(japanese), meaning)
