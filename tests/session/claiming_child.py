"""A session whose members claim tasks, to be killed: `python -m tests.session.claiming_child FOLDER BASE_URL`."""

import asyncio
import sys
from pathlib import Path

from harness.engine.team.member import MemberDraft
from harness.policies.tasks.decisions import TaskDraft
from harness.session import open_session
from tests.agent.stage import settings_of


async def main(folder: Path, base_url: str) -> None:
    """Print the id of the session, and let two members claim four tasks."""
    session = await open_session(settings_of(folder, base_url, team=True, board="session"))
    async for _ in session.run("Begin."):
        pass
    background = session.background
    for name in ("ann", "ben"):
        await background.team.join(MemberDraft(name, background.subagents.tools_for("", None)))
    assert session.tasks is not None
    print(session.id, flush=True)
    await session.tasks.create([TaskDraft(f"task {number}") for number in range(1, 5)])
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
