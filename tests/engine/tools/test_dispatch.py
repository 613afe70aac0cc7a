"""Breakers in the loop: which calls run or are skipped, the words for model and user, the pause of a turn."""

import asyncio
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.events import (
    BreakerChanged,
    BreakerCommand,
    BreakerState,
    Dispatch,
    Dispatched,
    DispatchLimitsSet,
    DispatchReason,
    Event,
    FailureCharged,
    PauseReported,
    Score,
    ToolEnded,
    ToolOutcome,
    ToolScored,
    ToolStarted,
    TransitionCode,
)
from harness.tools import Effect, Tool, ToolHealth, tool
from tests.agent.stage import Played, Stage, calls, says, stage
from tests.agent.test_tool_rounds import call

pytestmark = pytest.mark.anyio

ANSWER = "Done, as far as it went."
REFUSED = ConnectionRefusedError(111, "Connection refused")
LATE = TimeoutError("no answer in 30 s")


def flaky(name: str, *outcomes: Exception | str, parallel: bool = True, effect: Effect = Effect.READ) -> Tool:
    """A tool whose calls end with these results in turn; the last one repeats."""
    coming: Iterator[Exception | str] = iter(outcomes)
    last: Exception | str = outcomes[-1]

    @tool(name=name, effect=effect, parallel=parallel)
    async def attempt(number: int = 0) -> str:
        "Try something."
        outcome = next(coming, last)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome

    return attempt


def rounds(name: str, count: int) -> str:
    """Replies that each ask for one call of a tool."""
    return "".join(calls(call(name, number=number)) for number in range(count))


def dispatches(turn: Played) -> list[Dispatch]:
    """The decisions, one for each call."""
    return [event.dispatch for event in turn.of(Dispatched)]


def state(here: Stage, name: str) -> BreakerState:
    """The state of a breaker."""
    return here.agent.parts.breakers.registry.breaker(name).state


CALL, SKIP, PROBE, PAUSE = Dispatch.CALL, Dispatch.SKIP, Dispatch.PROBE, Dispatch.PAUSE


# ── one tool ────────────────────────────────────────────────────────────────────────────────────


async def test_a_tool_that_fails_three_times_is_skipped_then_probed_and_closed_when_it_works(tmp_path: Path) -> None:
    wobbly = flaky("wobbly", LATE, LATE, LATE, "well again")
    async with stage(tmp_path, rounds("wobbly", 8) + says(ANSWER), tools=[wobbly]) as here:
        turn = await here.turn()
        assert dispatches(turn) == [CALL, CALL, CALL, SKIP, SKIP, PROBE, CALL, CALL]
        assert len(turn.of(ToolStarted)) == 6
        opened, *_, closed = (event for event in turn.of(BreakerChanged) if event.before is not event.after)
        assert (opened.after, opened.failures, opened.probe_at) == (BreakerState.OPEN, 3, 6)
        assert (closed.after, closed.failures, closed.step) == (BreakerState.CLOSED, 0, 6)
        assert turn.end.code is TransitionCode.COMPLETED


async def test_a_call_of_the_tool_that_was_offered_says_what_it_replaces(tmp_path: Path) -> None:
    async with stage(tmp_path, rounds("grep", 1) + calls(call("bash", command="true")) + says(ANSWER)) as here:
        here.agent.parts.breakers.command(BreakerCommand.TRIP, "grep")
        turn = await here.turn()
        assert [(event.tool, event.in_place_of) for event in turn.of(Dispatched)] == [("grep", ""), ("bash", "grep")]
        assert turn.of(Dispatched)[0].alternatives[0].tool == "bash"


# ── side by side ────────────────────────────────────────────────────────────────────────────────


