"""What has to be allowed before a call may run: its commands and its paths, each by itself."""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from itertools import count

from harness.permissions.arguments import Arguments
from harness.permissions.dangerous import dangers, dangers_of
from harness.permissions.decision import PermissionRequest
from harness.permissions.disk import Questions, Tree
from harness.permissions.file_listing import Listing, listing, searched_names, unsearched_names
from harness.permissions.programs import PROGRAMS, Parsed, Program, Role, Use, parse
from harness.permissions.programs.git import global_options
from harness.permissions.programs.git_views import CONFIG_FILE
from harness.permissions.programs.grammar import HERE, LOOKING
from harness.permissions.protected_places import HARMLESS_SOURCES, HARMLESS_TARGETS, Surroundings
from harness.permissions.shell.runs import Run, base_name, runs_of
from harness.permissions.shell.words import Assignment, Redirect, Simple, Unreadable, Word, WordKind
from harness.permissions.variables import harmless_assignment, showable
from harness.tools.tool import Effect

SHELL = "bash"
MOST_FOLDERS = 6
"""Folders that a line may be in at one place, because a cd may have failed."""
_SYSTEM_FOLDERS = frozenset({"/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"})


class NeedKind(Enum):
    """What is needed."""

    COMMAND = "command"
    LIST = "list"
    """Names, sizes or dates of a path are shown."""
    READ = "read"
    TREE = "tree"
    """Every file of a folder is read, or those whose names a listing passes on."""
    WRITE = "write"
    EXECUTE = "execute"
    TOUCH = "touch"
    """A path among the words of a command of which it is not known what it does with it."""
    PROGRAM = "program"
    """A file of the workspace would run under the name of a program of the system."""
    REPOSITORY = "repository"
    """git runs in a folder, and obeys the configuration of the repository there."""
    ADDRESSES = "addresses"
    """git shows the addresses of that configuration."""
    TOOL = "tool"
    UNREADABLE = "unreadable"


_PATTERN = re.compile(r"[*?\[]")
_VARIABLE = re.compile(r"\$\{?(\w+)")
_SUBSTITUTION = re.compile(r"\$\(|`")
_COUNT = re.compile(r"\|\s*wc( -[lwcm])?\s*[)`]$")
"""The end of a substitution that is a number."""
READS = frozenset({NeedKind.READ, NeedKind.TREE, NeedKind.LIST, NeedKind.EXECUTE})
_KINDS = {
    Role.LIST: NeedKind.LIST,
    Role.READ: NeedKind.READ,
    Role.TREE: NeedKind.TREE,
    Role.FOLLOWED: NeedKind.TREE,
    Role.TRACKED: NeedKind.TREE,
    Role.CHANGED: NeedKind.TREE,
    Role.WRITE: NeedKind.WRITE,
    Role.EXECUTE: NeedKind.EXECUTE,
}


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
    trees: tuple[Tree, ...] = ()
    """What is looked through below the paths."""
    listed: bool = False
    """The names of the files are passed on, so that an odd one would be taken for something else."""
    turning: bool = False
    """A name that begins with a dash would be taken for an option."""
    looks: bool = False
    """The command does nothing but look."""
    shows: tuple[str, ...] = ()
    """Variables that it uses, and that may hold a secret."""
    dangers: tuple[str, ...] = ()
    """Why a person is asked in every case."""
    implied: bool = False
    """Whoever allows the command has allowed this, unless there is something the matter with it."""
    held: bool = True
    """The tool itself keeps to the workspace, so that the path need not be looked at for that."""

    @property
    def shell(self) -> bool:
        """It is part of a command line."""
        return self.tool == SHELL


def needs_of(request: PermissionRequest, around: Surroundings) -> tuple[Need, ...]:
    """What a call needs. Looks at nothing but the call itself."""
    command = request.input.get("command")
    if request.tool == SHELL and request.effect is Effect.RUN and isinstance(command, str):
        try:
            return tuple(_Line(around).needs(runs_of(command, around.dialect)))
        except Unreadable as unreadable:
            return (Need(NeedKind.UNREADABLE, str(unreadable)),)
    path = request.input.get("path", "." if request.effect is Effect.READ else None)
    if request.effect in (Effect.READ, Effect.WRITE) and isinstance(path, str):
        kind = NeedKind.READ if request.effect is Effect.READ else NeedKind.WRITE
        joined = around.joined(path, around.workspace)
        return (Need(kind, path, request.tool, paths=(joined,), held=request.outside is None),)
    return (Need(NeedKind.TOOL, request.summary, request.tool),)


