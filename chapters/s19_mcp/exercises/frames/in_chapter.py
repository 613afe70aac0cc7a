"""The learner's reader behind the pipe of the harbor, three bytes at a time."""

import asyncio
import json
import sys
from asyncio.subprocess import PIPE
from types import ModuleType
from typing import Any

from chapters.course import DemoSession
from harness.events import Notice

MOST_S = 10.0
"""Seconds that an answer may take."""
REQUESTS = (("tools/list", ""), ("tools/call", "berth.free"), ("tools/call", "berth free"))
"""Methods, and the tool that is called."""


async def demo(session: DemoSession, work: ModuleType) -> None:
    """Each prompt starts the server, and sends three requests."""
    async for _ in session.prompts():
        server = await asyncio.create_subprocess_exec(
            *(sys.executable, "harbor.py"), cwd=session.workspace, stdin=PIPE, stdout=PIPE
        )
        try:
            async with asyncio.timeout(MOST_S):
                await _talk(session, work.Frames(), server)
        except TimeoutError:
            session.show(Notice("error", f"no message within {MOST_S:g} s"))
        finally:
            server.kill()
            await server.communicate()


async def _talk(session: DemoSession, frames: Any, server: asyncio.subprocess.Process) -> None:
    assert server.stdin is not None
    assert server.stdout is not None
    for number, (method, tool) in enumerate(REQUESTS):
        request = {"jsonrpc": "2.0", "id": number, "method": method, "params": {"name": tool}}
        server.stdin.write(json.dumps(request).encode() + b"\n")
        messages: list[dict[str, Any]] = []
        while not messages:
            messages = frames.feed(await server.stdout.read(3 if number else 1))
        result = messages[0]["result"]
        said = f"{len(result['tools'])} tools" if "tools" in result else result["content"][0]["text"]
        session.show(Notice("info", f"{said}; stray lines: {frames.stray}"))
