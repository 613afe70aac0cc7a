"""Admission once more, as naive as can be: all there ever was in one list, which is looked through each time."""

from typing import Any

from harness.policies.admission.controller import AdmissionLimits
from harness.policies.admission.slot_queue import WorkCounts


def balanced(counts: WorkCounts) -> bool:
    """Everything that was accepted is running, queued, done, replaced or deferred."""
    ends = counts.done + counts.running + counts.queued + counts.replaced + counts.dropped
    return counts.accepted == ends


class Oracle:
    """Slots, queue, pauses and watch list on a manually set clock."""

    def __init__(self, limits: AdmissionLimits) -> None:
        self.limits, self.now, self.scans, self.closed = limits, 0.0, 0, False
        self.works: list[dict[str, Any]] = []
        """Each with its key, number, place in the queue, and fate: running, waiting, done, replaced or dropped."""
        self.talks: dict[str, dict[str, Any]] = {}
        self.marked: list[str] = []

    def of(self, fate: str) -> list[dict[str, Any]]:
        return [work for work in self.works if work["fate"] == fate]

    def line(self) -> list[dict[str, Any]]:
        return sorted(self.of("waiting"), key=lambda work: work["place"])

    def open(self, key: str) -> bool:
        known = key in self.talks
        if self.closed or (not known and key in self.keys("running")):
            return False
        new = {"failures": 0, "rests": 0, "until": None, "active": self.now, "seen": self.scans}
        talk = self.talks.setdefault(key, new)
        talk["active"] = max(talk["active"], self.now)
        return True

    def keys(self, fate: str) -> list[str]:
        return [work["key"] for work in self.of(fate)]

    def ask(self, key: str) -> str:
        if self.closed or key not in self.talks:
            return "refused"
        self.talks[key]["active"] = max(self.talks[key]["active"], self.now)
        self.marked = [one for one in self.marked if one != key]
        number = len(self.works) + 1
        work = {"key": key, "number": number, "place": number, "fate": "waiting"}
        older = [one for one in self.line() if one["key"] == key]
        self.works.append(work)
        if older:
            older[0]["fate"], work["place"] = "replaced", older[0]["place"]
        elif self.rests(key):
            self.drop(work, again=True)
        else:
            self.fill()
            while len(self.line()) > self.limits.max_queue_size:
                self.drop(self.line()[0], again=True)
        return str(work["fate"])

    def rests(self, key: str) -> bool:
        until = self.talks[key]["until"] if key in self.talks else None
        return until is not None and self.now < until

    def drop(self, work: dict[str, Any], *, again: bool) -> None:
        work["fate"] = "dropped"
        if again and work["key"] not in self.marked:
            self.marked.append(work["key"])

    def fill(self) -> None:
        for work in self.line():
            if len(self.of("running")) < self.limits.max_concurrent and work["key"] not in self.keys("running"):
                work["fate"] = "running"
                if self.talks[work["key"]]["until"] is not None:
                    self.talks[work["key"]]["until"] = None  # the one attempt

    def finish(self, number: int, ending: str) -> None:
        work = self.works[number - 1]
        work["fate"] = "done"
        if talk := self.talks.get(work["key"]):
            if ending == "succeeded":
                talk.update(failures=0, rests=0)
            elif ending == "failed":
                talk["failures"] += 1
                if talk["rests"] or talk["failures"] >= self.limits.failures_in_a_row:
                    pause = min(self.limits.pause_s * 2 ** talk["rests"], self.limits.longest_pause_s)
                    talk.update(rests=talk["rests"] + 1, until=self.now + pause)
                    for waiting in [one for one in self.line() if one["key"] == work["key"]]:
                        self.drop(waiting, again=True)
            elif talk["rests"]:
                talk["until"] = self.now
        self.fill()

    def end(self, key: str) -> None:
        if self.talks.pop(key, None):
            self.withdraw(key)

    def withdraw(self, key: str) -> None:
        self.marked = [one for one in self.marked if one != key]
        for work in [one for one in self.line() if one["key"] == key]:
            self.drop(work, again=False)

    def set(self, limits: AdmissionLimits) -> None:
        self.limits = limits
        self.fill()
        while len(self.line()) > limits.max_queue_size:
            self.drop(self.line()[0], again=True)

    def close(self) -> None:
        for key in list(self.talks):
            self.end(key)
        self.closed = True

    def again(self) -> list[str]:
        ready = [key for key in self.marked if key not in self.keys("running") and not self.rests(key)]
        free = max(0, self.limits.max_concurrent - len(self.of("running")))
        return ready[: free + max(0, self.limits.max_queue_size - len(self.line()))]

    def scan(self) -> list[str]:
        """Choose one by one: first the busy ones, then those that have waited longest."""
        self.scans += 1
        left = dict(self.talks)
        chosen: list[str] = []
        while left and len(chosen) < self.limits.watch_cap:
            for_the_quiet = len(self.talks) > self.limits.watch_cap and (
                len(chosen) >= self.limits.watch_cap - self.limits.reserved
            )
            best = min(left, key=lambda key: (0 if for_the_quiet else -left[key]["active"], left[key]["seen"]))
            chosen.append(best)
            del left[best]
        for key in chosen:
            self.talks[key]["seen"] = self.scans
        return chosen
