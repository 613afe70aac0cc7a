"""The two views of a session, conversation and panel: folds over its events, and their drawing."""

import time
from collections.abc import Callable, Sequence
from math import ceil
from typing import TYPE_CHECKING

from textual.content import Content

from harness.events import Event
from harness.ui.app.alarm import HasTimers
from harness.ui.app.panel_view import SplitView
from harness.ui.app.redraw import RedrawScheduler
from harness.ui.folds.model import Phase
from harness.ui.panel import breaker_lines
from harness.ui.panel.fold import PanelFold
from harness.ui.panel.layout import Lines
from harness.ui.panel.model_lines import ASKS
from harness.ui.panel.sections import calm_rows, is_calm, panel_rows
from harness.ui.panel.state import Panel
from harness.ui.panel.timeline import next_incident
from harness.ui.panel.work_lines import changes_in
from harness.ui.transcript.content import LIVE_ROWS, entry_content, set_off
from harness.ui.transcript.entries import AnswerEntry, Entry, TextEntry
from harness.ui.transcript.fold import Transcript

if TYPE_CHECKING:
    from harness.ui.transcript.markdown import StreamedMarkdown


class EntryRenderer:
    """Draws entries. Of a streaming answer only the new text is parsed."""

    def __init__(self, clock: Callable[[], float], key: str = "", rows: Callable[[], int] = lambda: LIVE_ROWS) -> None:
        """
        Args:
            clock: returns Unix time, for running times.
            key: what expands an entry; empty: nothing does, once it is printed.
            rows: returns the most lines of output of one running command.
        """
        self._clock = clock
        self._key = key
        self._rows = rows
        self._growing: StreamedMarkdown | None = None

    def blocks(self, entry: Entry, columns: int, *, expanded: bool) -> Sequence[Content]:
        """The entry as blocks, between which there is a blank line, in lines of at most `columns` cells.

        The finished blocks of a streaming answer are the same objects each time.
        """
        if isinstance(entry, AnswerEntry) and (not entry.done or self._has_grown_to(entry.text)):
            return self._grown(entry.text, columns)
        now, rows = self._clock(), self._rows()
        return [entry_content(entry, columns, expanded=expanded, now=now, key=self._key, rows=rows)]

    def _has_grown_to(self, text: str) -> bool:
        return self._growing is not None and self._growing.text == text

    def _grown(self, text: str, columns: int) -> Sequence[Content]:
        if self._growing is None:
            from harness.ui.transcript.markdown import StreamedMarkdown  # with the first answer, not the first paint

            self._growing = StreamedMarkdown()
        self._growing.set(text)
        return self._growing.blocks(columns)

    def apart(self, above: Entry | None, below: Entry) -> bool:
        """Whether a blank line separates two entries."""
        return above is not None and set_off(above, below)


Actions = Sequence[tuple[str, str]]
"""Keys and their descriptions."""


