"""The plain REPL: a conversation in lines.

While nothing runs, it simply waits for a line. While a turn or background work runs, the event loop runs and reads the
keyboard, so there is no polling and no thread that waits for input.
"""

import asyncio
import logging
import os
import signal
from collections.abc import AsyncGenerator, Callable, Coroutine, Iterator
from contextlib import aclosing, contextmanager, nullcontext, suppress
from math import inf
from shutil import get_terminal_size
from types import FrameType
from typing import Any, NoReturn, TextIO, TypeVar

from harness.base.errors import HarnessError, SettingsError
from harness.base.external_text import counted
from harness.events import (
    BreakerCommand,
    Event,
    FaultOccurred,
    ReplyReceived,
    RequestSent,
    RetryEnded,
    RetryScheduled,
    SilenceEnded,
    SilenceHint,
    TransitionCode,
    TurnEnded,
)
from harness.session import Opening, Session, exit_code, open_session, sessions_of
from harness.settings import LoadedSettings, Settings
from harness.ui.commands.commands import file_command_names, is_command, prompt_of, quits, run_command, works_any_time
from harness.ui.commands.results import EditQueue, PlayEvents, Quit, ShowList, ShowText, StartTask, SwitchSession
from harness.ui.commands.session_commands import session_lines
from harness.ui.lines.line import Groups, Line, Tone, laid_out
from harness.ui.lines.queue import queue_text
from harness.ui.lines.reports import greeting, resumed
from harness.ui.plain.keyboard import Keyboard
from harness.ui.plain.printer import LinePrinter, has_colours
from harness.ui.plain.prompts import SIGN, PipedPrompts, Prompts, TypedPrompts, arrival, line_or_arrival
from harness.ui.plain.questions import PlainAsker
from harness.ui.plain.unattended import Unattended
from harness.ui.signals import SignalExit, handle_signals
from harness.ui.terminal_programs import command_after_sign, ended_line
from harness.ui.turn_queue import Delivery, TurnQueue, TypedLine

T = TypeVar("T")

LOOK_S = 30.0
"""Interval at which the schedule is looked at while the line editor waits."""
WORTH_A_HINT_S = 2.0
"""Seconds; shorter waits have no hint how to end them."""
TYPED = (
    ("!COMMAND", "a shell command of your own; the model sees it"),
    ("!!COMMAND", "a program that gets the terminal, as vim, less or ssh do without a second !"),
    ("//TEXT", "a prompt that begins with a slash"),
    ("\\", "at the end of a line: continue on the next line"),
    ("Ctrl-C", "stop the turn, twice: at once; Ctrl-D quits"),
    ("Ctrl-B", "and Enter: as /background, move the running command to the background"),
)
"""Prefixes of lines, and keys."""
CTRL_B = "\x02"
"""The terminal is in line mode during a turn: the key arrives with Enter."""
END_WAIT = (RetryEnded, RequestSent, SilenceEnded, ReplyReceived, FaultOccurred)
"""Events that end a wait."""


