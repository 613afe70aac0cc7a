"""Permission rules: allow, ask, deny.

    bash(npm run *)     bash(pytest <paths -q -k=>)     read(~/.ssh/**)     write(src/**)     agent

`bash` takes a command in brackets: each word as it is, a * inside a word for any text, a * at the end for any further
words. In a rule that allows, <…> at the end lists the arguments that may follow (`argument_set`). `read` and `write`
take a path: * within a name, ** across folders; it begins at the workspace, at ~ or at /. Without brackets a rule is
about every command, every path, or the tool of that name. Rules that were written for other programs, `Bash(npm run:*)`
or `Edit(src/**)`, are read too. A name that means no tool is an error: it protects nothing.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum
from fnmatch import fnmatchcase
from functools import cached_property

from harness.events.tool_names import NOTEBOOKS, nearest_tool, pattern_of, plain_name, tool_called
from harness.hooks import Verdict
from harness.permissions.argument_set import WRITTEN, ArgumentSet, file_before, is_script, parse_arguments
from harness.permissions.dangers import OPAQUE, as_git
from harness.permissions.disk import Disk, TreeContents
from harness.permissions.programs import KNOWN
from harness.permissions.programs.git import SUBCOMMANDS
from harness.permissions.protected_places import PathPattern, Surroundings, leads_to
from harness.permissions.requirements import READS, SHELL, Requirement, RequirementKind
from harness.permissions.shell.parser import read_line
from harness.permissions.shell.resolution import base_name
from harness.permissions.shell.syntax import Assignment, Unreadable, Word, WordKind
from harness.permissions.variables import harmless_assignment

READ, WRITE = "read", "write"
FILE_TOOLS = {"read_file": READ, "grep": READ, "glob": READ, "write_file": WRITE, "edit_file": WRITE}
WEB_TOOLS = ("web_fetch", "web_search")
"""Run by the server of the model, so that nobody can be asked about a call."""
_WRITTEN = re.compile(r"([A-Za-z_][A-Za-z0-9_.:*-]*)\s*(?:\((.*)\))?", re.DOTALL)


class RuleError(ValueError):
    """A rule cannot be parsed. The text completes a sentence that begins with the rule."""


class RuleScope(StrEnum):
    """Origin and lifetime of a rule."""

    SETTINGS = "settings"
    SESSION = "session"
    ALWAYS = "always"
    """Saved in the user's permission file."""


class RuleMatch(Enum):
    """Whether a rule applies."""

    NO = 0
    MAYBE = 1
    """It depends on the shell's expansion of the line."""
    YES = 2


