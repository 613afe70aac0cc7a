"""A browser without a screen: opens the link, keeps the cookie, talks to the app."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

from aiohttp import ClientSession, ClientWebSocketResponse, CookieJar, WSMsgType

LIMIT_S = 60.0


class Page:
    """An open page."""

    def __init__(self, address: str, websocket: ClientWebSocketResponse) -> None:
        self.address = address
        self.websocket = websocket
        self.screen = ""
        """Everything the app drew so far."""
        self.messages: list[list[object]] = []
        """JSON messages received so far."""

    async def sees(self, text: str) -> None:
        """Wait until the app has drawn this."""
        await self._until(lambda: text in self.screen)

    async def is_told(self, kind: str) -> object:
        """Wait for a message of this kind; its content."""
        await self._until(lambda: any(message[0] == kind for message in self.messages))
        return next(message[1] for message in self.messages if message[0] == kind)

    async def is_closed(self) -> None:
        await self._until(lambda: self.websocket.closed)

    async def type(self, text: str) -> None:
        await self.say("stdin", text)

    async def say(self, *message: object) -> None:
        await self.websocket.send_str(json.dumps(message))

    async def _until(self, reached: Callable[[], bool]) -> None:
        try:
            async with asyncio.timeout(LIMIT_S):
                while not reached():
                    message = await self.websocket.receive()
                    if message.type is WSMsgType.BINARY:
                        self.screen += message.data.decode()
                    elif message.type is WSMsgType.TEXT:
                        self.messages.append(json.loads(message.data))
                    elif not reached():
                        raise AssertionError(f"the page was closed; the screen: {self.screen[-500:]!r}")
        except TimeoutError:
            raise AssertionError(
                f"it did not come; the screen: {self.screen[-500:]!r}, the rest {self.messages}"
            ) from None


def browser() -> ClientSession:
    """A browser that has no cookie yet."""
    return ClientSession(cookie_jar=CookieJar(unsafe=True))  # "unsafe": also for addresses that are numbers


@asynccontextmanager
async def entered(link: str) -> AsyncIterator[ClientSession]:
    """A browser that has exchanged the link for the cookie."""
    async with browser() as one:
        await (await one.get(link)).read()
        yield one


def origin_of(link: str) -> str:
    return link.partition("/?")[0]


def terminal_of(address: str) -> str:
    """Where the terminal of the page at `address` connects to."""
    return address.replace("/page/", "/terminal/")


@asynccontextmanager
async def opened(session: ClientSession, link: str, query: str = "?width=60&height=20") -> AsyncIterator[Page]:
    """A page whose browser has the cookie: a new one of this link, or the one that had this address."""
    origin = "/".join(link.split("/")[:3])
    async with session.get(link if "/page/" in link else origin) as answer:
        address = str(answer.url)
    async with session.ws_connect(terminal_of(address) + query, origin=origin) as websocket:
        yield Page(address, websocket)
