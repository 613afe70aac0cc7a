"""Worktrees in real repositories: what a removal finds, what it keeps, and what it refuses."""

import asyncio
import os
import shutil
import subprocess
import time
from pathlib import Path
from random import Random

import pytest

from harness.base.errors import HarnessError
from harness.engine.repository import changes_since
from harness.policies.worktrees.removal import MISSING, Removal
from harness.processes import Processes
from harness.tools.bash import shell_environment
from harness.worktrees import WorktreeError, Worktrees
from harness.worktrees.look import KEPT
from tests.worktrees.repositories import (
    KINDS,
    STATES,
    Place,
    begun,
    committed,
    git,
    kept_at,
    odd_names,
    place,
    printed_by,
    repository,
    written,
)

pytestmark = pytest.mark.anyio

FEW = (
    "unchanged",
    "dirty",
    "unpushed",
    "ignored",
    "detached",
    "amended and reset",
    "only staged",
    "rebase",
    "submodule elsewhere",
    "a link out",
    "overlooked",
    "line ends",
)
SHARE = [pytest.param(name, marks=() if name in FEW else pytest.mark.stories) for name in STATES]


HOW = ("leave", "remove", "orphan")
WORST = ("free", "kept", "lost", "forbidden")


def worst(found: Removal) -> str:
    return "forbidden" if found.forbidden else "lost" if found.lost else "kept" if found.kept else "free"


def files_in(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink() and path.name != ".git"
    }


def snapshot(at: Place) -> tuple[set[str], dict[str, bytes]]:
    """Commits that a ref or a HEAD reaches or reached, and the files of the tree."""
    moved = git(at.path, "rev-list", "--reflog", "HEAD").split()
    return at.commits() | set(moved), files_in(at.path)


def assert_nothing_is_lost(at: Place, before: tuple[set[str], dict[str, bytes]], lost: tuple[str, ...]) -> None:
    commits, files = before
    assert commits <= at.commits(), "a commit is reachable from no ref"
    contents = at.contents()
    for name, data in files.items():
        hashed = ["git", "-C", str(at.main), "hash-object", "--stdin"]
        kept = subprocess.run(hashed, input=data, capture_output=True, check=True).stdout
        assert (
            kept.decode().strip() in contents
            or any(name.split("/")[0] in line for line in lost)
            or ("__pycache__" in name)
        ), name


@pytest.mark.parametrize("name", SHARE)
@pytest.mark.parametrize("how", HOW)
async def test_no_command_loses_a_commit_or_a_file_that_was_not_listed(tmp_path: Path, name: str, how: str) -> None:
    change, expected = STATES[name]
    async with place(tmp_path) as at:
        entered = files_in(at.path)
        change(at)
        await assert_how(at, how, expected, entered)
        assert (at.main.parent / "outside" / "precious").exists() is (name == "a link out")


TOGETHER = """dirty; staged; only staged; untracked; ignored; ignored folder; committed; detached; amended and reset
another branch; odd names; line ends; a ref of its own; a link for a file; nested""".replace("\n", "; ").split("; ")
"""States that can be together."""


@pytest.mark.stories
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("kind", KINDS)
async def test_no_kind_of_repository_loses_anything_that_was_not_listed(tmp_path: Path, kind: str, seed: int) -> None:
    random = Random(f"{kind} {seed}")
    names = random.sample(TOGETHER, random.randrange(1, 4)) if seed else [random.choice(("unchanged", "pushed"))]
    async with place(tmp_path, make=KINDS[kind]) as at:
        entered = files_in(at.path)
        for name in names:
            STATES[name][0](at)
        await assert_how(at, random.choice(HOW), max((STATES[name][1] for name in names), key=WORST.index), entered)


