"""The screen at some moments of the course in common sizes, compared with files character by character.

With HARNESS_TEST_WRITE_SNAPSHOTS=1 the files are written instead; look at what changed in them.
"""

import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from chapters.course import Language
from tests.chapters.course.plain.chapter import small
from tests.chapters.course.screen.opened import opened, played, press
from tests.ui.app.screens import coloured

pytestmark = pytest.mark.anyio
FOLDER = Path(__file__).parent / "snapshots"
SIZES = ((120, 40), (80, 24), (60, 20))


@dataclass(frozen=True)
class Moment:
    """Keys from the beginning of a chapter on."""

    keys: tuple[str, ...]
    language: Language = "en"
    sizes: tuple[tuple[int, int], ...] = SIZES


MOMENTS = {
    "beginning": Moment(()),
    "step": Moment(("n", "n", "n")),
    "live": Moment(("n", "n", "n", "n"), "ja", SIZES[1:]),  # where there is room the demo is shown, which may change
}


@pytest.fixture(autouse=True)
def in_utc(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Moments are shown in local time."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


@pytest.mark.parametrize("name", MOMENTS)
async def test_a_moment_looks_as_it_did(name: str, tmp_path: Path) -> None:
    moment = MOMENTS[name]
    async with opened(small(tmp_path), tmp_path, language=moment.language) as (app, pilot):
        await played(app, pilot)
        await press(pilot, *moment.keys)
        for columns, rows in moment.sizes:
            await pilot.resize_terminal(columns, rows)
            screen = await press(pilot)
            steady = re.sub(r"\b\d\.\d s", "0.0 s", screen)  # how long a command took
            seen = "\n".join((*steady.splitlines(), "── colours " + "─" * 20, *coloured(app))) + "\n"
            file = FOLDER / f"{name}-{columns}x{rows}.txt"
            if os.environ.get("HARNESS_TEST_WRITE_SNAPSHOTS"):
                FOLDER.mkdir(exist_ok=True)
                file.write_text(seen, "utf-8")
            assert seen.splitlines() == file.read_text("utf-8").splitlines()
