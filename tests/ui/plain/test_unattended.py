"""Without a user, a session waits for its background work: real commands and subagents of a real session."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from harness.events import MemberState
from harness.session import Session
from harness.ui.plain.unattended import BackgroundWait, Unattended, short
from tests.agent.stage import calls, left_running, played, says, sessions
from tests.agent.test_agents import of_subagent, task
from tests.agent.test_team import of_member, start
from tests.engine.subagents.test_background_work import far

pytestmark = pytest.mark.anyio


def command(line: str) -> str:
    """A call, for a script."""
    return f'{{ name = "bash", input = {{ command = "{line}", background = true }} }}'


@asynccontextmanager
async def waiting(
    folder: Path, script: str, wait_s: float, **values: object
) -> AsyncIterator[tuple[Session, BackgroundWait, list[str]]]:
    """A session whose turn has ended, a wait for what it left in the background, and what the wait says."""
    said: list[str] = []
    async with sessions(folder, script, **values) as here, await here.open() as session:
        await played(session.run("begin"))
        yield session, BackgroundWait(session, wait_s, said.append), said
    assert left_running(session.settings) == []


async def test_without_background_work_there_is_nothing_to_wait_for(tmp_path: Path) -> None:
    async with waiting(tmp_path, says("Done."), 5.0) as (_, wait, said):
        assert await wait.come() is False
        assert (said, wait.given_up) == ([], False)


async def test_a_command_is_named_once_and_its_result_is_waited_for(tmp_path: Path) -> None:
    released = tmp_path / "released"
    line = f"until test -e {released}; do sleep 0.02; done"
    script = calls(command(line), command("sleep 300")) + says("Asked.")
    async with waiting(tmp_path, script, 60.0) as (session, wait, said):
        coming = asyncio.create_task(wait.come())
        await asyncio.sleep(0)
        assert said == [
            f'◌ waiting for b1 "{short(line)}", b2 "sleep 300", at most 60 s (background_wait_s)',
        ]
        assert not coming.done()
        released.touch()
        assert await coming is True
        (result,) = session.inbox.waiting
        assert result.source == "b1"
        assert await wait.come() is True  # at once: it has not been delivered yet
        session.inbox.deliver(session.inbox.waiting)
        coming = asyncio.create_task(wait.come())
        await asyncio.sleep(0)
        assert len(said) == 1  # the other one was named before
        wait.stop()
        assert await coming is False
        assert not wait.given_up


async def test_when_the_time_is_up_the_commands_are_ended_and_named(tmp_path: Path) -> None:
    async with waiting(tmp_path, calls(command("sleep 300")) + says("Asked."), 0.2) as (session, wait, said):
        assert await wait.come() is True
        assert wait.given_up
        assert said[1:] == ['! ended after 0.2 s of waiting (background_wait_s): b1 "sleep 300"']
        (result,) = session.inbox.waiting
        assert result.source == "b1"
        assert {row.state.value for row in session.background.commands.rows} == {"ended"}


async def test_the_time_is_that_of_all_waits_together(tmp_path: Path) -> None:
    script = calls(command("sleep 2"), command("sleep 300")) + says("Asked.")
    async with waiting(tmp_path, script, 2.5) as (session, wait, _):
        began = asyncio.get_running_loop().time()
        while not wait.given_up:
            assert await wait.come() is True
            session.inbox.deliver(session.inbox.waiting)
        assert 2.4 < asyncio.get_running_loop().time() - began < 4.4


async def test_with_no_time_at_all_nothing_is_waited_for_and_that_is_said(tmp_path: Path) -> None:
    async with waiting(tmp_path, calls(command("sleep 300")) + says("Asked."), 0.0) as (_, wait, said):
        assert await wait.come() is False
        assert said == ['! not waited for (background_wait_s = 0): b1 "sleep 300"']
        assert not wait.given_up


async def test_subagents_are_waited_for_without_a_limit(tmp_path: Path) -> None:
    script = far(calls(task(background=True))) + far(says("Asked.")) + of_subagent(says("There are three."))
    async with waiting(tmp_path, script, 0.0) as (session, wait, said):
        async with asyncio.timeout(60):
            assert await wait.come() is True
        assert "There are three." in session.inbox.waiting[0].text
        assert said == []
        session.inbox.deliver(session.inbox.waiting)
        assert await wait.come() is False


async def test_a_wait_that_was_stopped_does_not_begin_again(tmp_path: Path) -> None:
    async with waiting(tmp_path, calls(command("sleep 300")) + says("Asked."), 60.0) as (_, wait, _):
        wait.stop()
        assert await wait.come() is False


def test_without_a_user_the_remedy_is_named() -> None:
    asker = Unattended()
    assert (asker.present, asker.waits_for_work) == (False, True)
    assert asker.remedy.startswith("--yolo, or a rule in permissions_allow")


def test_a_long_command_line_is_one_short_line() -> None:
    assert short("a\n  b\tc") == "a b c"
    assert short("x" * 60) == "x" * 60
    assert short("x" * 61) == "x" * 59 + "…"


async def test_members_are_waited_for_and_stopped_when_the_time_is_up(tmp_path: Path) -> None:
    sleeps = '{ name = "bash", input = { command = "sleep 300" } }'
    script = calls(start("ann"), start("ben", "Be quick.")) + says("Started.") + of_member(says("Done."), "Be quick.")
    script += of_member(calls(sleeps), "Look.")
    async with waiting(tmp_path, script, 60.0, team=True, team_wait_s=2.0) as (session, wait, said):
        assert await wait.come() is True
        session.inbox.deliver(session.inbox.waiting)
        assert await wait.come() is True
        assert wait.given_up
        assert said == ["! stopped after 2.0 s of waiting (team_wait_s): ann"]
        assert "the program did not wait for it any longer" in session.inbox.waiting[0].text
        assert [row.state for row in session.background.team.rows] == [MemberState.IDLE, MemberState.FAILED]
