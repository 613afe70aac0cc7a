"""What can be chosen or opened on the screen: sessions, earlier prompts, themes, pages."""

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from textual.content import Content

from harness.base.errors import HarnessError
from harness.base.terminal_text import visible
from harness.session import FilesBack, Opening, RewindPoint, Session, SessionSummary
from harness.ui.app.full_panel import FullPanel
from harness.ui.app.keys import KeysScreen
from harness.ui.app.picker import Picker
from harness.ui.app.question import Choice, Question
from harness.ui.app.screen_commands import known_theme
from harness.ui.app.views import Views
from harness.ui.commands.results import CommandError
from harness.ui.commands.session_list import session_lines
from harness.ui.transcript.entries import Answer

if TYPE_CHECKING:
    from harness.ui.app.app import HarnessApp


class Conversing(Protocol):
    """Who knows the session, and can go on with another one."""

    @property
    def session(self) -> Session:
        """The session that is open."""
        ...

    @property
    def views(self) -> Views:
        """Conversation and panel of that session."""
        ...

    async def go_on(self, opening: Opening, text: str) -> None:
        """Leave the session for another one, and say this there."""
        ...

    def warn(self, text: str) -> None:
        """Say something for a moment."""
        ...

    def trouble(self, text: str) -> None:
        """Say that something could not be done."""
        ...


class Menu:
    """Opens lists and pages, and does what is chosen there: the commands of `screen_commands`."""

    def __init__(self, app: "HarnessApp", conversing: Conversing) -> None:
        self._app = app
        self._conversing = conversing

    async def choose_theme(self, name: str) -> None:
        """Use a theme; an empty name offers all of them. Raises CommandError for one that does not exist."""
        app = self._app
        themes = sorted(app.available_themes)
        if name:
            app.theme = known_theme(name, themes)
        elif (number := await self._chosen("Which colours?", themes)) is not None:
            app.theme = themes[number]

    def copy_answer(self) -> None:
        """The last answer into the clipboard. Raises CommandError before there is one."""
        entries = reversed(self._conversing.views.transcript.entries)
        text = next((entry.text for entry in entries if isinstance(entry, Answer)), "")
        if not text:
            raise CommandError("There is no answer to copy yet.")
        self._app.copy_to_clipboard(text)
        self._conversing.warn(f"copied {len(text):,} characters")

    def other_sessions(self) -> Sequence[SessionSummary]:
        """The sessions that can be chosen. Raises CommandError when there is none."""
        session = self._conversing.session
        found = [summary for summary in session.sessions() if summary.id != session.id]
        if not found:
            raise CommandError("There is no other session for this folder yet.")
        return found

    async def pick_session(self) -> None:
        """Choose a session, and go on with it. Raises CommandError when there is no other one."""
        session, found = self._conversing.session, self.other_sessions()
        before = f"The session before: harness --resume {session.id}" if session.turn else ""
        number = await self._chosen("Go on with which session?", list(session_lines(found)))
        if number is not None:
            await self._conversing.go_on(Opening(found[number].id), before)

    async def pick_rewind(self) -> None:
        """Choose a prompt to go back to; it comes back into the prompt."""
        points = self._conversing.session.rewind_points
        if not points:
            self._conversing.warn("there is no earlier prompt to go back to")
            return
        title = "Go back before which prompt? What came after is forgotten."
        lines = [f"{point.turn:>3}  {' '.join(point.prompt.split())}" for point in points]
        number = await self._chosen(title, lines, chosen=len(points) - 1)
        if number is not None:
            await self._go_back(points[number])

    async def _go_back(self, point: RewindPoint) -> None:
        """Take back the conversation, and the files if they differ and the person wants it."""
        session = self._conversing.session
        try:
            back = await session.files_since(point.turn)
        except HarnessError as error:
            self._conversing.trouble(str(error))
            back = None
        answer = await self._which(back) if back is not None and back.changes else "conversation"
        match answer:
            case "nothing":
                return
            case "files":
                await session.rewind_files(point.turn, conversation=True)
            case _:
                session.rewind(point.turn)
        self._app.prompt.load(point.prompt)

    async def _which(self, back: FilesBack) -> str:
        choices = (
            Choice("c", "the conversation only", "conversation"),
            Choice("f", "the files, too; /rewind undo undoes that", "files"),
            Choice("n", "neither", "nothing"),
        )
        detail = Content(visible("\n".join(back.lines)))
        answer, _ = await self._app.put(Question(f"Take back what? For the files: {back.summary}", choices, detail))
        return answer

    def full_panel(self) -> None:
        """The panel on the whole screen."""
        self._app.push_screen(FullPanel(lambda: self._conversing.views))

    def show_keys(self) -> None:
        """Every key."""
        self._app.push_screen(KeysScreen())

    async def _chosen(self, title: str, lines: list[str], chosen: int = 0) -> int | None:
        """Show a list until a line is chosen; its number, or None when the list was left."""
        closed: asyncio.Future[int | None] = asyncio.get_running_loop().create_future()

        def close(number: int | None) -> None:
            if not closed.done():
                closed.set_result(number)

        await self._app.push_screen(Picker(title, lines, chosen=chosen), close)
        return await closed
