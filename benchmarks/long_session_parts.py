"""Where the time and the memory of a long session go: `python -m benchmarks.long_session_parts ID MODEL`.

A process of its own, so that its memory is that of the session alone. Prints one line of JSON: for each unit
the parts with their figures; and when the requests were sent.
"""

import asyncio
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import aclosing
from pathlib import Path
from typing import TypeVar

from benchmarks.figures import MEGABYTE
from harness import journal
from harness.engine.build.from_settings import prompt_sections, tools_for
from harness.events import Message, ReplyReceived, RequestSent, TurnStarted
from harness.model import history
from harness.model.client import ModelRequest
from harness.model.prompt import system_blocks, with_breakpoints
from harness.model.tokens import TokenCounter
from harness.session import NoAsker, Opening, Session, open_session
from harness.settings import Settings, load
from harness.tools.toolbox import Toolbox

Result = TypeVar("Result")


class Parts:
    """The figures so far, in order."""

    def __init__(self) -> None:
        self.ms: list[tuple[str, float]] = []
        self.memory_mb: list[tuple[str, float]] = []
        self.sent_at: list[float] = []
        """Unix times of the requests, by the journal."""

    def timed(self, name: str, work: Callable[[], Result]) -> Result:
        """Do `work` and note how long it took."""
        began = time.perf_counter()
        result = work()
        self.ms.append((name, (time.perf_counter() - began) * 1000))
        return result

    def memory(self, name: str) -> None:
        """Note how much memory is resident now; nothing where the system does not say."""
        pages = Path("/proc/self/statm")
        if pages.exists():
            resident = int(pages.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
            self.memory_mb.append((name, resident / MEGABYTE))


async def measure(session_id: str, model: str) -> Parts:
    """All parts, in the folder and with the settings of this process."""
    parts = Parts()
    parts.memory("memory: our modules")
    loaded = load({"model": model}, os.environ, Path.cwd())
    settings = loaded.settings
    began = time.perf_counter()
    async with await open_session(loaded, NoAsker(), Opening(resume=session_id)) as session:
        parts.ms.append(("opening the session (reading its journal)", (time.perf_counter() - began) * 1000))
        parts.memory("memory: the session is open")
        for which in ("first", "second"):
            await _turn(session, parts, which)
            parts.memory(f"memory: after the {which} request")
    messages = journal.replay(journal.read(session.path).records).messages
    _one_by_one(parts, settings, (*messages, Message("user", ({"type": "text", "text": "hi"},))))
    return parts


async def _turn(session: Session, parts: Parts, which: str) -> None:
    async with aclosing(session.run("hi")) as events:
        async for _ in events:
            continue
    # By the journal: events reach a listener only when the loop has time for it.
    at = {type(record.event): record.at for record in journal.read(session.path).records[-40:]}
    parts.ms.append((f"{which} turn: prompt to RequestSent", (at[RequestSent] - at[TurnStarted]) * 1000))
    parts.ms.append((f"{which} turn: RequestSent to the whole reply", (at[ReplyReceived] - at[RequestSent]) * 1000))
    parts.sent_at.append(at[RequestSent])


def _one_by_one(parts: Parts, settings: Settings, messages: Sequence[Message]) -> None:
    """What `ModelCalls.ask` does for one request, each part alone and with nothing else running."""
    system, tools = system_blocks(prompt_sections(settings)), Toolbox(tools_for(settings)).specs()
    counter = TokenCounter()
    checked = parts.timed("alone: history check", lambda: history.repaired(messages)).messages
    parts.timed("alone: thinking taken out", lambda: history.without_thinking(checked))
    parts.timed("alone: token count by bytes, first", lambda: counter.count_request(system, tools, checked))
    parts.timed("alone: token count, again", lambda: counter.count_request(system, tools, checked))
    parts.timed("alone: loading the vocabulary", counter.load)
    parts.timed("alone: token count with it, first", lambda: counter.count_request(system, tools, checked))
    marked = parts.timed("alone: cache breakpoints", lambda: with_breakpoints(checked))
    request = ModelRequest(settings.model, 8_000, system, tools, marked, 0)
    parts.timed("alone: serialising the body", lambda: json.dumps(request.body(), ensure_ascii=False).encode())


def main() -> int:
    """Print the parts as JSON."""
    session_id, model = sys.argv[1:]
    parts = asyncio.run(measure(session_id, model))
    print(json.dumps({"ms": parts.ms, "MB": parts.memory_mb, "sent_at": parts.sent_at}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
