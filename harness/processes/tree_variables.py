"""Environment variables that tell the worktrees of a workspace apart, for ports and databases (docs/worktrees.md)."""

import json
from collections.abc import Mapping
from pathlib import Path

from harness.base.files import read_regular

NUMBERS = ".numbers.json"
"""Beside the worktrees of a workspace: the number of each, by the name of its folder."""
NAME, NUMBER = "HARNESS_WORKTREE", "HARNESS_WORKTREE_NUMBER"
_MOST_BYTES = 100_000


def numbers_in(folder: Path) -> dict[str, int]:
    """The numbers of the worktrees in a folder; empty where there is no such file."""
    try:
        found = json.loads(read_regular(folder / NUMBERS, _MOST_BYTES))
    except (OSError, ValueError):
        return {}
    return {name: one for name, one in found.items() if type(one) is int} if isinstance(found, dict) else {}


def with_number(environment: Mapping[str, str], workspace: Path) -> dict[str, str]:
    """The environment of a command in a workspace, with name and number of the worktree that it is in."""
    kept = {name: value for name, value in environment.items() if name not in (NAME, NUMBER)}
    for top in (workspace, *workspace.parents):
        if (number := numbers_in(top.parent).get(top.name)) is not None:
            return {**kept, NAME: top.name.replace("+", "/"), NUMBER: str(number)}
    return kept
