"""`harness watch` without a screen: a session of another process as lines, or as JSON."""

import asyncio
import json
from contextlib import aclosing, suppress
from pathlib import Path
from typing import TextIO

from harness.events import encode
from harness.journal.follow import BadLine, CaughtUp, Record, WriterChanged, follow
from harness.ui.lines.line import Line, Tone
from harness.ui.plain.recorded_lines import RecordedLines
from harness.ui.plain.standard_output import write_line
from harness.ui.plain.stop import until_stopped


def watch_in_lines(path: Path, how_to_go_on: str, out: TextIO, *, colours: bool = False) -> int:
    """Print what happens in a session until a signal comes; returns the exit code.

    `how_to_go_on` is the command that resumes the session; empty when none does. Raises JournalError for a journal
    that cannot be followed, and BrokenPipeError when nobody reads `out` any more.
    """
    lines = RecordedLines(out, colours=colours)
    try:
        return asyncio.run(until_stopped(_tell(path, lines), out))
    finally:
        tell_how_to_go_on(lines, how_to_go_on)


def watch_as_json(path: Path, out: TextIO, err: TextIO) -> int:
    """Print each record of a session as a line of JSON, as `watch_in_lines` does."""
    return asyncio.run(until_stopped(_print(path, out, err), out))


def tell_how_to_go_on(lines: RecordedLines, how_to_go_on: str) -> None:
    """The last line, after whatever was being written."""
    if how_to_go_on:
        lines.say(f"go on with: {how_to_go_on}")


async def _tell(path: Path, lines: RecordedLines) -> None:
    async with aclosing(follow(path)) as items:
        async for item in items:
            match item:
                case Record(event=event):
                    lines.show(event)
                case BadLine():
                    lines.line(Line("!", _skipped(item), Tone.TROUBLE))
                case CaughtUp(writer=None):
                    lines.line(Line("·", "this is where it stands; nobody writes it now. Ctrl-C stops watching"))
                case CaughtUp(writer=writer):
                    lines.line(Line("·", f"this is where it stands; process {writer} writes it. Ctrl-C stops watching"))
                case WriterChanged(writer=None):
                    lines.line(Line("·", "the session was left"))
                case WriterChanged(writer=writer):
                    lines.line(Line("·", f"process {writer} goes on with it"))
            if lines.gone:
                raise BrokenPipeError


async def _print(path: Path, out: TextIO, err: TextIO) -> None:
    async with aclosing(follow(path)) as items:
        async for item in items:
            match item:
                case Record(seq, at, event):
                    write_line(json.dumps({"seq": seq, "at": at, **encode(event)}), out)
                case BadLine():
                    with suppress(OSError):
                        print(_skipped(item), file=err, flush=True)
                case CaughtUp() | WriterChanged():
                    pass


def _skipped(line: BadLine) -> str:
    return f"line {line.number} of the journal is skipped: {line.why}"
