"""The arguments of a command, parsed as most programs do."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from harness.permissions.shell.syntax import Word


@dataclass(frozen=True)
class ParsedArguments:
    """The words behind a program, or behind its subcommand."""

    words: tuple[Word, ...]

    @cached_property
    def options(self) -> tuple[Word, ...]:
        """Words that begin with a dash, before a --."""
        return tuple(word for word in self._before_dashes if word.text.startswith("-") and word.text != "-")

    @cached_property
    def positionals(self) -> tuple[Word, ...]:
        """All other words, the values of options too: which is which only the program knows."""
        before = self._before_dashes
        rest = self.words[len(before) + 1 :]
        return tuple(word for word in before if not word.text.startswith("-") or word.text == "-") + rest

    @cached_property
    def _before_dashes(self) -> tuple[Word, ...]:
        texts = [word.text for word in self.words]
        return self.words[: texts.index("--")] if "--" in texts else self.words

    def has(self, short: str = "", *long: str) -> bool:
        """One of these options is given, alone, in a cluster of short ones, or as the beginning of a long one."""
        return any(_is(word.text, short, long) for word in self.options)

    def values(self, text: str) -> tuple[str, ...]:
        """The rest of a word that begins with `text`, such as of= of dd."""
        return tuple(word.text[len(text) :] for word in self.words if word.text.startswith(text))

    @cached_property
    def paths(self) -> tuple[Word, ...]:
        """What may be a path: every other word, and the value inside an option."""
        found = list(self.positionals)
        for option in self.options:
            _, equals, value = option.text.partition("=")
            if equals:
                found.append(Word(value, option.kind, home=value.startswith("~/")))
            elif not option.text.startswith("--"):
                found += [Word(value, option.kind) for value in _glued(option.text)]
        return tuple(word for word in found if word.text and word.text != "-")


def _glued(cluster: str) -> list[str]:
    """What may be the value behind a cluster of short options; where it begins, only the program knows."""
    begin = re.search(r"[/.~]", cluster)
    values = [cluster[number:] for number in range(2, min(len(cluster), 6))]
    return list(dict.fromkeys([*values, *([cluster[begin.start() :]] if begin else [])]))


def _is(given: str, short: str, long: Sequence[str]) -> bool:
    if given.startswith("--"):
        name = given.partition("=")[0]
        return len(name) > 2 and any(option.startswith(name) for option in long)
    return any(letter in given[1:] for letter in short) or given.partition("=")[0] in long
