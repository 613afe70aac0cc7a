"""Watch a foreign agent: reports, advice and vetoed calls."""

import asyncio
import sys
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import pytest

from harness import Advice, CallRefused, Watch
from harness.events import (
    BreakerState,
    Dispatch,
    Dispatched,
    DispatchLimits,
    ErrorClass,
    Event,
    FailureCategory,
    Intervened,
    LoopAsked,
    LoopChoice,
    LoopFound,
    LoopLeft,
    Projection,
    RolledBack,
    Rung,
    StepStarted,
    StuckReported,
    ToolEnded,
    ToolOutcome,
    ToolStarted,
)
from harness.policies.loops.limits import LoopLimits
from harness.policies.loops.observations import Poll

E = TypeVar("E", bound=Event)
POLICY = LoopLimits()
QUOTAS = sum(POLICY.quota(rung) for rung in Rung if rung is not Rung.STOP)
PATIENT = DispatchLimits(threshold=100, budget=1_000)


class Agent:
    """Makes the same call in every step."""

    def __init__(self, error: Exception | None = None, **options: object) -> None:
        self.events: list[Event] = []
        self.now = 0.0
        self.error = error
        self.refused: list[str] = []
        self.advice: list[Advice] = []
        options = {"breakers": PATIENT, **options}
        self.watch = Watch(
            ("door", "window"), on_event=self.events.append, clock=lambda: self.now, chance=lambda: 0.5,
            **options,  # type: ignore[arg-type]
        )  # fmt: skip

    def call(self, tool: str = "door", **options: object) -> None:
        self.now += 1
        try:
            with self.watch.call(tool, {"way": "in"}, **options) as call:  # type: ignore[arg-type]
                self.now += 0.5
                if self.error:
                    raise self.error
                call.result = "it is open"
        except CallRefused as refused:
            self.refused.append(str(refused))
        except type(self.error or RuntimeError()):
            pass

    def steps(self, count: int, tool: str = "door", *, human: bool = False, **options: object) -> list[Rung]:
        for _ in range(count):
            self.call(tool, **options)
            if advice := self.watch.step(human=human):
                self.advice.append(advice)
        return [advice.rung for advice in self.advice]

    def of(self, kind: type[E]) -> list[E]:
        return [event for event in self.events if isinstance(event, kind)]


def test_a_call_is_reported_from_its_start_to_its_end() -> None:
    agent = Agent()
    agent.call()
    assert [type(event) for event in agent.events] == [StepStarted, Dispatched, ToolStarted, ToolEnded]
    (ended,) = agent.of(ToolEnded)
    assert (ended.outcome, ended.summary, ended.duration_s) == (ToolOutcome.OK, "it is open", 0.5)
    assert agent.of(ToolStarted)[0].summary == "door(way=in)"


@pytest.mark.parametrize(
    ("error", "category", "found"),
    [
        (ConnectionRefusedError("refused"), FailureCategory.TRANSPORT, ErrorClass.UNKNOWN),
        (TimeoutError(), FailureCategory.TIMEOUT, ErrorClass.TRANSIENT),
        (FileNotFoundError(2, "no such file"), FailureCategory.CANNOT_START, ErrorClass.PERSISTENT),
        (OSError(28, "No space left on device"), FailureCategory.SYSTEM, ErrorClass.PERSISTENT),
        (ZeroDivisionError("division by zero"), FailureCategory.CRASHED, ErrorClass.UNKNOWN),
    ],
    ids=lambda value: type(value).__name__,
)
def test_an_exception_is_a_failure_with_its_cause(
    error: Exception, category: FailureCategory, found: ErrorClass
) -> None:
    agent = Agent(error)
    agent.steps(3)
    failure = agent.of(ToolEnded)[0].failure
    assert failure is not None
    assert failure.category is category
    assert failure.message == (str(error) or type(error).__name__)
    (loop,) = [event.loop for event in agent.of(LoopFound)]
    assert (loop.copies, loop.failing, loop.tools) == (3, True, ("door",))
    assert loop.error in (found, ErrorClass.TRANSIENT, ErrorClass.PERSISTENT)


@pytest.mark.parametrize("name", ["status", "status_code"])
def test_the_status_of_an_exception_decides_whether_trying_again_can_help(name: str) -> None:
    for status, rungs in ((503, [Rung.RETRY]), (401, [Rung.NUDGE])):
        error = RuntimeError("no")
        setattr(error, name, status)
        agent = Agent(error)
        assert agent.steps(3, repeatable=True) == rungs
        failure = agent.of(ToolEnded)[0].failure
        assert failure is not None
        assert failure.category is FailureCategory.TRANSPORT


