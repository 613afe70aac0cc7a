"""A further folder: reading, searching, changing, permissions, the prompt, and a resumed session."""

from pathlib import Path

import pytest

from harness.base.errors import HarnessError, SettingsError
from harness.events import Notice, PermissionAsked, ToolEnded, ToolOutcome
from harness.session import Opening, PermissionAnswer, open_session
from harness.ui.commands.commands import run_command
from harness.ui.commands.results import PlayEvents, ShowText
from tests.agent.stage import Played, calls, played, says, sessions
from tests.agent.test_permission_rules import call
from tests.engine.rewind.test_rewind import ScriptedUser

pytestmark = pytest.mark.anyio
YES, NO = PermissionAnswer("once"), PermissionAnswer("no")


def work_in(folder: Path) -> str:
    """A step that reads, searches, lists, changes and runs something in that folder."""
    return calls(
        call("read_file", path=f"{folder}/a.txt"),
        call("grep", pattern="needle", path=str(folder)),
        call("glob", pattern="**/*.txt", path=str(folder)),
        call("edit_file", path=f"{folder}/a.txt", old_string="needle", new_string="thread"),
        call("write_file", path=f"{folder}/sub/new.txt", content="x"),
        call("bash", command=f"cat {folder}/a.txt"),
    )


async def add(session: object, folder: Path | str) -> Played:
    result = run_command(f"/add-dir {folder}", session)  # type: ignore[arg-type]
    assert isinstance(result, PlayEvents)
    return await played(result.events)


@pytest.fixture
def further(tmp_path: Path) -> Path:
    folder = tmp_path / "further"
    folder.mkdir()
    (folder / "a.txt").write_text("a needle\n")
    return folder


async def test_a_folder_that_the_user_adds_is_used_like_the_workspace_also_after_a_resume(
    tmp_path: Path, further: Path
) -> None:
    script = work_in(further) + says("Refused.") + work_in(further) + says("Done.") + work_in(further) + says("Again.")
    async with sessions(tmp_path, script, permission_mode="edits") as here:
        user = ScriptedUser(*[NO] * 9, YES)
        async with await open_session(here.loaded, user) as session:
            before = await played(session.run("go"))
            assert {event.outcome for event in before.of(ToolEnded)} != {ToolOutcome.OK}
            assert (further / "a.txt").read_text() == "a needle\n"
            user.answers = [NO, YES]
            assert (await add(session, further)).of(Notice)[-1].text == f"{further} is not added."
            (asked,) = (await add(session, "../further")).of(PermissionAsked)
            assert asked.summary == f"use {further} like the workspace"
            assert str(further) in "\n".join(one for one in session.files() if "a.txt" in one)
            listed = run_command("/add-dir", session)
            assert isinstance(listed, ShowText)
            assert str(further) in listed.text
            turn = await played(session.run("go"))
            used = {"read_file", "grep", "glob", "edit_file", "write_file", "bash"}
            assert {event.tool for event in turn.of(ToolEnded) if event.outcome is ToolOutcome.OK} == used
            assert not turn.of(PermissionAsked)
            assert (further / "a.txt").read_text() == "a thread\n"
            assert (further / "sub" / "new.txt").read_text() == "x"
            sent = "\n".join(block["text"] for block in here.server.requests[-1].body["messages"][-3]["content"])
            assert f"by absolute paths: {further}" in sent
            with pytest.raises(HarnessError, match="can be used already"):
                await add(session, further / "sub")
        (further / "a.txt").write_text("a needle\n")
        async with await open_session(here.loaded, ScriptedUser(), Opening(session.id)) as session:
            turn = await played(session.run("go"))
            assert not turn.of(PermissionAsked)
            works = {event.tool for event in turn.of(ToolEnded) if event.outcome is ToolOutcome.OK}
            assert {"read_file", "grep", "glob", "bash"} <= works


async def test_a_link_out_of_an_added_folder_and_keys_in_it_stay_guarded(tmp_path: Path, further: Path) -> None:
    outside = tmp_path / "outside.txt"
    outside.write_text("mine")
    (further / "link").symlink_to(outside)
    (further / ".env").write_text("KEY=1")
    script = calls(
        call("write_file", path=f"{further}/link", content="x"), call("bash", command=f"cat {further}/.env")
    ) + says("No.")
    async with sessions(tmp_path, script, permission_mode="edits", add_dirs=[further]) as here:
        async with await here.open() as session:
            turn = await played(session.run("go"))
        assert [event.outcome for event in turn.of(ToolEnded)] == [ToolOutcome.ERROR, ToolOutcome.DENIED]
        assert outside.read_text() == "mine"
        blocks = here.server.requests[-1].body["system"]
        assert f"by absolute paths: {further}." in "\n".join(block["text"] for block in blocks)


@pytest.mark.parametrize("wrong", ["/", "~", "missing", "a.txt"])
async def test_a_path_that_is_no_folder_of_its_own_is_refused(tmp_path: Path, wrong: str) -> None:
    async with sessions(tmp_path, says("x")) as here:
        (here.loaded.settings.workspace / "a.txt").touch()
        async with await here.open() as session:
            with pytest.raises(HarnessError, match=r"name a folder"):
                await add(session, wrong)
            assert (await add(session, tmp_path)).of(Notice)[-1].text.endswith("start with --add-dir.")
    with pytest.raises(SettingsError, match="Cannot use --add-dir"):
        async with sessions(tmp_path, says("x"), add_dirs=[Path("/")]) as here, await here.open():
            pass
