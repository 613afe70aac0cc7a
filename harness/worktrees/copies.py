"""Ignored files that a new worktree needs as well, such as .env: git does not bring them along."""

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePosixPath

from harness.worktrees.git import WorktreeError

MOST_FILES = 50
MOST_BYTES = 1_000_000


def require_patterns(patterns: Sequence[str]) -> None:
    """Raises WorktreeError for a pattern that leads out of the repository, or everywhere in it."""
    for pattern in patterns:
        parts = PurePosixPath(pattern).parts
        if not parts or pattern.startswith(("/", "~")) or {"..", ".git", "**"}.intersection(parts):
            remedy = "name files in the repository, such as .env or config/*.local"
            raise WorktreeError(f"worktree_files has {pattern!r}: {remedy}.")


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