async def test_failures_of_one_batch_count_in_the_order_of_the_reply(tmp_path: Path) -> None:
    last_first = [asyncio.Event() for _ in range(4)]
    last_first[3].set()

    @tool(effect=Effect.READ, parallel=True)
    async def ordered(number: int) -> str:
        "Fails, but for the first."
        await last_first[number].wait()
        last_first[number - 1].set()
        if number:
            raise REFUSED
        return "fine"

    script = calls(*(call("ordered", number=number) for number in range(4))) + says(ANSWER)
    async with stage(tmp_path, script, tools=[ordered]) as here:
        await here.turn()
        assert state(here, "ordered") is BreakerState.OPEN  # by the end of the calls the success came last


# ── a probe that is not run ─────────────────────────────────────────────────────────────────────


async def test_an_interrupted_probe_gives_the_next_call_another_one(tmp_path: Path) -> None:
    outcomes = iter([LATE, LATE, LATE])

    @tool(effect=Effect.READ)
    async def endless(number: int) -> str:
        "Fails three times and then never ends."
        for outcome in outcomes:
            raise outcome
        await asyncio.Event().wait()
        return ""

    async with stage(tmp_path, rounds("endless", 7) + says(ANSWER), tools=[endless]) as here:

        def interrupt(event: Event) -> None:
            if isinstance(event, ToolStarted) and dispatches(Played(here.recorded))[-1] is PROBE:
                here.agent.interrupt()

        turn = await here.turn(on_event=interrupt)
        assert dispatches(turn)[-1] is PROBE
        assert state(here, "endless") is BreakerState.OPEN
        again = await here.turn(on_event=interrupt)
        assert dispatches(again) == [PROBE]


# ── the budget ──────────────────────────────────────────────────────────────────────────────────


async def test_the_budget_pauses_the_turn_with_a_report_and_a_fresh_one_continues(tmp_path: Path) -> None:
    broken = [flaky(name, exception) for name, exception in (("reader", REFUSED), ("writer", LATE))]
    script = rounds("reader", 3) + rounds("writer", 2) + says(ANSWER)
    async with stage(tmp_path, script, tools=broken) as here:
        turn = await here.turn()
        assert turn.codes[-1] is TransitionCode.FAILURE_BUDGET_PAUSED
        (reported,) = turn.of(PauseReported)
        assert (reported.report.consumed, reported.report.budget) == (5, 5)
        assert [entry.tool for entry in reported.report.log] == ["reader"] * 3 + ["writer"] * 2
        assert (reported.report.completed, reported.report.failed) == ((), ("reader, 3 calls", "writer, 2 calls"))
        cautious = [event.caution for event in turn.of(Dispatched)]
        assert cautious == [False, False, False, False, True]
        more = await here.retry()
        assert more.end.code is TransitionCode.COMPLETED
        assert here.agent.parts.breakers.registry.consumed == 0


async def test_when_all_that_is_left_of_a_plan_needs_an_open_tool_the_turn_pauses(tmp_path: Path) -> None:
    plan = (
        '{ name = "todo_write", input = { items = [{ text = "look", status = "done" }, '
        '{ text = "run the tests", status = "pending", tools = ["bash"] }] } }'
    )
    script = calls(plan) + calls(call("bash", command="true")) + says(ANSWER)
    async with stage(tmp_path, script) as here:
        here.agent.parts.breakers.command(BreakerCommand.ISOLATE, "bash")
        turn = await here.turn()
        assert turn.of(Dispatched)[-1].reason is DispatchReason.NOTHING_LEFT
        (reported,) = turn.of(PauseReported)
        assert reported.report.completed == ("look",)
        (deferred,) = reported.report.deferred
        assert deferred.item.text == "run the tests"
        assert "bash" in deferred.reason
        assert deferred.unblock


# ── one cause ───────────────────────────────────────────────────────────────────────────────────


# ── checks before a call ────────────────────────────────────────────────────────────────────────


def checked(check: Callable[[], ToolHealth]) -> Tool:
    """A tool with a check."""
    from dataclasses import replace

    async def ask() -> ToolHealth:
        return check()

    return replace(flaky("remote", "an answer"), check=ask)


