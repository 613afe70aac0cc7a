"""A session without a user: permissions are denied, and results of background work are awaited."""

import asyncio
from collections.abc import Callable, Sequence

from harness.session import CommandRow, NoAsker, Session
from harness.ui.lines.line import seconds


class Unattended(NoAsker):
    """Denies permission, and names the flag that allows it."""

    waits_for_work = True
    remedy = "--yolo, or a rule in permissions_allow of the settings, allows"


class BackgroundWait:
    """Waits for results in one session.

    Subagents have limits of their own. Commands may never end, so the wait for them is bounded.
    """

    def __init__(self, session: Session, command_wait_s: float, say: Callable[[str], None]) -> None:
        """
        Args:
            command_wait_s: seconds to wait for commands, in total.
            say: prints what the program waits for and what it ends.
        """
        self._session = session
        self._command_wait_s = self._left_s = command_wait_s
        self._say = say
        self._team_left_s = session.settings.team_wait_s
        self._changed = asyncio.Event()
        self._stopped = False
        self._named: frozenset[str] = frozenset()
        """Commands announced so far."""
        self.given_up = False
        """Whether the time for commands was up, and those that still ran were ended."""
        session.inbox.notify(self._changed.set)

    def stop(self) -> None:
        """End the wait."""
        self._stopped = True
        self._changed.set()

    async def come(self) -> bool:
        """Wait until a result has arrived. False: no background work is left, or the wait was stopped."""
        while not self._stopped and not self._session.inbox.waking:
            if self._agents_work:
                await self._wait_for_agents()
            elif not (commands := self._commands):
                break
            elif not self._left_s:
                self._say(f"! not waited for (background_wait_s = 0): {_names(commands)}")
                break
            else:
                await self._wait_for(commands)
        return bool(self._session.inbox.waking) and not self._stopped

    async def _wait_for_agents(self) -> None:
        """Wait until a subagent reports something. Members write to each other, so the wait for them is bounded."""
        self._changed.clear()
        loop = asyncio.get_running_loop()
        began, members = loop.time(), self._members
        bounded = set(members) == set(self._session.subagents.running) and not self.given_up
        try:
            async with asyncio.timeout(self._team_left_s if bounded else None):
                await self._changed.wait()
        except TimeoutError:
            self.given_up = True
            waited = seconds(self._session.settings.team_wait_s)
            self._say(f"! stopped after {waited} of waiting (team_wait_s): {', '.join(members.values())}")
            self._session.background.team.hold("the program did not wait for it any longer (team_wait_s)")
        if bounded:
            self._team_left_s = max(0.001, self._team_left_s - (loop.time() - began))

    @property
    def _members(self) -> dict[str, str]:
        """Names of the members that work, by the ids of their subagents."""
        if not self._session.background.has_team:
            return {}
        rows = {row.agent: row.name for row in self._session.background.team.rows}
        return {agent: rows[agent] for agent in self._session.subagents.running if agent in rows}

    async def _wait_for(self, commands: Sequence[CommandRow]) -> None:
        """Wait until one of them reports something; end them all when the time is up."""
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
            await asyncio.gather(*(self._session.background.stop(command.id) for command in commands))
        self._left_s = max(0.001, self._left_s - (loop.time() - began))

    def _announce(self, commands: Sequence[CommandRow]) -> None:
        new = [command for command in commands if command.id not in self._named]
        if new:
            self._named |= {command.id for command in new}
            self._say(f"◌ waiting for {_names(new)}, at most {seconds(self._left_s)} (background_wait_s)")

    @property
    def _commands(self) -> tuple[CommandRow, ...]:
        return tuple(row for row in self._session.background.commands.rows if row.state.value in ("waits", "runs"))

    @property
    def _agents_work(self) -> bool:
        return self._session.background.agents_work  # until their results have arrived, not only to their end


def _names(commands: Sequence[CommandRow]) -> str:
    return ", ".join(f'{command.id} "{short(command.line)}"' for command in commands)


def short(line: str, most: int = 60) -> str:
    words = " ".join(line.split())
    return words if len(words) <= most else words[: most - 1] + "…"
