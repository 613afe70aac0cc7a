"""The course in plain lines: Enter goes to the next step; after the last one, every line is a prompt."""

import asyncio
import os
import stat
import unicodedata
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import TextIO

from chapters.course import LessonError, Moment, Progress, Recording, readme
from chapters.course.plain import messages
from chapters.course.plain.commands import COMMANDS, answer
from chapters.course.plain.narration import READ_BEFORE_THE_END, Narration, write_moment
from chapters.course.plain.position import LessonPosition
from chapters.course.plain.predictions import Predictions
from chapters.course.plain.progress import copied, starting_step
from harness.base.errors import HarnessError
from harness.events import TurnStarted
from harness.ui.lines.line import Line
from harness.ui.plain.keyboard import Keyboard
from harness.ui.plain.questions import PlainAsker


class TypedLines:
    """Reads lines without blocking the loop, from a terminal, a pipe or a file."""

    def __init__(self, source: TextIO) -> None:
        self._source = source
        self._ahead: deque[str] = deque()
        """Lines read ahead."""
        self.from_terminal = source.isatty()
        self._keyboard = Keyboard(source.fileno()) if _tells_when_ready(source) else None

    @contextmanager
    def listening(self) -> Iterator[None]:
        """Read ahead within the block."""
        if self._keyboard is None:
            yield
        else:
            with self._keyboard.listening(self._ahead.append):
                yield

    async def line(self) -> str | None:
        """The next line without its line break; None at the end."""
        if self._ahead:
            return self._ahead.popleft()
        if self._keyboard is not None:
            return await self._keyboard.answer()
        line = self._source.readline()  # of a file, which does not block
        return line.removesuffix("\n") if line else None

    async def settled(self) -> bool:
        """See `Keyboard.settled`; False without a terminal."""
        return self.from_terminal and self._keyboard is not None and await self._keyboard.settled()

    def keep(self, line: str) -> str:
        """See `Keyboard.keep`; empty without a terminal."""
        return self._keyboard.keep(line) if self.from_terminal and self._keyboard is not None else ""

    async def answer(self) -> str | None:
        """The next line as an answer; in a terminal only text typed after the question."""
        if self.from_terminal and self._keyboard is not None:
            return await self._keyboard.answer()
        return await self.line()


def _tells_when_ready(source: TextIO) -> bool:
    if source.isatty():
        return True
    try:
        kind = os.fstat(source.fileno()).st_mode
    except (OSError, ValueError):  # not a real stream
        return False
    return stat.S_ISFIFO(kind) or stat.S_ISSOCK(kind)


LEAVE = frozenset({"q", "quit", "exit", "/exit", "/quit"})


async def play(narration: Narration) -> None:
    """Print a whole chapter. Raises LessonError if a step is missing, the demo fails or the README cannot be read."""
    async with Recording(narration.lesson, scripted_only=True) as recording:
        narration.title()
        whole = narration.lesson.solution is None
        narration.text(slice(READ_BEFORE_THE_END if whole else 0))
        await _play_steps(LessonPosition(recording), narration)
        if not (failed := recording.failed):
            narration.say(messages.PLAYED, count=len(narration.lesson.steps))
        if whole:
            narration.sections(readme(narration.lesson, narration.language)[READ_BEFORE_THE_END:])
        if failed:
            numbers = ", ".join(str(number) for number, _ in failed)
            raise LessonError(f"{narration.lesson.label}: these steps do not hold in this run: {numbers}.")


async def play_and_talk(narration: Narration, typed: TypedLines) -> None:
    """Print all steps, then read lines from the learner. Raises LessonError."""
    async with Recording(narration.lesson, asker=PlainAsker(narration.lines, typed)) as recording:
        with typed.listening():
            narration.title()
            position = LessonPosition(recording)
            await _play_steps(position, narration)
            position.place = position.last
            narration.say(messages.LIVE)
            await _LessonRepl(narration, position, typed, None).run()


async def play_live(narration: Narration, typed: TypedLines) -> None:
    """Run the prompts of a chapter with a real model, then those of the learner, as they happen. Raises LessonError."""
    async with Recording(narration.lesson, asker=PlainAsker(narration.lines, typed)) as recording:
        with typed.listening():
            narration.title()
            narration.say(messages.REAL)
            talk = _LessonRepl(narration, LessonPosition(recording), typed, None)
            await talk.watch_prompts()
            await talk.run()


async def play_stepwise(narration: Narration, typed: TypedLines, progress: Progress, *, questions: bool = True) -> None:
    """Step through a chapter until the learner quits or the input ends. Raises LessonError and ProgressError."""
    place = starting_step(narration.lesson, progress)
    narration.opening()
    fresh = True
    with typed.listening():
        while fresh:
            async with Recording(narration.lesson, asker=PlainAsker(narration.lines, typed)) as recording:
                talk = _LessonRepl(narration, LessonPosition(recording), typed, progress, questions=questions)
                narration.lines.say(messages.HINT.into(narration.language))
                if place:
                    narration.say(messages.GOING_ON, number=place)
                    await talk.go(place)
                fresh = await talk.run()
                place = 0


async def _play_steps(position: LessonPosition, narration: Narration) -> None:
    for place in range(1, position.last):
        if not await position.reached(place):
            break
        position.place = place
        narration.step(position)
    try:
        await position.recording.finished()
    finally:
        rest = position.recording.moments[position.end_of(position.place) :]
        narration.moments(rest, before=position.shown)


