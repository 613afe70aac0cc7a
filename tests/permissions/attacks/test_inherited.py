"""Lines that run unasked while something besides their words would make them print a key: nothing of it is obeyed."""

import os
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.engine.permissions.disk_lookup import disk_of
from harness.engine.permissions.session_rules import surroundings_of
from harness.events import Json
from harness.permissions import Allow, Decision, Mode, PermissionRequest, Permissions, RuleBook, RuleScope, Verdict
from harness.processes.inherited import as_read, unasked
from harness.sandbox import ProfileName
from harness.tools.bash import shell_command, shell_environment
from harness.tools.tool import Effect

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="links and a POSIX shell")


KEY = "the-planted-key"
DATA = tomllib.loads(Path(__file__).with_name("inherited.toml").read_text("utf-8"))


@dataclass(frozen=True)
class Folders:
    """A repository with a key that git does not know, a home folder, and a folder outside with a key."""

    root: Path

    def named(self, text: str) -> str:
        for sign, folder in (("WS", "ws"), ("HOME", "home"), ("OUT", "out")):
            text = text.replace(sign, str(self.root / folder))
        return text

    def write(self, name: str, text: str) -> None:
        path, text = Path(self.named(name)), self.named(text)
        path.parent.mkdir(parents=True, exist_ok=True)
        if text.startswith("->"):
            path.symlink_to(text[2:])
            return
        path.write_text(text)
        path.chmod(0o755 if text.startswith("#!") else 0o644)

    def run(self, line: str, environment: Mapping[str, str]) -> str:
        workspace = self.root / "ws"
        command = shell_command(self.named(line), workspace)
        ended = subprocess.run(
            command,
            cwd=workspace,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=60,
            check=False,
        )
        return (ended.stdout + ended.stderr).decode(errors="replace")

    def decide(self, line: str, allowed: str = "") -> Decision:
        book = RuleBook(surroundings_of(self.root / "ws"))
        for rule in filter(None, [allowed]):
            book.add(book.parse(Verdict.ALLOW, rule, RuleScope.SETTINGS))
        permissions = Permissions(Mode.ASK, book=book)
        request = PermissionRequest("1", "bash", Effect.RUN, line, line, {"command": line})
        return permissions.decide(
            PermissionRequest(
                *("1", "bash", Effect.RUN, line, line), {"command": line}, disk=disk_of(permissions, request)
            )
        )


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Folders:
    made = Folders(tmp_path.resolve())
    for name, text in {
        "WS/.env": f"KEY={KEY}\n",
        "WS/a.md": "# A\n",
        "WS/src/a.py": "print(1)\n",
        "WS/docs/b.md": "# B\n",
        "OUT/diary.txt": f"{KEY}\n",
        "OUT/a.py": f"{KEY}\n",
        "OUT/docs/diary.txt": f"{KEY}\n",
        "OUT/ws/diary.txt": f"{KEY}\n",
        "HOME/x": "",
    }.items():
        made.write(name, text)
    plain = {"HOME": str(made.root / "home"), "PATH": "/usr/local/bin:/usr/bin:/bin", "LANG": "C.UTF-8"}
    for name in os.environ:
        monkeypatch.delenv(name)
    for name, value in plain.items():
        monkeypatch.setenv(name, value)
    who = {f"GIT_{role}_{what}": "a@b.c" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    prepare = (
        "git init -q -b main && git add a.md src docs && git commit -qm x && echo more >> a.md && tar czf a.tgz src"
    )
    assert made.run(prepare, {**plain, **who}) == ""
    return made


def plant(here: Folders, one: Json, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """The environment of the user, with the plant in it."""
    who = {f"GIT_{role}_{what}": "a@b.c" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    for name, text in one.get("files", {}).items():
        here.write(name, text)
    if "before" in one:
        here.run(one["before"], {**os.environ, **who})
    for name, value in one.get("variables", {}).items():
        monkeypatch.setenv(name, here.named(value))
    return dict(os.environ)


@pytest.mark.parametrize("one", DATA["plant"], ids=lambda one: str(one["name"]))
def test_nothing_that_a_line_inherits_makes_it_print_a_key(
    here: Folders, one: Json, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which(program := one.get("needs", "bash")) is None:
        pytest.skip(f"{program} is not installed")
    theirs = plant(here, one, monkeypatch)
    assert KEY in here.run(one["line"], theirs), "the plant does nothing"
    if isinstance(here.decide(here.named(one["line"])), Allow):
        assert KEY not in here.run(one["line"], shell_environment(os.environ, here.root / "ws", ProfileName.LOOK))


@pytest.mark.parametrize("program", DATA["variables"])
def test_a_variable_that_a_program_obeys_is_not_inherited_unasked(program: str, tmp_path: Path) -> None:
    given = dict.fromkeys(DATA["variables"][program], "some/where")
    kept = unasked({**given, "PATH": "/usr/bin:bin", "HOME": "/h", "GH_TOKEN": "t"}, tmp_path)
    assert {name for name in given if kept.get(name) == "some/where"} == set()
    assert (kept["PATH"], kept["HOME"], kept["GH_TOKEN"]) == ("/usr/bin", "/h", "t")


def test_what_the_user_set_for_search_makes_no_line_a_question(here: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    here.write("HOME/rg", "--smart-case\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", here.named("HOME/rg"))
    here.write("HOME/.config/git/ignore", "*.swp\n")
    assert isinstance(here.decide("rg print"), Allow)


def test_a_line_that_a_rule_allows_in_part_means_what_was_read(here: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    line = "cat * && cd docs && cat diary.txt && mkdir x"
    monkeypatch.setenv("BASHOPTS", "dotglob")
    monkeypatch.setenv("CDPATH", here.named("OUT"))
    assert KEY in here.run(line, dict(os.environ))
    assert isinstance(here.decide(line, "bash(mkdir *)"), Allow)
    assert KEY not in here.run(line, shell_environment(os.environ, here.root / "ws"))


def test_a_program_of_the_user_shows_their_changes_unasked(here: Folders) -> None:
    here.write("HOME/.gitconfig", '[diff]\nexternal = HOME/show\n[url "git@a.b:"]\ninsteadOf = https://a.b/\n')
    here.write("HOME/show", "#!/bin/sh\necho shown\n")
    assert isinstance(here.decide("git diff"), Allow)
    environment = shell_environment(os.environ, here.root / "ws", ProfileName.LOOK)
    assert "shown" in here.run("git diff", environment)


def test_what_only_runs_another_command_is_no_file_of_the_folder(
    here: Folders, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert isinstance(here.decide("timeout 5 mkdir x", "bash(mkdir *)"), Allow)
    monkeypatch.setenv("PATH", ".:/usr/bin:/bin")
    assert isinstance(here.decide("timeout 5 mkdir x", "bash(mkdir *)"), Allow)
    here.write("WS/timeout", "#!/bin/sh\ncat .env\n")
    assert not isinstance(here.decide("timeout 5 mkdir x", "bash(mkdir *)"), Allow)


def test_settings_files_of_the_user_stay_and_those_of_the_folder_do_not(tmp_path: Path) -> None:
    inside, elsewhere = tmp_path / "ws", tmp_path / "home"
    inside.mkdir()
    (elsewhere / "link").parent.mkdir()
    (elsewhere / "link").symlink_to(inside)
    for value, stays in ((elsewhere / "k", True), (inside / "k", False), (elsewhere / "link" / "k", False)):
        assert ("KUBECONFIG" in unasked({"KUBECONFIG": str(value)}, inside)) is stays
    assert "KUBECONFIG" not in unasked({"KUBECONFIG": f"{elsewhere}/k:k"}, inside)


def test_bash_of_the_folder_does_not_run_the_lines(here: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    here.write("WS/bash", "#!/bin/sh\ncat .env\n")
    monkeypatch.chdir(here.root / "ws")
    for path in (".:/usr/bin:/bin", f"{here.root}/ws:/usr/bin:/bin", ""):
        monkeypatch.setenv("PATH", path)
        assert KEY not in here.run("echo x", shell_environment(os.environ, here.root / "ws", ProfileName.LOOK))


def test_programs_of_the_user_are_found_in_the_home_folder(here: Folders, monkeypatch: pytest.MonkeyPatch) -> None:
    home = here.root / "home"
    here.write("HOME/bin/bash", "#!/bin/sh\necho theirs\n")
    monkeypatch.setenv("PATH", f"{home}/bin:/usr/bin:/bin")
    for current, workspace, theirs in (
        (home, home, True),
        (here.root / "ws", here.root / "ws", True),
        (home / "bin", home / "bin", False),
    ):
        monkeypatch.chdir(current)
        assert (shell_command("", workspace)[0] == f"{home}/bin/bash") is theirs


def test_settings_that_the_environment_gives_git_come_before_ours(tmp_path: Path) -> None:
    given = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
    for made in (as_read(given, tmp_path), unasked(given, tmp_path)):
        assert made["GIT_CONFIG_KEY_0"] == "safe.directory"
        assert made["GIT_CONFIG_KEY_1"] == "core.quotePath"
        assert int(made["GIT_CONFIG_COUNT"]) == sum(name.startswith("GIT_CONFIG_KEY") for name in made)
