"""What has to be allowed before a call may run: its commands and its paths, each by itself."""

import posixpath
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from harness.permissions.dangerous import dangers, dangers_of, without_global_options
from harness.permissions.harmless import READERS, harmless_assignment, looks
from harness.permissions.names import names
from harness.permissions.options import Arguments
from harness.permissions.shell.through import Run, base_name, runs_of
from harness.permissions.shell.words import Assignment, Redirect, Simple, Unreadable, Word, WordKind
from harness.permissions.surroundings import HARMLESS_TARGETS, Surroundings
from harness.permissions.values import PermissionRequest
from harness.tools.tool import Effect

SHELL = "bash"
MOST_FOLDERS = 4
"""Folders that a line may be in at one place, because a cd may have failed."""
LONGEST_PATH = 300

_CHANGES_FILES = names(
    "cp mv tee rm rmdir unlink touch mkdir ln install truncate rsync chmod chown chgrp dd split csplit patch shred"
)


class NeedKind(Enum):
    """What is needed."""

    COMMAND = "command"
    READ = "read"
    WRITE = "write"
    TOUCH = "touch"
    """A path among the words of a command of which it is not known what it does with it."""
    TOOL = "tool"
    UNREADABLE = "unreadable"


@dataclass(frozen=True, slots=True)
class Need:
    """One thing that has to be allowed."""

    kind: NeedKind
    shown: str
    """The part of the call that it is about, as written."""
    tool: str = SHELL
    words: tuple[Word, ...] = ()
    """The command, or that which has the path among its words."""
    assignments: tuple[Assignment, ...] = ()
    paths: tuple[str, ...] = ()
    """Absolute, and more than one where it is not certain in which folder the command runs. None: not known."""
    pattern: bool = False
    """The paths are file patterns."""
    looks: bool = False
    """The command does nothing but look."""
    dangers: tuple[str, ...] = ()
    """Why a person is asked in every case."""
    implied: bool = False
    """Whoever allows the command has allowed this, unless there is something the matter with it."""

    @property
    def shell(self) -> bool:
        """It is part of a command line."""
        return self.tool == SHELL


def needs_of(request: PermissionRequest, around: Surroundings) -> tuple[Need, ...]:
    """What a call needs. Looks at nothing but the call itself."""
    command = request.input.get("command")
    if request.tool == SHELL and request.effect is Effect.RUN and isinstance(command, str):
        try:
            return tuple(_Line(around).needs(runs_of(command)))
        except Unreadable as unreadable:
            return (Need(NeedKind.UNREADABLE, str(unreadable)),)
    path = request.input.get("path", "." if request.effect is Effect.READ else None)
    if request.effect in (Effect.READ, Effect.WRITE) and isinstance(path, str):
        kind = NeedKind.READ if request.effect is Effect.READ else NeedKind.WRITE
        joined = around.joined(path, around.workspace)
        return (Need(kind, path, request.tool, paths=(joined,)),)
    return (Need(NeedKind.TOOL, request.summary, request.tool),)


def paths_of(needs: tuple[Need, ...]) -> dict[str, bool]:
    """Every path that has to be looked up before the needs can be judged, and whether it is a file pattern."""
    return {path: need.pattern for need in sorted(needs, key=lambda need: need.pattern) for path in need.paths}


