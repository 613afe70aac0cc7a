"""kill -9 in every step of making, leaving and removing a worktree: the next start reads what is left."""

import shutil
import stat
from pathlib import Path

import pytest

from harness.processes import Processes
from harness.worktrees import Worktree, Worktrees
from harness.worktrees.merge_queue import CheckResult, MergeQueue
from tests.worktrees.repositories import Place, committed, git, repository, run_killed, written
from tests.worktrees.test_worktrees import assert_nothing_is_lost, files_in

pytestmark = pytest.mark.anyio

PROGRAM = """
import asyncio, os, sys
from pathlib import Path
from harness.processes import Processes
from harness.worktrees import Worktrees
async def main():
    processes = Processes()
    os.environ["TO_KILL"] = str(os.getpid())
    worktrees = Worktrees(processes, Path({main!r}), Path({state!r}), "killed")
    os.environ["KILL_FROM"] = "1"
    await {step}
    await processes.aclose()
asyncio.run(main())
"""
WRAPPER = """#!/bin/sh
# Counts the calls of git, and kills the program before, in or after one of them.
n=$(cat {count} 2>/dev/null || echo 0); n=$((n + 1)); echo $n > {count}
if [ "$n" != "{at}" ]; then exec {git} "$@"; fi
if [ "{when}" = in ]; then
  for one in "$@"; do case "$previous $one" in
    "worktree add") {git} "$@" --no-checkout >/dev/null 2>&1 ;;
    "worktree remove") rm -f {tree}/f {tree}/.git ;;
    esac; previous=$one; done
fi
[ "{when}" = after ] && {git} "$@" >/dev/null 2>&1
kill -9 $TO_KILL
"""
STEPS = {
    "enter": "worktrees.enter('work')",
    "leave": "worktrees.leave('work')",
    "remove": "worktrees.remove('work', await worktrees.removal('work'))",
}
MOST_CALLS = 60


async def found(folder: Path, step: str, at: int, when: str) -> bool:
    """Kill the step at this call of git, and look at what the next start makes of it; False: it has ended before."""
    main = repository(folder / "main")
    state, programs = folder / "state", folder / "programs"
    processes = Processes()
    worktrees = Worktrees(processes, main, state, "first")
    path = worktrees.folder / "work"
    before: tuple[set[str], dict[str, bytes]] = (set(git(main, "rev-list", "--all").split()), {})
    if step != "enter":
        await worktrees.enter("work")
        committed(path, "g", "committed\n")
        git(path, "switch", "-q", "--detach")
        committed(path, "g", "detached\n")
        written(path / "f", "changed\n"), written(path / "new", "untracked\n")
        before = (before[0] | set(git(path, "rev-list", "HEAD").split()), files_in(path))
        await worktrees._lock(await worktrees.find("work"), "")
    programs.mkdir()
    real = shutil.which("git")
    wrapper = written(programs / "git", WRAPPER.format(count=folder / "n", at=at, when=when, git=real, tree=path))
    wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
    killed = run_killed(PROGRAM.format(main=str(main), state=str(state), step=STEPS[step]), programs)
    place = Place(main, worktrees, Worktree("work", path, path, "", "", ""))
    try:
        left = await worktrees.orphans()
        now = {one.name: one for one in await worktrees.trees()}
        there = files_in(path) if path.exists() else {}
        for name, data in before[1].items():
            if there.get(name) != data:
                assert_nothing_is_lost(place, (set(), {name: data}), ())
        reached = place.commits() | {one for tree in now.values() for one in git(main, "rev-list", tree.head).split()}
        assert before[0] <= reached
        for tree, removal in left:
            assert not removal.forbidden, removal
            await worktrees.remove(tree.name, removal)
        assert_nothing_is_lost(place, before, ())
        again = await worktrees.enter("work")
        assert (again.path / "f").read_text() == "one\n"
        assert await worktrees.leave("work") is None or step != "enter"
        assert git(main, "status", "--porcelain") == ""
        assert git(main, "fsck", "--no-dangling") == ""
    finally:
        await processes.aclose()
    return killed


@pytest.mark.stories
@pytest.mark.parametrize("when", ["before", "in", "after"])
@pytest.mark.parametrize("step", STEPS)
async def test_a_kill_at_any_call_of_git_loses_nothing(tmp_path: Path, step: str, when: str) -> None:
    for at in range(1, MOST_CALLS):
        folder = tmp_path / str(at)
        folder.mkdir()
        if not await found(folder, step, at, when):
            assert at > 6
            return
    raise AssertionError(f"{step} makes more than {MOST_CALLS} calls")


