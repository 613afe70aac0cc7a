"""Failing tools on a real screen: the panel, step by step, and the end of a pause."""

import pytest

from tests.ui.program import Place
from tests.ui.terminals import REASON, TMUX, Tmux

pytestmark = [pytest.mark.anyio, pytest.mark.stories, pytest.mark.skipif(TMUX is None, reason=REASON)]

CALLS = """
after = "error"

[[reply]]
tools = [{ name = "grep", input = { pattern = "TODO" } }]
times = 4

[[reply]]
text = "That is all I could find."

[[reply]]
tools = [{ name = "grep", input = { pattern = "First" } }]
times = 4

[[reply]]
text = "This time I found it."

[[reply]]
tools = [{ name = "bash", input = { command = "sleep 1; touch ran.txt" } }]

[[reply]]
tools = [{ name = "bash", input = { command = "touch more.txt" } }]

[[reply]]
text = "Both have run."
"""
FAULTS = """
[[fault]]
tool = "grep"
kind = "transport"
message = "the index is away"
last = 6
"""


async def test_a_storm_of_failures_pauses_and_continues_as_the_user_says(place: Place) -> None:
    script, faults = place.folder.parent / "script.toml", place.folder.parent / "faults.toml"
    script.write_text(CALLS)
    faults.write_text(FAULTS)
    flags = ("--practice", str(script), "--tool-faults", str(faults))
    async with Tmux(place, *flags, HARNESS_FAILURE_BUDGET="3") as terminal:
        await terminal.sees("asks first")
        await terminal.say("find it")
        await terminal.asks(
            "Paused:", "c  continue with a fresh failure budget", "3 of 3 · used up", "paused     3", "✗ ✗ ‖"
        )
        await terminal.press("F3")
        await terminal.sees("last ok", "the turn is paused", "F3 back")
        await terminal.press("Left")
        await terminal.sees("◂ step", "an earlier step")
        await terminal.press("End", "F3")
        await terminal.asks("r  reset grep and continue", gone=("last ok",))
        await terminal.press("c")
        await terminal.sees("grep skipped → bash: rg", "That is all I could find.", gone=("Paused", "· used up"))
        await terminal.press("Left", "Left")
        await terminal.sees("◂ step 4", "Esc back to now")
        await terminal.press("Right", "Right")
        await terminal.sees("F2 panel", gone=("◂ step",))

        await terminal.say("/reset grep")
        await terminal.sees("grep is reset.", "all work")
        await terminal.say("again")
        await terminal.asks("Paused:", "r  reset grep and continue")
        await terminal.press("Down", "Enter")
        await terminal.sees("This time I found it.", "● grep", "all work", gone=("Paused:",))
        await terminal.press("F2")
        await terminal.sees("This time I found it.", gone=("all work",))
        await terminal.press("F2")
        await terminal.sees("all work")

        await terminal.say("run both")
        await terminal.asks("touch ran.txt", "y  yes, once")
        await terminal.press("y", "F3")  # the next question comes while the panel has the whole screen
        await terminal.sees("F3 back", "may bash run?", gone=("running bash",))
        await terminal.press("F3")
        await terminal.asks("touch more.txt", "y  yes, once")
        await terminal.press("y")
        await terminal.sees("Both have run.")
    assert (place.folder / "more.txt").exists()
