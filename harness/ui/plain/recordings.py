"""`harness watch` and `harness replay` without a screen: a session from its journal, as lines or as JSON."""

import asyncio
import json
import time
from collections.abc import Iterable, Sequence
from contextlib import aclosing, suppress
from pathlib import Path
from typing import TextIO

from harness.events import encode
from harness.journal.follow import CaughtUp, Record, SkippedLine, WriterChanged, follow
from harness.ui.lines.line import Line, Tone, seconds
from harness.ui.plain.printer import RecordedPrinter
from harness.ui.plain.streams import LineWriter, until_stopped
from harness.ui.replay import LONGEST_GAP_S, ReplayPlayer

LONG_SILENCE_S = 10.0
"""A silence from this length on is mentioned when it is shortened."""


def watch_in_lines(path: Path, resume_command: str, out: TextIO, *, colours: bool = False) -> int:
    """Print a session while another process writes it, until a signal comes; returns the exit code.

    `resume_command` may be empty. Raises JournalError for a journal that cannot be followed, and BrokenPipeError if
    the reader of `out` has gone.
    """
    printer = RecordedPrinter(out, colours=colours)
    try:
        return asyncio.run(until_stopped(_follow(path, printer), out))
    finally:
        _print_resume_command(printer, resume_command)


def watch_as_json(path: Path, out: TextIO, err: TextIO) -> int:
    """Print each record of a session as a line of JSON; otherwise like `watch_in_lines`."""
    return asyncio.run(until_stopped(_follow_as_json(path, out, err), out))


def replay_in_lines(
    records: Sequence[Record],
    resume_command: str,
    out: TextIO,
    *,
    speed: float = 1.0,
    step: int | None = None,
    colours: bool = False,
) -> int:
    """Print a recorded session and return the exit code.

    `speed` is that of `ReplayPlayer`; 0 leaves all pauses out. `step` is where to begin. Raises JournalError for a step
    that does not exist, and BrokenPipeError if the reader of `out` has gone.
    """
    player = ReplayPlayer(records, speed=speed or 1.0)
    if step is not None:
        player.seek(step, time.monotonic())
    printer = RecordedPrinter(out, colours=colours)
    rest = records[player.position :]
    try:
        return asyncio.run(until_stopped(_play(player, printer) if speed else _print(rest, printer), out))
    finally:
        _print_resume_command(printer, resume_command)


def _print_resume_command(printer: RecordedPrinter, resume_command: str) -> None:
    if resume_command:
        printer.say(f"resume with: {resume_command}")


async def _follow(path: Path, printer: RecordedPrinter) -> None:
    async with aclosing(follow(path)) as items:
        async for item in items:
            match item:
                case Record(event=event):
                    printer.show(event)
                case SkippedLine():
                    printer.line(Line("!", _skipped(item), Tone.TROUBLE))
                case CaughtUp(writer=writer):
                    now = "no process writes it now" if writer is None else f"process {writer} writes it"
                    printer.line(Line("·", f"end of the record so far; {now}. Ctrl-C stops watching"))
                case WriterChanged(writer=None):
                    printer.line(Line("·", "the session was closed"))
                case WriterChanged(writer=writer):
                    printer.line(Line("·", f"process {writer} continues it"))
            if printer.gone:
                raise BrokenPipeError


async def _follow_as_json(path: Path, out: TextIO, err: TextIO) -> None:
    async with LineWriter(out) as writer, aclosing(follow(path)) as items:
        async for item in items:
            match item:
                case Record(seq, at, event):
                    writer.write(json.dumps({"seq": seq, "at": at, **encode(event)}))
                    await writer.keep_pace()
                case SkippedLine():
                    with suppress(OSError):
                        print(_skipped(item), file=err, flush=True)
                case CaughtUp() | WriterChanged():
                    pass


def _skipped(line: SkippedLine) -> str:
    return f"line {line.number} of the journal is skipped: {line.why}"


async def _play(player: ReplayPlayer, printer: RecordedPrinter) -> None:
    rhythm = f"silences of more than {seconds(LONGEST_GAP_S)} are shortened"
    printer.line(Line("·", f"replay at speed {player.speed:g}; {rhythm}. Ctrl-C stops"))
    player.play(time.monotonic())
    mentioned = -1
    while (wait := player.wait_s(time.monotonic())) is not None:
        if player.shortened_s >= LONG_SILENCE_S and mentioned != player.position:
            mentioned = player.position
            printer.line(Line("…", f"{seconds(player.shortened_s)} pass"))
        await asyncio.sleep(wait)
        await _print(player.due(time.monotonic()), printer)


async def _print(records: Iterable[Record], printer: RecordedPrinter) -> None:
    for record in records:
        printer.show(record.event)
        if printer.gone:
            raise BrokenPipeError
        await asyncio.sleep(0)  # lets Ctrl-C through
