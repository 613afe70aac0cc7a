"""What a command line is made of, once its quoting is understood."""

from dataclasses import dataclass
from enum import Enum
from typing import Final, Literal

Dialect = Literal["bash", "portable"]
"""How a text is read: as bash does, or only where bash, dash and the ash of busybox read the same."""
BASH: Final = "bash"
PORTABLE: Final = "portable"


class Unreadable(Exception):  # noqa: N818  it says what the line is
    """The effect of the line is not certain. Its text ends the sentence "it cannot be read: …"."""


class WordKind(Enum):
    """How much of a word is known before the shell has run."""

    LITERAL = "literal"
    GLOB = "glob"
    """A file pattern: one word for each file that fits, or the pattern itself."""
    PIPE = "pipe"
    """The output or input of commands, under a name that the shell makes up: <(…), >(…)."""
    UNKNOWN = "unknown"
    """A variable, the output of commands, braces: any text, and as many words."""


@dataclass(frozen=True, slots=True)
class Word:
    """One word of a command."""

    text: str
    """Without quotes; unknown parts are left as written."""
    kind: WordKind = WordKind.LITERAL
    home: bool = False
    """It begins with a ~ for the home folder."""
    split: bool = False
    """It comes from a variable without quotes, so that a blank in the name of a file makes two words of it, and a * in
    it is a file pattern once more. Where it is unknown: it may be several words, or none, and file patterns."""
    single: bool = False
    """A file pattern that is one word for each file: the variable of a loop over files, in quotes."""

    @property
    def known(self) -> bool:
        """The command gets exactly this text."""
        return self.kind is WordKind.LITERAL and not self.home


@dataclass(frozen=True, slots=True)
class Assignment:
    """NAME=value before a command, or alone; the variable of a `for`."""

    name: str
    value: Word


@dataclass(frozen=True, slots=True)
class Redirect:
    """Where the input or output of a command goes."""

    operator: str
    """As written, without the number before it: >, >>, <, <>, >|, &>, &>>, >&."""
    target: Word

    @property
    def writes(self) -> bool:
        """It makes or changes what it names."""
        return self.operator != "<"


@dataclass(frozen=True, slots=True)
class SimpleCommand:
    """One command with its assignments and redirections."""

    words: tuple[Word, ...]
    """The program and its arguments; empty where there are only assignments or redirections."""
    assignments: tuple[Assignment, ...] = ()
    redirects: tuple[Redirect, ...] = ()
    repeated: bool = False
    """It is inside a loop."""
    text: str = ""
    """As written."""
    variables: tuple[str, ...] = ()
    """Names of the variables that the shell puts into it: into its words, assignments and redirections, its
    here-strings, and its here-documents (those may come as a command without words)."""
    in_chain: bool = False
    """Its line is nothing but commands joined by &&: it runs only if those before it have succeeded."""
    looped: tuple[Word, ...] = ()
    """The words of a `for`, which comes as a command without words of its own."""

    @property
    def program(self) -> str | None:
        """The first word; None where there is none or it is not known."""
        return self.words[0].text if self.words and self.words[0].known else None
