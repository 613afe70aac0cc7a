"""Instruction files: how the user and the project want work to be done.

Yours are AGENTS.md beside your settings and CLAUDE.md in `~/.claude`; those of a project are in the workspace and in
the folders above it, up to the root of the git repository. `@path` in one of them imports another file. All are read
once, when a session begins, so that the system prompt and its cache stay the same. Those of folders below the
workspace are read when the agent first works on a file there (`engine.tools.folder_instructions`). A file above the
workspace that another user owns or may write is left out, and in the workspace one that another user put into a folder
of everyone. What they say is text for the model: no setting and no permission is ever read from them.
"""

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from harness.base.files import open_regular
from harness.engine.permissions.session_rules import surroundings_of
from harness.model.prompt import Instructions
from harness.settings import Settings
from harness.tools.ignored_files import is_ignored_folder

NAME = "AGENTS.md"
NAMES = (NAME, "CLAUDE.md", ".claude/CLAUDE.md", "CLAUDE.local.md")
"""Looked for in each folder of a project, in this order. Files with the same text are sent once."""
MOST_CHARACTERS = 32_000
"""Of all files together, about 8,000 tokens. The user's file comes first, then the folder nearest to the work."""
MOST_BYTES = 4 * MOST_CHARACTERS
"""Read of one file, whatever its size."""
MOST_HOPS = 5
"""Imports from one file to the next."""
MOST_IMPORTS = 100
"""Files that are imported in a session."""
PROSE = frozenset({".md", ".mdc", ".markdown", ".txt"})
"""Suffixes of text files. Outside the project only such files are imported. A missing file is reported only if it has
one of these: `@dataclass` and `@scope/package` are not imports."""
_OF_OTHERS = frozenset(
    {".git", ".tox", ".venv", "bower_components", "dist-packages", "node_modules", "site-packages", "vendor", "venv"}
)
"""Folders of other people's work. Their instructions are not about this project."""

_FENCE = re.compile(r" {0,3}(?P<sign>`{3,}|~{3,})(?P<rest>.*)")
_CODE = re.compile(r"(?P<sign>`+)(?!`).+?(?<!`)(?P=sign)(?!`)")
_IMPORT = re.compile(r"(?<!\S)@(?P<path>(?:[^\s\\]|\\.)+)")


@dataclass(frozen=True, slots=True)
class _Place:
    """Where files may be."""

    folder: Path
    names: tuple[str, ...]
    border: Path | None
    """The folder that a link must not leave; None: the user may link anywhere."""


@dataclass(frozen=True, slots=True)
class _Import:
    """`@path` in a file."""

    path: str
    line: int


def read_instructions(settings: Settings, report: Callable[[str], None]) -> tuple[Instructions, ...]:
    """The instruction files, the user's first, then from the root of the repository down to the workspace.

    An imported file follows the one that imports it. `report` receives a sentence for each file that was cut or left
    out. Nothing is read where the setting is off.
    """
    if not settings.instructions:
        return ()
    return _read(_Reader(settings, report), _places(settings), MOST_CHARACTERS, report)


def read_folder_instructions(
    settings: Settings, files: Iterable[Path], known: Iterable[Path], room: int, report: Callable[[str], None]
) -> tuple[Instructions, ...]:
    """The instruction files of the folders between the workspace and these files, from the top down.

    Nothing is read of folders that git ignores or that hold the work of others, such as node_modules.

    Args:
        files: links resolved.
        known: instruction files that are not read again.
        room: most characters of all together; the nearest folders come first.
        report: as in `read_instructions`.
    """
    workspace = settings.workspace.resolve()
    folders = {folder for file in files for folder in file.parents if workspace in folder.parents}
    own = [folder for folder in folders if not _OF_OTHERS.intersection(folder.relative_to(workspace).parts)]
    deepest_first = sorted(own, key=lambda folder: (len(folder.parts), folder), reverse=True)
    border = project_folders(workspace)[-1]
    places = (_Place(one, NAMES, border) for one in deepest_first if not is_ignored_folder(one, workspace))
    return _read(_Reader(settings, report, known), places, room, report)


