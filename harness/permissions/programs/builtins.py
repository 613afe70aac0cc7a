"""Builtins of bash: echo, test, set and their like, and the few programs of the same kind.

Built-ins that evaluate are not here, such as `printf -v`, `test -v`, read and let: a subscript in a name is expanded,
and may run a command. cd, pushd and popd change what all other words mean, and are known where the folders are.
"""

import re
from collections.abc import Mapping
from types import MappingProxyType

from harness.permissions.programs.grammar import LIST, TEXT, ParsedCommand, Program, WordUse
from harness.permissions.shell.syntax import Word, WordKind

# ── test, [ and [[ ──────────────────────────────────────────────────────────────────────────────

_FILES = frozenset(f"-{letter}" for letter in "abcdefghkprsuwxGLNOS")
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
    match [word.text for word in words]:
        case [_]:
            roles = [TEXT]
        case [operator, _] if operator in _FILES:
            roles = [TEXT, LIST]
        case ["-n" | "-z", _]:
            roles = [TEXT, TEXT]
        case ["-t", number] if number.isascii() and number.isdigit():
            roles = [TEXT, TEXT]
        case [_, operator, _] if operator in _SAME or (operator == "=~" and computes):
            roles = [TEXT] * 3
        case [_, operator, _] if operator in _PAIRS:
            roles = [LIST, TEXT, LIST]
        case [_, operator, _] if operator in _ORDER:
            if not all(_is_number(word, computes=computes) for word in (words[0], words[2])):
                return None
            roles = [TEXT] * 3
        case _:
            return None
    uses = tuple(map(WordUse, roles, words))
    if any(use.role is LIST and not (use.word.kind is WordKind.LITERAL or use.word.single) for use in uses):
        return None
    return ParsedCommand(program, operands=words, uses=uses)


def _is_number(word: Word, *, computes: bool) -> bool:
    """It is one, or test says that it is none; [[ computes what it is, and may run a command."""
    if word.kind is WordKind.UNKNOWN:
        return not computes or word.text in _NUMBERS_OF_BASH
    return word.known and _NUMBER.fullmatch(word.text) is not None


# ── the others ──────────────────────────────────────────────────────────────────────────────────


def _set(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    """set -eux, +x, -o pipefail: bare it prints every variable, and other words become $1 and $2."""
    text = " ".join(word.text if word.known else "?" for word in words)
    option = r"[-+](?:[eux]+|[eux]*o (?:pipefail|errexit|nounset|xtrace))"
    return ParsedCommand(program, operands=words) if re.fullmatch(f"{option}(?: {option})*", text) else None


def _each(pattern: str, parsed: ParsedCommand) -> bool:
    return all(word.known and re.fullmatch(pattern, word.text) for word in parsed.operands)


def _says(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    """Words that are printed or passed over, whatever they are; file patterns list names."""
    roles = (LIST if word.kind is WordKind.GLOB else TEXT for word in words)
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


_NUMBER_AT_MOST = Program(
    operands=(TEXT,),
    most=1,
    free=True,
    check=lambda parsed: all(re.fullmatch(r"[0-9]+|\$\?", word.text) for word in parsed.operands),
)
PROGRAMS: Mapping[str, Program] = MappingProxyType(
    {
        **dict.fromkeys(("echo", "true", "false", ":"), Program(operands=(), parser=_says)),
        "printf": Program(operands=(), parser=_prints),
        **dict.fromkeys(("exit", "return", "break", "continue"), _NUMBER_AT_MOST),
        "test": Program(operands=(), parser=_test),
        "[": Program(operands=(), parser=_bracket),
        "[[": Program(operands=(), parser=_conditional),
        "pwd": Program("LP --logical --physical", operands=()),
        "type": Program("afptP", operands=(TEXT,)),
        # `command` alone runs what it names.
        "command": Program("vVp", operands=(TEXT,), permutes=False, check=lambda parsed: parsed.has("vV")),
        "which": Program("as --all", operands=(TEXT,), free=True),
        "set": Program(operands=(), parser=_set),
        "sleep": Program(operands=(TEXT,), ends=lambda parsed: _each(r"[0-9]*\.?[0-9]+[smhd]?", parsed)),
        # Anything else that it writes to is a file.
        "tee": Program("a", operands=(TEXT,), check=lambda parsed: _each("/dev/null", parsed)),
    }
)
