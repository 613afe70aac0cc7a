"""Sessions of other processes, and recorded sessions, on the screen.

Both use the views of a live session, fed from the journal instead of the agent.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.events import Resize

from harness.base.errors import HarnessError
from harness.base.external_text import counted
from harness.journal.follow import CaughtUp, FollowItem, Record, SkippedLine, WriterChanged
from harness.ui.app.alarm import Alarm
from harness.ui.app.panel_view import FullPanel, SplitView
from harness.ui.app.status_line import Status, StatusLine
from harness.ui.app.terminal_app import TerminalApp
from harness.ui.app.views import Actions, Views
from harness.ui.panel.state import Panel
from harness.ui.replay import ReplayPlayer

Keys = tuple[tuple[str, str], ...]


class RecordedApp(TerminalApp):
    """Conversation and panel of a journal, without a prompt."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q,ctrl+c,ctrl+d,ctrl+q", "leave", "leave", show=False, priority=True),
        Binding("f3", "full", "full panel", show=False),
        Binding("up", "line(-1)", "scroll up", show=False),
        Binding("down", "line(1)", "scroll down", show=False),
    ]

    def __init__(self, name: str) -> None:
        super().__init__()
        self.session = name
        """The name of the session in the status line."""
        self._begun = False

    def compose(self) -> ComposeResult:
        yield SplitView()
        yield StatusLine()

    def on_mount(self) -> None:
        self.views = self.fresh_views()
        self.views.enter()
        self._begun = True
        self.update_status()
        self.begin()

    def begin(self) -> None:
        """Start to show events, after the first paint."""
        raise NotImplementedError

    def fresh_views(self) -> Views:
        """New, empty views."""
        return Views(self, self.split_view, self.actions, self.redrawn)

    def actions(self, panel: Panel) -> Actions:
        """None: the session belongs to another process."""
        return ()

    def redrawn(self, panel: Panel) -> None:
        """Update the status line and the full-screen panel."""
        self.update_status()
        self.redraw_full_panel()

    def update_status(self) -> None:
        """Update the status line."""
        raise NotImplementedError

    def set_status(self, facts: Sequence[str], keys: Keys, warning: str = "") -> None:
        """Show a status."""
        self.screen_stack[0].query_one(StatusLine).show(Status((*facts, self.session), warning, keys))

    def action_leave(self) -> None:
        self.exit(0)

    def action_full(self) -> None:
        self.push_screen(FullPanel(lambda: self.views))

    def action_line(self, by: int) -> None:
        self.split_view.chat.scroll_relative(y=by, animate=False)

    def on_resize(self, event: Resize) -> None:
        if self._begun:  # the first size arrives before there is anything to draw
            self.views.changed()


