"""Which files git reads its settings from, and which hooks and programs those name.

Read without git, which would say only what holds at the moment: a command can switch to the branch that a conditional
include is about. So every include counts, whatever its condition, also where git would stop at a mistake.
https://git-scm.com/docs/git-config
"""

import os
import posixpath
import re
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from itertools import islice
from pathlib import Path

from harness.base.files import NotRegularError, read_regular, real_path
from harness.sandbox.git_places import linked_trees, with_inner

_MOST_BYTES, _MOST_FILES, _MOST_NAMES = 2_000_000, 500, 20_000
"""Of one file; of the files for one folder of git; of the paths that may be named there."""
_CLOCK_NS = 20_000_000
"""The coarse clock of file systems, in nanoseconds."""
_QUOTED = r'"(?:[^\n\\"]|\\(?:\r?\n|[^\n]))*"'
_PARTS = re.compile(
    rf"""\[ \s* (?P<section>[\w.-]+) (?:\s* (?P<inner>{_QUOTED}))? \s* \]
    | (?P<key>[A-Za-z][\w-]*) [^\S\n]* (?: = (?P<value>(?: [^\n\\"\#;] | \\(?:\r?\n|[^\n]) | {_QUOTED} )*) )?
    | [\#;] .*""",
    re.VERBOSE,
)
"""The next header of a section, setting or comment."""
_ESCAPED = re.compile(r'\\(.)|"', re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "b": "\b"}
_FOLDERS = ("hookspath", "templatedir")
_READ = (*_FOLDERS, "excludesfile", "attributesfile", "template", "allowedsignersfile")
"""Settings whose value is a path."""
_ONLY_TEXT = {
    *("aliasesfile", "description", "email", "excludesfile", "fetch", "file", "ignorerevsfile", "merge", "name"),
    *("push", "remote", "signingkey", "template"),
}
"""Settings whose values are neither run nor obeyed, and may be names of files."""
_HOME = re.compile(r"\$(?:HOME|\{HOME\})(?=/)")
_BETWEEN = re.compile(r"[\s\"'`;:|&(){}<>=!,]+|\$\w*")
"""What stands between words for a shell; of `$(pwd)/ci/check` and `$TOP/ci/check`, /ci/check is left."""

Setting = tuple[str, str, str]
"""A section, with what it has in quotes behind a space; a key; a value. The first words are in small letters."""


def settings_in(text: str) -> Iterator[Setting]:
    """The settings of a file that have a value, in its order. Pure."""
    section = ""
    for part in _PARTS.finditer(text):
        if part["section"]:
            section = part["section"].lower() + (f" {_plain(part['inner'])}" if part["inner"] else "")
        elif part["value"] is not None:
            yield section, part["key"].lower(), _plain(part["value"])


