"""An agent that works in a working tree of its own: its tools, its sandbox, its rules and its prompt."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from harness.base.errors import HarnessError
from harness.engine.subagents.factory import SubagentFactory
from harness.engine.subagents.reports import SubagentSpec
from harness.events import PermissionAsked, SandboxRefused, SessionStarted
from harness.journal import read
from harness.permissions import PermissionAnswer
from harness.permissions.policy import OF_OTHERS
from harness.sandbox import SandboxLevel
from harness.sandbox.sandbox import Sandbox
from tests.agent.answering_user import AnsweringUser
from tests.agent.stage import Played, calls, played, says
from tests.agent.test_agents import on_stage
from tests.agent.test_permission_rules import bash
from tests.worktrees.repositories import committed, git

pytestmark = pytest.mark.anyio

TOOLS = ("bash", "read_file", "write_file", "grep")


def repository(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    git(folder, "init", "-q")
    committed(folder, "AGENTS.md", "Rule of the commit.\n")
    return folder


def wrote(path: str) -> str:
    return f'{{ name = "write_file", input = {{ path = "{path}", content = "new" }} }}'


@asynccontextmanager
async def in_tree(
    folder: Path, script: str, user: AnsweringUser, **settings: object
) -> AsyncIterator[tuple[Path, Path, Played, Played]]:
    """The main tree, the other one, and the turn of an agent that works there, once more after its end."""
    async with on_stage(folder, script, asker=user, **{"permission_mode": "ask"} | settings) as here:
        main, tree = repository(here.workspace), folder / "trees" / "one"
        git(main, "worktree", "add", "-q", "-b", "topic", str(tree))
        (tree / "AGENTS.md").write_text("Rule of the tree.\n")
        turns = []
        for again in (False, True):
            spec = SubagentSpec("a1", TOOLS, here.agent.core.asker, again, workspace=None if again else tree)
            subagent = SubagentFactory(here.agent).create(spec)
            turns.append(await played(subagent.run("Go.")))
            assert await subagent.aclose() == ()
        assert here.agents is not None
        begun = [one.event for one in read(here.agents / "a1.jsonl").records if isinstance(one.event, SessionStarted)]
        assert [one.workspace for one in begun] == [str(tree)]
        (system, *_) = [str(one.body["system"]) for one in here.server.requests]
        assert f"work in the folder {tree}" in system
        assert "Rule of the tree" in system
        assert "Rule of the commit" not in system
        assert "git branch is topic" in str(here.server.requests[0].body["messages"])
        yield main, tree, turns[0], turns[1]


async def test_its_tools_work_there_and_nowhere_else(tmp_path: Path) -> None:
    lines = (bash("pwd; git branch --show-current"), wrote("made"), wrote("../../workspace/made"), wrote("src/kept"))
    script = calls(*lines) + says("Done.") + calls(bash("pwd")) + says("Again.")
    user = AnsweringUser(PermissionAnswer("once"))
    async with in_tree(tmp_path, script, user, permissions_allow=["write(src/**)"]) as (main, tree, first, again):
        said = [str(block["content"]) for block in first.results]
        assert said[0].split()[:2] == [str(tree), "topic"]
        assert f"outside the workspace (it leads to {main}/made)" in said[2]
        assert (tree / "made").exists()
        assert (tree / "src" / "kept").exists()
        assert git(main, "status", "--porcelain") == ""
        assert str(tree) in str(again.results[0]["content"])
        # The rule of the session is meant from the tree.
        assert [asked.summary for asked in first.of(PermissionAsked)] == ["made"]


DESTRUCTIVE = (
    "cd {main} && git reset -q --soft HEAD",
    "git -C {main} checkout -q -b mine",
    "git --git-dir={main}/.git --work-tree={main} add .",
    "GIT_DIR={main}/.git GIT_WORK_TREE={main} git add .",
    "touch {main}/made",
    "cp AGENTS.md {main}/copy",
    "cp -t {main} AGENTS.md",
    "mv {main}/AGENTS.md .",
    "rm -rf {main}/AGENTS.md",
    "cd {main} && git clean -fdq",
)
READING = (
    *("git -C {main} log --oneline", "cat {main}/AGENTS.md", "cp AGENTS.md copy", "rm copy"),
    *("cp {main}/AGENTS.md .", "cp -pr {main}/AGENTS.md copy"),
)


@pytest.mark.parametrize(("mode", "sandbox"), [("ask", "off"), ("ask", "auto"), ("yolo", "off"), ("yolo", "auto")])
async def test_to_change_the_main_tree_is_asked_about_whatever_is_allowed(
    tmp_path: Path, mode: str, sandbox: str
) -> None:
    main = tmp_path / "workspace"
    script = calls(*(bash(line.format(main=main)) for line in DESTRUCTIVE)) + says("Done.") + says("Done.")
    user = AnsweringUser(*(PermissionAnswer("no") for _ in DESTRUCTIVE))
    rules = ["bash(git *)", "bash(touch *)", "bash(cp *)", "bash(cd *)", f"write({main}/**)"]
    said = {"permissions_allow": rules, "sandbox": sandbox, "permission_mode": mode}
    async with in_tree(tmp_path, script, user, **said) as (_, _, turn, _):
        asked = [one.input["command"] for one in user.requests]
        assert asked == [line.format(main=main) for line in DESTRUCTIVE]
        assert OF_OTHERS in turn.of(PermissionAsked)[0].why
        assert {path.name for path in main.iterdir()} == {".git", "AGENTS.md"}
        assert git(main, "branch", "--show-current") == "main"


async def test_mode_yolo_asks_nothing_about_the_own_tree_nor_about_reading(tmp_path: Path) -> None:
    main = tmp_path / "workspace"
    script = calls(*(bash(line.format(main=main)) for line in READING)) + says("Done.") + says("Done.")
    async with in_tree(tmp_path, script, AnsweringUser(), permission_mode="yolo", sandbox="off") as (_, _, turn, _):
        assert [one.summary for one in turn.of(PermissionAsked)] == []


@pytest.mark.skipif(Sandbox().state.level is not SandboxLevel.FULL, reason="this machine has no full sandbox")
async def test_the_sandbox_holds_it_to_its_tree(tmp_path: Path) -> None:
    main = tmp_path / "workspace"
    commit = "echo x > f; git add f; git -c user.name=a -c user.email=a@b commit -qm two; git log --oneline | wc -l"
    writes = f"python3 -c \"open('{main}/made', 'w')\"; python3 -c \"open('{main}/.git/HEAD', 'a').write('x')\""
    script = calls(bash(commit), bash(writes)) + says("Done.") + says("Done.")
    user = AnsweringUser()
    async with in_tree(tmp_path, script, user, sandbox="auto") as (_, tree, turn, _):
        said = [str(block["content"]) for block in turn.results]
        assert turn.of(PermissionAsked) == [], said
        assert said[0].split()[0] == "2", said
        assert {one.subject for one in turn.of(SandboxRefused)} >= {f"{main}/.git/HEAD"}, said
        assert not (main / "made").exists()
        assert git(main, "log", "--oneline", "topic").count("\n") == 1
        assert git(tree, "log", "--oneline", "main").count("\n") == 0


async def test_a_tree_that_is_gone_is_not_replaced_by_the_main_one(tmp_path: Path) -> None:
    async with on_stage(tmp_path, "") as here:
        spec = SubagentSpec("a1", TOOLS, here.agent.core.asker, again=False, workspace=tmp_path / "gone")
        with pytest.raises(HarnessError, match="the working tree of agent a1 is gone"):
            SubagentFactory(here.agent).create(spec)
