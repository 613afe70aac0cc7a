"""The files of a folder as a developer means them: without .git and without what git ignores."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

from harness.base.files import read_regular
from harness.tools.gitignore import IgnoreRule, parse_gitignore, verdict
from harness.tools.glob_patterns import Glob

RULE_FILE = ".gitignore"
MOST_RULE_BYTES = 1_000_000
"""A larger .gitignore was not written by hand; it is left out."""

Rules = tuple[tuple[str, tuple[IgnoreRule, ...]], ...]
"""The rules of each folder that has some, the deepest first; a folder is written with a slash at its end."""


def walk_files(base: Path, root: Path, stopped: Callable[[], bool] = lambda: False) -> Iterator[str]:
    """The absolute path of every regular file below `base`, a folder's files before its folders, each by name.

    Links to folders are not followed, and links to files outside of `root` are left out. The ignore rules are those of
    the .gitignore files from `root`, which holds `base`, down to each file, the deepest first. A base that is itself
    ignored was asked for by name, so the rules above it do not count. Ends early once `stopped` says so. Folders
    that cannot be read are left out.
    """
    for entry, ignored in walk(base, root, stopped):
        if not ignored and _is_file_inside(entry, root):
            yield entry.path


def fitting_files(
    base: Path, root: Path, glob: Glob, left_out: list[str], stopped: Callable[[], bool] = lambda: False
) -> Iterator[str]:
    """The absolute paths of the files below `base` that fit a pattern, which may begin there or at `root`.

    An ignored folder that the pattern begins with is searched. Others, with a slash at their end, and ignored files
    that fit are added to `left_out`.
    """
    folder = base / glob.folder
    named = bool(glob.folder) and folder.is_dir() and folder.resolve() == folder and ".git" not in folder.parts
    starts = {len(f"{place}/".replace("//", "/")) for place in (base, root)}

    def fits(path: str) -> bool:
        found = [glob.fits(path[start:]) for start in starts]
        return all(found) if glob.excludes else any(found)

    for entry, ignored in walk(folder if named else base, root, stopped):
        if ignored:
            if entry.is_dir(follow_symlinks=False):
                left_out.append(f"{entry.path}/")
            elif fits(entry.path):
                left_out.append(entry.path)
        elif fits(entry.path) and _is_file_inside(entry, root):
            yield entry.path


def walk(
    base: Path, root: Path, stopped: Callable[[], bool] = lambda: False
) -> Iterator[tuple[os.DirEntry[str], bool]]:
    """Everything below `base` that is no folder, links and pipes too, and whether it is ignored; as `walk_files`.

    A folder that is ignored, or that cannot be read, is one entry, and nothing below it is.
    """
    waiting: list[tuple[str, os.DirEntry[str] | None, Rules]] = [(str(base), None, _rules_above(base, root) or ())]
    while waiting and not stopped():
        folder, itself, rules = waiting.pop()
        try:
            entries = _entries(folder)
        except OSError:
            if itself is not None:
                yield itself, False
            continue
        rules = _with_rules_of(folder, rules)
        folders: list[tuple[str, os.DirEntry[str] | None, Rules]] = []
        for entry in entries:
            if stopped():
                return
            if not entry.is_dir(follow_symlinks=False):
                yield entry, _ignored(entry.path, rules)
            elif entry.name != ".git":
                if _ignored(entry.path + "/", rules):
                    yield entry, True
                else:
                    folders.append((entry.path, entry, rules))
        waiting += reversed(folders)


def _entries(folder: str) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as found:
        return sorted(found, key=lambda entry: entry.name)


def _is_file_inside(entry: os.DirEntry[str], root: Path) -> bool:
    try:
        return entry.is_file() and (not entry.is_symlink() or Path(entry.path).resolve().is_relative_to(root))
    except (OSError, RuntimeError):  # a link that leads back to itself is no file
        return False


def is_ignored_folder(folder: Path, root: Path) -> bool:
    """Whether git ignores this folder, by the .gitignore files from `root` down."""
    return _rules_above(folder, root) is None


def _rules_above(base: Path, root: Path) -> Rules | None:
    """The rules of the folders above `base`; None: they ignore it."""
    rules: Rules = ()
    folders = [folder for folder in reversed(base.parents) if folder.is_relative_to(root)]
    for folder, below in zip(folders, [*folders[1:], base], strict=False):
        rules = _with_rules_of(str(folder), rules)
        if _ignored(f"{below}/", rules):
            return None
    return rules


def _with_rules_of(folder: str, rules: Rules) -> Rules:
    prefix = folder.rstrip("/") + "/"
    try:
        text = read_regular(Path(prefix + RULE_FILE), MOST_RULE_BYTES).decode("utf-8", "replace")
    except OSError:
        return rules
    return ((prefix, parse_gitignore(text)), *rules)


def _ignored(path: str, rules: Rules) -> bool:
    for prefix, own in rules:
        ignored = verdict(own, path[len(prefix) :])
        if ignored is not None:
            return ignored
    return False
