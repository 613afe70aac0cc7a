"""What git reads its settings from and what those name: compared with git itself, and held by real bubblewrap."""

import os
import subprocess
import tempfile
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.sandbox.git_settings import GitSettings, settings_in
from harness.sandbox.marked_files import MarkedFiles
from harness.sandbox.places import profile_for
from harness.sandbox.profile import Allowance, ProfileName
from tests.sandbox.test_places import git, home, places, repository, shell, work, written

__all__ = ["MarkedFiles", "home"]
ALONE = {**os.environ, "GIT_CONFIG_NOSYSTEM": "1", "HOME": "/nowhere"}
PIECES = st.sampled_from(
    [
        "a",
        "ci/x",
        " ",
        "  ",
        '"',
        '\\"',
        "\\\\",
        "\\n",
        "\\t",
        "\\\n",
        "\n",
        "#",
        ";",
        "=",
        "[a]",
        *['[b "C\\"d"]', "\nkey = "],
    ]
)


@given(st.lists(PIECES, max_size=14))
def test_a_file_is_read_as_git_reads_it(pieces: list[str]) -> None:
    text = f'[s "T"]\nkey = {"".join(pieces)}\n'
    with tempfile.TemporaryDirectory() as folder:
        file = written(Path(folder) / "config", text)
        done = subprocess.run(
            ["git", "config", "-z", "--list", "-f", file], capture_output=True, text=True, check=False, env=ALONE
        )
        if done.returncode:
            return  # git stops there, and obeys nothing
        said = [one.partition("\n") for one in done.stdout.split("\0")[:-1]]
        ours = {(f"{section.replace(' ', '.', 1)}.{key}", value) for section, key, value in settings_in(text)}
        assert {(name, value) for name, has_value, value in said if has_value} <= ours


WAYS = ("[include]", '[includeIf "onbranch:other"]', '[includeIf "gitdir:**"]', "[INCLUDE]")
NAMES = ("config", "one", "ci/two", "ci/deep/three")


@given(st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(WAYS), st.sampled_from(NAMES)), max_size=6))
def test_every_file_that_git_reads_is_found(includes: list[tuple[str, str, str]]) -> None:
    with tempfile.TemporaryDirectory() as made:
        top = Path(os.path.realpath(made))
        git(top, "init", "-q")
        files = {name: top / (f".git/{name}" if name == "config" else name) for name in NAMES}
        for name, file in files.items():
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("a") as text:
                text.write(f"[own]\n\tkey = {name}\n")
                for holder, way, other in includes:
                    if holder == name:
                        text.write(f"{way}\n\tpath = {os.path.relpath(files[other], file.parent)}\n")
        listed = subprocess.run(
            ["git", "config", "-z", "--list", "--show-origin"],
            cwd=top,
            capture_output=True,
            text=True,
            check=False,
            env=ALONE,
        )
        origins = [one.removeprefix("file:") for one in listed.stdout.split("\0") if one.startswith("file:")]
        found, complete = GitSettings("/nowhere", {}).named({f"{top}/.git": str(top)}, [str(top)])
        assert {os.path.realpath(top / one) for one in origins} <= {*found}
        assert complete


def included(home: Path) -> Path:
    """A repository whose settings are in files of the workspace."""
    workspace = repository(home / "w")
    git(workspace, "config", "include.path", "../ci/more")
    git(workspace, "config", "user.name", "f")
    git(workspace, "config", "alias.t", "!make -C build test")
    written(
        workspace / "ci/more",
        '[core]\n\thooksPath = ci/hooks\n[includeIf "onbranch:other"]\n\tpath = deep/other\n'
        '[filter "x"]\n\tclean = "$(git rev-parse --show-toplevel)/tools/clean %f"\n',
    )
    written(workspace / "ci/deep/other", '[core]\n\tsshCommand = python \\"tools/ssh\\" -x\n')
    for path in ("ci/hooks/pre-commit", "tools/clean", "tools/ssh", "build/x"):
        written(workspace / path)
    return workspace


def test_what_included_settings_name_is_read_only_and_stays_in_its_place(home: Path) -> None:
    workspace = included(home)
    held = ("ci/more", "ci/deep/other", "ci/hooks/pre-commit", "ci/hooks/new", "tools/clean", "tools/ssh")
    lines = [f"echo evil > {path}" for path in (*held, "build/x", "f", "ci/free")]
    lines += [f"mv {folder} aside-{number}" for number, folder in enumerate(("ci", "ci/deep", "tools"))]
    said = shell(work(home, workspace), workspace, "; ".join(lines))
    assert said.count("Read-only file system") == len(held)
    assert said.count("Device or resource busy") == 3
    assert [(workspace / path).read_text() for path in ("build/x", "f", "ci/free")] == ["evil\n"] * 3


