"""TOML from outside: reading it in bounded time, and the line of each key."""

import re
import tomllib
from typing import Any

MOST_PARTS = 64
"""Of a dotted key. `tomllib` takes the square of their number: minutes for a key of 50,000."""
_PART = r"""(?:[\w-]+|"[^"\n]*"|'[^'\n]*')[ \t]*\.[ \t]*"""
_LONG_KEY = re.compile(rf"(?:^|[{{,])[ \t\[]*+(?:{_PART}){{{MOST_PARTS}}}", re.MULTILINE)


def toml_of(text: str) -> dict[str, Any]:
    """The tables of a TOML text. Raises what `tomllib.loads` does, TOMLDecodeError also for a key of too many parts."""
    if found := _LONG_KEY.search(text):
        line = text.count("\n", 0, found.end()) + 1
        raise tomllib.TOMLDecodeError(f"A key has more than {MOST_PARTS} parts (at line {line}, column 1)")
    return tomllib.loads(text)


DEEPEST = 16
"""Parts of a path that are looked at."""
Path = tuple[str, ...]
"""Names from the outermost table to the key; a table of a list is followed by its number, from "0"."""

_MASKED = re.compile(
    r'"""(?:\\.|[^\\])*?"""|\'\'\'.*?\'\'\'|"(?:\\.|[^"\\\n])*"|\'[^\'\n]*\'|#[^\n]*',
    re.DOTALL,
)
_HEADER = re.compile(r"\s*\[(\[?)([^\[\]]+)\]")
_KEY = re.compile(r"\s*([^\[\]{}=]+?)\s*=")
_NAME = re.compile(r'"((?:\\.|[^"\\])*)"|\'([^\']*)\'|([\w-]+)')


def key_lines(text: str) -> dict[Path, int]:
    """Lines of tables and keys, from 1, by their path. Keys inside a value are not in it."""
    found: dict[Path, int] = {}
    numbers: dict[Path, int] = {}
    table: Path = ()
    depth = at = 0
    for number, line in enumerate(_masked(text).split("\n"), 1):
        if depth == 0 and (header := _HEADER.match(line)):
            table = _names(text[at + header.start(2) : at + header.end(2)])
            found.setdefault(table, number)
            if header[1]:
                numbers[table] = numbers.get(table, -1) + 1
                table = (*table, str(numbers[table]))
                found.setdefault(table, number)
        else:
            if depth == 0 and (key := _KEY.match(line)):
                names = _names(text[at + key.start(1) : at + key.end(1)])
                for length in range(1, len(names) + 1):
                    found.setdefault((*table, *names[:length]), number)
            depth += sum(line.count(bracket) for bracket in "[{") - sum(line.count(bracket) for bracket in "]}")
        at += len(line) + 1
    return found


def _masked(text: str) -> str:
    """The text with quotes and comments masked; length and lines stay the same."""
    return _MASKED.sub(
        lambda match: re.sub(r"[^\n]", "_", match[0]) if match[0][0] != "#" else " " * len(match[0]), text
    )


def _names(text: str) -> Path:
    return tuple(next(filter(None, match), "") for match in _NAME.findall(text)[:DEEPEST])
