"""Command lines that the sandbox holds, in whole turns."""

import os
import shutil
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from harness.engine.permissions.asker import NoAsker
from harness.events import (
    AgentEnd,
    Event,
    Notice,
    PermissionAsked,
    SandboxFound,
    SandboxRefused,
    ToolEnded,
    ToolOutcome,
    ToolStarted,
)
from harness.permissions import PermissionAnswer
from harness.sandbox import Allowance, ProfileName, SandboxLevel
from harness.sandbox.landlock import landlock_version
from harness.sandbox.sandbox import Sandbox
from harness.tools.held_commands import ENDED_LEFT, MADE_OBEYED, UPSTREAM_SET
from tests.agent.answering_user import AnsweringUser
from tests.agent.stage import Stage, calls, says, stage
from tests.agent.test_agents import ends, of_subagent, on_stage, task
from tests.agent.test_permission_rules import bash, outcomes
from tests.agent.test_tool_rounds import call

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(Sandbox().state.level is not SandboxLevel.FULL, reason="this machine has no full sandbox"),
]
WRITES = f"""touch made; {sys.executable} -c "open('.vscode/settings.json', 'a').write('x')" """.strip()


@asynccontextmanager
async def held(
    folder: Path, script: str, asker: NoAsker | None = None, mode: str = "ask", allow: Sequence[str] = ()
) -> AsyncIterator[Stage]:
    """A stage with a file that an editor obeys."""
    user = asker or AnsweringUser(PermissionAnswer("no"))
    async with stage(
        folder, script, asker=user, permission_mode=mode, permissions_allow=list(allow), sandbox="auto"
    ) as here:
        (here.workspace / ".vscode").mkdir()
        (here.workspace / ".vscode" / "settings.json").write_text("{}")
        yield here


async def test_what_the_sandbox_refused_is_asked_about_when_the_line_is_called_again(tmp_path: Path) -> None:
    user = AnsweringUser(PermissionAnswer("no"), PermissionAnswer("once"), PermissionAnswer("no"))
    async with held(tmp_path, "".join(calls(bash(WRITES)) for _ in range(4)) + says("Done."), user) as here:
        turn = await here.turn()
        file = here.workspace / ".vscode" / "settings.json"
        assert (here.workspace / "made").exists()
        assert file.read_text() == "{}x"
    denied = ToolOutcome.DENIED
    assert outcomes(turn) == [ToolOutcome.ERROR, denied, ToolOutcome.OK, denied]
    assert [started.profile for started in turn.of(ToolStarted)] == ["work", "work"]
    assert "call it again with the same line" in str(turn.results[0]["content"])
    assert [(event.subject, event.profile) for event in turn.of(SandboxRefused)] == [(str(file), "work")]
    for _, request in user.asked:
        assert (request.profile, request.allowance) == (ProfileName.WORK, Allowance((str(file),)))
        assert "the sandbox keeps it from `.vscode/settings.json`" in request.dangers[0]


