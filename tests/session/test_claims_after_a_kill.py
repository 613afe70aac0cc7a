"""Members that claim tasks, after a kill -9 of their session: what had ended has ended, the rest is done once more."""

import asyncio
import sys
from collections import Counter
from pathlib import Path

import psutil
import pytest

from harness.events import ClaimEnd, ClaimEnded, GoalEnded, MemberClaimed, TaskState
from harness.journal import read
from harness.session import Opening
from tests.agent.stage import calls, played, ran_in, says, sessions
from tests.agent.test_claims import done, when
from tests.agent.test_permission_rules import bash
from tests.agent.test_team import wait_for

pytestmark = [pytest.mark.anyio, pytest.mark.stories]


def does(number: int, *, stays: bool) -> str:
    """Entries for task `number`; `stays`: its first attempt has no end."""
    prompt = f"You have claimed this task of the board:\\n\\nt{number}"
    works = calls(bash(f"echo t{number} >> ran.txt; echo did-{number}"))
    entries = when(works, "Attempts without a result: 1\\n\\nDo it now") if stays else when(works, prompt)
    entries += when(calls(done(number)), f"did-{number}\\n")
    entries += when(says("Done."), f"t{number}  task {number}  [completed")
    begun = calls(bash(f"echo begun-{number} >> ran.txt; exec sleep 60"))
    return entries + (when(begun, prompt) if stays else "")


async def test_after_resume_nobody_works_twice_and_what_was_held_is_claimed_again(tmp_path: Path) -> None:
    script = does(1, stays=False) + does(2, stays=False) + does(3, stays=True) + does(4, stays=True)
    script += says("Yes.", times='"forever"')
    async with sessions(tmp_path, script, team=True, board="session") as here:
        base_url = here.server.base_url
        child = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.session.claiming_child", str(tmp_path), base_url),
            stdout=asyncio.subprocess.PIPE,
        )
        assert child.stdout is not None
        id = (await child.stdout.readline()).decode().strip()
        workspace = here.loaded.settings.workspace
        await until_ran(workspace, {"t1", "t2", "begun-3", "begun-4"})
        below = psutil.Process(child.pid).children(recursive=True)
        child.kill()
        await child.wait()
        for process in below:
            process.kill()
        async with await here.open(Opening(resume=id)) as session:
            assert session.tasks is not None
            await played(session.run("Go on."))
            await wait_for(session._parts, lambda: any(isinstance(one, GoalEnded) for one in told(session.path)))
            assert {one.state for one in (await session.tasks.tasks()).values()} == {TaskState.COMPLETED}
        assert ran_in(workspace) == Counter(["t1", "t2", "t3", "t4", "begun-3", "begun-4"])
        events = told(session.path)
        attempts = Counter((one.task, one.attempt) for one in events if isinstance(one, MemberClaimed))
        assert attempts == Counter([("t1", 1), ("t2", 1), ("t3", 1), ("t4", 1), ("t3", 2), ("t4", 2)])
        ends = [(one.task, one.end) for one in events if isinstance(one, ClaimEnded)]
        assert sorted(ends[2:4]) == [("t3", ClaimEnd.GIVEN_BACK), ("t4", ClaimEnd.GIVEN_BACK)]


def told(path: Path) -> list[object]:
    return [record.event for record in read(path).records]


async def until_ran(workspace: Path, wanted: set[str]) -> None:
    """Wait until commands have left these words."""
    async with asyncio.timeout(60):
        while not wanted <= ran_in(workspace).keys():  # noqa: ASYNC110 (commands of another program write them)
            await asyncio.sleep(0.05)
