"""How fast a journal takes records, beside plain writes of the same bytes."""

import os
import tempfile
import time
from pathlib import Path
from statistics import median

from benchmarks.figures import MEGABYTE, Figure
from harness.events import Message, MessageAdded, Origin
from harness.journal import Journal

RECORDS = 20_000
ROUNDS = 5


async def journal_rate() -> list[Figure | str]:
    """Messages of 400 characters, one write each, on the disk of the temporary folder."""
    ours: list[float] = []
    plain: list[float] = []
    size = 0
    with tempfile.TemporaryDirectory() as place:
        for number in range(ROUNDS):
            took, path = _appended(Path(place), f"session-{number}")
            ours.append(took)
            lines = path.read_bytes().splitlines(keepends=True)
            size = path.stat().st_size
            plain.append(_written(Path(place) / f"plain-{number}", lines))
    each = median(ours) / RECORDS * 1e6
    return [
        Figure(
            "appending to a journal / os.write",
            each,
            "µs each",
            median(plain) / RECORDS * 1e6,
            note=f"({RECORDS / median(ours):,.0f} records/s, {size / MEGABYTE / median(ours):.1f} MB/s)",
        )
    ]


def _appended(folder: Path, session_id: str) -> tuple[float, Path]:
    event = MessageAdded(Message("user", ({"type": "text", "text": "What stands here? " * 22},)), Origin.PROMPT)
    with Journal.create(folder, session_id) as journal:
        began = time.perf_counter()
        for _ in range(RECORDS):
            journal.append(event)
        return time.perf_counter() - began, journal.path


def _written(path: Path, lines: list[bytes]) -> float:
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        began = time.perf_counter()
        for line in lines:
            os.write(descriptor, line)
        return time.perf_counter() - began
    finally:
        os.close(descriptor)
