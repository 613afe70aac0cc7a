"""What other programs write is not overwritten; what an agent changed in another way itself is not refused."""

import os
import threading
from pathlib import Path

import pytest

from harness.events import Event, ToolEnded, ToolStarted
from harness.hooks import HookAnswer, hook
from harness.session import Opening
from tests.agent.stage import Played, calls, played, says, sessions, stage
from tests.agent.test_tool_rounds import call

pytestmark = pytest.mark.anyio

READ = calls(call("read_file", path="g.txt"))
WRITE = calls(call("write_file", path="g.txt", content="mine\n"))
EDIT = calls(call("edit_file", path="g.txt", old_string="old", new_string="new"))


def last_result(turn: Played) -> str:
    return str(turn.results[-1]["content"])


@pytest.mark.parametrize("change", [WRITE, EDIT])
async def test_what_another_program_wrote_meanwhile_is_kept(change: str, tmp_path: Path) -> None:
    async with stage(tmp_path, READ + change + says("Done.")) as here:
        file = here.workspace / "g.txt"
        file.write_text("old\n")

        def write(event: Event) -> None:
            if isinstance(event, ToolEnded) and event.tool == "read_file":
                file.write_text("old and theirs\n")

        turn = await here.turn(on_event=write)
        assert file.read_text() == "old and theirs\n"
    assert last_result(turn) == "g.txt has changed since you last read or wrote it. Read it again before you change it."


@pytest.mark.parametrize(
    "command",
    [
        "sed -i s/old/other/ g.txt",
        "git init -q . && git add g.txt && echo x > g.txt && git checkout -q g.txt",
        "rm g.txt",
    ],
)
async def test_what_its_own_command_changed_is_known(command: str, tmp_path: Path) -> None:
    async with stage(tmp_path, READ + calls(call("bash", command=command)) + WRITE + says("Done.")) as here:
        (here.workspace / "g.txt").write_text("old\n")
        turn = await here.turn()
        assert (here.workspace / "g.txt").read_text() == "mine\n"
    assert "rote g.txt" in last_result(turn)


@pytest.mark.parametrize("mode", ["ask", "yolo"])
async def test_what_happens_during_a_command_that_only_reads_is_not_its_work(mode: str, tmp_path: Path) -> None:
    script = READ + calls(call("bash", command="cat pipe")) + WRITE + says("Done.")
    async with stage(tmp_path, script, permission_mode=mode, permissions_allow=["write_file"]) as here:
        file, pipe = here.workspace / "g.txt", here.workspace / "pipe"
        file.write_text("old\n")
        os.mkfifo(pipe)

        def writes(event: Event) -> None:
            if isinstance(event, ToolStarted) and event.tool == "bash":
                threading.Thread(target=lambda: (file.write_text("theirs\n"), pipe.write_text("go\n"))).start()

        turn = await here.turn(on_event=writes)
        assert file.read_text() == "theirs\n"
    assert "g.txt has changed" in last_result(turn)


async def test_a_formatter_that_a_hook_runs_belongs_to_the_write(tmp_path: Path) -> None:
    workspace = tmp_path / "workspace"

    @hook("after_tool", tools="write_file")
    def formats(_: object) -> HookAnswer:
        file = next(workspace.rglob("g.txt"))
        file.write_text(file.read_text().upper())
        return HookAnswer()

    async with stage(
        tmp_path, WRITE + calls(call("write_file", path="g.txt", content="two\n")), hooks=[formats]
    ) as here:
        workspace = here.workspace
        await here.turn()
        assert (here.workspace / "g.txt").read_text() == "TWO\n"


async def test_what_a_background_command_writes_is_new_to_the_agent(tmp_path: Path) -> None:
    waiting = calls(call("bash", command="cat go > /dev/null; echo theirs > g.txt; echo > done", background=True))
    async with stage(tmp_path, waiting + READ + WRITE + says("Done.") + says("Told.")) as here:
        (here.workspace / "g.txt").write_text("old\n")
        for pipe in ("go", "done"):
            os.mkfifo(here.workspace / pipe)

        def until_written(event: Event) -> None:
            if isinstance(event, ToolEnded) and event.tool == "read_file":
                (here.workspace / "go").write_text("now")
                (here.workspace / "done").read_text()

        turn = await here.turn(on_event=until_written)
        assert (here.workspace / "g.txt").read_text() == "theirs\n"
    assert any("g.txt has changed" in str(result["content"]) for result in turn.results)


async def test_a_resumed_session_knows_what_it_had_read(tmp_path: Path) -> None:
    script = READ + says("Read.") + WRITE + says("Refused.") + READ + WRITE + says("Written.")
    async with sessions(tmp_path, script) as here:
        file = here.loaded.settings.workspace / "g.txt"
        file.write_text("old\n")
        async with await here.open() as session:
            await played(session.run("read it"))
        file.write_text("theirs\n")
        async with await here.open(Opening(session.id)) as session:
            turn = await played(session.run("write it"))
            assert "has changed since" in last_result(turn)
            assert file.read_text() == "theirs\n"
            await played(session.run("read it, then write it"))
        assert file.read_text() == "mine\n"


async def test_a_resumed_session_may_change_what_it_knows(tmp_path: Path) -> None:
    async with sessions(tmp_path, READ + says("Read.") + WRITE + says("Written.")) as here:
        (here.loaded.settings.workspace / "g.txt").write_text("old\n")
        async with await here.open() as session:
            await played(session.run("read it"))
        async with await here.open(Opening(session.id)) as session:
            await played(session.run("write it"))
        assert (here.loaded.settings.workspace / "g.txt").read_text() == "mine\n"