class GitSettings:
    """The settings that git has for one user."""

    def __init__(self, home: str, environ: Mapping[str, str]) -> None:
        """`environ`: the variables that git has outside the sandbox."""
        self._home = home
        config, own = environ.get("XDG_CONFIG_HOME") or f"{home}/.config", environ.get("GIT_CONFIG_GLOBAL")
        self._of_user = (own,) if own else (f"{config}/git/config", f"{home}/.gitconfig")
        self._of_all = (environ.get("GIT_CONFIG_SYSTEM") or "/etc/gitconfig", *self._of_user)
        count = environ.get("GIT_CONFIG_COUNT", "")
        numbers = range(min(int(count), _MOST_FILES) if count.isdecimal() else 0)
        pairs = [[environ.get(f"GIT_CONFIG_{kind}_{one}", "") for kind in ("KEY", "VALUE")] for one in numbers]
        keys = [key.lower().rpartition(".") for key, _ in pairs]
        self._given = [(section, key, value) for (section, _, key), (_, value) in zip(keys, pairs, strict=True)]

    def of_user(self) -> Iterator[str]:
        """The files with the settings of the user, and those that git reads because of them."""
        files, settings, _ = self._read(self._of_user)
        yield from files
        for _, key, value in settings:
            if key in _READ:
                yield posixpath.join(self._home, self._expanded(value))

    def named(self, folders: Mapping[str, str], writable: Sequence[str]) -> tuple[list[str], bool]:
        """What exists below `writable` of the files with the settings of these folders of git, and of the hooks and
        programs that they name; and whether that is all.

        Paths are absolute, with links resolved.

        Args:
            folders: each with the working tree that it was found by; empty: by none.
        """
        found: dict[str, None] = {}
        complete = True
        for folder in dict.fromkeys(each for one in folders for each in with_inner(one)):
            if posixpath.basename(posixpath.dirname(folder)) == "worktrees":
                continue  # with its repository
            trees = linked_trees(folder)
            own = (f"{one}/config{end}" for one in (folder, *trees.values()) for end in ("", ".worktree"))
            files, settings, every = self._read((*self._of_all, *own))
            tops = [*filter(None, (folders.get(folder),)), *map(posixpath.dirname, trees)]
            tops += [posixpath.join(folder, value) for _, key, value in settings if key == "worktree"]
            names = ((key, path) for _, key, value in settings for path in self._paths(key, value, (*tops, folder)))
            first = [("hookspath", f"{folder}/hooks"), *islice(names, _MOST_NAMES)]
            complete = complete and every and len(first) <= _MOST_NAMES
            paths = [path for path in files if not posixpath.isdir(path)]
            paths += (one for key, path in first for one in _files_at(path, folder, is_hooks=key in _FOLDERS))
            real = (real_path(path) for path in paths if posixpath.exists(path))
            found |= dict.fromkeys(path for path in real if any(path.startswith(f"{one}/") for one in writable))
        return list(found), complete

    def _read(self, starts: Iterable[str]) -> tuple[list[str], list[Setting], bool]:
        """The files that git reads, beginning with these, also missing ones; their settings; whether that is all."""
        files: dict[str, None] = {}
        settings = list(self._given)
        left = [*starts, *(value for section, key, value in settings if _includes(section, key))]
        for _ in range(_MOST_FILES):
            if not left:
                break
            folder, name = posixpath.split(left.pop())
            folder = real_path(folder)
            path = posixpath.join(folder, name)
            if path in files:
                continue
            files[path] = None
            if (read := _settings_of(path)) is None:
                return list(files), settings, False
            settings += read
            left += (posixpath.join(folder, self._expanded(one[2])) for one in read if _includes(*one[:2]))
        return list(files), settings, not left

    def _paths(self, key: str, value: str, folders: Iterable[str]) -> Iterator[str]:
        """What a value may name, for a program that runs in one of these folders."""
        words = (value,) if key in _FOLDERS else () if key in _ONLY_TEXT else _words(value)
        for word in words:
            for folder in folders:
                yield posixpath.join(folder, self._expanded(word))
                if word.startswith("/"):
                    yield folder + word

    def _expanded(self, path: str) -> str:
        return self._home + path[1:] if path.startswith("~/") else path


def _includes(section: str, key: str) -> bool:
    return section.startswith("include") and key == "path"


def _plain(written: str) -> str:
    """A value without quotes and backslashes."""
    joined = written.replace("\\\r\n", "").replace("\\\n", "").strip(" \t\r\n")
    return _ESCAPED.sub(lambda one: _ESCAPES.get(one[1], one[1] or ""), joined)


def _settings_of(path: str) -> list[Setting] | None:
    """The settings in a file; None: it is too large to be read."""
    try:
        status = Path(path).stat()
        is_recent = time.time_ns() - status.st_ctime_ns < _CLOCK_NS
        parse = _parsed.__wrapped__ if is_recent else _parsed
        return parse(path, (status.st_ino, status.st_size, status.st_ctime_ns))
    except NotRegularError:
        return None if posixpath.isfile(path) else []
    except (OSError, ValueError):
        return []


@lru_cache(maxsize=1_024)
def _parsed(path: str, _: tuple[int, int, int]) -> list[Setting]:
    return list(settings_in(read_regular(Path(path), _MOST_BYTES).decode(errors="surrogateescape")))


@lru_cache(maxsize=4_096)
def _words(value: str) -> tuple[str, ...]:
    """A value, and its words where it is a line for a shell."""
    words = _BETWEEN.split(_HOME.sub("~", value))
    return tuple(dict.fromkeys(word for word in (value, *words) if word.strip("./")))


def _files_at(path: str, folder: str, *, is_hooks: bool) -> Iterator[str]:
    """A file, or a folder of hooks or of a program; of hooks also what links lead to. Of a folder around the folder of
    git only what can be run: the rest is in use."""
    if not posixpath.isdir(path):
        yield path
    elif is_hooks:
        around = f"{folder}/".startswith(f"{real_path(path)}/")
        yield from () if around else (path,)
        with suppress(OSError), os.scandir(path) as entries:
            yield from (
                one.path
                for one in entries
                if not one.is_dir() and (one.is_symlink() or around) and os.access(one.path, os.X_OK)
            )
    elif posixpath.isfile(f"{path}/__main__.py"):
        yield path
