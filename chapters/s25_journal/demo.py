"""s25: a program is killed while a command runs, and another one continues from its file."""

import asyncio
import json
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

from chapters.course import DemoSession
from harness.base.concurrency import race
from harness.base.errors import JournalError
from harness.engine.conversation import Conversation
from harness.events import Notice, TurnStarted
from harness.journal import Journal, Recorder, read, replay, session_folder
from harness.settings import Settings

BELL = "bell"
"""A pipe. The command of the second jar rings it when its jar is full, and then takes a long time."""


async def killed_at_work(program: Sequence[str | Path], order: object, folder: Path) -> int:
    """Run a Python program with `order` as JSON on its input, and kill it when it rings the bell; its exit code."""
    rung = asyncio.Event()
    os.mkfifo(folder / BELL)
    bell = os.open(folder / BELL, os.O_RDWR | os.O_NONBLOCK)
    asyncio.get_running_loop().add_reader(bell, rung.set)
    path = os.pathsep.join(filter(None, sys.path))
    running = await asyncio.create_subprocess_exec(
        sys.executable, *program, stdin=asyncio.subprocess.PIPE, cwd=folder, env={**os.environ, "PYTHONPATH": path}
    )
    ending = asyncio.create_task(running.communicate(json.dumps(order).encode()))
    try:
        await race(running.wait(), rung.wait())
    finally:
        asyncio.get_running_loop().remove_reader(bell)
        os.close(bell)
        (folder / BELL).unlink()
        if not ending.done():
            running.send_signal(signal.SIGKILL)
        await ending
    return running.returncode or 0


def first_half(session: DemoSession, settings: Settings, path: Path, prompt: str) -> dict[str, object]:
    """What the first program is to do: settings, journal and prompt."""
    own = settings.model_dump(mode="json", exclude_unset=True) | {"api_key": session.KEY}
    return {"journal": str(path), "settings": own, "prompt": prompt}


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
    order = first_half(session, settings, path, await anext(prompts))
    code = await killed_at_work(["-m", "chapters.s25_journal.first_half"], order, session.workspace)
    for record in read(path).records:
        session.show(record.event)
    session.show(Notice("warning", f"the program was killed by signal {-code}"))
    tear(path)
    with Journal.open(path) as journal:
        contents = read(path)
        state = replay(contents.records)
        kept = f"{len(contents.records)} events, {len(state.messages)} messages"
        session.show(Notice("info", f"{kept}, unreadable lines: {len(contents.skipped)}"))
        try:
            Journal.open(path)
        except JournalError as refused:
            session.show(Notice("warning", str(refused)))
        conversation = Conversation(Recorder(journal), state)
        async with session.agent(settings, conversation=conversation) as agent:
            async for prompt in prompts:
                await session.watch(agent.run(prompt))
                records = read(path).records
                turns = sum(isinstance(record.event, TurnStarted) for record in records)
                session.show(Notice("info", f"one journal of both programs: {turns} turns, {len(records)} events"))
