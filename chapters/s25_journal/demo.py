"""s25: a program is killed while a command runs, and another one goes on from the file that it left."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

from harness.base.errors import JournalError
from harness.base.race import race
from harness.engine.conversation import Conversation
from harness.events import Notice
from harness.journal import Journal, read, replay, session_folder
from harness.lessons import DemoSession
from harness.settings import Settings

BELL = "bell"
"""A pipe. The command of the second jar rings it when its jar is full, and then takes a long time."""


async def killed_at_work(session: DemoSession, settings: Settings, path: Path, prompt: str) -> int:
    """Run the first half in a program of its own, kill it when the bell rings, and return its exit code."""
    rung = asyncio.Event()
    os.mkfifo(settings.workspace / BELL)
    bell = os.open(settings.workspace / BELL, os.O_RDWR | os.O_NONBLOCK)
    asyncio.get_running_loop().add_reader(bell, rung.set)
    first_half = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "chapters.s25_journal.first_half"),
        stdin=asyncio.subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )
    own = settings.model_dump(mode="json", exclude_unset=True) | {"api_key": session.KEY}
    order = json.dumps({"journal": str(path), "settings": own, "prompt": prompt})
    ending = asyncio.create_task(first_half.communicate(order.encode()))
    try:
        await race(first_half.wait(), rung.wait())
    finally:
        asyncio.get_running_loop().remove_reader(bell)
        os.close(bell)
        if not ending.done():
            first_half.send_signal(signal.SIGKILL)
        await ending
    return first_half.returncode or 0


def tear(path: Path) -> None:
    """End the file in the middle of a line, as a power cut can."""
    with path.open("ab") as file:
        file.write(b'{"seq": 999, "at": 17')


async def demo(session: DemoSession) -> None:
    """Two programs, one after the other, and one file."""
    settings = session.settings(permission_mode="yolo")
    prompts = session.prompts()
    with Journal.create(session_folder(session.workspace, settings.state_dir), "jars") as journal:
        path = journal.path
    code = await killed_at_work(session, settings, path, await anext(prompts))
    for record in read(path).records:
        session.show(record.event)
    session.show(Notice("warning", f"the program was killed by signal {-code}"))
    tear(path)
    with Journal.open(path) as journal:
        contents = read(path)
        state = replay(contents.records)
        kept = f"{len(contents.records)} events, {len(state.messages)} messages"
        session.show(Notice("info", f"read back: {kept}, {len(contents.skipped)} line that cannot be read"))
        try:
            Journal.open(path)
        except JournalError as refused:
            session.show(Notice("warning", str(refused)))
        conversation = Conversation(journal.append, messages=state.messages, turn=state.turn, step=state.step)
        async with session.agent(settings, conversation=conversation) as agent:
            async for prompt in prompts:
                await session.watch(agent.run(prompt))
