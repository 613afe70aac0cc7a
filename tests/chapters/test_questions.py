"""The questions before steps: the answer in the file is what the run then did."""

from collections.abc import Sequence
from datetime import datetime
from zoneinfo import ZoneInfo

import pytest

from chapters.course import Fact, Lesson, Recording, WireExchange, lessons, source
from harness.events import (
    BreakerChanged,
    CompactionEnded,
    Dispatched,
    Intervened,
    JobFired,
    LoopFound,
    PermissionAsked,
    PollNoted,
    RetryScheduled,
    TaskChanged,
    ToolEnded,
    ToolOutcome,
    ToolStarted,
    Transition,
    TurnStarted,
)
from harness.events.admission import WorkAdmitted, WorkDropped, WorkQueued, WorkRejected

pytestmark = pytest.mark.anyio
ASKING = [lesson for lesson in lessons() if any(step.question for step in lesson.steps)]
LEAST = {
    "s01": 1,
    "s02": 1,
    "s03": 1,
    "s04": 1,
    "s06": 1,
    "s08": 2,
    "s11": 2,
    "s12": 2,
    "s13": 2,
    "s14": 2,
    "s21": 2,
    "s22": 2,
    "s23": 2,
    "s24": 3,
    "s25": 1,
}
MADE = {"drain": "truncation", "compact": "summary"}
AFTER_A_BREAK = {"max_output_tokens_recovery": "continue", "next_turn": "run", "completed": "stop"}
RETRIES = ("retry", "retry_then_switch", "retry_fresh")


def first(facts: Sequence[Fact], *kinds: type) -> Fact:
    return next(fact for fact in facts if isinstance(fact, kinds))


def did(about: str, before: Sequence[Fact], after: Sequence[Fact], value: str) -> bool:
    """Whether the run did what an option with this value says; `after` begins with the fact of the step."""
    match about:
        case "delay":
            wait = first(after, RetryScheduled)
            least, most = map(float, value.split("-"))
            return isinstance(wait, RetryScheduled) and least <= wait.delay_s <= most
        case "response":
            asked = [fact for fact in (*before, *after) if isinstance(fact, WireExchange)]
            failed = next(one for one in reversed(asked[: _sent(before)]) if one.answer != "200")
            again = asked[asked.index(failed) + 1]
            return value in RETRIES and again.sent == failed.sent
        case "endpoint" | "breaker":
            change = first(after, BreakerChanged)
            return isinstance(change, BreakerChanged) and change.after == value
        case "dispatch":
            call = first(after, Dispatched)
            return isinstance(call, Dispatched) and call.dispatch == value
        case "transition":
            code = first(after, Transition, WireExchange, TurnStarted)
            if isinstance(code, Transition):
                return code.code == value
            return value == ("completed" if isinstance(code, TurnStarted) else "next_turn")
        case "stream":
            follows = first(after, RetryScheduled, Transition)
            return value == (AFTER_A_BREAK.get(follows.code) if isinstance(follows, Transition) else "resend")
        case "room":
            made = first(after, CompactionEnded)
            return isinstance(made, CompactionEnded) and MADE.get(value) == made.method
        case "loop":
            turn = max(number for number, fact in enumerate(before) if isinstance(fact, TurnStarted))
            return value == ("loop" if any(isinstance(fact, LoopFound) for fact in before[turn:]) else "none")
        case "rung":
            taken = first(after, Intervened)
            return isinstance(taken, Intervened) and taken.rung == value
        case "admission":
            kinds = (WorkAdmitted, WorkQueued, WorkDropped, WorkRejected)
            event = first(after, *kinds)
            return isinstance(event, kinds) and f"{type(event).__name__} {event.key}" == value
        case "claim":
            answered = first(after, ToolEnded)
            assert isinstance(answered, ToolEnded)
            return value == ("granted" if answered.outcome is ToolOutcome.OK else "refused")
        case "deferral":
            failed_task = first(after, TaskChanged)
            assert isinstance(failed_task, TaskChanged)
            return value.split() == list(failed_task.deferred)
        case "repair":
            sent = first(after, WireExchange)
            assert isinstance(sent, WireExchange)
            ran = any(isinstance(fact, ToolStarted) for fact in after[: after.index(sent)])
            return value == ("run_again" if ran else "error_result" if sent.failed_results else "removed")
        case "poll":
            result = first(after, ToolEnded)
            noted = any(isinstance(fact, PollNoted) for fact in after[: after.index(result)])
            return value == ("noted" if noted else "plain")
        case "hang":
            read = next(fact for fact in after if isinstance(fact, WireExchange)).last
            return value == ("hang" if "seems to hang" in read else "slow" if "seems to be slow" in read else "")
        case "next":
            fire = first(after, JobFired)
            assert isinstance(fire, JobFired)
            return value[:2] == datetime.fromtimestamp(fire.due, ZoneInfo("Europe/Berlin")).strftime("%H")
        case "missed":
            fire = first(after, JobFired)
            assert isinstance(fire, JobFired)
            return value == ("once" if fire.missed else "each")
        case "permission":
            event = first(after, PermissionAsked, ToolEnded)
            denied = isinstance(event, ToolEnded) and event.outcome is ToolOutcome.DENIED
            return value == ("ask" if isinstance(event, PermissionAsked) else "deny" if denied else "allow")
    raise AssertionError(f"no reading of the run for questions about {about}")


def _sent(before: Sequence[Fact]) -> int:
    return sum(isinstance(fact, WireExchange) for fact in before)


@pytest.mark.grid(3)
@pytest.mark.parametrize("lesson", ASKING, ids=lambda lesson: lesson.id)
async def test_the_answer_is_what_the_run_then_did(lesson: Lesson) -> None:
    async with Recording(lesson, scripted_only=True) as recording:
        await recording.finished()
        facts = [moment.fact for moment in recording.moments]
        for number, (step, found) in enumerate(zip(lesson.steps, recording.steps, strict=True), 1):
            if (asked := step.question) is None:
                continue
            before, after = facts[: found.moment.number], facts[found.moment.number :]
            done = [option.value for option in asked.options if did(asked.about, before, after, option.value)]
            assert (number, done) == (number, [asked.answer.value])
            assert source(asked.rule).text.strip()


def test_chapters_with_a_policy_ask() -> None:
    counts = {lesson.id: sum(step.question is not None for step in lesson.steps) for lesson in ASKING}
    assert {id: counts.get(id, 0) >= least for id, least in LEAST.items()} == dict.fromkeys(LEAST, True)
