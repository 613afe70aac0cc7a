"""The merge queue on real repositories: what is merged, what is given back, and what a killed program leaves."""

import asyncio
from collections.abc import Iterable
from pathlib import Path

import pytest

from harness.events import Event, MergeDecided, Notice
from harness.worktrees import WorktreeError, Worktrees
from harness.worktrees.look import TRIAL
from harness.worktrees.merge_queue import CheckResult, MergeQueue
from tests.worktrees.repositories import Place, committed, git, place, written

pytestmark = pytest.mark.anyio


class Checks:
    """Red where a file of the tree says so."""

    def __init__(self, most: int = 100) -> None:
        self.trees: list[list[str]] = []
        self._most = most

    async def __call__(self, tree: Path) -> CheckResult:
        names = sorted(path.name for path in tree.iterdir() if len(path.name) == 2)
        self.trees.append(names)
        written(tree / "f", "the check writes into a file of the project\n")
        written(tree / "build" / "out")
        if len(self.trees) > self._most:
            raise asyncio.CancelledError
        red = [name for name in names if "red" in (tree / name).read_text()]
        return CheckResult(not red, f"{' '.join(red)} failed" if red else "all is well")


async def finished(at: Place, contents: Iterable[tuple[str, str, str]]) -> list[str]:
    """A worktree for each: its name, a file, and the text that it commits there."""
    names = []
    for name, file, text in contents:
        tree = await at.worktrees.enter(name)
        committed(tree.path, file, text)
        await at.worktrees._lock(tree, "")
        names.append(name)
    return names


def queue_of(at: Place, checks: Checks) -> tuple[MergeQueue, list[Event]]:
    events: list[Event] = []
    return MergeQueue(at.worktrees, checks, events.append), events


MIXED = (
    ("b1", "b1", "fine\n"),
    ("b2", "b2", "red\n"),
    ("b3", "b1", "another b1\n"),
    ("b4", "b4", "fine\n"),
)


async def test_red_and_conflicting_branches_are_given_back_and_the_rest_lands(tmp_path: Path) -> None:
    async with place(tmp_path) as at:
        names, checks = await finished(at, MIXED), Checks()
        queue, events = queue_of(at, checks)
        result = await queue.run(names)
        assert result.accepted == ("harness/b1", "harness/b4")
        assert result.landed == "main"
        given = {one.branch: one for one in result.given_back}
        assert {name: one.why for name, one in given.items()} == {"harness/b2": "red", "harness/b3": "conflict"}
        assert "b2 failed" in given["harness/b2"].detail
        assert "in b1" in given["harness/b3"].detail
        assert "another b1" in given["harness/b3"].detail
        assert sorted(path.name for path in at.main.iterdir()) == [".git", ".gitignore", "b1", "b4", "f"]
        assert (at.main / "f").read_text() == "one\n"
        assert git(at.main, "status", "--porcelain") == ""
        assert TRIAL not in git(at.main, "worktree", "list")
        said = [(one.branch, one.what) for one in events if isinstance(one, MergeDecided)]
        assert said[0] == ("harness/b1", "merged")
        assert said[-1] == ("", "landed")
        assert ("harness/b2", "given back") in said
        assert {tree.name for tree in await at.worktrees.trees()} == {"b1", "b2", "b3", "b4", "work"}


async def test_without_names_all_finished_trees_are_merged_and_no_others(tmp_path: Path) -> None:
    async with place(tmp_path) as at:
        await finished(at, MIXED[:1])
        (open_one,) = await finished(at, [("b5", "b5", "fine\n")])
        written((await at.worktrees.find(open_one)).path / "open")
        other = Worktrees(at.worktrees.git.processes, at.main, tmp_path / "state", "other session")
        committed((await other.enter("b6")).path, "b6", "in use\n")
        queue, _ = queue_of(at, Checks())
        assert (await queue.run()).accepted == ("harness/b1",)
        with pytest.raises(WorktreeError, match="has open changes; commit them first"):
            await queue.run([open_one])
        with pytest.raises(WorktreeError, match="There is nothing to merge"):
            await queue.run()


