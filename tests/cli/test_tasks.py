"""`harness tasks`: a board from outside of a session, in this process and with the real files."""

import json
from pathlib import Path

import pytest

from harness.cli.main import main
from harness.policies.tasks.task import Actor
from harness.slots.store import this_process
from harness.tasks import TaskBoard, project_board


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a state folder beside it."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HARNESS_STATE_DIR", str(tmp_path / "state"))
    return folder


def test_tasks_are_added_listed_shown_and_counted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tasks", "add", "write the notes", "--priority", "1", "--description", "all of them"]) == 0
    assert main(["tasks", "add", "publish\x1b[31m", "--needs", "t1"]) == 0
    assert capsys.readouterr().out.splitlines() == ["t1 is created.", "t2 is created."]
    assert main(["tasks", "list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "○ t1  write the notes  [ready; priority 1]"
    assert lines[1].startswith("  · t2  publish")
    assert lines[1].endswith("[blocked by t1 (pending)]")
    assert "\x1b" not in lines[1]
    assert main(["tasks", "show", "1"]) == 0
    assert "all of them" in capsys.readouterr().out
    assert main(["tasks", "board"]) == 0
    path, counted = capsys.readouterr().out.splitlines()
    assert Path(path) == project_board(folder.parent / "state", folder)
    assert counted == "1 ready, 1 waiting"
    assert main(["tasks", "list", "--json"]) == 0
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert (first["id"], first["needs"], first["standing"]) == ("t1", [], "ready")
    assert (second["id"], second["needs"], second["standing"]) == ("t2", ["t1"], "blocked")


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["list"], 1, "There is no board yet"),
        (["show", "t1"], 1, "There is no board yet"),
        (["add", " "], 1, "the subject is empty"),
        (["add", "x", "--needs", "t9"], 1, "There is no task 't9'"),
        (["list", "--board", "../x"], 2, "is not a name for a board"),
        (["list", "--session", "nothing"], 2, "nothing"),
    ],
)
def test_what_cannot_be_done_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], code: int, said: str
) -> None:
    assert main(["tasks", *words]) == code
    shown = capsys.readouterr()
    assert shown.out == ""
    assert said in shown.err


def test_the_user_ends_the_claim_of_an_agent(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tasks", "add", "write"]) == 0
    board = TaskBoard(project_board(folder.parent / "state", folder), this_process("s1"))
    board.claim(Actor("s1/a1"))
    assert main(["tasks", "release", "t1", "--note", "it hangs"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "t1 is pending."
    (task,) = board.tasks().values()
    assert (task.attempts, task.note) == (1, "it hangs")
    board.close()