async def assert_how(at: Place, how: str, expected: str, entered: dict[str, bytes]) -> None:
    """A command does what it may with the tree, and says what would be lost before; `entered`: files as they were
    checked out."""
    before = snapshot(at)
    entries = (line.split() for line in git(at.path, "ls-files", "--stage").splitlines())
    staged = {blob for mode, blob, *_ in entries if mode != "160000"}
    found = await at.worktrees.removal("work")
    assert worst(found) == expected, found
    match how:
        case "leave":
            assert (await at.worktrees.leave("work") is None) is found.free
        case "orphan":
            await at.worktrees._lock(await at.worktrees.find("work"), "")
            left = await at.worktrees.orphans()
            assert [tree.name for tree, _ in left] == ([] if found.free else ["work"])
        case _ if found.forbidden:
            with pytest.raises(WorktreeError, match="is not removed"):
                await at.worktrees.remove("work", found)
        case _:
            if not found.free:
                with pytest.raises(WorktreeError, match="changed since"):
                    await at.worktrees.remove("work", Removal((), (), ()))
            assert files_in(at.path) == before[1]
            ref = await at.worktrees.remove("work", found)
            assert ref == f"{KEPT}work"
    gone = found.free or (how == "remove" and not found.forbidden)
    assert at.path.exists() is not gone
    if gone:
        changed = {name: data for name, data in before[1].items() if entered.get(name) != data}
        assert_nothing_is_lost(at, (before[0], changed), found.lost)
        assert staged <= at.contents(), "what is only in the index is nowhere"
    else:
        assert snapshot(at) == before
    assert git(at.main, "status", "--porcelain") == ""
    assert git(at.main, "branch", "--show-current") == "main"
    if gone:
        assert f"{at.path} " not in git(at.main, "worktree", "list")
        again = await at.worktrees.enter("work")  # its name is free again
        assert again.branch == "harness/work"


def stands_there(at: Place) -> bool:
    """Naively: the files that the branch has changed, all as in one commit of the user's branch that it has not."""

    def files(commit: str) -> dict[str, str]:
        lines = git(at.main, "ls-tree", "-r", commit).splitlines()
        return {line.partition("\t")[2]: line.partition("\t")[0] for line in lines}

    head, since = files(at.tree.branch), files(git(at.main, "merge-base", "main", at.tree.branch))
    changed = {name for name in head | since if head.get(name) != since.get(name)}
    commits = git(at.main, "rev-list", f"{at.tree.branch}..main").split()
    same = (all(files(commit).get(name) == head.get(name) for name in changed) for commit in commits)
    return bool(changed) and any(same)


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.stories) for seed in range(2, 40))])
async def test_a_squash_counts_as_merged_only_where_every_file_stands_there(tmp_path: Path, seed: int) -> None:
    random = Random(seed)

    def change(folder: Path) -> None:
        name, text = random.choice("xyz"), random.choice(("1\n", "2\n", "1\n\n", " 1\n"))
        if (folder / name).exists() and random.random() < 0.3:
            text = ""
            (folder / name).unlink()
        else:
            written(folder / name, text)
        git(folder, "add", "--all")
        git(folder, "commit", "-q", "--allow-empty", "-m", f"{folder.name}: {name} {text.strip()}")

    async with place(tmp_path) as at:
        for _ in range(random.randrange(3)):
            change(at.main)
        for _ in range(random.randrange(1, 4)):
            change(at.path)
        if random.random() < 0.6:
            git(at.main, "merge", "-q", "--squash", at.tree.branch, fine=(0, 1))
            git(at.main, "checkout", "-q", at.tree.branch, "--", ".")
            git(at.main, "commit", "-q", "--allow-empty", "-m", "squashed")
        for _ in range(random.randrange(2)):
            change(random.choice((at.main, at.path)))
        before = snapshot(at)
        found = await at.worktrees.state(await at.worktrees.find("work"))
        assert (found.commits == 0) is stands_there(at)
        if await at.worktrees.leave("work") is None:
            assert_nothing_is_lost(at, before, ())
            assert git(at.main, "rev-parse", at.tree.branch)


