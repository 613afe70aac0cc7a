"""Tasks of a fleet beside a naive model, which keeps a log of what was accepted and works everything out from it."""

from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from harness.policies.fleet.task import (
    MOST_ATTEMPTS,
    FleetDraft,
    FleetRefusal,
    FleetState,
    FleetTask,
    TaskOutcome,
    begin,
    cancel,
    finish,
    give_back,
    lost,
    submit,
)

STEPS = 90
KINDS = (*["submit"] * 4, *["begin"] * 5, *["done"] * 4, *["back"] * 2, "failed", "cancel")
TOKENS = (0, 0, 0, 0, -1, 1)
"""A token, counted from the newest one."""


@dataclass
class Log:
    """What was accepted, each with its number; everything else follows."""

    needs: dict[str, list[str]] = field(default_factory=dict)
    submitted: dict[str, int] = field(default_factory=dict)
    lines: list[tuple[int, str, str, Any]] = field(default_factory=list)

    def of(self, id: str, *kinds: str) -> list[Any]:
        return [value for _, kind, of, value in self.lines if of == id and kind in kinds]

    def state(self, id: str) -> str:
        if ends := self.of(id, "done", "failed", "cancel"):
            return {"done": "done", "failed": "failed", "cancel": "cancelled"}[ends[0][0]]
        states = {self.state(need) for need in self.needs[id]}
        if states & {"failed", "cancelled"}:
            return "cancelled"
        if states - {"done"}:
            return "blocked"
        moves = self.of(id, "begin", "back")
        return "running" if moves and moves[-1][0] == "begin" else "queued"

    def begun(self, id: str) -> int:
        return len(self.of(id, "begin"))

    def attempts(self, id: str) -> int:
        return self.begun(id) - len(self.of(id, "back"))

    def holder(self, id: str) -> str:
        return str(self.of(id, "begin")[-1][1]) if self.state(id) == "running" else ""

    def has_reason(self, id: str) -> bool:
        moves = self.of(id, "begin", "back")
        given_back = bool(moves) and moves[-1][0] == "back"
        return self.state(id) in ("failed", "cancelled") or (self.state(id) == "queued" and given_back)

    def accepts(self, kind: str, id: str, token: int) -> bool:
        if kind == "begin":
            return self.state(id) in ("queued", "running")
        if kind == "cancel":
            return self.state(id) in ("blocked", "queued", "running")
        return self.state(id) == "running" and token == self.begun(id)


def decided(kind: str, id: str, value: Any, tasks: dict[str, FleetTask], now: float) -> Any:
    if kind == "submit":
        return submit(FleetTask(id, FleetDraft("x", needs=tuple(value))), tasks, now)
    if kind == "begin":
        return begin(tasks[id], value, f"machine of {value}", tasks, now)
    if kind == "cancel":
        return cancel(tasks[id], tasks, now)
    if kind == "back":
        return give_back(tasks[id], value, "the end is near", now)
    return finish(tasks[id], value, TaskOutcome(FleetState(kind), f"text of {id}"), tasks, now)  # type: ignore[arg-type]


def step(random: Random, log: Log) -> tuple[str, str, Any]:
    """One of a run: mostly with a task that is not at its end."""
    kind = random.choice(KINDS)
    known = list(log.needs)
    if kind == "submit" or not known:
        hopeful = [id for id in known if log.state(id) not in ("failed", "cancelled")]
        among = random.choice((hopeful[-4:], hopeful[-4:], hopeful[-4:], [*known[-4:], "none"]))
        return "submit", f"t{len(known)}", random.sample(among, min(len(among), random.choice((0, 1, 1, 2, 3))))
    live = [id for id in known if log.state(id) in ("blocked", "queued", "running")]
    id = random.choice(live if live and random.random() < 0.8 else known)
    if kind in ("done", "failed", "back"):
        return kind, id, log.begun(id) + random.choice(TOKENS)
    return kind, id, random.choice(("w1", "w2"))