async def test_a_sandbox_that_breaks_is_said_and_the_line_is_asked_about(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "programs" / "bwrap"
    program.parent.mkdir()
    shutil.copy(str(shutil.which("bwrap")), program)
    monkeypatch.setenv("PATH", str(program.parent), prepend=os.pathsep)

    def breaks(event: Event) -> None:
        if isinstance(event, ToolEnded):
            program.unlink()
            program.write_text("#!/bin/sh\nexit 1\n")
            program.chmod(0o755)

    lines = [f"touch {one}" for one in "abcd"]
    async with held(tmp_path, "".join(calls(bash(line)) for line in lines) + says("Done.")) as here:
        turn = await here.turn(on_event=breaks)
        assert [path.name for path in here.workspace.glob("?")] == ["a"]
    assert outcomes(turn) == [ToolOutcome.OK, ToolOutcome.BROKEN, ToolOutcome.DENIED, ToolOutcome.DENIED]
    assert len(turn.of(PermissionAsked)) == 2
    (found,), (notice,) = turn.of(SandboxFound), turn.of(Notice)
    assert found.level == ("files only" if landlock_version() else "none")
    assert notice.text.startswith(f"the sandbox is now {found.level}")


async def test_without_a_user_held_lines_run_and_others_are_refused(tmp_path: Path) -> None:
    script = calls(bash("echo x > a && cat a"), bash("rm a"), bash("docker ps > b")) + says("Done.")
    async with held(tmp_path, script, NoAsker()) as here:
        turn = await here.turn()
        assert (here.workspace / "a").exists()
    assert outcomes(turn) == [ToolOutcome.OK, ToolOutcome.DENIED, ToolOutcome.DENIED]


def _ended(event: Event) -> bool:
    return isinstance(event, ToolEnded)


def two_branches(folder: Path, *files: str) -> None:
    """Commit, leave a branch there, and commit what an editor obeys again."""
    for file in files:
        (folder / file).parent.mkdir(parents=True)
        (folder / file).write_text("{}")
    git = ("git", "-C", str(folder), "-c", "user.name=Ada", "-c", "user.email=ada@example.invalid")
    for arguments in (("init", "-q", "-b", "main"), ("add", "."), ("commit", "-qm", "a"), ("branch", "other")):
        subprocess.run([*git, *arguments], check=True)
    (folder / ".vscode" / "settings.json").write_text('{"a": 1}')
    subprocess.run([*git, "commit", "-qam", "b"], check=True)


async def test_git_may_exchange_files_that_others_obey_and_the_result_names_them(tmp_path: Path) -> None:
    lines = ("git switch -q other", "git status -s", "git worktree add -q a", "git worktree remove a")
    async with held(tmp_path, calls(*map(bash, lines)) + says("Done.")) as here:
        two_branches(here.workspace)
        turn = await here.turn()
        assert (here.workspace / ".vscode" / "settings.json").read_text() == "{}"
        assert not (here.workspace / "a").exists()
        named = MADE_OBEYED.format(paths=here.workspace / ".vscode")
    assert outcomes(turn) == [ToolOutcome.OK] * 4
    assert [str(result["content"]) for result in turn.results[:2]] == [
        f"(no output)\n\n[exit 0]{named}",
        "(no output)\n\n[exit 0]",
    ]


async def test_a_line_that_mixes_git_with_programs_ends_and_the_user_reads_what_these_changed(tmp_path: Path) -> None:
    changed = "git stash -q && cat .vscode/settings.json; git stash pop -q"
    kept: list[str] = []
    program = "open('.vscode/settings.json', 'w').write('x')"
    switched = f'git stash -q && git switch -q other && {sys.executable} -c "{program}"'
    async with held(tmp_path, calls(*map(bash, (changed, switched))) + says("Done.")) as here:
        two_branches(here.workspace)
        settings = here.workspace / ".vscode" / "settings.json"
        settings.write_text("mine")
        turn = await here.turn(on_event=lambda event: kept.append(settings.read_text()) if _ended(event) else None)
        own = here.workspace / ".vscode"
    assert outcomes(turn) == [ToolOutcome.OK] * 2
    assert str(turn.results[0]["content"]).startswith('{"a": 1}\n')
    assert kept == ["mine", "x"]
    notice = f"the call made, changed or removed what other programs obey: {own}"
    assert [event.text for event in turn.of(Notice)] == [notice]


@pytest.mark.parametrize(
    ("line", "hidden", "named"),
    [
        ("git stash -q; {}", "echo x > .vscode/settings.json; git add .", ".vscode/settings.json"),
        ("git switch -q other; {}", "echo x > .vscode/settings.json; git commit -qam x", ".vscode"),
        ("git stash -q; {}", "echo x > .vscode/settings.json; git commit -qam x --amend", ".vscode/settings.json"),
        ("git stash -q; {}", "rm -r .vscode", ".vscode"),
        ("{}", "echo x > AGENTS.md; git add .", "AGENTS.md"),
        ("git stash -q; {}", "(env -i setsid sh -c 'sleep 9 && echo x > .vscode/settings.json' >&- 2>&- <&- &)", ""),
        ("git worktree add -q a; {}", "git -C a log", ""),
    ],
)
async def test_git_is_no_witness_that_nothing_new_is_obeyed(tmp_path: Path, line: str, hidden: str, named: str) -> None:
    async with held(tmp_path, calls(bash(line.format("sh ./hidden"))) + says("Done.")) as here:
        two_branches(here.workspace)
        (here.workspace / "hidden").write_text(hidden)
        turn = await here.turn()
        said = [event.text.rpartition(f": {here.workspace}/")[2] for event in turn.of(Notice)]
    assert outcomes(turn) == [ToolOutcome.OK]
    assert said == [named] * bool(named)
    assert (ENDED_LEFT in str(turn.results[0]["content"])) is ("setsid" in hidden)


@pytest.mark.stories
async def test_what_a_command_changes_after_its_call_is_told_with_the_next_one(tmp_path: Path) -> None:
    waits = call("bash", command="git stash -q; sh ./hidden", timeout=1)
    ends = bash("touch go; for i in $(seq 500); do test -e gone && break; sleep 0.02; done")
    async with held(tmp_path, calls(waits) + calls(ends) + says("Done.")) as here:
        two_branches(here.workspace)
        late = "until test -e go; do echo; sleep 0.02; done; echo x > .vscode/settings.json; git add .; touch gone"
        (here.workspace / "hidden").write_text(late)
        turn = await here.turn()
        file = here.workspace / ".vscode" / "settings.json"
    moved, told = turn.results
    assert "continues in the background" in str(moved["content"])
    assert MADE_OBEYED.format(paths=file) in str(told["content"])
    assert [event.text.rpartition(": ")[2] for event in turn.of(Notice)][-1:] == [str(file)]


@pytest.mark.parametrize(
    ("line", "branch", "upstream"),
    [
        ("git checkout -b new origin/main 2>&1 | tail -1", "new", "origin/main"),
        ("git switch -q a/topic; git add .", "a/topic", "origin/a/topic"),
        ("git worktree add -q -b new tree origin/main", "new", "origin/main"),
        ("git checkout -q --no-track -b new origin/main", "new", ""),
        ("git checkout -q -b unwanted origin/main", "unwanted", ""),
        ("git checkout -q -b new main && git branch old", "old", ""),
    ],
)
async def test_a_branch_follows_that_of_a_remote_although_settings_are_read_only(
    tmp_path: Path, line: str, branch: str, upstream: str
) -> None:
    def git(folder: Path, *words: str) -> str:
        return subprocess.run(["git", "-C", str(folder), *words], check=True, capture_output=True, text=True).stdout

    async with held(tmp_path, calls(bash(line)) + calls(bash("git log -1 | cat > log")) + says("Done.")) as here:
        two_branches(origin := tmp_path / "from", ".vscode/settings.json")
        git(origin, "branch", "-q", "a/topic")
        shutil.rmtree(here.workspace / ".vscode")
        git(tmp_path, "clone", "-q", str(origin), str(here.workspace))
        if branch == "unwanted":
            git(here.workspace, "config", "branch.autoSetupMerge", "false")
        settings = here.workspace / ".git" / "config"
        before = settings.read_text()
        turn = await here.turn()
        found = git(here.workspace, "for-each-ref", "--format=%(upstream:short)", f"refs/heads/{branch}").strip()
        after = settings.read_text()
    assert outcomes(turn) == [ToolOutcome.OK] * 2
    assert found == upstream
    assert str(turn.results[1]["content"]) == "(no output)\n\n[exit 0]"
    said = UPSTREAM_SET.format(paths=f"{branch} follows {upstream}") in str(turn.results[0]["content"])
    assert (said, after != before, turn.of(SandboxRefused)) == (bool(upstream), bool(upstream), [])
    assert turn.of(Notice) == []


def follows(folder: Path, *branches: str) -> None:
    """Know these branches of a remote, and follow the first."""
    made = [("update-ref", f"refs/remotes/origin/{name}", "HEAD") for name in branches]
    for words in (*made, ("remote", "add", "origin", "."), ("branch", "-qu", f"origin/{branches[0]}")):
        subprocess.run(["git", "-C", str(folder), *words], check=True)


async def test_a_branch_that_follows_another_keeps_that(tmp_path: Path) -> None:
    log = ".git/logs/refs/heads/main"
    async with held(tmp_path, calls(bash("git branch -q new; sh ./hidden")) + says("Done.")) as here:
        two_branches(here.workspace)
        follows(here.workspace, "a", "b")
        (here.workspace / log).unlink()
        made = f"{'0' * 40} {'1' * 40} Ada <a> 1 +0000\tbranch: Created from origin/b\n"
        (here.workspace / "hidden").write_text(f"cat > {log} <<'E'\n{made}E\n")
        turn = await here.turn()
        assert "heads/a" in (here.workspace / ".git" / "config").read_text()
    assert "follows" not in str(turn.results[0]["content"])


@pytest.mark.parametrize("mode", ["plan", "deny"])
async def test_where_only_looks_are_allowed_nothing_else_is(mode: str, tmp_path: Path) -> None:
    async with held(tmp_path, calls(bash("touch a"), bash("ls")) + says("Done."), mode=mode) as here:
        turn = await here.turn()
        assert not (here.workspace / "a").exists()
    assert outcomes(turn)[0] is ToolOutcome.DENIED
    assert turn.of(PermissionAsked) == []


async def test_a_subagent_is_held_as_well(tmp_path: Path) -> None:
    script = (
        calls(task()) + of_subagent(calls(bash("touch a"), bash("rm a"))) + of_subagent(says("Some.")) + says("Ok.")
    )
    async with on_stage(tmp_path, script, permission_mode="ask", sandbox="auto") as here:
        turn = await here.turn()
        assert (here.workspace / "a").exists()
    assert ends(turn) == [AgentEnd.ANSWERED]


async def test_an_allow_rule_frees_a_line(tmp_path: Path) -> None:
    async with held(tmp_path, calls(bash(WRITES)) + says("Done."), allow=["bash(*)"]) as here:
        turn = await here.turn()
        assert (here.workspace / ".vscode" / "settings.json").read_text() == "{}x"
    assert [ended.outcome for ended in turn.of(ToolEnded)] == [ToolOutcome.OK]
    assert [started.profile for started in turn.of(ToolStarted)] == ["free"]
