"""The requirements of a call: its commands and its paths, each one separately."""

import posixpath
import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum

from harness.permissions.argument_set import file_before
from harness.permissions.arguments import ParsedArguments
from harness.permissions.dangers import INTERPRETERS, dangers, dangers_of
from harness.permissions.decision import PermissionRequest
from harness.permissions.disk import DiskQuestions, FileTree
from harness.permissions.programs import (
    COPIERS,
    GIT_WRITES,
    HANDLERS,
    PROGRAMS,
    UNPACKERS,
    WRITERS,
    ParsedCommand,
    WordRole,
    WordUse,
    parse,
)
from harness.permissions.programs.git import SHOWING, folder_of, global_options, within
from harness.permissions.programs.git_views import CONFIG_FILE
from harness.permissions.programs.grammar import HERE
from harness.permissions.programs.text import searched_names, unsearched_names
from harness.permissions.protected_places import HARMLESS_SOURCES, HARMLESS_TARGETS, Surroundings
from harness.permissions.shell.resolution import SHELLS, ResolvedCommand, base_name, resolved_commands
from harness.permissions.shell.syntax import Assignment, Redirect, SimpleCommand, Unreadable, Word, WordKind
from harness.permissions.variables import harmless_assignment, showable
from harness.tools.tool import Effect

SHELL = "bash"
_SEARCHES = ("grep", "glob")
"""Tools that look through the workspace where no path is given."""
MOST_FOLDERS = 6
"""Folders that a line may be in at one place, because a cd may have failed."""
_SYSTEM_FOLDERS = frozenset({"/bin", "/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"})


class RequirementKind(Enum):
    """The kind of a requirement."""

    COMMAND = "command"
    LIST = "list"
    """Names, sizes or dates of a path are shown."""
    READ = "read"
    TREE = "tree"
    """Every file of a folder is read."""
    WRITE = "write"
    EXECUTE = "execute"
    TOUCH = "touch"
    """A path argument of a command whose use of it is unknown."""
    USE = "use"
    """The same of a program that reads or writes such paths: each may be read, with all below it, and written."""
    PROGRAM = "program"
    """A file of the workspace would run in place of a system program of the same name."""
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
READS = frozenset({RequirementKind.READ, RequirementKind.TREE, RequirementKind.LIST, RequirementKind.EXECUTE})
_KINDS = {
    WordRole.LIST: RequirementKind.LIST,
    WordRole.READ: RequirementKind.READ,
    WordRole.TREE: RequirementKind.TREE,
    WordRole.FOLLOWED: RequirementKind.TREE,
    WordRole.TRACKED: RequirementKind.TREE,
    WordRole.CHANGED: RequirementKind.TREE,
}


@dataclass(frozen=True, slots=True)
class Requirement:
    """One part of a call that has to be allowed."""

    kind: RequirementKind
    shown: str
    """The part of the call that it is about, as written."""
    tool: str = SHELL
    words: tuple[Word, ...] = ()
    """The command, or that which has the path among its words."""
    assignments: tuple[Assignment, ...] = ()
    paths: tuple[str, ...] = ()
    """Absolute; several if the folder of the command is uncertain. None: not known."""
    pattern: bool = False
    """The paths are file patterns."""
    trees: tuple[FileTree, ...] = ()
    """The files searched below the paths."""
    split: bool = False
    """The shell may take one name for several words, so an odd one could be misread."""
    turning: bool = False
    """A name that begins with a dash would be read as an option."""
    looks: bool = False
    """The command does nothing but look."""
    shows: tuple[str, ...] = ()
    """Variables that it uses, and that may hold a secret."""
    dangers: tuple[str, ...] = ()
    """Why confirmation is needed in every case."""
    implied: bool = False
    """Whoever allows the command has allowed this, unless there is something the matter with it."""
    folders: tuple[str, ...] = ()
    """Where a command may run; none: not known."""
    held: bool = True
    """The tool itself keeps to the workspace, so that the path need not be looked at for that."""

    @property
    def shell(self) -> bool:
        """It is part of a command line."""
        return self.tool == SHELL


def requirements_of(request: PermissionRequest, around: Surroundings) -> tuple[Requirement, ...]:
    """What a call needs. Looks at nothing but the call itself."""
    command = request.input.get("command")
    if request.tool == SHELL and request.effect is Effect.RUN and isinstance(command, str):
        try:
            return tuple(_Line(around).needs(resolved_commands(command, around.dialect)))
        except Unreadable as unreadable:
            return (Requirement(RequirementKind.UNREADABLE, str(unreadable)),)
    path = request.opens or request.input.get("path", "." if request.tool in _SEARCHES else None)
    if request.effect in (Effect.READ, Effect.WRITE) and isinstance(path, str):
        kind = RequirementKind.READ if request.effect is Effect.READ else RequirementKind.WRITE
        joined = around.joined(path, around.workspace)
        return (Requirement(kind, path, request.tool, paths=(joined,), held=request.outside is None),)
    return (Requirement(RequirementKind.TOOL, request.summary, request.tool),)