def test_one_that_ignores_everything_climbs_the_ladder_and_is_stopped_within_the_quotas() -> None:
    agent = Agent(ConnectionResetError("reset"), alternatives={"door": {"window": "dignity"}})
    rungs = agent.steps(3 + QUOTAS, repeatable=True)
    assert rungs == [*[Rung.RETRY] * 3, Rung.NUDGE, Rung.SUBSTITUTE, Rung.BREAKER, Rung.STOP]
    retry, nudge, substitute, breaker, stop = (agent.advice[number] for number in (0, 3, 4, 5, 6))
    assert (retry.tool, retry.delay_s, retry.since) == ("door", 0.05, 1)
    assert "You are repeating yourself: door(way=in), 6 times in a row" in nudge.text
    assert '"reset"' in nudge.text
    assert (substitute.tool, "Use window instead" in substitute.text) == ("window", True)
    assert breaker.tool == "door"
    assert agent.watch.breakers.breaker("door").state is BreakerState.OPEN
    assert stop.text.startswith("Stopped in a loop: door(way=in)")
    (report,) = agent.of(StuckReported)
    assert [one.rung for one in report.tried] == rungs[:-1]
    assert "Not run: door(way=in) has returned the same result repeatedly. Use window instead" in agent.refused[0]
    assert "was stopped" in agent.refused[-1]
    assert [event.rung for event in agent.of(Intervened)] == rungs


def test_after_a_stop_no_call_runs_until_there_is_a_new_task() -> None:
    agent = Agent(ValueError("no"), loops=LoopLimits(nudges=0, breakers=0))
    assert agent.steps(3) == [Rung.STOP]
    ran = len(agent.of(ToolStarted))
    agent.steps(2)
    agent.steps(1, "window")
    assert (agent.watch.stopped, len(agent.of(ToolStarted)), len(agent.refused)) == (True, ran, 3)
    agent.watch.new_task()
    agent.error = None
    agent.steps(1)
    assert (agent.watch.stopped, len(agent.of(ToolStarted))) == (False, ran + 1)


def test_an_open_breaker_refuses_with_the_alternatives_and_lets_a_probe_through() -> None:
    agent = Agent(
        TimeoutError("timed out"), breakers=DispatchLimits(threshold=2), loops=LoopLimits(enabled=False),
        alternatives={"door": {"window": "dignity"}},
    )  # fmt: skip
    agent.steps(6)
    assert [event.dispatch for event in agent.of(Dispatched)].count(Dispatch.PROBE) == 1
    assert agent.refused[0].startswith("door was not run:")
    assert "use window" in agent.refused[0]
    assert "dignity" in agent.refused[0]


def test_a_spent_failure_budget_pauses_every_call_until_there_is_a_new_task() -> None:
    agent = Agent(TimeoutError("timed out"), breakers=DispatchLimits(threshold=10, budget=2))
    agent.steps(3)
    agent.error = None
    agent.steps(1, "window")
    assert (agent.watch.stopped, len(agent.refused)) == (True, 2)
    assert all("the failure budget of this turn is used up" in text for text in agent.refused)
    agent.watch.new_task()
    agent.steps(1, "window")
    assert (agent.watch.stopped, len(agent.refused)) == (False, 2)


@pytest.mark.parametrize(
    ("wrong", "kind", "said"),
    [
        (lambda: Watch("door"), TypeError, "list of names"),
        (lambda: Watch(["door"], alternatives={"dor": {"door": "-"}}), ValueError, "not in tools: dor"),
        (lambda: Watch(["door"], alternatives={"door": {"roof": "-"}}), ValueError, "not in tools: roof"),
        (lambda: Watch(["door"]).rolled_back(1), ValueError, "step 1 has not begun"),
    ],
)
def test_a_mistake_of_the_program_is_named(wrong: Callable[[], object], kind: type[Exception], said: str) -> None:
    with pytest.raises(kind, match=said):
        wrong()


def test_calls_and_steps_of_several_threads_do_not_disturb_each_other() -> None:
    events: list[Event] = []
    watch = Watch(["door"], breakers=PATIENT, on_event=events.append)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def work(thread: int) -> None:
        for number in range(300):
            with watch.call("door", {"way": f"{thread}.{number}"}) as call:
                call.result = number
            watch.step()

    try:
        with ThreadPoolExecutor(8) as pool:
            assert list(pool.map(work, range(8))) == [None] * 8
    finally:
        sys.setswitchinterval(interval)
    assert len({event.call_id for event in events if isinstance(event, ToolEnded)}) == 8 * 300


