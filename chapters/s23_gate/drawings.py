"""The drawing of the chapter, made from the answers that the gate can give."""

from harness.policies.admission.decisions import Admit, Defer, Enqueue, Reject

OUTCOMES: tuple[tuple[str, str, type], ...] = (
    ("starts", "a slot is free", Admit),
    ("waits", "no slot is free, the queue has room", Enqueue),
    ("replaces", "its agent waits already: takes that place", Enqueue),
    ("dropped", "no room: the oldest leaves, marked", Defer),
    ("refused", "the program is shutting down", Reject),
)
"""The possible outcomes of a request, their conditions, and the answer for each."""


def outcomes() -> str:
    """A line for each outcome of a request."""
    return "\n".join(f"   {word:<10}{when:<44}{answer.__name__}" for word, when, answer in OUTCOMES)
