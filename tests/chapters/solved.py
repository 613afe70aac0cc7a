"""The files of exercises with a right solution in them.

`solutions/ID.txt` holds the imports that a solution needs, then its pieces, one for each gap of the file, behind a line
`── part ──`.
"""

import ast
import re
from pathlib import Path

from chapters.course.checks.exercises import Exercise

SOLUTIONS = Path(__file__).parent / "solutions"
GAP = re.compile(r"(# ── your part begins [^\n]*\n).*?( *# ── your part ends [^\n]*\n)", re.DOTALL)


def solution_of(exercise: Exercise, folder: Path) -> Path:
    """Write the solved file of an exercise into a folder; returns its path."""
    imports, *parts = (SOLUTIONS / f"{exercise.id}.txt").read_text("utf-8").split("── part ──\n")
    text = exercise.original.read_text("utf-8")
    first = max(node.end_lineno or 0 for node in ast.parse(text).body if isinstance(node, ast.Import | ast.ImportFrom))
    lines = text.splitlines(keepends=True)
    pieces = iter(parts)
    solved = GAP.sub(lambda gap: f"{gap[1]}{next(pieces)}{gap[2]}", "".join((*lines[:first], imports, *lines[first:])))
    assert not list(pieces), "each part has a gap"
    file = folder / exercise.file
    file.write_text(solved, "utf-8")
    return file


def lines_of(exercise: Exercise) -> list[str]:
    """The lines of a solution, without those of the file that a learner gets."""
    given = {line.strip() for line in exercise.original.read_text("utf-8").splitlines()}
    written = (SOLUTIONS / f"{exercise.id}.txt").read_text("utf-8").splitlines()
    return [line.strip() for line in written if line.strip() not in given and not line.startswith("──")]