@given(st.integers(0, 2**32))
def test_only_the_newest_start_counts_and_each_end_decides_about_what_needs_it(seed: int) -> None:
    random = Random(seed)
    tasks: dict[str, FleetTask] = {}
    log = Log()
    since: dict[str, int] = {}
    for now in range(1, STEPS + 1):
        kind, id, value = step(random, log)
        before = {one: log.state(one) for one in log.needs}
        if kind in ("done", "failed", "back"):
            assert (lost(tasks[id], value) == "") == log.accepts(kind, id, value)
        if kind == "submit":
            accepted = set(value) <= log.needs.keys() and not {before[need] for need in value} & {"failed", "cancelled"}
        else:
            accepted = log.accepts(kind, id, value if isinstance(value, int) else 0)
        changed = decided(kind, id, value, tasks, float(now))
        assert isinstance(changed, FleetRefusal) != accepted
        if not accepted:
            continue
        if kind == "submit":
            log.needs[id], log.submitted[id] = value, now
        elif kind == "begin" and log.attempts(id) == MOST_ATTEMPTS:
            log.lines.append((now, "failed", id, ("failed", "")))
        else:
            log.lines.append((now, kind, id, (kind, value)))
        for one in changed:
            tasks[one.id] = one
        moved = {one for one in log.needs if one == id or log.state(one) != before.get(one)}
        since |= dict.fromkeys(moved, now)
        assert ({one.id for one in changed}, len(changed), changed[0].id) == (moved, len(moved), id)
        for one, task in tasks.items():
            assert (task.state, task.fence, task.attempts) == (log.state(one), log.begun(one), log.attempts(one))
            assert (task.worker, task.since, task.submitted) == (log.holder(one), since[one], log.submitted[one])
            assert bool(task.reason) == log.has_reason(one)


def running(fence: int = 1, attempts: int = 1) -> FleetTask:
    return FleetTask("a", FleetDraft("x"), FleetState.RUNNING, 1.0, fence, attempts, "w1", "m1")


def test_a_start_is_accepted_as_long_as_the_attempts_last() -> None:
    (begun,) = begin(running(7, MOST_ATTEMPTS - 1), "w2", "m2", {}, 2.0)  # type: ignore[misc]
    assert (begun.state, begun.fence, begun.attempts, begun.machine) == (FleetState.RUNNING, 8, MOST_ATTEMPTS, "m2")
    (ended,) = begin(begun, "w3", "m3", {}, 3.0)  # type: ignore[misc]
    assert (ended.state, ended.fence, ended.reason) == (FleetState.FAILED, 8, "5 workers were lost with it")


def test_each_refusal_says_why() -> None:
    assert lost(running(2), 1) == "was started again by w1 on m1"
    (back,) = give_back(running(), 1, "SIGTERM", 2.0)  # type: ignore[misc]
    assert (back.reason, lost(back, 1)) == ("SIGTERM", "is queued")
    known = {"a": FleetTask("a", FleetDraft("x"), FleetState.FAILED)}
    new = FleetTask("b", FleetDraft("x", needs=("a",)))
    assert submit(new, known, 1.0) == FleetRefusal("needs a, which did not succeed")
    assert submit(new, {}, 1.0) == FleetRefusal("needs a, and there is no such task")
    assert cancel(known["a"], {}, 1.0) == FleetRefusal("is failed already")


def test_the_outcome_is_kept_and_what_needs_the_task_names_it() -> None:
    waits = FleetTask("b", FleetDraft("x", needs=("a",)), FleetState.BLOCKED)
    outcome = TaskOutcome(FleetState.FAILED, "the tests fail", "harness/fleet/a", 0.5, 100)
    both = replace(waits, id="c", draft=FleetDraft("x", needs=("b", "a")))
    known = {"a": running(), "b": waits, "c": both}
    first, second, third = finish(running(), 1, outcome, known, 2.0)  # type: ignore[misc]
    assert (first.outcome, first.reason, first.worker) == (outcome, "the tests fail", "")
    assert (second.state, second.reason) == (FleetState.CANCELLED, "a, which it needs, did not succeed")
    assert third.reason == second.reason
    (done,) = finish(running(), 1, TaskOutcome(FleetState.DONE, "good"), {}, 2.0)  # type: ignore[misc]
    assert (done.reason, done.machine) == ("", "m1")
