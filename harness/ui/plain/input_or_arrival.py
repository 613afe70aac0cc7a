"""Waiting for a line or for what arrives from the background, whichever comes first."""

import asyncio
import signal

from harness.session import Session
from harness.ui.plain.background_wait import Arrivals
from harness.ui.plain.keyboard import Keyboard
from harness.ui.plain.plain import Plain
from harness.ui.plain.prompts import MORE, SIGN
from harness.ui.signals import Ended, heeding
from harness.ui.turn_queue import TurnQueue


async def line_or_arrival(session: Session, queue: TurnQueue, keyboard: Keyboard, plain: Plain) -> str | None:
    """The next prompt, typed while something works in the background; None: something arrived, or nothing works now.

    What was typed of a line by then stays with the terminal, and further lines go to `queue`. Raises EOFError and
    KeyboardInterrupt as `input` does.
    """
    incoming = session.incoming
    before = len(incoming.waiting)
    changed = asyncio.Event()
    incoming.on_change = changed.set

    def nothing_new() -> bool:
        return len(incoming.waiting) == before and not queue.lines

    def put(line: str) -> None:
        queue.put(line)
        changed.set()

    with heeding() as signalled, keyboard.listening(put):
        typed = asyncio.create_task(_line(keyboard, plain))
        try:
            while not typed.done() and nothing_new() and session.busy_elsewhere:
                changed.clear()
                woken = asyncio.create_task(changed.wait())
                await asyncio.wait({typed, woken}, return_when=asyncio.FIRST_COMPLETED)
                woken.cancel()
        except asyncio.CancelledError:
            if signalled.number == signal.SIGINT:
                raise KeyboardInterrupt from None
            if not signalled.number:
                raise
            raise Ended(signalled.number) from None
        finally:
            typed.cancel()
            await asyncio.wait({typed})
    if not typed.cancelled():
        return typed.result()
    plain.say("")
    return None


async def arrival(session: Session, plain: Plain) -> bool:
    """Wait for what the agents and commands in the background bring. False: that was all.

    Raises Ended when a signal comes.
    """
    arrivals = Arrivals(session, session.settings.background_wait_s, plain.say)
    with heeding() as signalled:
        signalled.interrupts(arrivals.stop)
        come = await arrivals.come()
    if signalled.number:
        raise Ended(signalled.number)
    return come


async def _line(keyboard: Keyboard, plain: Plain) -> str:
    """A prompt, lines that end with a backslash joined to what follows. Raises EOFError."""
    plain.ask(SIGN)
    if (line := await keyboard.answer(last=True)) is None:
        raise EOFError
    while line.endswith("\\"):
        plain.ask(MORE)
        if (rest := await keyboard.answer(last=True)) is None:
            return line[:-1]
        line = f"{line[:-1]}\n{rest}"
    return line
