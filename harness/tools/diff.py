"""What changed between two texts, as a unified diff that is quick on large files too."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Literal

from harness.base.external_text import counted, visible

CONTEXT = 3
"""Unchanged lines shown around a change."""
LONGEST = 2_000
"""Changed regions of more lines than this are shown as one block; comparing them line by line takes too long."""
DIFF_CHARACTERS = 20_000
"""A diff is for display, so it need not be longer than anyone reads."""


@dataclass(frozen=True, slots=True)
class Diff:
    """A change in the unified format."""

    text: str
    """Whole lines, at most `DIFF_CHARACTERS` long; empty if nothing changed."""
    lines: int
    """Lines of the whole diff; `text` may be its beginning."""

    def __str__(self) -> str:
        left = self.lines - self.text.count("\n")
        return self.text + (f"… {counted(left, 'more line')}\n" if left else "")


def unified_diff(before: str, after: str, path: str) -> Diff:
    """The change of the file `path`. Control characters inside lines are escaped for display."""
    if before == after:
        return Diff("", 0)
    old, new = before.splitlines(keepends=True), after.splitlines(keepends=True)
    names = ("/dev/null" if not before else f"a/{path}", "/dev/null" if not after else f"b/{path}")
    text = visible(f"--- {names[0]}\n+++ {names[1]}\n" + "".join(_hunks(old, new)))
    shown = text if len(text) <= DIFF_CHARACTERS else text[: text.rfind("\n", 0, DIFF_CHARACTERS) + 1]
    return Diff(shown, text.count("\n"))


def _hunks(old: Sequence[str], new: Sequence[str]) -> Iterator[str]:
    start = _common(old, new)
    end = _common(old[start:][::-1], new[start:][::-1])
    first = max(0, start - CONTEXT)
    old_part = old[first : min(len(old), len(old) - end + CONTEXT)]
    new_part = new[first : min(len(new), len(new) - end + CONTEXT)]
    for group in _groups(old_part, new_part, start - first, min(end, CONTEXT)):
        old_from, old_to, new_from, new_to = group[0][1], group[-1][2], group[0][3], group[-1][4]
        yield f"@@ -{_range(old_from + first, old_to + first)} +{_range(new_from + first, new_to + first)} @@\n"
        for tag, i1, i2, j1, j2 in group:
            if tag == "equal":
                yield from (_line(" ", line) for line in old_part[i1:i2])
                continue
            yield from (_line("-", line) for line in old_part[i1:i2])
            yield from (_line("+", line) for line in new_part[j1:j2])


Opcode = tuple[str, int, int, int, int]
Tagged = tuple[Literal["replace", "delete", "insert", "equal"], int, int, int, int]


class _KnownOpcodes(SequenceMatcher[str]):
    """Groups opcodes that are known already."""

    def __init__(self, opcodes: list[Tagged]) -> None:
        super().__init__()
        self._opcodes = opcodes

    def get_opcodes(self) -> list[Tagged]:
        return self._opcodes


def _groups(old: Sequence[str], new: Sequence[str], before: int, after: int) -> Iterator[Sequence[Opcode]]:
    """`before` and `after`: unchanged lines at either end. They stay what they are, however alike the lines between
    them look; a hunk without its context at the end would fit at the end of a file only."""
    old_end, new_end = len(old) - after, len(new) - after
    between: Sequence[Tagged] = [("replace", 0, old_end - before, 0, new_end - before)]
    if max(len(old), len(new)) <= LONGEST:
        matcher = SequenceMatcher(None, old[before:old_end], new[before:new_end], autojunk=False)
        between = matcher.get_opcodes()
    opcodes: list[Tagged] = [("equal", 0, before, 0, before)] if before else []
    opcodes += [(tag, i1 + before, i2 + before, j1 + before, j2 + before) for tag, i1, i2, j1, j2 in between]
    opcodes += [("equal", old_end, len(old), new_end, len(new))] if after else []
    yield from _KnownOpcodes(opcodes).get_grouped_opcodes(CONTEXT)


def _common(old: Sequence[str], new: Sequence[str]) -> int:
    """How many lines are the same from the start."""
    return next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))


def _range(start: int, stop: int) -> str:
    length = stop - start
    if length == 1:
        return f"{start + 1}"
    return f"{start + 1 if length else start},{length}"


def _line(mark: str, line: str) -> str:
    body = line.rstrip("\r\n")
    return f"{mark}{body}\n" if line.endswith(("\n", "\r")) else f"{mark}{body}\n\\ No newline at end of file\n"
