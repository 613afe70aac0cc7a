"""`harness shot`: a moment of a session as a picture."""

import html
import re
import shutil
from pathlib import Path

import pytest

from harness.events import BreakerState, ToolEnded
from harness.journal import read, session_folder
from tests.ui.panel.situations import SESSIONS
from tests.ui.program import Finished, Place, run

pytestmark = pytest.mark.anyio
NAME = "20261121-0806-d4eb95"
KEY = "sk-ant-recognisable-key-0123456789"


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A folder with one recorded session."""
    here = Place(tmp_path / "project")
    here.folder.mkdir()
    sessions = session_folder(here.folder.resolve(), here.state)
    sessions.mkdir(parents=True)
    shutil.copy(SESSIONS / "network-gone.jsonl", sessions / f"{NAME}.jsonl")
    return here


def words(file: Path) -> str:
    """The texts of the picture, with single spaces."""
    found = re.findall(r"<text[^>]*>(.*?)</text>", file.read_text("utf-8"), re.DOTALL)
    return " ".join(html.unescape(" ".join(found)).replace("\xa0", " ").split())


async def shot(place: Place, *arguments: str) -> Finished:
    return await run(place, "shot", "-o", "shot.svg", *arguments)


async def test_the_latest_session_as_it_is_with_conversation_and_panel(place: Place) -> None:
    assert (await shot(place)).code == 0
    told = words(place.folder / "shot.svg")
    assert "The file server was away for a few steps" in told
    assert NAME in told
    assert "1 of 5" in told


async def test_a_step_is_shown_as_it_was_at_its_end(place: Place) -> None:
    assert (await shot(place, NAME, "--at", "3", "--panel")).code == 0
    told = words(place.folder / "shot.svg")
    assert "paused" in told
    assert "the network" in told
    assert "I look around." not in told


async def test_a_record_is_the_last_one_that_counts(place: Place) -> None:
    records = read(SESSIONS / "network-gone.jsonl").records
    opened = next(at for at, one in enumerate(records) if getattr(one.event, "after", None) is BreakerState.OPEN)
    begins = max(one.seq for one in records[:opened] if isinstance(one.event, ToolEnded))
    """The call that fails for the third time opens the breaker."""
    assert (await shot(place, NAME, "--seq", str(begins - 1), "--panel")).code == 0
    before = words(place.folder / "shot.svg")
    assert (await shot(place, NAME, "--seq", str(begins), "--panel")).code == 0
    assert "paused" not in before
    assert "paused" in words(place.folder / "shot.svg")


@pytest.mark.stories
async def test_size_and_theme_can_be_chosen(place: Place) -> None:
    assert (await shot(place, "--size", "60x20", "--theme", "textual-light")).code == 0
    small = (place.folder / "shot.svg").read_text("utf-8")
    assert (await shot(place, "--size", "140x50")).code == 0
    large = (place.folder / "shot.svg").read_text("utf-8")
    widths = [float(text.split('viewBox="0 0 ')[1].split(" ")[0]) for text in (small, large)]
    assert widths[0] < widths[1]


@pytest.mark.stories
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--at", "99"), "99"),
        (("--seq", "9999"), "9999"),
        (("nosuch",), "nosuch"),
        (("--theme", "textual-drak"), "did you mean"),
        (("--size", "big"), "for example 120x36"),
        (("--size", "9x9"), "for example 120x36"),
        (("-o", "file/shot.svg"), "file/shot.svg"),
    ],
)
async def test_what_cannot_be_done_is_said_in_one_line(place: Place, arguments: tuple[str, ...], said: str) -> None:
    (place.folder / "file").touch()
    ended = await shot(place, *arguments)
    assert ended.code != 0
    assert said in ended.err
    assert len(ended.err.strip().splitlines()) == 1, ended.err
    assert "Traceback" not in ended.err
    assert not (place.folder / "shot.svg").exists()


async def test_keys_are_not_in_the_picture(place: Place) -> None:
    journal = session_folder(place.folder.resolve(), place.state) / f"{NAME}.jsonl"
    text = journal.read_text("utf-8")
    journal.write_text(text.replace("The file server was away", f"The key is{'x' * 9}{KEY} was away"), "utf-8")
    for size in ("120x36", "40x30"):  # in the narrow one it does not fit into the rest of its line
        ended = await run(place, "shot", "-o", "shot.svg", "--size", size, env={"ANTHROPIC_API_KEY": KEY})
        assert ended.code == 0, ended.err
        told = words(place.folder / "shot.svg")
        assert "was away" in told
        assert KEY[10:20] not in told.replace(" ", "")
        assert KEY[-10:] not in told.replace(" ", "")
