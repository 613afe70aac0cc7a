"""/effort in front of real sessions: what it shows, sets and refuses, and what a resumed session keeps."""

from pathlib import Path

import pytest

from harness.base.errors import HarnessError
from harness.engine.permissions.asker import NoAsker
from harness.events import Effort
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from harness.session import Opening, Session, open_session
from harness.ui.app.activity import status_of
from harness.ui.commands.commands import run_command, works_any_time
from harness.ui.commands.results import ShowText
from harness.ui.panel.fold import PanelFold
from tests.agent.stage import played, says, settings_of
from tests.ui.commands.shown import shown_by

pytestmark = pytest.mark.anyio

OPUS, HAIKU, OLDER = "claude-opus-5-5", "claude-haiku-4-5", "claude-opus-4-6"


def said(line: str, session: Session) -> str:
    answer = run_command(line, session)
    assert isinstance(answer, ShowText)
    return answer.text


def facts(session: Session) -> tuple[str, ...]:
    panel = PanelFold().now
    return status_of(session, panel, running=False, past=False, warning="").facts


def sent(server: PracticeServer) -> list[object]:
    posts = [post.body for post in server.requests if post.path == "/v1/messages"]
    return [body.get("output_config", {}).get("effort") for body in posts]


async def test_it_shows_and_sets_the_effort_and_says_that_the_cache_begins_again(tmp_path: Path) -> None:
    async with PracticeServer(script=Script.parse(says("One.") + says("Two."))) as server:
        loaded = settings_of(tmp_path, server.base_url, model=OPUS)
        async with await open_session(loaded, NoAsker()) as session:
            takes = f"{OPUS} supports low, medium, high, xhigh, max"
            assert said("/effort", session) == f"effort: the model's default; {takes}"
            assert said("/effort low", session) == "effort: low, from the next prompt on"
            assert said("/effort low", session) == "effort: low, unchanged"
            await played(session.run("Is it?"))
            assert said("/effort max", session).endswith("from the next prompt on; this restarts the prompt cache")
            assert "effort       max" in await shown_by("/status", session)
            await played(session.run("And?"))
            assert "max" in facts(session)
            said("/effort default", session)
            assert session.models.effort is None
            assert sent(server) == ["low", "max"]
    assert works_any_time("/effort")


@pytest.mark.parametrize(
    ("model", "line", "told"),
    [
        (OPUS, "/effort huge", "'huge' is not an effort level; type /effort low, medium, high, xhigh, max or default"),
        (OPUS, "/effort High", "'High' is not an effort level"),
        (HAIKU, "/effort high", "claude-haiku-4-5 does not support effort"),
        (
            OLDER,
            "/effort xhigh",
            "claude-opus-4-6 does not support the effort xhigh; it supports low, medium, high, max",
        ),
    ],
)
async def test_what_cannot_be_asked_for_is_refused_and_changes_nothing(
    tmp_path: Path, model: str, line: str, told: str
) -> None:
    async with (
        PracticeServer(script=Script.parse(says("One."))) as server,
        await open_session(settings_of(tmp_path, server.base_url, model=model), NoAsker()) as session,
    ):
        with pytest.raises(HarnessError, match=told):
            run_command(line, session)
        assert session.models.effort is None


async def test_a_model_that_does_not_take_the_effort_has_none_in_the_status_line(tmp_path: Path) -> None:
    async with PracticeServer(script=Script.parse(says("One."))) as server:
        loaded = settings_of(tmp_path, server.base_url, model=OPUS, effort="high")
        async with await open_session(loaded, NoAsker()) as session:
            assert "high" in facts(session)
            session.models.select(HAIKU)
            assert "high" not in facts(session)
            assert said("/effort", session) == f"effort: high; {HAIKU} supports no effort levels"


async def test_a_session_continues_with_its_effort_unless_another_is_asked_for(tmp_path: Path) -> None:
    async with PracticeServer(script=Script.parse(says("One.", times="'forever'"))) as server:

        async def effort_of(set_to: str, opening: Opening | None = None, **values: object) -> Effort | None:
            loaded = settings_of(tmp_path, server.base_url, model=OPUS, **values)
            async with await open_session(loaded, NoAsker(), opening) as session:
                await played(session.run("Is it?"))
                found = session.models.effort
                if set_to:
                    said(f"/effort {set_to}", session)
            return found

        last = Opening("latest")
        assert await effort_of("", effort="high") is Effort.HIGH
        assert await effort_of("low", last) is Effort.HIGH
        assert await effort_of("default", last) is Effort.LOW
        assert await effort_of("max", last) is None
        assert await effort_of("", last, effort="medium") is Effort.MEDIUM
        assert await effort_of("", last) is Effort.MEDIUM
        assert sent(server) == ["high", "high", "low", None, "medium", "medium"]