def questions_of(needs: tuple[Requirement, ...]) -> DiskQuestions:
    """Everything that has to be looked up before the needs can be judged."""
    by_kind = {
        kind: frozenset(path for need in needs if need.kind is kind for path in need.paths)
        for kind in (RequirementKind.PROGRAM, RequirementKind.REPOSITORY, RequirementKind.ADDRESSES)
    }
    plain = [need for need in needs if need.kind not in by_kind]
    return DiskQuestions(
        frozenset(path for need in plain if not need.pattern for path in need.paths),
        frozenset(path for need in plain if need.pattern for path in need.paths),
        frozenset(tree for need in plain for tree in need.trees),
        by_kind[RequirementKind.PROGRAM],
        by_kind[RequirementKind.REPOSITORY],
        by_kind[RequirementKind.ADDRESSES],
    )


class _Line:
    """The requirements of one command line, and the folders where its commands may run."""

    def __init__(self, around: Surroundings) -> None:
        self._around = around
        self._folders = [around.workspace]
        self._lost = False
        self._assigned: set[str] = set()
        self._patterned: set[str] = set()
        """Variables whose values may hold file patterns, which the shell expands where they are unquoted."""

    def needs(self, runs: tuple[ResolvedCommand, ...]) -> Iterator[Requirement]:
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

    def _command(self, run: ResolvedCommand) -> Iterator[Requirement]:
        simple = run.simple
        shows = tuple(name for name in simple.variables if not (showable(name) or name in self._assigned))
        if not simple.words:
            harmless = all(harmless_assignment(one, alone=True) for one in simple.assignments)
            if shows or not harmless or any(map(self._becomes_names, simple.looped)):
                kind, dangerous = RequirementKind.COMMAND, dangers(simple)
                yield Requirement(kind, simple.text, assignments=simple.assignments, shows=shows, dangers=dangerous)
            for word in simple.looped:
                if word.kind is WordKind.GLOB:
                    yield from self._path(RequirementKind.LIST, word, simple)
            return
        name = base_name(simple.words[0].text)
        if name in ("cd", "pushd", "popd"):
            yield from self._change_folder(simple, name)
            return
        program = None if simple.words[0].home else PROGRAMS.get(name)
        parsed = None if program is None else parse(program, simple.words[1:])
        looks = parsed is not None and self._only_looks(run, parsed) and not shows
        yield Requirement(
            RequirementKind.COMMAND,
            simple.text,
            words=simple.words,
            assignments=simple.assignments,
            looks=looks,
            shows=shows,
            dangers=dangers_of(run),
            implied=run.inside or (run.transparent and all(map(harmless_assignment, simple.assignments))),
            folders=() if self._lost else tuple(self._folders),
        )
        if "/" in simple.words[0].text and not looks:
            yield from self._path(RequirementKind.EXECUTE, simple.words[0], simple)
        if parsed is None:
            yield from self._not_understood(simple, name)
        else:
            yield from self._understood(simple, parsed, looks=looks)
        if looks or run.transparent:
            yield from self._around_it(simple, name, parsed)

    def _only_looks(self, run: ResolvedCommand, parsed: ParsedCommand) -> bool:
        program = run.simple.program or ""
        folder = posixpath.dirname(program)
        return (
            not self._lost
            and program == (f"{folder}/" if folder else "") + base_name(program)
            and (not folder or folder in _SYSTEM_FOLDERS)
            and all(map(harmless_assignment, run.simple.assignments))
            and (run.limited or parsed.ends)
            and not any(map(self._becomes_names, run.simple.words))
        )

    def _becomes_names(self, word: Word) -> bool:
        """The shell may replace it with file names from an unknown folder."""
        if word.kind is not WordKind.UNKNOWN or not word.split:
            return False
        if _SUBSTITUTION.search(word.text) and _PATTERN.search(word.text) and not _COUNT.search(word.text):
            return True
        return not self._patterned.isdisjoint(_VARIABLE.findall(word.text))

    def _understood(self, simple: SimpleCommand, parsed: ParsedCommand, *, looks: bool) -> Iterator[Requirement]:
        for use in parsed.uses:
            if use.role is WordRole.TEXT:
                if use.word.kind is WordKind.GLOB:
                    yield from self._path(RequirementKind.LIST, use.word, simple)
            elif not (looks and use is CONFIG_FILE):
                yield from self._path(_KINDS[use.role], use.word, simple, use, parsed)

    def _not_understood(self, simple: SimpleCommand, name: str) -> Iterator[Requirement]:
        """Any of the words may be a path, and what becomes of it is known of few programs."""
        kind, searches = _kind_of(simple, name), _searches(simple, name)
        positionals = ParsedArguments(simple.words[1:]).positionals
        for word in (HERE, *_places(simple, name)) if searches else _places(simple, name):
            if word.kind is not WordKind.UNKNOWN:
                yield from self._path(kind, word, simple, searches=searches)
                if kind is RequirementKind.READ and word not in positionals[:1]:  # a script may write its words
                    yield from self._path(RequirementKind.TOUCH, word, simple)
        last = positionals[-1:]
        if name in COPIERS and last and last[0].kind is not WordKind.UNKNOWN:
            yield from self._path(RequirementKind.WRITE, last[0], simple)
        if name in UNPACKERS:
            yield from self._path(kind, HERE, simple)
        program = PROGRAMS.get(name)
        reads = program is not None and not _CONTENT.isdisjoint(program.operands)
        unknown = any(word.kind is WordKind.UNKNOWN or word.text[:5].lower() == "file:" for word in simple.words)
        if unknown and name != "git":
            if kind in (RequirementKind.USE, RequirementKind.WRITE):
                yield Requirement(kind, simple.text, words=simple.words, implied=True)
            elif reads:
                yield Requirement(RequirementKind.READ, simple.text, words=simple.words, implied=True)

    def _around_it(self, simple: SimpleCommand, name: str, parsed: ParsedCommand | None) -> Iterator[Requirement]:
        """What else has to hold for a command that only looks, or only runs another one."""
        if self._around.programs_inside and "/" not in simple.words[0].text:
            words = (Word(f"{folder}/{name}") for folder in self._around.programs_inside)
            files = tuple(path for word in words for path in self._joined(word))
            yield Requirement(
                RequirementKind.PROGRAM, simple.words[0].text, words=simple.words, paths=files, implied=True
            )
        if name == "git":
            folders = self._joined(HERE if parsed is None or parsed.folder is None else parsed.folder)
            yield Requirement(RequirementKind.REPOSITORY, simple.text, words=simple.words, paths=folders, implied=True)
            if parsed is not None and CONFIG_FILE in parsed.uses:
                yield Requirement(
                    RequirementKind.ADDRESSES, simple.text, words=simple.words, paths=folders, implied=True
                )

    # ── paths ───────────────────────────────────────────────────────────────────────────────────

    def _path(
        self,
        kind: RequirementKind,
        word: Word,
        simple: SimpleCommand,
        use: WordUse | None = None,
        parsed: ParsedCommand | None = None,
        *,
        searches: bool = False,
    ) -> Iterator[Requirement]:
        text = word.text
        if word.kind is WordKind.PIPE or text in ("", "-"):
            return
        if word.known and text in (HARMLESS_TARGETS if kind is RequirementKind.WRITE else HARMLESS_SOURCES):
            return
        lost = self._lost and not word.home and not text.startswith("/")
        if word.kind is WordKind.UNKNOWN or lost:
            yield Requirement(kind, text, words=simple.words, implied=True)
            return
        paths = self._joined(word)
        if use is not None and use.top:
            paths = tuple(dict.fromkeys((*paths, self._around.joined(text, self._around.workspace))))
        yield Requirement(
            *(kind, text),
            words=simple.words,
            paths=paths,
            pattern=word.kind is WordKind.GLOB,
            trees=_below(paths, word) if searches or kind is RequirementKind.USE else _trees(paths, word, use, parsed),
            split=word.split,
            turning=parsed is not None and word in parsed.turning,
            implied=True,
        )

    def _redirect(self, redirect: Redirect) -> Requirement:
        target = redirect.target
        kind = RequirementKind.WRITE if redirect.writes else RequirementKind.READ
        shown = f"{redirect.operator} {target.text}"
        if target.kind is WordKind.PIPE or (target.known and _is_harmless_target(target.text, redirect.writes)):
            return Requirement(kind, shown, looks=True)
        unknown = target.kind is not WordKind.LITERAL or self._lost
        if unknown and not redirect.writes:
            return Requirement(kind, shown, implied=True)
        if unknown:
            return Requirement(kind, shown, dangers=("which file that is, is known only when the shell has run",))
        return Requirement(kind, shown, paths=self._joined(target), implied=not redirect.writes)

    # ── folders ─────────────────────────────────────────────────────────────────────────────────

    def _change_folder(self, simple: SimpleCommand, name: str) -> Iterator[Requirement]:
        rest = [word for word in simple.words[1:] if word.text not in ("-P", "-L", "--", "-e")]
        home = Word("~", home=True)
        target = rest[0] if rest else home
        plain = name == "cd" and len(rest) <= 1 and target.kind is WordKind.LITERAL and target.text not in ("-", "")
        if not plain or simple.repeated or simple.assignments or len(self._folders) > MOST_FOLDERS:
            self._lost = True
            yield Requirement(RequirementKind.COMMAND, simple.text, words=simple.words, assignments=simple.assignments)
            return
        found = self._joined(target)
        yield Requirement(RequirementKind.COMMAND, simple.text, words=simple.words, looks=True)
        yield Requirement(RequirementKind.LIST, target.text, words=simple.words, paths=found, implied=True)
        before = [] if simple.in_chain else self._folders
        plain_names = (posixpath.normpath(path) for path in found)  # cd goes by names, not by where links lead
        self._folders = list(dict.fromkeys((*before, *found, *plain_names)))

    def _joined(self, word: Word) -> tuple[str, ...]:
        if word.text.startswith("~/") and not word.home:
            return tuple(f"{folder}/{word.text}" for folder in self._folders)
        return tuple(dict.fromkeys(self._around.joined(word.text, folder) for folder in self._folders))


