"""Carries out typed lines on a session, for every front end.

A line is a prompt, a slash command or a shell command of the user. It runs at once, in its turn, or not at all; the
front end shows the result and asks the questions. `SessionDriver.submit` is the one place that decides what
becomes of a line typed while a turn runs.
"""

import asyncio
import logging
import os
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Collection, Coroutine, Sequence
from contextlib import AbstractContextManager, aclosing, nullcontext
from typing import Any, TypeVar

from harness.base.errors import HarnessError, SettingsError
from harness.events import (
    BreakerCommand,
    BreakerState,
    Event,
    FaultOccurred,
    JobFired,
    PauseReport,
    PauseReported,
    PlanHandedOver,
    ReplyReceived,
    RequestSent,
    RetryEnded,
    RetryScheduled,
    SettingChanged,
    SilenceEnded,
    SilenceHint,
    SteeringQueued,
    TransitionCode,
    TurnEnded,
)
from harness.session import Opening, Session, SteeringInbox
from harness.ui.clipboard import send_to_clipboard
from harness.ui.commands.commands import file_command_names, is_command, prompt_of, quits, run_command, works_any_time
from harness.ui.commands.results import (
    CommandResult,
    CopyText,
    EditQueue,
    PlayEvents,
    Quit,
    ShowDiff,
    ShowList,
    ShowText,
    StartTask,
    SwitchSession,
)
from harness.ui.lines.diff import diff_lines, path_of_diff
from harness.ui.lines.line import Groups, Line, Tone
from harness.ui.lines.queue import queue_text
from harness.ui.question_focus import answer_key
from harness.ui.terminal_programs import command_after_sign, ended_line
from harness.ui.turn_queue import Delivery, Item, ItemEnd, QueuedLine, TurnLoop, TurnQueue, TypedLine

STOPPED = (TransitionCode.ABORTED_STREAMING, TransitionCode.ABORTED_TOOLS)
"""Transitions that end a stopped turn."""
END_WAIT = (RetryEnded, RequestSent, SilenceEnded, ReplyReceived, FaultOccurred, TurnEnded)
"""Events that end a wait for a retry or for a silent model."""

T = TypeVar("T")


