"""The next prompt: typed at a terminal, read from a pipe, or typed while background work may report results."""

import asyncio
import signal
from collections import deque
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import contextmanager, nullcontext, suppress
from math import inf
from pathlib import Path
from types import FrameType
from typing import Any, Protocol, TextIO

from harness.base.files import open_regular
from harness.media.mentions import mention
from harness.session import Session
from harness.ui.commands.commands import all_commands
from harness.ui.plain.keyboard import Keyboard
from harness.ui.plain.printer import LinePrinter
from harness.ui.plain.unattended import BackgroundWait
from harness.ui.signals import SignalExit, handle_signals
from harness.ui.terminal_input import without_answers
from harness.ui.turn_queue import TurnQueue

SIGN = "> "
MORE = "… "
MOST_COMPLETIONS = 100
REMEMBERED = 1_000
"""Lines of history that are kept."""
ANSWERS = (
    r'"\e[": skip-csi-sequence',
    *(rf'"{key}": "\C-v{key}"' for key in (r"\e]", r"\eP", r"\e_", r"\e\\", r"\C-g")),
)
"""Bindings of readline that skip answers of the terminal, or keep them in the line, which is cleaned later."""


class Prompts(Protocol):
    """A source of prompts while nothing runs."""

    def read(self, begun: str = "", *, idle_s: float = inf) -> str:
        """The next prompt; lines that end with a backslash are joined to the next.

        `begun` is a beginning that was already typed. Raises EOFError at the end of input, KeyboardInterrupt on
        Ctrl-C, and, from a line editor, TimeoutError if nothing is typed after each `idle_s` seconds.
        """
        ...


class TypedPrompts:
    """Prompts typed at a terminal, with line editing and a history if the terminal supports it."""

    def __init__(
        self, history: Path, *, editing: bool, complete: Callable[[str], Sequence[str]] = lambda line: ()
    ) -> None:
        """
        Args:
            editing: False: the terminal is dumb, and only its own line mode is used.
            complete: the words that can stand in place of the last one of a line, for the key Tab.
        """
        self._history = history
        self._editing = editing and _readline(history, complete)

    def read(self, begun: str = "", *, idle_s: float = inf) -> str:
        if begun and self._editing:
            _begin_with(begun)
            begun = ""

        def line(sign: str) -> str:
            with _idle(idle_s) if self._editing and idle_s < inf and sign == SIGN else nullcontext():
                return self._line(sign)

        prompt = begun + joined(line)
        if self._editing:
            _remember(self._history)
        return prompt

    def _line(self, sign: str) -> str:
        line = input(sign)
        typed = without_answers(line)
        if self._editing and typed != line:
            _replace_last(typed)
        return typed


class PipedPrompts:
    """Prompts from a pipe or a file, one per line; each is printed, so that the output reads as a conversation."""

    def __init__(self, source: TextIO, printer: LinePrinter) -> None:
        self._source = source
        self._printer = printer

    def read(self, begun: str = "", *, idle_s: float = inf) -> str:
        return begun + joined(self._line)

    def _line(self, sign: str) -> str:
        line = self._source.readline()
        if not line:
            raise EOFError
        line = line.removesuffix("\n")
        if line.strip():
            self._printer.say(sign + line)
        return line


def joined(read: Callable[[str], str]) -> str:
    """Lines from `read` until one does not end with a backslash. Raises EOFError if there is none at all."""
    line = read(SIGN)
    while line.endswith("\\"):
        try:
            line = line[:-1] + "\n" + read(MORE)
        except EOFError:
            return line[:-1]
    return line


def completions(session: Session, line: str) -> list[str]:
    """What the last word of a line may become: a slash command, a file or a resource of an MCP server behind `@`."""
    before, _, word = line.rpartition(" ")
    if not before and word.startswith("/"):
        names = {one.name for one in all_commands(session)}
        return sorted(f"/{name}" for name in names if name.startswith(word[1:].lower()))
    if word.startswith("@"):
        found = (*session.mentions, *session.files())
        return [one for one in map(mention, found) if one.startswith(word)][:MOST_COMPLETIONS]
    return []


def _completer(complete: Callable[[str], Sequence[str]]) -> Callable[[str, int], str | None]:
    """For readline, which asks for one after the other."""
    found: list[str] = []

    def at(text: str, state: int) -> str | None:
        import readline

        if state == 0:
            found[:] = complete(readline.get_line_buffer()[: readline.get_endidx()])
        return found[state] if state < len(found) else None

    return at


