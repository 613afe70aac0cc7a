"""How an agent is made that works for another: its history, its budget, and its end."""

import asyncio
from pathlib import Path

import psutil
import pytest

from harness.base.errors import HarnessError
from harness.engine.permissions.asker import NoAsker
from harness.engine.subagents.factory import SubagentFactory
from harness.engine.subagents.reports import SubagentSpec
from harness.events import (
    AgentEnd,
    AgentEnded,
    BreakerCommand,
    BreakerCommanded,
    Notice,
    SessionStarted,
    SpendChanged,
    TransitionCode,
)
from harness.journal import Journal, read
from harness.plan_script.runner import _PlanSeat
from harness.session import Opening
from tests.agent.stage import KEY, Played, calls, fails, played, run, says, sessions
from tests.agent.test_agents import ends, of_subagent, on_stage, result, task

pytestmark = pytest.mark.anyio


LEARN = calls(task(prompt="Learn the word plum.")) + of_subagent(says("Learnt.")) + says("Good.")
RECALL = calls(task(prompt="Which word?", agent="a1"))


async def test_an_agent_continues_from_its_journal_when_the_session_is_resumed(tmp_path: Path) -> None:
    async with sessions(tmp_path, LEARN + RECALL + of_subagent(says("Plum.")) + says("Right.")) as here:
        async with await here.open() as first:
            await played(first.run("Go."))
            cost = first.conversation.spend.cost_usd
        async with await here.open(Opening("latest")) as second:
            assert [row.id for row in second.subagents.rows] == ["a1"]
            turn = await played(second.run("And now?"))
            assert result(turn)["content"].startswith("Plum.")
            (ended,) = turn.of(AgentEnded)
            assert ended.requests == 1
            assert second.conversation.spend.cost_usd == pytest.approx(cost + turn.end.cost_usd)
            journal = read(second.agents_folder / "a1.jsonl")
        (request,) = [one for one in here.server.requests if "Which word?" in str(one.body.get("messages", [{}])[-1])]
        assert "Learn the word plum." in str(request.body["messages"])
        assert journal.skipped == ()


async def test_a_copy_of_a_session_has_no_agents_of_the_original_and_says_so(tmp_path: Path) -> None:
    script = LEARN + RECALL + says("A pity.") + calls(task()) + of_subagent(says("New.")) + says("Good.")
    async with sessions(tmp_path, script) as here:
        async with await here.open() as first:
            await played(first.run("Go."))
        async with await here.open(Opening("latest", fork=True)) as copy:
            turn = await played(copy.run("And now?"))
            assert "what agent a1 did before is no longer recorded; start a new one" in result(turn)["content"]
            assert "Which word?" not in str(here.server.requests[-1].body["messages"][0])
            assert ends(turn) == [AgentEnd.NOT_STARTED]
            assert (await played(copy.run("A new one."))).of(AgentEnded)[0].agent == "a2"


async def test_where_no_journal_can_be_written_it_is_said_once_and_the_work_continues(tmp_path: Path) -> None:
    script = calls(task("one", "Learn the word plum."), task("two"), task("three"))
    script += of_subagent(says("Learnt.", times="3")) + says("Good.")
    script += (
        RECALL
        + of_subagent(says("Plum."))
        + says("Right.")
        + RECALL
        + of_subagent(says("Plum, still."))
        + says("Right.")
    )
    async with sessions(tmp_path, script) as here, await here.open() as session:
        session.agents_folder.write_text("in the way")
        turn = await played(session.run("Go."))
        assert ends(turn) == [AgentEnd.ANSWERED] * 3
        (notice,) = turn.of(Notice)
        assert "what agents do is not kept" in notice.text
        assert result(await played(session.run("And now?")))["content"].startswith("Plum.")
        session.agents_folder.unlink()  # half of its work must not be taken for the whole later
        assert result(await played(session.run("And now?")))["content"].startswith("Plum, still.")
        assert "Learn the word plum." in str(here.server.requests[-2].body["messages"])
        assert not session.agents_folder.exists()


AT_ONCE = 5
"""Agents that work at the same time (`max_concurrent`)."""
BUDGET_USD = 0.02
"""Spent before the agents are led out of their loop: what they send again is read from the cache, for little."""


async def test_agents_side_by_side_overshoot_the_money_of_the_session_by_no_more_than_what_is_under_way(
    tmp_path: Path,
) -> None:
    script = calls(*(task(f"task {number}") for number in range(6))) + of_subagent(
        "".join(calls(run("again"), times='"forever"'))
    )
    async with on_stage(tmp_path, script, max_budget_usd=BUDGET_USD, max_concurrent=3) as here:
        turn = await here.turn()
        assert ends(turn) == [AgentEnd.LIMIT] * 6
        assert turn.end.code is TransitionCode.BUDGET_EXHAUSTED
        costs = [event.cost_usd for event in turn.of(SpendChanged)]
        dearest = max(after - before for before, after in zip([0.0, *costs], costs, strict=False))
        assert BUDGET_USD <= here.agent.conversation.spend.cost_usd < BUDGET_USD + 3 * dearest
        assert here.agent.conversation.spend.cost_usd == pytest.approx(turn.end.cost_usd)