_CONTENT = frozenset({WordRole.READ, WordRole.TREE})


def _kind_of(simple: SimpleCommand, name: str) -> RequirementKind:
    """What becomes of the paths of a command that is not understood."""
    if name in WRITERS:
        return RequirementKind.WRITE
    if name in INTERPRETERS | SHELLS or name.startswith("python3."):
        return RequirementKind.READ
    if name == "git":
        rest = global_options(simple.words[1:]).rest
        return RequirementKind.USE if rest and rest[0].text in GIT_WRITES else RequirementKind.TOUCH
    return RequirementKind.USE if name in HANDLERS else RequirementKind.TOUCH


def _searches(simple: SimpleCommand, name: str) -> bool:
    """A command that is not understood may show the content of any file in the folder."""
    if name == "git":
        rest = global_options(simple.words[1:]).rest
        return bool(rest) and rest[0].text in SHOWING
    return name in ("grep", "egrep", "fgrep", "rg", "diff")


def _below(paths: tuple[str, ...], word: Word) -> tuple[FileTree, ...]:
    """Everything below the paths, which a command may read or not."""
    pattern = word.kind is WordKind.GLOB
    return tuple(FileTree(path, pattern, links=True, entered=True, changes=True) for path in paths)


def _trees(
    paths: tuple[str, ...], word: Word, use: WordUse | None, parsed: ParsedCommand | None
) -> tuple[FileTree, ...]:
    """The files that are read below folders."""
    if use is None or parsed is None or _KINDS[use.role] is not RequirementKind.TREE:
        return ()
    follows = use.role is WordRole.FOLLOWED
    return tuple(
        FileTree(
            *(path, word.kind is WordKind.GLOB, searched_names(parsed), unsearched_names(parsed)),
            links=follows,
            entered=follows,
            tracked=use.role in (WordRole.TRACKED, WordRole.CHANGED),
            changes=use.role is WordRole.CHANGED,
            hidden=not parsed.skips_hidden,
        )
        for path in paths
    )


