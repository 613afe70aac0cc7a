"""A model that asks for the same forever, and work that only looks like it: what the command makes of both.

Two rows of the fault table are played to the real command, and two in this process.
"""

import io
import logging
from pathlib import Path

import pytest

from benchmarks.faults import Played, play
from chapters.course.exam.rows import ROWS, FaultRow
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from harness.session import Opening
from harness.ui.plain.headless import OutputFormat, headless
from tests.agent.stage import settings_of

pytestmark = pytest.mark.anyio


def row(name: str) -> FaultRow:
    return next(row for row in ROWS if row.name == name)


async def here(row: FaultRow, folder: Path) -> Played:
    """Run a row through the front end in this process."""
    out, err = io.StringIO(), io.StringIO()
    async with PracticeServer(script=Script.parse(row.script, row.name)) as server:
        loaded = settings_of(folder, server.base_url)
        log = logging.getLogger("test")
        code = await headless(
            loaded,
            "What does the note hold?",
            Opening(),
            OutputFormat.TEXT,
            out,
            err,
            reread=lambda: loaded.settings,
            log=log,
        )
        requests = sum(request.path.endswith("/messages") for request in server.requests)
    rounds = (loaded.settings.workspace / "rounds.txt").read_text().count("ran")
    return Played(row, requests, 0.0, code, out.getvalue(), err.getvalue(), rounds)


@pytest.mark.stories
async def test_the_command_ends_a_model_that_asks_for_the_same_call_endlessly() -> None:
    """Here `harness -p` is started cold, and reaches a model and its tools."""
    played = await play(row("the model asks for the same call forever"))
    assert (played.misses, played.exit_code, played.requests) == ([], 3, 7)
    assert "IN A LOOP: bash ls" in played.stderr


@pytest.mark.stories
async def test_the_command_lets_fifty_polls_pass() -> None:
    played = await play(row("the same call 50 times, news each time"))
    assert (played.misses, played.exit_code, played.requests) == ([], 0, 51)


async def test_a_call_that_always_fails_ends_with_a_report(tmp_path: Path) -> None:
    played = await here(row("the same call fails forever"), tmp_path)
    assert (played.misses, played.exit_code, played.requests) == ([], 3, 7)
    assert "see why bash fails" in played.stderr


@pytest.mark.stories
async def test_fifty_pages_pass_untouched(tmp_path: Path) -> None:
    played = await here(row("50 pages, one call each"), tmp_path)
    assert (played.misses, played.exit_code, played.requests) == ([], 0, 51)