@pytest.mark.parametrize("how", ["moved", "in the way", "detached", "switched"])
async def test_what_is_no_fast_forward_waits_for_the_user(tmp_path: Path, how: str) -> None:
    async with place(tmp_path) as at:
        names = await finished(at, MIXED[:1])

        class Moving(Checks):
            async def __call__(self, tree: Path) -> CheckResult:
                if how == "moved":
                    committed(at.main, "g", "mine\n")
                if how == "switched":
                    git(at.main, "switch", "-q", "-c", "feature")
                return await super().__call__(tree)

        if how == "in the way":
            written(at.main / "b1", "mine, not committed\n")
        if how == "detached":
            git(at.main, "switch", "-q", "--detach")
        before = git(at.main, "rev-parse", "HEAD"), git(at.main, "status", "--porcelain")
        queue, events = queue_of(at, Moving())
        result = await queue.run(names)
        assert (result.landed, result.accepted) == ("", ("harness/b1",))
        assert result.ready == f"git -C {at.main} merge harness/merge-queue"
        assert isinstance(events[-1], MergeDecided)
        assert events[-1].what == "ready"
        if how != "moved":
            assert (git(at.main, "rev-parse", "HEAD"), git(at.main, "status", "--porcelain")) == before
        assert git(at.main, "show", "harness/merge-queue:b1") == "fine"


async def test_what_a_check_writes_is_in_the_way_of_no_branch(tmp_path: Path) -> None:
    async with place(tmp_path) as at:
        names = await finished(at, MIXED)

        class Writing(Checks):
            async def __call__(self, tree: Path) -> CheckResult:
                result = await super().__call__(tree)
                for _, file, _ in MIXED:
                    if not (tree / file).exists():
                        written(tree / file, "written by the check\n")
                return result

        queue, _ = queue_of(at, Writing())
        result = await queue.run(names)
        assert (result.accepted, result.landed) == (("harness/b1", "harness/b4"), "main")


async def test_without_a_check_a_line_says_that_nothing_is_tested(tmp_path: Path) -> None:
    async with place(tmp_path) as at:
        names, events = await finished(at, MIXED[:1]), list[Event]()
        assert (await MergeQueue(at.worktrees, None, events.append).run(names)).landed == "main"
        assert events[0] == Notice("info", "check_command is not set, so nothing is tested.")


async def test_what_cannot_be_merged_at_all_is_given_back_and_holds_up_nothing(tmp_path: Path) -> None:
    async with place(tmp_path) as at:
        names = await finished(at, MIXED[:1])
        git(at.path, "switch", "-q", "--orphan", "fresh")
        committed(at.path, "o", "no history\n")
        (at.worktrees.folder / f"{TRIAL}.json").write_text('{"waiting": ["harness/gone"], "given_back": []}')
        queue, _ = queue_of(at, Checks())
        result = await queue.run(["work", *names])
        assert (result.accepted, result.landed) == (("harness/b1",), "main")
        assert [(one.branch, one.why) for one in result.given_back] == [("fresh", "conflict")]


@pytest.mark.parametrize("most", [0, 1, 2, 3])
async def test_a_queue_that_was_killed_is_continued_by_the_next_start(tmp_path: Path, most: int) -> None:
    async with place(tmp_path) as at:
        names, checks = await finished(at, MIXED), Checks(most)
        queue, _ = queue_of(at, checks)
        tip = git(at.main, "rev-parse", "main")
        with pytest.raises(asyncio.CancelledError):
            await queue.run(names)
        assert git(at.main, "rev-parse", "main") == tip
        again, events = queue_of(at, Checks())
        result = await again.run()
        told = [one.branch for one in events if isinstance(one, MergeDecided) and one.what == "given back"]
        assert told == ["harness/b2", "harness/b3"]
        assert result.accepted == ("harness/b1", "harness/b4")
        assert [one.branch for one in result.given_back] == ["harness/b2", "harness/b3"]
        assert result.landed == "main"
