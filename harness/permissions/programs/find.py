"""find: the tests and actions with which it only looks. What it runs by -exec is judged by itself."""

import re
from collections.abc import Mapping
from types import MappingProxyType

from harness.permissions.name_sets import names
from harness.permissions.programs.grammar import HERE, LIST, ParsedCommand, Program, WordUse
from harness.permissions.shell.syntax import Word, WordKind

_FLAGS = names(
    "-empty -print -print0 -ls -true -false -prune -quit -readable -writable -executable -xdev -mount -depth "
    "-daystart -not ! -a -and -o -or ( ) , -nouser -nogroup"
)
_TEXTS = names(
    "-name -iname -path -ipath -wholename -iwholename -regex -iregex -lname -ilname -type -xtype -size -mtime -mmin "
    "-atime -amin -ctime -cmin -maxdepth -mindepth -perm -user -group -links -printf -regextype"
)
_NEWER = re.compile("-newer(?:[aBcm]([aBcmt]))?")


def _find(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    rest = list(words)
    if rest and rest[0].known and rest[0].text == "-P":
        rest.pop(0)
    roots: list[Word] = []
    while rest and not (rest[0].text.startswith("-") or rest[0].text in ("(", ")", "!", ",")):
        roots.append(rest.pop(0))
    if not all(root.text and root.kind in (WordKind.LITERAL, WordKind.GLOB) for root in roots):
        return None
    uses = [WordUse(LIST, root) for root in roots or [HERE]]
    while rest:
        word = rest.pop(0)
        if not word.known or not _understood(word.text, rest, uses):
            return None
    turning = tuple(root for root in roots if root.kind is WordKind.GLOB and root.text[0] in "*?[")
    return ParsedCommand(program, operands=tuple(roots), uses=tuple(uses), turning=turning)


def _understood(name: str, rest: list[Word], uses: list[WordUse]) -> bool:
    """Whether a test or an action only looks; takes its values from `rest`."""
    if name == "-exec":
        return _skip_command(rest)
    if name in _FLAGS:
        return not (name == "-depth" and rest and re.match(r"[-+]?[0-9]", rest[0].text))
    newer = _NEWER.fullmatch(name)
    if not (name in _TEXTS or newer) or not rest:
        return False
    value = rest.pop(0)
    if newer and newer[1] != "t":
        uses.append(WordUse(LIST, value))
    return value.known or (value.home and value.kind is WordKind.LITERAL)


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


PROGRAMS: Mapping[str, Program] = MappingProxyType({"find": Program(parser=_find)})