async def test_a_tool_that_cannot_work_now_is_skipped_and_costs_nothing(tmp_path: Path) -> None:
    away = checked(lambda: ToolHealth(Score.UNAVAILABLE, "its server is not running"))
    async with stage(tmp_path, rounds("remote", 2) + says(ANSWER), tools=[away]) as here:
        turn = await here.turn()
        assert dispatches(turn) == [SKIP, SKIP]
        assert len(turn.of(ToolScored)) == 1  # the score is believed for some steps
        assert "its server is not running" in turn.results[0]["content"]
        assert turn.of(FailureCharged) == []


async def test_a_check_that_fails_is_advice_and_no_failure(tmp_path: Path) -> None:
    def fail() -> ToolHealth:
        raise OSError("no route to host")

    async with stage(tmp_path, rounds("remote", 1) + says(ANSWER), tools=[checked(fail)]) as here:
        turn = await here.turn()
        (scored,) = turn.of(ToolScored)
        assert scored.score is Score.DEGRADED
        assert [event.reason for event in turn.of(Dispatched)] == [DispatchReason.DEGRADED]


@pytest.mark.parametrize("health", [ToolHealth(Score.AVAILABLE), ToolHealth(Score.DEGRADED, "slow today")])
async def test_a_tool_that_may_be_called_is_checked_every_fifth_step(tmp_path: Path, health: ToolHealth) -> None:
    asked: list[ToolHealth] = []

    def check() -> ToolHealth:
        asked.append(health)
        return health

    @tool(effect=Effect.READ, check=check)
    def remote(number: int = 0) -> str:
        """Look it up."""
        return "found"

    async with stage(tmp_path, rounds("remote", 6) + says(ANSWER), tools=[remote]) as here:
        turn = await here.turn()
        assert dispatches(turn) == [CALL] * 6
        assert len(asked) == len(turn.of(ToolScored)) == 2


async def test_a_tool_that_works_again_is_called_at_once(tmp_path: Path) -> None:
    scores = iter([False, False, True])

    @tool(effect=Effect.READ, check=lambda: next(scores))
    def remote(number: int = 0) -> str:
        """Look it up."""
        return "found"

    async with stage(tmp_path, rounds("remote", 4) + says(ANSWER), tools=[remote]) as here:
        turn = await here.turn()
        assert dispatches(turn) == [SKIP, SKIP, CALL, CALL]
        assert [event.score for event in turn.of(ToolScored)] == [Score.UNAVAILABLE, Score.AVAILABLE]


async def test_a_failure_makes_an_available_tool_be_checked_again(tmp_path: Path) -> None:
    script = calls(call("bash", command="rmdir $PWD")) + calls(call("bash", command="pwd")) * 3 + says(ANSWER)
    async with stage(tmp_path, script) as here:
        turn = await here.turn()
        assert dispatches(turn) == [CALL, CALL, SKIP, SKIP]
        assert len(turn.of(FailureCharged)) == 1
        assert [event.score for event in turn.of(ToolScored)] == [Score.AVAILABLE, Score.UNAVAILABLE]
        here.workspace.mkdir()


async def hangs() -> bool:
    while True:
        try:
            await asyncio.sleep(3600)
        except asyncio.CancelledError:
            await asyncio.sleep(3600)  # the first cancellation is ignored


async def cancels_itself() -> bool:
    raise asyncio.CancelledError


def ends_the_program() -> bool:
    sys.exit(3)


async def ends_the_program_in_the_loop() -> bool:
    sys.exit(3)


def says_nothing() -> None:
    """A check that forgets its answer."""


