"""Slash commands that files define: a prompt with placeholders for the typed arguments."""

import re
import shlex
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from harness.base.front_matter import one_line
from harness.definitions.agents import TRUST
from harness.definitions.files import (
    NAME,
    DefinitionFolder,
    DefinitionOrigin,
    DefinitionProblem,
    MarkdownFile,
    Problems,
    markdown_files,
)

KEYS = ("argument-hint", "model", "allowed-tools")
"""Read besides the description."""
DESCRIPTION_CHARACTERS = 200
SHELL_NOTE = (
    "(The commands written as !`…` above were not run. Run those that you need with bash; the user is asked as always.)"
)

_PLACE = re.compile(r"\$ARGUMENTS\b|\$(?P<number>[1-9])(?!\d)")
_SHELL = re.compile(r"!`(?P<command>[^`\n]+)`|^!(?P<line>[^\s!\[`].*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CommandFile:
    """One command."""

    name: str
    description: str
    """One line."""
    hint: str
    """What may be typed behind the name."""
    prompt: str
    """With $ARGUMENTS and $1 … in it."""
    model: str
    """As it is written; empty: that of the session."""
    tools: str | None
    """A list of the only tools of its turn, as it is written; None: all of them."""
    origin: DefinitionOrigin
    file: Path

    @property
    def shell(self) -> tuple[str, ...]:
        """The shell commands in it, which are not run."""
        return tuple(match["command"] or match["line"] for match in _SHELL.finditer(self.prompt))

    def text(self, arguments: str) -> str:
        """The prompt with the arguments in its placeholders, or after it if it has none."""
        text, places = with_arguments(self.prompt, arguments)
        if arguments and not places:
            text = f"{text}\n\n{arguments}"
        return f"{text}\n\n{SHELL_NOTE}" if self.shell else text


@dataclass(frozen=True, slots=True)
class Commands:
    """The commands that there are."""

    commands: tuple[CommandFile, ...]
    """By name."""
    problems: tuple[DefinitionProblem, ...]

    def get(self, name: str) -> CommandFile | None:
        """The one of this name."""
        return next((command for command in self.commands if command.name == name), None)


def discover_commands(places: Iterable[DefinitionFolder], *, trusted: bool) -> Commands:
    """Read the commands of all places; of two with one name the later one is used, which is reported.

    A file `git/commit.md` is the command git:commit. `trusted`: the files of the project may choose models. Never
    raises for the content of the disk.
    """
    found: dict[str, CommandFile] = {}
    problems = Problems()
    for place in places:
        for file in markdown_files(place, KEYS, problems):
            command = _command(file, problems)
            if command is None:
                continue
            if command.model and place.origin is DefinitionOrigin.PROJECT and not trusted:
                problems.note(command.file, f"names the model {command.model}, which {TRUST.format('the model')}")
                command = replace(command, model="")
            before = found.get(command.name)
            if before is not None and before.file.resolve() != command.file.resolve():
                problems.note(before.file, f"is hidden by {command.file} of the same name")
            found[command.name] = command
    return Commands(tuple(found[name] for name in sorted(found)), tuple(problems))


def _command(file: MarkdownFile, problems: Problems) -> CommandFile | None:
    values, body = file.parts.values, file.parts.body
    problems.extend(DefinitionProblem(file.path, text) for text in file.parts.problems)
    name = ":".join(file.relative.parts).lower()
    if not NAME.fullmatch(name):
        problems.note(file.path, f"is left out: {name[:80]!r} is no name for a command; rename the file")
        return None
    if not body:
        problems.note(file.path, "is left out: it says nothing")
        return None
    for key in ("allowed-tools",):
        if (line := file.parts.lost.get(key)) is not None:  # a list that cannot be read must not mean all tools
            problems.note(file.path, f"is left out: line {line}: {key} has to be a list of names")
            return None
    first = next((one_line(line.lstrip("# ")) for line in body.splitlines() if line.strip("# ")), "")
    description = (values.get("description") or first)[:DESCRIPTION_CHARACTERS]
    hint, tools = values.get("argument-hint", ""), values.get("allowed-tools")
    return CommandFile(name, description, hint, body, file.model, tools, file.place.origin, file.path)


def with_arguments(text: str, arguments: str) -> tuple[str, int]:
    """The text with the arguments in its placeholders ($ARGUMENTS, $1 to $9), and how many of these it has."""
    words = _words(arguments)

    def put(match: re.Match[str]) -> str:
        number = int(match["number"] or 0)
        return arguments if not number else words[number - 1] if number <= len(words) else ""

    return _PLACE.subn(put, text)


def _words(arguments: str) -> list[str]:
    try:
        return shlex.split(arguments)
    except ValueError:  # a quotation mark without its other half
        return arguments.split()
