"""The arguments that a rule allows behind its fixed words, in any order and number.

    bash(pytest <paths -q -x -k= --tb=>)

`paths` are relative names that stay below the workspace, `names` are plain words such as the name of a test; an option
with `=` has a value. Short options may be joined (`-qx`). Anything else is outside: other options, `..`, patterns,
variables, `@file`.
"""

import posixpath
import re
from collections.abc import Sequence
from dataclasses import dataclass

from harness.permissions.shell.syntax import Word

WRITTEN = re.compile(r"(?P<front>.*\S)\s+<(?P<inside>[^<>]*)>", re.DOTALL)
_OPTION = re.compile(r"(-\w|--\w[\w-]*)=?")
_PATH = re.compile(r"[\w.][\w./:,+@\[\] -]*")
_NAME = re.compile(r"\w[\w:.-]*")
_SUFFIXES = frozenset({".py", ".js", ".mjs", ".cjs", ".ts", ".rb", ".pl", ".sh", ".bash", ".zsh"})
_BROUGHT = frozenset({"node_modules", "venv", "env", "site-packages", "vendor"})
_PART = re.compile(r"::|\[")
_VALUE = re.compile(r"(?!-)[\w.:,/\[\]() +=-]+")


@dataclass(frozen=True, slots=True)
class ArgumentSet:
    """What may follow. Make one with `parse_arguments`."""

    flags: frozenset[str]
    """Options without a value."""
    valued: frozenset[str]
    """Options with a value, without their `=`."""
    paths: bool
    names: bool

    def paths_among(self, words: Sequence[Word]) -> tuple[Word, ...] | None:
        """Those of the words that are paths; None where one of the words is outside the set."""
        paths: list[Word] = []
        value_next = False
        for word in words:
            text = word.text
            if not word.known:
                return None
            if value_next:
                value_next = False
                if not _VALUE.fullmatch(text):
                    return None
            elif text.startswith("-"):
                needs_value = self._needs_value(text)
                if needs_value is None:
                    return None
                value_next = needs_value
            elif self.paths and _PATH.fullmatch(text) and ".." not in text.split("/"):
                paths.append(word)
            elif not (self.names and _NAME.fullmatch(text)):
                return None
        return None if value_next else tuple(paths)

    def _needs_value(self, text: str) -> bool | None:
        """Whether the next word is the value of this option; None: it is not in the set."""
        if text.startswith("--"):
            name, equals, value = text.partition("=")
            if equals:
                return False if name in self.valued and _VALUE.fullmatch(value) else None
            return name in self.valued if name in self.flags | self.valued else None
        for number, letter in enumerate(text[1:], start=2):
            if f"-{letter}" in self.valued:
                value = text[number:].removeprefix("=")
                return not text[number:] or (False if _VALUE.fullmatch(value) else None)
            if f"-{letter}" not in self.flags:
                return None
        return False if len(text) > 1 else None


def is_script(text: str) -> bool:
    """A file of the project that is written by hand, not an interpreter or a tool that it has brought along."""
    parts = text.split("/")
    own = all(part and part[0] not in ".-~" and part not in _BROUGHT for part in parts)
    return own and posixpath.splitext(parts[-1])[1] in _SUFFIXES


def file_before(text: str) -> str:
    """The file in a name such as `tests/a.py::test_b[1]`; empty: it names no part of a file."""
    found = _PART.search(text)
    return "" if found is None else text[: found.start()]


def parse_arguments(text: str) -> ArgumentSet | None:
    """The set between the brackets of a rule; None if it is not understood."""
    parts = text.split()
    options = [part for part in parts if part not in ("paths", "names")]
    if not parts or not all(map(_OPTION.fullmatch, options)):
        return None
    return ArgumentSet(
        frozenset(option for option in options if not option.endswith("=")),
        frozenset(option[:-1] for option in options if option.endswith("=")),
        "paths" in parts,
        "names" in parts,
    )


def rule_in_words(rule: str) -> str:
    """A rule that allows, as a user reads it."""
    subject, bracket, inside = rule.partition("(")
    inside = inside.removesuffix(")")
    if not bracket or subject != "bash":
        return f"{subject} {inside}" if bracket else f"{rule}, whatever it is given"
    if (found := WRITTEN.fullmatch(inside)) is None:
        front = inside.removesuffix(" *")
        return f"{front} with any words after it" if front != inside else inside
    parts = found["inside"].split()
    kinds = {"paths": "other paths below this folder", "names": "other names"}
    options = " ".join(part.removesuffix("=") for part in parts if part not in kinds)
    what = " and ".join([*(text for kind, text in kinds.items() if kind in parts), *([options] if options else [])])
    return f"{found['front']} with {what}"
