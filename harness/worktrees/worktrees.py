"""Makes, lists, keeps and removes the worktrees that belong to one workspace.

They are in the state folder, under the name of the workspace's sessions, so that a session in a tree is one of that
workspace. What git can record, git records: the base commit in `refs/harness/base/`, who uses a tree in the reason of
its lock. So a killed program leaves nothing that the next one cannot read: without a base a tree was not finished, and
a HEAD that is a kept commit belongs to a removal that was not.
"""

import json
import os
import shutil
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from pathlib import Path
from secrets import token_hex

from harness.base.concurrency import in_thread
from harness.base.files import replace_atomically
from harness.journal import WORKTREES, workspace_slug
from harness.policies.worktrees.removal import Removal, TreeState, name_problem, removal
from harness.processes import Processes
from harness.processes.git_safety import program_of_checkout
from harness.processes.tree_variables import NUMBERS, numbers_in
from harness.sandbox.git_places import linked_trees
from harness.tasks.places import project_slug
from harness.worktrees.copies import copied
from harness.worktrees.git import IDENTITY, Git, TreeInUseError, WorktreeError
from harness.worktrees.look import (
    BASE,
    BRANCH,
    ELSEWHERE,
    KEEPS,
    KEPT,
    TRIAL,
    Worktree,
    batches,
    hashes,
    lock_reason,
    look,
    moves_of,
    submodules_in,
)

LOCK_S = 60.0
"""Another process may make or remove a tree of the same repository for so long."""
MOST_TREES = 40
"""Of one workspace; each is a checkout on the disk."""
KEPT_DAYS = 90
"""What is reachable otherwise is forgotten after these."""


@dataclass(frozen=True, slots=True)
class Repository:
    """The repository of a workspace."""

    top: Path
    """Of the tree around the workspace."""
    common: Path
    """The folder of git that all trees share."""
    below: str
    """The workspace, from the top; "." where it is the top."""


