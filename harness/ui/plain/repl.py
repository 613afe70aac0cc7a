"""The plain REPL: a conversation in lines.

While nothing runs, it simply waits for a line. While a turn or background work runs, the event loop runs and reads the
keyboard, so there is no polling and no thread that waits for input.
"""

import asyncio
import logging
import os
import signal
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from shutil import get_terminal_size
from types import FrameType
from typing import Any, NoReturn, TextIO, TypeVar

from harness.base.errors import HarnessError, SettingsError
from harness.base.external_text import counted
from harness.events import Event, PauseReport, RetryScheduled, SilenceHint, TurnEnded
from harness.session import Opening, Session, exit_code, open_session, sessions_of
from harness.settings import LoadedSettings, Settings
from harness.ui.driver import SessionDriver
from harness.ui.lines.events import line_of
from harness.ui.lines.line import Groups, Line, in_columns
from harness.ui.lines.queue import joins_after, until
from harness.ui.lines.reports import greeting, resumed
from harness.ui.lines.sessions import session_lines
from harness.ui.plain.keyboard import Keyboard
from harness.ui.plain.printer import LinePrinter, has_colours
from harness.ui.plain.prompts import SIGN, PipedPrompts, Prompts, TypedPrompts, arrival, completions, line_or_arrival
from harness.ui.plain.questions import PlainAsker
from harness.ui.plain.unattended import Unattended
from harness.ui.signals import SignalExit, handle_signals
from harness.ui.turn_queue import Item, ItemEnd, TypedLine

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
    ("Enter", "during a turn: the model reads the line after the tools that run now"),
    ("Alt+Enter", "during a turn: the line waits for a turn of its own"),
    ("Ctrl-C", "stop the turn, twice: at once; Ctrl-D quits"),
    ("Ctrl-B", "and Enter: as /background, move the running command to the background"),
)
"""Prefixes of lines, and keys."""
CTRL_B = "\x02"
"""The terminal is in line mode during a turn: the key arrives with Enter."""