def questions_of(needs: tuple[Need, ...]) -> Questions:
    """Everything that has to be looked up before the needs can be judged."""
    by_kind = {
        kind: frozenset(path for need in needs if need.kind is kind for path in need.paths)
        for kind in (NeedKind.PROGRAM, NeedKind.REPOSITORY, NeedKind.ADDRESSES)
    }
    plain = [need for need in needs if need.kind not in by_kind]
    return Questions(
        frozenset(path for need in plain if not need.pattern for path in need.paths),
        frozenset(path for need in plain if need.pattern for path in need.paths),
        frozenset(tree for need in plain for tree in need.trees),
        by_kind[NeedKind.PROGRAM],
        by_kind[NeedKind.REPOSITORY],
        by_kind[NeedKind.ADDRESSES],
    )


class _Line:
    """The needs of one command line, and in which folders its commands may run."""

    def __init__(self, around: Surroundings) -> None:
        self._around = around
        self._folders = [around.workspace]
        self._lost = False
        self._assigned: set[str] = set()
        self._patterned: set[str] = set()
        """Variables whose values may hold file patterns, which the shell looks up where they stand without quotes."""

    def needs(self, runs: tuple[Run, ...]) -> Iterator[Need]:
        for run in runs:
            yield from self._command(run)
            for redirect in run.simple.redirects:
                yield self._redirect(redirect)
            assigned = {one.name for one in run.simple.assignments}
            self._assigned |= assigned
            text = run.simple.text
            if _PATTERN.search(text) or not self._patterned.isdisjoint(_VARIABLE.findall(text)):
                self._patterned |= assigned

    # ── commands ────────────────────────────────────────────────────────────────────────────────

    def _command(self, run: Run) -> Iterator[Need]:
        simple = run.simple
        shows = tuple(name for name in simple.variables if not (showable(name) or name in self._assigned))
        if not simple.words:
            harmless = all(map(harmless_assignment, simple.assignments))
            if shows or not harmless or any(map(self._becomes_names, simple.looped)):
                kind, dangerous = NeedKind.COMMAND, dangers(simple)
                yield Need(kind, simple.text, assignments=simple.assignments, shows=shows, dangers=dangerous)
            for word in simple.looped:
                if word.kind is WordKind.GLOB:
                    yield from self._path(NeedKind.LIST, word, simple)
            return
        name = base_name(simple.words[0].text)
        if name in ("cd", "pushd", "popd"):
            yield from self._change_folder(simple, name)
            return
        found = _Understood.of(run, name)
        looks = found is not None and self._only_looks(run, found.parsed) and not shows
        yield Need(
            NeedKind.COMMAND,
            simple.text,
            words=simple.words,
            assignments=simple.assignments,
            looks=looks,
            shows=shows,
            dangers=dangers_of(run),
            implied=run.inside or (run.transparent and all(map(harmless_assignment, simple.assignments))),
        )
        yield from self._of_words(simple, name, found, looks=looks)
        if looks:
            yield from self._around_it(simple, name, found.parsed if found else None)

    def _only_looks(self, run: Run, parsed: Parsed) -> bool:
        program = run.simple.program or ""
        folder = posixpath.dirname(program)
        return (
            not self._lost
            and program == (f"{folder}/" if folder else "") + base_name(program)
            and (not folder or folder in _SYSTEM_FOLDERS)
            and all(map(harmless_assignment, run.simple.assignments))
            and parsed.looks
            and (run.limited or parsed.ends)
            and not any(map(self._becomes_names, run.simple.words))
        )

    def _becomes_names(self, word: Word) -> bool:
        """The shell may put the names of files in its place, and nobody knows in which folder they are."""
        if word.kind is not WordKind.UNKNOWN or not word.split or listing(word.listed_by) is not None:
            return False
        if _SUBSTITUTION.search(word.text) and _PATTERN.search(word.text) and not _COUNT.search(word.text):
            return True
        return not self._patterned.isdisjoint(_VARIABLE.findall(word.text))

    def _of_words(self, simple: Simple, name: str, found: "_Understood | None", *, looks: bool) -> Iterator[Need]:
        program = PROGRAMS.get(name)
        if "/" in simple.words[0].text and not looks:
            yield from self._path(NeedKind.EXECUTE, simple.words[0], simple)
        if found is None:
            yield from self._not_understood(simple, name, program)
            return
        for use in found.parsed.uses:
            if use.word in found.listings:
                yield from self._listed(use.role, use.word, found.listings[use.word], simple)
            elif use.role is Role.TEXT:
                if use.word.kind is WordKind.GLOB:
                    yield from self._path(NeedKind.LIST, use.word, simple)
            elif use.role is not Role.COMMAND and not (looks and use is CONFIG_FILE):
                turning = use.word in found.parsed.turning
                yield from self._path(_KINDS[use.role], use.word, simple, use, found.parsed, turning=turning)

    def _not_understood(self, simple: Simple, name: str, program: Program | None) -> Iterator[Need]:
        """Any of the words may be a path, and what becomes of it is not known."""
        for word in _places(simple, name):
            if word.kind is not WordKind.UNKNOWN:
                yield from self._path(NeedKind.TOUCH, word, simple)
        if program is not None and any(word.kind is WordKind.UNKNOWN for word in simple.words):
            for role, kind in ((Role.READ, NeedKind.READ), (Role.WRITE, NeedKind.WRITE)):
                if role in (*program.operands, program.last):
                    yield Need(kind, simple.text, words=simple.words, implied=True)

    def _around_it(self, simple: Simple, name: str, parsed: Parsed | None) -> Iterator[Need]:
        """What else has to hold for a command that only looks."""
        if self._around.programs_inside and "/" not in simple.words[0].text:
            files = tuple(f"{folder}/{name}" for folder in self._around.programs_inside)
            yield Need(NeedKind.PROGRAM, simple.words[0].text, words=simple.words, paths=files, implied=True)
        if name == "git":
            folders = self._joined(HERE if parsed is None or parsed.folder is None else parsed.folder)
            yield Need(NeedKind.REPOSITORY, simple.text, words=simple.words, paths=folders, implied=True)
            if parsed is not None and CONFIG_FILE in parsed.uses:
                yield Need(NeedKind.ADDRESSES, simple.text, words=simple.words, paths=folders, implied=True)

    # ── paths ───────────────────────────────────────────────────────────────────────────────────

    def _path(
        self,
        kind: NeedKind,
        word: Word,
        simple: Simple,
        use: Use | None = None,
        parsed: Parsed | None = None,
        *,
        turning: bool = False,
    ) -> Iterator[Need]:
        text = word.text
        if word.kind is WordKind.PIPE or text in ("", "-") or "\n" in text:
            return
        if word.known and text in (HARMLESS_TARGETS if kind is NeedKind.WRITE else HARMLESS_SOURCES):
            return
        lost = self._lost and not word.home and not text.startswith("/")
        if word.kind is WordKind.UNKNOWN or lost or "\0" in text:  # a mark with something before or behind it
            yield Need(kind, simple.text if "\0" in text else text, words=simple.words, implied=True)
            return
        paths = self._joined(word)
        if use is not None and use.top:
            paths = tuple(dict.fromkeys((*paths, self._around.joined(text, self._around.workspace))))
        yield Need(
            *(kind, text),
            words=simple.words,
            paths=paths,
            pattern=word.kind is WordKind.GLOB,
            trees=() if use is None or parsed is None else tuple(_trees(paths, use, parsed)),
            listed=word.split,
            turning=turning,
            implied=True,
        )

    def _listed(self, role: Role, word: Word, listed: Listing, simple: Simple) -> Iterator[Need]:
        shown = " ".join(root.text for root in listed.roots)
        content = role in LOOKING and role not in (Role.TEXT, Role.LIST)
        kind = NeedKind.TREE if content else _KINDS.get(role, NeedKind.LIST)
        if role not in LOOKING:
            yield Need(kind, shown, words=simple.words, implied=True)
            return
        for root in listed.roots:
            paths = self._joined(root)
            trees = tuple(
                Tree(path, names=listed.names, links=True, tracked=listed.tracked, from_top=listed.from_top)
                for path in paths
            )
            yield Need(
                *(kind, shown), words=simple.words, paths=paths, trees=trees, listed=not listed.whole, implied=True
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

    # ── folders ─────────────────────────────────────────────────────────────────────────────────

    def _change_folder(self, simple: Simple, name: str) -> Iterator[Need]:
        rest = [word for word in simple.words[1:] if word.text not in ("-P", "-L", "--", "-e")]
        home = Word("~", home=True)
        target = rest[0] if rest else home
        plain = name == "cd" and len(rest) <= 1 and target.kind is WordKind.LITERAL and target.text not in ("-", "")
        if not plain or simple.repeated or simple.assignments or len(self._folders) > MOST_FOLDERS:
            self._lost = True
            yield Need(NeedKind.COMMAND, simple.text, words=simple.words, assignments=simple.assignments)
            return
        found = self._joined(target)
        yield Need(NeedKind.COMMAND, simple.text, words=simple.words, looks=True)
        yield Need(NeedKind.LIST, target.text, words=simple.words, paths=found, implied=True)
        before = [] if simple.in_chain else self._folders
        plain_names = (posixpath.normpath(path) for path in found)  # cd goes by names, not by where links lead
        self._folders = list(dict.fromkeys((*before, *found, *plain_names)))

    def _joined(self, word: Word) -> tuple[str, ...]:
        if word.text.startswith("~/") and not word.home:
            return tuple(f"{folder}/{word.text}" for folder in self._folders)
        return tuple(dict.fromkeys(self._around.joined(word.text, folder) for folder in self._folders))


@dataclass(frozen=True)
class _Understood:
    """A command whose words are in the grammar of its program."""

    parsed: Parsed
    listings: dict[Word, Listing]
    """What the marks among its words stand for."""

    @classmethod
    def of(cls, run: Run, name: str) -> "_Understood | None":
        program = PROGRAMS.get(name)
        if program is None or run.simple.words[0].home:
            return None
        numbers = count()
        listings: dict[Word, Listing] = {}
        words = []
        for word in run.simple.words[1:]:
            found = listing(word.listed_by) if word.kind is WordKind.UNKNOWN else None
            if found is None:
                words.append(word)
            else:
                mark = Word(f"\0{next(numbers)}", WordKind.GLOB)  # it may be several words, as a pattern may
                listings[mark] = replace(found, whole=found.whole and word.whole)
                words.append(mark)
        parsed = parse(program, tuple(words))
        return None if parsed is None else cls(parsed, listings)


def _trees(paths: tuple[str, ...], use: Use, parsed: Parsed) -> Iterator[Tree]:
    """The files that are read below folders."""
    role = use.role
    if _KINDS[role] is NeedKind.TREE:
        for path in paths:
            yield Tree(
                *(path, use.word.kind is WordKind.GLOB),
                *(searched_names(parsed), unsearched_names(parsed)),
                links=role is Role.FOLLOWED,
                entered=role is Role.FOLLOWED,
                tracked=role in (Role.TRACKED, Role.CHANGED),
                changes=role is Role.CHANGED,
                hidden=not parsed.skips_hidden,
            )


def _places(simple: Simple, name: str) -> tuple[Word, ...]:
    """What of a command's words may be paths."""
    arguments = Arguments(simple.words[1:])
    words = arguments.paths
    if name == "git":
        words = Arguments(global_options(arguments.words).rest).paths
    values = tuple(
        Word(value, word.kind)
        for word in words
        for value in (word.text.partition("=")[2], word.text.removeprefix("@") if word.text[:1] == "@" else "")
        if value
    )
    return tuple(word for word in (*words, *values) if "\n" not in word.text)


def _is_harmless_target(text: str, writes: bool) -> bool:
    """Nothing is lost there, and what reads there comes to an end."""
    return text in (HARMLESS_TARGETS if writes else HARMLESS_SOURCES) or posixpath.dirname(text) == "/dev/fd"
