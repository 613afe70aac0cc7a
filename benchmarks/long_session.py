"""A session of 10,000 messages: what resuming it and one more request take.

The journal is written here, event by event as a real session writes it; then the real command resumes it
on a loopback server. `benchmarks.long_session_parts` measures the parts, in a separate process.
"""

import json
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.figures import MEGABYTE, Figure
from benchmarks.long_journal import write_journal
from benchmarks.processes import Run, clean_environment, measured
from harness.practice.script import Script
from harness.practice.server import PracticeServer

MODEL = "claude-sonnet-4-6"
MESSAGES = 10_000
SERVER = """
[server]
window = 10_000_000

[[reply]]
text = "Hello."
times = "forever"
"""


async def long_session() -> list[Figure | str]:
    """Peak memory of the real command, and the parts of our own work for one request."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place).resolve()
        state = folder / "state"
        path = write_journal(folder, state, MESSAGES, MODEL)
        async with PracticeServer(script=Script.parse(SERVER, "server")) as server:
            environment = clean_environment(
                ANTHROPIC_BASE_URL=server.base_url,
                ANTHROPIC_API_KEY="not-a-key",
                HARNESS_STATE_DIR=str(state),
                HARNESS_AUTO_COMPACT="false",
            )
            go_on = (sys.executable, "-m", "harness", "-c", "-p", "hi", "--model", MODEL)
            imported = await measured((sys.executable, "-c", "import anthropic"), environment, folder)
            fresh = await measured(go_on[:3] + go_on[4:], environment, folder)
            resumed = await measured((*go_on[:3], "-r", path.stem, *go_on[4:]), environment, folder)
            parts = await measured(
                (sys.executable, "-m", "benchmarks.long_session_parts", path.stem, MODEL), environment, folder
            )
            size = path.stat().st_size
            counts = [len(request.body.get("messages", ())) for request in server.requests]
            arrived = [request.at + time.time() - time.monotonic() for request in server.requests]
        found = json.loads(parts.stdout)
    return [
        Figure("peak memory / import anthropic", *_peaks(resumed, imported)),
        Figure("peak memory / a new session", *_peaks(resumed, fresh)),
        Figure("whole run / a new session", resumed.seconds, "s", fresh.seconds),
        f"{size / MEGABYTE:.1f} MB of journal; requests with {', '.join(f'{count:,}' for count in counts)} messages",
        *(Figure(name, value, unit) for unit in ("ms", "MB") for name, value in found[unit]),
        *(
            Figure(f"{which} turn: RequestSent to its arrival", (there - sent) * 1000, "ms")
            for which, sent, there in zip(("first", "second"), found["sent_at"], arrived[-2:], strict=True)
        ),
    ]


def _peaks(ours: Run, other: Run) -> tuple[float, str, float]:
    return ours.peak_bytes / MEGABYTE, "MB", other.peak_bytes / MEGABYTE
