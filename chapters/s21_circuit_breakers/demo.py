"""s21: a tool whose server is away, a way round it, and the call that finds out that the server is back.

The tool `stock` asks a real server on this machine. At first it does not listen.
"""

import asyncio
from asyncio import StreamReader, StreamWriter

from harness import tool
from harness.events import BreakerChanged, BreakerState
from harness.lessons import DemoSession
from harness.tools.tool import Effect, Tool

STOCK = {"lamp": 4, "chair": 11}
PROMPTS_WHILE_AWAY = 2


async def answer(reader: StreamReader, writer: StreamWriter) -> None:
    """One question to the shop: a line with an item, a line with a number."""
    item = (await reader.readline()).decode().strip()
    writer.write(f"{STOCK.get(item, 0)}\n".encode())
    await writer.drain()
    writer.close()


class Shop:
    """The server of the tool. It can be opened and closed, always at the same port."""

    def __init__(self) -> None:
        self.port = 0
        self._server: asyncio.Server | None = None

    async def open(self) -> None:
        """Answer from now on."""
        if self._server is None:
            self._server = await asyncio.start_server(answer, "127.0.0.1", self.port)
            self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Refuse every connection from now on."""
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()
            self._server = None


def stock_tool(shop: Shop) -> Tool:
    """The tool of the model. Nothing in it is about breakers."""

    @tool(effect=Effect.READ)
    async def stock(item: str) -> str:
        """How many pieces of an item the shop has now."""
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", shop.port)
        except ConnectionError as error:
            raise ConnectionError("connection refused by the shop") from error
        writer.write(f"{item}\n".encode())
        pieces = (await reader.readline()).decode().strip()
        writer.close()
        return f"{pieces} pieces of {item}"

    return stock


def opened(event: object) -> bool:
    """A breaker has just opened."""
    return isinstance(event, BreakerChanged) and event.after is BreakerState.OPEN


async def demo(session: DemoSession) -> None:
    """The first two prompts begin while the server is down. It is repaired as soon as a breaker has opened."""
    shop, number = Shop(), 0
    await shop.open()
    async with session.agent(tools=[stock_tool(shop)]) as agent:
        async for prompt in session.prompts():
            number += 1
            if number <= PROMPTS_WHILE_AWAY:
                await shop.close()
            async for event in agent.run(prompt):
                session.show(event)
                if opened(event):
                    await shop.open()
    await shop.close()