async def carried(folder: Path, at: int, when: str) -> bool:
    """Kill the making of a tree with the user's changes at this call of git; False: it has ended before."""
    main, state, programs = repository(folder / "main"), folder / "state", folder / "programs"
    written(main / "f", "changed\n"), written(main / "new", "untracked\n")
    git(main, "add", "f")
    before = (git(main, "status", "--porcelain"), git(main, "diff", "--cached"), files_in(main)["new"])
    programs.mkdir()
    wrapper = WRAPPER.format(count=folder / "n", at=at, when=when, git=shutil.which("git"), tree=folder / "none")
    written(programs / "git", wrapper).chmod(0o755)
    step = "worktrees.enter('work', carry=True)"
    killed = run_killed(PROGRAM.format(main=str(main), state=str(state), step=step), programs)
    processes = Processes()
    worktrees = Worktrees(processes, main, state, "next")
    try:
        for tree, removal in await worktrees.orphans():
            assert not removal.forbidden, removal
            await worktrees.remove(tree.name, removal)
        again = await worktrees.enter("work", carry=True)
        assert {name: files_in(again.path)[name] for name in ("f", "new")} == {"f": b"changed\n", "new": b"untracked\n"}
        assert (git(main, "status", "--porcelain"), git(main, "diff", "--cached"), files_in(main)["new"]) == before
    finally:
        await processes.aclose()
    return killed


@pytest.mark.stories
@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_kill_while_changes_are_carried_leaves_them_where_they_are(tmp_path: Path, when: str) -> None:
    for at in range(1, MOST_CALLS):
        if not await carried(tmp_path / str(at), at, when):
            assert at > 10
            return
    raise AssertionError(f"there are more than {MOST_CALLS} calls")


QUEUE = """
import asyncio, os
from pathlib import Path
from harness.processes import Processes
from harness.worktrees import Worktrees
from harness.worktrees.merge_queue import CheckResult, MergeQueue
async def check(tree):
    return CheckResult(not (tree / "red").exists(), "red")
async def main():
    processes = Processes()
    os.environ["TO_KILL"] = str(os.getpid())
    worktrees = Worktrees(processes, Path({main!r}), Path({state!r}), "killed")
    await MergeQueue(worktrees, check, lambda event: None).run(["a", "red", "z"])
    await processes.aclose()
asyncio.run(main())
"""


async def red_file(tree: Path) -> CheckResult:
    """Red where there is a file of this name."""
    return CheckResult(not (tree / "red").exists(), "red")


async def continued(folder: Path, at: int, when: str) -> bool:
    """Kill the queue at this call of git, and let the next start go on with it; False: it has ended before."""
    main, state, programs = repository(folder / "main"), folder / "state", folder / "programs"
    git(main, "config", "user.name", "a"), git(main, "config", "user.email", "a@b")
    processes = Processes()
    worktrees = Worktrees(processes, main, state, "first")
    try:
        for name in ("a", "red", "z"):
            committed((await worktrees.enter(name)).path, name)
            await worktrees.leave(name)
        programs.mkdir()
        held = WRAPPER.format(count=folder / "n", at=at, when=when, git=shutil.which("git"), tree=worktrees.folder)
        wrapper = written(programs / "git", held)
        wrapper.chmod(wrapper.stat().st_mode | stat.S_IXUSR)
        branches = {name: git(main, "rev-parse", f"harness/{name}") for name in ("a", "red", "z")}
        killed = run_killed(QUEUE.format(main=str(main), state=str(state)), programs)
        assert git(main, "status", "--porcelain") == ""
        await worktrees.orphans()
        if not git(main, "log", "--format=%s", "--grep=Merge harness/z"):
            result = await MergeQueue(worktrees, red_file, lambda event: None).run(["a", "red", "z"])
            assert (result.accepted, result.landed) == (("harness/a", "harness/z"), "main")
            assert [one.branch for one in result.given_back] == ["harness/red"]
        assert sorted(path.name for path in main.iterdir()) == [".git", ".gitignore", "a", "f", "z"]
        assert git(main, "rev-parse", "harness/red") == branches["red"]
        assert set(branches.values()) <= set(git(main, "rev-list", "main", "harness/red").split())
        return killed
    finally:
        await processes.aclose()


@pytest.mark.stories
@pytest.mark.parametrize("when", ["before", "after"])
async def test_a_kill_at_any_call_of_git_in_the_queue_is_continued(tmp_path: Path, when: str) -> None:
    for at in range(1, 400, 9):
        if not await continued(tmp_path / str(at), at, when):
            return
    raise AssertionError("the queue makes more calls")


@pytest.mark.parametrize(
    ("step", "at", "when"), [pytest.param("enter", 7, "in", marks=pytest.mark.stories), ("remove", 24, "in")]
)
async def test_a_kill_in_the_middle_loses_nothing(tmp_path: Path, step: str, at: int, when: str) -> None:
    assert await found(tmp_path, step, at, when)
