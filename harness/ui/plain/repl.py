"""The plain REPL: a conversation in lines.

While nothing works, this is an ordinary program that waits for a line. While a turn runs, or something in the
background does, the loop runs, and the keyboard is one of the things it listens to. So nothing is polled and no thread
waits for input.
"""

import asyncio
import logging
import os
import signal
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from contextlib import aclosing, contextmanager, nullcontext
from shutil import get_terminal_size
from types import FrameType
from typing import Any, NoReturn, TextIO, TypeVar

from harness.base.errors import HarnessError, SettingsError
from harness.events import (
    BreakerCommand,
    Event,
    FaultOccurred,
    ReplyReceived,
    RequestSent,
    RetryEnded,
    RetryScheduled,
    SilenceHint,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    TransitionCode,
    TurnEnded,
)
from harness.session import Opening, Session, exit_code, open_session, sessions_of
from harness.settings import Loaded, Settings
from harness.ui.commands.commands import is_command, leaves, prompt_of, run_command, works_any_time
from harness.ui.commands.file_commands import file_command_names
from harness.ui.commands.results import Do, GoOn, Leave, Play, Say, ShowList
from harness.ui.commands.session_list import session_lines
from harness.ui.lines.columns import Groups, laid_out
from harness.ui.lines.line import Line, Tone
from harness.ui.plain.greeting import greeting, recalled
from harness.ui.plain.input_or_arrival import arrival, line_or_arrival
from harness.ui.plain.keyboard import Keyboard
from harness.ui.plain.plain import Plain, has_colours
from harness.ui.plain.prompts import SIGN, PipedPrompts, Prompts, TypedPrompts
from harness.ui.plain.questions import PlainAsker, Unattended
from harness.ui.signals import Ended, heeding
from harness.ui.turn_queue import Delivery, TurnQueue, Typed

T = TypeVar("T")

WORTH_A_HINT_S = 2.0
"""A shorter wait is over before anyone has read how to shorten it."""
TYPED = (
    ("!COMMAND", "a shell command of your own; the model sees it"),
    ("//TEXT", "a prompt that begins with a slash"),
    ("\\", "at the end of a line: the next line belongs to it"),
    ("Ctrl-C", "stop the turn, twice: at once; Ctrl-D leaves"),
)
"""What lines can begin with, and keys."""
OVER = (RetryEnded, RequestSent, TextDelta, ThinkingDelta, ToolCallDelta, ReplyReceived, FaultOccurred)
"""Events after which there is nothing to wait for."""


