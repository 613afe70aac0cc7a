"""The learner's reader on real connections: it gets the bytes as they arrive, and the time ten times a second."""

import asyncio
import time
from collections.abc import AsyncIterator
from types import ModuleType
from typing import Any

import httpx2

from chapters.course import DemoSession
from harness.events import Notice

TICK_S = 0.1
"""Between two looks at the clock while nothing arrives."""
MOST_S = 4.0
"""Silence after which the course itself gives up."""
HEADERS = {"x-api-key": DemoSession.KEY, "anthropic-version": "2023-06-01"}


def said(block: dict[str, Any]) -> str:
    """A block in one line."""
    if block.get("type") == "tool_use":
        return f"{block.get('name')}({block.get('input')})"
    return repr(block.get("text"))


async def pieces(response: httpx2.Response) -> AsyncIterator[bytes]:
    """The chunks of a body, with an empty one for each tick without any; a broken connection is an end."""
    chunks = response.aiter_raw()
    following = asyncio.ensure_future(anext(chunks, None))
    try:
        while True:
            await asyncio.wait({following}, timeout=TICK_S)
            if not following.done():
                yield b""
                continue
            try:
                chunk = following.result()
            except httpx2.HTTPError:
                return
            if chunk is None:
                return
            yield chunk
            following = asyncio.ensure_future(anext(chunks, None))
    finally:
        following.cancel()
        await asyncio.wait({following})


class Line:
    """Sends the prompts, each on a connection of its own."""

    def __init__(self, session: DemoSession, work: ModuleType) -> None:
        self._session = session
        self._work = work

    async def read(self, prompt: str) -> None:
        """Let the learner read one answer; its end is a notice."""
        body = {
            "model": self._session.MODEL,
            "max_tokens": 1_000,
            "stream": True,
            "messages": [{"role": "user", "content": prompt}],
        }
        stream: Any = self._work.Stream()
        async with (
            httpx2.AsyncClient(trust_env=False, headers=HEADERS, timeout=None) as client,
            client.stream("POST", f"{self._session.address}/v1/messages", json=body) as response,
        ):
            began = last = time.monotonic()
            async for data in pieces(response):
                now = time.monotonic()
                last = now if data and b"event: ping" not in data else last
                stream.feed(now - began, data)
                if stream.state != self._work.READING:
                    break
                if now - last > MOST_S:
                    self._session.show(Notice("error", f"no end after {MOST_S:g} s of silence"))
                    return
            else:
                stream.end()
        blocks = ", ".join(map(said, stream.blocks)) or "nothing"
        self._session.show(Notice("info", f"{stream.state}, with {blocks}"))


async def demo(session: DemoSession, work: ModuleType) -> None:
    """Each prompt is one request; nothing is sent again."""
    line = Line(session, work)
    async for prompt in session.prompts():
        await line.read(prompt)
