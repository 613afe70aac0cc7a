"""The drawing of the chapter, made from the answers that the gate can give."""

from harness.policies.admission.decisions import Drop, Refuse, Start, Wait

OUTCOMES: tuple[tuple[str, str, type], ...] = (
    ("starts", "a slot is free", Start),
    ("waits", "no slot is free, the queue has room", Wait),
    ("replaces", "its agent waits already: takes that place", Wait),
    ("dropped", "no room: the oldest leaves, marked", Drop),
    ("refused", "the program is shutting down", Refuse),
)
"""What can become of a request, when, and the answer of the gate that stands for it."""


def outcomes() -> str:
    """A line for each outcome of a request."""
    return "\n".join(f"   {word:<10}{when:<44}{answer.__name__}" for word, when, answer in OUTCOMES)
