"""Lists and pages of the app, and the slash commands that open them."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from textual.content import Content

from harness.base.errors import HarnessError
from harness.base.external_text import visible
from harness.events import OWN_EFFORT
from harness.session import Opening, RewindPlan, RewindPoint, Session, SessionSummary
from harness.ui.app.keys import KeysScreen
from harness.ui.app.list_picker import Picker
from harness.ui.app.panel_view import FullPanel
from harness.ui.app.question import Question
from harness.ui.app.views import Views
from harness.ui.choices import Choice
from harness.ui.commands.results import CommandError, CommandResult, ShowText
from harness.ui.commands.session_commands import effort, effort_levels, model, model_rows
from harness.ui.lines.sessions import session_lines
from harness.ui.transcript.entries import TextEntry

if TYPE_CHECKING:
    from harness.ui.app.app import HarnessApp


class OpenSession(Protocol):
    """The session of the app; see `controller.Controller`."""

    @property
    def session(self) -> Session: ...

    @property
    def views(self) -> Views: ...

    async def switch(self, opening: Opening, text: str) -> None: ...

    def warn(self, text: str) -> None: ...

    def show_error(self, error: BaseException) -> None: ...


class Menu:
    """Opens lists and pages, and carries out the choice."""

    def __init__(self, app: "HarnessApp", controller: OpenSession) -> None:
        self._app = app
        self._controller = controller

    async def choose_theme(self, name: str) -> None:
        """Set the theme; an empty name opens a list. Raises CommandError for an unknown theme."""
        app = self._app
        themes = sorted(app.available_themes)
        if name:
            app.theme = known_theme(name, themes)
        elif (number := await self._chosen("Choose a theme", themes)) is not None:
            app.theme = themes[number]

    async def pick_model(self) -> None:
        """Choose the model of the next turn."""
        session = self._controller.session
        rows = model_rows(session)
        number = await self._chosen("Choose a model for the next prompt", [row for _, row in rows])
        if number is not None:
            self._say(model(session, rows[number][0]), "/model")

    async def pick_effort(self) -> None:
        """Choose how much the model thinks. Raises CommandError if it has no levels."""
        session = self._controller.session
        levels = effort_levels(session)
        if not levels:
            raise CommandError(f"{session.models.current} supports no effort levels.")
        lines = [f"{level}: what the model does by itself" if level == OWN_EFFORT else level for level in levels]
        now = session.models.effort or OWN_EFFORT
        number = await self._chosen(
            "Choose how much the model thinks", lines, chosen=levels.index(now) if now in levels else 0
        )
        if number is not None:
            self._say(effort(session, levels[number]), "/effort")

    def _say(self, result: CommandResult, heading: str) -> None:
        if isinstance(result, ShowText):
            self._controller.views.show(TextEntry(result.text, heading))

    def other_sessions(self) -> Sequence[SessionSummary]:
        """The other sessions of the folder. Raises CommandError if there are none."""
        session = self._controller.session
        found = [summary for summary in session.sessions() if summary.id != session.id]
        if not found:
            raise CommandError("There is no other session in this folder.")
        return found

    async def pick_session(self) -> None:
        """Choose another session and switch to it. Raises CommandError if there is none."""
        session, found = self._controller.session, self.other_sessions()
        before = f"Previous session: harness --resume {session.id}" if session.conversation.turn else ""
        number = await self._chosen("Choose a session to resume", list(session_lines(found)))
        if number is not None:
            await self._controller.switch(Opening(found[number].id), before)

    async def pick_rewind(self) -> None:
        """Choose an earlier prompt; the conversation goes back to before it, and the prompt is edited again."""
        points = self._controller.session.conversation.rewind_points
        if not points:
            self._controller.warn("there is no earlier prompt")
            return
        title = "Go back to before which prompt? Everything after it is forgotten."
        lines = [f"{point.turn:>3}  {' '.join(point.prompt.split())}" for point in points]
        number = await self._chosen(title, lines, chosen=len(points) - 1)
        if number is not None:
            await self._go_back(points[number])

    async def _go_back(self, point: RewindPoint) -> None:
        session = self._controller.session
        try:
            back = await session.rewind.files_since(point.turn)
        except HarnessError as error:
            self._controller.show_error(error)
            back = None
        answer = await self._which(back) if back is not None and back.changes else "conversation"
        match answer:
            case "nothing":
                return
            case "files":
                await session.rewind.restore_files(point.turn, conversation=True)
            case _:
                session.rewind.to_turn(point.turn)
        self._app.prompt.load(point.prompt)

    async def _which(self, back: RewindPlan) -> str:
        choices = (
            Choice("c", "conversation only", "conversation"),
            Choice("f", "conversation and files (/rewind undo: the files)", "files"),
            Choice("n", "cancel", "nothing"),
        )
        detail = Content(visible("\n".join(back.lines)))
        answer, _ = await self._app.ask(Question(f"What to restore? Files: {back.summary}", choices, detail))
        return answer

    def full_panel(self) -> None:
        """Show the panel on the whole screen."""
        self._app.push_screen(FullPanel(lambda: self._controller.views))

    def show_keys(self) -> None:
        """Show all keys."""
        self._app.push_screen(KeysScreen())

    async def _chosen(self, title: str, lines: list[str], chosen: int = 0) -> int | None:
        """Show a list; returns the index of the chosen line, or None."""
        closed: asyncio.Future[int | None] = asyncio.get_running_loop().create_future()

        def close(number: int | None) -> None:
            if not closed.done():
                closed.set_result(number)

        await self._app.push_screen(Picker(title, lines, chosen=chosen), close)
        return await closed


@dataclass(frozen=True, slots=True)
class ScreenCommand:
    """A slash command that needs the screen."""

    name: str
    arguments: str
    help: str
    run: Callable[[Menu, str], Awaitable[None] | None]
    """Its awaitable ends when the user has chosen."""
    only_alone: bool = False
    """With an argument, the command in `ui.commands` of that name runs instead."""


def run_screen_command(line: str, menu: Menu) -> Coroutine[Any, Any, None] | None:
    """The command in a line, to be awaited; None if it is not one of the screen. Awaiting it raises CommandError."""
    name, _, argument = line[1:].strip().partition(" ")
    command = SCREEN_COMMANDS.get(name.lower())
    argument = argument.strip()
    if command is None or (command.only_alone and argument):
        return None
    return _run(command, argument, menu)


async def _run(command: ScreenCommand, argument: str, menu: Menu) -> None:
    if argument and not command.arguments:
        raise CommandError(f"/{command.name} takes no arguments; type /{command.name} alone.")
    choosing = command.run(menu, argument)
    if choosing is not None:
        await choosing


def known_theme(name: str, themes: Sequence[str]) -> str:
    """The name, if it is a theme. Raises CommandError with similar ones."""
    if name in themes:
        return name
    near = get_close_matches(name, themes, n=3, cutoff=0.4)
    hint = f"did you mean {' or '.join(near)}?" if near else "/theme lists them."
    raise CommandError(f"Unknown theme {name!r}; {hint}")


_TABLE: Sequence[ScreenCommand] = (
    ScreenCommand("theme", "[name]", "choose a theme", lambda menu, name: menu.choose_theme(name)),
    ScreenCommand("panel", "", "show the recovery panel on the whole screen", lambda menu, _: menu.full_panel()),
    ScreenCommand("keys", "", "list the keys", lambda menu, _: menu.show_keys()),
    ScreenCommand("model", "", "choose a model", lambda menu, _: menu.pick_model(), only_alone=True),
    ScreenCommand(
        "effort", "", "choose how much the model thinks", lambda menu, _: menu.pick_effort(), only_alone=True
    ),
    ScreenCommand("resume", "", "choose a session", lambda menu, _: menu.pick_session(), only_alone=True),
    ScreenCommand("rewind", "", "choose an earlier prompt", lambda menu, _: menu.pick_rewind(), only_alone=True),
)
SCREEN_COMMANDS: Mapping[str, ScreenCommand] = MappingProxyType({command.name: command for command in _TABLE})