class WatchApp(RecordedApp):
    """A session while another process writes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left", "walk(-1)", "step back", show=False),
        Binding("right", "walk(1)", "step forward", show=False),
        Binding("p", "jump(True)", "previous incident", show=False),
        Binding("n", "jump(False)", "next incident", show=False),
        Binding("escape,end", "now", "now", show=False),
    ]

    def __init__(self, name: str, followed: AsyncGenerator[FollowItem, None]) -> None:
        super().__init__(name)
        self._followed = followed
        self._writer: int | None = None
        self._caught_up = False
        self._skipped = 0

    def begin(self) -> None:
        """Follow the journal."""
        self.run_worker(self._follow(), name="follow", exit_on_error=False)

    async def _follow(self) -> None:
        try:
            async with aclosing(self._followed) as followed:
                async for one in followed:
                    self._add(one)
        except HarnessError as error:
            self.fail(error)

    def _add(self, one: FollowItem) -> None:
        match one:
            case Record():
                self.views.see(one.event, one.at)
            case SkippedLine():
                self._skipped += 1
            case CaughtUp(writer) | WriterChanged(writer):
                self._caught_up, self._writer = True, writer
                self.update_status()

    def update_status(self) -> None:
        """Show the writing process and the keys."""
        if not self._caught_up:
            state = "reading"
        else:
            state = f"watching process {self._writer}" if self._writer else "no process is writing"
        skipped = f"{counted(self._skipped, 'line')} could not be read" if self._skipped else ""
        past = self.views.shown_step is not None
        keys = (("Esc", "back to now"),) if past else (("←→", "steps"), ("n p", "incidents"))
        self.set_status((state,), (*keys, ("F3", "full"), ("q", "quit")), skipped)

    def action_walk(self, by: int) -> None:
        self.views.walk(by)

    def action_jump(self, backwards: bool) -> None:
        self.views.jump(backwards=backwards)

    def action_now(self) -> None:
        self.views.show_step(None)
        self.split_view.chat.follow()


class ReplayApp(RecordedApp):
    """A recorded session during replay."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space", "play", "play, pause", show=False, priority=True),
        Binding("left", "step(-1)", "step back", show=False),
        Binding("right", "step(1)", "step forward", show=False),
        Binding("n", "incident(1)", "next incident", show=False),
        Binding("p", "incident(-1)", "previous incident", show=False),
        Binding("home", "edge(-1)", "beginning", show=False),
        Binding("end", "edge(1)", "end", show=False),
        Binding("plus,equals_sign", "faster(2.0)", "faster", show=False),
        Binding("minus", "faster(0.5)", "slower", show=False),
    ]

    def __init__(self, name: str, player: ReplayPlayer) -> None:
        super().__init__(name)
        self._player = player
        self._shown = 0
        """Number of records that the views have."""
        self._next = Alarm(self, self._advance)
        self._note = ""

    def fresh_views(self) -> Views:
        """New views with the clock of the record."""
        return Views(
            self, self.split_view, self.actions, self.redrawn, clock=lambda: self._player.recorded_at(time.monotonic())
        )

    def begin(self) -> None:
        """Play."""
        if not self._player.over:
            self._player.play(time.monotonic())
        self._advance()

    def _advance(self) -> None:
        """Show the records that are due and schedule the next ones."""
        now = time.monotonic()
        self._player.due(now)
        self._catch_up()
        wait = self._player.wait_s(now)
        if wait is None:
            self._next.stop()
        else:
            self._next.set(wait)
        self.update_status()

    def _catch_up(self) -> None:
        player = self._player
        if player.position < self._shown:
            self.views.leave()
            self.views = self.fresh_views()
            self.views.enter()
            self._shown = 0
        for record in player.records[self._shown : player.position]:
            self.views.see(record.event, record.at)
        self._shown = player.position
        self.views.changed()

    def update_status(self) -> None:
        """Show the position and the keys."""
        player = self._player
        state = "playing" if player.playing else "end" if player.over else "paused"
        speed = f" {player.speed:g}×" if player.speed != 1 else ""
        short = f"a pause of {player.shortened_s:.0f} s is shortened" if player.playing and player.shortened_s else ""
        keys: Keys = (
            ("Space", "pause" if player.playing else "play"),
            ("←→", "steps"),
            ("n p", "incidents"),
            ("+ -", "speed"),
            ("q", "quit"),
        )
        self.set_status((f"{state}{speed}", f"step {player.step} of {player.last_step}"), keys, self._note or short)

    def action_play(self) -> None:
        now = time.monotonic()
        (self._player.pause if self._player.playing else self._player.play)(now)
        self._moved()

    def action_step(self, by: int) -> None:
        now = time.monotonic()
        self._player.pause(now)
        (self._player.step_forward if by > 0 else self._player.step_back)(now)
        self._moved()

    def action_incident(self, by: int) -> None:
        now = time.monotonic()
        self._player.pause(now)
        found = (self._player.next_incident if by > 0 else self._player.previous_incident)(now)
        self._moved("" if found else "no further incident" if by > 0 else "no earlier incident")

    def action_edge(self, by: int) -> None:
        (self._player.end if by > 0 else self._player.start)(time.monotonic())
        self._moved()

    def action_faster(self, by: float) -> None:
        self._player.set_speed(self._player.speed * by, time.monotonic())
        self._moved()

    def _moved(self, note: str = "") -> None:
        self._note = note
        self._advance()


def watch(name: str, followed: AsyncGenerator[FollowItem, None]) -> int:
    """Watch a session that another process writes; returns the exit code. Raises HarnessError."""
    return asyncio.run(WatchApp(name, followed).run_to_end())


def replay(name: str, records: Sequence[Record], *, speed: float = 1.0, step: int | None = None) -> int:
    """Replay a recorded session; speed 0 starts at its end. Returns the exit code.

    Raises HarnessError for a step that does not exist.
    """
    player = ReplayPlayer(records, speed=speed or 1.0)
    if not speed:
        player.end(time.monotonic())
    if step is not None:
        player.seek(step, time.monotonic())
    return asyncio.run(ReplayApp(name, player).run_to_end())
