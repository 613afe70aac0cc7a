"""Repositories that name programs, with git itself: what the environment switches off, and the settings on disk."""

import os
import shlex
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.processes.git_safety import harmless_setting, password_in_config, programs_in_config, safe_environment
from tests.cases import cases, yes


def run(folder: Path, line: str, *, safe: bool = False, **variables: str) -> str:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environment = {**kept, "GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, **variables}
    if safe:
        environment |= safe_environment(environment)
    finished = subprocess.run(
        ("sh", "-c", line),
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=False,
        start_new_session=True,
        timeout=60,
    )
    return (finished.stdout + finished.stderr).decode()


@pytest.fixture(autouse=True)
def _no_settings_of_this_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    folder.mkdir()
    (folder / "a.txt").write_text("one\n")
    run(
        folder,
        "git init -q -b main . && git config user.name a && git config user.email a@b.c && git add . && "
        "git commit -qm first && echo two >> a.txt",
    )
    return folder


def names_a_program(folder: Path, key: str, *, then: str = "") -> Callable[[], bool]:
    """Make a setting a program that leaves a file beside the repository. Whether it has run."""
    left, program = folder.parent / "PWNED", folder.parent / "program"
    program.write_text(f"#!/bin/sh\ntouch {left}\n{then}\n")
    program.chmod(0o755)
    run(folder, f"git config {key} {program}")

    def has_run() -> bool:
        found = left.exists()
        left.unlink(missing_ok=True)
        return found

    assert not has_run()
    return has_run


# ── the environment ─────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("key", "line"),
    [
        ("core.fsmonitor", "git status"),
        ("core.fsmonitor", "git diff"),
        ("core.editor", "git branch --edit-description"),
        ("core.sshCommand", "git ls-remote ssh://127.0.0.1/x"),
        ("core.askPass", "git credential fill <<E\nprotocol=https\nhost=x\n\nE"),
        ("credential.helper", "git credential fill <<E\nprotocol=https\nhost=x\n\nE"),
        ("gpg.program", "git commit -S --allow-empty -m x; git log --show-signature"),
        ("remote.origin.uploadpack", "git fetch origin"),
    ],
)
def test_a_setting_with_a_fixed_name_is_switched_off(repository: Path, key: str, line: str) -> None:
    run(repository, f"git remote add origin {shlex.quote(str(repository))}")
    has_run = names_a_program(repository, key)
    run(repository, line)
    assert has_run(), "without the environment it runs"
    printed = run(repository, line, safe=True)
    assert not has_run(), printed


def test_the_pager_and_the_editors_do_nothing(repository: Path) -> None:
    for key in ("core.pager", "pager.var", "core.editor", "sequence.editor"):
        names_a_program(repository, key)
    line = "git var GIT_PAGER; git var GIT_EDITOR; git var GIT_SEQUENCE_EDITOR"
    assert "/program\n" in run(repository, line)
    assert run(repository, line, safe=True).split()[:2] == ["cat", "false"]


def test_a_hook_of_the_index_does_not_run(repository: Path) -> None:
    hook, left = repository / ".git" / "hooks" / "post-index-change", repository / "PWNED"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {left}\n")
    hook.chmod(0o755)
    run(repository, "git commit -qam x; touch -t 200001010000 a.txt; rm -f PWNED")
    run(repository, "git status; git diff; git describe --always --dirty", safe=True)
    assert not left.exists()
    run(repository, "touch -t 200101010000 a.txt; git status")
    assert left.exists(), "without the environment it runs"


def test_a_repository_among_plain_files_is_not_used(repository: Path, tmp_path: Path) -> None:
    bare = tmp_path / "work" / "vendor"
    bare.parent.mkdir()
    run(tmp_path, f"cp -r {repository}/.git {bare} && git -C {bare} config core.bare true")
    assert "first" in run(bare, "git log")
    assert "first" not in run(bare, "git log", safe=True)
    assert "first" not in run(bare / "refs", "git log", safe=True)


def test_the_usual_commands_print_what_they_print_without_it(repository: Path) -> None:
    for line in ("git status", "git diff", "git log -p", "git branch -vv", "git stash list", "git grep one"):
        assert run(repository, line) == run(repository, line, safe=True)
    assert "+two" in run(repository, "git diff", safe=True)


