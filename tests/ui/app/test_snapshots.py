"""Every situation at three sizes, as the screen shows it, compared with files character by character.

With HARNESS_TEST_WRITE_SNAPSHOTS=1 the files are written instead; look at what changed in them.
"""

import os
import time
from collections.abc import AsyncGenerator, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from textual.app import App
from textual.pilot import Pilot

from harness.journal.follow import CaughtUp, FollowItem
from harness.session import Record
from harness.ui.app.snapshot import SnapshotApp
from harness.ui.app.watch import WatchApp
from tests.ui.app.screens import coloured, settled
from tests.ui.app.stories import NAME, STORIES, recorded

pytestmark = pytest.mark.anyio
FOLDER = Path(__file__).parent / "snapshots"
SIZES = ((120, 36), (80, 24), (60, 20))


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
    assert seen.splitlines() == file.read_text("utf-8").splitlines(), file.name


async def compare_at_each(sizes: Sequence[tuple[int, int]], name: str, app: App[Any], pilot: Pilot[Any]) -> None:
    """An app looks the same at a size whether it began at it or was brought to it."""
    for columns, rows in sizes:
        if app.size != (columns, rows):
            await pilot.resize_terminal(columns, rows)
        compare(f"{name}-{columns}x{rows}", await settled(pilot), coloured(app))


def sizes_from(number: int) -> Sequence[tuple[int, int]]:
    """All sizes; which one is the first changes from one situation to the next."""
    return *SIZES[number % len(SIZES) :], *SIZES[: number % len(SIZES)]


@pytest.mark.parametrize(("number", "situation"), enumerate(STORIES), ids=STORIES)
async def test_a_situation_looks_as_it_did(number: int, situation: str) -> None:
    app = SnapshotApp(STORIES[situation], NAME, theme="", panel_only=False)
    sizes = sizes_from(number)
    async with app.run_test(size=sizes[0]) as pilot:
        await compare_at_each(sizes, situation, app, pilot)


async def followed(records: Sequence[Record]) -> AsyncGenerator[FollowItem, None]:
    """A journal without a writer."""
    for record in records:
        yield record
    yield CaughtUp(None)


async def test_a_step_of_the_past_looks_as_it_did() -> None:
    app = WatchApp(NAME, followed(recorded("network-gone", until_step=99)))
    async with app.run_test(size=SIZES[0]) as pilot:
        await settled(pilot)
        await pilot.press(*["left"] * 6)
        await compare_at_each(SIZES, "past", app, pilot)
