"""The one look at the disk before a decision about a call."""

import os
import re
import stat
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import count
from pathlib import Path

from harness.base.files import home_folder, read_regular
from harness.checkpoints.git import GitError, ask
from harness.permissions import PermissionRequest, Permissions
from harness.permissions.disk import Disk, FileTree, TreeContents
from harness.processes.git_safety import excludes_of, password_in_config, programs_in_config
from harness.tools.glob_patterns import name_regex
from harness.tools.ignored_files import MOST_RULE_BYTES

MOST_MATCHES = 2_000
"""Files that a pattern may fit to be looked up."""
MOST_ENTRIES = 200_000
"""Entries of a tree that are looked at."""
STUCK_S = 60.0
"""Seconds after which git counts as stuck. What there is to see never depends on the time, only on `MOST_ENTRIES`."""
IGNORE_FILES = (".gitignore", ".ignore", ".rgignore", ".fdignore")
_EXCLUDES = re.compile(rb"(?im)^\s*excludesfile\s*=\s*\"?\s*(\S+?)\s*\"?\s*$")
"""The user's own file of patterns, as ripgrep looks for it in the settings of git."""
_WILD = re.compile(r"[*?\[]")


def disk_of(permissions: Permissions, request: PermissionRequest) -> Disk:
    """The answers to what the decision wants to know. What is too much to look up is left out, and so counts as not
    known."""
    asked = permissions.questions(request)

    def matters(path: str) -> bool:
        return permissions.matters(path) and (permissions.withholds(path, content=False) or not _is_certificate(path))

    places: dict[str, tuple[str, ...]] = {path: (_real(path),) for path in asked.paths}
    matches = {}
    for pattern in asked.patterns:
        if (found := _matches(pattern)) is not None:
            matches[pattern] = tuple(sorted(found))
            places[pattern] = tuple(sorted({_real(pattern), *map(_real, found)}))
    return Disk(
        places,
        matches,
        {tree: _known(tree, matters) for tree in asked.trees},
        frozenset(filter(os.path.lexists, asked.programs)),
        {folder: programs_in_config(Path(folder)) or "" for folder in asked.repositories},
        {folder: password_in_config(Path(folder)) or "" for folder in asked.addresses},
    )


def _is_certificate(path: str) -> bool:
    """A file whose name may be that of a key, and that holds certificates or public keys only."""
    if not path.casefold().endswith((".pem", ".key")):
        return False
    try:
        data = read_regular(Path(path), MOST_RULE_BYTES)
    except OSError:
        return False
    return data.lstrip().startswith((b"-----BEGIN CERTIFICATE", b"-----BEGIN PUBLIC KEY")) and b"PRIVATE" not in data


def _real(path: str) -> str:
    try:
        return str(Path(path).resolve())
    except (OSError, ValueError, RuntimeError):  # a name too long, links in a circle: nothing that could be opened
        return os.path.normpath(path)


# ── patterns ────────────────────────────────────────────────────────────────────────────────────


def _matches(pattern: str) -> set[str] | None:
    """What bash may put in place of an absolute pattern; None where that is too much.

    Brackets are not taken apart: from the first one on any name fits, which is more than bash finds and never less.
    """
    found = {"/"}
    for part in filter(None, pattern.split("/")):
        if _WILD.search(part):
            fits = re.compile(_part_regex(part), re.DOTALL).fullmatch
            names = ((folder.rstrip("/"), name) for folder in found for name in _names(folder, part))
            following = {f"{folder}/{name}" for folder, name in names if fits(name)}
        else:
            following = {f"{folder.rstrip('/')}/{part}" for folder in found}
            following = following if len(following) == 1 else set(filter(os.path.lexists, following))
        if len(following) > MOST_MATCHES:
            return None
        found = following
    return set(filter(os.path.lexists, found))


def _names(folder: str, part: str) -> Iterator[str]:
    """The names in a folder that a part of a pattern may fit: hidden ones only where it begins with a dot."""
    hidden = part.startswith(".")
    yield from ((".", "..") if hidden else ())  # which bash 5.1 and older find, too
    yield from (entry.name for entry in _entries_of(folder) if hidden or not entry.name.startswith("."))


def _part_regex(part: str) -> str:
    literal, bracket, _ = part.partition("[")
    tokens = ["" if char == "*" else "[^/]" if char == "?" else re.escape(char) for char in literal]
    return name_regex([*tokens, ""] if bracket else tokens)