class _LessonRepl:
    """Reads and runs the lines of a learner."""

    def __init__(
        self,
        narration: Narration,
        position: LessonPosition,
        typed: TypedLines,
        progress: Progress | None,
        *,
        questions: bool = False,
    ) -> None:
        self._narration = narration
        self._position = position
        self._recording = position.recording
        self._typed = typed
        self._progress = progress
        self._predictions = Predictions(position, enabled=questions)
        self._live: Callable[[Moment], None] | None = None
        """Shows live events; None unless a prompt of the learner is running."""
        self._keys: Mapping[str, Callable[[], None]] = MappingProxyType(
            {
                "c": lambda: narration.code(position),
                "d": narration.difference,
                "w": lambda: narration.wire(position),
                "t": narration.text,
                "l": self._switch_language,
                "?": narration.keys,
            }
        )
        self._recording.observe(self._happened)

    async def run(self) -> bool:
        """Run lines. Returns True to restart the chapter, False to quit."""
        lines = self._narration.lines
        while not lines.gone:
            lines.ask(self._sign)
            line = await self._typed.line()
            if line is None:
                lines.say("")
                return False
            if not self._typed.from_terminal:
                lines.say(line)
            lines.entered()
            line = line.strip()
            key = unicodedata.normalize("NFKC", line).lower()
            if key in LEAVE:
                return False
            if key == "r":
                self._narration.say(messages.FRESH)
                return True
            try:
                await self._run_line(key, line)
            except HarnessError as error:
                self._narration.error(error)
        return False

    async def go(self, place: int) -> None:
        """Go to a place and show it. Raises LessonError if the run does not reach it."""
        position, narration = self._position, self._narration
        if not 0 <= place <= position.last:
            narration.say(messages.NOTHING_BEFORE if place < 0 else messages.NOTHING_AFTER)
            return
        await self._wait_for(place)
        position.place = place
        self._predictions.arrive(place, self._progress)
        if outcome := self._predictions.outcome(place, narration.language):
            narration.lines.say(f"\n{outcome}")
        if position.at_end:
            narration.end(position)
            if score := self._predictions.score(narration.language):
                narration.lines.line(Line("·", score))
        elif not place:
            narration.opening()
        else:
            narration.step(position)
            if self._progress is not None and position.lesson.solution is None:
                self._progress.reach(position.lesson.id, place, of=len(position.lesson.steps))

    async def _wait_for(self, place: int) -> None:
        reaching = asyncio.create_task(self._position.reached(place))
        try:
            await asyncio.sleep(0)
            if not reaching.done():
                self._narration.say(messages.RUNS)
            if not await reaching:
                await self._recording.finished()
                raise LessonError(f"{self._position.lesson.label}: the run ended before step {place}.")
        finally:
            reaching.cancel()
        if place == self._position.last:
            await self._recording.finished()

    @property
    def _sign(self) -> str:
        return "> " if self._position.at_end else f"{self._position.place}/{len(self._position.lesson.steps)} > "

    async def _run_line(self, key: str, line: str) -> None:
        match key:
            case "" | "n":
                await self._next()
            case _ if key.isdecimal() and self._predictions.answer(int(key)):
                await self._next()
            case "b" if self._predictions.asked is not None:
                self._predictions.close()
            case "b":
                await self.go(self._position.place - 1)
            case _ if key in self._keys:
                self._keys[key]()
            case "e":
                self._copy("")
            case _ if key.partition(" ")[0] in COMMANDS:
                await self._command(line)
            case _ if key.startswith("/") or len(key) == 1:
                self._narration.say(messages.NOT_UNDERSTOOD, typed=line.split()[0], commands=" ".join(COMMANDS))
            case _:
                await self._prompt(line)

    async def _next(self) -> None:
        following = self._position.place + 1
        if self._predictions.asks(following):
            self._narration.lines.say(f"\n{self._predictions.asking(self._narration.language)}")
        else:
            await self.go(following)

    async def _command(self, line: str) -> None:
        await self._to_the_end()
        command, _, argument = line.strip().partition(" ")
        with self._live_lines():
            shown = await answer(self._recording, f"{command.lower()} {argument}".strip())
        if shown:
            self._narration.lines.say(shown)

    def _copy(self, name: str) -> None:
        for text in copied(self._position.lesson, name, Path.cwd(), self._narration.language):
            self._narration.lines.line(Line("·", text))

    def _switch_language(self) -> None:
        narration = self._narration
        narration.language = "en" if narration.language == "ja" else "ja"
        if self._progress is not None:
            self._progress.set_language(narration.language)
        narration.say(messages.LANGUAGE)

    async def watch_prompts(self) -> None:
        """Show the prompts of the chapter as they happen. Raises LessonError."""
        self._live = self._show_with_prompt
        try:
            await self._wait_for(self._position.last)
        finally:
            self._live = None
        self._narration.lines.end_line()
        self._position.place = self._position.last
        self._narration.say(messages.LIVE)

    # ── live part ───────────────────────────────────────────────────────────────────────────

    async def _prompt(self, line: str) -> None:
        await self._to_the_end()
        with self._live_lines():
            self._recording.type(line)
            await self._recording.settled()

    @contextmanager
    def _live_lines(self) -> Iterator[None]:
        """Write what happens as it happens."""
        self._live = lambda moment: write_moment(self._narration.lines, moment)
        try:
            yield
        finally:
            self._live = None
        self._narration.lines.end_line()

    async def _to_the_end(self) -> None:
        if not self._position.at_end:
            self._narration.say(messages.JUMPED)
            await self._wait_for(self._position.last)
            self._position.place = self._position.last

    def _show_with_prompt(self, moment: Moment) -> None:
        if isinstance(moment.fact, TurnStarted):
            self._narration.lines.say(f"\n> {moment.fact.prompt}")
        write_moment(self._narration.lines, moment)

    def _happened(self, moment: Moment) -> None:
        if self._live is not None:
            self._live(moment)
