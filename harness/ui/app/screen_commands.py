"""Slash commands that need a screen; all others are those of `harness.ui.commands.commands`."""

from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType
from typing import Any, Protocol

from harness.ui.commands.results import CommandError


class ScreenActions(Protocol):
    """What the commands here can do."""

    async def choose_theme(self, name: str) -> None:
        """Another theme; empty: choose from a list."""
        ...

    def copy_answer(self) -> None:
        """The last answer into the clipboard."""
        ...

    async def pick_session(self) -> None:
        """Choose a session to go on with."""
        ...

    async def pick_rewind(self) -> None:
        """Choose a prompt to go back to."""
        ...

    def full_panel(self) -> None:
        """The panel on the whole screen."""
        ...

    def show_keys(self) -> None:
        """Every key."""
        ...


@dataclass(frozen=True, slots=True)
class ScreenCommand:
    """One slash command."""

    name: str
    arguments: str
    help: str
    run: Callable[[ScreenActions, str], Awaitable[None] | None]
    """What it gives back ends when the user has chosen."""
    only_alone: bool = False
    """With something after it, it is the command of the plain REPL."""


def run_screen_command(line: str, screen: ScreenActions) -> Coroutine[Any, Any, None] | None:
    """What the line says, to be awaited; None when it is no command of the screen. Awaiting it raises CommandError."""
    name, _, argument = line[1:].strip().partition(" ")
    command = SCREEN_COMMANDS.get(name.lower())
    argument = argument.strip()
    if command is None or (command.only_alone and argument):
        return None
    return _run(command, argument, screen)


async def _run(command: ScreenCommand, argument: str, screen: ScreenActions) -> None:
    if argument and not command.arguments:
        raise CommandError(f"/{command.name} takes nothing after it; type /{command.name} alone.")
    choosing = command.run(screen, argument)
    if choosing is not None:
        await choosing


def known_theme(name: str, themes: Sequence[str]) -> str:
    """The theme that is meant. Raises CommandError with the nearest ones."""
    if name in themes:
        return name
    near = get_close_matches(name, themes, n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(near)}?" if near else "/theme lists them."
    raise CommandError(f"There is no theme {name!r}; {hint}")


_TABLE: Sequence[ScreenCommand] = (
    ScreenCommand("theme", "[name]", "other colours", lambda screen, name: screen.choose_theme(name)),
    ScreenCommand("copy", "", "the last answer into the clipboard", lambda screen, _: screen.copy_answer()),
    ScreenCommand("panel", "", "the recovery panel on the whole screen", lambda screen, _: screen.full_panel()),
    ScreenCommand("keys", "", "every key", lambda screen, _: screen.show_keys()),
    ScreenCommand("resume", "", "choose a session", lambda screen, _: screen.pick_session(), only_alone=True),
    ScreenCommand("rewind", "", "choose an earlier prompt", lambda screen, _: screen.pick_rewind(), only_alone=True),
)
SCREEN_COMMANDS: Mapping[str, ScreenCommand] = MappingProxyType({command.name: command for command in _TABLE})
