"""One run of a chapter, recorded while it happens."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, suppress
from importlib import import_module
from pathlib import Path
from shutil import copytree
from tempfile import TemporaryDirectory
from typing import Self

from harness.engine.permissions.asker import Asker
from harness.events import Event
from harness.lessons.answers import Answering
from harness.lessons.demo_session import Stage
from harness.lessons.exchange import exchanged
from harness.lessons.lesson import Fact, Lesson, LessonError
from harness.lessons.steps import BeatAt, BeatFinder, Moment
from harness.lessons.wire_events import Hearing
from harness.practice.exchange import Exchange


class Take:
    """A chapter that runs. Use it as an async context manager: it begins to run at once, and ends with the block.

    The chapter's own prompts are typed first. Then the learner may type, unless it is `scripted_only`.
    """

    def __init__(self, lesson: Lesson, *, asker: Asker | None = None, scripted_only: bool = False) -> None:
        """`asker` answers the questions of the live part; None: they are answered with no."""
        self.lesson = lesson
        self._scripted_only = scripted_only
        self._asker = Answering(lesson.answers, asker, lambda: self._live)
        self._moments: list[Moment] = []
        self._finder = BeatFinder(lesson.beats)
        self._observers: list[Callable[[Moment], None]] = []
        self._typed: asyncio.Queue[str] = asyncio.Queue()
        self._changed = asyncio.Event()
        self._exchanges = 0
        self._hearing = Hearing() if lesson.heard else None
        self._live = False
        self._waiting = False
        self._opened = AsyncExitStack()
        self._demo: asyncio.Task[None] | None = None
        self._stage: Stage | None = None

    async def __aenter__(self) -> Self:
        from harness.practice.improviser import Improviser
        from harness.practice.script import Script
        from harness.practice.server import PracticeServer

        async with AsyncExitStack() as opened:
            folder = Path(opened.enter_context(TemporaryDirectory(prefix="harness-learn-", ignore_cleanup_errors=True)))
            workspace = folder / self.lesson.name
            await asyncio.to_thread(_furnish, self.lesson, workspace)
            script = Script.load(self.lesson.folder / "script.toml")
            server = PracticeServer(Improviser(), script=script, remember=0, on_exchange=self._exchanged)
            await opened.enter_async_context(server)
            self._stage = Stage(
                workspace=workspace,
                state=folder / "state",
                address=server.base_url,
                orders=server.orders,
                asker=self._asker,
                prompts=self._prompts,
                show=self._happened,
            )
            demo = import_module(f"chapters.{self.lesson.name}.demo").demo
            self._demo = asyncio.create_task(demo(self._stage))
            opened.push_async_callback(self._end)
            self._demo.add_done_callback(lambda _: self._tell())
            self._opened = opened.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._opened.aclose()

    @property
    def workspace(self) -> Path:
        """The folder that the chapter's agent works in."""
        return self._on_stage.workspace

    @property
    def moments(self) -> tuple[Moment, ...]:
        """What has happened, without what is shown and not kept."""
        return tuple(self._moments)

    @property
    def beats(self) -> tuple[BeatAt, ...]:
        """The beats found so far."""
        return self._finder.found

    @property
    def scripted(self) -> bool:
        """The chapter's own prompts are still being played."""
        return not self._live and not self._ended

    @property
    def busy(self) -> bool:
        """Something runs; nothing is waited for but the model and tools."""
        return not self._ended and not (self._waiting and self._typed.empty())

    def observe(self, callback: Callable[[Moment], None]) -> None:
        """Tell `callback` of every moment from now on, also of those that are not kept."""
        self._observers.append(callback)

    async def reached(self, number: int) -> bool:
        """Wait for beat `number`, from 0; False if the chapter's own part is over without it."""
        while len(self._finder.found) <= number and self.scripted:
            await self._changed.wait()
        return len(self._finder.found) > number

    async def finished(self) -> None:
        """Wait until the chapter's own part is over. Raises LessonError when it failed, or did not do what its text
        says."""
        while self.scripted:
            await self._changed.wait()
        self._raise()
        if (missing := self._finder.missing) is not None:
            number = len(self._finder.found) + 1
            raise LessonError(f"{self.lesson.name}: beat {number} did not happen: {missing}.")

    async def settled(self) -> None:
        """Wait until nothing runs: the next prompt is waited for, or the demo has ended. Raises LessonError when it
        failed."""
        while self.busy:
            await self._changed.wait()
        self._raise()

    def type(self, prompt: str) -> None:
        """Type a prompt of the learner's own; it is taken when what runs has ended. Raises LessonError if the demo
        has ended."""
        if self._ended:
            raise LessonError("The program of this chapter has ended; r starts it again.")
        self._typed.put_nowait(prompt)

    def break_model(self, text: str) -> str:
        """Let something go wrong with the model, in the words of `/fault`; returns what was ordered. Raises
        HarnessError, one sentence."""
        return self._on_stage.break_model(text)

    def break_tool(self, text: str) -> str:
        """Let the next calls of a tool go wrong, in the words of `/toolfault`; returns what was ordered. Raises
        HarnessError, one sentence."""
        return self._on_stage.break_tool(text)

    # ── what the demo does ──────────────────────────────────────────────────────────────────────

    async def _prompts(self) -> AsyncIterator[str]:
        for prompt in self.lesson.prompts:
            yield prompt
        self._live = True
        while not self._scripted_only:
            self._waiting = True
            self._tell()
            prompt = await self._typed.get()
            self._waiting = False
            yield prompt
        self._tell()

    def _exchanged(self, exchange: Exchange) -> None:
        fact = exchanged(exchange, self._exchanges + 1)
        if fact is None:
            return
        self._exchanges += 1
        if self._hearing is not None:
            for event in self._hearing.request(fact):
                self._happened(event)
        self._happened(fact)
        if self._hearing is not None:
            for event in self._hearing.reply(fact):
                self._happened(event)

    def _happened(self, fact: Fact) -> None:
        kept = not (isinstance(fact, Event) and fact.transient)
        moment = Moment(len(self._moments) if kept else None, time.time(), fact)
        if kept:
            self._moments.append(moment)
            self._finder.take(moment)
            self._tell()
        for observer in self._observers:
            observer(moment)

    def _tell(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    # ── its end ─────────────────────────────────────────────────────────────────────────────────

    @property
    def _on_stage(self) -> Stage:
        if self._stage is None:
            raise RuntimeError("the take has not begun")
        return self._stage

    @property
    def _ended(self) -> bool:
        return self._demo is not None and self._demo.done()

    def _raise(self) -> None:
        if self._demo is not None and self._demo.done() and not self._demo.cancelled():
            error = self._demo.exception()
            if error is not None:
                place = f"chapters/{self.lesson.name}/demo.py"
                raise LessonError(f"{place} failed: {type(error).__name__}: {error}") from error

    async def _end(self) -> None:
        if self._demo is not None:
            self._demo.cancel()
            with suppress(asyncio.CancelledError, Exception):  # `finished` and `settled` have told of it
                await self._demo


def _furnish(lesson: Lesson, workspace: Path) -> None:
    files = lesson.folder / "workspace"
    if files.is_dir():
        copytree(files, workspace)
    else:
        workspace.mkdir()
