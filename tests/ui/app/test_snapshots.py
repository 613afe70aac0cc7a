"""Every situation at three sizes, as the screen shows it, compared with files character by character.

With HARNESS_TEST_WRITE_SNAPSHOTS=1 the files are written instead; look at what changed in them.
"""

import os
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from pathlib import Path

import pytest

from harness.following import CaughtUp, Followed
from harness.session import Record
from harness.ui.app.still import Still
from harness.ui.app.watching import WatchApp
from tests.ui.app.screens import coloured, settled
from tests.ui.app.stories import NAME, STORIES, recorded

pytestmark = pytest.mark.anyio
FOLDER = Path(__file__).parent / "snapshots"
SIZES = ((120, 40), (80, 24), (60, 20))


@pytest.fixture(autouse=True)
def in_utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Moments are shown in local time."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def compare(name: str, screen: Sequence[str], colours: Sequence[str]) -> None:
    """The screen is the one in the file of this name, or becomes it."""
    file = FOLDER / f"{name}.txt"
    seen = "\n".join((*screen, "── colours " + "─" * 20, *colours)) + "\n"
    if os.environ.get("HARNESS_TEST_WRITE_SNAPSHOTS"):
        FOLDER.mkdir(exist_ok=True)
        file.write_text(seen, "utf-8")
    assert seen.splitlines() == file.read_text("utf-8").splitlines()


@pytest.mark.parametrize(("columns", "rows"), SIZES)
@pytest.mark.parametrize("situation", STORIES)
async def test_a_situation_looks_as_it_did(situation: str, columns: int, rows: int) -> None:
    app = Still(STORIES[situation], NAME, theme="", panel_only=False)
    async with app.run_test(size=(columns, rows)) as pilot:
        compare(f"{situation}-{columns}x{rows}", await settled(pilot), coloured(app))


async def followed(records: Sequence[Record]) -> AsyncGenerator[Followed, None]:
    """A journal that nobody writes any more."""
    for record in records:
        yield record
    yield CaughtUp(None)


@pytest.mark.parametrize(("columns", "rows"), SIZES)
async def test_a_step_of_the_past_looks_as_it_did(columns: int, rows: int) -> None:
    app = WatchApp(NAME, followed(recorded("network-gone", until_step=99)))
    async with app.run_test(size=(columns, rows)) as pilot:
        await settled(pilot)
        await pilot.press(*["left"] * 6)
        compare(f"past-{columns}x{rows}", await settled(pilot), coloured(app))
