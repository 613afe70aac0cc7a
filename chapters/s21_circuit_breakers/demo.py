"""s21: a tool whose server is away, a way round it, and the call that finds out that the server is back.

The tools `stock` and `delivery` ask a real server on this machine. At first it does not listen.
"""

import asyncio
import time
from asyncio import StreamReader, StreamWriter

from chapters.course import DemoSession
from harness import tool
from harness.events import BreakerChanged, BreakerState
from harness.tools.tool import Effect, Tool, ToolResult

STOCK = {"lamp": 4, "chair": 11}
DELIVERY = {"table": "Monday"}
PROMPTS_WHILE_AWAY = 2


class Shop:
    """The server of the tools. It can be opened and closed, always at the same port."""

    def __init__(self) -> None:
        self.port = 0
        self._server: asyncio.Server | None = None
        self._counted: float | None = None

    async def open(self) -> None:
        """Answer from now on."""
        if self._server is None:
            self._server = await asyncio.start_server(self._answer, "127.0.0.1", self.port)
            self.port = self._server.sockets[0].getsockname()[1]

    async def close(self) -> None:
        """Refuse every connection from now on."""
        if self._server is not None:
            self._server.close()
            await self._server.wait_closed()
            self._server = None

    async def _answer(self, reader: StreamReader, writer: StreamWriter) -> None:
        """One line with a question, one line with the answer. The shop counts once, when it is first asked."""
        about, item = (await reader.readline()).decode().split()
        self._counted = self._counted or time.time()
        answer = f"{STOCK.get(item, 0)} {self._counted}" if about == "stock" else DELIVERY.get(item, "never")
        writer.write(f"{answer}\n".encode())
        await writer.drain()
        writer.close()

    async def ask(self, question: str) -> str:
        """The answer to a question, over a connection like that of any other client."""
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", self.port)
        except ConnectionError as error:
            raise ConnectionError("connection refused by the shop") from error
        writer.write(f"{question}\n".encode())
        answer = (await reader.readline()).decode().strip()
        writer.close()
        return answer


def shop_tools(shop: Shop) -> list[Tool]:
    """The tools of the model. Nothing in them is about breakers."""

    @tool(effect=Effect.READ)
    async def stock(item: str) -> ToolResult:
        """How many pieces of an item the shop has now."""
        pieces, counted = (await shop.ask(f"stock {item}")).split()
        return ToolResult(f"{pieces} pieces of {item}", as_of=float(counted))

    @tool(effect=Effect.READ)
    async def delivery(item: str) -> str:
        """On which day the shop gets more of an item."""
        return await shop.ask(f"delivery {item}")

    return [stock, delivery]


def opened(event: object) -> bool:
    """A breaker has just opened."""
    return isinstance(event, BreakerChanged) and event.after is BreakerState.OPEN


async def demo(session: DemoSession) -> None:
    """The first two prompts begin while the server is down. It is repaired as soon as a breaker has opened."""
    shop, number = Shop(), 0
    await shop.open()
    async with session.agent(tools=shop_tools(shop)) as agent:
        async for prompt in session.prompts():
            number += 1
            if number <= PROMPTS_WHILE_AWAY:
                await shop.close()
            async for event in agent.run(prompt):
                session.show(event)
                if opened(event):
                    await shop.open()
    await shop.close()