class _Line:
    """The needs of one command line, and in which folders its commands may run."""

    def __init__(self, around: Surroundings) -> None:
        self._around = around
        self._folders = [around.workspace]
        self._lost = False

    def needs(self, runs: tuple[Run, ...]) -> Iterator[Need]:
        for run in runs:
            yield from self._command(run)
            for redirect in run.simple.redirects:
                yield self._redirect(redirect)

    def _command(self, run: Run) -> Iterator[Need]:
        simple = run.simple
        if not simple.words:
            if not all(map(harmless_assignment, simple.assignments)):
                yield Need(NeedKind.COMMAND, simple.text, assignments=simple.assignments, dangers=dangers(simple))
            return
        looking = looks(simple, limited=run.limited)
        name = base_name(simple.words[0].text)
        if name in ("cd", "pushd", "popd"):
            yield from self._change_folder(simple, name)
            return
        yield Need(
            NeedKind.COMMAND,
            simple.text,
            words=simple.words,
            assignments=simple.assignments,
            looks=looking is not None and not self._lost,
            dangers=dangers_of(run),
            implied=run.inside or (run.transparent and all(map(harmless_assignment, simple.assignments))),
        )
        if looking is not None:
            kind, words = NeedKind.READ, looking.reads
        else:
            changes = name in _CHANGES_FILES or (name == "sed" and Arguments(simple.words[1:]).has("i", "--in-place"))
            kind = NeedKind.WRITE if changes else NeedKind.TOUCH
            words = _places(simple, name)
        yield from self._paths(kind, words, simple)

    def _paths(self, kind: NeedKind, words: tuple[Word, ...], simple: Simple) -> Iterator[Need]:
        for word in words:
            if word.kind is WordKind.UNKNOWN:
                if kind is NeedKind.WRITE or simple.program in READERS:
                    known = kind if kind is NeedKind.WRITE else NeedKind.READ
                    yield Need(known, word.text, words=simple.words, implied=True)
            elif word.kind is not WordKind.PIPE and len(word.text) <= LONGEST_PATH and "://" not in word.text:
                pattern = word.kind is WordKind.GLOB
                yield Need(
                    *(kind, word.text), words=simple.words, paths=self._joined(word), pattern=pattern, implied=True
                )

    def _redirect(self, redirect: Redirect) -> Need:
        target = redirect.target
        kind = NeedKind.WRITE if redirect.writes else NeedKind.READ
        shown = f"{redirect.operator} {target.text}"
        if target.kind is WordKind.PIPE or (target.known and _is_harmless_target(target.text, redirect.writes)):
            return Need(kind, shown, looks=True)
        if target.kind is not WordKind.LITERAL or self._lost:
            return Need(kind, shown, dangers=("which file that is, is known only when the shell has run",))
        return Need(kind, shown, paths=self._joined(target), implied=not redirect.writes)

    def _change_folder(self, simple: Simple, name: str) -> Iterator[Need]:
        rest = [word for word in simple.words[1:] if word.text not in ("-P", "-L", "--", "-e")]
        home = Word("~", home=True)
        target = rest[0] if rest else home
        plain = name == "cd" and len(rest) <= 1 and target.kind is WordKind.LITERAL and target.text not in ("-", "")
        if not plain or simple.repeated or simple.assignments or len(self._folders) >= MOST_FOLDERS:
            self._lost = True
            yield Need(NeedKind.COMMAND, simple.text, words=simple.words, assignments=simple.assignments)
            return
        found = self._joined(target)
        yield Need(NeedKind.COMMAND, simple.text, words=simple.words, looks=True)
        yield Need(NeedKind.READ, target.text, words=simple.words, paths=found, implied=True)
        self._folders += [path for path in found if path not in self._folders]

    def _joined(self, word: Word) -> tuple[str, ...]:
        if word.text.startswith("~/") and not word.home:
            return tuple(f"{folder}/{word.text}" for folder in self._folders)
        return tuple(dict.fromkeys(self._around.joined(word.text, folder) for folder in self._folders))


def _places(simple: Simple, name: str) -> tuple[Word, ...]:
    """What of a command's words may be paths."""
    arguments = Arguments(simple.words[1:])
    words = arguments.paths
    if name == "git":
        words = without_global_options(arguments.words).paths
    values = tuple(
        Word(value, word.kind)
        for word in words
        for value in (word.text.partition("=")[2], word.text.removeprefix("@") if word.text[:1] == "@" else "")
        if value
    )
    program = simple.words[:1] if "/" in simple.words[0].text else ()
    return tuple(word for word in (*program, *words, *values) if "\n" not in word.text)


def _is_harmless_target(text: str, writes: bool) -> bool:
    """Nothing is lost there, and what reads there comes to an end."""
    return text in (HARMLESS_TARGETS if writes else ("/dev/null",)) or posixpath.dirname(text) == "/dev/fd"
