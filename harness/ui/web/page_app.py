"""An app and the page that shows it.

A reload or a dropped connection is a page that leaves and comes back: the app runs on without a page for a grace time,
and the page is recognized by its secret. Nothing that was drawn is stored; the app draws its screen anew for a page.
"""

import asyncio
import hmac
import json
import logging
import secrets
from contextlib import suppress
from dataclasses import dataclass
from enum import IntEnum

from aiohttp import WebSocketError, WSCloseCode, WSMsgType, web

from harness.ui.web.app_process import AppProcess, Drawn, FileOffered, OpenUrl, Packet

GRACE_S = 30.0
"""Seconds that an app runs on without a page."""
MOST_CELLS = 1000
"""Most columns and rows."""
_CLOSE_S = 1.0
_LEAVE_SCREEN = b"\x1b[?1049l\x1b[?25h\x1b[0m"
_log = logging.getLogger("harness.serving")


class PageClosure(IntEnum):
    """Close codes for `page.js`, from the range for private use (RFC 6455, section 7.4.2)."""

    UNKNOWN = 4404
    """No app has this secret: it has ended, or never existed."""
    TAKEN = 4409
    """Another page with the same secret shows the app now."""


@dataclass(frozen=True, slots=True)
class Connection:
    """The websocket of a page, and the size of its terminal in cells."""

    websocket: web.WebSocketResponse
    transport: asyncio.Transport | None
    width: int
    height: int


class PageApp:
    """A running app with its page, or in the grace time without one."""

    def __init__(self, process: AppProcess, grace_s: float) -> None:
        self.offers: dict[str, str] = {}
        """Files that the app offers: key to name."""
        self.process = process
        self._secret = secrets.token_urlsafe(32)
        self._grace_s = grace_s
        self._page: Connection | None = None
        self._left_at = _now()
        self._expiry: asyncio.Task[None] | None = None
        self._undelivered: list[list[object]] = []

    @property
    def waits_since(self) -> float | None:
        """When its page left, by the clock of the event loop; None while it has one."""
        return None if self._page is not None else self._left_at

    def belongs_to(self, secret: str) -> bool:
        """Whether this is the secret of its page. False as soon as the app is ending."""
        return not self.process.ending and hmac.compare_digest(
            secret.encode("utf-8", "surrogatepass"), self._secret.encode()
        )

    async def run(self) -> str:
        """Forward the output of the app until it has ended. Returns its last words if no page has shown them."""
        try:
            async for packet in self.process.packets():
                await self._forward(packet)
        finally:
            await self.process.end()
        page, self._page = self._page, None
        if self._expiry is not None:
            self._expiry.cancel()
        words = await self.process.stderr_text()
        if page is None or page.websocket.closed:
            return words
        try:
            if words:
                await page.websocket.send_bytes(_LEAVE_SCREEN + words.replace("\n", "\r\n").encode())
            await page.websocket.close()
        except ConnectionError:
            return words
        return ""

    async def show(self, page: Connection, *, again: bool) -> None:
        """Connect the app to this page until the connection ends. `again`: the app has drawn its screen before."""
        previous, self._page = self._page, page
        if self._expiry is not None:
            self._expiry.cancel()
        valid = True
        try:
            with suppress(ConnectionError):
                await self._greet(page, again=again)
                if previous is not None:
                    await _close(previous, PageClosure.TAKEN)
                valid = await self._receive(page.websocket)
        finally:
            if left := self._page is page:
                self._leave()
        if not valid:
            await self.process.end()
        elif left:
            await self.process.send("blur")

    def abort(self) -> None:
        """Drop the connection without a handshake."""
        if self._page is not None and self._page.transport is not None:
            self._page.transport.abort()

    async def _greet(self, page: Connection, *, again: bool) -> None:
        await page.websocket.send_json(["page", self._secret])
        if again:
            await self.process.send("redraw", width=page.width, height=page.height)
        while self._undelivered:
            await page.websocket.send_json(self._undelivered[0])
            del self._undelivered[0]

    def _leave(self) -> None:
        self._page = None
        self._left_at = _now()
        if not self.process.ending:
            self._expiry = asyncio.create_task(self._expire())

    async def _expire(self) -> None:
        await asyncio.sleep(self._grace_s)
        await self.process.end()

    async def _forward(self, packet: Packet) -> None:
        """Send a packet to the page. Without a page, drop what was drawn and keep the rest for the next one."""
        message: list[object]
        match packet:
            case Drawn(data):
                if self._page is not None:
                    with suppress(ConnectionError):
                        await self._page.websocket.send_bytes(data)
                return
            case OpenUrl(url, new_tab):
                message = ["open_url", {"url": url, "new_tab": new_tab}]
            case FileOffered(key, name):
                self.offers[key] = name
                message = ["deliver_file_start", key]
        if self._page is not None:
            with suppress(ConnectionError):
                await self._page.websocket.send_json(message)
                return
        self._undelivered.append(message)

    async def _receive(self, websocket: web.WebSocketResponse) -> bool:
        """Forward input of the page until the connection ends. False: it ended because a message was invalid."""
        async for message in websocket:
            if message.type is WSMsgType.ERROR:
                return not isinstance(message.data, WebSocketError)
            if message.type is not WSMsgType.TEXT:
                continue
            try:
                content = json.loads(message.data)
            except (ValueError, RecursionError):
                _log.warning("a page sent invalid JSON and was closed")
                await websocket.close(code=WSCloseCode.UNSUPPORTED_DATA, message=b"not JSON")
                return False
            match content:
                case ["stdin", str(text)]:
                    await self.process.type(text)
                case ["resize", {"width": int(width), "height": int(height)}]:
                    await self.process.send("resize", width=cells(width), height=cells(height))
                case ["focus" | "blur" as kind]:
                    await self.process.send(kind)
                case ["ping", str(moment)]:
                    await websocket.send_json(["pong", moment])
                case other:
                    _log.warning("a page sent an unknown message: %.200r", other)
        return True


async def _close(page: Connection, code: PageClosure) -> None:
    if page.transport is None:
        return
    # A stalled page must not hold up the app. Cancelling `close` would also cancel a `send` that waits with it.
    stalled = asyncio.get_running_loop().call_later(_CLOSE_S, page.transport.abort)
    with suppress(ConnectionError):
        await page.websocket.close(code=code)
    stalled.cancel()


def cells(number: int) -> int:
    """A number of columns or rows within the allowed range."""
    return min(max(number, 1), MOST_CELLS)


def _now() -> float:
    return asyncio.get_running_loop().time()