@dataclass(frozen=True)
class PermissionRule:
    """One rule. Make one with `parse_rule`."""

    verdict: Verdict
    text: str
    """As written, without superfluous spaces."""
    subject: str
    """bash, read, write, or the name of a tool."""
    command: tuple[Word, ...] | None = None
    assignments: tuple[Assignment, ...] = ()
    arguments: ArgumentSet | None = None
    """What may follow the command; None: nothing else, or what a * says."""
    around: Surroundings | None = None
    """What the relative names in a command are relative to."""
    path: PathPattern | None = None
    also: tuple[PathPattern, ...] = ()
    """Other readings of the path in a rule that denies or asks: it is never less than its author thought."""
    scope: RuleScope = RuleScope.SETTINGS
    real_folder: str = ""
    """The resolved folder of the path pattern if it is behind a link; else empty."""

    @property
    def exact(self) -> bool:
        """It has no wildcard, so it covers even dangerous calls."""
        if self.path is not None:
            return self.path.exact
        if self.command is None or self.arguments is not None:
            return False
        return all(word.kind is WordKind.LITERAL for word in self.command)

    def described(self) -> str:
        """The rule and its origin, for a reason text."""
        return f"the rule {self.verdict} {self.text} ({_ORIGINS[self.scope]})"

    @property
    def meaning(self) -> str:
        """The rule in the words of this program."""
        if self.path is not None:
            everything = self.path.text == "/**"
            return (
                self.subject
                if everything
                else f"{self.subject}({', '.join(one.text for one in (self.path, *self.also))})"
            )
        if self.command is None or self.arguments is not None:
            return self.text
        commands = self._meant[:1] if self.verdict is Verdict.ALLOW else self._meant
        return f"{self.subject}({' or '.join(' '.join(word.text for word in words) for words in commands)})"

    def covers(self, need: Requirement, disk: Disk) -> bool:
        """For allow rules: it covers the whole requirement under every expansion by the shell."""
        match need.kind:
            case RequirementKind.COMMAND:
                if self.arguments is not None:
                    return self._covers_arguments(self.arguments, need, disk)
                sets = self.command is None or self._sets(need.assignments)
                return self._covers_command(need.words) and sets and self._is_about_files_of(need.folders)
            case RequirementKind.WRITE if self.subject == SHELL:
                return self.exact and bool(need.words) and self._covers_command(need.words)
            case _ if self.subject == SHELL and need.kind is not RequirementKind.UNREADABLE:
                return self.arguments is None and bool(need.words) and self._covers_command(need.words)
            case (
                RequirementKind.UNREADABLE
                | RequirementKind.PROGRAM
                | RequirementKind.REPOSITORY
                | RequirementKind.ADDRESSES
            ):
                return False
            case RequirementKind.TOOL:
                return self._is_about_tool(need)
            case _:
                return self._is_about_tool(need) or self._covers_paths(need, disk)

    def meets(self, need: Requirement, disk: Disk) -> RuleMatch:
        """For deny and ask rules: whether it applies to some part of the requirement."""
        if self._is_about_tool(need):
            return RuleMatch.YES
        if self.subject == SHELL:
            return self._meets_command(need)
        if self.path is None or need.kind in (RequirementKind.COMMAND, RequirementKind.TOOL):
            return RuleMatch.NO
        if need.kind is RequirementKind.UNREADABLE:
            return RuleMatch.MAYBE
        wanted = READS if self.subject == READ else {RequirementKind.WRITE}
        uncertain = need.kind in (RequirementKind.TOUCH, RequirementKind.USE)
        if need.kind not in wanted and not uncertain:
            return RuleMatch.NO
        found = self._meets_paths(need, disk)
        return RuleMatch.MAYBE if found is RuleMatch.YES and uncertain and self.subject == WRITE else found

    def _is_about_tool(self, need: Requirement) -> bool:
        return self.subject != SHELL and self.names_tool(need.tool)

    def names_tool(self, tool: str) -> bool:
        """It is about this tool, or about all of its MCP server."""
        if not self.subject.startswith("mcp__"):
            return self.subject == tool
        return fnmatchcase(tool, pattern_of(self.subject))

    # ── commands ────────────────────────────────────────────────────────────────────────────────

    def _covers_command(self, words: tuple[Word, ...]) -> bool:
        if self.subject != SHELL:
            return False
        if self.command is None:
            return bool(words) and not any(map(_surprising, words))
        return not any(map(_surprising, words)) and _fits(self.command, words, unknown=False, wide=False)

    def _is_about_files_of(self, folders: tuple[str, ...]) -> bool:
        """Its relative names are files of the workspace: `./build.sh` says nothing about that of another folder."""
        if self.around is None or self.command is None:
            return True
        first, *rest = [word.text for word in self.command]
        relative = "/" in first and first[0] not in "/~"
        if not relative and not any(is_script(text.removeprefix("./")) for text in rest):
            return True
        return bool(folders) and all(folder == self.around.workspace for folder in folders)

    def _sets(self, assignments: tuple[Assignment, ...]) -> bool:
        """All that it names is set, and nothing else but what is harmless: `DRY_RUN=1 x` does not allow `x`."""
        mine = self.assignments
        return all(harmless_assignment(one) or one in mine for one in assignments) and all(
            one in assignments for one in mine
        )

    def _covers_arguments(self, arguments: ArgumentSet, need: Requirement, disk: Disk) -> bool:
        """The words are in the set, and every folder and path is below the workspace, links resolved."""
        assert self.command is not None
        assert self.around is not None
        front, rest = need.words[: len(self.command)], need.words[len(self.command) :]
        paths = arguments.paths_among(rest)
        if paths is None or not need.folders or not self._sets(need.assignments):
            return False
        named = (name for path in paths for name in (path.text, file_before(path.text)) if name)
        joined = (self.around.joined(name, folder) for name in named for folder in need.folders)
        places = (real for path in (*need.folders, *joined) for real in disk.places.get(path) or leads_to(path, disk))
        return _fits(self.command, front, unknown=False, wide=False) and all(map(self.around.inside, places))

    def _meets_command(self, need: Requirement) -> RuleMatch:
        if need.kind is RequirementKind.UNREADABLE:
            return RuleMatch.MAYBE
        if need.kind is not RequirementKind.COMMAND or not need.words:
            return RuleMatch.NO
        if self.command is None:
            return RuleMatch.YES
        views = _views(need.words)
        if any(_fits(pattern, words, unknown=False, wide=True) for pattern in self._meant for words in views):
            return RuleMatch.YES
        hidden = () if need.looks or base_name(need.words[0].text) in KNOWN else _behind(need.words)
        perhaps = not OPAQUE.isdisjoint(need.dangers) or any(
            _fits(pattern, words, unknown=True, wide=True) for pattern in self._meant for words in (*views, *hidden)
        )
        return RuleMatch.MAYBE if perhaps or self._perhaps_alias(need.words) else RuleMatch.NO

    def _perhaps_alias(self, words: tuple[Word, ...]) -> bool:
        """A name that is not a git subcommand may be an alias for the command of the rule."""
        git = as_git(words)
        if git is None or not git.rest or self._meant[0][0].text != "git":
            return False
        return not git.rest[0].known or git.rest[0].text not in SUBCOMMANDS

    @cached_property
    def _folded(self) -> tuple[Word, ...]:
        """The command with its program in small letters and without its folder."""
        assert self.command is not None
        first = self.command[0]
        return (Word(base_name(first.text), first.kind), *self.command[1:])

    @cached_property
    def _meant(self) -> tuple[tuple[Word, ...], ...]:
        """The command, and where its last word is written as in the rules of other agents (`git push:*`), what it means
        there: any further words. A rule that forbids is never less than its author thought."""
        *front, last = self._folded
        if not front or not last.text.endswith(":*"):
            return (self._folded,)
        return (self._folded, (*front, Word(last.text[:-2]), Word("*", WordKind.GLOB)))

    # ── paths ───────────────────────────────────────────────────────────────────────────────────

    def _covers_paths(self, need: Requirement, disk: Disk) -> bool:
        wanted = {READ: READS, WRITE: {RequirementKind.WRITE}}.get(self.subject, set())
        if self.path is None or need.kind not in wanted or not need.paths:
            return False
        found = [disk.trees.get(tree, TreeContents(complete=False)) for tree in need.trees if not tree.changes]
        if not all(contents.complete for contents in found):
            return False
        real = [lead for path in need.paths for lead in disk.places.get(path) or leads_to(path, disk)[:1]]
        return all(map(self.path.covers, (*real, *(file for contents in found for file in contents.files))))

    def touches_read(self, path: str) -> bool:
        """It applies to reading this file, given by its real path."""
        return self.subject == READ and self._touches(path)

    def _touches(self, path: str) -> bool:
        return any(pattern.touches(path) for pattern in self._forbidden)

    @cached_property
    def _forbidden(self) -> tuple[PathPattern, ...]:
        """Each reading of the path; one that names a folder is about all below it."""
        assert self.path is not None
        readings = (self.path, *self.also, *(() if self._elsewhere is None else (self._elsewhere,)))
        return tuple(
            one if re.search(r"[*?][^/]*$", one.text) else PathPattern(f"{one.text.rstrip('/')}/**") for one in readings
        )

    def _meets_paths(self, need: Requirement, disk: Disk) -> RuleMatch:
        assert self.path is not None
        if not need.paths:
            return RuleMatch.NO if need.looks else RuleMatch.MAYBE
        trees = need.trees if self.subject == READ else ()
        found = [disk.trees.get(tree, TreeContents(complete=False)) for tree in trees]
        leads = [lead for path in need.paths for lead in leads_to(path, disk)]
        if any(map(self._touches, (*leads, *(file for contents in found for file in contents.files)))):
            return RuleMatch.YES
        writes = self.subject == WRITE and need.kind in (RequirementKind.WRITE, RequirementKind.USE)
        above = writes and any(map(self._is_below, leads))
        unknown = need.pattern and any(path not in disk.matches for path in need.paths)
        return RuleMatch.MAYBE if above or unknown or not all(contents.complete for contents in found) else RuleMatch.NO

    def _is_below(self, lead: str) -> bool:
        """The folder of the pattern is inside this one, so that moving it changes what the rule is about."""
        assert self.path is not None
        folder = self.path.folder.casefold()
        return folder != "/" and folder.startswith(f"{lead.casefold().rstrip('/')}/")

    @cached_property
    def _elsewhere(self) -> PathPattern | None:
        """The pattern by the real name of its folder."""
        if self.path is None or not self.real_folder or self.real_folder == self.path.folder:
            return None
        return PathPattern(self.real_folder + self.path.text[len(self.path.folder) :])


