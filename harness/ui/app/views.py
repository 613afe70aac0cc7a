"""The two views of one session: what is folded from its events, and what of it is drawn."""

import time
from collections.abc import Callable, Sequence
from math import ceil

from textual.content import Content

from harness.events import Event
from harness.ui.app.entry_view import EntryDrawing
from harness.ui.app.redraw import HasTimers, Refreshing
from harness.ui.app.split_view import Stage
from harness.ui.panel.fold import PanelFold
from harness.ui.panel.sections import is_calm, panel_content
from harness.ui.panel.state import Panel, Phase
from harness.ui.panel.timeline import next_incident
from harness.ui.panel.work_lines import changes_in
from harness.ui.transcript.entries import Entry, Shown
from harness.ui.transcript.fold import Transcript

Actions = Sequence[tuple[str, str]]
"""Keys and what they do now."""
CALM_ROWS = 2
"""Rows of the panel below the conversation when nothing on it needs a look."""


class Views:
    """Conversation and panel, fed with events."""

    def __init__(
        self,
        timers: HasTimers,
        stage: Stage,
        actions: Callable[[Panel], Actions],
        redrawn: Callable[[Panel], None],
        *,
        clock: Callable[[], float] = time.time,
        moves: Callable[[], bool] = lambda: True,
    ) -> None:
        """
        Args:
            timers: the app.
            stage: where both are drawn.
            actions: what can be pressed now.
            redrawn: called after the panel was drawn, with what is shown now.
            clock: Unix time; for a recorded session that of the record.
            moves: whether that time goes by; where it stands still there is nothing to draw again.
        """
        self._stage = stage
        self._actions = actions
        self._redrawn = redrawn
        self._clock = clock
        self._moves = moves
        self.transcript = Transcript()
        self.fold = PanelFold()
        self.shown_step: int | None = None
        """A step of the past that the panel shows; None: the present."""
        self.refreshing = Refreshing(timers, self._draw_chat, self._draw_panel, self._moving)
        self._on_stage = False
        self._to_show: int | None = None
        """The entry whose beginning is to be seen after the next drawing."""

    def enter(self) -> None:
        """Take the stage: from now on what is seen is drawn."""
        self._on_stage = True
        self._stage.chat.update((), 0)
        self._stage.chat.use(EntryDrawing(self._clock))
        self._stage.panel.use(self._content_on_stage)
        self.changed()

    def changed(self) -> None:
        """Draw soon, if this is what the stage shows."""
        if self._on_stage:
            self.refreshing.changed()

    def changed_at_once(self) -> None:
        """Draw now, if this is what the stage shows: both views and all else that a key changes in a single frame."""
        if self._on_stage:
            self.refreshing.at_once()

    def see(self, event: Event, at: float) -> None:
        """Take in an event; it will be drawn soon."""
        self.transcript.see(event, at)
        self.fold.see(event, at)
        self.changed()

    def show(self, entry: Entry | str, *, from_top: bool = False) -> None:
        """Put something into the conversation that no event says; `from_top`: of a long one show the beginning."""
        self.transcript.show(Shown(entry) if isinstance(entry, str) else entry)
        if from_top:
            self._to_show = len(self.transcript.entries) - 1
        self.changed()

    @property
    def panel(self) -> Panel:
        """What the panel shows: the present, or the moment that was walked to."""
        self._leave_lost_step()
        return self.fold.now if self.shown_step is None else self.fold.at_step(self.shown_step)

    def content(self, columns: int, rows: int) -> Content:
        """The panel, drawn into so much space."""
        panel = self.panel
        now = self._clock() if self.shown_step is None else panel.at
        actions = self._actions(panel) if self.shown_step is None else (("←→", "other steps"), ("Esc", "back to now"))
        return panel_content(panel, columns, rows, now, shown_step=self.shown_step, actions=actions)

    def _content_on_stage(self, columns: int, rows: int) -> Content:
        """The same beside the conversation, or in few rows below it while nothing needs a look."""
        calm = self._stage.below and self.shown_step is None and is_calm(self.fold.now)
        return self.content(columns, min(rows, CALM_ROWS) if calm else rows)

    # ── walking the timeline ────────────────────────────────────────────────────────────────────

    def walk(self, by: int) -> None:
        """Show the step that lies `by` steps further; past the newest one the present is shown again."""
        self._leave_lost_step()
        steps = self.fold.steps
        if not steps:
            return
        place = len(steps) if self.shown_step is None else steps.index(self.shown_step)
        place = max(0, place + by)
        self.show_step(steps[place] if place < len(steps) else None)

    def jump(self, *, backwards: bool) -> bool:
        """Show the next step in which something went wrong; False when there is none."""
        self._leave_lost_step()
        now = self.fold.now
        found = next_incident(now.marks, self.shown_step or now.step + 1, backwards=backwards)
        if found is not None:
            self.show_step(found)
        return found is not None

    def show_step(self, step: int | None) -> None:
        """Show the panel as it was at the end of a step; None: as it is."""
        self.shown_step = step
        self.redraw_panel()

    def _leave_lost_step(self) -> None:
        """A step that cannot be shown any more gives way to the present."""
        if self.shown_step is not None and self.shown_step not in self.fold.steps:
            self.shown_step = None

    # ── drawing ─────────────────────────────────────────────────────────────────────────────────

    def redraw_panel(self) -> None:
        """Draw the panel at once."""
        if self._on_stage:
            self._draw_panel()

    def leave(self) -> None:
        """Draw no more."""
        self._on_stage = False
        self.refreshing.stop()

    def _draw_chat(self) -> None:
        if not self._stage.stands:
            return
        chat = self._stage.chat
        changes = self.transcript.take()
        if changes is not None:
            chat.update(self.transcript.entries, changes.first)
            if self._to_show is not None:
                chat.show_top(self._to_show)
                self._to_show = None
        elif self.fold.now.running:
            chat.redraw(running_only=True)

    def _draw_panel(self) -> None:
        if not self._stage.stands:
            return
        self._stage.panel.redraw()
        self._redrawn(self.fold.now)

    def _moving(self) -> float | None:
        """Seconds until the next whole second of a countdown, or of how long something has been running."""
        if not self._moves():
            return None
        panel = self.fold.now
        now = self._clock()
        if (retry := panel.model.retry) is not None and retry.retry_at > now:
            left = retry.retry_at - now
            return left - ceil(left) + 1 or 1.0
        if panel.model.phase in (Phase.IDLE, Phase.PERMISSION, Phase.QUESTION, Phase.OFFERED, Phase.LOOP):
            return changes_in(panel, now)
        return 1.0