def _read(
    reader: "_Reader", places: Iterable[_Place], room: int, report: Callable[[str], None]
) -> tuple[Instructions, ...]:
    """The files of these places: the user's, then those of the project, the last place first."""
    of_user: list[Instructions] = []
    of_project: list[list[Instructions]] = []
    for place in places:
        kept: list[Instructions] = []
        for file, text in reader.read(place):
            fitting = _within(text, room)
            if fitting != text:
                report(f"{file} is cut: instructions of more than {MOST_CHARACTERS:,} characters are not sent.")
            room -= len(fitting)
            if fitting:
                kept.append(Instructions(str(file), fitting, from_user=place.border is None))
        if place.border is None:
            of_user += kept
        else:
            of_project.insert(0, kept)
    return (*of_user, *(one for kept in of_project for one in kept))


def project_folders(workspace: Path) -> tuple[Path, ...]:
    """The workspace and the folders above it up to the root of the repository; the workspace alone outside of one."""
    above = (workspace, *workspace.parents)
    for number, folder in enumerate(above, 1):
        with suppress(OSError):
            if (folder / ".git").exists():
                return above[:number]
    return above[:1]


def _places(settings: Settings) -> Iterator[_Place]:
    if settings.user_dir is not None:
        yield _Place(settings.user_dir, (NAME,), None)
    if settings.home_dir is not None:
        yield _Place(settings.home_dir / ".claude", ("CLAUDE.md",), None)
    folders = project_folders(settings.workspace.resolve())
    for folder in folders:
        yield _Place(folder, NAMES, folders[-1])


