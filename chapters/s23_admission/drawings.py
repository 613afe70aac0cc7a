"""The drawing of the chapter: the answers of a real queue in each situation."""

from harness.policies.admission.slot_queue import SlotQueue

SITUATIONS: tuple[tuple[str, str], ...] = (
    ("starts", "a slot is free"),
    ("waits", "no slot is free, the queue has room"),
    ("replaces", "its agent waits already: takes that place"),
    ("waits, too", "the queue is full: its oldest leaves, marked"),
    ("deferred", "there is no queue: it is marked at once"),
    ("refused", "the program is shutting down"),
)
"""The possible outcomes of a request, and their conditions."""
OUTCOMES = len(SITUATIONS)


def answers() -> tuple[object, ...]:
    """What a queue with one slot and one place answers in each situation, in their order."""
    queue: SlotQueue[str] = SlotQueue(1, 1, lambda _: None)
    asked = [queue.ask("a", "1"), queue.ask("b", "2"), queue.ask("b", "3"), queue.ask("c", "4")]
    without: SlotQueue[str] = SlotQueue(1, 0, lambda _: None)
    without.ask("a", "1")
    asked.append(without.ask("b", "2"))
    queue.close()
    return (*asked, queue.ask("d", "5"))


def outcomes() -> str:
    """A line for each outcome of a request, with the answer in the code."""
    rows = zip(SITUATIONS, answers(), strict=True)
    return "\n".join(f"   {word:<12}{when:<46}{type(answer).__name__}" for (word, when), answer in rows)