def test_settings_that_the_environment_gives_already_stay_and_ours_win(repository: Path) -> None:
    theirs = {
        "GIT_CONFIG_COUNT": "2",
        "GIT_CONFIG_KEY_0": "user.nickname",
        "GIT_CONFIG_VALUE_0": "x",
        "GIT_CONFIG_KEY_1": "core.fsmonitor",
        "GIT_CONFIG_VALUE_1": "./evil",
    }
    assert run(repository, "git config user.nickname; git config core.fsmonitor", safe=True, **theirs) == "x\nfalse\n"


@pytest.mark.parametrize("count", ["", "many", "-1", "99999999999999999999"])
def test_a_count_that_is_no_number_of_settings_is_replaced(repository: Path, count: str) -> None:
    assert run(repository, "git config core.fsmonitor", safe=True, GIT_CONFIG_COUNT=count) == "false\n"


# ── the settings of a repository ────────────────────────────────────────────────────────────────


def test_a_repository_as_git_makes_it_names_no_program(repository: Path, tmp_path: Path) -> None:
    run(tmp_path, "git clone -q repository copy && git -C copy worktree add -q ../tree")
    run(
        tmp_path / "copy", "git -c protocol.file.allow=always submodule add -q ../repository inner && git commit -qam x"
    )
    run(
        tmp_path / "copy",
        "git branch -q topic --track && git config core.autocrlf input && git config pull.rebase true",
    )
    run(
        tmp_path / "copy",
        "git config core.hooksPath .husky/_ && git config core.editor vi",
    )
    run(tmp_path / "copy", "git config core.fsmonitor true && git config color.ui auto")
    for folder in ("repository", "copy", "tree", "copy/inner", "copy/.git", "copy/.git/refs"):
        assert programs_in_config(tmp_path / folder) is None, folder
    assert programs_in_config(tmp_path) is None


def test_git_lfs_as_it_sets_itself_up_is_no_danger(repository: Path) -> None:
    for key, value in {"clean": "clean -- %f", "smudge": "smudge -- %f", "process": "filter-process"}.items():
        run(repository, f"git config filter.lfs.{key} 'git-lfs {value}'")
    run(repository, "git config filter.lfs.required true; git config lfs.https://x/y.access basic")
    assert programs_in_config(repository) is None
    run(repository, "git config filter.lfs.clean 'git-lfs clean -- %f; touch x'")
    assert programs_in_config(repository) == "filter.lfs.clean"


@pytest.mark.parametrize(
    "key",
    [
        *("core.fsmonitor", "filter.x.clean", "filter.x.smudge", "filter.x.process", "diff.external", "diff.x.command"),
        *("diff.x.textconv", "merge.x.driver", "core.worktree", "core.attributesFile", "core.excludesFile"),
        *("core.gitProxy", "core.alternateRefsCommand", "include.path", "includeIf.gitdir:/.path", "alias.st"),
        *("url.x.insteadOf", "remote.origin.uploadpack", "remote.origin.promisor", "extensions.partialClone"),
        *("uploadpack.packObjectsHook", "gc.recentObjectsHook", "blame.ignoreRevsFile", "mailmap.file", "pretty.x"),
        *("diff.orderFile", "submodule.x.update", "trace2.eventTarget", "hook.x.command", "unheard.of"),
    ],
)
def test_a_setting_that_is_not_known_to_be_harmless_is_named(repository: Path, key: str) -> None:
    first, _, last = key.rpartition(".")
    with (repository / ".git" / "config").open("a") as file:
        section, _, middle = first.partition(".")
        file.write(f'[{section} "{middle}"]\n' if middle else f"[{section}]\n")
        file.write(f"\t{last} = !touch x\n")
    (repository / "sub").mkdir()
    for folder in (repository, repository / "sub"):
        found = programs_in_config(folder)
        assert found is not None
        assert found.lower() == key.lower()


@pytest.mark.parametrize(
    ("key", "attribute", "line"),
    [
        ("filter.x.clean", "filter=x", "git diff"),
        ("diff.x.textconv", "diff=x", "git diff"),
        ("diff.x.command", "diff=x", "git diff"),
        ("diff.external", "x", "git diff"),
    ],
)
def test_what_no_environment_can_switch_off_is_named(repository: Path, key: str, attribute: str, line: str) -> None:
    has_run = names_a_program(repository, key, then="cat")
    (repository / ".gitattributes").write_text(f"*.txt {attribute}\n")
    run(repository, line, safe=True)
    assert has_run()
    assert programs_in_config(repository) == key