def _readline(history: Path, complete: Callable[[str], Sequence[str]]) -> bool:
    try:
        import readline
    except ImportError:  # not part of every Python
        return False
    readline.set_history_length(REMEMBERED)
    readline.set_completer_delims(" \t\n")
    readline.set_completer(_completer(complete))
    if "libedit" in (readline.__doc__ or ""):
        readline.parse_and_bind("bind ^I rl_complete")
    else:
        readline.parse_and_bind("tab: complete")
        for binding in ANSWERS:
            readline.parse_and_bind(binding)
    with suppress(OSError), open_regular(history):  # missing or unreadable: editing works without
        readline.read_history_file(history)
    return True


def _begin_with(text: str) -> None:
    """Insert text into the next line that is edited."""
    import readline

    def insert() -> None:
        readline.insert_text(text)
        readline.set_startup_hook()

    readline.set_startup_hook(insert)


@contextmanager
def _idle(after_s: float) -> Iterator[None]:
    """Raise TimeoutError in the line editor whenever the time is over and its line is empty."""
    import readline

    def ring(number: int, frame: FrameType | None) -> None:
        if not readline.get_line_buffer():
            raise TimeoutError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, after_s, after_s)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def _replace_last(line: str) -> None:
    import readline

    last = readline.get_current_history_length() - 1
    if last >= 0:
        readline.replace_history_item(last, line)


def _remember(history: Path) -> None:
    import readline

    with suppress(OSError):  # works without a history file, too
        history.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        history.touch(mode=0o600)
        readline.write_history_file(history)


# ── while background work runs ──────────────────────────────────────────────────────────────────


def line_or_arrival(
    session: Session, queue: TurnQueue, keyboard: Keyboard, printer: LinePrinter
) -> Coroutine[Any, Any, str | None]:
    """The next prompt typed while background work runs; None if a result arrived first, or no work is left.

    An unfinished line stays with the terminal, a prompt of several lines is typed to its end first, and further lines
    go to `queue`, behind the returned one. Raises EOFError and KeyboardInterrupt like `input`. Also a result that
    arrives before the event loop runs again counts as one that arrived first.
    """
    return _line_or_arrival(session, queue, keyboard, printer, len(session.inbox.waking))


async def _line_or_arrival(
    session: Session, queue: TurnQueue, keyboard: Keyboard, printer: LinePrinter, before: int
) -> str | None:
    inbox = session.inbox
    changed = asyncio.Event()
    inbox.notify(changed.set)
    parts: list[str] = []
    further: deque[str] = deque()

    def listens() -> bool:
        return len(inbox.waking) == before and session.background.listens

    with handle_signals() as signalled, keyboard.listening(further.append):
        typed = asyncio.create_task(_line(keyboard, printer, parts, further))
        try:
            try:
                while not typed.done() and (parts or listens()):
                    changed.clear()
                    woken = asyncio.create_task(changed.wait())
                    await asyncio.wait({typed, woken}, return_when=asyncio.FIRST_COMPLETED)
                    woken.cancel()
            finally:
                typed.cancel()
                await asyncio.wait({typed})
        except asyncio.CancelledError:
            if signalled.number == signal.SIGINT:
                raise KeyboardInterrupt from None
            if not signalled.number:
                raise
            raise SignalExit(signalled.number) from None
    for line in further:
        queue.put(line)
    if not typed.cancelled():
        return typed.result()
    printer.say("")
    return None


async def arrival(session: Session, printer: LinePrinter) -> bool:
    """Wait for results of background work; False if there will be none. Raises Ended on a signal."""
    wait = BackgroundWait(session, session.settings.background_wait_s, printer.say)
    with handle_signals() as signalled:
        signalled.interrupts(wait.stop)
        come = await wait.come()
    if signalled.number:
        raise SignalExit(signalled.number)
    return come


async def _line(keyboard: Keyboard, printer: LinePrinter, parts: list[str], further: deque[str]) -> str:
    """A prompt, with continuation lines joined; `parts` are those before the last. Raises EOFError."""
    while True:
        printer.ask(MORE if parts else SIGN)
        line = further.popleft() if further else await keyboard.answer(last=True)
        if line is None and not parts:
            raise EOFError
        if line is None or not line.endswith("\\"):
            return "\n".join(parts if line is None else [*parts, line])
        parts.append(line[:-1])
