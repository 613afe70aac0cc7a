"""An agent that goes in circles: what the command without a screen says of it, to a person and to a program."""

import io
import json
import logging
from pathlib import Path

import pytest

from harness.practice.script import Script
from harness.practice.server import PracticeServer
from harness.session import Opening
from harness.ui.plain.headless import OutputFormat, headless
from tests.agent.stage import settings_of

pytestmark = pytest.mark.anyio

LOOKS = '[[reply]]\ntools = [ { name = "read_file", input = { path = "notes.md" } } ]\ntimes = "forever"\n'


async def ended(folder: Path, form: OutputFormat) -> tuple[int, str, str]:
    """Exit code, output and errors of a prompt to a model that reads the same file endlessly."""
    out, err = io.StringIO(), io.StringIO()
    async with PracticeServer(script=Script.parse(LOOKS)) as server:
        loaded = settings_of(folder, server.base_url)
        (loaded.settings.workspace / "notes.md").write_text("# Notes\n")
        log = logging.getLogger("test")
        code = await headless(loaded, "Notes?", Opening(), form, out, err, reread=lambda: loaded.settings, log=log)
    return code, out.getvalue(), err.getvalue()


async def test_a_loop_ends_the_headless_command_with_its_report(tmp_path: Path) -> None:
    code, out, err = await ended(tmp_path, OutputFormat.TEXT)
    assert (code, out) == (3, "")
    for part in (
        "⟳ loop: read_file notes.md, 4 times in a row, with the same result each time",
        "↳ nudge: the model was notified that it repeats itself",
        "IN A LOOP: read_file notes.md",
        "Interventions",
        "What you can do",
        "(loop_stopped)",
    ):
        assert part in err


async def test_a_program_that_reads_json_gets_every_step_and_the_report(tmp_path: Path) -> None:
    _, out, _ = await ended(tmp_path, OutputFormat.STREAM_JSON)
    lines = [json.loads(line) for line in out.splitlines()]
    (report,) = (line for line in lines if line["type"] == "stuck_reported")
    rungs = [line["rung"] for line in lines if line["type"] == "intervened"]
    assert rungs == [attempt["rung"] for attempt in report["tried"]]
    assert (rungs[0], rungs[-1]) == ("nudge", "stop")
    assert report["loop"]["summary"] == "read_file notes.md"
    assert (lines[-1]["subtype"], lines[-1]["transition"]) == ("error_loop", "loop_stopped")
