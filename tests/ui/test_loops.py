"""An agent that goes in circles: what the command without a screen says of it, to a person and to a program."""

import json

import pytest

from harness.practice.script import Script
from harness.practice.server import PracticeServer
from tests.ui.program import Place, run

pytestmark = pytest.mark.anyio

LOOKS = '[[reply]]\ntools = [ { name = "read_file", input = { path = "notes.md" } } ]\ntimes = "forever"\n'


def circling() -> PracticeServer:
    """A model that reads the same file for ever."""
    return PracticeServer(script=Script.parse(LOOKS))


async def test_a_loop_ends_the_headless_command_with_its_report(place: Place) -> None:
    async with circling() as server:
        ended = await run(Place(place.folder, server.base_url), "-p", "What do the notes say?", "--yolo")
    assert (ended.code, ended.out) == (3, "")
    for part in (
        "⟳ in circles: read_file notes.md, 4 times in a row, with the same result each time",
        "↳ nudge: the model was told that it repeats itself",
        "IN A LOOP: read_file notes.md",
        "What was tried",
        "What you can do",
        "(loop_stopped)",
    ):
        assert part in ended.err


async def test_a_program_that_reads_json_gets_every_step_and_the_report(place: Place) -> None:
    async with circling() as server:
        served = Place(place.folder, server.base_url)
        ended = await run(served, "-p", "Notes?", "--yolo", "--output-format", "stream-json")
    lines = [json.loads(line) for line in ended.out.splitlines()]
    (report,) = (line for line in lines if line["type"] == "stuck_reported")
    rungs = [line["rung"] for line in lines if line["type"] == "intervened"]
    assert rungs == [attempt["rung"] for attempt in report["tried"]]
    assert (rungs[0], rungs[-1]) == ("nudge", "stop")
    assert report["loop"]["summary"] == "read_file notes.md"
    assert (lines[-1]["subtype"], lines[-1]["transition"]) == ("error_loop", "loop_stopped")
