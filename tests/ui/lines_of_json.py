"""A process that speaks in lines of JSON, and the other end of its pipes."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from harness.practice.script import Script
from harness.practice.server import PracticeServer
from tests.ui.program import LIMIT_S, Place, start
from tests.ui.warm import Piped

Said = dict[str, Any]


class Peer:
    """Sends messages to a process and reads its messages."""

    def __init__(self, process: Piped) -> None:
        self.process = process
        self.seen: list[Said] = []
        """Every message so far."""

    def send(self, message: Said) -> None:
        self.process.stdin.write(json.dumps(message).encode() + b"\n")

    async def until(self, wanted: Callable[[Said], bool], within_s: float = LIMIT_S) -> Said:
        """The next message that is wanted; those before it are only kept in `seen`."""
        async with asyncio.timeout(within_s):
            while line := await self.process.stdout.readline():
                self.seen.append(json.loads(line))
                if wanted(self.seen[-1]):
                    return self.seen[-1]
        raise AssertionError(f"the process ended first: {(await self.process.stderr.read()).decode()}")

    async def ends(self) -> int:
        """Close its input, read the rest, and return its exit code."""
        self.process.stdin.close()
        async with asyncio.timeout(LIMIT_S):
            self.seen += [json.loads(line) for line in (await self.process.stdout.read()).splitlines()]
            return await self.process.wait()


@asynccontextmanager
async def peer(place: Place, script: str, *arguments: str, **environment: str) -> AsyncIterator[Peer]:
    """The command with a model that follows a script, as long as the block runs."""
    async with PracticeServer(script=Script.parse(f'after = "error"\n{script}')) as standing:
        process = await start(Place(place.folder, standing.base_url), *arguments, env=environment)
        try:
            yield Peer(process)
        finally:
            process.kill()
            await process.wait()


DOT = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
"""An image of one pixel, in base64."""


def bash(command: str, text: str = "") -> str:
    """A reply that calls bash."""
    words = f'text = "{text}"\n' if text else ""
    return f"[[reply]]\n{words}tools = [{{ name = \"bash\", input = {{ command = '{command}' }} }}]\n"


def calls(tool: str, input: str = "{}") -> str:
    """A reply that calls a tool; the input as TOML."""
    return f'[[reply]]\ntools = [{{ name = "{tool}", input = {input} }}]\n'


def says(text: str) -> str:
    """A reply that ends the turn."""
    return f'[[reply]]\ntext = "{text}"\n'