async def test_what_git_did_not_know_comes_back_from_the_kept_commit(tmp_path: Path) -> None:
    async with place(tmp_path) as at:
        written(at.path / "f", "changed\n"), written(at.path / "new" / "g", "new\n")
        ref = await at.worktrees.remove("work", await at.worktrees.removal("work"))
        assert git(at.main, "show", f"{ref}:f") == "changed"
        assert git(at.main, "show", f"{ref}:new/g") == "new"
        assert git(at.main, "log", "-1", "--format=%s", ref) == "What was in the worktree work (harness/work)"
        await at.worktrees.enter("work")
        written(at.path / "h")
        second = await at.worktrees.remove("work", await at.worktrees.removal("work"))
        assert second == f"{KEPT}work.2"
        assert git(at.main, "show", f"{ref}:f") == "changed"


async def test_processes_inside_and_sessions_that_work_there_forbid_a_removal(tmp_path: Path) -> None:
    async with place(tmp_path, session="20260101") as at:
        inside = begun("print(flush=True); input()", at.path)
        found = await at.worktrees.removal("work")
        assert f"({inside.pid})" in found.forbidden[0]
        inside.communicate(b"\n")
        script = f"""
import asyncio
from pathlib import Path
from harness.processes import Processes
from harness.worktrees import Worktrees
async def main():
    processes = Processes()
    try:
        await Worktrees(processes, Path({str(at.main)!r}), Path({str(tmp_path / "state")!r}), "other").enter("work")
    except Exception as error:
        print(error)
    finally:
        await processes.aclose()
asyncio.run(main())
"""
        said = printed_by(script)
        assert f"in use by session 20260101 (process {os.getpid()})" in said


async def test_the_lock_of_a_dead_owner_is_released_and_that_of_the_user_is_not(tmp_path: Path) -> None:
    async with place(tmp_path) as at:
        dead = at.tree.lock.replace(f"pid {os.getpid()}", "pid 999999")
        await at.worktrees._lock(at.tree, dead)
        assert (await at.worktrees.find("work")).held_by() == ""
        assert (await at.worktrees.enter("work")).held_by()
        await at.worktrees._lock(await at.worktrees.find("work"), "on a stick")
        found = await at.worktrees.removal("work")
        assert "a lock (on a stick; `git worktree unlock" in found.forbidden[0]
        with pytest.raises(WorktreeError, match="in use by a lock"):
            await at.worktrees.enter("work")


async def test_a_kept_tree_stays_until_it_is_removed_by_name(tmp_path: Path) -> None:
    async with place(tmp_path) as at:
        await at.worktrees.leave("work")
        await at.worktrees.enter("work")
        await at.worktrees._lock(await at.worktrees.find("work"), "")
        await at.worktrees.keep("work")
        assert await at.worktrees.orphans() == ()
        tree = await at.worktrees.find("work")
        assert tree.path.exists()
        await at.worktrees.remove("work", await at.worktrees.removal(tree.name))
        assert not tree.path.exists()


async def refusal(workspace: Path, state: Path, name: str = "x") -> str:
    processes = Processes()
    try:
        with pytest.raises(WorktreeError) as caught:
            await Worktrees(processes, workspace, state).enter(name)
        return str(caught.value)
    finally:
        await processes.aclose()


