"""A run of a chapter on the screen: as much of it as the learner's place shows, fed into the views."""

import asyncio
import time
from collections.abc import Callable, Coroutine

from harness.base.errors import HarnessError
from harness.events import Event
from harness.lessons import Exchanged, Lesson, LessonError, Moment, Take
from harness.session import Asker
from harness.ui.app.views import Views
from harness.ui.lessons.run_facts import exchanged_line
from harness.ui.lessons.walk import Walk
from harness.ui.lines.line import Line, Tone
from harness.ui.transcript.entries import Note

FreshViews = Callable[[Callable[[], float], Callable[[], bool]], Views]
"""Makes views that have seen nothing; it is given their clock, and whether time goes by there."""


class Run:
    """One take and the learner's place in it. Use `go`, `type` and `aclose`; `changed` tells when to look again."""

    def __init__(self, lesson: Lesson, asker: Asker, fresh_views: FreshViews, changed: Callable[[], None]) -> None:
        self.lesson = lesson
        self.trouble = ""
        """What went wrong; empty as long as nothing did."""
        self.wanted = 0
        """The place that the learner wants to be at; ahead of theirs while it is waited for."""
        self._take = Take(lesson, asker=asker)
        self.walk = Walk(self._take)
        self._fresh_views = fresh_views
        self._changed = changed
        self._fed = 0
        """Moments that the views have seen."""
        self.views = self._new_views()
        self._begun = asyncio.Event()
        self._over = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()
        self._running = asyncio.create_task(self._run())

    # ── what the screen asks ────────────────────────────────────────────────────────────────────

    @property
    def place(self) -> int:
        """Where the learner is."""
        return self.walk.place

    @property
    def waiting(self) -> bool:
        """The next place has not happened yet."""
        return self.wanted > self.place and not self.trouble

    @property
    def live(self) -> bool:
        """What happens is shown as it happens."""
        return self.walk.at_end or self.waiting

    @property
    def busy(self) -> bool:
        """Something runs that the learner sees."""
        return self.live and self._begun.is_set() and self._take.busy

    def go(self, place: int) -> bool:
        """Go to a place, at once or as soon as the run has come there; False: there is no such place."""
        if not 0 <= place <= self.walk.last:
            return False
        self.wanted = place
        if self._begun.is_set() and self.walk.has_come(place):
            self._show(place)
        else:
            self._later(self._arrive(place))
        return True

    def type(self, prompt: str) -> None:
        """Give the agent a prompt of the learner's own, behind all beats."""
        self._later(self._type(prompt))

    def break_model(self, order: str) -> None:
        """Let the practice model fail, behind all beats."""
        self._later(self._break(self._take.break_model, order))

    def break_tool(self, order: str) -> None:
        """Let a tool fail, behind all beats."""
        self._later(self._break(self._take.break_tool, order))

    async def aclose(self) -> None:
        """End everything that runs."""
        self._over.set()
        for task in self._tasks:
            task.cancel()
        self._running.cancel()
        await asyncio.gather(self._running, *self._tasks, return_exceptions=True)
        self.views.leave()

    # ── the take ────────────────────────────────────────────────────────────────────────────────

    async def _run(self) -> None:
        try:
            async with self._take as take:
                take.observe(self._happened)
                self._begun.set()
                self._changed()
                await take.finished()
                self._changed()
                await self._over.wait()
        except HarnessError as error:
            self._fail(error)

    async def _arrive(self, place: int) -> None:
        await self._begun.wait()
        if not await self.walk.reached(place):
            await self._take.finished()
            raise LessonError(f"{self.lesson.name}: the run ended before beat {place}.")
        if self.wanted == place:  # the learner may have turned round meanwhile
            self._show(place)

    async def _type(self, prompt: str) -> None:
        await self._to_the_end()
        self._take.type(prompt)
        self._changed()
        await self._take.settled()

    async def _break(self, break_: Callable[[str], str], order: str) -> None:
        await self._to_the_end()
        try:
            self.views.show(break_(order))
        except HarnessError as error:
            self.views.show(Note(Line("!", str(error), Tone.BAD)))

    async def _to_the_end(self) -> None:
        await self._begun.wait()
        await self._take.finished()
        if not self.walk.at_end:
            self.wanted = self.walk.last
            self._show(self.walk.last)

    def _later(self, work: Coroutine[None, None, None]) -> None:
        task = asyncio.create_task(self._told(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _told(self, work: Coroutine[None, None, None]) -> None:
        try:
            await work
        except HarnessError as error:
            self._fail(error)
        self._changed()

    def _fail(self, error: HarnessError) -> None:
        self.trouble = str(error)
        self.wanted = self.place
        self._changed()

    # ── what is shown of it ─────────────────────────────────────────────────────────────────────

    def _show(self, place: int) -> None:
        self.walk.place = place
        until = self.walk.end_of(place)
        if until < self._fed:
            self.views.leave()
            self.views = self._new_views()
            self.views.enter()
            self._fed = 0
        self._feed(until)
        self.views.changed_at_once()

    def _happened(self, moment: Moment) -> None:
        if self.live and moment.number is None:
            self._see(moment)
        elif self.live and moment.number is not None:
            self._feed(moment.number + 1)
            self._changed()

    def _feed(self, until: int) -> None:
        for moment in self._take.moments[self._fed : until]:
            self._see(moment)
        self._fed = max(self._fed, until)

    def _see(self, moment: Moment) -> None:
        match moment.fact:
            case Exchanged() as exchange:
                self.views.show(Note(exchanged_line(exchange)))
            case Event() as event:
                self.views.see(event, moment.at)

    def _new_views(self) -> Views:
        return self._fresh_views(self._now, self._time_goes_by)

    def _time_goes_by(self) -> bool:
        """Something may be drawn that changes by itself. A loop by hand never says that its turn is over."""
        return self.live and (self._take.busy or not self.lesson.heard)

    def _now(self) -> float:
        if self.live or not self._fed:
            return time.time()
        return self._take.moments[self._fed - 1].at