@dataclass(frozen=True, slots=True)
class Terminal:
    """Where the lines come from and go to."""

    source: TextIO
    printer: LinePrinter
    keyboard: Keyboard | None
    """None: lines are piped in, and no user is present."""


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
    keyboard = Keyboard(source.fileno()) if source.isatty() else None
    terminal = Terminal(source, LinePrinter(out, colours=has_colours(out, os.environ)), keyboard)
    before = {number: signal.signal(number, _end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        with asyncio.Runner() as runner:
            return _Repl(runner, terminal, loaded, reread, log).run(opening, prompt)
    except SignalExit as ended:
        return ended.exit_code
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(number: int, frame: FrameType | None) -> NoReturn:
    raise SignalExit(number)


class _Repl(SessionDriver):
    """One terminal, one session at a time."""

    quits_at_once = False

    def __init__(
        self,
        runner: asyncio.Runner,
        terminal: Terminal,
        loaded: LoadedSettings,
        reread: Callable[[], Settings],
        log: logging.Logger,
    ) -> None:
        super().__init__(log)
        self._runner = runner
        self._source = terminal.source
        self._printer = terminal.printer
        self._keyboard = terminal.keyboard
        self.attended = self._keyboard is not None
        if not self.attended and loaded.settings.checkpoints is None:  # /undo may follow in a later line
            loaded = replace(loaded, settings=loaded.settings.model_copy(update={"checkpoints": True}))
        self._loaded = loaded
        self._reread = reread
        self._showing = 0
        """Open blocks that show events; outside of them a command reports its effect itself."""
        self._interjects = False
        """Events are shown above an open prompt."""
        self._hinted = False
        self._typed_now = False
        """The next line was typed at the prompt, so that it need not be repeated."""
        self._warned = False
        """Ctrl-C was pressed at the prompt; the second time it ends the program."""
        self._exit_code = 0
        self._left = False

    def run(self, opening: Opening, prompt: str | None) -> int:
        if opening.resume == "":
            opening = replace(opening, resume=self._choose())
        self._in_loop(self._open(opening))
        try:
            prompts = self._prompts()
            self._greet()
            if prompt:
                self.put(prompt)
            while not self._left and not self._printer.gone:
                try:
                    if not self._run_next():
                        self._read(prompts)
                except KeyboardInterrupt:  # at the prompt, or just after a turn has ended
                    self._interrupted()
        finally:
            self._close()
        return self._exit_code

    # ── sessions ────────────────────────────────────────────────────────────────────────────────

    async def _open(self, opening: Opening) -> Session | None:
        """Open a session; returns the previous one."""
        keyboard = self._keyboard
        asker = PlainAsker(self._printer, keyboard, keyboard.away) if keyboard else Unattended()
        session = await open_session(
            self._loaded, asker, opening, reread=self._reread, observer=self._observe, log=self._log
        )
        return self.attach(session)

    def _close(self) -> None:
        session = self.session
        with self.showing():  # background work ends now and reports it
            self._in_loop(self.aclose())
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

    def _prompts(self) -> Prompts:
        if self._keyboard is None:
            return PipedPrompts(self._source, self._printer)
        editing = os.environ.get("TERM", "dumb") != "dumb"
        history = self.session.state_folder / "history"
        return TypedPrompts(history, editing=editing, complete=lambda line: completions(self.session, line))

    def _greet(self) -> None:
        for line in (*greeting(self.session, self._loaded), *filter(None, map(line_of, self.session.begun))):
            self._printer.line(line)
        for text in self.joining:
            self._printer.line(Line("▸", f"not read yet, joins your next prompt: {text}"))
        self._printer.say("/help lists the commands; Ctrl-C stops a turn, Ctrl-D quits.")

    # ── lines ───────────────────────────────────────────────────────────────────────────────────

    def _read(self, prompts: Prompts) -> None:
        """Queue the next line, unless something arrives first or the user leaves."""
        self._printer.end_line()
        background = self.session.background
        try:
            if self._keyboard and background.listens:
                typed = self._listen(self._keyboard)
            else:
                idle_s = LOOK_S if background.scheduling else inf
                typed = prompts.read(self._keyboard.take_begun() if self._keyboard else "", idle_s=idle_s)
            if typed is not None:
                self._typed_now, self._warned = True, False
                self.queue.put_first(typed)
        except TimeoutError:
            self._look()
        except EOFError:
            if self._keyboard is not None or not self._more_arrives():
                self._printer.say("" if self._keyboard else "end of input")
                self._left = True

    def _interrupted(self) -> None:
        if self._warned:
            self._exit_code, self._left = 130, True
        self._printer.say("" if self._warned else "\nPress Ctrl-C again to leave; so do Ctrl-D and /exit.")
        self._warned = True

    def _listen(self, keyboard: Keyboard) -> str | None:
        """A line typed while background work runs; None: a result arrived first."""
        self._interjects = True
        try:
            line = self._runner.run(line_or_arrival(self.session, self.queue, keyboard, self._printer))
        finally:
            self._interjects = False
        if line is None:
            self.queue.release()
        return line

    def _look(self) -> None:
        """Let the schedule look at its jobs, because nothing else runs while the user may type."""
        self._printer.rewind()
        inbox = self.session.inbox
        waking = len(inbox.waking)
        with self.showing(), suppress(HarnessError):  # the schedule reports it once by itself
            self._runner.run(self.session.background.schedule.look())
        if len(inbox.waking) > waking:
            self.queue.release()

    def _more_arrives(self) -> bool:
        """Wait for results of background work after the end of input. False: there are none."""
        self.queue.release()
        with self.showing():
            return self._runner.run(arrival(self.session, self._printer))

    # ── called by the driver ────────────────────────────────────────────────────────────────────

    def show_text(self, text: str, heading: str = "") -> None:
        self._printer.say(f"{heading}\n{text}" if heading and self.playing else text)  # else it is right above

    def to_terminal(self, text: str) -> bool:
        return self._printer.to_clipboard(text)

    def show_line(self, line: Line) -> None:
        self._printer.line(line)

    def show_list(self, groups: Groups) -> None:
        width = get_terminal_size().columns - 1
        self._printer.say(in_columns((*groups, ("Typing", TYPED)), width))

    @contextmanager
    def showing(self) -> Iterator[None]:
        self._showing += 1
        try:
            yield
        finally:
            self._showing -= 1

    @contextmanager
    def playing_turn(self) -> Iterator[None]:
        with self.showing(), self._listening(self._keyboard) if self._keyboard else nullcontext():
            yield

    def begun(self, item: Item) -> None:
        if isinstance(item, TypedLine) and not self._typed_now:
            self._printer.say(f"{SIGN}{item.text}")
        self._typed_now = False

    def ended(self, end: ItemEnd, given_back: Sequence[str]) -> None:
        for line in given_back:
            self._printer.say(f"  not run, as you stopped: {line}")
        if self._keyboard is not None or end.error is None:
            return
        if isinstance(end.error, HarnessError):
            self._exit_code = end.error.exit_code
        else:
            self.leave(1)  # the lines behind it may rely on it, and no user reads the error

    async def ask_how_to_continue(self, report: PauseReport, open_tools: Sequence[str]) -> str | None:
        if self._keyboard is None:
            return None
        with self._keyboard.listening(self.put):
            try:
                return await PlainAsker(self._printer, self._keyboard).pause()
            finally:
                self._printer.leave_question()

    async def switch(self, opening: Opening, text: str) -> None:
        before = await self._open(opening)
        if before is not None:
            with self.showing():
                await before.aclose()
        for line in resumed(self.session):
            self._printer.line(line)
        self._printer.say(text)

    def leave(self, code: int = 0) -> None:
        self._left, self._exit_code = True, code or self._exit_code

    # ── turns ───────────────────────────────────────────────────────────────────────────────────

    def _run_next(self) -> bool:
        """Run the next item of the queue; False: there is none."""
        waits = len(self.queue) or self.session.inbox.waking
        with self.showing():  # work in the background may end just before or after a turn
            return self._in_loop(self.run_next()) if waits else False

    def _observe(self, event: Event, at: float) -> None:
        self.on_event(event)
        if self.is_answered(event):
            return
        if self._interjects:
            self._printer.interject(event, SIGN)
        elif self._showing:
            self._show_event(event)
        else:
            self._printer.note(event)  # a subagent may ask just before the prompt is shown

    def _show_event(self, event: Event) -> None:
        self._printer.show(event)
        if self._printer.gone:
            self.end_turn()
        match event:
            case RetryScheduled(delay_s=delay) if self._keyboard and delay >= WORTH_A_HINT_S and not self._hinted:
                self._hinted = True
                self._printer.say("  Enter tries at once, Ctrl-C stops the turn")
            case SilenceHint() if self._keyboard:
                self._printer.say("  Enter asks again over a new connection, Ctrl-C stops the turn")
            case TurnEnded(code=code):
                self._exit_code = 0 if self._keyboard else exit_code(code)
                self._printer.say("")

    def _listening(self, keyboard: Keyboard) -> AbstractContextManager[None]:
        return keyboard.listening(self._typed, partial(self._typed, own_turn=True))

    def _typed(self, line: str, *, own_turn: bool = False) -> None:
        """Handle a line typed while a turn runs and no question is open."""
        self._printer.entered()
        queued = len(self.queue)
        if self.submit("/background" if line.strip() == CTRL_B else line, own_turn=own_turn):
            joins = "joins the next try" if self.waiting else joins_after(self._printer.running)
            waits = f"{counted(len(self.queue), 'prompt')} queued{until(self.queue)}"
            self._printer.say(f"  {waits if len(self.queue) > queued else joins}")

    def _in_loop(self, work: Coroutine[Any, Any, T]) -> T:
        """Run work until it ends. Ctrl-C stops a turn, the second time at once; other signals end the program."""
        return self._runner.run(self._heeding_signals(work))

    async def _heeding_signals(self, work: Coroutine[Any, Any, T]) -> T:
        stopped = False

        def interrupt() -> None:
            nonlocal stopped
            stopped = signalled.number == signal.SIGINT and self.interrupt()
            if not stopped and not self.end_turn():
                signalled.cancel()

        def at_once() -> None:
            nonlocal stopped
            stopped = stopped and signalled.number == signal.SIGINT
            if not self.end_at_once():
                signalled.cancel()

        with handle_signals() as signalled:
            signalled.interrupts(interrupt, at_once)
            try:
                result = await work
            except asyncio.CancelledError:
                if not signalled.number:
                    raise
                raise SignalExit(signalled.number) from None
        if signalled.number and not stopped:  # also when the work ended all the same
            raise SignalExit(signalled.number)
        return result
