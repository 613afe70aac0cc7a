"""Every kind of /fault and /toolfault, played on the real socket against the real agent."""

from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import HarnessError
from harness.engine.permissions.asker import NoAsker
from harness.events import Event, FaultOrdered, ToolEnded, ToolOutcome, TurnStarted
from harness.events import TransitionCode as Code
from harness.journal import read
from harness.practice.faults.model_orders import break_model
from harness.practice.faults.words import MODEL_KINDS, TOOL_KINDS
from harness.session import open_session
from harness.settings import load
from tests.agent.stage import calls, played, run, says, stage, summarises
from tests.agent.test_agents import of_subagent, task
from tests.cases import cases, lines, parts

pytestmark = pytest.mark.anyio

ANSWER = "The answer is forty-two, as far as anybody can tell from here."
LOOK = calls(run("look"))
IMPATIENT = {
    f"watch_{limit}_s": 0.3 for limit in ("headers", "quiet_bytes", "quiet_event", "content_bytes", "content_event")
}
SILENT = frozenset({"stall", "stall-headers", "pings"})
"""Kinds that only the watchdog ends; for the others a busy machine is no silence."""


def test_every_kind_is_played() -> None:
    assert set(lines(__file__, "model")) == MODEL_KINDS.keys()
    assert set(lines(__file__, "tool")) == TOOL_KINDS.keys()


@cases(__file__, "model", "kind fault requests codes", str, str, int, parts)
async def test_a_fault_that_was_ordered_leads_to_its_transition_and_is_gone_after_it(
    kind: str, fault: str, requests: int, codes: list[str], tmp_path: Path
) -> None:
    script = LOOK + says(ANSWER) + says("And again.") + summarises()
    patience: dict[str, Any] = IMPATIENT if kind in SILENT else {}
    async with stage(tmp_path, script, **patience) as here:
        begins_with = ToolEnded if codes[0] == Code.NEXT_TURN and kind != "garbage-tool" else TurnStarted

        def order(event: Event) -> None:
            if isinstance(event, begins_with):
                break_model(fault, here.server.orders)

        turn = await here.turn(on_event=order)
        assert turn.codes == codes, turn.end.reason
        assert len(here.posts) == requests
        if turn.end.code is Code.COMPLETED:
            assert turn.end.answer.endswith(ANSWER)
            assert turn.end.answer.count("forty-two") == 1
        assert here.ran() == {"look": 1}
        assert here.server.orders.waiting == ()
        after = await here.turn("Once more.")
        assert after.codes == [Code.COMPLETED], after.end.reason


@cases(__file__, "tool", "kind outcome category")
async def test_the_tool_of_a_running_agent_goes_wrong_as_ordered_and_only_as_often(
    kind: str, outcome: str, category: str, tmp_path: Path
) -> None:
    async with stage(tmp_path, calls(run("first"), run("second")) + says(ANSWER)) as here:
        assert here.agent.parts.faults.break_tool(f"bash {kind}").startswith("On purpose, for the next call of bash: ")
        here.agent.parts.faults.break_tool("grep timeout")
        turn = await here.turn()
        hit, well = turn.of(ToolEnded)
        assert (hit.outcome, hit.failure.category if hit.failure else "none") == (outcome, category)
        assert well.outcome is ToolOutcome.OK
        assert here.ran() == ({"first": 1, "second": 1} if kind == "slow" else {"second": 1})
        assert "waiting: grep timeout" in here.agent.parts.faults.break_tool("").splitlines()
        assert here.agent.parts.faults.break_tool("off") == "Called off; 1 call would have gone wrong."
        orders = [event for event in here.recorded if isinstance(event, FaultOrdered)]
        assert [(event.target, event.order) for event in orders] == [
            ("tool", f"bash {kind}"),
            ("tool", "grep timeout"),
            ("tool", "off"),
        ]


async def test_a_real_model_cannot_be_broken_and_the_sentence_says_what_can(tmp_path: Path) -> None:
    async with stage(tmp_path, says(ANSWER)) as here:
        with pytest.raises(HarnessError, match="harness practice proxy"):
            here.agent.parts.faults.break_model("529")
        assert (await here.turn()).codes == [Code.COMPLETED]


@pytest.mark.parametrize("warm", [True, False])
async def test_the_built_in_model_can_be_broken_before_it_has_started_and_the_journal_knows(
    warm: bool, tmp_path: Path
) -> None:
    (tmp_path / "workspace").mkdir()
    values = {"practice": True, "workspace": tmp_path / "workspace", "state_dir": tmp_path / "state"}
    loaded = load(values, {}, tmp_path / "workspace", user_file=tmp_path / "no-settings.toml")
    async with await open_session(loaded, NoAsker(), warm=warm) as session:
        session.faults.break_model("400 2")
        first = await played(session.run("Hello."))
        assert first.codes == [Code.API_ERROR]
        assert session.faults.break_model("off") == "Called off; 1 request would have gone wrong."
        second = await played(session.run("Hello."))
        assert second.codes == [Code.COMPLETED]
        kept = [record.event for record in read(session.path).records]
        assert [event.order for event in kept if isinstance(event, FaultOrdered)] == ["400 2", "off"]


async def test_a_tool_is_broken_for_the_agents_that_work_for_the_agent_as_well(tmp_path: Path) -> None:
    script = calls(task()) + of_subagent(calls(run("never"))) + of_subagent(says("It did not work.")) + says(ANSWER)
    async with stage(tmp_path, script) as here:
        here.agent.parts.faults.break_tool("bash missing")
        turn = await here.turn()
        assert turn.end.answer == ANSWER
        assert here.ran() == {}
        assert "waiting: nothing" in here.agent.parts.faults.break_tool("").splitlines()
