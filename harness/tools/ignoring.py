"""The files of a folder as a developer means them: without .git and without what git ignores."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from pathspec import GitIgnoreSpec

RULE_FILE = ".gitignore"


def walk_files(base: Path, root: Path, stopped: Callable[[], bool] = lambda: False) -> Iterator[Path]:
    """Every regular file below `base`, folder by folder in the order of names; links to folders are not followed.

    The ignore rules are those of the .gitignore files from `root`, which holds `base`, down to each file, the deepest
    first. A base that is itself ignored was asked for by name, so the rules above it do not count. Ends early
    once `stopped` says so. Folders that cannot be read are left out.
    """
    rules = _rules_above(base, root)
    yield from _walk(base, rules, stopped)


Rules = tuple[tuple[Path, GitIgnoreSpec], ...]


def _walk(folder: Path, rules: Rules, stopped: Callable[[], bool]) -> Iterator[Path]:
    rules = _with_rules_of(folder, rules)
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        if stopped():
            return
        path = Path(entry.path)
        if entry.is_dir(follow_symlinks=False):
            if entry.name != ".git" and not _ignored(path, rules, is_folder=True):
                yield from _walk(path, rules, stopped)
        elif entry.is_file() and not _ignored(path, rules, is_folder=False):
            yield path


def _rules_above(base: Path, root: Path) -> Rules:
    rules: Rules = ()
    folders = [folder for folder in reversed(base.parents) if folder.is_relative_to(root)]
    for folder, below in zip(folders, [*folders[1:], base], strict=False):
        rules = _with_rules_of(folder, rules)
        if _ignored(below, rules, is_folder=True):
            return ()
    return rules


def _with_rules_of(folder: Path, rules: Rules) -> Rules:
    try:
        text = (folder / RULE_FILE).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return rules
    return ((folder, GitIgnoreSpec.from_lines(text.splitlines())), *rules)


def _ignored(path: Path, rules: Rules, *, is_folder: bool) -> bool:
    for folder, spec in rules:
        relative = os.path.relpath(path, folder) + ("/" if is_folder else "")
        verdict = spec.check_file(relative).include
        if verdict is not None:
            return verdict
    return False