def test_the_settings_of_a_submodule_are_looked_at(repository: Path, tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    run(tmp_path, "git init -q outer && cp -r repository outer/inner")
    assert programs_in_config(outer) is None
    run(outer, "git add inner")
    assert programs_in_config(outer) is None
    run(outer / "inner", "git config filter.x.clean ./evil")
    assert programs_in_config(outer) == "filter.x.clean of the submodule inner"
    run(outer, "git update-index --split-index && touch b && git add b")
    assert programs_in_config(outer) == "filter.x.clean of the submodule inner"


def test_the_settings_of_a_linked_work_tree_are_looked_at(repository: Path, tmp_path: Path) -> None:
    run(repository, "git worktree add -q ../tree && git config extensions.worktreeConfig true")
    assert programs_in_config(tmp_path / "tree") is None
    run(tmp_path / "tree", "git config --worktree diff.external ./evil")
    assert programs_in_config(tmp_path / "tree") == "diff.external"
    assert programs_in_config(repository) is None
    run(tmp_path / "tree", "git config --worktree --unset diff.external")
    run(repository, "git config --worktree filter.x.clean ./evil")
    assert programs_in_config(tmp_path / "tree") == programs_in_config(repository) == "filter.x.clean"


def test_a_setting_of_the_user_that_leads_into_the_folder_is_named(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(tmp_path / "gitconfig"))
    for program, found in ((tmp_path / "mine", None), (repository / "evil", "diff.external of the user")):
        (tmp_path / "gitconfig").write_text(f"[user]\n\tname = a\n[diff]\n\texternal = {program} -x\n")
        assert (programs_in_config(repository) or "").partition(",")[0] == (found or "")


def test_a_bare_repository_is_not_trusted(repository: Path, tmp_path: Path) -> None:
    run(tmp_path, "git clone -q --bare repository vendor")
    for folder in (tmp_path / "vendor", tmp_path / "vendor" / "refs"):
        assert programs_in_config(folder) == f"a repository without a work tree: {tmp_path / 'vendor'}"


def test_a_git_file_that_leads_elsewhere_is_not_trusted(repository: Path, tmp_path: Path) -> None:
    folder = tmp_path / "cloned"
    folder.mkdir()
    (folder / ".git").write_text(f"gitdir: {repository}/.git\n")
    assert "first" in run(folder, "git log", safe=True)
    assert programs_in_config(folder) == f"a .git that leads to another repository: {folder}/.git"
    (folder / ".git").unlink()
    (folder / ".git").symlink_to(repository / ".git")
    assert programs_in_config(folder) == f"a .git that leads to another repository: {folder}/.git"


def test_a_common_folder_elsewhere_is_not_trusted(repository: Path, tmp_path: Path) -> None:
    folder = tmp_path / "cloned" / ".git"
    folder.mkdir(parents=True)
    (folder / "HEAD").write_text("ref: refs/heads/main\n")
    (folder / "commondir").write_text(f"{repository}/.git\n")
    assert "first" in run(folder.parent, "git log", safe=True)
    assert programs_in_config(folder.parent) is not None


@pytest.mark.parametrize(
    "place",
    [
        "rebase-merge/done",
        "info/exclude",
        "BISECT_LOG",
        "worktrees/x/locked",
        "branches/x",
        "logs/HEAD",
        "objects/pack/x.pack",
    ],
)
def test_a_link_instead_of_a_file_of_git_is_not_trusted(repository: Path, tmp_path: Path, place: str) -> None:
    (tmp_path / "secret").write_text("secret\n")
    path = repository / ".git" / place
    path.parent.mkdir(exist_ok=True, parents=True)
    path.unlink(missing_ok=True)
    path.symlink_to(tmp_path / "secret")
    assert programs_in_config(repository) == f"a link in the place of a file of git: {path}"


def test_objects_of_another_repository_are_not_trusted(repository: Path, tmp_path: Path) -> None:
    run(tmp_path, f"git clone -q --shared {repository} shared && git init -q other")
    assert programs_in_config(tmp_path / "shared") == f"objects of another repository: {repository}/.git/objects"
    (tmp_path / "other" / ".git" / "more" / "info").mkdir(parents=True)
    (tmp_path / "other" / ".git" / "objects" / "info" / "alternates").write_text("../more\n")
    assert programs_in_config(tmp_path / "other") is None
    (tmp_path / "other" / ".git" / "more" / "info" / "alternates").write_text(f"{repository}/.git/objects\n")
    assert programs_in_config(tmp_path / "other") == f"objects of another repository: {repository}/.git/objects"


@pytest.mark.parametrize("head", ["", "nothing of git\n", "refs: x\n"])
def test_a_git_folder_that_git_may_pass_over_is_not_trusted(repository: Path, head: str) -> None:
    run(repository, "git config filter.x.clean ./evil")
    inner = repository / "sub" / ".git"
    for name in ("objects", "refs"):
        (inner / name).mkdir(parents=True)
    (inner / "HEAD").write_text(head)
    assert programs_in_config(inner.parent) is not None


def test_a_folder_that_only_has_a_head_and_variables_that_lead_elsewhere_change_nothing(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (repository / "docs").mkdir()
    (repository / "docs" / "HEAD").write_text("ref: refs/heads/main\n")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path))
    assert programs_in_config(repository / "docs") is None
    run(repository, "git config filter.x.clean ./evil")
    assert programs_in_config(repository / "docs") == "filter.x.clean"


