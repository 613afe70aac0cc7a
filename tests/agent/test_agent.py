"""Every transition code is reached: one scripted scenario each."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from harness.events import Event, TextDelta, ToolStarted
from harness.events import TransitionCode as Code
from harness.hooks import Hook, HookAnswer, HookCall, hook
from harness.policies.recovery.transitions import TRANSITIONS, TransitionKind, exit_code
from tests.agent.stage import Stage, calls, fails, run, says, stage, summarises, too_long

pytestmark = pytest.mark.anyio

ANSWER = "The workspace holds one note, and the note says forty-two."
FIRST = "First, the note was found in the folder and opened without trouble. "
SECOND = "Second, it was read from the first line to the last. "
IMAGE = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
THINKS = '[profile]\nthinking = "adaptive"\n'
LOOK = calls(run("look"), text="Let me look.")
LONG = '{ name = "bash", input = { command = "head -c 40000 /dev/zero | tr \'\\\\0\' x" } }'
MISSING = calls('{ name = "bash", input = { command = "no-such-program" } }')


@dataclass(frozen=True)
class Scenario:
    """One prompt, what the server plays, and how it must go."""

    script: str
    codes: list[Code]
    """Of the last turn, one a step."""
    requests: int
    """All in all."""
    answer: str = ANSWER
    settings: dict[str, Any] = field(default_factory=dict)
    interrupt_at: type[Event] | None = None
    turns: int = 1
    hooks: tuple[Hook, ...] = ()


def cut(text: str) -> str:
    return says(text, stop_reason='"max_tokens"')


@hook("stop")
def wants_a_second_look(call: HookCall) -> HookAnswer | None:
    return HookAnswer(block="look at it again") if call.objections < 2 else None


@hook("stop")
def has_seen_enough(call: HookCall) -> HookAnswer:
    return HookAnswer(stop="enough for today")


@hook("before_tool", tools="bash")
def ends_the_turn(call: HookCall) -> HookAnswer:
    return HookAnswer(stop="no programs on Sundays")


SCENARIOS: dict[Code, Scenario] = {
    Code.COMPLETED: Scenario(says(ANSWER), [Code.COMPLETED], 1),
    Code.NEXT_TURN: Scenario(LOOK + says(ANSWER), [Code.NEXT_TURN, Code.COMPLETED], 2),
    Code.MAX_OUTPUT_TOKENS_ESCALATE: Scenario(
        cut(FIRST) + says(ANSWER), [Code.MAX_OUTPUT_TOKENS_ESCALATE, Code.COMPLETED], 2
    ),
    Code.MAX_OUTPUT_TOKENS_RECOVERY: Scenario(
        cut(FIRST) + cut(FIRST) + says(SECOND),
        [Code.MAX_OUTPUT_TOKENS_ESCALATE, Code.MAX_OUTPUT_TOKENS_RECOVERY, Code.COMPLETED],
        3,
        answer=FIRST + SECOND,
    ),
    Code.MAX_OUTPUT_TOKENS_EFFORT: Scenario(
        THINKS + says(ANSWER, tokens="200_000"),
        [Code.MAX_OUTPUT_TOKENS_EFFORT, Code.COMPLETED],
        2,
        settings={"model": "claude-opus-5-5"},
    ),
    Code.MAX_OUTPUT_TOKENS_EXHAUSTED: Scenario(
        THINKS + says(ANSWER, tokens="2_000_000"),
        [Code.MAX_OUTPUT_TOKENS_EFFORT, Code.MAX_OUTPUT_TOKENS_EXHAUSTED],
        2,
        answer="",
        settings={"model": "claude-opus-5-5"},
    ),
    Code.REFUSAL_FALLBACK: Scenario(
        says("I would rather not.", stop_reason='"refusal"') + says(ANSWER),
        [Code.REFUSAL_FALLBACK, Code.COMPLETED],
        2,
        settings={"fallback_models": ("claude-haiku-4-5",)},
    ),
    Code.REACTIVE_COMPACT_RETRY: Scenario(
        LOOK + too_long() + says(ANSWER) + summarises(),
        [Code.NEXT_TURN, Code.REACTIVE_COMPACT_RETRY, Code.COMPLETED],
        4,
    ),
    Code.PROMPT_TOO_LONG: Scenario(
        LOOK + too_long(times='"forever"') + summarises(),
        [Code.NEXT_TURN, *[Code.REACTIVE_COMPACT_RETRY] * 3, Code.PROMPT_TOO_LONG],
        6,
        answer="",
    ),
    Code.COLLAPSE_DRAIN_RETRY: Scenario(
        "".join(calls(LONG) for _ in range(8)) + too_long(201_000, 200_000) + says(ANSWER),
        [*[Code.NEXT_TURN] * 8, Code.COLLAPSE_DRAIN_RETRY, Code.COMPLETED],
        10,
        settings={"loop_intervention": False},
    ),
    Code.MODEL_ERROR: Scenario(says("I would rather", stop_reason='"refusal"'), [Code.MODEL_ERROR], 1, answer=""),
    Code.API_ERROR: Scenario(fails(402), [Code.API_ERROR], 1, answer=""),
    Code.IMAGE_ERROR: Scenario(
        fails(400, message='"messages.0.content.0: Could not process image"'), [Code.IMAGE_ERROR], 1, answer=""
    ),
    Code.ABORTED_STREAMING: Scenario(
        says(ANSWER, chunk="20", event_delay="0.05"), [Code.ABORTED_STREAMING], 1, ANSWER[:20], interrupt_at=TextDelta
    ),
    Code.ABORTED_TOOLS: Scenario(
        calls('{ name = "bash", input = { command = "sleep 60" } }'),
        [Code.ABORTED_TOOLS],
        1,
        answer="",
        interrupt_at=ToolStarted,
    ),
    Code.TOKEN_BUDGET_CONTINUATION: Scenario(
        says(FIRST, usage="{ output_tokens = 600 }") + says(SECOND, usage="{ output_tokens = 400 }"),
        [Code.TOKEN_BUDGET_CONTINUATION, Code.COMPLETED],
        2,
        answer=FIRST + SECOND,
        settings={"token_budget": 1000},
    ),
    Code.BLOCKING_LIMIT: Scenario(
        too_long(20_000, 2_000), [Code.BLOCKING_LIMIT], 1, answer="", settings={"auto_compact": False}, turns=2
    ),
    Code.STOP_HOOK_BLOCKING: Scenario(
        says(FIRST) + says(SECOND) + says(ANSWER),
        [Code.STOP_HOOK_BLOCKING, Code.STOP_HOOK_BLOCKING, Code.COMPLETED],
        3,
        answer=f"{FIRST}\n\n{SECOND}\n\n{ANSWER}",
        hooks=(wants_a_second_look,),
    ),
    Code.STOP_HOOK_PREVENTED: Scenario(says(ANSWER), [Code.STOP_HOOK_PREVENTED], 1, hooks=(has_seen_enough,)),
    Code.HOOK_STOPPED: Scenario(
        calls(run("never"), run("never")), [Code.HOOK_STOPPED], 1, answer="", hooks=(ends_the_turn,)
    ),
    Code.MAX_TURNS: Scenario(
        LOOK + calls(run("again")), [Code.NEXT_TURN, Code.MAX_TURNS], 2, answer="", settings={"max_steps": 2}
    ),
    Code.BUDGET_EXHAUSTED: Scenario(
        calls(run("look"), usage="{ output_tokens = 100000 }"),
        [Code.NEXT_TURN, Code.BUDGET_EXHAUSTED],
        1,
        answer="",
        settings={"max_budget_usd": 0.5},
    ),
    Code.MALFORMED_TOOL_USE: Scenario(
        calls(run("never"), fault='"tool_json"', times="3"),
        [Code.NEXT_TURN, Code.NEXT_TURN, Code.MALFORMED_TOOL_USE],
        3,
        answer="",
    ),
    Code.EMPTY_ANSWER: Scenario(
        says("", times="2"), [Code.MAX_OUTPUT_TOKENS_RECOVERY, Code.EMPTY_ANSWER], 2, answer=""
    ),
    Code.FAILURE_BUDGET_PAUSED: Scenario(
        MISSING + MISSING, [Code.NEXT_TURN, Code.FAILURE_BUDGET_PAUSED], 2, answer="", settings={"failure_budget": 2}
    ),
    Code.LOOP_STOPPED: Scenario(
        calls('{ name = "read_file", input = { path = "missing.txt" } }', times='"forever"'),
        [*[Code.NEXT_TURN] * 6, Code.LOOP_STOPPED],
        7,
        answer="",
    ),
    Code.WAIT_LIMIT: Scenario(
        calls('{ name = "bash", input = { command = "test -f done" } }', times='"forever"'),
        [*[Code.NEXT_TURN] * 9, Code.WAIT_LIMIT],
        10,
        answer="",
        settings={"loop_limits": "wait_total_s=40"},
    ),
    Code.COMPACTION_THRASH: Scenario(
        "".join(too_long() + calls(LONG) for _ in range(4)) + summarises(),
        [*[Code.REACTIVE_COMPACT_RETRY, Code.NEXT_TURN] * 3, Code.COMPACTION_THRASH],
        10,
        answer="",
    ),
}


def test_every_code_has_its_scenario() -> None:
    assert SCENARIOS.keys() == TRANSITIONS.keys()
    assert {code for code, row in TRANSITIONS.items() if row.kind is TransitionKind.END} == {
        code for code, row in TRANSITIONS.items() if row.exit_code is not None
    }


@pytest.mark.parametrize("code", SCENARIOS)
async def test_the_scenario_of_a_code_reaches_it(code: Code, tmp_path: Path) -> None:
    scenario = SCENARIOS[code]
    async with stage(tmp_path, scenario.script, hooks=scenario.hooks, **scenario.settings) as here:

        def interrupt(event: Event) -> None:
            if scenario.interrupt_at is not None and isinstance(event, scenario.interrupt_at):
                here.agent.interrupt()

        for _ in range(scenario.turns):
            turn = await here.turn(on_event=interrupt)
        assert turn.codes == scenario.codes, turn.end.reason
        assert code in turn.codes
        assert len(here.posts) == scenario.requests
        assert turn.end.code is turn.codes[-1]
        assert turn.end.answer == scenario.answer
        assert exit_code(turn.end.code) == (0 if turn.end.code is Code.COMPLETED else TRANSITIONS[code].exit_code)
        assert turn.end.reason
        assert_nothing_ran_twice(here)


def assert_nothing_ran_twice(here: Stage) -> None:
    assert set(here.ran().values()) <= {1}
    assert "never" not in here.ran()
