"""The folders that a stdio server needs besides the workspace, by its command line, environment and folder."""

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

_PATH = re.compile(r"(?:^|[\s=:,;\"'])(~?/[^\s=:,;\"']*)")
_MODULES = "node_modules"
_SYSTEM = ("usr", "bin", "sbin", "lib", "lib64", "etc", "opt", "nix", "gnu", "snap", "proc", "sys", "dev", "boot")
"""Folders at the top that every program reads and that no server needs to write."""


def named_paths(words: Iterable[str]) -> tuple[str, ...]:
    """What the user has named, links resolved: folders as they are, the folder of a file, and for a program what is
    installed with it. Neither the system nor what is above the home, and the home only where it is named; of a file
    there the file alone.

    Looks at the disk.
    """
    home = os.path.realpath(Path.home())
    named = (Path(one).expanduser() for word in words for one in _in(word))
    return tuple(dict.fromkeys(path for one in named for path in _allowed(one, home)))


def _allowed(named: Path, home: str) -> Iterator[str]:
    folder, exact = _needed(named), os.path.realpath(named)
    if not _of_user(exact):
        return
    resolved = os.path.realpath(folder)
    if (
        folder.is_dir()
        and _of_user(resolved)
        and (not Path(home).is_relative_to(resolved) or resolved == exact == home)
    ):
        yield resolved
    elif named.is_file():
        yield exact


def _of_user(path: str) -> bool:
    return len(parts := Path(path).parts) > 1 and parts[1] not in _SYSTEM


def _in(word: str) -> Iterator[str]:
    if word.startswith(("/", "~/")):
        yield word
    yield from _PATH.findall(word)


def _needed(path: Path) -> Path:
    return path if path.is_dir() else next((one for one in (*_installed(path), path.parent) if one.is_dir()), path)


def _installed(path: Path) -> Iterator[Path]:
    """The folder of the packages that a program belongs to."""
    if _MODULES in path.parts:
        yield Path(*path.parts[: path.parts.index(_MODULES) + 1])
    if path.parent.name in ("bin", "Scripts") and (path.parent.parent / "pyvenv.cfg").is_file():
        yield path.parent.parent
