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
    """The folders that the user has named, links resolved: folders as they are, the folder of a file, and for a program
    what is installed with it. Neither the system nor what is above the home, and the home only where it is named.

    Looks at the disk.
    """
    home = os.path.realpath(Path.home())
    named = (Path(one).expanduser() for word in words for one in _in(word))
    folders = dict.fromkeys((os.path.realpath(folder), folder == one) for one in named for folder in _needed(one))
    return tuple(folder for folder, exactly in folders if _may(folder, home, exactly=exactly))


def _in(word: str) -> Iterator[str]:
    if word.startswith(("/", "~/")):
        yield word
    yield from _PATH.findall(word)


def _may(folder: str, home: str, *, exactly: bool) -> bool:
    parts = Path(folder).parts
    if len(parts) < 2 or parts[1] in _SYSTEM or not Path(folder).is_dir():
        return False
    return not Path(home).is_relative_to(folder) or (exactly and folder == home)


def _needed(path: Path) -> Iterator[Path]:
    if path.is_dir():
        yield path
        return
    yield next((one for one in (*_installed(path), path.parent) if one.is_dir()), path)


def _installed(path: Path) -> Iterator[Path]:
    """The folder of the packages that a program belongs to."""
    if _MODULES in path.parts:
        yield Path(*path.parts[: path.parts.index(_MODULES) + 1])
    if path.parent.name in ("bin", "Scripts") and (path.parent.parent / "pyvenv.cfg").is_file():
        yield path.parent.parent
