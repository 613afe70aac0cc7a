"""What a worktree holds: the facts that decide about its removal. Looks, and changes nothing."""

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice
from pathlib import Path

from harness.base.concurrency import in_thread
from harness.policies.worktrees.removal import TreeState
from harness.slots.store import ProcessOwner, lives, this_process
from harness.worktrees.git import Git

KEPT = "refs/harness/kept/"
BASE = "refs/harness/base/"
BRANCH = "harness/"
"""Before the name of a tree: the branch that is made for it."""
TRIAL = "merge-queue"
"""The name of the tree of the merge queue."""
ELSEWHERE = (f"--exclude={BRANCH}{TRIAL}", "--branches", "--remotes", "--tags")
"""Options of rev-list for what holds commits for good: the branch of the merge queue is only a trial."""
OWN_REFS = ("refs/worktree/", "refs/bisect/", "refs/rewritten/")
"""Of a tree alone: they go with it."""
KEEPS = "harness: kept by the user"
"""The reason of the lock on a tree that the user keeps."""
CACHES = frozenset({"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".hypothesis", ".DS_Store"})
"""Ignored names that nobody misses, because programs write them again."""
MOST_ENTRIES = 50_000
"""Entries of ignored folders that are looked through for repositories."""
MOST_COMPARED = 200
"""Changed files, and commits of the user's branch, that are compared to find a branch that is merged as one commit."""
MOST_MOVES = 1_000
"""The latest moves of HEAD that are looked at."""
AT_A_TIME = 200
"""Names on one command line."""
_UNFINISHED = {
    "rebase-merge": "rebase",
    "rebase-apply": "rebase",
    "MERGE_HEAD": "merge",
    "CHERRY_PICK_HEAD": "cherry-pick",
    "REVERT_HEAD": "revert",
    "BISECT_LOG": "bisect",
    "sequencer": "cherry-pick or revert",
}
_LOCK = re.compile(r"harness: session (\S*) pid (\d+) started (\S*) on (.*)")


@dataclass(frozen=True, slots=True)
class Worktree:
    """One of the program's worktrees."""

    name: str
    path: Path
    """Its top."""
    admin: Path
    """The folder in which git keeps its HEAD and its index."""
    branch: str
    """Empty: HEAD is detached."""
    head: str
    """The commit."""
    base: str
    """The commit that it began with; empty: it was not finished."""
    lock: str = ""
    """Why it is locked; empty: it is not."""

    @property
    def kept(self) -> bool:
        """The user has said that it stays."""
        return self.lock == KEEPS

    @property
    def common(self) -> Path:
        """The folder of git that all trees share."""
        return self.admin.parent.parent

    @property
    def arguments(self) -> tuple[str, str]:
        """Options of git that name it, also where the file .git in it is gone."""
        return f"--git-dir={self.admin}", f"--work-tree={self.path}"

    def held_by(self, but: str = "") -> str:
        """Who uses it, other than the session `but` of this process; empty: nobody."""
        if not self.lock or self.kept or self.lock == lock_reason(but):
            return ""
        found = _LOCK.fullmatch(self.lock)
        if found is None:
            return f"a lock ({self.lock}; `git worktree unlock {self.path}` removes it)"
        owner = ProcessOwner(found[1], found[4], int(found[2]), found[3])
        return f"session {owner.session} (process {owner.pid})" if lives(owner) else ""


def lock_reason(session: str) -> str:
    """The reason of the lock on a tree that this session of this process uses."""
    us = this_process(session)
    return f"harness: session {us.session or '-'} pid {us.pid} started {us.started_at} on {us.host}"


async def look(git: Git, tree: Worktree, main: Path, session: str) -> TreeState:
    """The state of a tree for this session of this process; `main` is the top of the user's own tree. Raises
    WorktreeError."""
    state = TreeState(held_by=tree.held_by(session), branch=tree.branch)
    if Path(os.path.realpath(tree.path)) != tree.path:
        return replace(state, odd="it is behind a link, which is not followed")
    if not tree.head.strip("0"):
        return replace(state, odd="its HEAD is no commit; make one there, or switch to a branch that has one")
    unique, left = await _commits(git, tree, await moves_of(git, tree))
    if unique and tree.branch and await _squashed(git, tree, main):
        unique = 0
    unfinished = next((what for name, what in _UNFINISHED.items() if (tree.admin / name).exists()), "")
    state = replace(state, commits=unique, left_behind=left, unfinished=unfinished, submodules=_modules(tree.admin))
    if not tree.path.is_dir():  # deleted or moved by hand; git still lists it, and its index may hold what nothing has
        staged = await git(*tree.arguments, "diff-index", "--cached", "--name-only", "-z", tree.head, cwd=tree.admin)
        begun = await git("for-each-ref", f"--points-at={tree.head}", KEPT, cwd=tree.admin)  # to be removed
        missing = bool(tree.branch or not begun)
        return replace(state, missing=missing, changed=tuple(filter(None, staged.split("\0"))))
    changed, untracked, ignored = await _files(git, tree)
    stages = await git(*tree.arguments, "ls-files", "-z", "-v", "--stage", cwd=tree.path)
    links = submodules_in(stages)
    modules = tuple(one for one in links if os.path.lexists(tree.path / one / ".git"))
    empty = tuple(one for one in links if one not in modules)
    walked = await in_thread(partial(_inside, tree, untracked, ignored, empty))
    same = await in_thread(partial(_same_in, main, tree.path, ignored))
    return replace(
        state,
        processes=await in_thread(partial(_processes, tree.path)),
        submodules=modules or state.submodules,
        nested=walked,
        changed=tuple(dict.fromkeys((*changed, *await _overlooked(git, tree, stages)))),
        untracked=tuple(one for one in untracked if one not in walked),
        ignored=tuple(one for one in ignored if one not in same and Path(one).name not in CACHES),
    )


async def _files(git: Git, tree: Worktree) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Changed, untracked and ignored ones; ignored folders as a whole, with a slash at the end."""
    options = ("--porcelain", "-z", "--untracked-files=all", "--ignored=matching", "--no-renames")
    printed = await git(*tree.arguments, "status", *options, "--ignore-submodules=none", cwd=tree.path)
    entries = [(entry[:2], entry[3:]) for entry in printed.split("\0") if entry]
    kinds: dict[str, list[str]] = {"??": [], "!!": [], "": []}
    for sign, name in entries:
        kinds[sign if sign in kinds else ""].append(name)
    ignored = [one for one in kinds["!!"] if one.rstrip("/").rpartition("/")[2] not in CACHES]
    return tuple(kinds[""]), tuple(kinds["??"]), tuple(ignored)


async def _overlooked(git: Git, tree: Worktree, stages: str) -> tuple[str, ...]:
    """Changed files that `git status` does not look at, because their entries say assume-unchanged or skip-worktree."""
    marked = [entry.partition("\t")[::2] for entry in stages.split("\0") if entry[:1].islower() or entry[:1] == "S"]
    files = {name: head.split(" ")[2] for head, name in marked if (tree.path / name).is_file()}
    blobs = await hashes(git, tree, tuple(files))
    return tuple(name for (name, blob), now in zip(files.items(), blobs, strict=True) if blob != now)


def batches(names: Sequence[str]) -> Iterator[Sequence[str]]:
    """The names, as many at a time as a command line can have."""
    return (names[at : at + AT_A_TIME] for at in range(0, len(names), AT_A_TIME))


async def hashes(git: Git, tree: Worktree, names: Sequence[str], *options: str) -> tuple[str, ...]:
    """The ids of the blobs of files, as `git hash-object` with these options makes them."""
    found: list[str] = []
    for batch in batches(names):
        found += (await git(*tree.arguments, "hash-object", *options, "--", *batch, cwd=tree.path)).split()
    return tuple(found)


async def _commits(git: Git, tree: Worktree, moves: Iterable[str]) -> tuple[int, int]:
    """Commits of HEAD that nothing else has, and those that HEAD has left and nothing has."""
    cwd = tree.admin
    others = [f"--exclude={tree.branch}"] if tree.branch else [f"--glob={KEPT}*"]
    others += ELSEWHERE
    unique = await git("rev-list", "--count", tree.head, "--not", *others, cwd=cwd)
    if not (known := tuple(moves)):
        return int(unique), 0
    reach = [tree.head, f"--glob={KEPT}*", *ELSEWHERE]
    left = await git("rev-list", "--count", "--ignore-missing", *known, "--not", *reach, cwd=cwd)
    return int(unique), int(left)


async def _squashed(git: Git, tree: Worktree, main: Path) -> bool:
    """All files that a branch has changed stand in one commit of the user's branch as they do in this one, so its
    commits are merged as one. Compared by content: what is only alike is not merged."""
    target = await git("rev-parse", "--verify", "--quiet", "HEAD", cwd=main, fine=(0, 1, 128))
    since = target and await git("merge-base", target, tree.head, cwd=tree.admin, fine=(0, 1))
    if not since:
        return False
    exactly = ("-r", "--no-renames", "--ignore-submodules=none")
    printed = await git("diff-tree", *exactly, "--name-only", "-z", since, tree.head, cwd=tree.admin)
    names = tuple(name for name in printed.split("\0") if name)
    if not 0 < len(names) <= MOST_COMPARED:
        return False
    literal = "--literal-pathspecs"
    seen = ("--full-history", f"--max-count={MOST_COMPARED}", target, "--not", tree.head, "--", *names)
    for commit in (await git(literal, "rev-list", *seen, cwd=tree.admin)).split():
        there = (literal, "diff-tree", "--quiet", *exactly, commit, tree.head, "--", *names)
        if (await git.run(*there, cwd=tree.admin))[0] == 0:
            return True
    return False


async def moves_of(git: Git, tree: Worktree) -> tuple[str, ...]:
    """The commits that HEAD of a tree or its own branch was at, and those of refs that the tree alone has: what its
    removal would forget."""
    listed = ("for-each-ref", "--format=%(objectname) %(*objectname)", *OWN_REFS)
    own = (await git(*tree.arguments, *listed, cwd=tree.admin)).split()
    branch = Path("logs", "refs", "heads", f"{BRANCH}{tree.name}")
    logged = [await in_thread(partial(_logged, one)) for one in (tree.admin / "logs" / "HEAD", tree.common / branch)]
    return tuple(dict.fromkeys((*logged[0], *logged[1], *own)))


def _logged(log: Path) -> tuple[str, ...]:
    """The commits in a log of git, the latest first."""
    try:
        lines = log.read_text("utf-8", "replace").splitlines()
    except OSError:
        return ()
    commits = (line.split(" ", 2)[1] for line in reversed(lines) if line.count(" ") > 2)
    return tuple(dict.fromkeys(islice(commits, MOST_MOVES)))


def submodules_in(stages: str) -> tuple[str, ...]:
    """The paths of the submodules in what `git ls-files -z --stage` prints, also with `-v`."""
    entries = (entry.partition("\t")[::2] for entry in stages.split("\0"))
    return tuple(name for head, name in entries if "160000" in head.split(" "))


def _modules(admin: Path) -> tuple[str, ...]:
    modules = admin / "modules"
    return tuple(sorted(one.name for one in modules.iterdir())) if modules.is_dir() else ()


def _inside(tree: Worktree, untracked: Iterable[str], ignored: Iterable[str], empty: Iterable[str]) -> tuple[str, ...]:
    """Repositories among what git does not track, and what is in the place of submodules, which has to be empty. Links
    are not followed."""
    found = [one for one in untracked if one.endswith("/")]
    found += [f"{one}/" for one in empty if (there := tree.path / one).is_dir() and any(there.iterdir())]
    left = MOST_ENTRIES
    for name in ignored:
        for folder, folders, files in os.walk(tree.path / name) if name.endswith("/") else ():
            left -= len(folders) + len(files)
            if ".git" in folders or ".git" in files:
                found.append(f"{Path(folder).relative_to(tree.path)}/")
                folders.clear()
            if left < 0:
                return (*found, f"{name} (too large to be looked through)")
    return tuple(dict.fromkeys(found))


def _same_in(main: Path, path: Path, names: Iterable[str]) -> frozenset[str]:
    """Ignored files that are the same in the main tree, so that nothing is lost with them."""

    def same(name: str) -> bool:
        ours, theirs = path / name, main / name
        if ours.is_symlink() or theirs.is_symlink() or not (ours.is_file() and theirs.is_file()):
            return False
        return ours.stat().st_size == theirs.stat().st_size and ours.read_bytes() == theirs.read_bytes()

    return frozenset(filter(same, names))


def _processes(path: Path) -> tuple[str, ...]:
    import psutil

    def inside() -> Iterator[str]:
        for process in psutil.process_iter(["cwd", "name"]):
            cwd = process.info["cwd"]
            if cwd and process.pid != os.getpid() and Path(cwd).is_relative_to(path):
                yield f"{process.info['name']} ({process.pid})"

    return tuple(inside())