class _Reader:
    """Reads the files of a session, each once."""

    def __init__(self, settings: Settings, report: Callable[[str], None], known: Iterable[Path] = ()) -> None:
        self._report = report
        self._read = set(known)
        self._imported = 0
        workspace = settings.workspace.resolve()
        self._workspace = workspace
        self._project = project_folders(workspace)[-1]
        self._home = settings.home_dir.resolve() if settings.home_dir else None
        self._own = None if settings.user_dir is None else settings.user_dir.resolve()
        self._surroundings = surroundings_of(workspace)

    def read(self, place: _Place) -> Iterator[tuple[Path, str]]:
        """The files of this place that say something, each followed by what it imports."""
        texts: set[str] = set()
        for name in place.names:
            file = place.folder / name
            if (found := self._resolved(file)) is None:
                continue
            if place.border is not None and not found.is_relative_to(place.border):
                self._left_out(file, f"it leads to {found}, outside of the project")
            elif found not in self._read and (text := self._text(file, found)):
                said = text.strip()
                if said not in texts:
                    texts.add(said)
                    yield from self._with_imports(file, text, place.border is None, 0)

    def _with_imports(self, file: Path, text: str, from_user: bool, hops: int) -> Iterator[tuple[Path, str]]:
        inner: list[tuple[Path, str]] = []
        rest = text.splitlines()
        for one in _imports(text):
            if (found := self._imports(file, one, from_user)) is None:
                continue
            if rest[one.line - 1].strip() == f"@{one.path}":
                rest[one.line - 1] = ""
            if found in self._read:
                continue
            where = f"{file}, line {one.line}: @{one.path}"
            if hops == MOST_HOPS:
                self._left_out(where, f"it is more than {MOST_HOPS} imports away from the first file")
            elif self._imported == MOST_IMPORTS:
                self._left_out(where, f"more than {MOST_IMPORTS} files are not imported")
            elif imported := self._text(where, found):
                self._imported += 1
                inner += self._with_imports(found, imported, from_user, hops + 1)
        if any(line.strip() for line in rest):  # a file of nothing but imports says nothing itself
            yield file, text.strip()
        yield from inner

    def _imports(self, file: Path, one: _Import, from_user: bool) -> Path | None:
        """The file that an import leads to, links resolved; None: none that can be used, which is reported."""
        where, name = f"{file}, line {one.line}: @{one.path}", one.path.replace("\\ ", " ")
        if name.startswith("~/"):
            if self._home is None:
                return None
            named = self._home / name[2:]
        else:
            named = file.parent / name
        try:
            found = named.resolve(strict=True)
            if found.is_dir():
                return None
        except (OSError, RuntimeError, ValueError) as error:
            if named.suffix.lower() in PROSE:
                missing = isinstance(error, FileNotFoundError | NotADirectoryError)
                self._left_out(where, "there is no such file" if missing else "it cannot be read")
            return None
        prose = found.suffix.lower() in PROSE
        of_ours = self._own is not None and found.is_relative_to(self._own) and prose
        if not (found.is_relative_to(self._project) or of_ours or (prose and self._in_home(found, from_user))):
            self._left_out(where, "it is outside of the project, and no text in your folder .claude")
            return None
        if not of_ours and self._surroundings.key((str(named), str(found))):
            self._left_out(where, "it may hold keys")
            return None
        return found

    def _in_home(self, found: Path, from_user: bool) -> bool:
        """User files may import from the home folder, project files only from .claude in it."""
        return self._home is not None and found.is_relative_to(self._home if from_user else self._home / ".claude")

    def _resolved(self, file: Path) -> Path | None:
        try:
            return file.resolve(strict=True)
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle
            self._left_out(file, getattr(error, "strerror", None) or "it cannot be read")
            return None

    def _text(self, shown: Path | str, found: Path) -> str:
        """What the file says; "" where it cannot be used, which is reported as `shown`."""
        self._read.add(found)
        try:
            with open_regular(found) as opened:
                if why := self._of_others(os.fstat(opened.fileno()), found):
                    self._left_out(shown, why)
                    return ""
                data = opened.read(MOST_BYTES)
        except OSError as error:
            self._left_out(shown, error.strerror or "it cannot be read")
            return ""
        if b"\0" in data:
            self._left_out(shown, "it is no text in UTF-8")
            return ""
        text = data.decode("utf-8-sig", "replace")
        return text if text.strip() else ""

    def _of_others(self, file: os.stat_result, found: Path) -> str:
        """Why a file may have been put there by another user; empty: it was not.

        You, root and the owner of the workspace are trusted: whoever owns the workspace decides what is in it, up to
        a folder that every user may write.
        """
        if found.is_relative_to(self._workspace) and not found.parent.stat().st_mode & stat.S_IWOTH:
            return ""
        if file.st_uid not in {os.geteuid(), 0, self._workspace.stat().st_uid}:
            return f"it belongs to another user (uid {file.st_uid})"
        if not found.is_relative_to(self._workspace) and (file.st_mode | found.parent.stat().st_mode) & stat.S_IWOTH:
            return "every user of this machine can write to it or its folder"
        return ""

    def _left_out(self, what: Path | str, why: str) -> None:
        self._report(f"{what} is left out: {why}.")


def _imports(text: str) -> Iterator[_Import]:
    """The imports of a text, without those in its code (CommonMark 4.5 and 6.1)."""
    fence = ""
    for number, line in enumerate(text.splitlines(), 1):
        match = _FENCE.match(line)
        if fence:
            if match and match["sign"].startswith(fence) and not match["rest"].strip():
                fence = ""
            continue
        if match and not (match["sign"].startswith("`") and "`" in match["rest"]):
            fence = match["sign"]
            continue
        for found in _IMPORT.finditer(_CODE.sub("`", line)):
            if path := found["path"].rstrip(".,;:!?)]}'\"*_"):
                yield _Import(path, number)


def _within(text: str, room: int) -> str:
    """The whole lines of a text that have room; of a single long line what fits."""
    if len(text) <= room:
        return text
    return text[: text.rfind("\n", 0, room) + 1].rstrip() or text[:room].rstrip()
