"""The learner's inbox in a program that is killed, and in the next one, which continues from the log."""

import asyncio
import json
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

from chapters.course import DemoSession
from harness.events import Notice

MOST_S = 8.0
"""Seconds that the first program has to begin."""


async def killed(file: str, log: Path) -> int:
    """Run the first program, and kill it when it is at work; its exit code."""
    program = Path(__file__).parent / "play" / "killed.py"
    running = await asyncio.create_subprocess_exec(
        sys.executable, program, file, log, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL
    )
    assert running.stdout is not None
    try:
        async with asyncio.timeout(MOST_S):
            await running.stdout.readline()
    finally:
        if running.returncode is None:
            running.kill()
        await running.wait()
    return running.returncode or 0


def told(events: list[dict[str, Any]]) -> str:
    """The message to the model, in one line."""
    texts = [str(event.get("text", "")) for event in events if event.get("type") == "message"]
    return "; ".join(line for text in texts for line in text.splitlines()) or "nothing"


async def demo(session: DemoSession, work: ModuleType) -> None:
    """Each prompt is a new log."""
    async for _ in session.prompts():
        log = session.workspace / "log.jsonl"
        log.unlink(missing_ok=True)
        code = await killed(str(work.__file__), log)
        events = [json.loads(line) for line in log.read_text("utf-8").splitlines()] if log.exists() else []
        session.show(Notice("warning", f"killed by signal {-code}; message to the model: {told(events)}"))
        for life in ("second", "third"):
            new: list[dict[str, Any]] = []
            inbox = work.Inbox(list(events), new.append)
            inbox.deliver()
            events += new
            session.show(Notice("info", f"the {life} program reports: {told(new)}"))
