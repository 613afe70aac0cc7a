"""The fault table through an editor: the same verdicts as those of `harness -p`."""

import asyncio

import pytest

from chapters.course.exam.rows import ROWS, FaultRow
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from tests.ui.acp.test_acp import Editor
from tests.ui.lines_of_json import Peer
from tests.ui.program import Place, start

pytestmark = [pytest.mark.anyio, pytest.mark.stories]


@pytest.mark.timeout(180)
@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
async def test_a_fault_has_the_verdict_of_the_table(row: FaultRow, place: Place) -> None:
    async with PracticeServer(script=Script.parse(row.script, row.name)) as standing:
        flags = ("--model", "claude-sonnet-4-6", "--yolo", *row.arguments)
        process = await start(Place(place.folder, standing.base_url), "acp", *flags)
        try:
            one = Editor(place, Peer(process))
            await one.call("initialize", protocolVersion=1)
            one.session = (await one.call("session/new", cwd=str(place.folder), mcpServers=[]))["sessionId"]
            number = one.prompt("What does the note hold?")
            async with asyncio.timeout(150):
                while "method" in (said := await one.agent.until(lambda said: "id" in said, within_s=150)):
                    one.choose(said, said["params"]["options"][-1]["optionId"])  # stop
            assert said["id"] == number
        finally:
            process.kill()
            await process.wait()
    sent = sum(request.path.endswith("/messages") for request in standing.requests)
    rounds = place.folder / "rounds.txt"
    assert (said.get("result") == {"stopReason": "end_turn"}) is (row.exit_code == 0)
    assert row.requests[0] <= sent <= row.requests[1]
    assert (len(rounds.read_text().splitlines()) if rounds.exists() else 0) == row.rounds
    if row.answer is not None:
        assert one.text().endswith(row.answer)
