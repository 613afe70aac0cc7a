"""The slash commands as candidates, with what this session can put behind them."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from harness.session import Session
from harness.ui.app.command_arguments import looked_up
from harness.ui.app.completion import Candidate


class Described(Protocol):
    """A slash command, as far as it is offered."""

    @property
    def name(self) -> str:
        """Without the slash."""
        ...

    @property
    def arguments(self) -> str:
        """As the help shows them."""
        ...

    @property
    def help(self) -> str:
        """One line."""
        ...


@dataclass(frozen=True, slots=True)
class Offered:
    """A slash command that a file defines."""

    name: str
    arguments: str
    help: str


def command_candidates(commands: Iterable[Described], session: Session) -> tuple[Candidate, ...]:
    """A candidate for each command, the last of a name; one that takes something leaves a space for it."""
    named = {command.name: command for command in commands}
    return tuple(_candidate(command, session) for command in named.values())


def _candidate(command: Described, session: Session) -> Candidate:
    name = f"/{command.name}"
    insert = f"{name} " if command.arguments else ""
    look_up = looked_up(command.name, session)
    arguments = () if look_up is not None else tuple(map(Candidate, _arguments(command, session)))
    return Candidate(name, command.help, insert, arguments, look_up)


def _arguments(command: Described, session: Session) -> list[str]:
    """Names that can follow: of models, of tools, and the words that the help itself spells out."""
    if command.name == "model":
        return list(dict.fromkeys((session.model, session.settings.model, *session.settings.fallback_models)))
    words = re.findall(r"(?<=\|)\w+|\w+(?=\|)", command.arguments)
    tools = [tool.name for tool in session.tools] if "TOOL" in command.arguments else []
    return tools + [word for word in words if word not in ("TOOL", "ID")]
