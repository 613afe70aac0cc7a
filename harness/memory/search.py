"""Which memories a question is about: by the words of name, description and text, and without asking a model."""

import re
from collections.abc import Iterable, Sequence

from harness.memory.memory import Memory

WEIGHTS = (4, 2, 1)
"""What a word counts for that stands in the name, in the description, in the text."""

STEM = 6
"""Letters by which words are told apart, so that "indented" finds "indentation"."""

_WORD = re.compile(r"[^\W_]+")
_WITHOUT_SPACES = re.compile(r"([\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+)")
"""Kana and kanji, which are written without spaces between words."""
_SMALL = frozenset(
    _WORD.findall(
        "a an and are as at be by do does did for from had has have how i in is it me my of on or our that the there "
        "this to us was we what when where which who why will with you your about know remember"
    )
)
"""Words that every text has."""


def matching(query: str, memories: Sequence[Memory]) -> tuple[Memory, ...]:
    """Those that share a word with the query, the best first; of two that are equally good the newer one first."""
    wanted = words_of(query)
    scored = [(_score(wanted, memory), memory) for memory in memories]
    best = sorted(scored, key=lambda one: (-one[0], -one[1].updated, one[1].place, one[1].name))
    return tuple(memory for score, memory in best if score)


def words_of(text: str) -> frozenset[str]:
    """The stems of the words that tell something; of writing without spaces each pair of neighbours."""
    return frozenset(_words(text))


def _words(text: str) -> Iterable[str]:
    for run in _WORD.findall(text.casefold()):
        for part in _WITHOUT_SPACES.split(run):
            if _WITHOUT_SPACES.fullmatch(part):
                yield from (part[at : at + 2] for at in range(max(1, len(part) - 1)))
            elif part not in _SMALL:
                yield (part.removesuffix("s") if len(part) > 3 else part)[:STEM]


def _score(wanted: frozenset[str], memory: Memory) -> int:
    parts = (memory.name, memory.description, memory.text)
    return sum(weight * len(wanted & words_of(part)) for weight, part in zip(WEIGHTS, parts, strict=True))
