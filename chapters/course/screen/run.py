"""A run of a chapter on the screen, fed into the views up to the position of the learner."""

import asyncio
import time
from collections.abc import Callable, Coroutine

from chapters.course import Lesson, LessonError, Moment, Recording, WireExchange
from chapters.course.plain.commands import answer
from chapters.course.plain.narration import exchanged_line
from chapters.course.plain.position import LessonPosition
from chapters.course.plain.predictions import Predictions
from harness.base.errors import HarnessError
from harness.events import Event
from harness.session import Asker
from harness.ui.app.views import Views
from harness.ui.lines.line import Line, Tone
from harness.ui.transcript.entries import NoteEntry

FreshViews = Callable[[Callable[[], float], Callable[[], bool]], Views]
"""Creates empty views from a clock and a function that says whether it is running."""


class LessonRun:
    """A recording and the position of the learner in it. `changed` is called when there is something new to draw."""

    def __init__(
        self,
        lesson: Lesson,
        asker: Asker,
        fresh_views: FreshViews,
        changed: Callable[[], None],
        *,
        questions: bool = True,
    ) -> None:
        self.lesson = lesson
        self.trouble = ""
        """An error, or empty."""
        self.wanted = 0
        """The requested place; ahead of `place` while waiting for it."""
        self._recording = Recording(lesson, asker=asker)
        self.position = LessonPosition(self._recording)
        self.predictions = Predictions(self.position, enabled=questions)
        self._fresh_views = fresh_views
        self._changed = changed
        self._fed = 0
        """Number of moments that the views have."""
        self.views = self._new_views()
        self._begun = asyncio.Event()
        self._over = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._running = asyncio.create_task(self._run())

    # ── called by the screen ────────────────────────────────────────────────────────────────────

    @property
    def place(self) -> int:
        """The place of the learner."""
        return self.position.place

    @property
    def waiting(self) -> bool:
        """Whether the requested place has not been reached."""
        return self.wanted > self.place and not self.trouble

    @property
    def live(self) -> bool:
        """Whether events are shown as they happen."""
        return self.position.at_end or self.waiting

    @property
    def busy(self) -> bool:
        """Whether a visible turn is running."""
        return self.live and self._begun.is_set() and self._recording.busy

    def go(self, place: int) -> bool:
        """Go to a place as soon as the run reaches it; returns False if there is no such place."""
        if not 0 <= place <= self.position.last:
            return False
        self.wanted = place
        if self._begun.is_set() and self.position.has_come(place):
            self._show(place)
        else:
            self._later(self._arrive(place))
        return True

    def type(self, prompt: str) -> None:
        """Run a prompt of the learner after all steps."""
        self._later(self._type(prompt))

    def command(self, line: str) -> None:
        """Run a slash command of the learner after all steps."""
        self._later(self._command(line))

    async def aclose(self) -> None:
        """End the run."""
        self._over.set()
        for task in self._tasks:
            task.cancel()
        self._running.cancel()
        await asyncio.gather(self._running, *self._tasks, return_exceptions=True)
        self.views.leave()

    # ── the recording ────────────────────────────────────────────────────────────────────────────────

    async def _run(self) -> None:
        try:
            async with self._recording as recording:
                recording.observe(self._happened)
                self._begun.set()
                self._changed()
                await recording.finished()
                self._changed()
                await self._over.wait()
        except HarnessError as error:
            self._fail(error)

    async def _arrive(self, place: int) -> None:
        await self._begun.wait()
        if not await self.position.reached(place):
            await self._recording.finished()
            raise LessonError(f"{self.lesson.label}: the run ended before step {place}.")
        if self.wanted == place:  # or the learner has moved on
            self._show(place)

    async def _type(self, prompt: str) -> None:
        await self._to_the_end()
        self._recording.type(prompt)
        self._changed()
        await self._recording.settled()

    async def _command(self, line: str) -> None:
        await self._to_the_end()
        try:
            if shown := await answer(self._recording, line):
                self.views.show(shown)
        except HarnessError as error:
            self.views.show(NoteEntry(Line("!", str(error), Tone.BAD)))

    async def _to_the_end(self) -> None:
        await self._begun.wait()
        await self._recording.finished()
        if not self.position.at_end:
            self.wanted = self.position.last
            self._show(self.position.last)

    def _later(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(self._guarded(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _guarded(self, work: Coroutine[None, None, None]) -> None:
        try:
            await work
        except HarnessError as error:
            self._fail(error)
        self._changed()

    def _fail(self, error: HarnessError) -> None:
        self.trouble = str(error)
        self.wanted = self.place
        self._changed()

    # ── views ─────────────────────────────────────────────────────────────────────

    def _show(self, place: int) -> None:
        self.position.place = place
        until = self.position.end_of(place)
        if until < self._fed:
            self.views.leave()
            self.views = self._new_views()
            self.views.enter()
            self._fed = 0
        self._feed(until)
        self.views.changed_at_once()

    def _happened(self, moment: Moment) -> None:
        if self.live and moment.number is None:
            self._add(moment)
        elif self.live and moment.number is not None:
            self._feed(moment.number + 1)
            self._changed()

    def _feed(self, until: int) -> None:
        for moment in self._recording.moments[self._fed : until]:
            self._add(moment)
        self._fed = max(self._fed, until)

    def _add(self, moment: Moment) -> None:
        match moment.fact:
            case WireExchange() as exchange:
                self.views.show(NoteEntry(exchanged_line(exchange)))
            case Event() as event:
                self.views.see(event, moment.at)

    def _new_views(self) -> Views:
        return self._fresh_views(self._now, self._clock_runs)

    def _clock_runs(self) -> bool:
        return self.live and (self._recording.busy or not self.lesson.from_wire)

    def _now(self) -> float:
        if self.live or not self._fed:
            return time.time()
        return self._recording.moments[self._fed - 1].at