def repl(
    loaded: Loaded,
    opening: Opening,
    prompt: str | None,
    source: TextIO,
    out: TextIO,
    *,
    reread: Callable[[], Settings],
    log: logging.Logger,
) -> int:
    """Talk until the person leaves or the input ends. Returns the exit code; raises HarnessError at the start.

    `prompt` is taken before anything is read; an `opening` that resumes "" lets the person choose.
    """
    plain = Plain(out, colours=has_colours(out, os.environ))
    before = {number: signal.signal(number, _end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        with asyncio.Runner() as runner:
            conversation = _Repl(runner, loaded, plain, source, reread, log)
            return conversation.run(opening, prompt)
    except Ended as ended:
        return ended.exit_code
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(number: int, frame: FrameType | None) -> NoReturn:
    raise Ended(number)


class _Repl:
    """One person, one terminal, one session at a time."""

    def __init__(
        self,
        runner: asyncio.Runner,
        loaded: Loaded,
        plain: Plain,
        source: TextIO,
        reread: Callable[[], Settings],
        log: logging.Logger,
    ) -> None:
        self._runner = runner
        self._loaded = loaded
        self._plain = plain
        self._source = source
        self._reread = reread
        self._log = log
        self._keyboard = Keyboard(source.fileno()) if source.isatty() else None
        self._waiting = False
        """A retry is waited for, or a silent model is."""
        self._hinted = False
        self._paused = False
        """The last turn paused, so that the person is asked how to go on."""
        self._exit_code = 0
        self._between: Callable[[Event], None] = self._unheard
        """What becomes of an event that is not part of a turn."""
        self._queue = TurnQueue()
        """What was typed ahead, and whether what has arrived begins a turn by itself."""
        self._beside: set[asyncio.Task[None]] = set()
        """What a command does beside the turn."""

    def run(self, opening: Opening, prompt: str | None) -> int:
        if opening.resume == "":
            opening = Opening(self._choose(), opening.fork)
        session = self._open(opening)
        try:
            prompts = self._prompts(session)
            self._greet(session)
            if prompt:
                self._plain.say(f"> {prompt}")
                self._play(session, session.run(self._begin(prompt)))
                self._end()
            while (line := self._next(prompts, session)) is not None and (after := self._obey(line, session)):
                session = after
                self._end()
        finally:
            self._close(session)
        return self._exit_code

    # ── sessions ────────────────────────────────────────────────────────────────────────────────

    def _open(self, opening: Opening) -> Session:
        asker = PlainAsker(self._plain, self._keyboard) if self._keyboard else Unattended()
        return self._in_loop(
            open_session(self._loaded, asker, opening, reread=self._reread, observer=self._seen, log=self._log)
        )

    def _seen(self, event: Event, at: float) -> None:
        self._between(event)

    @contextmanager
    def _showing(self, between: Callable[[Event], None]) -> Iterator[None]:
        """As long as the block lasts, events that are not part of a turn are shown like this."""
        self._between = between
        try:
            yield
        finally:
            self._between = self._unheard

    def _unheard(self, event: Event) -> None:
        """The turn shows it itself, or it is long past."""

    def _close(self, session: Session) -> None:
        with self._showing(self._plain.show):  # what still worked ends now, and says so
            self._in_loop(session.aclose())
        if session.turn:
            self._plain.say(f"resume with: harness --resume {session.id}")

    def _choose(self) -> str:
        found = sessions_of(self._loaded.settings)
        if self._keyboard is None:
            raise SettingsError("--resume needs an id without a terminal; `harness sessions` lists them.")
        if not found:
            raise SettingsError("There is no session for this folder yet; start one with `harness`.")
        for line in session_lines(found):
            self._plain.say(line)
        while True:
            try:
                typed = input("number or id (Enter: 1): ").strip() or "1"
            except EOFError:
                raise SettingsError("No session was chosen.") from None
            if not typed.isdigit() or len(typed) > 3:
                return typed
            if 1 <= int(typed) <= len(found):
                return found[int(typed) - 1].id
            self._plain.say(f"please answer with a number from 1 to {len(found)}")

    def _prompts(self, session: Session) -> Prompts:
        if self._keyboard is None:
            return PipedPrompts(self._source, self._plain)
        editing = os.environ.get("TERM", "dumb") != "dumb"
        return TypedPrompts(session.state_folder / "history", editing=editing)

    def _greet(self, session: Session) -> None:
        for line in greeting(session, self._loaded):
            self._plain.line(line)
        self._plain.say("/help lists the commands; Ctrl-C stops a turn, Ctrl-D leaves.")

    def _recall(self, session: Session) -> None:
        for line in recalled(session):
            self._plain.line(line)

    # ── lines ───────────────────────────────────────────────────────────────────────────────────

    def _next(self, prompts: Prompts, session: Session) -> str | None:
        """The next line, or None when the person leaves. Before it, what has arrived is played."""
        warned = False
        while not self._plain.gone:
            match self._queue.begin(arrived=bool(session.incoming.waiting)):
                case Typed(line):
                    self._plain.say(f"> {line}")
                    return line
                case Delivery():
                    self._play(session, session.deliver())
                    self._end()
                    continue
            self._plain.end_line()
            try:
                if self._keyboard and session.busy_elsewhere:
                    typed = self._listen(session, self._keyboard)
                else:
                    typed = prompts.read(self._keyboard.take_begun() if self._keyboard else "")
                if typed is not None:
                    return self._begin(typed)
            except EOFError:
                if self._keyboard is None and self._brings_more(session):
                    continue
                self._plain.say("" if self._keyboard else "end of input")
                return None
            except KeyboardInterrupt:
                if warned:
                    self._plain.say("")
                    self._exit_code = 130
                    return None
                warned = True
                self._plain.say("\nPress Ctrl-C again to leave; so do Ctrl-D and /exit.")
        return None

    def _begin(self, line: str) -> str:
        """A line that nothing waits before: it is what runs now."""
        self._queue.put(line)
        self._queue.begin(arrived=False)
        return line

    def _end(self) -> None:
        """What ran has ended. After a stop, show the lines that waited and will not run."""
        for line in self._queue.end():
            self._plain.say(f"  not run, as you stopped: {line}")

    def _listen(self, session: Session, keyboard: Keyboard) -> str | None:
        """A line that is typed while something works in the background; None: first see what has come of it."""
        with self._showing(lambda event: self._plain.interject(event, SIGN)):
            line = self._runner.run(line_or_arrival(session, self._queue, keyboard, self._plain))
        if line is None:
            self._queue.release()
        return line

    def _brings_more(self, session: Session) -> bool:
        """The input has ended: wait for what the agents in the background bring. False: that was all."""
        self._queue.release()
        with self._showing(self._plain.show):
            return self._runner.run(arrival(session, self._plain))

    def _obey(self, line: str, session: Session) -> Session | None:
        """Do what a line says. Returns the session to go on with, None when the person leaves."""
        if not line.strip():
            return session
        own_command = self._keyboard is not None and line.startswith("!")  # what comes from a pipe runs nothing
        if not own_command and not is_command(line, file_command_names(session)):
            self._play(session, session.run(prompt_of(line)))
            return session
        try:
            if own_command:
                self._play(session, session.shell(line[1:].strip()))
                return session
            match run_command(line.strip(), session):
                case Say(text):
                    self._plain.say(text)
                case ShowList(groups):
                    self._say_list(groups)
                case Do(work):
                    with self._showing(self._plain.show):
                        self._plain.say(self._in_loop(work))
                case Play(events):
                    self._play(session, events)
                case GoOn(opening, text):
                    other = self._open(opening)
                    with self._showing(self._plain.show):
                        self._in_loop(session.aclose())
                    session = other
                    self._recall(session)
                    self._plain.say(text)
                case Leave():
                    return None
        except HarnessError as error:
            self._plain.line(Line("!", str(error), Tone.TROUBLE))
        return session

    # ── turns ───────────────────────────────────────────────────────────────────────────────────

    def _play(self, session: Session, events: AsyncGenerator[Event, None]) -> None:
        self._paused = False
        self._queue.release()
        number = self._runner.run(self._show(session, events))
        if number == signal.SIGINT:
            self._queue.hold()
            self._queue.stop()
        if number not in (0, signal.SIGINT):
            raise Ended(number)
        if self._paused and self._keyboard and not self._plain.gone:
            self._after_pause(session, self._keyboard)

    def _after_pause(self, session: Session, keyboard: Keyboard) -> None:
        """The turn paused with a report: ask whether and how to go on, and do it."""
        while (tool := self._runner.run(self._how_to_go_on(session, keyboard))) is not None:
            try:
                if tool:
                    session.command_breaker(BreakerCommand.RESET, "" if tool == "all" else tool)
            except HarnessError as error:
                self._plain.line(Line("!", str(error), Tone.TROUBLE))
                continue
            self._play(session, session.retry())
            return
        self._queue.hold()
        self._queue.stop()
        self._plain.say("  stopped; /retry goes on with a fresh budget")

    async def _how_to_go_on(self, session: Session, keyboard: Keyboard) -> str | None:
        """The tool to reset before going on, empty for none; None: the person stops."""
        with heeding() as signalled, keyboard.listening(self._queue.put):
            try:
                return await PlainAsker(self._plain, keyboard).pause()
            except asyncio.CancelledError:
                if not signalled.number:
                    raise
        if signalled.number != signal.SIGINT:
            raise Ended(signalled.number)
        return None

    async def _show(self, session: Session, events: AsyncGenerator[Event, None]) -> int:
        """Show events until they end; returns the signal that came meanwhile, or 0."""
        keys = self._keyboard.listening(lambda line: self._typed(line, session)) if self._keyboard else nullcontext()
        with heeding() as signalled, keys:
            signalled.interrupts(session.interrupt)
            try:
                async with aclosing(events):
                    async for event in events:
                        self._notice(event)
                        if self._plain.gone:
                            session.interrupt()
            except asyncio.CancelledError:
                if not signalled.number:
                    raise
                self._plain.line(Line("○", "stopped at once; /retry goes on from here", Tone.TROUBLE))
            return signalled.number

    def _notice(self, event: Event) -> None:
        self._plain.show(event)
        match event:
            case RetryScheduled(delay_s=delay):
                self._waiting = True
                if self._keyboard and delay >= WORTH_A_HINT_S and not self._hinted:
                    self._hinted = True
                    self._plain.say("  Enter tries at once, Ctrl-C stops the turn")
            case SilenceHint():
                self._waiting = True
                if self._keyboard:
                    self._plain.say("  Enter asks again over a new connection, Ctrl-C stops the turn")
            case TurnEnded(code=code):
                self._waiting = False
                self._paused = code is TransitionCode.FAILURE_BUDGET_PAUSED
                self._exit_code = 0 if self._keyboard else exit_code(code)
                self._plain.say("")
            case _ if isinstance(event, OVER):
                self._waiting = False

    def _typed(self, line: str, session: Session) -> None:
        """A line came while a turn runs and nothing was asked."""
        self._plain.entered()
        if self._waiting and line.strip() in ("", "/retry"):
            self._waiting = False
            session.retry_now()
        elif self._works_now(line, file_command_names(session)):
            self._at_once(line.strip(), session)
        elif line.strip():
            self._queue.put(line)

    def _works_now(self, line: str, others: frozenset[str]) -> bool:
        return is_command(line, others) and works_any_time(line, others) and not leaves(line)

    def _at_once(self, line: str, session: Session) -> None:
        """Do a command while a turn runs."""
        try:
            match run_command(line, session):
                case Say(text):
                    self._plain.say(text)
                case ShowList(groups):
                    self._say_list(groups)
                case Do(work):
                    task = asyncio.create_task(self._do(work))
                    self._beside.add(task)
                    task.add_done_callback(self._beside.discard)
        except HarnessError as error:
            self._plain.line(Line("!", str(error), Tone.TROUBLE))

    def _say_list(self, groups: Groups) -> None:
        width = get_terminal_size().columns - 1
        self._plain.say("\n".join(name + text for name, text in laid_out((*groups, ("Typing", TYPED)), width)))

    async def _do(self, work: Coroutine[Any, Any, str]) -> None:
        try:
            self._plain.say(await work)
        except HarnessError as error:
            self._plain.line(Line("!", str(error), Tone.TROUBLE))

    def _in_loop(self, work: Coroutine[Any, Any, T]) -> T:
        """Run something short; a signal ends it."""

        async def heeded() -> T:
            with heeding() as signalled:
                try:
                    return await work
                except asyncio.CancelledError:
                    if not signalled.number:
                        raise
                    raise Ended(signalled.number) from None

        return self._runner.run(heeded())
