"""Telling commands from prompts that begin like one."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import HarnessError
from harness.session import open_session
from harness.ui.app.pickers import SCREEN_COMMANDS
from harness.ui.commands.commands import (
    ALIASES,
    COMMANDS,
    TAKEN,
    help_groups,
    is_command,
    prompt_of,
    quits,
    run_command,
    works_any_time,
)
from harness.ui.commands.results import CopyText, PlayEvents, ShowText, StartTask
from tests.agent.answering_user import AnsweringUser
from tests.agent.stage import KEY, calls, played, says, sessions


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("/help", True),
        ("/HELP", True),
        ("/ help", True),
        ("/halp", True),
        ("/", True),
        ("/quit", True),
        ("/export a/b.md", True),
        ("//etc/hosts", False),
        ("/etc/hosts what is this?", False),
        ("/home/me/x.py explain", False),
        ("/no/such/file", False),
        ("/tmp what is in there?", False),
        ("/tmp\nwhat is in there?", False),
        ("help", False),
        ("\0/", False),
        ("/\0", False),
        ("/?", True),
        ("/* a comment */", False),
        ("/** a comment", False),
        ("/404 is shown", False),
        ("/" + "x" * 10_000, True),
    ],
)
def test_a_path_typed_first_is_a_prompt(line: str, command: bool) -> None:
    assert is_command(line) is command
    assert command or prompt_of(line) == line.removeprefix("/") or not line.startswith("//")


def test_a_file_does_not_hide_a_command_of_its_name(tmp_path: Path) -> None:
    name = next(one.name for one in Path("/").iterdir() if one.name.isalpha() and one.name not in COMMANDS)
    assert not is_command(f"/{name}")
    assert is_command(f"/{name}", [name])


@given(st.sampled_from(sorted(COMMANDS)), st.text(" a/", max_size=8))
def test_the_name_of_a_command_is_one_whatever_follows(name: str, rest: str) -> None:
    assert is_command(f"/{name} {rest}")


def test_quitting_is_known_by_both_names() -> None:
    assert [quits(line) for line in ("/exit", "/quit", "/QUIT ", "/exits")] == [True, True, True, False]
    assert works_any_time("/quit")


@pytest.mark.parametrize("old", ALIASES)
def test_an_alias_is_accepted_and_not_listed(old: str) -> None:
    listed = {name for _, rows in help_groups() for name, _ in rows}
    assert is_command(f"/{old} x")
    assert works_any_time(f"/{old}") is works_any_time(f"/{ALIASES[old]}")
    assert f"/{old}" not in listed
    assert f"/{ALIASES[old]}" in listed


def test_the_commands_of_the_screen_are_taken() -> None:
    assert set(SCREEN_COMMANDS) <= TAKEN


def test_only_commands_that_change_the_conversation_wait_for_the_turn() -> None:
    waiting = [name for name in COMMANDS if not works_any_time(f"/{name}")]
    assert waiting == [
        "clear",
        "compact",
        "rewind",
        "undo",
        "retry",
        "review",
        "add-dir",
        "worktree",
        "init",
        "resume",
        "fork",
    ]


@pytest.mark.anyio
async def test_undo_takes_back_the_last_prompt_with_its_files(tmp_path: Path) -> None:
    write = '{ name = "write_file", input = { path = "new.txt", content = "x" } }'
    async with (
        sessions(tmp_path, calls(write) + says("Done.") + says("Hello."), checkpoints="on") as here,
        await open_session(here.loaded, AnsweringUser()) as session,
    ):
        with pytest.raises(HarnessError, match="no earlier turn"):
            run_command("/undo", session)
        await played(session.run("write it"))
        assert (here.loaded.settings.workspace / "new.txt").exists()
        done = run_command("/undo", session)
        assert isinstance(done, PlayEvents)
        await played(done.events)
        assert session.conversation.messages == ()
        assert not (here.loaded.settings.workspace / "new.txt").exists()
        await played(session.run("hello"))
        shown = run_command("/undo", session)
        assert isinstance(shown, ShowText)
        assert session.conversation.messages == ()
        assert "The prompt was: hello" in shown.text


@pytest.mark.anyio
async def test_undo_names_what_stays_where_no_files_were_kept(tmp_path: Path) -> None:
    write = '{ name = "write_file", input = { path = "new.txt", content = "x" } }'
    script = calls(write) + says("Done.")
    async with sessions(tmp_path, script, permission_mode="yolo") as here, await here.open() as session:
        await played(session.run("write it"))
        shown = run_command("/undo", session)
    assert isinstance(shown, ShowText)
    assert "no files were kept, so what tools did stays" in shown.text
    assert shown.text.endswith("  not undone  write_file new.txt")


@pytest.mark.anyio
async def test_config_lists_what_is_not_the_default_and_no_key(tmp_path: Path) -> None:
    async with sessions(tmp_path, says("x"), max_steps=7) as here, await here.open() as session:
        shown = run_command("/config", session)
    assert isinstance(shown, ShowText)
    rows = [line.split() for line in shown.text.splitlines()]
    assert ["max_steps", "7"] in rows
    assert "budget" not in [row[0] for row in rows]
    assert KEY not in shown.text


@pytest.mark.anyio
async def test_doctor_reports_the_session_and_the_checks_of_its_folder(tmp_path: Path) -> None:
    async with sessions(tmp_path, says("x")) as here, await here.open() as session:
        result = run_command("/doctor", session)
        assert isinstance(result, StartTask)
        report = await result.work
        assert session.id in report
        assert "Checks" in report
        assert "Terminal" not in report, "the checks run without the terminal of the session"
        assert f"workspace {here.loaded.settings.workspace}" in " ".join(report.split())
        with pytest.raises(HarnessError, match="--online"):
            run_command("/doctor now", session)


@pytest.mark.anyio
async def test_copy_takes_the_last_answer_or_one_code_block(tmp_path: Path) -> None:
    answer = "Two:\n```py\nfirst()\n```\n~~~\nsecond()\n```\n~~~"
    async with sessions(tmp_path, says(answer)) as here, await here.open() as session:
        with pytest.raises(HarnessError, match="no answer to copy"):
            run_command("/copy", session)
        await played(session.run("go"))
        texts = {line: run_command(line, session) for line in ("/copy", "/copy 1", "/copy 2", "/copy code")}
        assert {line: result.text for line, result in texts.items() if isinstance(result, CopyText)} == {
            "/copy": answer,
            "/copy 1": "first()\n",
            "/copy 2": "second()\n```\n",
            "/copy code": "second()\n```\n",
        }
        for wrong, words in (
            ("/copy 3", "has 2 code blocks"),
            ("/copy 0", "2 code blocks"),
            ("/copy all", "not known"),
        ):
            with pytest.raises(HarnessError, match=words):
                run_command(wrong, session)
