"""Esc in every phase of a turn, on a real screen: the prompt works again soon, and nothing runs on."""

import signal
import time
from contextlib import suppress
from pathlib import Path

import psutil
import pytest

from tests.ui.fired_job import fired_job, is_kept
from tests.ui.program import Place
from tests.ui.terminals import REASON, TMUX, Tmux

pytestmark = [pytest.mark.anyio, pytest.mark.stories, pytest.mark.skipif(TMUX is None, reason=REASON)]

SOON_S = 20.0
"""Seconds from Esc until the prompt accepts input again. A tool has three to obey, a quiet machine needs a tenth; the
command and the wait that it ends here take over a minute."""
PHASES = """
[[reply]]
text = "I look first."
tools = [{ name = "bash", input = { command = "touch ran.txt" } }]

[[reply]]
tools = [{ name = "bash", input = { command = "touch asked.txt; (sleep 71.25 & sleep 71.5)" } }]

[[reply]]
status = 429
headers = { retry-after = "100" }

[[reply]]
text = "Word by word by word by word, and so on for a long time."
chunk = 5
event_delay = 0.4

[[reply]]
when = { purpose = "summary" }
text = "<summary>Everything that was said so far, told slowly and with many words.</summary>"
chunk = 4
event_delay = 0.4

[[reply]]
text = "Here I am."
"""


def commands_in(folder: Path) -> list[str]:
    """Command lines of the processes in a folder."""
    lines = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if Path(process.cwd()).is_relative_to(folder):
                lines.append(" ".join(process.cmdline()))
    return lines


async def escape(terminal: Tmux, *shown: str) -> str:
    """Press Esc, and see the prompt and this soon after it."""
    began = time.monotonic()
    await terminal.press("Escape")
    screen = await terminal.sees("· ready", "interrupted; partial results are kept", *shown, gone=("Esc stop",))
    assert time.monotonic() - began < SOON_S
    await terminal.press("C-l")
    return screen


async def test_escape_in_every_phase(place: Place) -> None:
    script = place.folder.parent / "script.toml"
    script.write_text(PHASES)
    async with Tmux(place, "--practice", str(script)) as terminal:
        await terminal.sees("asks first")
        await terminal.say("one, please")
        await terminal.sees("may bash run?", "y  yes, once")
        screen = await escape(terminal, "▸")
        assert "I look first." in screen
        assert "yes, once" not in screen
        await terminal.say("/clear")

        await terminal.say("two, please")
        await terminal.asks("▌ two, please", "sleep 71.25", "may bash run?")
        await terminal.press("y")
        await terminal.sees("◍ bash touch asked.txt; (sleep", "running bash")
        await terminal.say("what I typed meanwhile")
        await terminal.sees("joins after touch asked.txt")
        assert any("sleep 71.25" in line for line in commands_in(place.folder))
        screen = await escape(terminal, "○ bash touch asked.txt; (sleep", "▸ what I typed meanwhile")
        assert "▌ what I typed meanwhile" not in screen
        await terminal.press("C-c")
        await terminal.say("/clear")

        await terminal.say("three, please")
        await terminal.sees("▌ three, please", "asks for a wait of 100 s", "w  wait 100 s")
        await escape(terminal)
        await terminal.say("/clear")

        await terminal.say("four, please")
        await terminal.sees("▌ four, please", "Word by")
        assert "Word by" in await escape(terminal)

        await terminal.say("/compact")
        await terminal.sees("compact", "Esc stop")
        await terminal.press("Escape")
        await terminal.sees("· ready", gone=("Esc stop",))

        await terminal.say("five, please")
        await terminal.sees("▌ five, please", "Here I am.")
    assert not any("sleep 71." in line for line in commands_in(place.folder))
    assert not (place.folder / "ran.txt").exists()


@pytest.mark.parametrize("end", ["Escape", "C-q", signal.SIGTERM, signal.SIGHUP])
async def test_a_scheduled_prompt_fires_again_when_the_program_ended_in_its_turn(
    place: Place, end: str | signal.Signals
) -> None:
    await fired_job(place)
    script = place.folder.parent / "script.toml"
    script.write_text('[[reply]]\ntext = "I look at the log, word by word."\nchunk = 5\nevent_delay = 0.4\n')
    async with Tmux(place, "--practice", str(script)) as terminal:
        await terminal.sees("I look")
        if isinstance(end, str):
            await terminal.press(end)
            if end == "C-q":
                await terminal.sees("Ctrl+D again")
                await terminal.press(end)
        else:
            await terminal.send(end)
        if end == "Escape":
            await terminal.sees("interrupted")
            await terminal.press("C-q")
        await terminal.sees("exit code")
    assert is_kept(place) == (end != "Escape")
