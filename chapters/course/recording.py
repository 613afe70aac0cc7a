"""One run of a chapter, recorded while it happens."""

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from shutil import copytree, ignore_patterns
from tempfile import TemporaryDirectory
from traceback import walk_tb
from types import MappingProxyType
from typing import TYPE_CHECKING, Self

from chapters.course.checks.solution import SolutionDemo, SolutionError
from chapters.course.demo_session import DemoModel, DemoSession
from chapters.course.facts import Fact
from chapters.course.lesson import Lesson, LessonError, LessonStep
from chapters.course.step_conditions import Scene, failures
from chapters.course.wire import WireListener, exchanged
from harness.engine.permissions.asker import Asker, NoAsker, UserAnswer, WaitChoice
from harness.events import Event, LoopAsked, LoopChoice, PermissionAsked, QuestionAsked, WaitOffered
from harness.permissions import PermissionAnswer, PermissionRequest
from harness.practice.wire.recorded import RecordedExchange

if TYPE_CHECKING:
    from harness.session import Session

Demo = Callable[[DemoSession], Awaitable[None]]
"""The program of a chapter."""
SOLUTION_S = 60.0
"""Seconds for the prompts of a chapter with a solution of the learner."""
MOST_CANCELS = 5
CANCEL_S = 0.5
"""Seconds until the learner's code is cancelled again."""
NO_OVERRIDES: Mapping[str, object] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Moment:
    """One recorded fact."""

    number: int | None
    """Index in the recording; None for transient facts such as streamed text."""
    at: float
    """Unix time in seconds."""
    fact: Fact


@dataclass(frozen=True, slots=True)
class LocatedStep:
    """A step with its place in the recording."""

    step: LessonStep
    moment: Moment
    failed: tuple[str, ...] = ()
    """Conditions that do not hold in this run, so that its sentence is false."""


class StepFinder:
    """Finds the steps of a lesson, each the first match after the previous step, and checks their conditions."""

    def __init__(self, steps: Sequence[LessonStep], read: Callable[[str], str] = lambda _: "") -> None:
        """`read` returns the text of a file in the workspace now."""
        self._steps = tuple(steps)
        self._read = read
        self._found: list[LocatedStep] = []
        self._facts: list[Fact] = []
        self._scenes: list[Scene] = []

    @property
    def found(self) -> tuple[LocatedStep, ...]:
        """Steps found so far."""
        return tuple(self._found)

    @property
    def missing(self) -> LessonStep | None:
        """The next step to find; None when all are found."""
        return self._steps[len(self._found)] if len(self._found) < len(self._steps) else None

    def add(self, moment: Moment) -> LocatedStep | None:
        """Add the next moment; returns the step it completes, if any."""
        if moment.number is None:
            return None
        self._facts.append(moment.fact)
        if self.missing is None or not self.missing.fits(moment.fact):
            return None
        scene = Scene(tuple(self._facts), tuple(self._scenes), self._read)
        self._found.append(LocatedStep(self.missing, moment, failures(self.missing.needs, scene)))
        self._scenes.append(scene)
        return self._found[-1]


class LessonAsker:
    """Gives the answers of the chapter during its prompts; afterwards asks the learner."""

    present = True

    def __init__(self, answers: Sequence[str], learner: Asker | None, live: Callable[[], bool]) -> None:
        """`answers` are "once", "always", "no" and "no: why"; `live` returns whether the learner has taken over."""
        self._answers = deque(answers)
        self._learner = learner or NoAsker()
        self._live = live

    async def permission(self, asked: PermissionAsked, request: PermissionRequest) -> PermissionAnswer:
        """PermissionAnswer a permission question."""
        if self._live():
            return await self._learner.permission(asked, request)
        if not self._answers:
            return PermissionAnswer("no", "the chapter has no answer to this question")
        match self._answers.popleft().partition(":"):
            case "once", _, _:
                return PermissionAnswer("once")
            case "always", _, _:
                return PermissionAnswer("always", rules=(request.family,) if request.family else request.offers)
            case _, _, why:
                return PermissionAnswer("no", why.strip())

    async def wait(self, offered: WaitOffered) -> WaitChoice:
        """Wait, or ask the learner."""
        return await self._learner.wait(offered) if self._live() else "wait"

    async def loop(self, asked: LoopAsked) -> LoopChoice:
        """Stop, or ask the learner."""
        return await self._learner.loop(asked) if self._live() else LoopChoice.STOP

    async def question(self, asked: QuestionAsked) -> UserAnswer | None:
        """Ask the learner; None during the prompts of the chapter."""
        return await self._learner.question(asked) if self._live() else None


