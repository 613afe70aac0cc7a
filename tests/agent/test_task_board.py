"""A task board in whole turns: made in one session, worked on by its agents, found again by the next one."""

import json
from pathlib import Path

import pytest

from harness.events import Arrived, BoardCounted, Delivered, TaskChanged, TaskState, TransitionCode
from harness.hooks import HookAnswer, HookCall, hook
from harness.session import Opening, Session
from harness.tasks import board_file
from tests.agent.stage import calls, played, says, sessions, summarises
from tests.agent.test_agents import of_subagent

pytestmark = pytest.mark.anyio

BOARD_TOOLS = ["task_create", "task_claim", "task_update", "task_list", "task_get"]


def call(tool: str, **arguments: object) -> str:
    """A call, for a script."""
    fields = ", ".join(f"{name} = {_toml(value)}" for name, value in arguments.items())
    return f'{{ name = "{tool}", input = {{ {fields} }} }}'


def _toml(value: object) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)


GRAPH = [{"subject": "read the notes", "name": "a"}, {"subject": "write the report", "needs": ["a"]}]
MAKE, CLAIM = call("task_create", tasks=GRAPH), call("task_claim")
DONE = call("task_update", id="t1", status="completed", note="read all of it")


def tools_sent(session: Session) -> list[str]:
    return [tool.name for tool in session.tools if tool.name.startswith("task_")]


async def states(session: Session) -> dict[str, TaskState]:
    assert session.tasks is not None
    return {
        task.id: task.state for task in sorted((await session.tasks.tasks()).values(), key=lambda task: task.number)
    }


async def test_a_graph_is_made_worked_on_and_found_again_after_the_end(tmp_path: Path) -> None:
    script = calls(MAKE) + calls(CLAIM) + calls(DONE) + calls(CLAIM) + says("The rest tomorrow.")
    script += calls(call("task_list"), call("task_get", id="t1")) + says("I see.")
    async with sessions(tmp_path, script, board="session") as here:
        async with await here.open() as first:
            turn = await played(first.run("Make a plan and begin."))
            results = [result["content"] for result in turn.results]
            assert results[0].splitlines() == [
                "Created:",
                "t1  read the notes  [pending]",
                "t2  write the report  [pending; needs t1]",
            ]
            assert results[2].splitlines() == ["t1  read the notes  [completed]", "Can be claimed now: t2."]
            changed = [(one.task, one.what, one.unblocked) for one in turn.of(TaskChanged)]
            assert changed[2:] == [("t1", "claim", ()), ("t1", "complete", ("t2",)), ("t2", "claim", ())]
            assert turn.of(BoardCounted)[-1] == BoardCounted(0, 0, 1, 1, 0, 0, 0)
            id = first.id
        async with await here.open(Opening(id)) as second:
            assert tools_sent(second) == BOARD_TOOLS
            assert await states(second) == {"t1": TaskState.COMPLETED, "t2": TaskState.PENDING}
            turn = await played(second.run("Where are we?"))
            assert turn.results[0]["content"] == "t2  write the report  [ready]"
            assert "complete: read all of it" in turn.results[1]["content"]
        async with await here.open(Opening(id, fork=True)) as third:
            assert third.id != id
            assert await states(third) == {"t1": TaskState.COMPLETED, "t2": TaskState.PENDING}


async def test_a_session_without_a_task_board_has_none_of_its_tools(tmp_path: Path) -> None:
    async with sessions(tmp_path, says("Hello.")) as here, await here.open() as session:
        assert session.tasks is None
        assert tools_sent(session) == []
        await played(session.run("Hello."))
    assert not (tmp_path / "state" / "boards").exists()


async def test_what_cannot_be_done_is_an_answer_and_no_failure_of_the_tool(tmp_path: Path) -> None:
    wrong = [call("task_claim", id="t9"), call("task_get", id="x"), call("task_update", id="t1", status="completed")]
    script = calls(MAKE) + calls(*wrong, call("task_create", tasks="[1]")) + says("A pity.")
    async with sessions(tmp_path, script, board="session") as here, await here.open() as session:
        turn = await played(session.run("Try it."))
        said = [result["content"] for result in turn.results[1:]]
        assert all(result["is_error"] for result in turn.results[1:])
        assert "There is no task 't9'" in said[0]
        assert "t1 is pending" in said[2]
        assert "possible: claim, cancel, defer" in said[2]
        assert all(row.failures == 0 for row in session.breakers.health)


async def test_an_update_changes_all_that_it_says_or_nothing(tmp_path: Path) -> None:
    wrong = call("task_update", id="t1", status="completed", note="seen", subject="read them all")
    right = call("task_update", id="t1", status="cancelled", note="not needed", subject="read them all")
    script = calls(MAKE) + calls(wrong) + calls(call("task_get", id="t1")) + calls(right) + says("Done.")
    async with sessions(tmp_path, script, board="session") as here, await here.open() as session:
        turn = await played(session.run("Try it."))
        said = [result["content"] for result in turn.results]
        assert "t1 is pending, so it is not possible to complete it" in said[1]
        assert said[2].startswith("t1  read the notes  [ready]")
        assert said[3].splitlines() == ["t1  read them all  [cancelled]", "Wait for it: t2."]
        changed = [(one.what, one.subject, one.deferred) for one in turn.of(TaskChanged)][2:]
        assert changed == [("change", "read them all", ()), ("cancel", "read them all", ("t2",))]