@pytest.mark.parametrize(
    ("check", "why"),
    [
        (hangs, "took longer than 2 s"),
        (cancels_itself, "cancelled itself"),
        (ends_the_program, "failed: RuntimeError: SystemExit: 3"),
        (ends_the_program_in_the_loop, "failed: SystemExit: 3"),
        (says_nothing, "failed: TypeError: it returned None instead of a ToolHealth, True or False"),
    ],
)
async def test_nothing_that_a_check_does_ends_the_turn(tmp_path: Path, check: Callable[[], object], why: str) -> None:
    @tool(effect=Effect.READ, check=check)
    def remote(number: int = 0) -> str:
        """Look it up."""
        return "found"

    async with stage(tmp_path, rounds("remote", 1) + says(ANSWER), tools=[remote]) as here:
        turn = await here.turn()
        assert turn.of(ToolScored) == [ToolScored("remote", Score.DEGRADED, f"its check {why}")]
        assert dispatches(turn) == [CALL]
        assert turn.end.code is TransitionCode.COMPLETED


async def test_an_interruption_does_not_wait_for_a_check(tmp_path: Path) -> None:
    asked = asyncio.Event()

    async def check() -> bool:
        asked.set()
        await asyncio.sleep(3600)
        return True

    @tool(effect=Effect.READ, check=check)
    def remote(number: int = 0) -> str:
        """Look it up."""
        return "found"

    async with stage(tmp_path, rounds("remote", 1), tools=[remote]) as here:

        async def interrupt() -> None:
            await asked.wait()
            here.agent.interrupt()

        interrupting = asyncio.create_task(interrupt())
        turn = await here.turn()
        await interrupting
        assert turn.end.code is TransitionCode.ABORTED_TOOLS
        assert turn.of(ToolScored) == []


async def test_bash_and_grep_are_skipped_while_the_workspace_is_gone_and_cost_nothing(tmp_path: Path) -> None:
    script = calls(call("bash", command="pwd"), call("grep", pattern="x")) * 4 + says(ANSWER)
    script += calls(call("bash", command="pwd")) + says(ANSWER)
    async with stage(tmp_path, script) as here:
        here.workspace.rename(tmp_path / "away")
        turn = await here.turn()
        assert dispatches(turn) == [SKIP] * 8
        assert turn.of(FailureCharged) == []
        assert f"the folder {here.workspace} is gone" in turn.results[0]["content"]
        assert turn.end.code is TransitionCode.COMPLETED
        (tmp_path / "away").rename(here.workspace)
        again = await here.turn()
        assert dispatches(again) == [CALL]
        assert [event.outcome for event in again.of(ToolEnded)] == [ToolOutcome.OK]


# ── changes by hand ─────────────────────────────────────────────────────────────────────────────


async def test_a_change_of_the_numbers_is_an_event_and_holds_from_the_next_decision_on(tmp_path: Path) -> None:
    broken = flaky("broken", LATE)
    async with stage(tmp_path, rounds("broken", 2) + says(ANSWER), tools=[broken]) as here:
        here.agent.parts.breakers.set_limits(threshold=1)
        turn = await here.turn()
        assert dispatches(turn) == [CALL, SKIP]
        assert [event.limits.threshold for event in here.recorded if isinstance(event, DispatchLimitsSet)] == [1]


async def test_missing_programs_do_not_take_the_shell_away_and_a_program_that_fails_again_is_skipped(
    tmp_path: Path,
) -> None:
    lines = [
        "no-foo x",
        "no-bar -V",
        "no-baz y",
        "echo here",
        "no-foo",
        "cd . && no-foo -x",
        "no-foo again",
        "echo end",
    ]
    script = "".join(calls(call("bash", command=line)) for line in lines) + says(ANSWER)
    async with stage(tmp_path, script, permission_mode="yolo", failure_budget=20) as here:
        turn = await here.turn()
        ended = [event.outcome for event in turn.of(ToolEnded)]
        assert ended[3] is ended[7] is ToolOutcome.OK
        assert [event.key for event in turn.of(BreakerChanged) if event.after is BreakerState.OPEN] == ["bash:no-foo"]
        skipped = turn.of(Dispatched)[6]
        assert (skipped.dispatch, skipped.tool, skipped.key) == (Dispatch.SKIP, "bash", "bash:no-foo")
        assert turn.results[6]["content"].startswith("bash:no-foo was not run: it failed 3 times in a row")
        assert "reach the same end without no-foo" in turn.results[6]["content"]
        here.check()