_PLACES_OF_GIT = frozenset({"GIT_DIR", "GIT_WORK_TREE", "GIT_COMMON_DIR", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY"})


def _places(simple: SimpleCommand, name: str) -> tuple[Word, ...]:
    """What of a command's words may be paths: a word, and each part of it (`if=a`, `-d @a`, `x:a`, `a.py::test`)."""
    words, folder = simple.words[1:], HERE
    named = [one.value for one in simple.assignments if one.name in _PLACES_OF_GIT]
    if name == "git":
        before = global_options(words)
        words, folder = before.rest[1:], folder_of(before.folders)
        named += before.places
    arguments = ParsedArguments(words)
    found = [within(folder, word) for word in (arguments.positionals if name in WRITERS else arguments.paths)]
    found += [*(within(folder, word) for word in named), *([folder] if folder is not HERE else [])]
    found = [word for word in found if not re.search(r"\n|^(?!file:)[a-z+]+://", word.text, re.IGNORECASE)]
    for word in tuple(found):
        parts = {file_before(word.text)}
        if not re.search(r"\s|^\w[\w.@-]*:/", word.text):  # host:/path is on another machine, .:/path is not
            parts.update(part for at in re.finditer("[=:@,<]+", word.text) for part in _parts(word.text, at))
        found += [Word(part, word.kind, home=part.startswith("~/")) for part in sorted(parts) if part]
    return tuple(found)


def _parts(text: str, at: re.Match[str]) -> tuple[str, ...]:
    """What stands before and behind a sign, up to the next one and to the end."""
    before, behind = text[: at.start()], text[at.end() :]
    return before, behind, re.split("[=:@,;<]", behind)[0]


def _is_harmless_target(text: str, writes: bool) -> bool:
    """Nothing is lost there, and what reads there comes to an end."""
    return text in (HARMLESS_TARGETS if writes else HARMLESS_SOURCES) or posixpath.dirname(text) == "/dev/fd"
