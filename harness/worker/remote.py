"""The checkout that a task of a fleet has of its git remote, and the branch that its workers push.

All tasks of one remote on a machine share a clone in the state folder. A push names the commit that it replaces, and
that commit has to come from a worker of the same task; otherwise the work goes to a branch of its own.
"""

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from functools import partial
from pathlib import Path

from harness.base.concurrency import in_thread
from harness.base.secrets import without_passwords
from harness.fleet.fence import Fence
from harness.fleet.tasks import FleetTasks
from harness.processes import Processes
from harness.worktrees import Worktree, WorktreeError, Worktrees
from harness.worktrees.git import IDENTITY, Git

FOLDER = "fleet"
"""In the state folder: the clones."""
NAMES = "fleet/"
"""Of worktrees of tasks; their branches are harness/fleet/TASK-START, that on the remote harness/fleet/TASK."""
REMOTE_S = 3_600.0
"""Longest time for a clone, a fetch or a push."""
PAUSES_S = (1.0, 5.0)
"""Before a push is tried again."""
COMMIT = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
ORIGIN = "refs/remotes/origin/"


class TaskTree:
    """The worktree of one start of a task. Raises WorktreeError, one sentence, from every method."""

    def __init__(self, processes: Processes, state: Path, fence: Fence, tasks: FleetTasks) -> None:
        task = fence.task
        self._git, self._fence, self._tasks = Git(processes, time_s=REMOTE_S), fence, tasks
        self._url, self._ref = task.draft.repo, task.draft.ref
        self._mirror = state / FOLDER / _slug(self._url)
        start = f"{task.id}-{task.fence}"
        self._worktrees = Worktrees(processes, self._mirror, state, f"fleet-{start}")
        self._name = f"{NAMES}{start}"
        self._own_branch = f"harness/{NAMES}{start}"
        self._tree: Worktree | None = None
        self._began = ""
        """The commit that the work began with."""
        self._pushed = ""
        """What the branch on the remote is believed to be at; empty: there is none."""
        self.branch = f"harness/{NAMES}{task.id}"
        """On the remote."""

    @property
    def path(self) -> Path:
        assert self._tree is not None, "it is open"
        return self._tree.path

    @property
    def has_branch(self) -> bool:
        """The remote has work of this task."""
        return bool(self._pushed)

    @property
    def where(self) -> str:
        """The folder of the work, or of the clone before there is one."""
        return str(self._mirror if self._tree is None else self._tree.path)

    async def open(self) -> None:
        """Fetch the remote and make the worktree, at the branch of earlier starts or at the ref of the task."""
        async with self._alone():
            await self._fetch()
            self._pushed = await self._commit(f"{ORIGIN}{self.branch}")
            self._began = self._pushed or await self._base()
            # A new worktree begins at the HEAD of the clone.
            await self._git("update-ref", "--no-deref", "HEAD", self._began, cwd=self._mirror)
            await self._remove_left()
            self._tree = await self._worktrees.enter(self._name)

    async def commit(self, message: str) -> None:
        """Commit what is not yet."""
        if await self._git("status", "--porcelain", cwd=self.path):
            await self._git("add", "--all", cwd=self.path)
            await self._git("commit", "--quiet", "-m", message, cwd=self.path, variables=IDENTITY)

    async def push(self) -> None:
        """Push what is committed and not on the remote yet. Raises FenceLost: nothing was pushed."""
        head = await self._git("rev-parse", "HEAD", cwd=self.path)
        if head == (self._pushed or self._began):
            return
        for pause in (*PAUSES_S, None):
            try:
                await self._push(head)
            except WorktreeError:
                there = await self._on_remote() if pause is not None else None
                if there is None:
                    raise
                if there == head:  # only the answer was lost
                    self._pushed = head
                    return
                if there == self._pushed:
                    await asyncio.sleep(pause or 0.0)
                elif there and there not in await self._pushes():
                    self.branch, self._pushed = self._own_branch, ""
                else:
                    self._pushed = there
            else:
                return

    async def close(self) -> str:
        """Remove the worktree; what is not on the remote stays in the clone under a ref. Returns why it stays, or an
        empty text."""
        if self._tree is None:
            return ""
        found = await self._worktrees.removal(self._name)
        if found.forbidden:
            await self._worktrees.leave(self._name)
            return "; ".join(found.forbidden)
        await self._worktrees.remove(self._name, found)
        return ""

    async def keep(self) -> None:
        """Let the worktree stay until the user removes it."""
        if self._tree is not None:
            await self._worktrees.keep(self._name)

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        """No other process fetches into the clone during the block."""
        from filelock import FileLock

        lock = FileLock(f"{self._mirror}.lock", mode=0o600, thread_local=False)
        self._mirror.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        while True:  # a wait that a cancellation ends
            with suppress(TimeoutError):
                await in_thread(partial(lock.acquire, timeout=0))
                break
            await asyncio.sleep(0.1)
        try:
            yield
        finally:
            lock.release()

    async def _fetch(self) -> None:
        await self._git("init", "--quiet", "--template=", str(self._mirror), cwd=self._mirror.parent)
        for name, value in (("url", self._url), ("fetch", f"+refs/heads/*:{ORIGIN}*")):
            await self._git("config", f"remote.origin.{name}", value, cwd=self._mirror)
        await self._git("fetch", "--quiet", "--prune", "--tags", "--force", "origin", cwd=self._mirror)

    async def _base(self) -> str:
        if not self._ref:
            await self._git("remote", "set-head", "origin", "--auto", cwd=self._mirror, fine=(0, 1, 128))
        names = (f"{ORIGIN}{self._ref}", f"refs/tags/{self._ref}") if self._ref else (f"{ORIGIN}HEAD",)
        if COMMIT.fullmatch(self._ref):
            await self._git.run("fetch", "--quiet", "origin", self._ref, cwd=self._mirror)  # no branch may hold it
            names = (self._ref,)
        for name in names:
            if commit := await self._commit(name):
                return commit
        what = f"has no branch, tag or commit {self._ref!r}" if self._ref else "has no commit on a default branch"
        raise WorktreeError(f"{without_passwords(self._url)} {what}; submit the task again with another --ref.")

    async def _commit(self, name: str) -> str:
        asked = ("rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
        return await self._git(*asked, cwd=self._mirror, fine=(0, 1, 128))

    async def _push(self, head: str) -> None:
        lease = f"--force-with-lease=refs/heads/{self.branch}:{self._pushed}"
        async with self._fence.effect(f"push {head} to {self.branch}"):
            await self._git("push", "--quiet", lease, "origin", f"{head}:refs/heads/{self.branch}", cwd=self._mirror)
        self._pushed = head

    async def _on_remote(self) -> str | None:
        """The commit of the branch; empty: it has none; None: the remote does not answer."""
        code, printed, _ = await self._git.run("ls-remote", "origin", f"refs/heads/{self.branch}", cwd=self._mirror)
        return None if code else printed.partition("\t")[0]

    async def _pushes(self) -> set[str]:
        """The commits that workers of this task have pushed or begun to."""
        effects = await self._fence.waited(partial(self._tasks.effects, self._fence.task.id))
        return {one.text.split(" ")[1] for one in effects if one.text.startswith("push ")}

    async def _remove_left(self) -> None:
        """Remove the worktrees of workers that are gone; commits of theirs stay under refs."""
        for tree, found in await self._worktrees.orphans():
            if tree.name.startswith(NAMES) and not found.forbidden:
                with suppress(WorktreeError):  # another process was first
                    await self._worktrees.remove(tree.name, found)


def _slug(url: str) -> str:
    name = re.sub(r"\W+", "-", url.rstrip("/").rpartition("/")[2].removesuffix(".git"))[:40].strip("-")
    return f"{name or 'remote'}-{hashlib.sha256(url.encode()).hexdigest()[:12]}"
