"""The learner's queue is put, taken from and killed."""

from types import ModuleType
from typing import Any

from chapters.course import DemoSession
from harness.events import Notice


def taken(queue: Any, *, in_turn: bool) -> str:
    """What is taken now."""
    return ", ".join(f"{one.kind} {one.number}" for one in queue.take(in_turn=in_turn)) or "nothing"


async def demo(session: DemoSession, work: ModuleType) -> None:
    """Each prompt plays all of it, with a new journal."""
    async for _ in session.prompts():
        journal: list[Any] = []
        queue = work.OneQueue(journal)

        for kind in ("clock", "mail", "end", "result", "user"):
            queue.put(kind)
        session.show(Notice("info", f"in a turn: {taken(queue, in_turn=True)}"))
        session.show(Notice("info", f"after it: {taken(queue, in_turn=False)}"))
        queue.put("note")
        session.show(Notice("info", f"a note wakes the model: {queue.wakes()}"))
        queue.put("clock")
        queue = work.OneQueue(journal)
        queue.put("user")
        session.show(Notice("info", f"killed, and then: {taken(queue, in_turn=False)}"))
