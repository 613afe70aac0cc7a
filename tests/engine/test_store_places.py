"""Where sessions keep what they share: in files, or in the database of HARNESS_FLEET_URL."""

import os
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest

from harness.base.errors import SettingsError
from harness.engine.store_places import (
    FLEET,
    mail_place,
    named_board,
    project_board_place,
    project_scope,
    schedule_place,
    session_board_place,
    slots_place,
    stores_line,
)
from harness.policies.tasks.decisions import TaskDraft
from harness.policies.tasks.task import Actor, Role
from harness.settings import Settings
from harness.slots.store import this_process
from harness.tasks import TaskBoard
from harness.team.mail import mail_file
from tests.fleet.postgres import PASSWORD, shared_server

URL = "postgresql://worker:hidden@127.0.0.1:1/fleet"


def settings_in(folder: Path, machine: str = "here") -> Settings:
    folder.mkdir(parents=True, exist_ok=True)
    return Settings(workspace=folder, state_dir=folder.parent / f"state-{machine}")


def clone(folder: Path, remote: str) -> Path:
    subprocess.run(["git", "init", "-q", folder], check=True)
    if remote:
        subprocess.run(["git", "-C", folder, "remote", "add", "origin", remote], check=True)
    return folder


def test_without_the_variable_every_store_is_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HARNESS_FLEET_URL", raising=False)
    settings = settings_in(tmp_path / "work")
    places = [
        slots_place(settings),
        schedule_place(settings),
        mail_place(settings, "s1"),
        session_board_place(settings, "s1"),
        project_board_place(settings, "board"),
    ]
    assert all(isinstance(place, Path) and place.is_relative_to(tmp_path / "state-here") for place in places)
    assert stores_line(settings) == f"files in {tmp_path / 'state-here'}"
    with pytest.raises(SettingsError, match="set HARNESS_FLEET_URL"):
        named_board(settings, f"{FLEET}s1")


def test_with_the_variable_every_store_is_in_the_database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_FLEET_URL", URL)
    settings = settings_in(tmp_path / "work")
    places = [
        slots_place(settings),
        schedule_place(settings),
        mail_place(settings, "s1"),
        session_board_place(settings, "s1"),
        project_board_place(settings, "board"),
    ]
    assert all(not isinstance(place, Path) and place.stem.startswith(FLEET) for place in places)
    assert named_board(settings, places[4].stem) == places[4]
    assert isinstance(named_board(settings, "a-board-that-began-as-a-file"), Path)
    assert stores_line(settings) == "the fleet's database 127.0.0.1:1/fleet (HARNESS_FLEET_URL)"
    file = mail_file(tmp_path / "state-here", "s1")
    file.parent.mkdir(parents=True)
    file.touch()
    assert mail_place(settings, "s1") == file


SAME = [
    "https://git.example.org/group/tool.git",
    "https://user:secret@GIT.example.org/group/tool",
    "ssh://git@git.example.org:2222/group/tool.git",
    "git@git.example.org:group/tool.git",
    "git.example.org:group/tool/",
]


def test_a_project_is_known_by_the_address_of_its_remote(tmp_path: Path) -> None:
    scopes = {project_scope(clone(tmp_path / f"clone{number}", remote)) for number, remote in enumerate(SAME)}
    assert len(scopes) == 1
    assert scopes.pop().startswith(f"{FLEET}tool-")
    others = ["", "", "https://git.example.org/group/other", "https://other.example.org/group/tool", "/srv/tool.git"]
    different = [project_scope(clone(tmp_path / f"other{number}", remote)) for number, remote in enumerate(others)]
    assert len({*different, project_scope(tmp_path / "clone0")}) == len(others) + 1


def test_a_worktree_and_its_repository_are_one_project(tmp_path: Path) -> None:
    folder = clone(tmp_path / "main", SAME[0])
    name = ["-c", "user.name=a", "-c", "user.email=a@example.org"]
    subprocess.run(["git", "-C", folder, *name, "commit", "-q", "--allow-empty", "-m", "first"], check=True)
    subprocess.run(["git", "-C", folder, "worktree", "add", "-q", tmp_path / "tree"], check=True)
    assert project_scope(tmp_path / "tree") == project_scope(folder)


def test_what_the_config_of_a_repository_includes_is_not_read(tmp_path: Path) -> None:
    folder = clone(tmp_path / "main", "")
    (tmp_path / "more").write_text('[remote "origin"]\n\turl = https://git.example.org/group/tool\n')
    before = project_scope(folder)
    with (folder / ".git/config").open("a") as file:
        file.write(f"[include]\n\tpath = {tmp_path / 'more'}\n")
    assert project_scope(folder) == before


def test_two_machines_share_the_board_of_a_repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_FLEET_URL", shared_server().url)
    remote = f"https://git.example.org/{tmp_path.name}/tool"
    first = settings_in(clone(tmp_path / "a/tool", remote), "a")
    second = settings_in(clone(tmp_path / "b/elsewhere", remote), "b")
    with (
        closing(TaskBoard(project_board_place(first, "board"), this_process("s1"))) as one,
        closing(TaskBoard(project_board_place(second, "board"), this_process("s2"))) as other,
    ):
        one.create([TaskDraft("write it")], Actor("lead", Role.LEAD))
        assert [task.subject for task in other.tasks().values()] == ["write it"]


def harness(*arguments: str, cwd: Path, url: str | None) -> subprocess.CompletedProcess[str]:
    environ = {name: text for name, text in os.environ.items() if name != "HARNESS_FLEET_URL"}
    environ |= {"XDG_STATE_HOME": str(cwd / "state")} | ({} if url is None else {"HARNESS_FLEET_URL": url})
    command = [sys.executable, "-m", "harness", *arguments]
    return subprocess.run(command, cwd=cwd, env=environ, capture_output=True, text=True, check=False)


def test_commands_use_the_database_and_doctor_says_whether_it_can_be_used(tmp_path: Path) -> None:
    url = shared_server().url
    added = harness("tasks", "add", "a task of the fleet", cwd=tmp_path, url=url)
    assert added.returncode == 0, added.stderr
    assert "a task of the fleet" in harness("tasks", "list", cwd=tmp_path, url=url).stdout
    assert harness("tasks", "list", cwd=tmp_path, url=None).returncode == 1
    report = harness("doctor", cwd=tmp_path, url=url).stdout
    assert "✓ fleet: The fleet's database 127.0.0.1" in report
    assert "the fleet's database 127.0.0.1" in report
    assert "is no setting" not in report
    wrong = harness("doctor", cwd=tmp_path, url=url.replace(PASSWORD, "another-password"))
    assert wrong.returncode == 1
    assert "✗ fleet: The fleet's database" in wrong.stdout
    assert "refuses the user or the password" in wrong.stdout
    assert "another-password" not in wrong.stdout + wrong.stderr
    assert PASSWORD not in report


def test_a_session_on_one_machine_loads_no_database(tmp_path: Path) -> None:
    program = (
        "import asyncio, sys\n"
        "from harness.session.opening import open_session\n"
        "async def main():\n"
        "    async with await open_session(workspace='.', state_dir='state', practice=True, board='b') as session:\n"
        "        session.tasks.board.tasks()\n"
        "asyncio.run(main())\n"
        "print([name for name in sys.modules if name.startswith(('asyncpg', 'pgqueuer', 'harness.fleet'))])\n"
    )
    environ = {name: text for name, text in os.environ.items() if name != "HARNESS_FLEET_URL"}
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=environ, capture_output=True, check=True)
    assert done.stdout == b"[]\n"
