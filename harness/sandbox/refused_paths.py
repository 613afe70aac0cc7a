"""Finds in the output of a finished command the paths that its sandbox refused it.

A sandbox tells nobody what it refuses; the command gets an error of the system and reports it in words of its own,
nearly always with a path. A path counts only if it, or the folder it would be made in, exists on the disk, this user
could use it, and the profile refuses it: so other failures that use the same words are left out.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path

from harness.base.files import real_path
from harness.sandbox.profile import Access, Profile, SandboxDenial

MOST_PATHS = 5

_NOT_ALLOWED = (
    *("permission denied", "read-only file system", "operation not permitted", "EACCES", "EROFS", "EPERM"),
    *("unable to open database file", "keine berechtigung", "das dateisystem ist nur lesbar"),
    *("die operation ist nicht erlaubt", "permission non accordée"),
    *("système de fichiers accessible en lecture seulement", "opération non permise", "許可がありません"),
    *("読み込み専用ファイルシステムです", "許可されていない操作です"),
)
_BUSY = (
    *("device or resource busy", "EBUSY", "could not remove", "das gerät oder die ressource ist belegt"),
    *("périphérique ou ressource occupé", "デバイスもしくはリソースがビジー状態です"),
)
"""Of what the sandbox keeps in its place."""
_NOT_THERE = (
    *("no such file or directory", "ENOENT", "does not exist", "not found", "cannot find module"),
    *("unable to normalize alternate object path", "no rule to make target", "datei oder verzeichnis nicht gefunden"),
    *("aucun fichier ou dossier de ce type", "そのようなファイルやディレクトリはありません"),
)
"""What bash, coreutils, git, make, Python, pip, node, npm, cargo and SQLite print, and the C library in German, French
and Japanese."""
_REFUSAL = re.compile(
    f"(?P<seen>{'|'.join(map(re.escape, _NOT_ALLOWED))}|(?P<busy>{'|'.join(map(re.escape, _BUSY))}))"
    f"|{'|'.join(map(re.escape, _NOT_THERE))}",
    re.IGNORECASE,
)
REFUSED = re.compile(
    "Permission(?: denied|Error)|Read-only file system|Operation not permitted|Device or resource busy"
)
"""Where a command that ended well may have been refused something."""
_QUOTED = re.compile(
    r"(?<!\w)'([^']+)'(?!\w)|\"([^\"]+)\"|`([^`']+)[`']|‘([^’]+)’|“([^”]+)”|«([^»]+)»|»([^«]+)«|„([^“]+)“|「([^」]+)」"
)
_WITH_FOLDER = re.compile(r"(?:^|(?<=[\s:=(]))[^\s:'\"`=(),;]*/[^\s:'\"`(),;]*")
_AFTER = re.compile(r"^(?: @ \w+ -|:) (/[^\s()]+)")
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_TRACE = re.compile(r'\s*(?:File "|at )')
"""A line of a stack trace: its path is that of running code."""
_LINES_BEFORE = 4
"""cargo names the path, and a few lines later the reason."""
_OF_EACH_SANDBOX = ("/proc", "/dev")


def refused_paths(output: str, profile: Profile, cwd: Path) -> tuple[SandboxDenial, ...]:
    """The paths that `profile` refused to a command with this output, at most `MOST_PATHS`; looks at the disk.

    Args:
        output: what the command wrote, stdout and stderr.
        profile: what it was held to.
        cwd: where it started; relative paths in the output count from there.
    """
    found: dict[str, None] = {}
    lines = [_COLOUR.sub("", line) for line in output.splitlines()]
    for number, line in enumerate(lines):
        for refusal in _REFUSAL.finditer(line):
            names = [*_quoted(line), *_bare(line[: refusal.start()], cwd), *_AFTER.findall(line[refusal.end() :])]
            if not line[: refusal.start()].strip() and not names:
                before = (one for one in lines[max(0, number - _LINES_BEFORE) : number] if not _TRACE.match(one))
                names = [name for one in before for name in _quoted(one)]
            refuses = _refuses_to_write if refusal["seen"] else _does_not_show
            paths = (Path(real_path(str(cwd / name))) for name in names if name.isprintable())
            outside = (path for path in paths if not any(map(path.is_relative_to, _OF_EACH_SANDBOX)))
            found |= dict.fromkeys(
                str(path) for path in outside if refuses(profile, path) or (refusal["busy"] and _pins(profile, path))
            )
    return tuple(SandboxDenial("path", path) for path in list(found)[:MOST_PATHS])


def _quoted(line: str) -> Iterator[str]:
    return (next(filter(None, groups)).strip() for groups in _QUOTED.findall(line))


def _bare(before: str, cwd: Path) -> list[str]:
    """Names without quotes before a refusal. As in `cat: name: Permission denied` one may have spaces, if it exists."""
    match before.split(": "):
        case [_, *_, name, ""] if " " not in name or os.path.lexists(cwd / name):
            return [name]
        case [_, *fields] if len(fields) > 1:  # the first one is the program
            return [name for field in fields for name in _WITH_FOLDER.findall(field)]
        case _:
            return _WITH_FOLDER.findall(before)


def _refuses_to_write(profile: Profile, path: Path) -> bool:
    match profile.access(str(path)):
        case Access.WRITE:
            return False
        case Access.NONE if os.path.lexists(path):
            return os.access(path, os.R_OK)
        case _:
            return os.access(path if os.path.lexists(path) else path.parent, os.W_OK)


def _pins(profile: Profile, path: Path) -> bool:
    """The folder is writable and may not be moved or removed, because of what is read-only in it."""
    around = any(str(one) in profile.writable for one in path.parents)
    return around and any(path in Path(one).parents for one in profile.read_only)


def _does_not_show(profile: Profile, path: Path) -> bool:
    """The path is not there for the command. Of one that does not exist at all, that holds if its folder is not."""
    if os.path.lexists(path):
        return profile.access(str(path)) is Access.NONE and os.access(path, os.R_OK)
    folder = f"{str(path.parent).rstrip('/')}/"
    shown = profile.access(str(path.parent)) is not Access.NONE or any(one.startswith(folder) for one in profile.places)
    return not shown and os.access(path.parent, os.W_OK)
