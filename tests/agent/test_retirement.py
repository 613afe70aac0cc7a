"""A model that ends soon is named when a session opens, or as soon as the server has said so, and once."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from harness.agent import Agent
from harness.engine.conversation import Conversation
from harness.events import Event, Notice
from harness.practice.rules import ServedModel, ServerRules
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from harness.session import open_session
from harness.ui.lines.reports import greeting
from tests.agent.stage import played, settings_of

pytestmark = pytest.mark.anyio

SAYS = '[[reply]]\ntext = "Hello."\ntimes = "forever"\n'


def notices(events: list[Event]) -> list[str]:
    return [event.text for event in events if isinstance(event, Notice)]


async def test_a_session_begins_with_the_models_that_end(tmp_path: Path) -> None:
    loaded = settings_of(
        tmp_path, "http://127.0.0.1:1", model="claude-opus-4-0", fallback_models=("claude-sonnet-4-6",)
    )
    async with await open_session(loaded) as session:
        (text,) = session.retirements
        greeted = [line.text for line in greeting(session, loaded)]
    assert text.startswith(
        "claude-opus-4-0 was to be retired on 2026-06-15 and may stop at any time; use -m claude-opus-"
    )
    assert text in greeted


async def test_what_the_server_says_about_an_end_is_said_once_also_with_several_turns(tmp_path: Path) -> None:
    ends = datetime.now(UTC) + timedelta(days=20)
    model = ServedModel("newcomer", 100_000, 8_000, retires_at=ends.isoformat())
    seen: list[Event] = []
    async with PracticeServer(script=Script.parse(SAYS), rules=ServerRules(models=(model,))) as server:
        settings = settings_of(tmp_path, server.base_url, model="newcomer").settings
        async with Agent(settings, conversation=Conversation(seen.append)) as agent:
            for _ in range(3):
                await played(agent.run("hello"))
    (text,) = notices(seen)
    assert text.startswith(f"newcomer will be retired on {ends.date()}, in ")
