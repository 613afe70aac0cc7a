"""s19: a server on a pipe. First the small client speaks to it and loses it; then the program does, three times."""

import asyncio
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable
from contextlib import aclosing, asynccontextmanager, suppress
from functools import partial
from importlib.util import find_spec
from runpy import run_path
from typing import TYPE_CHECKING, Any

from chapters.course import DemoSession, LessonError
from harness.base.concurrency import in_thread
from harness.engine.conversation import Conversation
from harness.events import Event, McpServerChanged, Notice

if TYPE_CHECKING:
    from harness.agent import Agent

WAIT_S = 0.5
TIDE = {"c": "Porto", "t": "noon"}
START_S = 20.0
"""Seconds that the server has to start."""
NEWS_S = 5.0
"""Seconds that its new list has to arrive."""


def own(session: DemoSession) -> dict[str, object]:
    """The server in the settings of the user, who trusts its hints."""
    return {"command": "python3", "args": [str(session.workspace / "harbor.py")], "timeout": 2000, "trusted": True}


async def outcome(work: Awaitable[object]) -> str:
    """What a call of the small client gives."""
    try:
        return str(await work)
    except Exception as error:  # noqa: BLE001 (whatever the small client raises is shown)
        return f"{type(error).__name__}: {error}"


@asynccontextmanager
async def small_client(session: DemoSession) -> AsyncIterator[Any]:
    """The client of workspace/client.py. Its server ends with the block; the last line to it may never be read."""
    make = run_path(str(session.workspace / "client.py"))["Client"]
    client = await in_thread(partial(make, sys.executable, "harbor.py", folder=session.workspace))
    try:
        yield client
    finally:
        client.server.kill()
        with suppress(BrokenPipeError), client.server:
            client.server.wait()


async def by_hand(session: DemoSession) -> None:
    """Use the small client, and kill its server in the middle of a call."""

    def call(tool: str, arguments: dict[str, str]) -> asyncio.Task[Any]:
        return asyncio.ensure_future(in_thread(partial(client.call, tool, arguments)))

    def show(text: str) -> None:
        session.show(Notice("info", text))

    async with small_client(session) as client:
        show(f"initialize: {client.about['serverInfo']['name']} speaks MCP {client.about['protocolVersion']}")
        show(f"tools/list: {', '.join(await in_thread(client.tools))}")
        show(f"tide: {await outcome(call('tide', TIDE))}")
        show(f"berth.free: {await outcome(call('berth.free', {}))}")
        pilot = call("pilot", {})
        done, _ = await asyncio.wait({pilot}, timeout=WAIT_S)
        show(f"pilot: {await outcome(pilot) if done else f'no answer after {WAIT_S:g} s'}")
        client.server.kill()
        await in_thread(client.server.wait)
        show(f"killed: {await outcome(pilot)}")
        show(f"tide once more: {await outcome(call('tide', TIDE))}")


class Harbor:
    """Turns of agents that use the server, and what happens between them."""

    def __init__(self, session: DemoSession) -> None:
        self._session = session
        self._in_turn = False
        self._changed = asyncio.Event()
        self._unseen: dict[int, Event] = {}

    def agent(self, **settings: object) -> "Agent":
        """An agent of this folder."""
        chosen = self._session.settings(mcp_connect_s=START_S, **settings)
        return self._session.agent(chosen, conversation=Conversation(self._record))

    async def opens(self, agent: "Agent") -> None:
        """Wait for the server before the first request, so that each run is the same."""
        if (tools := agent.parts.mcp) is not None:
            tools.servers.start()
            await tools.servers.settle(START_S)

    def _record(self, event: Event) -> None:
        if self._in_turn:
            self._unseen[id(event)] = event
        else:
            self._session.show(event)
        if isinstance(event, McpServerChanged) and "new:" in event.detail:
            self._changed.set()

    async def news(self) -> None:
        """Wait until the server has a new list of tools."""
        with suppress(TimeoutError):
            async with asyncio.timeout(NEWS_S):
                await self._changed.wait()

    async def turn(self, events: AsyncGenerator[Event, None]) -> None:
        """Show a turn, and what happens while it ends."""
        self._in_turn = True
        async with aclosing(events):
            async for event in events:
                self._unseen.pop(id(event), None)
                self._session.show(event)
        self._in_turn = False
        for event in self._unseen.values():
            self._session.show(event)
        self._unseen.clear()


async def demo(session: DemoSession) -> None:
    """The small client; a folder that is not trusted; one that is; a server that the user trusts."""
    await by_hand(session)
    if find_spec("mcp") is None:
        raise LessonError("The steps from here on need the package mcp; run: pip install 'harness-agent[mcp]'")
    harbor, prompts = Harbor(session), session.prompts()
    async with harbor.agent() as stranger:
        await harbor.turn(stranger.run(await anext(prompts)))
    async with harbor.agent(trust_folder=True) as guest:
        await harbor.opens(guest)
        for _ in range(3):
            await harbor.turn(guest.run(await anext(prompts)))
        await harbor.news()
        for _ in range(2):
            await harbor.turn(guest.run(await anext(prompts)))
    async with harbor.agent(trust_folder=False, mcp_servers={"harbor": own(session)}) as regular:
        await harbor.opens(regular)
        async for prompt in prompts:
            await harbor.turn(regular.run(prompt))
