"""Ignored files that a new worktree needs as well, such as .env: git does not bring them along."""

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

MOST_FILES = 50
MOST_BYTES = 1_000_000


def copied(main: Path, tree: Path, patterns: Sequence[str]) -> None:
    """Copy the regular files that fit and that the tree does not have. Links are left out."""
    for source in list(_found(main, patterns))[:MOST_FILES]:
        target = tree / source.relative_to(main)
        if os.path.lexists(target) or Path(os.path.realpath(target.parent)) != target.parent:
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(source, target)


def _found(main: Path, patterns: Sequence[str]) -> Iterator[Path]:
    for pattern in patterns:
        for path in sorted(main.glob(pattern)):
            inside = Path(os.path.realpath(path)) == path
            if inside and path.is_file() and path.stat().st_size <= MOST_BYTES:
                yield path
