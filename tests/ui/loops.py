"""A loop, its interventions and its end: event values for the display tests."""

from harness.events import (
    Attempt,
    ErrorClass,
    Intervened,
    Loop,
    LoopFound,
    LoopLeft,
    Projection,
    RolledBack,
    Rung,
    StuckReported,
)

QUOTAS = {Rung.RETRY: 3, Rung.EXPLORE: 2}
CIRCLE = Loop(Projection.INTERACTION, "5f0c2ab9e1d47380", 1, 4, "read_file notes.txt", ("read_file",), failing=False)
FAILING_CIRCLE = Loop(
    *(Projection.ERROR, "90ab17c2d3e4f506", 1, 4, "grep fails: timed out after 30 s", ("grep",)),
    failing=True,
    error=ErrorClass.TRANSIENT,
)
FOUND = LoopFound(CIRCLE, 6)
LEFT = LoopLeft(CIRCLE.signature, CIRCLE.projection, 9, Rung.NUDGE)
BACK = RolledBack(1, 4, ("src/a.py", "src/b.py"), ("bash rm -rf build",))
REPORT = StuckReported(
    CIRCLE,
    12,
    (
        Attempt(Rung.NUDGE, 6, "the model is told that it repeats itself"),
        Attempt(Rung.SUBSTITUTE, 8, "bash in place of read_file; loses: line numbers"),
        Attempt(Rung.ROLLBACK, 10, "back to the end of step 2"),
    ),
    8,
    ("Say in other words what you want, or what the file should hold.", "/rewind goes back before this prompt."),
)


def took(
    rung: Rung, detail: str = "the model is told", number: int = 1, *, loop: Loop = CIRCLE, applied: bool = True
) -> Intervened:
    """A rung that was taken for a loop, in step 6."""
    quota = QUOTAS.get(rung, 1)
    return Intervened(loop.signature, loop.projection, rung, number, quota, 6, detail, applied=applied)
