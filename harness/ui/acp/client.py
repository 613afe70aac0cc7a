"""The editor at the other end of the connection: what it can show, and what is sent to it."""

import asyncio
from collections.abc import Mapping
from typing import Protocol

from harness.events import Json

MOST_SENDING = 1000
"""Unread updates above which a turn waits for the editor."""


class Connection(Protocol):
    """JSON-RPC both ways, as `acp.connection.Connection` offers it."""

    async def send_request(self, method: str, params: Json | None = None) -> object:
        """Send a request and return the result. Raises an exception if it is answered with an error."""
        ...

    async def send_notification(self, method: str, params: Json | None = None) -> None:
        """Send a message that has no answer."""
        ...


class Client:
    """The editor, for one of its sessions: each waits only for its own updates."""

    def __init__(self, connection: Connection, capabilities: Mapping[str, object]) -> None:
        """`capabilities`: as the editor sent them."""
        self._connection = connection
        self._sending: set[asyncio.Task[None]] = set()
        self.shows_notices = _offers(capabilities, "session", "notices")
        """It shows notices; else they are lines of thought."""
        self.shows_forms = _offers(capabilities, "elicitation", "form")
        """It can ask its user to fill in a form."""

    def update(self, session_id: str, update: Json) -> None:
        """Send an update of a session, after those before it."""
        params = {"sessionId": session_id, "update": update}
        sending = asyncio.create_task(self._send(params))
        self._sending.add(sending)
        sending.add_done_callback(self._sending.discard)

    async def _send(self, params: Json) -> None:
        try:
            await self._connection.send_notification("session/update", params)
        except (ConnectionError, RuntimeError):  # the editor has gone; the end of its input ends the program
            return

    async def flush(self) -> None:
        """Return when all updates are on their way."""
        while self._sending:
            await asyncio.wait(self._sending)

    async def keep_pace(self) -> None:
        """Wait for an editor that is slow to read."""
        if len(self._sending) > MOST_SENDING:
            await self.flush()

    async def request(self, method: str, params: Json) -> Json:
        """Ask the editor, after all updates. An error, or a connection that is gone, is an empty answer."""
        from acp import RequestError

        await self.flush()
        try:
            answer = await self._connection.send_request(method, params)
        except (RequestError, ConnectionError):
            return {}
        return answer if isinstance(answer, dict) else {}


def _offers(capabilities: Mapping[str, object], group: str, name: str) -> bool:
    part = capabilities.get(group)
    return isinstance(part, Mapping) and part.get(name) not in (None, False)
