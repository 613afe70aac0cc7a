"""One grammar per program: the options with which it only looks, and what it does with each of its words.

    GREP = Program(
        flags="inlcvwxEFPohHqs --ignore-case --count",
        texts="eABCm --regexp --include",
        reads="f --file",
        operands=(WordRole.TEXT, WordRole.READ),
        unless="e f --regexp --file",
        tree="r --recursive",
    )
    parse(GREP, words)  ->  ParsedCommand with a WordUse for every word, or None where a word is not in the grammar

The tables are an allow-list: a command runs unasked only if `parse` understands every word of it. A command that is not
understood is not known to look, and whatever may be a path among its words is one.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cache, cached_property
from types import MappingProxyType

from harness.permissions.shell.syntax import Word, WordKind


class WordRole(Enum):
    """How a program uses one of its words."""

    TEXT = "text"
    """Not a path: a pattern, a number, a message."""
    LIST = "list"
    """A path whose names, sizes, dates or modes are shown, but no content."""
    READ = "read"
    """A file whose content is read, or a folder whose names are."""
    TREE = "tree"
    """A folder; every file in it is read; links inside it are not followed."""
    FOLLOWED = "followed"
    """The same, and links inside it are followed."""
    TRACKED = "tracked"
    """A file, or a folder whose git-tracked files are all read."""
    CHANGED = "changed"
    """The same, but git shows its changes over time: only a part of a file, or a file that is gone."""


LIST, READ, TEXT = WordRole.LIST, WordRole.READ, WordRole.TEXT
_RECURSIVE = frozenset({WordRole.TREE, WordRole.FOLLOWED})


@dataclass(frozen=True, slots=True)
class WordUse:
    """A word and its use."""

    role: WordRole
    word: Word
    top: bool = False
    """A relative path counts from the top of the git repository, or from the current folder: both are meant."""


@dataclass(frozen=True)
class ParsedCommand:
    """A command that does nothing but look: its words are all in the grammar."""

    program: "Program"
    options: tuple[tuple[str, Word | None], ...] = ()
    """As written (`-n`, `--lines`), each with its value; a cluster is taken apart."""
    operands: tuple[Word, ...] = ()
    """All other words, those behind `--` included."""
    uses: tuple[WordUse, ...] = ()
    """Values of options and operands by role, and the folder that is meant where none is named."""
    turning: tuple[Word, ...] = ()
    """File patterns that may match a name beginning with a dash, which would be read as an option."""
    skips_hidden: bool = False
    """Inside a folder, names that begin with a dot are passed over. An ignore file (.gitignore, .ignore, .rgignore,
    .fdignore) with a line that begins with ! brings them back, and a folder that is named itself is not passed over."""
    folder: Word | None = None
    """Where it works, if not in the current folder (git -C); the paths in `uses` take it into account already."""

    def has(self, names: str) -> bool:
        """One of these options was given; `names` as in `Program.flags`."""
        wanted = option_names(names)
        return any(name in wanted for name, _ in self.options)

    @cached_property
    def ends(self) -> bool:
        """It terminates for every input."""
        return self.program.ends is None or self.program.ends(self)


@dataclass(frozen=True, slots=True)
class Program:
    """The grammar of a program or of one subcommand.

    Options are written as one text: letters are short options, `--name` is a long one, `-name` a word of its own with a
    single dash. Unlisted options are not in the grammar, including abbreviations of long options.
    """

    flags: str = ""
    """Options without a value."""
    texts: str = ""
    """Options with a value that is text."""
    maybe: str = ""
    """Options that may have a value, glued on or behind `=`, which is text."""
    reads: str = ""
    """Options with a value of role READ."""
    operands: tuple[WordRole, ...] = (READ,)
    """Roles of the operands in order; the last is for all that follow. Empty: it takes none."""
    most: int | None = None
    """Most operands; None: any number."""
    unless: str = ""
    """Options that take the place of the first operand (grep -e)."""
    tree: str = ""
    """Options with which operands of role READ become TREE."""
    follow: str = ""
    """Options with which operands of role READ or TREE become FOLLOWED."""
    default: bool = False
    """Without an operand of the last role it works on the current folder; where `tree` is set, only with `tree`."""
    numbers: bool = False
    """A dash and digits are an option (head -5)."""
    permutes: bool = True
    """Options may follow operands. False: the first operand ends them."""
    free: bool = False
    """Operands are mere text, which may hold what only the shell knows."""
    check: Callable[[ParsedCommand], bool] | None = None
    """What else has to hold for it to only look, such as a harmless script."""
    ends: Callable[[ParsedCommand], bool] | None = None
    """Whether it terminates; None: it does."""
    subcommands: Mapping[str, "Program"] = field(default_factory=dict)
    """By name; the options above are those before the name."""
    bare: bool = False
    """With subcommands: it may be called without one."""
    parser: Callable[["Program", tuple[Word, ...]], ParsedCommand | None] | None = None
    """Reads the words instead of `plain`, where options are not as in other programs (find, test, ps)."""


Parser = Callable[[Program, tuple[Word, ...]], ParsedCommand | None]
HERE = Word(".")
"""The folder that is meant where none is named."""


def parse(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    """The words behind the name of a program, understood; None where one of them is not in the grammar.

    A word that only the shell knows is in the grammar where the program is `free`; a file pattern is, where it cannot
    turn into an option or `ParsedCommand.turning` names it.
    """
    found = (program.parser or plain)(program, words)
    if found is None or found.program is not program or program.check is None:
        return found  # a subcommand has had its own check
    return found if program.check(found) else None


def plain(program: Program, words: tuple[Word, ...]) -> ParsedCommand | None:
    """Read the words by the tables of the program, without its own parser and check."""
    reading = _Reading(program)
    if not reading.read(words):
        return None
    if not program.subcommands:
        return reading.parsed()
    if not reading.operands:
        return reading.parsed() if program.bare else None
    name, rest = reading.operands[0], tuple(reading.operands[1:])
    inner = program.subcommands.get(name.text) if name.known else None
    found = None if inner is None else parse(inner, rest)
    if found is None:
        return None
    return replace(found, options=(*reading.options, *found.options), uses=(*reading.uses, *found.uses))


class _Reading:
    """Options and operands of one command, gathered in the order of the words."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.options: list[tuple[str, Word | None]] = []
        self.operands: list[Word] = []
        self.uses: list[WordUse] = []
        self.turning: list[Word] = []

    def read(self, words: tuple[Word, ...]) -> bool:
        """Whether every word is understood."""
        program = self.program
        flags = " ".join((program.flags, program.maybe, program.tree, program.follow))
        kinds = _kinds_of(flags, program.texts, program.reads)
        position = 0
        while position < len(words):
            word, position = words[position], position + 1
            if word.known and word.text == "--":
                self.operands += words[position:]
                break
            if not _is_option(word):
                if word.kind is WordKind.UNKNOWN and not self._may_be_unknown():
                    return False
                if word.kind is WordKind.GLOB and word.text[:1] in "*?[":
                    self.turning.append(word)
                self.operands.append(word)
                if not self.program.permutes or self.program.subcommands:
                    self.operands += words[position:]
                    break
                continue
            taken = self._option(word, words[position] if position < len(words) else None, kinds)
            if taken is None:
                return False
            position += taken
        return all(word.kind is not WordKind.UNKNOWN or self.program.free for word in self.operands) or bool(
            self.program.subcommands
        )

    def _may_be_unknown(self) -> bool:
        """The word cannot turn into an option that matters."""
        return self.program.free and (bool(self.operands) or not _matters(self.program))

    def _option(self, word: Word, following: Word | None, kinds: Mapping[str, WordRole | None]) -> int | None:
        """Read one option; how many words behind it are its value, or None where it is not in the grammar."""
        text = word.text
        if text.startswith("--"):
            name, equals, value = text.partition("=")
            return self._one(name, Word(value, word.kind) if equals else None, word, following, kinds, glued="=")
        name, equals, value = text.partition("=")
        if name in kinds and len(name) > len("-n"):  # behind a single letter, "=" is a part of the value
            return self._one(name, Word(value, word.kind) if equals else None, word, following, kinds, glued="=")
        if self.program.numbers and text[1:].isascii() and text[1:].isdigit() and word.known:
            self.options.append((text, None))
            return 0
        for number, letter in enumerate(text[1:], start=1):
            rest = text[number + 1 :]
            name = f"-{letter}"
            if name not in kinds:
                return None
            if name in option_names(self.program.maybe) or kinds[name] is not None:
                if rest.startswith("=") and kinds[name] not in (None, WordRole.TEXT):
                    return None  # programs differ in whether it is a part of the path
                return self._one(name, Word(rest, word.kind) if rest else None, word, following, kinds, glued="")
            if not word.known:
                return None
            self.options.append((name, None))
        return 0

    def _one(
        self,
        name: str,
        value: Word | None,
        word: Word,
        following: Word | None,
        kinds: Mapping[str, WordRole | None],
        *,
        glued: str,
    ) -> int | None:
        """An option that may have a value; `word` holds it, with the value where it is glued on."""
        if name not in kinds:
            return None
        role, maybe = kinds[name], name in option_names(self.program.maybe)
        if role is None and not maybe:
            if value is not None or not word.known:
                return None
            self.options.append((name, None))
            return 0
        if value is None and maybe:
            self.options.append((name, None))
            return 0
        if value is not None:
            # The value of a pattern stays in its option, whatever fits, if it cannot be empty; only text may be one.
            stays = word.kind is WordKind.GLOB and (maybe or role is WordRole.TEXT) and (glued or value.text[0] != "*")
            if not word.known and not stays:
                return None
            self._value(name, replace(value, home=value.text.startswith("~/") and bool(glued)), role or WordRole.TEXT)
            return 0
        if following is None or following.kind not in (WordKind.LITERAL, WordKind.PIPE):
            return None  # a pattern there may be several words, of which only the first is the value
        self._value(name, following, role or WordRole.TEXT)
        if self.operands and self.program.operands and not self.program.subcommands:
            # Where the first operand ends the options, as on some systems, this word is an operand.
            self.uses.append(WordUse(self.program.operands[-1], following))
        return 1

    def _value(self, name: str, value: Word, role: WordRole) -> None:
        self.options.append((name, value))
        if role is not WordRole.TEXT:
            self.uses.append(WordUse(role, value))

    def parsed(self) -> ParsedCommand | None:
        """All of it, the operands by their roles; None where there are more than the grammar has."""
        program, operands = self.program, tuple(self.operands)
        given = {name for name, _ in self.options}
        roles = program.operands[1:] if given & option_names(program.unless) else program.operands
        if operands and (not roles or (program.most is not None and len(operands) > program.most)):
            return None
        if any(word.kind is WordKind.GLOB for word in operands) and program.most is not None:
            return None  # it may be more of them
        uses = list(self.uses)
        shifted = False
        for number, word in enumerate(operands):
            first = min(number, len(roles) - 1)
            # A pattern may be several words: it and what follows it may have the roles of later words.
            shifted = shifted or word.kind is WordKind.GLOB
            wanted = [*roles[first:]] if shifted else [roles[first]]
            uses += [WordUse(self._deepened(role, given), word) for role in dict.fromkeys(wanted)]
        fixed = len(roles) - 1
        if program.default and roles and len(operands) <= fixed:
            role = self._deepened(roles[-1], given)
            if not program.tree or role in _RECURSIVE:
                uses.append(WordUse(role, HERE))
        return ParsedCommand(program, tuple(self.options), operands, tuple(uses), tuple(self.turning))

    def _deepened(self, role: WordRole, given: set[str]) -> WordRole:
        if role in (WordRole.READ, WordRole.TREE) and given & option_names(self.program.follow):
            return WordRole.FOLLOWED
        return WordRole.TREE if role is WordRole.READ and given & option_names(self.program.tree) else role


def _is_option(word: Word) -> bool:
    return word.text.startswith("-") and word.text != "-" and word.kind is not WordKind.PIPE and not word.home


def _matters(program: Program) -> bool:
    """One of its options does more than change how it prints its words."""
    return bool(program.reads or (program.texts and (program.check or program.ends)))


@cache
def option_names(text: str) -> frozenset[str]:
    """The names of options in a text such as "ab --all -name"."""
    return frozenset(_each_name(text))


def _each_name(text: str) -> Iterator[str]:
    for part in text.split():
        if part.startswith("-"):
            yield part
        else:
            yield from (f"-{letter}" for letter in part)


@cache
def _kinds_of(flags: str, texts: str, reads: str) -> Mapping[str, WordRole | None]:
    """The role of the value of every option; None: it has no value, or need not have one."""
    return MappingProxyType(
        {
            **dict.fromkeys(option_names(flags)),
            **dict.fromkeys(option_names(texts), TEXT),
            **dict.fromkeys(option_names(reads), READ),
        }
    )