def _entries_of(folder: str) -> Iterator[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            yield from entries
    except OSError:
        return  # no folder, or not ours to read: bash finds nothing there either


# ── trees ───────────────────────────────────────────────────────────────────────────────────────


def _known(tree: FileTree, matters: Callable[[str], bool]) -> TreeContents:
    try:
        return _contents(tree, matters)
    except GitError:
        return TreeContents(complete=False)


def _contents(tree: FileTree, matters: Callable[[str], bool], most: int = MOST_ENTRIES) -> TreeContents:
    """The files in a tree, up to so many entries."""
    if tree.pattern:
        return _of_all(tree, matters, most)
    return _of_one(tree, matters, count(), most)


def _of_one(tree: FileTree, matters: Callable[[str], bool], seen: Iterator[int], most: int) -> TreeContents:
    """`seen` counts the entries."""
    fits = re.compile("|".join(map(_part_regex, tree.names or ("*",))), re.DOTALL).fullmatch
    left_out = re.compile("|".join(map(_part_regex, tree.without)) or "(?!)", re.DOTALL).fullmatch
    root = _real(tree.folder)
    files: set[str] = set()
    complete = True
    entries = _tracked(root) if tree.tracked else _walk(root, hidden=tree.hidden)
    for (path, is_link), number in zip(entries, seen, strict=False):
        if number >= most:
            return TreeContents(tuple(sorted(files)), complete=False)
        name = path.rpartition("/")[2]
        if not fits(name) or left_out(name):
            complete = complete and not (tree.entered and is_link and _is_folder(path))
            continue
        if matters(path):
            files.add(path)
        if tree.links and is_link:
            target = _real(path)
            files.add(target)
            complete = complete and not _is_folder(target)
    return TreeContents(tuple(sorted(files)), complete)


def _of_all(tree: FileTree, matters: Callable[[str], bool], most: int) -> TreeContents:
    """The files in all folders that match a pattern."""
    matches = _matches(tree.folder)
    if matches is None:
        return TreeContents(complete=False)
    seen, each = count(), (replace(tree, folder=match, pattern=False) for match in sorted(matches))
    found = [_of_one(one, matters, seen, most) for one in each]
    return TreeContents(
        tuple(sorted({file for contents in found for file in contents.files})),
        all(contents.complete for contents in found),
    )


def _walk(root: str, *, hidden: bool) -> Iterator[tuple[str, bool]]:
    """Every file below a folder, or the file itself, and whether it is a link.

    Without `hidden`, names that begin with a dot are left out, up to a folder whose ignore file brings some back.
    """
    if not _is_folder(root):
        yield root, False
        return
    hidden = hidden or any(map(_names_again, _own_ignore_files()))
    hidden = hidden or any(map(_brings_back, map(str, Path(root).parents)))
    waiting = [root]
    while waiting:
        folder = waiting.pop()
        hidden = hidden or _brings_back(folder)
        for entry in _entries_of(folder):
            if entry.name.startswith(".") and not hidden:
                continue
            if entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
            else:
                yield entry.path, entry.is_symlink()


def _brings_back(folder: str) -> bool:
    """An ignore file here has a line with a !, which makes rg and fd search what they would pass over."""
    if any(_names_again(Path(folder, name)) for name in IGNORE_FILES):
        return True
    git = Path(folder, ".git")
    if git.is_dir():
        return _names_again(git / "info" / "exclude")
    return os.path.lexists(git) and ((excluded := excludes_of(Path(folder))) is None or _names_again(excluded))


def _own_ignore_files() -> Iterator[Path]:
    """Those of the user, which rg and fd obey in every folder."""
    home = home_folder()
    for settings in dict.fromkeys((Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config"), home / ".config")):
        yield from (settings / "git" / "ignore", settings / "fd" / "ignore")
        for written in (home / ".gitconfig", settings / "git" / "config"):
            with suppress(OSError, RuntimeError):
                for found in _EXCLUDES.findall(read_regular(written, MOST_RULE_BYTES)):
                    yield Path(os.fsdecode(found)).expanduser()


def _names_again(file: Path) -> bool:
    try:
        return re.search(rb"(?m)^(\xef\xbb\xbf)?\s*!", read_regular(file, MOST_RULE_BYTES)) is not None
    except (FileNotFoundError, NotADirectoryError):
        return False
    except (OSError, ValueError):
        return True  # too large, or no file: what it says is not known


def _tracked(folder: str) -> Iterator[tuple[str, bool]]:
    """Every file below a folder that git tracks, wherever its index says that it is. Raises GitError."""
    listed = ask("ls-files", "-z", cwd=Path(folder), time_s=STUCK_S, fine=(0, 128)).printed
    for name in filter(None, os.fsdecode(listed).split("\0")):
        path = os.path.normpath(f"{folder}/{name}")
        yield path, _real(path) != path


def _is_folder(path: str) -> bool:
    try:
        return stat.S_ISDIR(os.stat(path).st_mode)  # noqa: PTH116  as above
    except (OSError, ValueError):
        return False