def test_what_was_opened_to_git_is_not_pinned(home: Path) -> None:
    workspace = included(home)
    machine = places(home, workspace).look([str(workspace)])
    profile = profile_for(ProfileName.WORK, machine, Allowance(machine.obeyed))
    assert [one for one in profile.writable if one.startswith(f"{workspace}/")] == [f"{workspace}/.git"]


def test_a_folder_that_the_user_allows_can_be_moved_and_others_stay_held(home: Path) -> None:
    workspace = included(home)
    machine = places(home, workspace).look([str(workspace)])
    profile = profile_for(ProfileName.WORK, machine, Allowance((str(workspace / "ci"),)))
    said = shell(profile, workspace, "mv ci ci2 && echo moved; echo evil > tools/clean")
    assert said.startswith("moved\n")
    assert "tools/clean: Read-only file system" in said


@pytest.mark.parametrize(
    "name", ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_COUNT", "HOME", "XDG_CONFIG_HOME"]
)
def test_settings_of_the_user_that_lead_into_the_workspace_count(home: Path, name: str) -> None:
    workspace = repository(home / "w")
    hook = written(workspace / "own/hooks/pre-commit").parent
    settings = "[core]\n\thooksPath = own/hooks\n"
    given = {name: str(written(home / "elsewhere", settings))}
    if name == "GIT_CONFIG_COUNT":
        given = {name: "1", "GIT_CONFIG_KEY_0": "core.hooksPath", "GIT_CONFIG_VALUE_0": "~/w/own/hooks"}
    elif name in {"HOME", "XDG_CONFIG_HOME"}:
        given = {name: str(home / "c")} if name == "XDG_CONFIG_HOME" else {}
        written(home / ("c/git/config" if given else ".gitconfig"), settings)
    assert str(hook) in places(home, workspace, None, **given).look([str(workspace)]).obeyed


def test_submodules_linked_worktrees_and_links_to_hooks_count(home: Path) -> None:
    workspace, other = included(home), repository(home / "other")
    git(workspace, "submodule", "add", "-q", str(other), "sub")
    git(workspace / "sub", "config", "core.hooksPath", "h")
    git(workspace, "worktree", "add", "-q", "tree")
    git(workspace, "config", "extensions.worktreeConfig", "true")
    git(workspace / "tree", "config", "--worktree", "core.pager", "./page")
    named = ["sub/h", "tree/ci/hooks", "tree/page", "tools/hook"]
    for path in ("sub/h/x", "tree/ci/hooks/x", "tree/page", "tools/hook"):
        written(workspace / path).chmod(0o755)
    (workspace / ".git/hooks").mkdir(exist_ok=True)
    (workspace / ".git/hooks/post-commit").symlink_to("../../tools/hook")
    profile = work(home, workspace)
    assert {str(workspace / path) for path in named} <= {*profile.read_only}
    from_tree = work(home, workspace / "tree")
    assert {str(workspace / path) for path in named[1:3]} <= {*from_tree.read_only}


def test_settings_in_variables_count_as_far_as_their_number_says(home: Path) -> None:
    workspace = repository(home / "w")
    given = {"GIT_CONFIG_KEY_0": "core.hooksPath", "GIT_CONFIG_VALUE_0": str(written(workspace / "own/x").parent)}
    for count, counts in (("1", True), ("0", False), ("", False), ("x", False)):
        look = places(home, workspace, None, **given, GIT_CONFIG_COUNT=count)
        assert (str(workspace / "own") in look.look([str(workspace)]).obeyed) is counts


@pytest.mark.parametrize("kind", ["cycle", "pipe", "many", "missing", "large", "nothing"])
def test_hostile_settings_do_not_hang_the_look(home: Path, kind: str) -> None:
    workspace = repository(home / "w")
    config = workspace / ".git/config"
    more = {
        "cycle": "[include]\npath = config\npath = ../a/../.git/config\n",
        "pipe": "[include]\npath = ../pipe\n",
        "many": "".join(f"[include]\npath = ../inc/{number}\n" for number in range(10_000)),
        "missing": "".join(f"[include]\npath = {'./' * number}x\n" for number in range(2_000)),
        "large": "#" * 3_000_000,
        "nothing": "[include]\npath =\npath = .\npath\n[core]\nhooksPath = .\n",
    }
    os.mkfifo(workspace / "pipe")
    with config.open("a") as text:
        text.write(more[kind])
    look = places(home, workspace)
    look.look([str(workspace)])
    began = time.process_time()
    machine = look.look([str(workspace)])
    assert time.process_time() - began < 2
    assert bool(machine.cannot_hold) is (kind in {"many", "missing", "large"})
    assert (str(workspace / "pipe") in machine.obeyed) is (kind == "pipe")
    assert str(workspace) not in machine.obeyed
