"""Waits for what the agents and commands in the background bring, where nobody types meanwhile."""

import asyncio
from collections.abc import Callable, Sequence

from harness.session import CommandRow, Session
from harness.ui.lines.events import seconds

AT_WORK = ("waits", "runs")


class Arrivals:
    """What arrives in one session. Knows when to look again, and when to look no more.

    Agents end by their own limits. Commands need not end at all, so the time that is waited for them is bounded.
    """

    def __init__(self, session: Session, command_wait_s: float, say: Callable[[str], None]) -> None:
        """
        Args:
            command_wait_s: seconds to wait for commands, in all.
            say: is told what is waited for and what is ended.
        """
        self._session = session
        self._command_wait_s = self._left_s = command_wait_s
        self._say = say
        self._changed = asyncio.Event()
        self._stopped = False
        self._named: frozenset[str] = frozenset()
        """Commands that were said to be waited for."""
        self.given_up = False
        """The time for commands is used up, and those that still ran were ended."""
        session.incoming.on_change = self._changed.set

    def stop(self) -> None:
        """Wait for nothing any more."""
        self._stopped = True
        self._changed.set()

    async def come(self) -> bool:
        """Wait until something has arrived. False: nothing works in the background any more, or it was stopped."""
        while not self._stopped and not self._session.incoming.waiting:
            if self._agents_work:
                self._changed.clear()
                await self._changed.wait()
            elif not (commands := self._commands):
                break
            elif not self._left_s:
                self._say(f"! not waited for (background_wait_s = 0): {_names(commands)}")
                break
            else:
                await self._wait_for(commands)
        return bool(self._session.incoming.waiting) and not self._stopped

    async def _wait_for(self, commands: Sequence[CommandRow]) -> None:
        """Wait until one of them has something to say; end them all when the time is over."""
        self._announce(commands)
        self._changed.clear()
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            async with asyncio.timeout(self._left_s):
                await self._changed.wait()
        except TimeoutError:
            self.given_up = True
            waited = f"after {seconds(self._command_wait_s)} of waiting (background_wait_s)"
            self._say(f"! ended {waited}: {_names(commands)}")
            await asyncio.gather(*(self._session.stop_work(command.id) for command in commands))
        self._left_s = max(0.001, self._left_s - (loop.time() - began))

    def _announce(self, commands: Sequence[CommandRow]) -> None:
        new = [command for command in commands if command.id not in self._named]
        if new:
            self._named |= {command.id for command in new}
            self._say(f"◌ waiting for {_names(new)}, at most {seconds(self._left_s)} (background_wait_s)")

    @property
    def _commands(self) -> tuple[CommandRow, ...]:
        return tuple(row for row in self._session.background if row.state.value in AT_WORK)

    @property
    def _agents_work(self) -> bool:
        return any(row.background and row.state.value != "ended" for row in self._session.agents)


def _names(commands: Sequence[CommandRow]) -> str:
    return ", ".join(f'{command.id} "{_short(command.line)}"' for command in commands)


def _short(line: str, most: int = 60) -> str:
    words = " ".join(line.split())
    return words if len(words) <= most else words[: most - 1] + "…"
