"""s12: two programs on one board. One of them is killed while it works on a task."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

from chapters.course import DemoSession
from harness.events import Notice, decode
from harness.settings import Settings

BOARD = "boat"


@asynccontextmanager
async def rival(session: DemoSession, settings: Settings) -> AsyncIterator[None]:
    """Another program that has claimed a task and works on it. At the end it is killed."""
    own = settings.model_dump(mode="json", exclude_unset=True, exclude={"api_key"})
    path = os.pathsep.join(filter(None, sys.path))
    program = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "chapters.s12_tasks.rival"),
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": path},
    )
    try:
        assert program.stdin is not None
        assert program.stdout is not None
        program.stdin.write(json.dumps(own).encode() + b"\n")
        if claimed := await program.stdout.readline():
            session.show(decode(json.loads(claimed)))
        yield
    finally:
        with suppress(ProcessLookupError):  # it has ended by itself
            program.kill()
        await program.communicate()
    session.show(Notice("warning", f"another program was killed by signal {-(program.returncode or 0)}"))


async def demo(session: DemoSession) -> None:
    """A plan, a rival that dies, a failure, and an agent that knows nothing but the board."""
    settings = session.settings(permission_mode="yolo", board=BOARD)
    prompts = session.prompts()
    async with session.agent(settings, outputs=session.outputs("first")) as agent:
        await session.watch(agent.run(await anext(prompts)))
        async with rival(session, settings):
            await session.watch(agent.run(await anext(prompts)))
        await session.watch(agent.run(await anext(prompts)))
    async with session.agent(settings, outputs=session.outputs("second")) as agent:
        async for prompt in prompts:
            await session.watch(agent.run(prompt))
