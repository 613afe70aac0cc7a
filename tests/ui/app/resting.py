"""Whether an app is at rest."""

import asyncio
from typing import Any

from textual.app import App
from textual.message_pump import MessagePump
from textual.timer import Timer


def timers_running(app: App[Any]) -> list[str]:
    """The timers of the app, its screens and their widgets that will fire."""
    pumps: list[MessagePump] = [app]
    for screen in app.screen_stack:
        pumps += [screen, *screen.walk_children(with_self=False)]
    found = [timer for pump in pumps for timer in pump._timers if _runs(timer)]
    return [f"{timer.name} of {timer._callback}" for timer in found]


def _runs(timer: Timer) -> bool:
    task: asyncio.Task[None] | None = timer._task
    return task is not None and not task.done() and timer._active.is_set()
