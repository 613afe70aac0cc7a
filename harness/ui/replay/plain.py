"""`harness replay` without a screen: a recorded session as lines, in its rhythm."""

import asyncio
import time
from collections.abc import Iterable, Sequence
from typing import TextIO

from harness.journal.follow import Record
from harness.ui.lines.events import seconds
from harness.ui.lines.line import Line
from harness.ui.plain.recorded_lines import RecordedLines
from harness.ui.plain.stop import until_stopped
from harness.ui.plain.watch import tell_how_to_go_on
from harness.ui.replay.player import LONGEST_GAP_S, Player

WORTH_TELLING_S = 10.0
"""Shorter silences are not spoken of when they are shortened; what was waited for tells its own duration."""


def replay_in_lines(
    records: Sequence[Record],
    how_to_go_on: str,
    out: TextIO,
    *,
    speed: float = 1.0,
    step: int | None = None,
    colours: bool = False,
) -> int:
    """Print a recorded session and return the exit code.

    `speed` is that of `Player`; 0 leaves all pauses out. `step` is where to begin. `how_to_go_on` is the command
    that resumes the session; empty when none does. Raises JournalError for a step that there is not, and
    BrokenPipeError when nobody reads `out` any more.
    """
    player = Player(records, speed=speed or 1.0)
    if step is not None:
        player.seek(step, time.monotonic())
    lines = RecordedLines(out, colours=colours)
    rest = records[player.position :]
    try:
        return asyncio.run(until_stopped(_play(player, lines) if speed else _print(rest, lines), out))
    finally:
        tell_how_to_go_on(lines, how_to_go_on)


async def _play(player: Player, lines: RecordedLines) -> None:
    rhythm = f"silences of more than {seconds(LONGEST_GAP_S)} are shortened"
    lines.line(Line("·", f"played at speed {player.speed:g}; {rhythm}. Ctrl-C stops"))
    player.play(time.monotonic())
    told = -1
    while (wait := player.wait_s(time.monotonic())) is not None:
        if player.shortened_s >= WORTH_TELLING_S and told != player.position:
            told = player.position
            lines.line(Line("…", f"{seconds(player.shortened_s)} go by"))
        await asyncio.sleep(wait)
        await _print(player.due(time.monotonic()), lines)


async def _print(records: Iterable[Record], lines: RecordedLines) -> None:
    for record in records:
        lines.show(record.event)
        if lines.gone:
            raise BrokenPipeError
        await asyncio.sleep(0)  # so that Ctrl-C is heard
