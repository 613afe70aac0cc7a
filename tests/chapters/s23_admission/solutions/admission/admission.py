"""Admission control. Two methods are missing; TASK.md says what they have to do."""

from dataclasses import dataclass, field

RUN, WAIT, REPLACE, DROP, REJECT = "run", "wait", "replace", "drop", "reject"


@dataclass
class Admission:
    """Lets few agents run at a time."""

    slots: int
    """How many may run; 0: none."""
    places: int
    """How many may wait; 0: none."""
    running: list[str] = field(default_factory=list)
    """Keys of the running agents."""
    queue: dict[str, str] = field(default_factory=dict)
    """Queued work by the key of its agent, oldest first."""
    dropped: list[str] = field(default_factory=list)
    """Work that will not be done, in order of the decisions."""
    closed: bool = False

    def ask(self, key: str, work: str) -> str:
        """May this work of an agent start now?"""
        # ── your part begins ─────────────────────────────────────────────
        if self.closed:
            return REJECT
        if key in self.queue:
            self.dropped.append(self.queue[key])
            self.queue[key] = work
            return REPLACE
        if len(self.running) < self.slots and key not in self.running:
            self.running.append(key)
            return RUN
        if not self.places:
            self.dropped.append(work)
            return DROP
        if len(self.queue) >= self.places:
            self.dropped.append(self.queue.pop(next(iter(self.queue))))
        self.queue[key] = work
        return WAIT
        # ── your part ends ───────────────────────────────────────────────

    def release(self, key: str) -> list[str]:
        """The work of an agent has ended. Returns the work that starts now."""
        # ── your part begins ─────────────────────────────────────────────
        if key not in self.running:
            return []
        self.running.remove(key)
        started = []
        for waiting in list(self.queue):
            if len(self.running) < self.slots and waiting not in self.running:
                self.running.append(waiting)
                started.append(self.queue.pop(waiting))
        return started
        # ── your part ends ───────────────────────────────────────────────

    def close(self) -> None:
        """Accept no more work; waiting work is dropped."""
        self.closed = True
        self.dropped.extend(self.queue.values())
        self.queue.clear()
