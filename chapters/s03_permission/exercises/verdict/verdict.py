"""May a command line run? The line is already parsed; the verdict is missing."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.permissions.shell import SimpleCommand, Unreadable
from harness.permissions.shell.resolution import base_name, resolved_commands

ALLOW, ASK, DENY = "allow", "ask", "deny"


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of the user about a command."""

    verdict: str
    """ALLOW, ASK or DENY."""
    command: str
    """Its words. A * as the last one matches any further words, including none: `make *`."""

    def fits(self, words: Sequence[str]) -> bool:
        """Whether it matches a command with these words."""
        *wanted, last = self.command.split()
        return list(words[: len(wanted)]) == wanted if last == "*" else list(words) == [*wanted, last]


def bare(words: Sequence[str]) -> list[str]:
    """The same words, the program without its folder and in small letters: `make all` for `/usr/bin/Make all`."""
    return [base_name(words[0]), *words[1:]] if words else []


def decide(line: str, rules: Sequence[Rule]) -> str:
    """The verdict on a command line. A line that cannot be read for certain gets ASK."""
    try:
        commands = [run.simple for run in resolved_commands(line)]
    except Unreadable:
        return ASK
    return verdict(commands, rules) if commands else ALLOW


def verdict(commands: Sequence[SimpleCommand], rules: Sequence[Rule]) -> str:
    """The verdict on all commands of a line with at least one command.

    A command has `words`, `assignments` before them (`PATH=.`) and `redirects` (`> out.txt`), which say whether they
    write (`writes`). A word has its `text` without quotes, and is `known` unless only the shell will know what it is
    (`$NAME`, `$(date)`, `*.txt`).
    """
    # ── your part begins ─────────────────────────────────────────────
    words = [word.text for word in commands[0].words]
    for rule in rules:
        if rule.fits(words):
            return rule.verdict
    return ASK
    # ── your part ends ───────────────────────────────────────────────