async def test_a_turn_that_a_loop_ends_gives_its_tasks_back(tmp_path: Path) -> None:
    script = calls(MAKE) + calls(CLAIM) + calls(call("glob", pattern="nothing-*"), times="12")
    async with sessions(tmp_path, script, board="session") as here, await here.open() as session:
        turn = await played(session.run("Begin."))
        assert turn.end.code is TransitionCode.LOOP_STOPPED
        assert await states(session) == {"t1": TaskState.PENDING, "t2": TaskState.PENDING}
        (back,) = [one for one in turn.of(TaskChanged) if one.what == "expire"]
        assert back.text.startswith("the turn of its agent ended: ")


async def test_a_subagent_works_on_the_same_board_and_its_lead_learns_what_it_unblocked(tmp_path: Path) -> None:
    delegate = call("agent", description="read", prompt="Claim a task and do it.")
    script = calls(MAKE) + calls(delegate) + says("t2 is next.")
    script += of_subagent(calls(CLAIM)) + of_subagent(calls(DONE)) + of_subagent(says("Read."))
    async with sessions(tmp_path, script, board="session") as here, await here.open() as session:
        turn = await played(session.run("Have it read."))
        assert await states(session) == {"t1": TaskState.COMPLETED, "t2": TaskState.PENDING}
        assert [one.actor for one in turn.of(TaskChanged)][2:] == [f"{session.id}/a1"] * 2
        (arrived,) = turn.of(Arrived)
        assert (arrived.source, arrived.text) == ("board", "t2 can be claimed now: write the report")
        assert [one.numbers for one in turn.of(Delivered)] == [(arrived.number,)]
        assert arrived.text in json.dumps(here.server.requests[-1].body["messages"])


async def test_a_subagent_that_ends_gives_back_what_it_has_not_finished(tmp_path: Path) -> None:
    delegate = call("agent", description="read", prompt="Claim a task and do it.")
    script = (
        calls(MAKE) + calls(delegate) + says("A pity.") + of_subagent(calls(CLAIM)) + of_subagent(says("I stop here."))
    )
    async with sessions(tmp_path, script, board="session") as here, await here.open() as session:
        turn = await played(session.run("Have it read."))
        assert await states(session) == {"t1": TaskState.PENDING, "t2": TaskState.PENDING}
        assert [(one.what, one.text) for one in turn.of(TaskChanged)][-1] == ("expire", "its agent has ended")


async def test_hooks_can_refuse_a_task_and_its_completion(tmp_path: Path) -> None:
    @hook("task_created")
    def no_reports(call: HookCall) -> HookAnswer | None:
        return HookAnswer(block="no reports") if "report" in call.task["subject"] else None

    @hook("task_completed")
    async def says_what_ran(call: HookCall) -> HookAnswer | None:
        reported = (call.task["id"], call.task["note"], call.task["actor"])
        return HookAnswer(block=f"{reported[0]}: run the tests first") if "tests" not in reported[1] else None

    one = call("task_create", tasks=[{"subject": "read the notes"}])
    checked = call("task_update", id="t1", status="completed", note="the tests pass")
    script = calls(MAKE) + calls(one) + calls(CLAIM) + calls(DONE) + calls(checked) + says("Done.")
    hooks = [no_reports, says_what_ran]
    async with sessions(tmp_path, script, board="session") as here, await here.open(hooks=hooks) as session:
        turn = await played(session.run("Begin."))
        said = [result["content"] for result in turn.results]
        assert said[0] == "A hook refused the task 'write the report': no_reports: no reports"
        assert said[3] == "A hook does not accept t1 as completed: says_what_ran: t1: run the tests first"
        assert await states(session) == {"t1": TaskState.COMPLETED}


async def test_the_open_tasks_are_handed_back_after_a_compaction(tmp_path: Path) -> None:
    script = calls(MAKE) + calls(CLAIM) + calls(DONE) + says(" ".join(map(str, range(4_000)))) + summarises()
    async with sessions(tmp_path, script, board="session") as here, await here.open() as session:
        await played(session.run("Begin."))
        await played(session.user_commands.compact())
        text = json.dumps([message.content for message in session.conversation.messages])
        assert "t2  write the report  [ready]" in text
        assert "read the notes  [completed]" not in text.rpartition("<tasks>")[2]


async def test_sessions_of_a_repository_share_a_board_by_its_name(tmp_path: Path) -> None:
    script = calls(MAKE) + says("Made.") + calls(CLAIM) + says("Mine.")
    async with (
        sessions(tmp_path, script, board="release") as here,
        await here.open() as first,
        await here.open() as second,
    ):
        await played(first.run("Make it."))
        turn = await played(second.run("Take one."))
        assert turn.results[0]["content"].startswith("t1  read the notes  [in progress; held by " + second.id)
        assert (await states(first))["t1"] is TaskState.IN_PROGRESS
        assert first.tasks is not None
        assert board_file(tmp_path / "state", first.tasks.name).name.endswith("-release.sqlite")
