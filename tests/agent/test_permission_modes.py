"""A person changes what may happen without a question, also in the middle of a turn."""

from pathlib import Path

import pytest

from harness.base.errors import HarnessError
from harness.events import Event, SettingChanged, ToolEnded, ToolOutcome
from harness.journal import read
from harness.permissions import Mode
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from harness.session import NoAsker, Opening, open_session
from tests.agent.stage import calls, played, run, says, settings_of, stage

pytestmark = pytest.mark.anyio

WRITE = '{ name = "write_file", input = { path = "made.txt", content = "made" } }'


async def test_files_are_written_without_a_question_and_programs_are_not_run(tmp_path: Path) -> None:
    script = calls(WRITE, run("never")) + says("Done.")
    async with stage(tmp_path, script, permission_mode="edits") as here:
        turn = await here.turn()
    assert [ended.outcome for ended in turn.of(ToolEnded)] == [ToolOutcome.OK, ToolOutcome.DENIED]
    assert (here.workspace / "made.txt").read_text() == "made"
    assert not here.ran()


async def test_a_mode_set_in_the_middle_of_a_turn_holds_for_the_next_call(tmp_path: Path) -> None:
    script = calls(run("first")) + calls(run("second")) + says("Done.")
    async with stage(tmp_path, script) as here:

        def read_only_after_the_first(event: Event) -> None:
            if isinstance(event, ToolEnded) and event.outcome is ToolOutcome.OK:
                here.agent.parts.shared.rules.set_mode(Mode.DENY)

        turn = await here.turn(on_event=read_only_after_the_first)
    assert here.ran() == {"first": 1}
    assert turn.of(SettingChanged) == [SettingChanged("permission_mode", "deny")]
    assert "this session is read-only" in str(turn.results[1]["content"])


async def test_a_session_that_goes_on_has_the_mode_of_its_settings_and_says_so(tmp_path: Path) -> None:
    async with PracticeServer(script=Script.parse(says("Hello.", times='"forever"'))) as server:
        loaded = settings_of(tmp_path, server.base_url, permission_mode="ask")
        async with await open_session(loaded, NoAsker()) as session:
            await played(session.run("Hello"))
            session.permissions.set_mode("yolo")
            assert session.permissions.mode == "yolo"
            with pytest.raises(HarnessError, match="no permission mode read; there are ask, edits, yolo, deny"):
                session.permissions.set_mode("read")
        async with await open_session(loaded, NoAsker(), Opening(session.id)) as session:
            assert session.permissions.mode == "ask"
        changes = [record.event for record in read(session.path).records if isinstance(record.event, SettingChanged)]
        assert [change.value for change in changes] == ["yolo", "ask"]