def test_a_git_folder_without_a_head_is_passed_over_as_git_does(repository: Path) -> None:
    run(repository, "git config filter.x.clean ./evil")
    (repository / "sub" / ".git" / "objects").mkdir(parents=True)
    assert "first" in run(repository / "sub", "git log")
    assert programs_in_config(repository / "sub") == "filter.x.clean"


@pytest.mark.parametrize("written", [b"[core", b"[x]\n\tno name = \n", b"\0", b'[a]\nx = "\n'])
def test_settings_that_git_cannot_read_are_not_trusted(repository: Path, written: bytes) -> None:
    (repository / ".git" / "config").write_bytes(written)
    assert programs_in_config(repository) == "settings that git itself cannot read"


@pytest.mark.parametrize("place", ["config", "HEAD", "commondir", "index"])
def test_a_pipe_instead_of_a_file_is_refused_at_once(repository: Path, place: str) -> None:
    path = repository / ".git" / place
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    found = programs_in_config(repository)
    assert found is not None
    assert "cannot be read" in found


def test_settings_of_many_megabytes_are_refused(repository: Path) -> None:
    with (repository / ".git" / "config").open("a") as file:
        file.write("# x\n" * 500_000)
    assert "larger than" in str(programs_in_config(repository))


@cases(__file__, "harmless", "name value harmless", str, str, yes)
def test_a_setting_is_harmless_only_if_it_is_listed(name: str, value: str, *, harmless: bool) -> None:
    assert harmless_setting(name, value) is harmless


# ── passwords ───────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("remote.origin.url", "https://user:secret@example.com/a.git"),
        ("remote.origin.pushurl", "https://ghp_0123456789abcdef0123456789@example.com/a.git"),
        ("submodule.x.url", "https://x:y@example.com/a.git"),
        ("http.https://example.com/.extraheader", "AUTHORIZATION: basic eHg="),
        ("url.https://user:secret@example.com/.insteadof", "https://example.com/"),
        ("some.token", "x"),
    ],
)
def test_a_setting_that_shows_a_password_is_named(repository: Path, key: str, value: str) -> None:
    assert password_in_config(repository) is None
    run(repository, f"git config {key} {shlex.quote(value)}")
    assert password_in_config(repository) == key


def test_an_address_of_the_user_that_git_would_show_is_named(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = tmp_path / "gitconfig"
    settings.write_text('[url "https://user:secret@example.com/"]\n\tinsteadOf = https://example.com/\n')
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", str(settings))
    assert password_in_config(repository) == "url.https://user:secret@example.com/.insteadof"


@pytest.mark.parametrize("url", ["git@github.com:a/b.git", "https://github.com/a/b", "ssh://git@h:22/a", "../a"])
def test_an_address_without_a_password_is_none(repository: Path, url: str) -> None:
    run(repository, f"git remote add origin {url}")
    assert password_in_config(repository) is None


def test_the_look_at_the_settings_is_quick(repository: Path) -> None:
    begin = time.perf_counter()
    for _ in range(10):
        programs_in_config(repository)
    assert time.perf_counter() - begin < 5
