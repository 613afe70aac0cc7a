"""A queue whose tasks are lent to workers for a time. Its parts have mistakes; TASK.md has the rules."""

from dataclasses import dataclass

WAITING, LENT, DONE, SET_ASIDE = "waiting", "lent", "done", "set aside"
LEASE_S = 10.0
"""Seconds for which a claim holds."""
ATTEMPTS = 3
"""Claims without a result after which a task is set aside."""
PATIENCE = 4
"""A waiting task becomes one step more urgent each time so many others have been claimed before it."""


@dataclass
class Task:
    """One task and its claims so far."""

    name: str
    priority: int
    """0 is the most urgent."""
    state: str = WAITING
    fence: int = 0
    """The number of its last claim."""
    until: float = 0.0
    """When the lease of its last claim ends."""
    attempts: int = 0
    """Claims that ended without a result."""
    passed: int = 0
    """Claims of others since it waits."""


class LeaseQueue:
    """The tasks, in order of creation. `now` never falls from call to call."""

    def __init__(self) -> None:
        self.tasks: dict[str, Task] = {}

    def add(self, name: str, priority: int = 2) -> None:
        """Add a task."""
        self.tasks[name] = Task(name, priority)

    def claim(self, now: float) -> tuple[str, int] | None:
        """Lend the next task; returns its name and the fence of the claim. None: no task waits."""
        # ── your part begins ─────────────────────────────────────────────
        for task in self.tasks.values():
            if task.state == WAITING:
                task.state, task.until = LENT, now + LEASE_S
                return task.name, task.fence
        return None
        # ── your part ends ───────────────────────────────────────────────

    def renew(self, name: str, fence: int, now: float) -> bool:
        """Let the lease begin again; returns whether the claim still holds."""
        # ── your part begins ─────────────────────────────────────────────
        self.tasks[name].until = now + LEASE_S
        return True
        # ── your part ends ───────────────────────────────────────────────

    def finish(self, name: str, fence: int, now: float) -> bool:
        """Record that a task is done; returns whether that counts."""
        # ── your part begins ─────────────────────────────────────────────
        self.tasks[name].state = DONE
        return True
        # ── your part ends ───────────────────────────────────────────────

    def give_back(self, name: str, fence: int, now: float) -> bool:
        """Return a task without a result; returns whether that counts."""
        # ── your part begins ─────────────────────────────────────────────
        self.tasks[name].state = WAITING
        return True
        # ── your part ends ───────────────────────────────────────────────
