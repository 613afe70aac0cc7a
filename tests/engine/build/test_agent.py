"""What an agent is made from: parts that the settings ask for, and events that reach them in order."""

from pathlib import Path

import pytest

from harness.events import BreakerChanged, Event, FailureCharged, Notice, SettingChanged, ToolEnded, TurnStarted
from tests.agent.stage import MODEL, played, says, sessions, stage
from tests.engine.tools.test_dispatch import LATE, flaky, rounds

pytestmark = pytest.mark.anyio


async def test_what_a_breaker_says_of_a_call_follows_its_end_at_once(tmp_path: Path) -> None:
    async with stage(tmp_path, rounds("wobbly", 3) + says("Done."), tools=[flaky("wobbly", LATE)]) as here:
        await here.turn()
        recorded = here.recorded
        ends = [place for place, event in enumerate(recorded) if isinstance(event, ToolEnded)]
        after = [[type(event) for event in recorded[place + 1 : place + 3]] for place in ends]
        assert after == [[BreakerChanged, FailureCharged]] * 3


@pytest.mark.parametrize(
    ("settings", "there", "missing"),
    [
        ({}, {"bash", "agent", "read_background"}, {"task_create"}),
        ({"board": "session"}, {"task_create", "task_claim"}, set()),
        ({"ask_user": "off"}, {"bash"}, {"ask_user"}),
        ({"memory": False}, {"bash"}, {"recall", "remember"}),
    ],
    ids=["as shipped", "board", "no questions", "no memory"],
)
async def test_the_settings_say_which_tools_there_are(
    tmp_path: Path, settings: dict[str, object], there: set[str], missing: set[str]
) -> None:
    async with sessions(tmp_path, says("One."), **settings) as here, await here.open() as session:
        await played(session.run("first"))
        names = {tool.name for tool in session.tools}
        assert there <= names
        assert not missing & names
        assert {tool["name"] for tool in here.server.requests[-1].body["tools"]} == names


async def test_two_sessions_of_one_program_share_no_choice(tmp_path: Path) -> None:
    async with (
        sessions(tmp_path, says("One.") + says("Two."), permission_mode="ask") as here,
        await here.open() as first,
        await here.open() as second,
    ):
        first.permissions.set_mode("edits")
        first.models.select("claude-opus-4-6")
        first.breakers.set_limits(threshold=1)
        assert (second.permissions.mode, second.models.current) == ("ask", MODEL)
        assert second.breakers.limits.threshold == 3


async def test_a_change_of_the_permission_mode_is_an_event_of_its_session_alone(tmp_path: Path) -> None:
    seen: list[Event] = []
    async with (
        sessions(tmp_path, says("One."), permission_mode="ask") as here,
        await here.open(observer=lambda event, _: seen.append(event)),
        await here.open() as second,
    ):
        second.permissions.set_mode("edits")
        assert not any(isinstance(event, SettingChanged | TurnStarted | Notice) for event in seen)