async def test_where_there_can_be_no_worktree_one_sentence_says_why(tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.mkdir()
    assert "is in no git repository; `git init` makes one" in await refusal(plain, tmp_path / "state")
    git(plain, "init", "-q")
    assert "there is no commit yet; make one first" in await refusal(plain, tmp_path / "state")
    main = repository(tmp_path / "main")
    git(tmp_path, "clone", "-q", "--bare", str(main), "bare.git")
    assert "is a bare repository; start in a clone" in await refusal(tmp_path / "bare.git", tmp_path / "state")
    assert "cannot be called 'a..b'" in await refusal(main, tmp_path / "state", "a..b")
    git(main, "worktree", "add", "-q", "-b", "harness/taken", str(tmp_path / "elsewhere"))
    assert "already checked out" in await refusal(main, tmp_path / "state", "taken")
    assert "it is in use (taken)" in await refusal(main, tmp_path / "state", "Taken")
    assert "is in the repository; set state_dir" in await refusal(main, main / "state")
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "worktrees").symlink_to(tmp_path / "elsewhere")
    assert "link" in await refusal(main, tmp_path / "linked")
    git(main, "branch", "-m", "harness/taken", "harness")
    assert "`git branch -m harness NEW` renames it" in await refusal(main, tmp_path / "state")
    assert git(main, "for-each-ref", "refs/harness") == ""


@pytest.mark.parametrize("name", ["merge-queue", "Merge-Queue", "merge-queue/mine"])
async def test_the_name_of_the_merge_queue_is_its_own(tmp_path: Path, name: str) -> None:
    async with place(tmp_path) as at:
        await at.worktrees.enter("merge-queue", queue=True)
        with pytest.raises(WorktreeError, match=r"cannot be called .*: it is in use \(merge-queue\)"):
            await at.worktrees.enter(name)


async def test_a_repository_that_names_programs_needs_trust(tmp_path: Path) -> None:
    main, ran = repository(tmp_path / "main"), tmp_path / "ran"
    written(main / ".git" / "info" / "attributes", "* filter=own\n")
    git(main, "config", "filter.own.smudge", f"touch {ran}; cat")
    assert "names (filter.own.smudge); --trust-folder allows that" in await refusal(main, tmp_path / "state")
    assert not ran.exists()
    processes = Processes()
    tree = await Worktrees(processes, main, tmp_path / "state", trusted=True).enter("x")
    await processes.aclose()
    assert (tree.path / "f").read_text() == "one\n"
    git(main, "config", "--unset", "filter.own.smudge")
    git(main, "config", "filter.lfs.smudge", "git-lfs smudge -- %f")
    git(main, "config", "merge.own.driver", "touch ran %A")
    assert "merge.own.driver" in await refusal(main, tmp_path / "state", "y")


async def test_a_shallow_clone_and_a_folder_of_a_repository_have_worktrees(tmp_path: Path) -> None:
    main = repository(tmp_path / "main")
    committed(main, "sub/g")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{main}", "shallow")
    for workspace in (tmp_path / "shallow", main / "sub"):
        processes = Processes()
        worktrees = Worktrees(processes, workspace, tmp_path / "state")
        tree = await worktrees.enter()
        assert tree.name == "t1"
        assert tree.base == git(workspace, "rev-parse", "HEAD")
        assert worktrees.workspace_in(tree) == tree.path / ("sub" if workspace.name == "sub" else ".")
        assert (await worktrees.leave("t1")) is None
        await processes.aclose()


