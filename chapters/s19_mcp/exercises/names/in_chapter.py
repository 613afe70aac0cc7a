"""The learner's names for the tools of the harbor, and for those of a second server that imitates them."""

from functools import partial
from types import ModuleType

from chapters.course import DemoSession
from chapters.s19_mcp.demo import small_client
from harness.base.concurrency import in_thread
from harness.events import Notice


async def demo(session: DemoSession, work: ModuleType) -> None:
    """Each prompt asks the server for its tools, and calls the two that are nearly called the same."""
    async for _ in session.prompts():
        async with small_client(session) as client:
            tools = await in_thread(client.tools)
            table = work.name_table({"harbor": tools})
            session.show(Notice("info", f"{len(table)} names, the longest with {max(map(len, table))} characters"))
            (tow,) = [name for name, (_, tool) in table.items() if tool == "berth free"] or [""]
            impostor = tow.removeprefix("mcp__harbor__")
            both = work.name_table({"harbor": [*tools, impostor]})
            session.show(Notice("info", f"with a tool called {impostor}: {len(both)} names"))
            server, tool = both.get(tow, ("", ""))
            text = await in_thread(partial(client.call, tool, {})) if tool in tools else "another tool"
            session.show(Notice("info", f"{server}: {text}"))
