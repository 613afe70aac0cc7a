"""Every transition code is reached: one scripted scenario each."""

import tomllib
from pathlib import Path

import pytest

from harness.events import Event, TextDelta, ToolStarted
from harness.events import TransitionCode as Code
from harness.hooks import HookAnswer, HookCall, hook
from harness.policies.recovery.transitions import TRANSITIONS, TransitionKind, exit_code
from tests.agent.stage import stage

pytestmark = pytest.mark.anyio

SCENARIOS = tomllib.loads(Path(__file__).with_name("agent.toml").read_text("utf-8"))


@hook("stop")
def wants_a_second_look(call: HookCall) -> HookAnswer | None:
    return HookAnswer(block="look at it again") if call.objections < 2 else None


@hook("stop")
def has_seen_enough(call: HookCall) -> HookAnswer:
    return HookAnswer(stop="enough for today")


@hook("before_tool", tools="bash")
def ends_the_turn(call: HookCall) -> HookAnswer:
    return HookAnswer(stop="no programs on Sundays")


HOOKS = {one.name: one for one in (wants_a_second_look, has_seen_enough, ends_the_turn)}
INTERRUPTING: dict[str, type[Event]] = {"TextDelta": TextDelta, "ToolStarted": ToolStarted}


def test_every_code_has_its_scenario() -> None:
    assert {Code(name) for name in SCENARIOS} == TRANSITIONS.keys()
    assert {code for code, row in TRANSITIONS.items() if row.kind is TransitionKind.END} == {
        code for code, row in TRANSITIONS.items() if row.exit_code is not None
    }


@pytest.mark.parametrize("code", Code)
async def test_the_scenario_of_a_code_reaches_it(code: Code, tmp_path: Path) -> None:
    scenario = SCENARIOS[code]
    hooks = [HOOKS[name] for name in scenario.get("hooks", ())]
    async with stage(tmp_path, scenario["script"], hooks=hooks, **scenario.get("settings", {})) as here:

        def interrupt(event: Event) -> None:
            if isinstance(event, INTERRUPTING.get(scenario.get("interrupt_at", ""), ())):
                here.agent.interrupt()

        for _ in range(scenario.get("turns", 1)):
            turn = await here.turn(on_event=interrupt)
        assert turn.codes == scenario["codes"], turn.end.reason
        assert code in turn.codes
        assert len(here.posts) == scenario["requests"]
        assert turn.end.code is turn.codes[-1]
        assert turn.end.answer == scenario["answer"]
        assert exit_code(turn.end.code) == (0 if turn.end.code is Code.COMPLETED else TRANSITIONS[code].exit_code)
        assert turn.end.reason
        assert set(here.ran().values()) <= {1}
        assert "never" not in here.ran()
