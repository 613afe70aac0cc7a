"""The user runs a command in the middle of a conversation."""

import asyncio
from pathlib import Path

import pytest

from harness.base.errors import HarnessError
from harness.events import Event, MessageAdded, Origin, OutputDelta, ToolEnded, ToolOutcome, ToolStarted
from harness.practice.requests import messages as messages_of
from harness.session import Opening
from tests.agent.stage import check_requests, left_running, played, says, sessions

pytestmark = pytest.mark.anyio


async def test_the_model_learns_of_the_command_and_nothing_counts_against_a_tool(tmp_path: Path) -> None:
    async with sessions(tmp_path, says("I see.", times='"forever"'), permission_mode="deny") as here:
        async with await here.open() as session:
            for _ in range(4):
                ran = await played(session.user_commands.shell("echo a thing; no-such-program-at-all"))
                (ended,) = ran.of(ToolEnded)
                assert (ended.outcome, ended.failure) == (ToolOutcome.BROKEN, None)
            assert {row.failures for row in session.breakers.health} == {0}
            assert session.breakers.report().failed == ()
            (added,) = ran.of(MessageAdded)
            assert added.origin is Origin.SHELL
            await played(session.run("what was that?"))
            assert [point.prompt for point in session.conversation.rewind_points] == ["what was that?"]
        async with await here.open(Opening(session.id)) as session:
            (started,) = (await played(session.user_commands.shell("true"))).of(ToolStarted)
            assert started.call_id == "shell-5"
            await played(session.run("and now?"))
        check_requests(here.server.requests)
    asked = " ".join(message.text for message in messages_of(here.server.requests[0].body))
    assert "$ echo a thing; no-such-program-at-all\na thing\n" in asked
    assert "exit 127" in asked


async def test_an_interruption_ends_it_and_its_children_for_certain(tmp_path: Path) -> None:
    async with sessions(tmp_path, "") as here, await here.open() as session:
        events = []
        async for event in session.user_commands.shell("echo so far; trap '' INT TERM; sleep 60 & sleep 60; sleep 60"):
            events.append(event)
            if isinstance(event, OutputDelta):
                session.interrupt()
        (ended,) = [event for event in events if isinstance(event, ToolEnded)]
        assert (ended.outcome, ended.detail) == (ToolOutcome.CANCELLED, "so far\n")
        assert left_running(here.loaded.settings) == []


async def test_closing_the_stream_ends_it_too_and_the_history_says_so(tmp_path: Path) -> None:
    seen: list[Event] = []
    async with (
        sessions(tmp_path, "") as here,
        await here.open(observer=lambda event, at: seen.append(event)) as session,
    ):
        events = session.user_commands.shell("sleep 60")
        assert isinstance(await anext(events), ToolStarted)
        await asyncio.sleep(0.05)
        await events.aclose()
        assert left_running(here.loaded.settings) == []
    (added,) = [event for event in seen if isinstance(event, MessageAdded)]
    assert "interrupted" in added.message.text


async def test_the_time_limit_and_the_bound_of_the_settings_hold(tmp_path: Path) -> None:
    async with (
        sessions(tmp_path, "", bash_timeout_s=0.3, result_characters=2_000) as here,
        await here.open() as session,
    ):
        (slow,) = (await played(session.user_commands.shell("sleep 60"))).of(ToolEnded)
        assert "timed out" in slow.summary
        long = await played(session.user_commands.shell("yes | head -c 500000"))
        (ended,) = long.of(ToolEnded)
        assert ended.full_output is not None
        assert Path(ended.full_output).stat().st_size == 500_000
        (added,) = long.of(MessageAdded)
        assert len(added.message.text) < 2_500
        with pytest.raises(HarnessError, match="no command"):
            session.user_commands.shell(" ")
