"""find: its tests and actions, and which files it finds."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from harness.permissions.name_sets import names
from harness.permissions.programs.grammar import HERE, ParsedCommand, Program, WordRole, WordUse
from harness.permissions.shell.syntax import Word, WordKind

_FLAGS = names(
    "-empty -print -print0 -ls -true -false -prune -quit -readable -writable -executable -xdev -mount -depth -d "
    "-noleaf -daystart -not ! -a -and -o -or ( ) , -nouser -nogroup -warn -nowarn -ignore_readdir_race"
)
_TEXTS = names(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype -size -mtime -mmin "
    "-atime -amin -ctime -cmin -maxdepth -mindepth -perm -user -group -uid -gid -links -inum -printf -regextype "
    "-fstype -used"
)
_FILES = names("-newer -anewer -cnewer -samefile")
_WRITES = names("-fprint -fprint0 -fls -fprintf")
_ACTIONS = names("-print -print0 -printf -ls -exec") | _WRITES
_ALTERNATIVES = names("-o -or ! -not ( ) , -prune -quit")
_FIRST = names("-P -E -s -x")


@dataclass(frozen=True, slots=True)
class FindSearch:
    """What a `find` command names to the commands that it runs, or that read its output."""

    roots: tuple[Word, ...]
    """Where it begins; the current folder if none is named. It goes down without a limit, and follows no links."""
    names: tuple[str, ...] = ()
    """Patterns of -name that a file must all match; empty: any name."""
    plain_files: bool = False
    """Only regular files, so that a link is not among them."""


@dataclass(slots=True)
class _Find:
    """A find command, read word by word."""

    roots: list[Word] = field(default_factory=list)
    tests: list[tuple[str, str]] = field(default_factory=list)
    """Tests and actions in order, each with its first value."""
    uses: list[WordUse] = field(default_factory=list)
    turning: list[Word] = field(default_factory=list)
    acts: bool = False


def search_of(words: tuple[Word, ...]) -> FindSearch | None:
    """What `find` with these words finds; None where they are not understood."""
    read = _read_find(words)
    if read is None:
        return None
    roots = tuple(read.roots) or (HERE,)
    first = next((at for at, (name, _) in enumerate(read.tests) if name in _ACTIONS), len(read.tests))
    if any(name in _ALTERNATIVES for name, _ in read.tests):
        return FindSearch(roots)
    before = read.tests[:first]
    return FindSearch(roots, tuple(value for name, value in before if name == "-name"), ("-type", "f") in before)


def _find(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    read = _read_find(words)
    if read is None:
        return None
    role = WordRole.WRITE if any(name == "-delete" for name, _ in read.tests) else WordRole.LIST
    uses = (*(WordUse(role, root) for root in read.roots or [HERE]), *read.uses)
    options = tuple((name, Word(value)) for name, value in read.tests)
    return ParsedCommand(program, options, tuple(read.roots), uses, read.acts, tuple(read.turning))


def _read_find(words: tuple[Word, ...]) -> _Find | None:
    read, rest = _Find(), list(words)
    while rest and rest[0].known and rest[0].text in _FIRST:
        rest.pop(0)
    while rest and not (rest[0].text.startswith("-") or rest[0].text in ("(", ")", "!", ",")):
        root = rest.pop(0)
        if root.kind not in (WordKind.LITERAL, WordKind.GLOB) or not root.text:
            return None
        if root.kind is WordKind.GLOB and root.text[0] in "*?[":
            read.turning.append(root)
        read.roots.append(root)
    while rest:
        word = rest.pop(0)
        if not word.known or not _read_test(read, word.text, rest):
            return None
    return read


def _read_test(read: _Find, name: str, rest: list[Word]) -> bool:
    """Whether a test or an action is understood; takes its values from `rest`."""
    if name == "-exec":
        read.tests.append((name, ""))
        return _skip_command(rest)
    if name in _FLAGS or name == "-delete":
        read.tests.append((name, ""))
        read.acts = read.acts or name == "-delete"
        return not (name in ("-depth", "-d") and rest and re.match(r"[-+]?[0-9]", rest[0].text))
    writes, dates = name in _WRITES, re.fullmatch(r"-newer[aBcm]([aBcmt])", name)
    if not (name in _TEXTS or name in _FILES or writes or dates) or not rest:
        return False
    value = rest.pop(0)
    if not value.known and not (value.home and value.kind is WordKind.LITERAL):
        return False
    if writes:
        read.acts = True
        read.uses.append(WordUse(WordRole.WRITE, value))
        if name == "-fprintf" and (not rest or not rest.pop(0).known):
            return False
    elif name in _FILES or (dates and dates[1] != "t"):
        read.uses.append(WordUse(WordRole.LIST, value))
    read.tests.append((name, value.text))
    return True


def _skip_command(rest: list[Word]) -> bool:
    """Skip the command after -exec, which is judged separately; a pattern could bring the end of it."""
    before = ""
    while rest:
        word = rest.pop(0)
        if not word.known:
            return False
        if word.text == ";" or (word.text == "+" and before == "{}"):
            return bool(before)
        if word.text == "+":
            return False
        before = word.text
    return False


PROGRAMS: Mapping[str, Program] = MappingProxyType({"find": Program(operands=(WordRole.LIST,), parser=_find)})
