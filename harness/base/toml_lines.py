"""On which line a key of a TOML file stands; the parser of the standard library does not tell.

For text that the parser has taken already. Texts and comments are masked first, so that what looks like a table in
them is none; names are then read from the lines at the outermost level.
"""

import re

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


def places(text: str) -> dict[Path, int]:
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
    """The text with the same length and lines, in which nothing inside quotes or a comment can be mistaken."""
    return _MASKED.sub(
        lambda match: re.sub(r"[^\n]", "_", match[0]) if match[0][0] != "#" else " " * len(match[0]), text
    )


def _names(text: str) -> Path:
    return tuple(next(filter(None, match), "") for match in _NAME.findall(text)[:DEEPEST])
