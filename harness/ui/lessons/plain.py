"""A chapter in lines: Enter goes from beat to beat, and after the last one every line is a prompt."""

import asyncio
import unicodedata
from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType

from harness.base.errors import HarnessError
from harness.lessons import LessonError, Moment, Progress, Take, readme
from harness.ui.lessons import texts
from harness.ui.lessons.exercises import copied
from harness.ui.lessons.input import TypedLines
from harness.ui.lessons.narration import READ_BEFORE_THE_END, Telling, tell
from harness.ui.lessons.progress import where_to_begin
from harness.ui.lessons.walk import Walk
from harness.ui.lines.line import Line
from harness.ui.plain.questions import PlainAsker

LEAVE = frozenset({"q", "quit", "exit", "/exit", "/quit"})


async def play(telling: Telling) -> None:
    """Go through all beats without waiting, and tell everything there is. Raises LessonError when something of the
    chapter is missing: a beat did not happen, the demo failed, the text cannot be read."""
    async with Take(telling.lesson, scripted_only=True) as take:
        telling.title()
        telling.text(slice(READ_BEFORE_THE_END))
        await _play_beats(Walk(take), telling)
        telling.say(texts.PLAYED, count=len(telling.lesson.beats))
        telling.sections(readme(telling.lesson, telling.language)[READ_BEFORE_THE_END:])


async def play_and_talk(telling: Telling, typed: TypedLines) -> None:
    """Go through all beats without waiting, then let the learner type. Raises LessonError."""
    async with Take(telling.lesson, asker=PlainAsker(telling.lines, typed)) as take:
        with typed.listening():
            telling.title()
            walk = Walk(take)
            await _play_beats(walk, telling)
            walk.place = walk.last
            telling.say(texts.LIVE)
            await _Talk(telling, walk, typed, None).run()


async def step(telling: Telling, typed: TypedLines, progress: Progress) -> None:
    """Go where the learner goes, until they leave or the input ends. Raises LessonError and ProgressError."""
    place = where_to_begin(telling.lesson, progress)
    telling.opening()
    fresh = True
    with typed.listening():
        while fresh:
            async with Take(telling.lesson, asker=PlainAsker(telling.lines, typed)) as take:
                talk = _Talk(telling, Walk(take), typed, progress)
                telling.lines.say(texts.HINT.into(telling.language))
                if place:
                    telling.say(texts.GOING_ON, number=place)
                    await talk.go(place)
                fresh = await talk.run()
                place = 0


async def _play_beats(walk: Walk, telling: Telling) -> None:
    for place in range(1, walk.last):
        if not await walk.reached(place):
            break
        walk.place = place
        telling.beat(walk)
    try:
        await walk.take.finished()
    finally:
        rest = walk.take.moments[walk.end_of(walk.place) :]
        telling.moments(rest, before=walk.shown)


class _Talk:
    """What is typed at a chapter, and what it does."""

    def __init__(self, telling: Telling, walk: Walk, typed: TypedLines, progress: Progress | None) -> None:
        self._telling = telling
        self._walk = walk
        self._take = walk.take
        self._typed = typed
        self._progress = progress
        self._live: Callable[[Moment], None] | None = None
        """Shows what happens now; None while nothing of the learner's own runs."""
        self._keys: Mapping[str, Callable[[], None]] = MappingProxyType(
            {
                "c": lambda: telling.code(walk),
                "d": telling.difference,
                "w": lambda: telling.wire(walk),
                "t": telling.text,
                "l": self._switch_language,
                "?": telling.keys,
            }
        )
        self._take.observe(self._happened)

    async def run(self) -> bool:
        """Obey until the learner leaves or the input ends, False, or wants to begin anew, True."""
        lines = self._telling.lines
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
                self._telling.say(texts.FRESH)
                return True
            try:
                await self._obey(key, line)
            except HarnessError as error:
                self._telling.complain(error)
        return False

    async def go(self, place: int) -> None:
        """Go to a place and show it. Raises LessonError when the run does not come there."""
        walk, telling = self._walk, self._telling
        if not 0 <= place <= walk.last:
            telling.say(texts.NOTHING_BEFORE if place < 0 else texts.NOTHING_AFTER)
            return
        await self._wait_for(place)
        walk.place = place
        if walk.at_end:
            telling.end(walk)
        elif not place:
            telling.opening()
        else:
            telling.beat(walk)
            if self._progress is not None:
                self._progress.reach(walk.lesson.id, place, of=len(walk.lesson.beats))

    async def _wait_for(self, place: int) -> None:
        """Raises LessonError when the run does not come to a place."""
        reaching = asyncio.create_task(self._walk.reached(place))
        try:
            await asyncio.sleep(0)
            if not reaching.done():
                self._telling.say(texts.RUNS)
            if not await reaching:
                await self._take.finished()
                raise LessonError(f"{self._walk.lesson.name}: the run ended before beat {place}.")
        finally:
            reaching.cancel()
        if place == self._walk.last:
            await self._take.finished()

    @property
    def _sign(self) -> str:
        return "> " if self._walk.at_end else f"{self._walk.place}/{len(self._walk.lesson.beats)} > "

    async def _obey(self, key: str, line: str) -> None:
        match key:
            case "" | "n":
                await self.go(self._walk.place + 1)
            case "b":
                await self.go(self._walk.place - 1)
            case _ if key in self._keys:
                self._keys[key]()
            case "e":
                self._copy("")
            case _ if key.startswith(("/fault", "/toolfault")):
                await self._break(line)
            case _ if key.startswith("/") or len(key) == 1:
                self._telling.say(texts.NOT_UNDERSTOOD, typed=line.split()[0])
            case _:
                await self._prompt(line)

    async def _break(self, line: str) -> None:
        await self._to_the_end()
        command, _, order = line.partition(" ")
        break_ = self._take.break_model if command.lower() == "/fault" else self._take.break_tool
        self._telling.lines.say(break_(order.strip()))

    def _copy(self, name: str) -> None:
        for text in copied(self._walk.lesson, name, Path.cwd(), self._telling.language):
            self._telling.lines.line(Line("·", text))

    def _switch_language(self) -> None:
        telling = self._telling
        telling.language = "en" if telling.language == "ja" else "ja"
        if self._progress is not None:
            self._progress.speak(telling.language)
        telling.say(texts.LANGUAGE)

    # ── the live part ───────────────────────────────────────────────────────────────────────────

    async def _prompt(self, line: str) -> None:
        await self._to_the_end()
        self._live = lambda moment: tell(self._telling.lines, moment)
        try:
            self._take.type(line)
            await self._take.settled()
        finally:
            self._live = None
        self._telling.lines.end_line()

    async def _to_the_end(self) -> None:
        if not self._walk.at_end:
            self._telling.say(texts.JUMPED)
            await self._wait_for(self._walk.last)
            self._walk.place = self._walk.last

    def _happened(self, moment: Moment) -> None:
        if self._live is not None:
            self._live(moment)
