"""The real app on a stalling machine: the answer is on the screen soon after the stall ends."""

import asyncio
import random
import signal
import time
from pathlib import Path

import pytest

from tests.ui.processes import until
from tests.ui.program import ROOT, Place
from tests.ui.terminals import REASON, TMUX, Tmux

pytestmark = [pytest.mark.anyio, pytest.mark.stories, pytest.mark.skipif(TMUX is None, reason=REASON)]

STALLS = Path(__file__).parent / "stalls"
CALM_S = 20.0
"""Seconds allowed for drawing everything after the last stall."""
PROMPTS = 4
ANSWERS = "".join(f'[[reply]]\ntext = "Answer number {number}."\n' for number in range(1, PROMPTS + 1))


@pytest.mark.parametrize("seed", range(3))
async def test_the_last_answer_is_on_the_screen_when_the_stalls_end(place: Place, seed: int) -> None:
    dice = random.Random(seed)
    script, storm = place.folder.parent / "script.toml", place.folder.parent / "storm"
    script.write_text(ANSWERS)

    def journal() -> str:
        return "".join(file.read_text() for file in place.state.rglob("*.jsonl"))

    def all_answered() -> bool:
        """A prompt that comes during a turn joins it, so that there may be fewer turns and answers than prompts."""
        kept = journal()
        return f"prompt {PROMPTS - 1}" in kept and kept.count('"turn_started"') == kept.count('"turn_ended"')

    async def slices() -> None:
        while True:
            await asyncio.sleep(dice.uniform(0, 0.6))
            await terminal.send(signal.SIGSTOP)
            await asyncio.sleep(dice.uniform(0.005, 0.5))
            await terminal.send(signal.SIGCONT)

    terminal = Tmux(
        place,
        *("--practice", str(script)),
        PYTHONPATH=f"{STALLS}:{ROOT}",
        STALLS=f"{seed}:{storm}",
    )
    async with terminal:
        await terminal.sees("asks first")
        storm.touch()
        slicing = asyncio.create_task(slices())
        for number in range(PROMPTS):
            await terminal.say(f"prompt {number}")
            await asyncio.sleep(dice.uniform(0, 1.5))
        await until(all_answered, 60)
        slicing.cancel()
        await asyncio.gather(slicing, return_exceptions=True)
        await terminal.send(signal.SIGCONT)
        storm.unlink()
        answers = journal().count('"reply_received"')
        calm_at = time.monotonic()
        await terminal.sees(f"Answer number {answers}.")
        assert time.monotonic() - calm_at < CALM_S
        await terminal.say("/exit")
        await terminal.sees("exit code 0")
