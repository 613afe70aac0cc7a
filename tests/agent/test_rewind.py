"""A conversation goes on before an earlier prompt."""

from pathlib import Path

import pytest

from harness.base.errors import HarnessError
from harness.events import Event, HistoryReplaced, StepStarted
from harness.journal import RewindPoint, read
from harness.practice.requests import messages as messages_of
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from harness.session import NoAsker, Opening, Session, open_session
from harness.ui.markdown_page import export
from tests.agent.stage import calls, check_requests, played, run, says, settings_of, stage, summarises

pytestmark = pytest.mark.anyio

SCRIPT = calls(run("once")) + says("One.") + says("Two.") + says("Other.") + says("Last.")


def prints(characters: int) -> str:
    """A call whose result is that long."""
    return f'{{ name = "bash", input = {{ command = "yes word | head -c {characters}" }} }}'


def typed(session: Session) -> list[tuple[int, str]]:
    return [(point.turn, point.prompt) for point in session.conversation.rewind_points]


async def test_the_next_request_knows_nothing_of_what_was_cut(tmp_path: Path) -> None:
    async with PracticeServer(script=Script.parse(SCRIPT)) as server:
        loaded = settings_of(tmp_path, server.base_url)
        async with await open_session(loaded, NoAsker()) as session:
            await played(session.run("first"))
            await played(session.run("second"))
            assert typed(session) == [(1, "first"), (2, "second")]
            assert session.rewind.to_turn(2) == "second"
            assert typed(session) == [(1, "first")]
            turn = await played(session.run("another"))
            assert (turn.end.turn, turn.end.answer) == (3, "Other.")
            export(session, tmp_path / "page.md", "markdown")
            (listed,) = session.sessions()
            assert listed.title == "first"
        async with await open_session(loaded, NoAsker(), Opening(session.id)) as session:
            assert typed(session) == [(1, "first"), (3, "another")]
            assert session.rewind.to_turn(1) == "first"
            turn = await played(session.run("anew"))
            assert (turn.end.turn, turn.end.answer) == (4, "Last.")
        asked = [" ".join(message.text for message in messages_of(post.body)) for post in server.requests]
        check_requests(server.requests)
    assert "second" not in asked[3]
    assert "first" in asked[3]
    assert asked[4].endswith("anew")
    assert "another" not in asked[4]
    assert "history replaced: rewind" in (tmp_path / "page.md").read_text()
    cuts = [r.event for r in read(session.path).records if isinstance(r.event, HistoryReplaced)]
    assert [cut.reason for cut in cuts] == ["rewind", "rewind"]


async def test_a_turn_that_runs_or_is_unknown_cannot_be_cut(tmp_path: Path) -> None:
    refused = []
    async with stage(tmp_path, says("One.")) as here:

        def try_to_rewind(event: Event) -> None:
            if isinstance(event, StepStarted):
                with pytest.raises(HarnessError, match="A turn is running") as caught:
                    here.agent.parts.rewind.to_turn(1)
                refused.append(caught.value)

        await here.turn(on_event=try_to_rewind)
        with pytest.raises(HarnessError, match="no way back to turn 2"):
            here.agent.parts.rewind.to_turn(2)
    assert len(refused) == 1


async def test_there_is_no_way_back_before_a_summary_or_a_clear(tmp_path: Path) -> None:
    script = calls(prints(9_000)) * 3 + says("One.") + says("Two.") + says("Three.") + summarises()
    async with stage(tmp_path, script) as here:
        for prompt in ("first", "second", "third"):
            await here.turn(prompt)
        points = here.agent.conversation.rewind_points
        assert [point.turn for point in points] == [1, 2, 3]
        assert points[0] == RewindPoint(1, "first", 0)
        compacted = await here.compact()
        assert compacted.of(HistoryReplaced)
        assert here.agent.conversation.rewind_points == ()
        here.agent.parts.user_commands.clear()
        assert here.agent.conversation.rewind_points == ()