_ORIGINS = {
    RuleScope.SETTINGS: "of the settings",
    RuleScope.SESSION: "of this session",
    RuleScope.ALWAYS: "that you keep",
}


def parse_rule(
    verdict: Verdict,
    text: str,
    around: Surroundings,
    scope: RuleScope = RuleScope.SETTINGS,
    own_tools: Collection[str] = (),
) -> PermissionRule:
    """Parse a rule; `own_tools` are those that a program has added. Raises RuleError."""
    found = _WRITTEN.fullmatch(text.strip())
    if found is None:
        raise RuleError("is no rule; write for example bash(npm run *), write(src/**), or the name of a tool")
    written, inner = found[1], found[2]
    subject, pattern = _subject(written, own_tools), (inner or "").strip()
    foreign = subject != written
    if inner is not None and not pattern:
        raise RuleError("has nothing in its brackets; leave them out to mean everything")
    if foreign and not pattern and plain_name(written) == NOTEBOOKS:
        pattern = "**/*.ipynb"
    plain = f"{written if foreign else subject}({pattern})" if pattern else subject
    if subject == SHELL and pattern:
        if pattern.endswith(":*") and ((foreign and verdict is Verdict.ALLOW) or " " not in pattern):
            pattern = f"{pattern[:-2]} *"
        arguments = _arguments(pattern, verdict)
        words, assignments = _command_pattern(pattern if arguments is None else pattern[: pattern.rindex("<")])
        return PermissionRule(verdict, plain, subject, words, assignments, arguments, around, scope=scope)
    if subject in (READ, WRITE):
        if re.search(r"\{[^}]*,", pattern):
            raise RuleError("has braces, which mean nothing in a path; write a rule for each")
        pattern = re.sub("^//+", "/", pattern)
        path = around.pattern(pattern) if pattern else PathPattern("/**")
        also = _also_meant(pattern, around, foreign=foreign) if verdict is not Verdict.ALLOW else ()
        return PermissionRule(verdict, plain, subject, path=path, also=also, scope=scope)
    if pattern:
        instead = FILE_TOOLS.get(subject)
        hint = f"write {f'{instead}({pattern})' if instead else subject}"
        if subject in WEB_TOOLS:
            hint = "domains are listed in web_allowed_domains and web_blocked_domains"
        raise RuleError(f"has a pattern that means nothing for this tool; {hint}")
    if subject in WEB_TOOLS and verdict is Verdict.ASK:
        raise RuleError(
            f"cannot be asked about, because the server of the model runs it; deny it, or set {subject} = false"
        )
    return PermissionRule(verdict, plain, subject, scope=scope)