def test_a_call_that_only_its_replacement_may_make_leaves_the_loop_when_the_replacement_is_used() -> None:
    agent = Agent(ValueError("no"), alternatives={"door": {"window": "dignity"}})
    assert agent.steps(4)[-1] is Rung.SUBSTITUTE
    agent.error = None
    agent.steps(1, "window")
    assert [(event.freed_by, event.projection) for event in agent.of(LoopLeft)] == [
        (Rung.SUBSTITUTE, Projection.INTERACTION)
    ]


def test_a_loop_of_places_is_found_and_its_beginning_is_named() -> None:
    agent = Agent(loops=LoopLimits(nudges=0))
    advice = None
    for number in range(1, 12):
        agent.watch.visit("ABC"[number % 3])
        advice = agent.watch.step(explore=["D"]) or advice
        if advice:
            break
    assert advice is not None
    assert (advice.rung, advice.loop.projection, advice.since) == (Rung.EXPLORE, Projection.NODE, 3)
    assert advice.text.endswith("continue with: D.")


def test_the_detectors_go_back_with_the_agent_and_the_ladder_does_not() -> None:
    agent = Agent(ValueError("no"), loops=LoopLimits(nudges=0, breakers=0))
    agent.call("window")
    agent.watch.step()
    for _ in range(2):
        agent.call()
        agent.watch.step()
    agent.call()
    advice = agent.watch.step(rollback=True)
    assert advice is not None
    assert (advice.rung, advice.since) == (Rung.ROLLBACK, 2)
    agent.watch.rolled_back(advice.since, ["the door is scratched"])
    assert agent.of(RolledBack) == [RolledBack(turn=1, step=2, not_undone=("the door is scratched",))]
    assert [run.matched for run in agent.watch.loops.status().runs if run.projection is Projection.INTERACTION] == [0]
    assert agent.steps(1) == [Rung.STOP]


@pytest.mark.parametrize(("choice", "further"), [(LoopChoice.OFF, []), (LoopChoice.STOP, [Rung.STOP])])
def test_a_user_is_asked_and_the_answer_counts(choice: LoopChoice, further: list[Rung]) -> None:
    agent = Agent(ValueError("no"), loops=LoopLimits(nudges=0, breakers=0))
    assert agent.steps(3, human=True) == [Rung.HUMAN]
    assert agent.of(LoopAsked)[0].choices == tuple(LoopChoice)
    agent.watch.answer(agent.advice[0], choice)
    assert agent.steps(1)[1:] == further


def test_a_declared_poll_may_repeat_itself_and_work_with_other_results_too() -> None:
    agent = Agent()
    agent.steps(20, poll=Poll(every_s=1.0, total_s=600.0))
    for number in range(20):
        with agent.watch.call("window", {"line": 1}) as call:
            call.result = f"page {number}"
        agent.watch.step()
    assert agent.of(LoopFound) == []


def test_the_calls_of_one_step_may_overlap_and_count_in_the_order_of_their_beginning() -> None:
    agent = Agent(alternatives={})

    async def one(tool: str, ready: asyncio.Event, then: Callable[[], None]) -> None:
        with agent.watch.call(tool, {}) as call:
            await ready.wait()
            call.error = ValueError(tool)
        then()

    async def both() -> None:
        first, second = asyncio.Event(), asyncio.Event()
        second.set()
        async with asyncio.TaskGroup() as group:
            group.create_task(one("door", first, lambda: None))
            group.create_task(one("window", second, first.set))

    for _ in range(3):
        asyncio.run(both())
        agent.watch.step()
    (loop,) = [event.loop for event in agent.of(LoopFound) if event.loop.projection is Projection.INTERACTION]
    assert (loop.copies, loop.tools) == (3, ("door", "window"))


def test_a_cancelled_call_is_no_behaviour() -> None:
    agent = Agent()
    for _ in range(5):
        with pytest.raises(KeyboardInterrupt), agent.watch.call("door", {}):
            raise KeyboardInterrupt
        agent.watch.step()
    assert {event.outcome for event in agent.of(ToolEnded)} == {ToolOutcome.CANCELLED}
    assert agent.of(LoopFound) == []
    assert agent.watch.breakers.breaker("door").failures == 0
