"""Builtins of bash: echo, test, set and their like, and the few programs of the same kind.

Built-ins that evaluate are not here, such as `printf -v`, `test -v`, read and let: a subscript in a name is expanded,
and may run a command. cd, pushd and popd change what all other words mean, and are known where the folders are.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType

from harness.permissions.programs.grammar import ParsedCommand, Program, WordRole, WordUse
from harness.permissions.shell.syntax import Word, WordKind

_TEXT = (WordRole.TEXT,)

# ── test, [ and [[ ──────────────────────────────────────────────────────────────────────────────

_FILES = frozenset(f"-{letter}" for letter in "abcdefghkprsuwxGLNOS")
_TEXTS = frozenset({"-n", "-z"})
_SAME = frozenset({"=", "==", "!=", "<", ">"})
_ORDER = frozenset({"-eq", "-ne", "-lt", "-le", "-gt", "-ge"})
_PAIRS = frozenset({"-nt", "-ot", "-ef"})
_NUMBERS_OF_BASH = ("$?", "$#", "$$")
_NUMBER = re.compile(r"[-+]?[0-9]+")


def _test(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    """One test: an operator and a word, a word alone, or two with an operator between; a ! before it.

    The number of words decides how bash reads them, so that a word that may be none, or several, is not in the grammar.
    """
    if any(
        word.split or (word.kind is WordKind.GLOB and not word.single) or word.kind is WordKind.PIPE for word in words
    ):
        return None
    if words and words[0].text == "!" and len(words) in (3, 4):
        words = words[1:]
    return _tested(program, words, computes=False)


def _bracket(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    if not words or not words[-1].known or words[-1].text != "]":
        return None
    return _test(program, words[:-1])


def _conditional(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    """[[ ]], which the reader turns into one command per test; its content is never split."""
    if not words or words[-1].text != "]]":
        return None
    return _tested(program, words[:-1], computes=True)


def _tested(program: Program, words: tuple[Word, ...], *, computes: bool) -> ParsedCommand | None:
    texts = [word.text for word in words]
    match texts:
        case [_]:
            roles = [WordRole.TEXT]
        case [operator, _] if operator in _FILES:
            roles = [WordRole.TEXT, WordRole.LIST]
        case [operator, _] if operator in _TEXTS:
            roles = [WordRole.TEXT, WordRole.TEXT]
        case [operator, number] if operator == "-t" and number.isascii() and number.isdigit():
            roles = [WordRole.TEXT, WordRole.TEXT]
        case [_, operator, _] if operator in _SAME or (operator == "=~" and computes):
            roles = [WordRole.TEXT] * 3
        case [_, operator, _] if operator in _PAIRS:
            roles = [WordRole.LIST, WordRole.TEXT, WordRole.LIST]
        case [_, operator, _] if operator in _ORDER:
            if not all(_is_number(word, computes=computes) for word in (words[0], words[2])):
                return None
            roles = [WordRole.TEXT] * 3
        case _:
            return None
    if any(
        role is WordRole.LIST and not (word.kind is WordKind.LITERAL or word.single)
        for role, word in zip(roles, words, strict=True)
    ):
        return None
    uses = tuple(WordUse(role, word) for role, word in zip(roles, words, strict=True))
    return ParsedCommand(program, operands=words, uses=uses)


def _is_number(word: Word, *, computes: bool) -> bool:
    """It is one, or test says that it is none; [[ computes what it is, and may run a command."""
    if word.kind is WordKind.UNKNOWN:
        return not computes or word.text in _NUMBERS_OF_BASH
    return word.known and _NUMBER.fullmatch(word.text) is not None


# ── the others ──────────────────────────────────────────────────────────────────────────────────


def _numbers_only(parsed: ParsedCommand) -> bool:
    return all(re.fullmatch(r"[0-9]+|\$\?", word.text) for word in parsed.operands)


def _jobs_only(parsed: ParsedCommand) -> bool:
    """wait 123 %1 $!: a name would be computed with some options."""
    return all(re.fullmatch(r"[0-9]+|%[0-9]+|\$!", word.text) for word in parsed.operands)


def _set(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    """set -eux, +x, -o pipefail: bare it prints every variable, and other words become $1 and $2."""
    if not words or not all(word.known for word in words):
        return None
    texts = [word.text for word in words]
    position = 0
    while position < len(texts):
        if not re.fullmatch(r"[-+](?=[euxo])[eux]*o?", texts[position]):
            return None
        if texts[position].endswith("o"):
            position += 1
            if position == len(texts) or texts[position] not in ("pipefail", "errexit", "nounset", "xtrace"):
                return None
        position += 1
    return ParsedCommand(program, operands=words, uses=tuple(WordUse(WordRole.TEXT, word) for word in words))


def _ends_by_itself(parsed: ParsedCommand) -> bool:
    """sleep for a number of seconds, minutes, hours or days."""
    return all(word.known and re.fullmatch(r"[0-9]*\.?[0-9]+[smhd]?", word.text) for word in parsed.operands)


def _names_commands(parsed: ParsedCommand) -> bool:
    """command -v and -V, which only say where a command is; `command` alone runs it."""
    return parsed.has("vV")


def _says(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    """Words that are printed or passed over, whatever they are; file patterns list names."""
    roles = (WordRole.LIST if word.kind is WordKind.GLOB else WordRole.TEXT for word in words)
    return ParsedCommand(program, operands=words, uses=tuple(map(WordUse, roles, words)))


def _prints(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    """printf with a known format: -v and %n assign variables."""
    if words and words[0].known and words[0].text == "--":
        words = words[1:]
    elif words and words[0].text.startswith("-"):
        return None
    if not words or words[0].kind is not WordKind.LITERAL:
        return None
    if re.search(r"%[^A-Za-z%]*[hlLjzqt]*n|%[^A-Za-z%]*(?:[0-9]{5}|\*)", words[0].text):
        return None  # also a width that fills the memory
    return _says(program, words)


_BARE = Program(operands=())
_NUMBER_AT_MOST = Program(operands=_TEXT, most=1, free=True, check=_numbers_only)

PROGRAMS: Mapping[str, Program] = MappingProxyType(
    {
        **dict.fromkeys(("echo", "true", "false", ":"), Program(operands=_TEXT, parser=_says)),
        "printf": Program(operands=_TEXT, parser=_prints),
        **dict.fromkeys(("exit", "return", "break", "continue"), _NUMBER_AT_MOST),
        "test": Program(operands=_TEXT, parser=_test),
        "[": Program(operands=_TEXT, parser=_bracket),
        "[[": Program(operands=_TEXT, parser=_conditional),
        "pwd": Program(flags="LP --logical --physical", operands=()),
        "type": Program(flags="afptP", operands=_TEXT),
        "command": Program(flags="vVp", operands=_TEXT, permutes=False, check=_names_commands),
        "which": Program(flags="as --all", operands=_TEXT),
        "hash": Program(flags="l", operands=()),
        "jobs": Program(flags="lnprs", operands=()),
        "times": _BARE,
        "alias": Program(flags="p", operands=()),
        "umask": Program(flags="pS", operands=()),
        "ulimit": Program(flags="aHScdefilmnpqrstuvx", operands=()),
        "dirs": Program(flags="lpv", operands=()),
        "shopt": Program(flags="pq", operands=_TEXT),
        "set": Program(operands=_TEXT, parser=_set),
        "sleep": Program(operands=_TEXT, ends=_ends_by_itself),
        "wait": Program(operands=_TEXT, permutes=False, free=True, check=_jobs_only),
        "kill": Program(flags="lL", operands=_TEXT, check=lambda parsed: parsed.has("lL")),
        "trap": Program(flags="lp", operands=_TEXT, check=lambda parsed: bool(parsed.options) or not parsed.operands),
    }
)
