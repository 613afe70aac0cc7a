"""A program whose disk fills up in the middle of a conversation; run by test_journal.py in a process of its own.

Prints one JSON line for each turn: how it ended, and the notices in it.
"""

import asyncio
import json
import resource
import sys
import warnings
from pathlib import Path

from harness.events import Notice
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from harness.session import NoAsker, open_session
from tests.agent.stage import played, says, settings_of


def limit_files(size: int) -> None:
    """No file of this process may grow beyond `size` bytes; -1: any size."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, resource.RLIM_INFINITY))


async def main(folder: Path) -> None:
    """Three turns: with room, without, and with room again."""
    async with (
        PracticeServer(script=Script.parse(says("Answered. " * 50, times='"forever"'))) as server,
        await open_session(settings_of(folder, server.base_url), NoAsker()) as session,
    ):
        for room in (None, 300, -1):
            if room is not None:
                limit_files(room if room < 0 else session.path.stat().st_size + room)
            turn = await played(session.run("Hello?"))
            notices = [(event.level, event.text) for event in turn.of(Notice)]
            print(json.dumps({"code": turn.end.code, "notices": notices, "path": str(session.path)}), flush=True)


warnings.simplefilter("error")
asyncio.run(main(Path(sys.argv[1])))