@pytest.mark.parametrize("kind", ["plain", "behind a link", "settings of trees", "filter", "SHA-256"])
async def test_changes_are_carried_into_a_new_tree_and_stay_where_they_are(tmp_path: Path, kind: str) -> None:
    async with place(tmp_path, make=KINDS[kind]) as at:
        committed(at.main, "gone"), committed(at.main, "there/g"), committed(at.main, "sub/h")
        git(at.main, "sparse-checkout", "set", "sub")
        (at.main / "gone").unlink()
        written(at.main / "f", "changed\n"), written(at.main / "a.key")
        written(at.main / "sub" / "h", "staged\n"), git(at.main, "add", "sub/h")
        written(at.main / "sub" / "h", "and changed\n")
        odd_names(at.main / "sub")

        def state() -> tuple[dict[str, bytes], str, str]:
            files = {name: data for name, data in files_in(at.main).items() if not name.startswith(".git/")}
            return files, git(at.main, "status", "--porcelain"), git(at.main, "diff", "--cached")

        before = state()
        tree = await at.worktrees.enter("new", carry=True)
        assert state() == before
        carried = {name: data for name, data in before[0].items() if name != "a.key"}
        assert {name: data for name, data in files_in(tree.path).items() if name != "there/g"} == carried
        signs = {line[:2] for line in git(tree.path, "status", "--porcelain", "--no-renames").split("\n")}
        assert signs <= {" M", "M ", " D", "??"}, "something is staged"
        assert "there/g" not in git(tree.path, "status", "--porcelain")
        with pytest.raises(WorktreeError, match="is there; changes are carried into a new one only"):
            await at.worktrees.enter("new", carry=True)
        git(at.main, "branch", "harness/old", "HEAD~1")
        with pytest.raises(WorktreeError, match="harness/old is at another commit than your tree"):
            await at.worktrees.enter("old", carry=True)


async def test_each_tree_has_a_number_that_commands_in_it_see(tmp_path: Path) -> None:
    async with place(tmp_path) as at:
        two, three = await at.worktrees.enter("a/b"), await at.worktrees.enter("c")
        await at.worktrees.leave("a/b")
        again = await at.worktrees.enter("d")

        def seen(folder: Path) -> list[str | None]:
            given = shell_environment({"HARNESS_WORKTREE": "of another"}, folder)
            return [given.get("HARNESS_WORKTREE"), given.get("HARNESS_WORKTREE_NUMBER")]

        assert seen(at.path / "sub") == ["work", "1"]
        assert (seen(again.path), seen(three.path)) == (["d", "2"], ["c", "3"])
        assert seen(at.main) == seen(two.path.parent) == [None, None]
        written(at.main.parent / ".numbers.json", '{"main": "1"}')
        assert seen(at.main) == [None, None]


async def test_ignored_files_of_a_list_come_along_and_do_not_count_when_they_are_the_same(tmp_path: Path) -> None:
    async with place(tmp_path) as at:
        written(at.main / "a.key", "secret\n"), written(at.main / "b.key", "other\n")
        (at.main / "c.key").symlink_to("/etc/passwd")
        tree = await at.worktrees.enter("two", copies=["a.key", "c.key", "sub/*.key"])
        assert [path.name for path in tree.path.glob("*.key")] == ["a.key"]
        assert (await at.worktrees.removal(tree.name)).free
        (tree.path / "a.key").write_text("changed\n")
        assert worst(await at.worktrees.removal(tree.name)) == "lost"


async def test_a_tree_whose_folder_was_deleted_by_hand_keeps_its_commits(tmp_path: Path) -> None:
    async with place(tmp_path) as at:
        _, commit = git(at.path, "switch", "-q", "--detach"), committed(at.path, "g")
        shutil.rmtree(at.path)
        found = await at.worktrees.removal("work")
        assert found.kept == (MISSING, "1 commit of a detached HEAD, on no branch")
        ref = await at.worktrees.remove("work", found)
        assert git(at.main, "rev-parse", f"{ref}^1") == commit
        assert str(at.path) not in git(at.main, "worktree", "list")


async def test_a_tree_that_was_moved_by_hand_is_neither_lost_nor_in_the_way(tmp_path: Path) -> None:
    async with place(tmp_path) as at:
        written(at.path / "new"), git(at.path, "add", "new")
        (at.path / "new").unlink()
        await at.worktrees.leave("work")
        shutil.move(at.path, tmp_path / "elsewhere")
        ((tree, found),) = await at.worktrees.orphans()
        assert (tree.name, found.kept) == ("work", (MISSING, "1 changed file: new"))
        with pytest.raises(HarnessError, match="is not there"):
            changes_since(tree.path, tree.base)
        git(at.main, "worktree", "repair", str(tmp_path / "elsewhere"))
        assert await at.worktrees.trees() == ()
        assert "new" in git(tmp_path / "elsewhere", "status", "--porcelain")
        assert "already checked out at" in await refusal(at.main, tmp_path / "state", "work")
        shutil.move(tmp_path / "elsewhere", at.path)
        git(at.main, "worktree", "repair", str(at.path))
        shutil.move(at.path, tmp_path / "elsewhere")
        ref = await at.worktrees.remove("work", await at.worktrees.removal("work"))
        assert git(at.main, "cat-file", "-p", f"{ref}^2:new") == "x"
        assert (tmp_path / "elsewhere" / "f").exists()