class Worktrees:
    """The worktrees of one workspace, for one process."""

    def __init__(
        self, processes: Processes, workspace: Path, state: Path, session: str = "", *, trusted: bool = False
    ) -> None:
        """
        Args:
            workspace: where the user works, not one of the trees.
            state: the state folder.
            session: the name under which trees are locked.
            trusted: git may run programs that the repository's own configuration names.
        """
        self.git = Git(processes)
        self._workspace = workspace.resolve()
        self._state = state.resolve()
        self._session, self._trusted = session, trusted
        self._here: Repository | None = None

    @property
    def folder(self) -> Path:
        """Where the trees are."""
        return self._state / WORKTREES / workspace_slug(self._workspace)

    async def repository(self) -> Repository:
        """The repository. Raises WorktreeError with what git needs where there can be no worktrees."""
        if self._here is None:
            asked = ("--is-bare-repository", "--show-toplevel", "--git-common-dir", "--show-prefix")
            code, printed, complaint = await self.git.run("rev-parse", *asked, cwd=self._workspace)
            if printed.startswith("true"):
                raise WorktreeError(f"{self._workspace} is a bare repository; start in a clone of it.")
            if code:
                why = "is in no git repository; `git init` makes one" if "not a git repo" in complaint else complaint
                raise WorktreeError(f"{self._workspace} {' '.join(why.split())}.")
            _, top, common, below = printed.split("\n")[:3] + (printed.split("\n")[3:] or [""])
            here = Repository(Path(top), (self._workspace / common).resolve(), below.rstrip("/") or ".")
            if self.folder.is_relative_to(here.top):
                raise WorktreeError(f"The state folder {self._state} is in the repository; set state_dir elsewhere.")
            program = None if self._trusted else await in_thread(partial(program_of_checkout, here.top))
            if program is not None:
                why = f"git would run a program for it that the repository's configuration names ({program})"
                raise WorktreeError(f"There is no worktree here: {why}; --trust-folder allows that.")
            self._here = here
        return self._here

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[Repository]:
        """Nobody else makes or removes trees of this repository during the block. Raises WorktreeError."""
        from filelock import FileLock, Timeout

        here = await self.repository()
        path = self._state / WORKTREES / f"{project_slug(here.top)}.lock"
        lock = FileLock(path, timeout=LOCK_S, mode=0o600, thread_local=False)
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            await in_thread(lock.acquire)
        except (Timeout, OSError) as error:
            raise WorktreeError(f"{path} is held by another session or cannot be written; try again.") from error
        try:
            yield here
        finally:
            lock.release()

    # ── the list ────────────────────────────────────────────────────────────────────────────────

    async def trees(self) -> tuple[Worktree, ...]:
        """Those of this workspace, by name. Raises WorktreeError."""
        here = await self.repository()
        printed = await self.git("worktree", "list", "--porcelain", cwd=here.common)
        admins = await in_thread(partial(linked_trees, str(here.common)))
        found = (self._tree(admins, block.split("\n")) for block in printed.split("\n\n"))
        trees = [tree for tree in found if tree is not None]
        bases = await self.git("for-each-ref", "--format=%(refname) %(objectname)", BASE, cwd=here.common)
        by_name = dict(line.removeprefix(BASE).split(" ") for line in bases.split("\n") if line)
        named = sorted(trees, key=lambda tree: tree.name)
        return tuple(replace(tree, base=by_name.get(tree.path.name, "")) for tree in named)

    def _tree(self, admins: Mapping[str, str], lines: Sequence[str]) -> Worktree | None:
        said = dict((*line.partition(" ")[::2],) for line in lines)
        path = Path(said.get("worktree", ""))
        if path.parent != self.folder:
            return None
        if (admin := admins.get(f"{path}/.git")) is None:
            return None
        branch = said.get("branch", "").removeprefix("refs/heads/")
        return Worktree(_name_of(path), path, Path(admin), branch, said.get("HEAD", ""), "", said.get("locked", ""))

    async def find(self, name: str) -> Worktree:
        """The tree with this name. Raises WorktreeError."""
        trees = await self.trees()
        for tree in trees:
            if tree.name == name:
                return tree
        there = ", ".join(tree.name for tree in trees)
        raise WorktreeError(f"There is no worktree {name!r}; " + (f"there are {there}." if there else "there is none."))

    def held(self, tree: Worktree) -> str:
        """Who uses a tree, other than this session; empty: nobody."""
        return tree.held_by(self._session)

    def uses(self, tree: Worktree) -> bool:
        """This session has locked the tree."""
        return tree.lock == lock_reason(self._session)

    def workspace_in(self, tree: Worktree) -> Path:
        """The workspace of a session in a tree: the same folder of the repository."""
        return tree.path if self._here is None else (tree.path / self._here.below)

    async def state(self, tree: Worktree) -> TreeState:
        """What a tree holds now; where git cannot look at it, what git says. Raises WorktreeError."""
        here = await self.repository()
        try:
            return await look(self.git, tree, here.top, self._session)
        except WorktreeError as error:
            return TreeState(odd=str(error).rstrip("."), held_by=self.held(tree))

    async def removal(self, name: str) -> Removal:
        """What it would mean to remove a tree now. Raises WorktreeError."""
        return removal(await self.state(await self.find(name)))

    async def uncommitted(self) -> int:
        """Files of the user's tree that differ from its commit, and so are in no worktree."""
        here = await self.repository()
        return len((await self.git("status", "--porcelain", cwd=here.top)).splitlines())

    async def merges_into(self) -> str:
        """The user's branch, which finished work is merged into. Raises WorktreeError where there is none, or no commit
        that a tree can begin at."""
        here = await self.repository()
        branch = await self.git("symbolic-ref", "--quiet", "--short", "HEAD", cwd=here.top, fine=(0, 1))
        if not branch:
            raise WorktreeError(
                "No branch is checked out that work could be merged into; `git switch -c NAME` makes one."
            )
        if not await self._commit(here.top, "HEAD^{commit}"):
            raise WorktreeError(
                f"The branch {branch} has no commit yet that a worktree could begin at; make one first."
            )
        return branch

    # ── make ────────────────────────────────────────────────────────────────────────────────────

    async def enter(
        self, name: str = "", *, copies: Sequence[str] = (), carry: bool = False, queue: bool = False
    ) -> Worktree:
        """A tree to work in, locked for this process: the one with this name, or a new one.

        Args:
            name: empty: the first free one of t1, t2, ….
            copies: patterns of ignored files that a new one needs as well, such as .env.
            carry: a new one has the user's uncommitted changes as well, new files included.
            queue: it is for the merge queue, whose name is its own.

        Raises WorktreeError.
        """
        if name and (problem := name_problem(name, () if queue else (TRIAL,))):
            raise WorktreeError(f"A worktree cannot be called {name!r}: {problem}.")
        async with self._alone() as here:
            trees = await self.trees()
            names = await self._taken(here, trees)
            name = name or next(one for one in (f"t{number}" for number in count(1)) if not name_problem(one, names))
            if (tree := next((one for one in trees if one.name == name), None)) is None:
                if problem := name_problem(name, names - {name}):
                    raise WorktreeError(f"A worktree cannot be called {name!r}: {problem}.")
                if len(trees) >= MOST_TREES:
                    raise WorktreeError(f"There are {len(trees)} worktrees, the most; /worktree remove removes one.")
                return await self._make(here, name, copies, carry=carry)
            if carry:
                raise WorktreeError(f"The worktree {name} is there; changes are carried into a new one only.")
            if holder := self.held(tree):
                raise TreeInUseError(f"The worktree {name} is in use by {holder}; choose another name.")
            if not tree.base or not (tree.path / ".git").is_file():
                await self._restore(here, tree)
            await self._lock(tree, lock_reason(self._session))
            return await self.find(name)

    async def _taken(self, here: Repository, trees: Sequence[Worktree]) -> set[str]:
        refs = await self.git("for-each-ref", "--format=%(refname)", f"refs/heads/{BRANCH}", cwd=here.common)
        return {ref.removeprefix(f"refs/heads/{BRANCH}") for ref in refs.split("\n") if ref} | {
            tree.name for tree in trees
        }

    async def _make(self, here: Repository, name: str, copies: Sequence[str], *, carry: bool) -> Worktree:
        path, branch = self.folder / name.replace("/", "+"), f"{BRANCH}{name}"
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if Path(os.path.realpath(self.folder)) != self.folder:
            raise WorktreeError(f"{self.folder} is a link, which is not followed; remove it.")
        commit = await self._commit(here.top, "HEAD^{commit}")
        if not commit:
            raise WorktreeError("A worktree cannot be made: there is no commit yet; make one first.")
        there = await self._commit(here.top, f"refs/heads/{branch}")
        if not there and await self._commit(here.top, f"refs/heads/{BRANCH.rstrip('/')}"):
            why = f"a branch is called harness, so git has no place for {branch}"
            raise WorktreeError(f"A worktree cannot be made: {why}; `git branch -m harness NEW` renames it.")
        if carry and there not in ("", commit):
            raise WorktreeError(f"{branch} is at another commit than your tree; changes need a new branch.")
        await in_thread(partial(self._number, path.name, await self.trees()))
        what = (str(path), branch) if there else ("--no-track", "-b", branch, str(path), commit)
        lock = ("--lock", "--reason", lock_reason(self._session))
        await self.git("worktree", "add", "--quiet", *lock, *what, cwd=here.top)
        await in_thread(partial(copied, here.top, path, copies))
        if carry:
            await self._carry(here, path)
        shared = await self.git("merge-base", commit, there, cwd=here.top, fine=(0, 1)) if there else commit
        await self.git("update-ref", f"{BASE}{path.name}", shared or commit, cwd=here.common)
        return await self.find(name)

    def _number(self, name: str, trees: Sequence[Worktree]) -> None:
        """Give a new tree the first number that no other has."""
        known = numbers_in(self.folder)
        kept = {tree.path.name: known[tree.path.name] for tree in trees if tree.path.name in known}
        number = next(one for one in count(1) if one not in kept.values())
        replace_atomically(self.folder / NUMBERS, json.dumps({**kept, name: number}).encode(), private=True)

    async def _carry(self, here: Repository, path: Path) -> None:
        """Bring the user's uncommitted changes into a tree that is at the same commit, where they are not staged."""
        index = self.folder / f".carried-{token_hex(4)}"
        variables = {"GIT_INDEX_FILE": str(index)}
        own = await self.git("rev-parse", "--git-path", "index", cwd=here.top)
        try:
            await in_thread(partial(shutil.copyfile, here.top / own, index))
            await self.git("add", "--all", ".", cwd=here.top, variables=variables)
            changed = await self.git("write-tree", cwd=here.top, variables=variables)
        finally:
            index.unlink(missing_ok=True)
        await self.git("read-tree", "-m", "-u", "HEAD", changed, cwd=path)
        await self.git("reset", "--quiet", cwd=path)

    async def _commit(self, cwd: Path, name: str) -> str:
        """The commit of this name; empty: there is none."""
        return await self.git("rev-parse", "--verify", "--quiet", name, cwd=cwd, fine=(0, 1, 128))

    async def _restore(self, here: Repository, tree: Worktree) -> None:
        """Finish what a killed program began to make or to remove: bring back missing files, write over none."""
        (tree.admin / "index.lock").unlink(missing_ok=True)
        tree.path.mkdir(exist_ok=True)
        if not os.path.lexists(tree.path / ".git"):
            replace_atomically(tree.path / ".git", f"gitdir: {tree.admin}\n".encode())
        if not (tree.admin / "index").exists():
            await self._index(tree, "HEAD")
        await self.git(*tree.arguments, "checkout-index", "--all", "--quiet", cwd=tree.path, fine=(0, 1))
        if not tree.base:
            await self.git("update-ref", f"{BASE}{tree.path.name}", tree.head, cwd=here.common)

    async def _index(self, tree: Worktree, commit: str) -> None:
        """Let the index of a tree be that of a commit; files that a sparse checkout leaves out are not missing."""
        await self.git(*tree.arguments, "read-tree", commit, cwd=tree.path)
        if (tree.admin / "info" / "sparse-checkout").exists():
            await self.git(*tree.arguments, "sparse-checkout", "reapply", cwd=tree.path, fine=(0, 1, 128))

    async def _lock(self, tree: Worktree, reason: str) -> None:
        """Lock a tree for this reason; an empty one unlocks it."""
        here = await self.repository()
        if tree.lock:
            await self.git("worktree", "unlock", str(tree.path), cwd=here.common, fine=(0, 128))
        if reason:
            await self.git("worktree", "lock", "--reason", reason, str(tree.path), cwd=here.common)

    async def keep(self, name: str) -> None:
        """Let a tree stay whatever is in it, until it is removed by name. Raises WorktreeError."""
        async with self._alone():
            tree = await self.find(name)
            if self.held(tree):
                raise WorktreeError(f"The worktree {name} is in use; whoever uses it leaves it as it is.")
            await self._lock(tree, KEEPS)

    # ── remove ──────────────────────────────────────────────────────────────────────────────────

    async def leave(self, name: str) -> Removal | None:
        """Unlock a tree that this process used, and remove it if nothing is in it; returns why it stays, or None."""
        async with self._alone() as here:
            tree = await self.find(name)
            found = removal(await self.state(tree))
            if tree.kept or not self.uses(tree):
                return found
            if found.free:
                await self._remove(here, tree)
                return None
            await self._lock(tree, "")
            return found

    async def remove(self, name: str, confirmed: Removal) -> str:
        """Remove a tree whose contents the user has seen; returns the ref that keeps what git had of it.

        Raises WorktreeError where that is forbidden, or something has changed since it was shown.
        """
        async with self._alone() as here:
            tree = await self.find(name)
            found = removal(await self.state(tree))
            if found.forbidden:
                raise WorktreeError(f"The worktree {name} is not removed: {'; '.join(found.forbidden)}.")
            if not set(found.lines) <= set(confirmed.lines):
                raise WorktreeError(f"The worktree {name} has changed since it was shown; look at it again.")
            return await self._remove(here, tree)

    async def _remove(self, here: Repository, tree: Worktree) -> str:
        """Keep what git can keep, then let git remove a tree that is clean by that."""
        refs = await self.git("for-each-ref", "--format=%(objectname)", KEPT, cwd=here.common)
        begun = tree.head in refs.split("\n") and not tree.branch
        if begun:  # by a program that was killed
            await self._restore(here, tree)
            kept, closing = "", tree.head
        else:
            kept, closing = await self._keep_contents(here, tree)
        if tree.path.is_dir():
            await self.git("update-ref", "--no-deref", "HEAD", closing, cwd=tree.admin)
            await self._index(tree, closing)
        await self._lock(tree, "")
        try:
            await self.git("worktree", "remove", str(tree.path), cwd=here.common)
        except WorktreeError:
            if tree.branch and tree.path.is_dir():
                await self.git("symbolic-ref", "HEAD", f"refs/heads/{tree.branch}", cwd=tree.admin)
                await self._index(tree, "HEAD")
            raise
        await self._forget(here, tree)
        return kept

    async def _keep_contents(self, here: Repository, tree: Worktree) -> tuple[str, str]:
        """Write all that git would track into a commit under a ref; returns that, and the commit that the tree is
        clean against."""
        variables = {**IDENTITY, "GIT_INDEX_FILE": str(tree.admin / f"keeping-{token_hex(4)}")}
        cwd = tree.path if tree.path.is_dir() else tree.admin
        run = partial(self.git, *tree.arguments, cwd=cwd, variables=variables)
        moves = await moves_of(self.git, tree)
        reach = ("--not", tree.head, f"--glob={KEPT}*", *ELSEWHERE)
        left = await self.git("rev-list", "--ignore-missing", *moves, *reach, cwd=here.common) if moves else ""
        parents = [tree.head, *(one for one in moves if one in left.split("\n"))]
        message = f"What was in the worktree {tree.name} ({tree.branch or 'no branch'})"
        commit = ("commit-tree", "-m", message, *(part for one in parents for part in ("-p", one)))
        first = await self.git("rev-parse", f"{tree.head}^{{tree}}", cwd=here.common)
        try:
            # what is only in the index is found there alone; with conflicts in it, it is no tree
            staged = await self.git(*tree.arguments, "write-tree", cwd=tree.admin, fine=(0, 128))
            held = first
            if tree.path.is_dir():
                await run("read-tree", staged or tree.head)
                await run("add", "--all", "--sparse", ".")
                held = await run("write-tree")
            if staged not in ("", held, first):
                index = await run("commit-tree", "-m", f"{message}: its index", "-p", tree.head, staged)
                commit = (*commit, "-p", index)
            kept = closing = await run(*commit, held)
            if tree.path.is_dir():
                links = submodules_in(await run("ls-files", "-z", "--stage"))
                if links:  # git removes no tree with submodules in its index, also where none is checked out
                    await run("update-index", "--force-remove", "--", *links)
                    closing = await run("commit-tree", "-m", message, "-p", kept, await run("write-tree"))
                if (exact := await self._exact(run, tree, first, held)) != held:
                    kept = await run(*commit, exact)
        finally:
            with suppress(OSError):
                Path(variables["GIT_INDEX_FILE"]).unlink(missing_ok=True)
        await self._age(here, f"{KEPT}{tree.path.name}*", days=0)
        ref = await self._free_ref(here, tree.path.name)
        await self.git("update-ref", ref, kept, "", cwd=here.common)
        if closing != kept:
            await self.git("update-ref", f"{ref}.closing", closing, cwd=here.common)
        return ref, closing

    async def _exact(self, run: Callable[..., Awaitable[str]], tree: Worktree, first: str, held: str) -> str:
        """The tree `held` with each file that is not as in `first` byte for byte, without changed line ends and
        filters."""
        printed = (await run("diff-tree", "-r", "-z", "--no-renames", "--diff-filter=AMT", first, held)).split("\0")
        heads = [head.split(" ") for head in printed[::2] if head]
        files = [(head[1], head[3], name) for head, name in zip(heads, printed[1::2], strict=True)]
        files = [one for one in files if one[0].startswith("100")]
        blobs = await hashes(self.git, tree, [name for _, _, name in files], "-w", "--no-filters")
        both = zip(files, blobs, strict=True)
        other = [f"{mode},{blob},{name}" for (mode, was, name), blob in both if blob != was]
        if not other:
            return held
        await run("read-tree", held)
        for batch in batches(other):
            await run("update-index", *(part for entry in batch for part in ("--cacheinfo", entry)))
        return await run("write-tree")

    async def _free_ref(self, here: Repository, name: str) -> str:
        refs = await self.git("for-each-ref", "--format=%(refname)", KEPT, cwd=here.common)
        taken = set(refs.casefold().split("\n"))
        names = (f"{KEPT}{name}" if number == 1 else f"{KEPT}{name}.{number}" for number in count(1))
        return next(one for one in names if one.casefold() not in taken)

    async def _forget(self, here: Repository, tree: Worktree) -> None:
        """Remove what git knew of a tree that is gone: its base, and its branch where that has nothing of its own."""
        await self.git("update-ref", "-d", f"{BASE}{tree.path.name}", cwd=here.common)
        name = f"{BRANCH}{tree.name}"
        branch = f"refs/heads/{name}"
        tip = await self._commit(here.common, branch)
        if tip:
            others = ("--not", f"--exclude={name}", *ELSEWHERE)
            own = await self.git("rev-list", "--count", tip, *others, cwd=here.common)
            if own == "0":
                await self.git("update-ref", "-d", branch, tip, cwd=here.common, fine=(0, 1, 128))
        await self._age(here, KEPT, days=KEPT_DAYS)

    async def _age(self, here: Repository, refs: str, *, days: int) -> None:
        """Forget kept commits of this age that hold nothing which is not elsewhere as well."""
        shape = "%(refname) %(committerdate:unix) %(tree) %(parent)"
        for line in (await self.git("for-each-ref", f"--format={shape}", refs, cwd=here.common)).splitlines():
            ref, date, held, *parents = line.split(" ")
            if not parents or time.time() - int(date) < days * 86_400:
                continue
            unique = await self.git("rev-list", "--count", *parents, "--not", *ELSEWHERE, cwd=here.common)
            first = await self.git("rev-parse", f"{parents[0]}^{{tree}}", cwd=here.common)
            if unique == "0" and first == held:
                await self.git("update-ref", "-d", ref, cwd=here.common)

    async def orphans(self, most: int = MOST_TREES) -> tuple[tuple[Worktree, Removal], ...]:
        """Trees that nobody uses and the user has not kept, each with what its removal would mean: the first `most` of
        them. Those with nothing in them are removed. Raises WorktreeError."""
        if not await in_thread(self.folder.is_dir):
            return ()
        left: list[tuple[Worktree, Removal]] = []
        for listed in await self.trees():
            if listed.kept or listed.held_by():
                continue
            if len(left) == most:
                break
            async with self._alone() as here:
                tree = next((one for one in await self.trees() if one.name == listed.name), None)
                if tree is None or tree.kept or tree.held_by():  # another process was first
                    continue
                if not tree.base:
                    await self._restore(here, tree)
                found = removal(await self.state(tree))
                if found.free:
                    try:
                        await self._remove(here, tree)
                        continue
                    except WorktreeError as error:  # this one stays, and hides no other
                        found = Removal((str(error).rstrip("."),), (), ())
                left.append((tree, found))
        return tuple(left)


def _name_of(path: Path) -> str:
    return path.name.replace("+", "/")