def _subject(written: str, own_tools: Collection[str]) -> str:
    """What a rule of this name is about; in other programs "Read" and "Edit" mean all that reads and writes."""
    if written in (READ, WRITE):
        return written
    tool = tool_called(written, own_tools)
    if not tool:
        raise RuleError(f"names no tool; {nearest_tool(written, own_tools)}")
    return FILE_TOOLS[tool] if tool != written and tool in ("read_file", "write_file", "edit_file") else tool


def _also_meant(pattern: str, around: Surroundings, *, foreign: bool) -> tuple[PathPattern, ...]:
    """What else a path may mean: brackets, one of some characters; in the rules of other programs a name, in every
    folder, and a / in front, the project."""
    if (one_of := re.sub(r"\[[^]/]+\]", "?", pattern)) != pattern:
        return (around.pattern(one_of), *_also_meant(one_of, around, foreign=foreign))
    if not foreign:
        return ()
    if pattern.startswith("/"):
        return (around.pattern(pattern[1:]),)
    name = pattern.removeprefix("./").rstrip("/")
    return () if not name or "/" in name or name[0] in "~*" else (PathPattern(f"**/{name}"),)


def _arguments(pattern: str, verdict: Verdict) -> ArgumentSet | None:
    found = WRITTEN.fullmatch(pattern)
    if found is None:
        return None
    arguments = parse_arguments(found["inside"])
    if arguments is None:
        raise RuleError("has to list paths, names and options between < and >, such as <paths -q --tb=>")
    if verdict is not Verdict.ALLOW or found["front"].endswith("*"):
        raise RuleError("may list arguments between < and > only to allow a command that is written out")
    return arguments