async def test_a_key_that_an_agent_sees_is_in_no_event_of_its_parent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    quoting = f'"the key {KEY} may not do this"'
    script = calls(task()) + of_subagent(calls('{ name = "bash", input = { command = "env" } }', text="I look."))
    script += of_subagent(fails(500, message=quoting)) + of_subagent(fails(401, message=quoting)) + says("A pity.")
    async with on_stage(tmp_path, script, max_retries=1) as here:
        turn = await here.turn()
        assert ends(turn) == [AgentEnd.FAILED]
        assert KEY not in str(here.recorded)
        assert here.agents is not None
        assert KEY not in (here.agents / "a1.jsonl").read_text()


async def test_settings_that_cannot_be_used_leave_no_journal_open(tmp_path: Path) -> None:
    faults = tmp_path / "faults.toml"
    faults.write_text('[[fault]]\ntool = "grep"\nkind = "timeout"\n')
    async with on_stage(tmp_path, "", tool_faults=faults) as here:
        assert here.agents is not None
        faults.unlink()
        factory = SubagentFactory(here.agent)
        for number in (1, 2):
            with pytest.raises(HarnessError, match=r"faults\.toml"):
                factory.create(SubagentSpec(f"a{number}", (), NoAsker(), again=False))
            with Journal.open(here.agents / f"a{number}.jsonl"):
                pass  # no other process holds it


@pytest.mark.parametrize("isolated", [True, False])
async def test_a_subagent_begins_with_the_open_breakers_of_its_parent(tmp_path: Path, isolated: bool) -> None:
    async with on_stage(tmp_path, "") as here:
        command = BreakerCommand.ISOLATE if isolated else BreakerCommand.TRIP
        here.agent.parts.breakers.command(command, "bash")
        spec = SubagentSpec("a1", ("bash", "grep"), NoAsker(), again=False, role="You review.")
        subagent = SubagentFactory(here.agent).create(spec)
        registry = here.agent.parts.breakers.registry
        assert registry.breaker("bash").isolated == isolated
        recorded = read((here.agents or tmp_path) / "a1.jsonl").records
        given = [record.event for record in recorded if isinstance(record.event, BreakerCommanded)]
        assert given == [BreakerCommanded(command, "bash")]
        (started,) = [record.event for record in recorded if isinstance(record.event, SessionStarted)]
        assert (started.session_id, started.workspace) == ("a1", str(here.agent.core.settings.workspace))
        assert await subagent.aclose() == ()


async def test_what_the_breakers_of_a_led_agent_learn_comes_back_to_its_lead(tmp_path: Path) -> None:
    async with on_stage(tmp_path, "") as here:
        lead, elsewhere = here.agent.parts.breakers, tmp_path / "elsewhere"
        elsewhere.mkdir()

        async def works(
            agent: str, command: BreakerCommand | None, *, led: bool = True, tree: Path | None = None
        ) -> str:
            seat = _PlanSeat(here.agent.conversation) if led else None
            spec = SubagentSpec(agent, ("bash", "grep"), NoAsker(), again=False, seat=seat, workspace=tree)
            subagent = SubagentFactory(here.agent).create(spec)
            own = subagent._agent.parts.breakers
            (row,) = [one for one in own.registry.rows() if one.tool == "bash"]
            begun = "probed" if row.probe_at == own.registry.step else row.state
            if command is not None:
                own.command(command, "bash")
            await subagent.aclose()
            return f"{begun} {lead.registry.breaker('bash').state}"

        assert await works("a1", BreakerCommand.TRIP, led=False) == "closed closed"
        assert await works("a2", BreakerCommand.TRIP, tree=elsewhere) == "closed closed"
        assert await works("a3", BreakerCommand.ISOLATE) == "closed closed"
        assert await works("a4", BreakerCommand.TRIP) == "closed open"
        assert await works("a5", None) == "probed open"
        assert await works("a6", BreakerCommand.RESET) == "probed closed"
        lead.command(BreakerCommand.ISOLATE, "bash")
        assert await works("a7", BreakerCommand.RESET) == "open open"


@pytest.mark.stories
async def test_many_agents_leave_no_task_and_no_file_open(tmp_path: Path) -> None:
    several = calls(*(task(f"task {number}") for number in range(30)))
    script = (several + of_subagent(says("Done.", times="30")) + says("All.")) * 2
    async with on_stage(tmp_path, script) as here:
        await here.turn()
        tasks, files = len(asyncio.all_tasks()), psutil.Process().num_fds()
        turn: Played = await here.turn()
        assert ends(turn) == [AgentEnd.ANSWERED] * 30
        # A pool may keep a connection for each agent that works at the same time: two ends and one task.
        tasks, files = tasks + AT_ONCE, files + 2 * AT_ONCE
        async with asyncio.timeout(60):  # the other end of a connection may need a moment to see that it was closed
            while len(asyncio.all_tasks()) > tasks or psutil.Process().num_fds() > files:  # noqa: ASYNC110  there is no event to await
                await asyncio.sleep(0.01)
        assert here.agent.parts.background is not None
        status, _ = here.agent.parts.background.admission
        assert status.running == status.queued == ()
