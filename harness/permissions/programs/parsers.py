"""How programs whose options are not as in others are read, and the roles of their words, in short."""

import re
from collections.abc import Callable, Iterable
from dataclasses import replace

from harness.permissions.programs.grammar import ParsedCommand, Program, WordRole, WordUse, parse
from harness.permissions.shell.syntax import Word, WordKind

COMMAND, EXECUTE, FOLLOWED, LIST = WordRole.COMMAND, WordRole.EXECUTE, WordRole.FOLLOWED, WordRole.LIST
READ, TEXT, TREE, WRITE = WordRole.READ, WordRole.TEXT, WordRole.TREE, WordRole.WRITE

ABOUT = " --help --version"
"""Options of nearly every program."""
TEXTS = (TEXT,)
LISTS = (LIST,)

Parser = Callable[[Program, tuple[Word, ...]], ParsedCommand | None]


def plain(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    """Read the words by the tables of the program, without its own parser."""
    return parse(replace(program, parser=None), words)


def and_uses(parsed: ParsedCommand, uses: Iterable[WordUse]) -> ParsedCommand:
    """The same command with further uses."""
    return replace(parsed, uses=(*parsed.uses, *uses))


def joined(folder: Word, name: Word) -> Word:
    """A path that counts from a folder."""
    if name.home or name.text.startswith("/") or folder.text == ".":
        return name
    kinds = (folder.kind, name.kind)
    kind = next((one for one in (WordKind.UNKNOWN, WordKind.PIPE, WordKind.GLOB) if one in kinds), WordKind.LITERAL)
    return Word(f"{folder.text.rstrip('/')}/{name.text}", kind, home=folder.home)


def named(words: Iterable[Word]) -> bool:
    """The words are what they say, not the names that another command lists: their content is not visible here."""
    return all(word.known and "\0" not in word.text for word in words)


def changed_in_place(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    """Written files are read as well: by an editor, a database, a program that packs a file where it is."""
    parsed = plain(program, words)
    return parsed and and_uses(parsed, [WordUse(READ, use.word) for use in parsed.uses if use.role is WRITE])


def loose(writes: str = "", executes: str = "", commands: str = "", last: WordRole | None = None) -> Parser:
    """Programs with options of their own kind: every word that is not an option counts as read, and what
    follows the first : = or @ in it.

    `writes`, `executes`, `commands`: options with one dash, whose value is the next word. `last`: the role of the last
    word besides. An option with a value in it is not understood.
    """
    roles = {
        **dict.fromkeys(writes.split(), WRITE),
        **dict.fromkeys(executes.split(), EXECUTE),
        **dict.fromkeys(commands.split(), COMMAND),
    }

    def read(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
        uses, operands = [], []
        role = READ
        for word in words:
            if word.kind is WordKind.UNKNOWN:
                return None
            if word.text.startswith("-") and word.text != "-":
                if re.search(r"[=/~.@]", word.text):
                    return None
                role = roles.get(word.text, READ)
                continue
            parts = dict.fromkeys(filter(None, (*re.split("[:=@,]", word.text)[1:], _rest(word.text))))
            uses += [WordUse(READ, Word(part, word.kind)) for part in parts]
            uses.append(WordUse(role, word))
            if role is not READ:
                uses.append(WordUse(READ, word))
            else:
                operands.append(word)
            role = READ
        if last is not None and operands:
            uses.append(WordUse(last, operands[-1]))
        return ParsedCommand(program, operands=tuple(operands), uses=tuple(uses))

    return read


def _rest(text: str) -> str:
    found = re.search("[:=@]+(.*)", text, re.DOTALL)
    return found[1] if found else ""


def writer(flags: str = "", **tables: str) -> Program:
    """A program that changes all that it is given."""
    return Program(flags=flags, operands=(WRITE,), looks=False, **tables)  # type: ignore[arg-type]


def loose_program(writes: str = "", executes: str = "", commands: str = "", last: WordRole | None = None) -> Program:
    return Program(looks=False, parser=loose(writes, executes, commands, last))
