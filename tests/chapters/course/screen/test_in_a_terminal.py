"""The real command in a real terminal, from the choice of a chapter to the end."""

from pathlib import Path

import pytest

from tests.ui.program import Place
from tests.ui.terminals import REASON, TMUX, Tmux

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(TMUX is None, reason=REASON)]


@pytest.mark.stories
async def test_a_learner_chooses_a_chapter_walks_in_it_and_leaves(tmp_path: Path) -> None:
    folder = tmp_path / "here"
    folder.mkdir()
    async with Tmux(Place(folder), "learn", columns=120, rows=40) as tmux:
        await tmux.sees("Choose a chapter", "s01  new")
        await tmux.press("Enter")
        await tmux.sees("The agent loop · the beginning", "The problem")
        await tmux.press("n")
        await tmux.sees("step 1 of 10", "demo.py:BASH")
        await tmux.resize(80, 24)
        await tmux.sees("▸ conversation", "Tab look   w wire")
        await tmux.press("q")
        await tmux.sees("exit code 0")
        assert not await tmux.alternate()
