"""Cases that are data: a text file beside the test, `git.txt` for `test_git.py`, with one case on each line.

A file begins with comments ("# ") that say what its columns mean. `== NAME` begins a table, ` => ` divides
columns. `␊`, `␉`, `␀` and the like are control characters, `␣` is a space at an end of a column, `⍽` a
no-break space.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest

STANDS_FOR = {0x2423: " ", 0x237D: "\u00a0"} | {0x2400 + code: chr(code) for code in range(32)}


class Line(str):
    """Text of a data file that names its line when a test shows it."""

    __slots__ = ("where",)

    where: str

    def __repr__(self) -> str:
        return f"{str.__repr__(self)} ({self.where})"


@cache
def _tables(path: Path) -> dict[str, list[list[Line]]]:
    tables: dict[str, list[list[Line]]] = {}
    for number, text in enumerate(path.read_text("utf-8").split("\n"), 1):
        if text.startswith("== "):
            current = tables.setdefault(text[3:], [])
        elif text and not text.startswith("# "):
            row = [Line(column.translate(STANDS_FOR)) for column in f"{text} ".split(" => ")]
            row[-1] = Line(row[-1][:-1])
            for column in row:
                column.where = f"{path.name}:{number}"
            current.append(row)
    return tables


def _table(test: str, name: str) -> list[list[Line]]:
    path = Path(test)
    return _tables(path.with_name(f"{path.stem.removeprefix('test_')}.txt"))[name]


def lines(test: str, name: str) -> list[str]:
    """The first column of a table; `test`: the `__file__` of the test."""
    return [row[0] for row in _table(test, name)]


def rows(test: str, name: str, *kinds: Callable[[str], Any]) -> list[tuple[Any, ...]]:
    """The rows of a table; `kinds` make values of the texts, column by column."""
    table = _table(test, name)
    if not kinds:
        return [tuple(row) for row in table]
    return [tuple(kind(text) for kind, text in zip(kinds, row, strict=True)) for row in table]


def cases(test: str, name: str, arguments: str, *kinds: Callable[[str], Any]) -> pytest.MarkDecorator:
    """Run a test once for each row, with the columns as `arguments`; the id of a case is its line."""
    found = zip(rows(test, name, *kinds), _table(test, name), strict=True)
    return pytest.mark.parametrize(arguments.split(), [pytest.param(*row, id=texts[0].where) for row, texts in found])


def grouped(test: str, name: str) -> dict[str, list[str]]:
    """The values of the second column under each one of the first."""
    groups: dict[str, list[str]] = {}
    for key, value in rows(test, name):
        groups.setdefault(key, []).append(value)
    return groups


def yes(text: str) -> bool:
    """Whether a column says yes."""
    return {"yes": True, "no": False}[text]


def none_or(kind: Callable[[str], Any]) -> Callable[[str], Any]:
    """A column that is `none` or of this kind."""
    return lambda text: None if text == "none" else kind(text)


def members(text: str) -> set[str]:
    """The parts of a column in any order."""
    return set(parts(text))


def parts(text: str) -> list[str]:
    """The parts of a column, divided by `; `."""
    return text.split("; ") if text else []
