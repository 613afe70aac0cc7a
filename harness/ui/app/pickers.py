"""What is chosen from lists in the app: sessions, earlier prompts, themes."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from harness.session import Opening, Session
from harness.ui.app.picker import Picker
from harness.ui.app.screen_commands import known_theme
from harness.ui.session_list import session_lines

if TYPE_CHECKING:
    from harness.ui.app.app import HarnessApp


def pick_session(app: "HarnessApp", session: Session, chosen: Callable[[Opening, str], None]) -> bool:
    """Offer the other sessions of the folder; False when there are none."""
    found = [summary for summary in session.sessions() if summary.id != session.id]

    def take(number: int | None) -> None:
        if number is not None:
            before = f"The session before: harness --resume {session.id}" if session.turn else ""
            chosen(Opening(found[number].id), before)

    if found:
        app.push_screen(Picker("Go on with which session?", list(session_lines(found))), take)
    return bool(found)


def pick_rewind(app: "HarnessApp", session: Session, chosen: Callable[[int], None]) -> bool:
    """Offer the prompts that can be gone back to, the newest at hand; False when there are none."""
    points = session.rewind_points
    lines = [f"{point.turn:>3}  {' '.join(point.prompt.split())}" for point in points]

    def take(number: int | None) -> None:
        if number is not None:
            chosen(points[number].turn)

    if points:
        title = "Go back before which prompt? What came after is forgotten; files stay as they are."
        app.push_screen(Picker(title, lines, chosen=len(points) - 1), take)
    return bool(points)


def choose_theme(app: "HarnessApp", name: str) -> None:
    """Use a theme; an empty name offers all of them. Raises CommandError for one that does not exist."""
    themes = sorted(app.available_themes)
    if name:
        app.theme = known_theme(name, themes)
        return

    def take(number: int | None) -> None:
        if number is not None:
            app.theme = themes[number]

    app.push_screen(Picker("Which colours?", themes, chosen=themes.index(app.theme)), take)
