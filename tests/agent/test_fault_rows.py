"""The fault table, played to the library: each row meets its bar with and without thinking, and waits take no time."""

from pathlib import Path
from typing import Any

import pytest

from chapters.course.exam.rows import ROWS, FaultRow
from harness.events import FaultKind, Intervened, LoopFound, RetryScheduled, Rung, StuckReported
from harness.policies.recovery.backoff import floor_s
from harness.policies.recovery.transitions import exit_code
from tests.agent.stage import stage
from tests.whole import stride

pytestmark = pytest.mark.anyio

IMPATIENT = {"watch_headers_s": 0.3, "watch_quiet_bytes_s": 0.4, "watch_content_bytes_s": 0.3, "watch_hint_s": 0.1}


PROFILES = {
    "thinking": ("claude-opus-5-5", '\n[profile]\nthinking = "adaptive"\ntokens = 3_000\n'),
    "not thinking": ("claude-opus-4-8", '\n[profile]\nthinking = "none"\n'),
}
"""A model id, and the behaviour of the server's models."""
PLAYED = [(row, profile) for number, row in enumerate(ROWS) for profile in [*PROFILES][number % stride(2) :: stride(2)]]
"""Alternates between the two from row to row; both for each row with HARNESS_TEST_WHOLE=1."""


@pytest.mark.parametrize(("row", "profile"), PLAYED, ids=[f"{row.name}, {profile}" for row, profile in PLAYED])
async def test_a_row_of_the_fault_table_holds_its_bar(row: FaultRow, profile: str, tmp_path: Path) -> None:
    model, behaviour = PROFILES[profile]
    await play(row, tmp_path, behaviour, model=model)


async def play(row: FaultRow, folder: Path, behaviour: str = "", **settings: Any) -> None:
    """Play a row to the library and compare the result with its bar; `behaviour` ends its script."""
    settings |= IMPATIENT if "stall" in row.name else {}
    match row.arguments:
        case ("--fallback-model", fallback):
            settings["fallback_models"] = (fallback,)
        case _:
            assert row.arguments == ()
    async with stage(folder, row.script + behaviour, **settings) as here:
        turn = await here.turn("what is the answer?")
        fewest, most = row.requests
        assert fewest <= len(here.posts) <= most, turn.codes
        assert turn.end.answer.rstrip() == (row.answer or "").rstrip()
        assert exit_code(turn.end.code) == row.exit_code, turn.end.reason
        assert rounds(here.workspace) == row.rounds
        for retry in turn.of(RetryScheduled):
            floor = floor_s(retry.attempt)
            assert retry.delay_s in here.clock.waits
            assert floor <= retry.delay_s <= 1.25 * floor or retry.category is FaultKind.RATE_LIMIT
        if row.seconds is not None and "stall" not in row.name:
            least, longest = row.seconds
            assert least <= sum(here.clock.waits) <= longest
        assert not row.quiet or (turn.of(LoopFound), turn.of(Intervened)) == ([], [])
        if "repeats itself" in row.stderr:
            (report,) = turn.of(StuckReported)
            assert report.tried[0].rung is Rung.NUDGE


def rounds(workspace: Path) -> int:
    """How often the good tool round's command ran."""
    file = workspace / "rounds.txt"
    return file.read_text().count("ran") if file.exists() else 0
