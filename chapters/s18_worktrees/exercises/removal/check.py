"""Makes real repositories, asks about their worktrees, then removes them and looks for what is lost."""

import os
import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from types import ModuleType

HISTORIES = 14
OPERATIONS = 5
PERSON = {f"GIT_{who}_{what}": "x@localhost" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
QUIET = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}


class Place:
    """A repository with a remote and one worktree on the branch `wt/task`."""

    def __init__(self, folder: Path) -> None:
        self.main, self.tree = folder / "main", folder / "tree"
        self.number = 0
        self.done: list[str] = []
        self.main.mkdir()
        self.git(self.main, "init", "-q", "-b", "main")
        (self.main / ".gitignore").write_text("*.db\n", "utf-8")
        self.commit(self.main)
        self.git(self.main, "init", "-q", "--bare", str(folder / "remote"))
        self.git(self.main, "remote", "add", "origin", str(folder / "remote"))
        self.git(self.main, "worktree", "add", "-q", "-b", "wt/task", str(self.tree))

    def git(self, folder: Path, *words: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(folder), *words],
            text=True,
            capture_output=True,
            check=False,
            env={**os.environ, **PERSON, **QUIET},
        )
        assert done.returncode == 0, f"git {' '.join(words)}: {done.stderr.strip()}"
        return done.stdout.strip()

    def commit(self, folder: Path) -> None:
        self.number += 1
        (folder / f"{self.number}.txt").write_text(f"{self.number}\n", "utf-8")
        self.git(folder, "add", "--all")
        self.git(folder, "commit", "-q", "-m", str(self.number))

    def reachable(self) -> set[str]:
        """Commits that a ref, or the HEAD of a tree, reaches."""
        heads = [self.git(one, "rev-parse", "HEAD") for one in (self.main, self.tree) if one.exists()]
        return set(self.git(self.main, "rev-list", "--all", *heads).split())

    def lost(self) -> list[str]:
        """Remove the worktree and its branch; returns what is gone."""
        files = self.git(self.tree, "status", "--porcelain", "--untracked-files=all", "--ignored").splitlines()
        before = self.reachable()
        branch = self.git(self.tree, "branch", "--show-current")
        self.git(self.main, "worktree", "remove", "--force", str(self.tree))
        if branch:
            self.git(self.main, "branch", "-q", "-D", branch)
        gone = before - self.reachable()
        return [*files, *([f"{len(gone)} commits"] if gone else [])]


def commit(at: Place) -> None:
    at.commit(at.tree)


def commit_in_main(at: Place) -> None:
    at.commit(at.main)


def push(at: Place) -> None:
    at.git(at.tree, "push", "-q", "-u", "origin", "HEAD:refs/heads/task")


def merge(at: Place) -> None:
    at.git(at.main, "merge", "-q", "--no-edit", at.git(at.tree, "rev-parse", "HEAD"))


def detach(at: Place) -> None:
    at.git(at.tree, "switch", "-q", "--detach")


def other_branch(at: Place) -> None:
    at.number += 1
    at.git(at.tree, "switch", "-q", "-c", f"other{at.number}")


def tag(at: Place) -> None:
    at.git(at.tree, "tag", "-f", "kept")


def change(at: Place) -> None:
    (at.tree / "1.txt").write_text("changed\n", "utf-8")


def delete(at: Place) -> None:
    (at.tree / "1.txt").unlink(missing_ok=True)


def untracked(at: Place) -> None:
    (at.tree / "new").mkdir(exist_ok=True)
    (at.tree / "new" / "a.txt").write_text("new\n", "utf-8")


def hide_untracked(at: Place) -> None:
    at.git(at.main, "config", "status.showUntrackedFiles", "no")


def ignored(at: Place) -> None:
    (at.tree / "tickets.db").write_text("40 sold\n", "utf-8")


Operation = Callable[[Place], None]
RARE = (change, delete, untracked, ignored)
OFTEN = (commit, commit, commit_in_main, push, merge, detach, other_branch, tag)


def fault(work: ModuleType, operations: Sequence[Operation]) -> str:
    """What is wrong with the answer about this history; empty: nothing."""
    with TemporaryDirectory() as folder:
        at = Place(Path(folder).resolve())
        for operation in operations:
            operation(at)
        state = work.look(str(at.tree))
        may = work.may_remove(state)
        lost = at.lost()
    if bool(may) is not bool(lost):
        return ""
    history = ", ".join(one.__name__ for one in operations) or "nothing"
    return (
        f"done in the worktree: {history}\nmay_remove({state}) -> {may}\nlost with it: {', '.join(lost) or 'nothing'}"
    )


def right(work: ModuleType, *histories: Sequence[Operation]) -> None:
    for operations in histories:
        assert not (found := fault(work, operations)), found


def check_open_files_stay(work: ModuleType) -> None:
    right(work, (change,), (delete,), (untracked,), (hide_untracked, untracked))


def check_ignored_files_stay(work: ModuleType) -> None:
    right(work, (ignored,), (commit, merge, ignored))


def check_a_commit_without_an_upstream_stays(work: ModuleType) -> None:
    right(work, (commit,), (push, commit), (commit_in_main, commit))


def check_a_detached_head_stays(work: ModuleType) -> None:
    right(work, (detach, commit), (commit, detach, commit), (other_branch, commit))


def check_what_is_elsewhere_goes(work: ModuleType) -> None:
    right(work, (), (commit, merge), (commit, push), (commit, tag), (commit, other_branch), (detach,))


def check_random_histories_lose_nothing(work: ModuleType) -> None:
    shortest = min(filter(None, (_random_fault(work, Random(seed)) for seed in range(HISTORIES))), key=len, default="")
    assert not shortest, shortest


def _random_fault(work: ModuleType, chance: Random) -> str:
    operations = list(chance.choices(OFTEN, k=chance.randint(2, OPERATIONS)))
    if chance.random() < 0.2:
        operations.append(chance.choice(RARE))
    return fault(work, operations)
