"""A mouse selection stays in the column where the drag began."""

from pathlib import Path

import pytest

from tests.agent.stage import says
from tests.ui.app.screens import settled
from tests.ui.app.test_conversation import Here, opened

pytestmark = pytest.mark.anyio
TEXT = says("First line of text.\n\nSecond paragraph.\n\n- a\n- b")
SAID = "▌ first\nFirst line of text.\n\nSecond paragraph.\n\n• a\n• b"
PANEL = ("model", "context", "closed", "budget")


async def dragged(here: Here, begin: tuple[int, int], end: tuple[int, int]) -> str:
    """Drag the mouse from one cell to another in a few steps; return the selected text."""
    await here.pilot.mouse_down(offset=begin)
    for step in range(1, 7):
        x, y = (a + (b - a) * step // 6 for a, b in zip(begin, end, strict=True))
        await here.pilot.hover(offset=(x, y))
    await here.pilot.mouse_up(offset=end)
    await here.pilot.pause()
    selected = here.app.screen.get_selected_text() or ""
    here.app.screen.clear_selection()
    return selected


@pytest.mark.stories
async def test_a_selection_stays_in_the_column_where_it_began(tmp_path: Path) -> None:
    async with opened(tmp_path, TEXT) as here:
        await here.says("first")
        await here.sees("• b")
        await here.rests()
        rows = await settled(here.pilot)
        row = {text: next(number for number, seen in enumerate(rows) if text in seen) for text in ("first", "• b")}
        top, bottom = row["first"], row["• b"]
        for blank in ((20, top + 1), (80, top + 1)):
            assert await dragged(here, (1, top), blank) == "▌ first"
        for below in ((20, bottom + 9), (90, bottom + 9), (90, 39)):
            selected = await dragged(here, (1, top), below)
            assert selected.startswith(SAID)
            assert not any(word in selected for word in PANEL), selected
        for begin, end in (((80, 0), (20, 9)), ((80, 0), (20, top + 1)), ((80, 0), (20, 35)), ((80, 20), (85, 0))):
            selected = await dragged(here, begin, end)
            assert "ready" in selected
            assert not any(line in selected for line in SAID.splitlines() if line), selected
        upwards = await dragged(here, (4, bottom), (90, top + 1))
        assert "Second paragraph." in upwards
        assert not any(word in upwards for word in PANEL), upwards