async def test_kept_commits_age_only_where_everything_is_elsewhere_as_well(tmp_path: Path) -> None:
    async with place(tmp_path) as at:
        await at.worktrees.leave("work")
        for name in ("unique", "again"):
            await at.worktrees.enter(name)
            tree = await at.worktrees.find(name)
            if name == "unique":
                written(tree.path / "new")
            await at.worktrees.remove(name, await at.worktrees.removal(tree.name))
        for name in ("work", "unique", "again"):
            kept_at(at.main, f"{KEPT}{name}", int(time.time()) - 91 * 86_400)
        await at.worktrees.enter("last")
        await at.worktrees.leave("last")
        left = git(at.main, "for-each-ref", "--format=%(refname)", KEPT).split()
        assert left == [f"{KEPT}last", f"{KEPT}unique"]


async def test_a_tree_that_git_cannot_look_at_stays_and_hides_no_other(tmp_path: Path) -> None:
    async with place(tmp_path) as at:
        git(at.path, "switch", "-q", "--orphan", "fresh")
        other = await at.worktrees.enter("other")
        (other.admin / "index").write_bytes(b"no index")
        for tree in (at.tree, other):
            assert await at.worktrees.leave(tree.name)
        said = {tree.name: found.forbidden for tree, found in await at.worktrees.orphans()}
        assert said["work"] == ("its HEAD is no commit; make one there, or switch to a branch that has one",)
        assert "index file smaller than expected" in said["other"][0]
        assert (at.path.is_dir(), other.path.is_dir()) == (True, True)


async def test_a_session_that_begins_while_another_looks_for_orphans_keeps_its_tree(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """git itself lets the other session lock the tree, right behind the first list."""
    async with place(tmp_path) as at:
        await at.worktrees.leave("work")
        tree = await at.worktrees.enter("work")
        dead = "harness: session d pid 999999999 started 1 on " + tree.lock.partition(" on ")[2]
        await at.worktrees._lock(tree, dead)
        real, done = shutil.which("git"), tmp_path / "done"
        ours = f"{real} -C {at.main} worktree"
        swap = f"{ours} unlock {at.path}; {ours} lock --reason '{tree.lock}' {at.path}"
        program = written(
            tmp_path / "programs" / "git",
            f"""#!/bin/sh
{real} "$@"; code=$?
case "$*" in *"worktree list"*) [ -e {done} ] || {{ touch {done}; {swap}; }} ;; esac
exit $code
""",
        )
        program.chmod(0o755)
        monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
        assert await at.worktrees.orphans() == ()
        assert done.exists()
        assert at.path.is_dir()


async def test_eight_at_once_make_and_remove_trees_of_one_repository(tmp_path: Path) -> None:
    async with place(tmp_path) as at:

        async def one(number: int) -> None:
            worktrees = Worktrees(at.worktrees.git.processes, at.main, tmp_path / "state", f"s{number}")
            tree = await worktrees.enter(f"n{number}")
            if number % 2:
                written(tree.path / "new")
            assert (await worktrees.leave(tree.name) is None) is (number % 2 == 0)

        await asyncio.gather(*map(one, range(8)))
        assert [tree.name for tree in await at.worktrees.trees()] == ["n1", "n3", "n5", "n7", "work"]
