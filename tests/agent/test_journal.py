"""The journal of a session: written first, whole, and without keys."""

import json
import os
from itertools import pairwise
from pathlib import Path

import pytest

from harness.events import Event, MessageAdded, RequestSent
from harness.journal import read, replay
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from harness.session import NoAsker, open_session
from harness.ui.markdown_page import export
from tests.agent.stage import KEY, calls, fails, played, run, says, sessions, settings_of, too_long
from tests.ui.nursery import MODULE
from tests.ui.warm import ROOT, Piped

pytestmark = pytest.mark.anyio


async def test_a_full_disk_is_reported_once_and_the_conversation_continues(tmp_path: Path) -> None:
    process = await Piped.begin(ROOT, (str(tmp_path),), os.environ, command=(*MODULE, "tests.agent.full_disk"))
    out, err = await process.communicate()
    assert (process.returncode, err.decode()) == (0, "")
    whole, full, again = map(json.loads, out.splitlines())
    assert [turn["code"] for turn in (whole, full, again)] == ["completed"] * 3
    assert whole["notices"] == []
    [(level, text)] = full["notices"]
    assert level == "error"
    assert whole["path"] in text
    assert [level for level, _ in again["notices"]] == ["info"]
    reading = read(Path(whole["path"]))
    assert reading.skipped == ()
    assert [later.seq - record.seq for record, later in pairwise(reading.records)] == [1] * (len(reading.records) - 1)
    assert len(replay(reading.records).messages) == 6


async def test_what_is_sent_was_written_before(tmp_path: Path) -> None:
    script = calls(run("a")) + calls(run("b")) + says("Done.")
    async with PracticeServer(script=Script.parse(script)) as server:
        async with await open_session(settings_of(tmp_path, server.base_url), NoAsker()) as session:
            sizes: list[int] = []

            def look(event: Event) -> None:
                if isinstance(event, RequestSent | MessageAdded):
                    recorded = [record.event for record in read(session.path).records]
                    assert event in recorded
                    sizes.append(len(recorded))

            await played(session.run("Go."), look)
            assert sizes == sorted(sizes)
            assert len(sizes) == 3 + 6
        sent = json.dumps(server.requests[-1].body["messages"])
        for message in replay(read(session.path).records).messages[:-1]:
            for block in message.content:
                assert json.dumps(block)[:-1] in sent


async def test_a_key_is_in_no_event_and_not_in_the_journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    quoting = f'"the key {KEY} may not do this"'
    script = (
        calls('{ name = "bash", input = { command = "env; echo ran" } }')
        + fails(500, message=quoting)
        + says("Half an", chunk="3", fault=f'{{ kind = "error_event", type = "api_error", message = {quoting} }}')
        + too_long()
        + f'\n[[reply]]\nwhen = {{ purpose = "summary" }}\nstatus = 400\nmessage = {quoting}\n'
        + fails(401, message=quoting)
    )
    async with sessions(tmp_path, script) as here:
        async with await here.open() as session:
            turn = await played(session.run("Show me your environment."))
            assert "ran" in turn.results[0]["content"]
            assert len(here.server.requests) == 6
            assert all(KEY in str(request.headers) for request in here.server.requests)
            assert not any(KEY in str(request.body) for request in here.server.requests)
            assert KEY not in repr(turn.events)
            assert "may not do this" in turn.end.reason
            assert KEY not in repr(session.settings)
            export(session, tmp_path / "export.md", "markdown")
        kept = [path for path in tmp_path.rglob("*") if path.is_file()]
        assert session.path in kept
        assert [path for path in kept if KEY in path.read_text(encoding="utf-8")] == []