def repl(
    loaded: LoadedSettings,
    opening: Opening,
    prompt: str | None,
    source: TextIO,
    out: TextIO,
    *,
    reread: Callable[[], Settings],
    log: logging.Logger,
) -> int:
    """Run the conversation until the user leaves or the input ends; returns the exit code.

    `prompt` is run before anything is read; an `opening` that resumes "" lets the user choose. Raises HarnessError if
    the session cannot be opened.
    """
    printer = LinePrinter(out, colours=has_colours(out, os.environ))
    before = {number: signal.signal(number, _end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        with asyncio.Runner() as runner:
            conversation = _Repl(runner, loaded, printer, source, reread, log)
            return conversation.run(opening, prompt)
    except SignalExit as ended:
        return ended.exit_code
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(number: int, frame: FrameType | None) -> NoReturn:
    raise SignalExit(number)


def _ignore(event: Event) -> None:
    """The turn shows the event itself, or it is long past."""


class _Repl:
    """One terminal, one session at a time."""

    def __init__(
        self,
        runner: asyncio.Runner,
        loaded: LoadedSettings,
        printer: LinePrinter,
        source: TextIO,
        reread: Callable[[], Settings],
        log: logging.Logger,
    ) -> None:
        self._runner = runner
        self._loaded = loaded
        self._printer = printer
        self._source = source
        self._reread = reread
        self._log = log
        self._keyboard = Keyboard(source.fileno()) if source.isatty() else None
        self._waiting = False
        """Whether the turn waits for a retry or a silent model."""
        self._hinted = False
        self._paused = False
        """Whether the last turn paused, so that the user is asked how to continue."""
        self._exit_code = 0
        self._between: Callable[[Event], None] = _ignore
        """Shows an event outside of turns."""
        self._queue = TurnQueue()
        """Lines typed ahead, and whether arrived results start a turn."""
        self._beside: set[asyncio.Task[None]] = set()
        """Commands that run beside the turn."""

    def run(self, opening: Opening, prompt: str | None) -> int:
        if opening.resume == "":
            opening = Opening(self._choose(), opening.fork)
        session = self._open(opening)
        try:
            prompts = self._prompts(session)
            self._greet(session)
            if prompt:
                self._printer.say(f"> {prompt}")
                self._play(session, session.run(self._begin(prompt)))
                self._end()
            while (line := self._next(prompts, session)) is not None and (after := self._run_line(line, session)):
                session = after
                self._end()
        finally:
            self._close(session)
        return self._exit_code

    # ── sessions ────────────────────────────────────────────────────────────────────────────────

    def _open(self, opening: Opening) -> Session:
        asker = PlainAsker(self._printer, self._keyboard) if self._keyboard else Unattended()
        return self._in_loop(
            open_session(self._loaded, asker, opening, reread=self._reread, observer=self._observe, log=self._log)
        )

    def _observe(self, event: Event, at: float) -> None:
        self._between(event)

    @contextmanager
    def _showing(self, between: Callable[[Event], None]) -> Iterator[None]:
        """Show events outside of turns like this during the block."""
        self._between = between
        try:
            yield
        finally:
            self._between = _ignore

    def _close(self, session: Session) -> None:
        with self._showing(self._printer.show):  # background work ends now and reports it
            self._in_loop(session.aclose())
        if session.conversation.turn:
            self._printer.say(f"resume with: harness --resume {session.id}")

    def _choose(self) -> str:
        found = sessions_of(self._loaded.settings)
        if self._keyboard is None:
            raise SettingsError("--resume needs an id without a terminal; `harness sessions` lists them.")
        if not found:
            raise SettingsError("There is no session for this folder yet; start one with `harness`.")
        for line in session_lines(found):
            self._printer.say(line)
        while True:
            try:
                typed = input("number or id (Enter: 1): ").strip() or "1"
            except EOFError:
                raise SettingsError("No session was chosen.") from None
            if not typed.isdigit() or len(typed) > 3:
                return typed
            if 1 <= int(typed) <= len(found):
                return found[int(typed) - 1].id
            self._printer.say(f"please answer with a number from 1 to {len(found)}")

    def _prompts(self, session: Session) -> Prompts:
        if self._keyboard is None:
            return PipedPrompts(self._source, self._printer)
        editing = os.environ.get("TERM", "dumb") != "dumb"
        return TypedPrompts(session.state_folder / "history", editing=editing)

    def _greet(self, session: Session) -> None:
        for line in greeting(session, self._loaded):
            self._printer.line(line)
        self._printer.say("/help lists the commands; Ctrl-C stops a turn, Ctrl-D quits.")

    def _resumed(self, session: Session) -> None:
        for line in resumed(session):
            self._printer.line(line)

    # ── lines ───────────────────────────────────────────────────────────────────────────────────

    def _next(self, prompts: Prompts, session: Session) -> str | None:
        """The next line, or None when the user leaves. Arrived results are delivered first."""
        warned = False
        while not self._printer.gone:
            match self._queue.begin(arrived=bool(session.inbox.waiting)):
                case TypedLine(line):
                    self._printer.say(f"> {line}")
                    return line
                case Delivery():
                    self._play(session, session.deliver())
                    self._end()
                    continue
            self._printer.end_line()
            try:
                if self._keyboard and session.background.listens:
                    typed = self._listen(session, self._keyboard)
                else:
                    idle_s = LOOK_S if session.background.scheduling else inf
                    typed = prompts.read(self._keyboard.take_begun() if self._keyboard else "", idle_s=idle_s)
                if typed is not None:
                    return self._begin(typed)
            except TimeoutError:
                self._look(session)
            except EOFError:
                if self._keyboard is None and self._more_arrives(session):
                    continue
                self._printer.say("" if self._keyboard else "end of input")
                return None
            except KeyboardInterrupt:
                if warned:
                    self._printer.say("")
                    self._exit_code = 130
                    return None
                warned = True
                self._printer.say("\nPress Ctrl-C again to leave; so do Ctrl-D and /exit.")
        return None

    def _begin(self, line: str) -> str:
        """Mark a line as running, since the queue is empty."""
        self._queue.put(line)
        self._queue.begin(arrived=False)
        return line

    def _end(self) -> None:
        """Mark the line as ended. After a stop, show the queued lines, which will not run."""
        for line in self._queue.end():
            self._printer.say(f"  not run, as you stopped: {line}")

    def _listen(self, session: Session, keyboard: Keyboard) -> str | None:
        """A line typed while background work runs; None: a result arrived first."""
        with self._showing(lambda event: self._printer.interject(event, SIGN)):
            line = self._runner.run(line_or_arrival(session, self._queue, keyboard, self._printer))
        if line is None:
            self._queue.release()
        return line

    def _look(self, session: Session) -> None:
        """Let the schedule look at its jobs, because nothing else runs while the user may type."""
        self._printer.rewind()
        waiting = len(session.inbox.waiting)
        with self._showing(self._printer.show), suppress(HarnessError):  # the schedule reports it once by itself
            self._runner.run(session.background.schedule.look())
        if len(session.inbox.waiting) > waiting:
            self._queue.release()

    def _more_arrives(self, session: Session) -> bool:
        """Wait for results of background work after the end of input. False: there are none."""
        self._queue.release()
        with self._showing(self._printer.show):
            return self._runner.run(arrival(session, self._printer))

    def _run_line(self, line: str, session: Session) -> Session | None:
        """Run a line. Returns the session to continue with, None when the user leaves."""
        if not line.strip():
            return session
        own_command = self._keyboard is not None and line.startswith("!")  # never from a pipe
        if not own_command and not is_command(line, file_command_names(session)):
            self._play(session, session.run(prompt_of(line)))
            return session
        try:
            if own_command:
                self._run_own(line, session)
                return session
            match run_command(line.strip(), session):
                case ShowText(text):
                    self._printer.say(text)
                case ShowList(groups):
                    self._say_list(groups)
                case StartTask(work):
                    with self._showing(self._printer.show):
                        self._printer.say(self._in_loop(work))
                case PlayEvents(events):
                    self._play(session, events)
                case SwitchSession(opening, text):
                    other = self._open(opening)
                    with self._showing(self._printer.show):
                        self._in_loop(session.aclose())
                    session = other
                    self._resumed(session)
                    self._printer.say(text)
                case EditQueue(clear):
                    self._printer.say(queue_text(self._queue, clear=clear))
                case Quit():
                    return None
        except HarnessError as error:
            self._printer.line(Line("!", str(error), Tone.TROUBLE))
        return session

    def _run_own(self, line: str, session: Session) -> None:
        """Run a shell command of the user; some programs get the terminal."""
        command, on_terminal = command_after_sign(line.strip())
        if command and on_terminal:
            self._printer.line(ended_line(command, self._runner.run(session.user_commands.with_terminal(command))))
        else:
            self._play(session, session.user_commands.shell(command))

    # ── turns ───────────────────────────────────────────────────────────────────────────────────

    def _play(self, session: Session, events: AsyncGenerator[Event, None]) -> None:
        self._paused = False
        self._queue.release()
        number = self._runner.run(self._show(session, events))
        if number == signal.SIGINT:
            self._queue.hold()
            self._queue.stop()
        if number not in (0, signal.SIGINT):
            raise SignalExit(number)
        if self._paused and self._keyboard and not self._printer.gone:
            self._after_pause(session, self._keyboard)

    def _after_pause(self, session: Session, keyboard: Keyboard) -> None:
        """Ask whether and how to continue a paused turn, and do it."""
        while (tool := self._runner.run(self._how_to_continue(session, keyboard))) is not None:
            try:
                if tool:
                    session.breakers.command(BreakerCommand.RESET, "" if tool == "all" else tool)
            except HarnessError as error:
                self._printer.line(Line("!", str(error), Tone.TROUBLE))
                continue
            self._play(session, session.retry())
            return
        self._queue.hold()
        self._queue.stop()
        self._printer.say("  stopped; /retry continues with a fresh budget")

    async def _how_to_continue(self, session: Session, keyboard: Keyboard) -> str | None:
        """The tool to reset first, empty for none; None: stop."""
        with handle_signals() as signalled, keyboard.listening(self._queue.put):
            try:
                return await PlainAsker(self._printer, keyboard).pause()
            except asyncio.CancelledError:
                if not signalled.number:
                    raise
        if signalled.number != signal.SIGINT:
            raise SignalExit(signalled.number)
        return None

    async def _show(self, session: Session, events: AsyncGenerator[Event, None]) -> int:
        """Show events until they end; returns the signal that came, or 0."""
        keys = self._keyboard.listening(lambda line: self._typed(line, session)) if self._keyboard else nullcontext()
        with handle_signals() as signalled, keys:
            signalled.interrupts(lambda: session.interrupt() if signalled.number == signal.SIGINT else session.leave())
            try:
                async with aclosing(events):
                    async for event in events:
                        self._show_event(event)
                        if self._printer.gone:
                            session.leave()
            except asyncio.CancelledError:
                if not signalled.number:
                    raise
                self._printer.line(Line("○", "stopped at once; /retry continues from here", Tone.TROUBLE))
            return signalled.number

    def _show_event(self, event: Event) -> None:
        self._printer.show(event)
        match event:
            case RetryScheduled(delay_s=delay):
                self._waiting = True
                if self._keyboard and delay >= WORTH_A_HINT_S and not self._hinted:
                    self._hinted = True
                    self._printer.say("  Enter tries at once, Ctrl-C stops the turn")
            case SilenceHint():
                self._waiting = True
                if self._keyboard:
                    self._printer.say("  Enter asks again over a new connection, Ctrl-C stops the turn")
            case TurnEnded(code=code):
                self._waiting = False
                self._paused = code is TransitionCode.FAILURE_BUDGET_PAUSED
                self._exit_code = 0 if self._keyboard else exit_code(code)
                self._printer.say("")
            case _ if isinstance(event, END_WAIT):
                self._waiting = False

    def _typed(self, line: str, session: Session) -> None:
        """Handle a line typed while a turn runs and no question is open."""
        self._printer.entered()
        if line.strip() == CTRL_B:
            line = "/background"
        if self._waiting and line.strip() in ("", "/retry"):
            self._waiting = False
            session.recovery.retry_now()
        elif self._works_now(line, file_command_names(session)):
            self._at_once(line.strip(), session)
        elif line.strip():
            self._queue.put(line)
            self._printer.say(f"  {counted(len(self._queue), 'prompt')} queued")

    def _works_now(self, line: str, others: frozenset[str]) -> bool:
        return is_command(line, others) and works_any_time(line, others) and not quits(line)

    def _at_once(self, line: str, session: Session) -> None:
        """Run a command while a turn runs."""
        try:
            match run_command(line, session):
                case ShowText(text):
                    self._printer.say(text)
                case ShowList(groups):
                    self._say_list(groups)
                case EditQueue(clear):
                    self._printer.say(queue_text(self._queue, clear=clear))
                case StartTask(work):
                    task = asyncio.create_task(self._do(work))
                    self._beside.add(task)
                    task.add_done_callback(self._beside.discard)
        except HarnessError as error:
            self._printer.line(Line("!", str(error), Tone.TROUBLE))

    def _say_list(self, groups: Groups) -> None:
        width = get_terminal_size().columns - 1
        self._printer.say("\n".join(name + text for name, text in laid_out((*groups, ("Typing", TYPED)), width)))

    async def _do(self, work: Coroutine[Any, Any, str]) -> None:
        try:
            self._printer.say(await work)
        except HarnessError as error:
            self._printer.line(Line("!", str(error), Tone.TROUBLE))

    def _in_loop(self, work: Coroutine[Any, Any, T]) -> T:
        """Run short work until it ends or a signal comes."""

        async def heeded() -> T:
            with handle_signals() as signalled:
                try:
                    result = await work
                except asyncio.CancelledError:
                    if not signalled.number:
                        raise
            if signalled.number:  # also when the work ended all the same
                raise SignalExit(signalled.number)
            return result

        return self._runner.run(heeded())
