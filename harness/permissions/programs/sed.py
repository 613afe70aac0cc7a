"""sed: which scripts only print."""

import re
from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from harness.permissions.programs.grammar import ParsedCommand, Program, WordRole, WordUse, parse
from harness.permissions.programs.scripts import CLASS, TWO_READINGS, NotHarmless
from harness.permissions.shell.syntax import Word


def _delimited(text: str, position: int, delimiter: str, *, lines: bool = False) -> int | None:
    """Where the unescaped delimiter is; None where there is none on this line. `lines`: \\ and a newline is allowed."""
    while position < len(text):
        character = text[position]
        if character == delimiter:
            return position
        if character == "\n":
            return None
        if character == "\\":
            position += 1
            if text[position : position + 1] == "\n" and not lines:
                return None
        position += 1
    return None


_BRACKET = rf"\[\^?+\]?+(?:{CLASS}|[^\[\]\n])*+\]"
_ADDRESS = re.compile(r"[0-9]+~[0-9]+|[0-9]+|\$")
_LOOP = re.compile(r"\s*:([a-zA-Z]\w*)\s*[;\n]\s*N\s*[;\n]\s*\$!\s*b\s*\1\s*([;\n]|$)")
"""Gathers all lines before anything else: `:a;N;$!ba;`."""
_END = re.compile(r"[ \t]*(?:[;\n]|(?=[}#])|$)")
_WITH_D = frozenset("NnPpDdqQ={")
"""Commands beside which D comes to an end: none of them puts a newline into the pattern space but by reading one."""


class _Script:
    """Reads a script; raises NotHarmless where it may do more than print, or may not end."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.depth = 0
        self.commands: set[str] = set()

    def read(self) -> None:
        if TWO_READINGS.search(self.text):
            raise NotHarmless
        if loop := _LOOP.match(self.text):
            self.at = loop.end()
        while self._skip(" \t\n;") < len(self.text):
            self._command()
        if self.depth or ("D" in self.commands and not self.commands <= _WITH_D):
            raise NotHarmless

    def _skip(self, characters: str) -> int:
        while self.at < len(self.text) and self.text[self.at] in characters:
            self.at += 1
        return self.at

    def _next(self) -> str:
        if self.at >= len(self.text):
            raise NotHarmless
        self.at += 1
        return self.text[self.at - 1]

    def _command(self) -> None:
        self._addresses()
        command = self._next()
        self.commands.add(command)
        match command:
            case "#":
                end = self.text.find("\n", self.at)
                self.at = len(self.text) if end < 0 else end
            case "{":
                self.depth += 1
            case "}":
                self.depth -= 1
                if self.depth < 0:
                    raise NotHarmless
                self._end()
            case "s":
                self._substitute()
            case "y":
                delimiter = self._delimiter()
                self._until(delimiter)
                self._until(delimiter)
                self._end()
            case "a" | "i" | "c":
                self._insert()
            case "q" | "Q" | "l":
                self._skip(" \t")
                self._skip("0123456789")
                self._end()
            case "b" | "t" | "T":
                found = re.compile(r"[ \t]*(?:[;\n]|$)").match(self.text, self.at)
                if found is None:
                    raise NotHarmless
                self.at = found.end()
            case _ if command in "pPdD=nNgGhHxFz":
                self._end()
            case _:
                raise NotHarmless

    def _addresses(self) -> None:
        if self._address():
            self._skip(" \t")
            if self.text[self.at : self.at + 1] == ",":
                self.at += 1
                self._skip(" \t")
                if found := re.compile(r"[+~][0-9]+").match(self.text, self.at):
                    self.at = found.end()
                elif not self._address():
                    raise NotHarmless
        self._skip(" \t")
        if self.text[self.at : self.at + 1] == "!":
            self.at += 1
            self._skip(" \t")

    def _address(self) -> bool:
        if found := _ADDRESS.match(self.text, self.at):
            self.at = found.end()
            return True
        if self.text[self.at : self.at + 1] not in ("/", "\\"):
            return False
        self._expression("/" if self._next() == "/" else self._delimiter())
        while self.text[self.at : self.at + 1] in ("I", "M"):
            self.at += 1
        return True

    def _delimiter(self) -> str:
        delimiter = self._next()
        if not (delimiter.isascii() and delimiter.isprintable()) or delimiter.isalnum() or delimiter in " \\[]":
            raise NotHarmless
        return delimiter

    def _until(self, delimiter: str, *, lines: bool = False) -> str:
        end = _delimited(self.text, self.at, delimiter, lines=lines)
        if end is None:
            raise NotHarmless
        text, self.at = self.text[self.at : end], end + 1
        return text

    def _expression(self, delimiter: str) -> int | None:
        """Read a regular expression. Where it ends for a sed that accepts a delimiter inside brackets, if different."""
        pattern = rf"(?:{_BRACKET}|\\[^\n]|[^\\\[\n{re.escape(delimiter)}])*+"
        found = re.compile(pattern).match(self.text, self.at)
        assert found is not None
        if self.text[found.end() : found.end() + 1] != delimiter:
            raise NotHarmless
        simply, self.at = _delimited(self.text, self.at, delimiter), found.end() + 1
        return None if simply == found.end() else simply

    def _substitute(self) -> None:
        delimiter = self._delimiter()
        simply = self._expression(delimiter)
        if simply is not None:
            # That sed refuses the expression, but only when it has opened the file of a flag w.
            end = _delimited(self.text, simply + 1, delimiter, lines=True)
            if end is not None and re.match(r"[gpiImM0-9 \t]*[ew]", self.text[end + 1 :]):
                raise NotHarmless
        self._until(delimiter, lines=True)
        self._skip("gpiImM0123456789")
        self._end()

    def _insert(self) -> None:
        """a, i and c: all the rest of the line is text."""
        found = re.compile(r"[ \t]*\\?[ \t]*\n?[^\\\n]+(?=\n|$)").match(self.text, self.at)
        if found is None or not found[0].strip(" \t\\\n") or ("\n" in found[0] and "\\" not in found[0]):
            raise NotHarmless
        self.at = found.end()

    def _end(self) -> None:
        found = _END.match(self.text, self.at)
        if found is None:
            raise NotHarmless
        self.at = found.end()


def _only_prints(script: str) -> bool:
    try:
        _Script(script).read()
    except NotHarmless:
        return False
    return True


def _sed(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    parsed = parse(replace(program, parser=None), words)
    if parsed is None or (len(words) == 1 and parsed.has("--help --version")):
        return parsed
    inside = parsed.has("iI --in-place")
    given = [value for name, value in parsed.options if name in ("-e", "--expression") and value is not None]
    if not given and not parsed.has("f --file"):
        given = list(parsed.operands[:1])
    understood = all(word.known for word in given) and _only_prints("\n".join(word.text for word in given))
    uses = [WordUse(WordRole.WRITE, use.word) if inside and use.role is WordRole.READ else use for use in parsed.uses]
    if not understood:
        uses += [WordUse(WordRole.COMMAND, word) for word in given]
    return replace(parsed, uses=tuple(uses), acts=inside or parsed.acts)


_SED = Program(
    flags="nErsuz --quiet --silent --regexp-extended --separate --unbuffered --null-data --debug --sandbox --help "
    "--version",
    texts="e --expression",
    maybe="iI --in-place",
    commands="f --file",
    operands=(WordRole.TEXT, WordRole.READ),
    unless="ef --expression --file",
    parser=_sed,
)


PROGRAMS: Mapping[str, Program] = MappingProxyType(dict.fromkeys(("sed", "gsed"), _SED))
