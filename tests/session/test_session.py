"""What front ends do with a session."""

import asyncio
import stat
import sys
from pathlib import Path

import pytest

from harness.base.errors import HarnessError
from harness.events import (
    ArrivalKind,
    Event,
    ToolStarted,
    TransitionCode,
)
from harness.session import Opening
from harness.tasks.work import WATCH_S
from tests.agent.stage import KEY, MODEL, calls, left_running, played, run, says, sessions
from tests.agent.test_task_board import MAKE

pytestmark = pytest.mark.anyio
LATEST = Opening("latest")


async def test_nothing_can_be_tried_again_before_the_first_prompt(tmp_path: Path) -> None:
    async with sessions(tmp_path, says("One.") + says("Two.")) as here, await here.open() as session:
        with pytest.raises(HarnessError, match="nothing to try again"):
            session.retry()
        await played(session.run("first"))
        assert (await played(session.retry())).end.code is TransitionCode.COMPLETED


@pytest.mark.parametrize("header", ["", "allowed-tools: read_file, glob\n"])
async def test_a_command_file_runs_with_its_tools(tmp_path: Path, header: str) -> None:
    folder = tmp_path / "workspace" / ".harness" / "commands"
    folder.mkdir(parents=True)
    (folder / "look.md").write_text(f"---\ndescription: x\n{header}---\nLook at $ARGUMENTS.")
    async with sessions(tmp_path, calls(run("x")) + says("One.")) as here, await here.open() as session:
        command = session.commands.get("look")
        assert command is not None
        turn = await played(session.run_command(command, "README.md"))
        assert "Look at README.md." in str(here.server.requests[-1].body["messages"])
        assert [bool(result.get("is_error")) for result in turn.results] == [bool(header)]


async def test_an_image_is_kept_once_and_privately(tmp_path: Path) -> None:
    async with sessions(tmp_path, says("One.")) as here, await here.open() as session:
        file = session.keep_image(b"an image")
        written = file.stat()
        assert (file.read_bytes(), stat.S_IMODE(written.st_mode)) == (b"an image", 0o600)
        assert session.keep_image(b"an image") == file
        assert file.stat().st_ino == written.st_ino
        assert session.keep_image(b"another") != file


@pytest.mark.parametrize("changes", [False, True])
async def test_skills_are_announced_again_only_if_they_have_changed(tmp_path: Path, changes: bool) -> None:
    folder = tmp_path / "workspace" / ".harness" / "skills" / "tides"
    folder.mkdir(parents=True)
    skill = "---\nname: tides\ndescription: {}\n---\nLook at the moon.\n"
    (folder / "SKILL.md").write_text(skill.format("When it floods."))
    async with sessions(tmp_path, says("One.")) as here, await here.open() as session:
        if changes:
            (folder / "SKILL.md").write_text(skill.format("When it ebbs."))
        session.reload_skills()
        await played(session.run("go"))
        assert ("When it ebbs." in str(here.server.requests[-1].body["messages"])) == changes


async def test_a_key_in_the_name_of_a_session_is_masked(tmp_path: Path) -> None:
    async with sessions(tmp_path, says("One.")) as here, await here.open() as session:
        await played(session.run("first"))
        name = session.rename(f"the key is {KEY}")
        (listed,) = session.sessions()
        assert KEY not in session.path.read_text() + name + session.name + listed.name
        assert name == session.name == listed.name
        assert name.startswith("the key is ")


@pytest.mark.parametrize(
    ("model", "schema", "asked"), [(MODEL, True, True), (MODEL, False, False), ("gpt-x", True, False)]
)
async def test_a_format_is_asked_for_where_there_is_one_and_the_model_takes_it(
    tmp_path: Path, model: str, schema: bool, asked: bool
) -> None:
    format = {"type": "json_schema", "schema": {"type": "object"}} if schema else None
    async with sessions(tmp_path, says("{}"), model=model) as here, await here.open(answer_format=format) as session:
        assert session.asks_for_format is asked


# ── what is refused before anything is made ─────────────────────────────────────────────────────────


async def test_an_interrupted_turn_ends_with_its_command(tmp_path: Path) -> None:
    sleeps = '{ name = "bash", input = { command = "sleep 300" } }'
    async with sessions(tmp_path, calls(sleeps) + says("Not reached.")) as here, await here.open() as session:
        stopped = False

        def stop(event: Event) -> None:
            nonlocal stopped
            if isinstance(event, ToolStarted) and not stopped:
                stopped = True
                asyncio.get_running_loop().call_soon(session.interrupt)

        async with asyncio.timeout(60):
            turn = await played(session.run("sleep"), stop)
        assert turn.end.code is TransitionCode.ABORTED_TOOLS
        assert left_running(session.settings) == []


# ── what a resumed session continues ────────────────────────────────────────────────────────────────


async def test_a_copy_continues_and_the_original_stays_as_it_was(tmp_path: Path) -> None:
    async with sessions(tmp_path, says("One.") + says("Two.")) as here:
        async with await here.open() as original:
            await played(original.run("first"))
            kept = original.fork()
        written = original.path.read_bytes()
        async with await here.open(Opening(original.id, fork=True)) as copy:
            assert [message.role for message in copy.conversation.messages] == ["user", "assistant"]
            await played(copy.run("second"))
            assert {original.id, copy.id, kept} == {one.id for one in copy.sessions()}
        assert original.path.read_bytes() == written


# ── another program on the same task board ──────────────────────────────────────────────────────────

OTHER = """
import sys
from pathlib import Path
from harness.policies.tasks.task import Actor, Role, TaskAction
from harness.slots.store import this_process
from harness.tasks import TaskBoard

board, other = TaskBoard(Path(sys.argv[1]), this_process("other")), Actor("other", Role.LEAD)
board.claim(other, "t1")
board.act("t1", TaskAction.COMPLETE, other, text="seen")
board.close()
"""


@pytest.mark.stories
async def test_an_idle_session_is_woken_by_a_task_that_another_process_made_ready(tmp_path: Path) -> None:
    script = calls(MAKE) + says("The rest later.") + says("I continue.")
    async with sessions(tmp_path, script, board="shared") as here, await here.open() as session:
        await played(session.run("Make a plan."))
        assert session.tasks is not None
        woken = asyncio.Event()
        session.inbox.notify(woken.set)
        other = await asyncio.create_subprocess_exec(sys.executable, "-c", OTHER, str(session.tasks.board.place))
        assert await other.wait() == 0
        async with asyncio.timeout(3 * WATCH_S):
            await woken.wait()
        assert [(one.kind, one.text) for one in session.inbox.waiting] == [
            (ArrivalKind.TASK_READY, "t2 can be claimed now: write the report")
        ]
        assert (await played(session.deliver())).end.answer == "I continue."


async def test_a_skill_is_attached_to_the_next_prompt_and_an_unknown_one_is_named(tmp_path: Path) -> None:
    async with sessions(tmp_path, says("One.") + says("Two.")) as here:
        folder = here.loaded.settings.workspace / ".harness" / "skills" / "greet"
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text("---\nname: greet\ndescription: how to greet\n---\nSay good morning.\n")
        async with await here.open() as session:
            with pytest.raises(HarnessError, match="gret"):
                session.use_skill("gret")
            assert session.use_skill("greet").name == "greet"
            await played(session.run("Hello."))
            assert "Say good morning." in str(here.server.requests[-1].body["messages"][-1])
            await played(session.run("Again."))
            assert "Say good morning." not in str(here.server.requests[-1].body["messages"][-1])
