"""The lines of a unified diff for a reader: numbered, without headers, and with the changed words of each line."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from enum import Enum

from harness.base.external_text import visible

_HUNK = re.compile(r"@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@")
_WORD = re.compile(r"\w+|\s+|.", re.DOTALL)
MOST_COMPARED = 400
"""Characters of a line whose words are compared."""
LEAST_ALIKE = 0.4
"""Share of equal words above which one line counts as the changed other one; 1: all are equal."""


class DiffKind(Enum):
    """What a row of a diff is; the value is its sign."""

    SAME = " "
    ADDED = "+"
    REMOVED = "-"
    GAP = "⋮"
    """Unchanged lines were left out."""
    NOTE = "\\"
    """A remark about the line above, such as a missing end of line."""


@dataclass(frozen=True, slots=True)
class DiffRow:
    """One row of a diff."""

    kind: DiffKind
    text: str = ""
    """The line, without its sign."""
    number: int = 0
    """Its line number: in the old file if it was removed, else in the new one; 0 for gaps and notes."""
    changed: tuple[tuple[int, int], ...] = ()
    """Ranges of `text` that differ from the line it replaces or that replaces it."""


def path_of_diff(text: str) -> str | None:
    """The path of the new file of a diff; None: it is no diff."""
    if not text.startswith("--- "):
        return None
    after = text.split("\n", 2)[1:2]
    return after[0].removeprefix("+++ ") if after else ""


def diff_rows(text: str) -> list[DiffRow]:
    """The rows of a diff of one file, or of the beginning of one, without the changed words (`with_changed_words`).
    Control characters are made visible."""
    rows: list[DiffRow] = []
    old = new = 0
    for line in visible(text).removesuffix("\n").split("\n")[2:]:
        if (hunk := _HUNK.match(line)) is not None:
            rows += [DiffRow(DiffKind.GAP)] if rows else []
            old, new = int(hunk[1]), int(hunk[2])
            continue
        body = line[1:].rstrip("\r")
        match line[:1]:
            case "+":
                rows.append(DiffRow(DiffKind.ADDED, body, new))
                new += 1
            case "-":
                rows.append(DiffRow(DiffKind.REMOVED, body, old))
                old += 1
            case " " | "":
                rows.append(DiffRow(DiffKind.SAME, body, new))
                old, new = old + 1, new + 1
            case "\\":
                rows.append(DiffRow(DiffKind.NOTE, body.strip()))
            case _:  # such as "… 3 more lines"
                rows.append(DiffRow(DiffKind.GAP, line.removeprefix("… ")))
    return rows


def diff_lines(text: str) -> Iterator[str]:
    """The rows of a diff as plain lines: number, sign, text."""
    rows = diff_rows(text)
    width = number_width(rows)
    for row in rows:
        number = str(row.number) if row.number else ""
        yield f"{number:>{width}} {row.kind.value} {row.text}".rstrip()


def number_width(rows: Sequence[DiffRow]) -> int:
    """Cells of the largest line number."""
    return len(str(max((row.number for row in rows), default=0)))


def with_changed_words(rows: Sequence[DiffRow], most: int | None = None) -> list[DiffRow]:
    """The first `most` rows (None: all), with the changed words where removed lines are directly above the lines that
    replace them."""
    rows, start = list(rows), 0
    most = len(rows) if most is None else most
    while start < min(len(rows), most):
        middle = _end_of(rows, start, DiffKind.REMOVED)
        end = _end_of(rows, middle, DiffKind.ADDED)
        for old, new in zip(range(start, min(middle, most)), range(middle, end), strict=False):
            before, after = _changed(rows[old].text, rows[new].text)
            rows[old], rows[new] = replace(rows[old], changed=before), replace(rows[new], changed=after)
        start = max(end, start + 1)
    return rows[:most]


def _end_of(rows: Sequence[DiffRow], start: int, kind: DiffKind) -> int:
    return next((at for at in range(start, len(rows)) if rows[at].kind not in (kind, DiffKind.NOTE)), len(rows))


Ranges = tuple[tuple[int, int], ...]


def _changed(old: str, new: str) -> tuple[Ranges, Ranges]:
    """The ranges of two lines that differ; none where the lines have little in common."""
    if max(len(old), len(new)) > MOST_COMPARED:
        return (), ()
    before, after = _WORD.findall(old), _WORD.findall(new)
    matcher = SequenceMatcher(None, before, after, autojunk=False)
    blocks = matcher.get_matching_blocks()
    alike = sum(len("".join(before[block.a : block.a + block.size]).strip()) for block in blocks)
    if alike < LEAST_ALIKE * max(len(old.strip()), len(new.strip())):
        return (), ()
    changes = [opcode for opcode in matcher.get_opcodes() if opcode[0] != "equal"]
    return (
        tuple(_range(before, i1, i2) for _, i1, i2, _, _ in changes if i1 < i2),
        tuple(_range(after, j1, j2) for _, _, _, j1, j2 in changes if j1 < j2),
    )


def _range(words: Sequence[str], first: int, last: int) -> tuple[int, int]:
    start = sum(map(len, words[:first]))
    return start, start + sum(map(len, words[first:last]))
