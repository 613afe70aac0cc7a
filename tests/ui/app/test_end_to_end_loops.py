"""An agent that goes in circles, on a real screen: interventions, question and report."""

import pytest

from tests.ui.program import Place
from tests.ui.terminals import REASON, TMUX, Tmux

pytestmark = [pytest.mark.anyio, pytest.mark.stories, pytest.mark.skipif(TMUX is None, reason=REASON)]

SCRIPT = """
after = "error"

[[reply]]
tools = [{ name = "read_file", input = { path = "notes.md" } }]
times = "forever"
"""


async def test_a_user_is_asked_about_a_loop_lets_it_continue_and_stops_it_when_it_has_doubled(place: Place) -> None:
    script = place.folder.parent / "script.toml"
    script.write_text(SCRIPT)
    async with Tmux(place, "--practice", str(script)) as terminal:
        await terminal.sees("asks first")
        await terminal.say("read the notes")
        await terminal.asks(
            "The agent is in a loop: read_file notes.md, 7 times",
            "⟳ loop: read_file notes.md, 4 times in a row",
            "↳ nudge:",
            "↩ rolled back to the end of step 1",
            "a loop was found; what now?",
            "loop    read_file notes.md, 7",
        )
        await terminal.press("c")
        await terminal.asks("The agent is in a loop: read_file notes.md, 14 times", "· you let it continue")
        await terminal.press("s")
        await terminal.sees(
            "IN A LOOP: read_file notes.md, 14 times in a row",
            "What you can do",
            "stopped in a loop",
            gone=("The agent is in a loop",),
        )
        await terminal.say("/checklist")
        await terminal.sees("There is no checklist.", "loop    read_file")