class Views:
    """Conversation and panel of one session."""

    def __init__(
        self,
        timers: HasTimers,
        split_view: SplitView,
        actions: Callable[[Panel], Actions],
        redrawn: Callable[[Panel], None],
        *,
        clock: Callable[[], float] = time.time,
        moves: Callable[[], bool] = lambda: True,
    ) -> None:
        """
        Args:
            timers: the app.
            split_view: the widgets to draw on.
            actions: returns the keys that the panel offers.
            redrawn: called with the current state after the panel was drawn.
            clock: Unix time; for a recorded session the time of the record.
            moves: whether the clock is running; if not, times are not redrawn.
        """
        self._split_view = split_view
        self._actions = actions
        self._redrawn = redrawn
        self._clock = clock
        self._moves = moves
        self.transcript = Transcript()
        self.fold = PanelFold()
        self.shown_step: int | None = None
        """The earlier step that the panel shows; None: the present."""
        self.refreshing = RedrawScheduler(timers, self._draw_chat, self._draw_panel, self._moving)
        self._visible = False
        self._to_show: int | None = None
        """Index of the entry to scroll to after the next drawing."""

    def enter(self) -> None:
        """Start to draw on the split view."""
        self._visible = True
        self._split_view.chat.set_renderer(EntryRenderer(self._clock, self._split_view.expands, self._live_rows))
        self._split_view.chat.update((), 0)
        self._split_view.panel.set_renderer(self._visible_rows)
        self.changed()

    def changed(self) -> None:
        """Draw soon, if visible."""
        if self._visible:
            self.refreshing.changed()

    def changed_at_once(self) -> None:
        """Draw both views now, in a single frame, if they are visible."""
        if self._visible:
            self.refreshing.at_once()

    def see(self, event: Event, at: float, *, answered: bool = False) -> None:
        """Add an event and draw soon; `answered`: the answer of a command is shown in its place."""
        if not answered:
            self.transcript.on_event(event, at)
        self.fold.on_event(event, at)
        self.changed()

    def show(self, entry: Entry | str, *, from_top: bool = False) -> None:
        """Add an entry that comes from no event; `from_top` scrolls to its first line."""
        self.transcript.show(TextEntry(entry) if isinstance(entry, str) else entry)
        if from_top:
            self._to_show = len(self.transcript.entries) - 1
        self.changed()

    @property
    def panel(self) -> Panel:
        """The shown state: of the present or of an earlier step."""
        self._leave_lost_step()
        return self.fold.now if self.shown_step is None else self.fold.at_step(self.shown_step)

    def rows(self, columns: int, rows: int, *, expanded: bool = False) -> Lines:
        """The panel drawn into columns × rows; `expanded` lists all tools and explains words and signs."""
        panel = self.panel
        now = self._clock() if self.shown_step is None else panel.at
        actions = self._actions(panel) if self.shown_step is None else (("←→", "other steps"), ("Esc", "back to now"))
        step = self.shown_step
        return panel_rows(panel, columns, rows, now, shown_step=step, actions=actions, expanded=expanded)

    def _visible_rows(self, columns: int, rows: int) -> Lines:
        calm = self._split_view.below and self.shown_step is None and is_calm(self.fold.now)
        brief = calm_rows(self.fold.now, columns) if calm else []
        return brief[:rows] or self.rows(columns, rows)

    # ── stepping through the timeline ────────────────────────────────────────────────────────────────────

    def walk(self, by: int) -> None:
        """Move by a number of steps; after the newest one comes the present."""
        self._leave_lost_step()
        steps = self.fold.steps
        if not steps:
            return
        place = len(steps) if self.shown_step is None else steps.index(self.shown_step)
        place = max(0, place + by)
        self.show_step(steps[place] if place < len(steps) else None)

    def jump(self, *, backwards: bool) -> bool:
        """Show the next or previous step with a fault; returns whether there is one."""
        self._leave_lost_step()
        now = self.fold.now
        found = next_incident(now.marks, self.shown_step or now.step + 1, backwards=backwards)
        if found is not None:
            self.show_step(found)
        return found is not None

    def show_step(self, step: int | None) -> None:
        """Show the panel at the end of a step; None: the present."""
        self.shown_step = step
        self.redraw_panel()

    def _leave_lost_step(self) -> None:
        if self.shown_step is not None and self.shown_step not in self.fold.steps:
            self.shown_step = None

    # ── drawing ─────────────────────────────────────────────────────────────────────────────────

    def _live_rows(self) -> int:
        """Running commands share a third of the screen."""
        return max(1, self._split_view.app.size.height // 3 // max(1, self.transcript.live_calls))

    def redraw_panel(self) -> None:
        """Draw the panel now."""
        if self._visible:
            self._draw_panel()

    def leave(self) -> None:
        """Stop drawing."""
        self._visible = False
        self.refreshing.stop()

    def _draw_chat(self) -> None:
        if not self._split_view.is_ready:
            return
        chat = self._split_view.chat
        changes = self.transcript.changes()
        if changes is not None:
            chat.update(self.transcript.entries, changes.first)
            if self._to_show is not None:
                chat.show_top(self._to_show)
                self._to_show = None
        elif self.fold.now.running:
            chat.redraw(running_only=True)

    def _draw_panel(self) -> None:
        if not self._split_view.is_ready:
            return
        self._split_view.panel.redraw()
        self._redrawn(self.fold.now)

    def _moving(self) -> float | None:
        """Seconds until a countdown or running time on the screen changes; None: there is none."""
        if not self._moves():
            return None
        panel = self.fold.now
        now = self._clock()
        if (retry := panel.model.retry) is not None and retry.retry_at > now:
            left = retry.retry_at - now
            return left - ceil(left) + 1 or 1.0
        if panel.model.phase in (Phase.IDLE, *ASKS):
            return min(filter(None, (changes_in(panel.work, now), breaker_lines.changes_in(panel, now))), default=None)
        return 1.0