def _command_pattern(pattern: str) -> tuple[tuple[Word, ...] | None, tuple[Assignment, ...]]:
    if pattern in ("*", "**"):
        return None, ()
    try:
        commands = read_line(pattern)
    except Unreadable as unreadable:
        raise RuleError(f"holds no plain command: {unreadable}") from unreadable
    if len(commands) != 1 or commands[0].redirects or not commands[0].words:
        raise RuleError("has to hold one command, without redirections; write a rule for each")
    [simple] = commands
    if any(word.kind in (WordKind.UNKNOWN, WordKind.PIPE) for word in simple.words):
        raise RuleError("has a variable or a substitution in it; write the text itself, or a *")
    if simple.words[0].kind is not WordKind.LITERAL:
        raise RuleError("has to name the program")
    return simple.words, simple.assignments


def _surprising(word: Word) -> bool:
    """Its value may be something that is not allowed: a file pattern may fit a file whose name is an option or a
    subcommand, unless it names a place or the ending of a file."""
    if word.kind is not WordKind.GLOB:
        return word.kind is WordKind.UNKNOWN
    return re.match(r"--[\w-]+=|[^-*?\[][^*?\[]*[/.]|[^-*?\[].*\.", word.text, re.DOTALL) is None


def _views(words: tuple[Word, ...]) -> tuple[tuple[Word, ...], ...]:
    """Equivalent forms of a command: bare program name, git without options before its subcommand."""
    first = words[0]
    named = (Word(base_name(first.text), first.kind), *words[1:])
    git = as_git(words)
    return (named,) if git is None else (named, (Word("git"), *git.rest))


def _behind(words: tuple[Word, ...]) -> tuple[tuple[Word, ...], ...]:
    """The commands that an unknown program may run if it runs its own arguments."""
    return tuple(view for start in range(1, len(words)) for view in _views(words[start:]))


def _fits(pattern: Sequence[Word], words: Sequence[Word], *, unknown: bool, wide: bool) -> bool:
    """Whether words fit a pattern.

    Args:
        unknown: words that are not known may be any text and any number of words.
        wide: a * stands for any words also where it is not the last, as in the rules of other programs.
    """
    reach = {0}
    total = len(pattern)
    for word in words:
        reach = _closed(pattern, reach, wide)
        following = set()
        for at in reach:
            open_end = at < total and (wide or at == total - 1) and _is_rest(pattern[at])
            if open_end or (at < total and (not unknown or word.kind is WordKind.LITERAL) and _one(pattern[at], word)):
                following.add(at if open_end else at + 1)
            if unknown and word.kind not in (WordKind.LITERAL, WordKind.PIPE):
                following |= set(range(at, total + 1))
        reach = following
        if not reach:
            return False
    return total in _closed(pattern, reach, wide)


def _closed(pattern: Sequence[Word], reach: set[int], wide: bool) -> set[int]:
    """A * that stands for any words may match nothing."""
    found = set(reach)
    for at in range(len(pattern)):
        if at in found and _is_rest(pattern[at]) and (wide or at == len(pattern) - 1):
            found.add(at + 1)
    return found


def _is_rest(word: Word) -> bool:
    return word.kind is WordKind.GLOB and word.text in ("*", "**")


def _one(pattern: Word, word: Word) -> bool:
    if word.kind in (WordKind.UNKNOWN, WordKind.PIPE):
        return False
    if pattern.kind is not WordKind.GLOB:
        return (pattern.text, pattern.home) == (word.text, word.home) and word.kind is WordKind.LITERAL
    parts = map(re.escape, pattern.text.split("*"))
    return re.fullmatch(".*".join(parts), word.text, re.DOTALL) is not None