class Recording:
    """A running chapter, as an async context manager.

    The prompts of the chapter come first. Then the learner may type, unless it is `scripted_only`.
    """

    def __init__(
        self,
        lesson: Lesson,
        *,
        asker: Asker | None = None,
        scripted_only: bool = False,
        overrides: Mapping[str, object] = NO_OVERRIDES,
        demo: Demo | None = None,
    ) -> None:
        """
        Args:
            lesson: the chapter.
            asker: answers questions of the live part; None: they are declined.
            scripted_only: end after the prompts of the chapter.
            overrides: settings that take precedence over those of the demo.
            demo: replaces the demo of the chapter.
        """
        self.lesson = lesson
        self._scripted_only = scripted_only
        self._asker = LessonAsker(lesson.answers, asker, lambda: self._live or lesson.connection is not None)
        self._moments: list[Moment] = []
        self._overrides = overrides
        self._replaced_demo = demo
        self._finder = StepFinder(lesson.steps, self._read)
        self._observers: list[Callable[[Moment], None]] = []
        self._typed: asyncio.Queue[str] = asyncio.Queue()
        self._changed = asyncio.Event()
        self._exchanges = 0
        self._listener = WireListener() if lesson.from_wire else None
        self._live = False
        self._endless = False
        self._waiting = False
        self._opened = AsyncExitStack()
        self._demo: asyncio.Task[None] | None = None
        self._demo_session: DemoSession | None = None

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as opened:
            folder = Path(opened.enter_context(TemporaryDirectory(prefix="harness-learn-", ignore_cleanup_errors=True)))
            workspace = folder / self.lesson.name
            await asyncio.to_thread(_furnish, self.lesson, workspace)
            model = await opened.enter_async_context(self._model())
            self._demo_session = DemoSession(
                workspace=workspace,
                state=folder / "state",
                model=model,
                asker=self._asker,
                prompts=self._prompts,
                show=self._happened,
                overrides={**(self.lesson.connection or {}), "base_url": model.address, **self._overrides},
            )
            self._demo = asyncio.ensure_future(self._chosen_demo()(self._demo_session))
            opened.push_async_callback(self._end)
            self._demo.add_done_callback(lambda _: self._notify())
            if self.lesson.solution is not None:
                opened.callback(asyncio.get_running_loop().call_later(SOLUTION_S, self._stop_endless).cancel)
            self._opened = opened.pop_all()
        return self

    def _chosen_demo(self) -> Demo:
        if self._replaced_demo is not None:
            return self._replaced_demo
        if self.lesson.solution is not None:
            return SolutionDemo.of(self.lesson, self.lesson.solution)
        try:
            demo: Demo = import_module(f"chapters.{self.lesson.name}.demo").demo
        except Exception as error:  # a learner may have changed the file
            raise LessonError(failed_in(self.lesson, error)) from error
        return demo

    @asynccontextmanager
    async def _model(self) -> AsyncIterator[DemoModel]:
        """The script, or a proxy in front of a real model."""
        from harness.practice.proxy import FaultProxy
        from harness.practice.rule_model import RuleModel
        from harness.practice.script import Script
        from harness.practice.server import PracticeServer

        if self.lesson.connection is not None:
            upstream = str(self.lesson.connection["base_url"])
            async with FaultProxy(upstream, remember=0, on_exchange=self._exchanged) as proxy:
                yield DemoModel(proxy.base_url)
        else:
            script = Script.load((self.lesson.scene or self.lesson.folder) / "script.toml")
            async with PracticeServer(RuleModel(), script=script, remember=0, on_exchange=self._exchanged) as server:
                yield DemoModel(server.base_url, server.orders)

    async def __aexit__(self, *_: object) -> None:
        await self._opened.aclose()

    @property
    def workspace(self) -> Path:
        """The folder of the agent."""
        return self._opened_demo_session.workspace

    @property
    def moments(self) -> tuple[Moment, ...]:
        """Recorded moments, without transient ones."""
        return tuple(self._moments)

    @property
    def steps(self) -> tuple[LocatedStep, ...]:
        """Steps found so far."""
        return self._finder.found

    @property
    def failed(self) -> tuple[tuple[int, LocatedStep], ...]:
        """Steps found so far whose sentence does not hold, with their numbers from 1."""
        return tuple((number, found) for number, found in enumerate(self._finder.found, 1) if found.failed)

    @property
    def scripted(self) -> bool:
        """Whether the prompts of the chapter are still running."""
        return not self._live and not self._ended

    @property
    def busy(self) -> bool:
        """Whether a turn is running."""
        return not self._ended and not (self._waiting and self._typed.empty())

    def observe(self, callback: Callable[[Moment], None]) -> None:
        """Call `callback` for every new moment, including transient ones."""
        self._observers.append(callback)

    async def reached(self, number: int) -> bool:
        """Wait for the step with this index; returns False if the prompts of the chapter end without it."""
        while len(self._finder.found) <= number and self.scripted:
            await self._changed.wait()
        return len(self._finder.found) > number

    async def finished(self) -> None:
        """Wait for the end of the prompts of the chapter. Raises LessonError if they failed or a step is missing."""
        while self.scripted:
            await self._changed.wait()
        self._raise()
        if (missing := self._finder.missing) is not None:
            number = len(self._finder.found) + 1
            raise LessonError(f"{self.lesson.label}: step {number} did not happen: {missing}.")

    async def settled(self) -> None:
        """Wait until no turn is running. Raises LessonError if the demo failed."""
        while self.busy:
            await self._changed.wait()
        self._raise()

    def type(self, prompt: str) -> None:
        """Queue a prompt of the learner. Raises LessonError if the demo has ended."""
        if self._ended:
            raise LessonError("The demo of this chapter has ended; r restarts it.")
        self._typed.put_nowait(prompt)

    @property
    def session(self) -> "Session":
        """See `DemoSession.session`."""
        return self._opened_demo_session.session

    async def play(self, events: AsyncGenerator[Event, None]) -> None:
        """Record the turn that a slash command of the learner began."""
        await self._opened_demo_session.watch(events)

    def break_model(self, text: str) -> str:
        """See `DemoSession.break_model`."""
        return self._opened_demo_session.break_model(text)

    def break_tool(self, text: str) -> str:
        """See `DemoSession.break_tool`."""
        return self._opened_demo_session.break_tool(text)

    # ── callbacks of the demo ──────────────────────────────────────────────────────────────────────

    async def _prompts(self) -> AsyncIterator[str]:
        for prompt in self.lesson.prompts:
            yield prompt
        self._live = True
        while not self._scripted_only:
            self._waiting = True
            self._notify()
            prompt = await self._typed.get()
            self._waiting = False
            yield prompt
        self._notify()

    def _exchanged(self, exchange: RecordedExchange) -> None:
        fact = exchanged(exchange, self._exchanges + 1)
        if fact is None:
            return
        self._exchanges += 1
        if self._listener is not None:
            for event in self._listener.request(fact):
                self._happened(event)
        self._happened(fact)
        if self._listener is not None:
            for event in self._listener.reply(fact):
                self._happened(event)

    def _happened(self, fact: Fact) -> None:
        kept = not (isinstance(fact, Event) and fact.transient)
        moment = Moment(len(self._moments) if kept else None, time.time(), fact)
        if kept:
            self._moments.append(moment)
            self._finder.add(moment)
            self._notify()
        for observer in self._observers:
            observer(moment)

    def _read(self, name: str) -> str:
        file = self.workspace / name
        return file.read_text("utf-8", "replace") if file.is_file() else ""

    def _notify(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()

    # ── end ─────────────────────────────────────────────────────────────────────────────────

    @property
    def _opened_demo_session(self) -> DemoSession:
        if self._demo_session is None:
            raise RuntimeError("the recording has not started")
        return self._demo_session

    @property
    def _ended(self) -> bool:
        return self._demo is not None and self._demo.done()

    def _stop_endless(self) -> None:
        if self.scripted and self._demo is not None:
            self._endless = True
            self._demo.cancel()

    def _raise(self) -> None:
        if self._endless:
            raise SolutionError(f"{self.lesson.label}: no end after {SOLUTION_S:g} s; look for an endless loop.")
        if self._demo is not None and self._demo.done() and not self._demo.cancelled():
            error = self._demo.exception()
            if isinstance(error, LessonError):
                raise error
            if error is not None:
                raise LessonError(failed_in(self.lesson, error)) from error

    async def _end(self) -> None:
        if self._demo is None:
            return
        for _ in range(MOST_CANCELS):  # code of the learner may catch the first ones
            self._demo.cancel()
            await asyncio.wait({self._demo}, timeout=None if self.lesson.solution is None else CANCEL_S)
            if self._demo.done():
                break
        if self._demo.done() and not self._demo.cancelled():
            self._demo.exception()  # reported by `finished` and `settled`


def failed_in(lesson: Lesson, error: BaseException) -> str:
    """The error in the files of a chapter, which a learner may have changed, with its line."""
    if isinstance(error, BaseExceptionGroup):
        return failed_in(lesson, error.exceptions[0])
    if isinstance(error, SyntaxError) and lesson.name in Path(error.filename or "").parts:
        file, line, what = Path(str(error.filename)), error.lineno, f"this is not valid Python ({error.msg})"
    else:
        frames = ((frame.f_code.co_filename, line) for frame, line in walk_tb(error.__traceback__))
        inside = [(Path(name), line) for name, line in frames if lesson.name in Path(name).parts]
        file, line = inside[-1] if inside else (lesson.folder / "demo.py", None)
        what = f"{type(error).__name__}: {error}".removesuffix(": ")
    place = Path("chapters", *file.parts[file.parts.index(lesson.name) :])
    return f"{place} failed{f' in line {line}' if line else ''}: {what}"


def _furnish(lesson: Lesson, workspace: Path) -> None:
    for folder in (lesson.scene, lesson.folder):
        if folder is not None and (folder / "workspace").is_dir():
            copytree(folder / "workspace", workspace, ignore=ignore_patterns("__pycache__"))
            return
    workspace.mkdir()
