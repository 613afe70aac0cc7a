"""The fence of a task around whole turns: what a worker may do, what is recorded, and what the next one learns."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from harness.base.secrets import Masking, Secret
from harness.events import TransitionCode
from harness.fleet.database import FleetDatabase
from harness.fleet.fence import Fence, earlier_effects
from harness.fleet.tasks import FenceLost, FleetEffect, FleetTasks
from harness.hooks import HookAnswer, HookCall, hook
from harness.policies.fleet.task import FleetDraft, FleetState, TaskOutcome
from tests.agent.stage import calls, run, says, stage
from tests.agent.test_agents import of_subagent, on_stage, task
from tests.fleet.postgres import Server, needs_postgres, new_scope, shared_server

pytestmark = pytest.mark.anyio

READ = '{ name = "glob", input = { pattern = "*" } }'
WRONG = '{ name = "edit_file", input = { path = "none.txt", old_string = "a", new_string = "b" } }'
FAILS = '{ name = "bash", input = { command = "false" } }'


@pytest.fixture
def tasks() -> Iterator[FleetTasks]:
    with closing(FleetTasks(FleetDatabase(shared_server().url), scope=new_scope())) as store:
        yield store


def begun(tasks: FleetTasks, **options: object) -> Fence:
    return Fence(tasks, tasks.begin(tasks.submit(FleetDraft("Do it.")).id, "w1", "m1"), **options)  # type: ignore[arg-type]


def seen(tasks: FleetTasks, fence: Fence) -> list[tuple[str, str]]:
    return [(one.text, (one.outcome or "unknown").partition(":")[0]) for one in tasks.effects(fence.task.id)]


async def test_each_call_that_may_change_something_is_recorded_with_its_outcome(
    tmp_path: Path, tasks: FleetTasks
) -> None:
    fence = begun(tasks, masking=Masking([Secret("sk-ant-a-key-of-the-user")]))
    denies = hook("before_tool", tools="bash", name="denies")(
        lambda call: HookAnswer(block="no") if "never" in call.input["command"] else None
    )
    breaks = hook("before_tool", tools="edit_file", name="breaks")(lambda call: HookAnswer(input={"path": "none.txt"}))
    script = (
        calls(READ)
        + calls('{ name = "bash", input = { command = "echo sk-ant-a-key-of-the-user" } }')
        + calls(WRONG)
        + calls(FAILS)
        + calls(run("never"))
    )
    async with stage(tmp_path, script + says("Done."), hooks=[denies, breaks, *fence.hooks()]) as here:
        await here.turn()
    found = seen(tasks, fence)
    assert [text.partition(":")[0] for text, _ in found] == ["bash", "edit_file", "bash", "bash"]
    assert [outcome for _, outcome in found] == ["ok", "invalid", "error", "denied"]
    assert "a-key-of-the-user" not in str(tasks.effects(fence.task.id))
    assert "none.txt" in found[1][0]


async def test_nothing_runs_once_another_worker_has_started_the_task(tmp_path: Path, tasks: FleetTasks) -> None:
    fence = begun(tasks)

    async def taken_over(call: HookCall) -> None:
        if "second" in call.input["command"]:
            await asyncio.to_thread(tasks.begin, fence.task.id, "w2", "m2")

    taken = hook("before_tool", tools="bash", name="taken over")(taken_over)
    script = calls(run("first")) + calls(run("second"), run("third")) + says("Done.")
    async with stage(tmp_path, script, hooks=[taken, *fence.hooks()]) as here:
        turn = await here.turn()
        assert here.ran() == {"first": 1}
    assert turn.end.code is TransitionCode.HOOK_STOPPED
    assert fence.lost.is_set()
    assert "was started again by w2 on m2" in fence.reason
    assert [outcome for _, outcome in seen(tasks, fence)] == ["ok"]
    for step in (
        fence.check(),
        fence.record("a", "b"),
        fence.give_back("c"),
        fence.finish(TaskOutcome(FleetState.DONE, "d")),
    ):
        with pytest.raises(FenceLost):
            await step
    with pytest.raises(FenceLost):
        async with fence.effect("push"):
            raise AssertionError("it ran")


async def test_a_worker_that_was_replaced_during_a_call_records_no_result_of_it(
    tmp_path: Path, tasks: FleetTasks
) -> None:
    fence = begun(tasks)

    async def taken_over(call: HookCall) -> None:
        await asyncio.to_thread(tasks.begin, fence.task.id, "w2", "m2")

    taken = hook("after_tool", name="taken over")(taken_over)
    async with stage(tmp_path, calls(run("first")) + says("Done."), hooks=[taken, *fence.hooks()]) as here:
        turn = await here.turn()
    assert turn.end.code is TransitionCode.HOOK_STOPPED
    assert [outcome for _, outcome in seen(tasks, fence)] == ["unknown"]
    told = await Fence(tasks, tasks.get(fence.task.id)).earlier()
    assert "whether it happened is unknown" in told
    assert "echo first" in told


async def test_subagents_are_held_to_it_too(tmp_path: Path, tasks: FleetTasks) -> None:
    fence = begun(tasks)
    script = calls(task()) + of_subagent(calls(run("below"))) + of_subagent(says("Ran.")) + says("Done.")
    async with on_stage(tmp_path, script, hooks=fence.hooks()) as here:
        await here.turn()
    assert seen(tasks, fence) == [("bash: echo below >> ran.txt", "ok")]


async def test_a_task_that_is_gone_stops_its_worker(tasks: FleetTasks) -> None:
    fence = begun(tasks)
    delete = f"DELETE FROM harness.tasks_tasks WHERE id = '{fence.task.id}'"
    await asyncio.to_thread(shared_server().execute, delete)
    with pytest.raises(FenceLost, match="There is no task"):
        await fence.check()
    assert fence.lost.is_set()


async def test_what_the_worker_does_itself_is_an_effect_too(tasks: FleetTasks) -> None:
    fence = begun(tasks)
    async with fence.effect("push harness/fleet/x"):
        assert seen(tasks, fence) == [("push harness/fleet/x", "unknown")]
    with pytest.raises(OSError, match="no route"):
        async with fence.effect("push again"):
            raise OSError("no route")
    assert [outcome for _, outcome in seen(tasks, fence)] == ["done", "failed"]


def test_the_next_start_reads_what_is_unknown_first_and_no_control_characters() -> None:
    effects = [
        FleetEffect(1, "1", "bash: make\x1b[2J", 1.0, "ok: built", 2.0),
        FleetEffect(1, "2", "bash: curl -X POST https://example.org", 3.0, None, None),
        FleetEffect(2, "1", "bash: of this start", 4.0, None, None),
    ]
    unknown, known = earlier_effects(effects, 2).split("\n\n")
    assert unknown.endswith("- bash: curl -X POST https://example.org")
    assert known.endswith("- bash: make\\x1b[2J → ok: built")
    assert "of this start" not in unknown + known
    assert earlier_effects(effects[2:], 2) == ""


@pytest.fixture
def server() -> Iterator[Server]:
    """One that the test may hurt."""
    server = Server.made()
    server.initialize()
    yield server
    server.remove()


@needs_postgres
@pytest.mark.stories
async def test_the_work_waits_for_a_database_that_was_killed_and_goes_on(tmp_path: Path, server: Server) -> None:
    told: list[str] = []
    away = asyncio.Event()

    def report(text: str) -> None:
        told.append(text)
        away.set()

    async def killed(call: HookCall) -> None:
        await asyncio.to_thread(server.kill)

    async def comes_back() -> None:
        await away.wait()
        await asyncio.to_thread(server.start)

    kills = hook("before_tool", tools="bash", name="kills", time_s=60)(killed)
    with closing(FleetTasks(FleetDatabase(server.url, patience_s=0.3))) as tasks:
        fence = begun(tasks, report=report)
        script = calls(run("first")) + says("Done.")
        async with stage(tmp_path, script, hooks=[kills, *fence.hooks()]) as here, asyncio.TaskGroup() as group:
            group.create_task(comes_back())
            turn = await here.turn()
            assert here.ran() == {"first": 1}
        assert turn.end.code is TransitionCode.COMPLETED
        assert seen(tasks, fence) == [("bash: echo first >> ran.txt", "ok")]
        await fence.finish(TaskOutcome(FleetState.DONE, "good"))
        assert tasks.get(fence.task.id).state is FleetState.DONE
    assert len(told) == 2
    assert told[0].endswith(f"The task {fence.task.id} waits for it.")
    assert told[1].endswith("goes on.")
