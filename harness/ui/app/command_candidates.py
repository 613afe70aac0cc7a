"""The slash commands as candidates, with what this session can put behind them."""

import re
from collections.abc import Iterable

from harness.session import Session
from harness.ui.app.completion import Candidate
from harness.ui.commands import Command


def command_candidates(commands: Iterable[Command], session: Session) -> tuple[Candidate, ...]:
    """A candidate for each command; one that takes something leaves a space for it."""
    return tuple(_candidate(command, session) for command in commands)


def _candidate(command: Command, session: Session) -> Candidate:
    name = f"/{command.name}"
    insert = f"{name} " if command.arguments else ""
    return Candidate(name, command.help, insert, tuple(map(Candidate, _arguments(command, session))))


def _arguments(command: Command, session: Session) -> list[str]:
    """Names that can follow: of models, of tools, and the words that the help itself spells out."""
    if command.name == "model":
        return list(dict.fromkeys((session.model, session.settings.model, *session.settings.fallback_models)))
    words = re.findall(r"(?<=\|)\w+|\w+(?=\|)", command.arguments)
    tools = [tool.name for tool in session.tools] if "TOOL" in command.arguments else []
    return tools + [word for word in words if word != "TOOL"]