class SessionDriver(ABC):
    """The queue of one front end: runs one line at a time, and short commands beside it."""

    attended = True
    """A user is present: pauses are asked about, and `!` runs shell commands."""
    own_commands: Collection[str] = ()
    """Names of slash commands that only this front end has."""
    quits_at_once = True
    """`/exit` ends a running turn if no line is queued; False: it waits for the turn."""

    def __init__(self, log: logging.Logger) -> None:
        self._log = log
        self._session: Session | None = None
        self._turns = TurnLoop(self._carry_out, self._item_ended, lambda: bool(self.session.inbox.waking))
        self._pausing: asyncio.Future[str | None] | None = None
        self._beside: set[asyncio.Task[None]] = set()
        self._steers = True
        self.playing = False
        """Events are arriving, of a turn or of another command that can be stopped."""
        self.waiting = False
        """The turn waits for a retry or for a silent model."""
        self.leaving = False
        """The program ends after this turn."""
        self._answering = False

    # ── what a front end does ───────────────────────────────────────────────────────────────────

    @abstractmethod
    def show_text(self, text: str, heading: str = "") -> None:
        """Show a text of the program; `heading`: the command that it answers."""

    def show_diff(self, parts: Sequence[str], heading: str) -> None:
        """Show texts, and unified diffs of one file each."""
        lines = ("\n".join(diff_lines(one)) if path_of_diff(one) is not None else one for one in parts)
        self.show_text("\n".join(lines), heading)

    def to_terminal(self, text: str) -> bool:
        """Let the terminal put a text into the clipboard (OSC 52); False: there is no terminal."""
        return False

    @abstractmethod
    def show_line(self, line: Line) -> None:
        """Show a note."""

    @abstractmethod
    def show_list(self, groups: Groups) -> None:
        """Show a list from its first line."""

    @abstractmethod
    def ended(self, end: ItemEnd, given_back: Sequence[str]) -> None:
        """Give back the lines that will not run, in the order they were typed; the error has been shown."""

    @abstractmethod
    async def ask_how_to_continue(self, report: PauseReport, open_tools: Sequence[str]) -> str | None:
        """Ask about a paused turn: the tool to reset first, "all", or "" for none; None: stop."""

    @abstractmethod
    async def switch(self, opening: Opening, text: str) -> None:
        """Open another session, close this one, and show `text` there. Raises HarnessError."""

    @abstractmethod
    def leave(self, code: int = 0) -> None:
        """End the program with this exit code, after the turn."""

    def own_command(self, line: str) -> Coroutine[Any, Any, None] | None:
        """The front end's own command in a line, to be awaited; None: it has none of that name."""
        return None

    async def away(self, work: Coroutine[None, None, T]) -> T:
        """Leave the terminal to `work`."""
        return await work

    def showing(self) -> AbstractContextManager[None]:
        """Show events during the block: a command runs beside or between turns."""
        return nullcontext()

    def playing_turn(self) -> AbstractContextManager[None]:
        """Show events and read keys during the block: a turn runs."""
        return nullcontext()

    async def keep_pace(self) -> None:  # noqa: B027 (a terminal is written to at once)
        """Wait for a reader that is slower than the turn."""

    def begun(self, item: Item) -> None:
        """An item of the queue has begun."""
        self.changed()

    def changed(self) -> None:  # noqa: B027 (nothing to show of it in lines)
        """The queue, or what can be stopped, has changed."""

    # ── the session ─────────────────────────────────────────────────────────────────────────────

    @property
    def session(self) -> Session:
        """The open session. Raises RuntimeError before one is open."""
        if self._session is None:
            raise RuntimeError("no session is open")
        return self._session

    @property
    def is_open(self) -> bool:
        """A session is open."""
        return self._session is not None

    def attach(self, session: Session) -> Session | None:
        """Run lines on this session from now on; returns the previous one, which is to be closed."""
        before, self._session = self._session, session
        if before is not None:
            before.inbox.notify(None)
            for queued in reversed(before.steering.take_back(before.steering.unread)):
                self.queue.put_first(self._as_typed(queued))  # the turn has handed over to the new session
            self._turns.wake()
        session.inbox.notify(self._turns.wake)
        self.queue.hold()
        self.waiting = False
        return before

    def on_event(self, event: Event) -> None:
        """Process an event of the session; for the observer of `open_session`."""
        match event:
            case JobFired():
                self.queue.release()  # a scheduled prompt begins a turn also before the first typed one
            case RetryScheduled() | SilenceHint():
                self.waiting = True
            case _ if isinstance(event, END_WAIT):
                self.waiting = False

    async def aclose(self) -> None:
        """End the running item and close the session."""
        await self._turns.aclose()
        for task in self._beside:
            task.cancel()
        await self.settle()
        if self._session is not None:
            self._session.inbox.notify(None)
            await self._session.aclose()

    # ── the queue ───────────────────────────────────────────────────────────────────────────────

    @property
    def queue(self) -> TurnQueue:
        """The queued lines and the running item."""
        return self._turns.queue

    @property
    def running(self) -> bool:
        """Something is running or queued."""
        return self._turns.busy

    @property
    def asks(self) -> bool:
        """The user is asked how to continue a paused turn."""
        return self._pausing is not None

    def start_turns(self) -> None:
        """Run the items of the queue in a task; instead, `run_next` runs one."""
        self._turns.start()

    async def run_next(self) -> bool:
        """Run the next item to its end, with the commands beside it; False: there is none."""
        found = await self._turns.run_next()
        await self.settle()
        return found

    def put(self, line: str) -> None:
        """Queue a line."""
        self._turns.put(line, self._steering.last if self.is_open else 0)

    def submit(self, text: str, *, own_turn: bool = False) -> bool:
        """Run a typed line: now, if it works while a turn runs; else a prompt joins the running turn, and anything
        else waits for its turn. Returns whether it waits.

        `own_turn`: a prompt joins no turn.
        """
        line = text.strip()
        runs = self.queue.running is not None  # what is about to run is not overtaken
        if runs and self.waiting and line in ("", "/retry"):
            self.retry_now()
        elif runs and self._works_now(line):
            self._at_once(line)
        elif line and not own_turn and self._joins(line):
            return self._steer(text)
        elif line:
            self.put(text)
            self.changed()
            return True
        return False

    def _steer(self, text: str) -> bool:
        """Give a text to the running turn; returns whether it waits there."""
        if self.attended and answer_key(text):
            self.show_text(f'"{text.strip()}" answers no question here, so it was not sent.')
            return False
        try:
            self.session.steer(prompt_of(text))
        except HarnessError as error:  # no window holds it
            self.show_error(error)
            return False
        self.changed()
        return True

    def _joins(self, line: str) -> bool:
        """The running turn takes the line; commands, and all that is typed after a stop, wait for its end."""
        takes = self._steers and self._steering.open and not (self.queue.stopping or self.leaving)
        return takes and not (self._is_command(line) or (self.attended and line.startswith("!")))

    @property
    def _steering(self) -> SteeringInbox:
        return self.session.steering

    @property
    def joining(self) -> tuple[str, ...]:
        """Texts that the running turn, or the next one, takes; oldest first, as they were typed."""
        return tuple(map(self._as_typed, self._steering.waiting)) if self.is_open else ()

    def _as_typed(self, queued: SteeringQueued) -> str:
        return f"/{queued.text}" if self._is_command(queued.text.strip()) else queued.text

    def take_last(self) -> str | None:
        """Take back the line typed last of those that wait; None: none does."""
        newest, line = self._steering.waiting[-1:], self.queue.newest
        if newest and (line is None or line.after < newest[0].number):
            return self._as_typed(*self._steering.take_back([newest[0].number]))
        return self.queue.take_last()

    def clear_queue(self) -> tuple[str, ...]:
        """Take back all lines that wait, in the order they were typed."""
        lines = self.queue.clear()
        return self._in_order(self._steering.take_back(), lines)

    def _in_order(self, joining: Sequence[SteeringQueued], lines: Sequence[QueuedLine]) -> tuple[str, ...]:
        typed = [(one.number, 0, self._as_typed(one)) for one in joining]
        typed += [(line.after, 1, line.text) for line in lines]
        return tuple(text for *_, text in sorted(typed, key=lambda one: one[:2]))

    def _is_command(self, line: str) -> bool:
        others = {*self.own_commands, *file_command_names(self.session)} if line.startswith("/") else ()
        return is_command(line, others)

    def _works_now(self, line: str) -> bool:
        if not self._is_command(line) or (quits(line) and (not self.quits_at_once or len(self.queue) or self.joining)):
            return False
        return works_any_time(line, file_command_names(self.session))

    def _at_once(self, line: str) -> None:
        """Run a command while a turn is running."""
        try:
            if (own := self.own_command(line)) is not None:
                self.later(own)
            else:
                self._show(self._answer(line), line)
        except HarnessError as error:
            self.show_error(error)
        self.changed()

    def _answer(self, line: str) -> CommandResult:
        self._answering = True
        try:
            return run_command(line, self.session)
        finally:
            self._answering = False

    def is_answered(self, event: Event) -> bool:
        """The answer of the command that runs says what this event says."""
        return self._answering and isinstance(event, SettingChanged)

    # ── one line ────────────────────────────────────────────────────────────────────────────────

    async def _carry_out(self, item: Item) -> None:
        self.begun(item)
        match item:
            case Delivery():
                await self.play(self.session.deliver())
            case TypedLine(text) if text.strip():
                await self._run_line(text)

    async def _run_line(self, text: str) -> None:
        line = text.strip()
        if self.attended and line.startswith("!"):
            command, on_terminal = command_after_sign(line)
            if command and on_terminal:
                code = await self.away(self.session.user_commands.with_terminal(command))
                self.show_line(ended_line(command, code))
            else:
                await self.play(self.session.user_commands.shell(command))
        elif not self._is_command(line):
            if problem := self.session.context.too_long(prompt_of(text)):
                raise SettingsError(problem)
            await self.play(self.session.run(prompt_of(text)))
        elif (own := self.own_command(line)) is not None:
            await own
        else:
            match self._answer(line):
                case PlayEvents(events, steers):
                    await self.play(events, steers=steers)
                case SwitchSession(opening, message):
                    await self.switch(opening, message)
                case result:
                    self._show(result, line)

    def _show(self, result: CommandResult, line: str) -> None:
        match result:
            case ShowText(text):
                self.show_text(text, line)
            case ShowList(groups):
                self.show_list(groups)
            case StartTask(work):
                self.later(self._show_when_done(work, line))
            case ShowDiff(work):
                self.later(self._show_diff_when_read(work, line))
            case CopyText(text):
                file = self.session.path.with_suffix(".copied.txt")
                self.later(self._show_when_done(send_to_clipboard(text, os.environ, self.to_terminal, file), line))
            case EditQueue(clear):
                text = queue_text(self.joining, self.queue, clear=clear)
                if clear:
                    self.clear_queue()
                self.show_text(text, line)
            case Quit():
                self.leave()

    async def _show_when_done(self, work: Coroutine[Any, Any, str], line: str) -> None:
        with self.showing():
            self.show_text(await work, line)

    async def _show_diff_when_read(self, work: Coroutine[Any, Any, tuple[str, ...]], line: str) -> None:
        with self.showing():
            self.show_diff(await work, line)

    def _item_ended(self, end: ItemEnd) -> None:
        if end.error is not None:
            self.show_error(end.error)
        if end.at_once:
            self.show_line(Line("○", "stopped at once; /retry continues", Tone.TROUBLE))
        left: tuple[SteeringQueued, ...] = ()
        if not self.leaving:  # or they wait for the session to be resumed
            left = self._steering.take_back(None if end.stopped else self._steering.unread)
        if not end.stopped:  # the turn failed, or ended just before it could read them
            for queued in reversed(left):
                self.queue.put_first(self._as_typed(queued))
        self.ended(end, self._in_order(left if end.stopped else (), end.given_back))

    # ── turns ───────────────────────────────────────────────────────────────────────────────────

    async def play(self, events: AsyncGenerator[Event, None], *, steers: bool = True) -> None:
        """Run events to their end; the front end observes them. Then ask how to continue, if the turn paused.

        `steers`: prompts typed meanwhile join the turn, if it is one.
        """
        self.queue.release()
        paused, handed_over, begun, self.playing, self._steers = None, None, False, True, steers
        try:
            with self.playing_turn():
                async with aclosing(events):
                    async for event in events:
                        if not begun and self.queue.stopping:
                            self.session.interrupt()  # stopped before it began, which clears the interrupt
                        begun = True
                        match event:
                            case TurnEnded(code=code) if code in STOPPED and not self.queue.stopping:
                                self.queue.stop()
                            case PauseReported(report=report):
                                paused = report
                            case PlanHandedOver():
                                handed_over = event
                        await self.keep_pace()
        finally:
            self.playing = False
        if handed_over is not None and not self.leaving:
            await self._carry_out_plan(handed_over)
        if paused is not None and self.attended and not self.queue.stopping and not self.leaving:
            await self._continue_after(paused)

    async def _carry_out_plan(self, plan: PlanHandedOver) -> None:
        """Begin a new conversation with an approved plan, and with the lines that wait."""
        before = f"A new conversation carries out the plan. Previous session: harness --resume {self.session.id}"
        waiting = self.clear_queue()
        try:
            await self.switch(Opening(mode=plan.mode, steps=plan.steps), before)
            self.put(plan.prompt)
        except HarnessError as error:
            raise HarnessError(
                f'{error} The plan has not begun; the prompt "carry the plan out" begins it here.'
            ) from error
        finally:
            for line in waiting:
                self.put(line)

    async def _continue_after(self, report: PauseReport) -> None:
        """Ask whether and how to continue a paused turn, until it can be done."""
        while (tool := await self._how_to_continue(report)) is not None:
            try:
                if tool:
                    self.session.breakers.command(BreakerCommand.RESET, "" if tool == "all" else tool)
            except HarnessError as error:
                self.show_error(error)
            else:
                await self.play(self.session.retry())
                return
        self.queue.stop()
        self.show_text("stopped; /retry continues with a fresh failure budget")

    async def _how_to_continue(self, report: PauseReport) -> str | None:
        open_tools = [row.tool for row in self.session.breakers.health if row.state is not BreakerState.CLOSED]
        self._pausing = asyncio.ensure_future(self.ask_how_to_continue(report, open_tools))
        self.changed()
        try:
            await asyncio.wait({self._pausing})
        finally:
            pausing, self._pausing = self._pausing, None
            pausing.cancel()
        return None if pausing.cancelled() else pausing.result()

    def interrupt(self) -> bool:
        """Stop the turn; the second time without waiting for its tools. Returns False if none runs."""
        if self._pausing is not None:
            self._pausing.cancel()
        elif not self.playing:
            return False
        elif self.queue.stop():
            self.session.interrupt()
            self.changed()
        else:
            self.end_at_once()
        return True

    def end_at_once(self) -> bool:
        """End the turn without waiting for its tools. Returns False if none runs."""
        if self.playing:
            self._turns.end_at_once()
        return self.playing

    def retry_now(self) -> bool:
        """Retry now instead of waiting. Returns False if nothing waits."""
        waits, self.waiting = self.waiting, False
        if waits:
            self.session.recovery.retry_now()
        return waits

    def end_turn(self) -> bool:
        """Start nothing more, and end the turn. Returns False if none runs or it ends already."""
        self.queue.close()
        if not self.playing or self.leaving:
            return False
        self.leaving = True
        self.session.leave()
        return True

    # ── beside the turn ─────────────────────────────────────────────────────────────────────────

    def later(self, work: Coroutine[Any, Any, None]) -> None:
        """Run `work` concurrently. Its errors are shown and end nothing."""
        task = asyncio.create_task(self._guarded(work))
        self._beside.add(task)
        task.add_done_callback(self._beside.discard)

    async def settle(self) -> None:
        """Wait until nothing runs beside the turn."""
        while self._beside:
            await asyncio.wait(self._beside)

    async def _guarded(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except Exception as error:  # noqa: BLE001 (shown and logged)
            self.show_error(error)

    def show_error(self, error: BaseException) -> None:
        """Show an error; one that is not ours is logged with its traceback."""
        text = str(error)
        if not isinstance(error, HarnessError):
            self._log.error("internal error", exc_info=error)
            text = f"internal error ({type(error).__name__}: {error})"
        self.show_line(Line("!", text, Tone.TROUBLE))
