"""Carries out the merge queue: merges finished branches on a trial branch, in a tree of its own, and runs the check.

The state is a file that is replaced after each decision, so a program that was killed continues with what was accepted
before. The user's branch gets the result by a fast-forward, or not at all: then the trial branch keeps it for the
user's yes. Nothing is merged in the user's tree, and no conflict is resolved.
"""

import json
import shlex
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base.files import replace_atomically
from harness.events import Event, MergeDecided, Notice
from harness.policies.worktrees.merge_queue import (
    Check,
    Finish,
    GivenBack,
    Merge,
    QueueState,
    Restart,
    checked,
    merged,
    next_step,
)
from harness.worktrees.git import WorktreeError
from harness.worktrees.look import BRANCH, TRIAL, Worktree
from harness.worktrees.worktrees import Repository, Worktrees

MOST_CHARACTERS = 4_000
"""Of a conflict, or of the output of a check, that is shown and given back: the end of it."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """What the project's check says of a tree."""

    green: bool
    output: str


NO_HISTORY = "it has no commit in common with what it is merged into"

RunCheck = Callable[[Path], Awaitable[CheckResult]]
"""Runs the check in a tree."""


@dataclass(frozen=True, slots=True)
class QueueResult:
    """The end of a queue."""

    accepted: tuple[str, ...]
    given_back: tuple[GivenBack, ...]
    landed: str = ""
    """The branch of the user that has the result; empty: none has."""
    ready: str = ""
    """What the user can do to get it; empty: there is nothing to get."""
    why: str = ""
    """Why the user has to do that."""
    moved: bool = False
    """The reason is that the branch of the user has moved during the run, so that another run may land."""


class MergeQueue:
    """Merges finished branches of one repository."""

    def __init__(self, worktrees: Worktrees, check: RunCheck | None, emit: Callable[[Event], None]) -> None:
        """
        Args:
            check: runs the project's check; None: there is none, and what merges is accepted.
            emit: receives each decision.
        """
        self._worktrees = worktrees
        self._git = worktrees.git
        self._check = check
        self._emit = emit
        self._commits: dict[tuple[str, ...], str] = {}
        """The commit of the trial for the branches merged so far."""

    @property
    def _file(self) -> Path:
        return self._worktrees.folder / f"{TRIAL}.json"

    async def finished(self) -> tuple[str, ...]:
        """Branches of trees in which no other session works and nothing is uncommitted, and that have commits of their
        own."""
        branches = []
        for tree in await self._worktrees.trees():
            if tree.name != TRIAL and tree.branch and not self._worktrees.held(tree):
                found = await self._worktrees.state(tree)
                if found.commits and not (found.changed or found.untracked or found.unfinished):
                    branches.append(tree.branch)
        return tuple(branches)

    async def run(self, names: Sequence[str] = ()) -> QueueResult:
        """Merge the branches of these worktrees, in this order; none: all that are finished. Raises WorktreeError."""
        here = await self._worktrees.repository()
        target = await self._git("symbolic-ref", "--quiet", "--short", "HEAD", cwd=here.top, fine=(0, 1))
        branches = await self._git("for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads", cwd=here.common)
        state = self._continued(branches.split("\n"))
        wanted = [await self._branch_of(name) for name in names] or list(await self.finished())
        known = (*state.waiting, *(one.branch for one in state.given_back))
        state = QueueState((*state.waiting, *(one for one in wanted if one not in known)), (), state.given_back)
        if not state.waiting:
            why = "a worktree is finished when it has commits of its own and all is committed"
            raise WorktreeError(f"There is nothing to merge: {why}.")
        base = await self._git("rev-parse", "HEAD", cwd=here.top)
        self._give_back(QueueState(()), state)  # by a run that did not end
        if self._check is None:
            self._emit(Notice("info", "check_command is not set, so nothing is tested."))
        trial = await self._worktrees.enter(TRIAL, queue=True)
        try:
            await self._to(trial, base)
            self._commits = {(): base}
            done = await self._played(trial, state)
            result = await self._landed(here, trial, target, base, done)
        finally:
            await self._away()
        self._file.unlink(missing_ok=True)
        return result

    async def _branch_of(self, name: str) -> str:
        tree = await self._worktrees.find(name)
        found = await self._worktrees.state(tree)
        if found.changed or found.untracked or found.unfinished:
            raise WorktreeError(f"The worktree {name} has open changes; commit them first: only commits are merged.")
        if not tree.branch:
            raise WorktreeError(f"The worktree {name} is on no branch; `git switch -c NAME` in it makes one.")
        return tree.branch

    async def _played(self, trial: Worktree, state: QueueState) -> QueueState:
        while True:
            self._keep(state)
            match next_step(state):
                case Merge(branch):
                    state = merged(state, branch, await self._merge(trial, state, branch))
                case Check(count):
                    state = await self._checked(trial, state, count)
                case Restart(again):
                    self._give_back(state, again)
                    state = again
                    await self._to(trial, self._commits[state.accepted])
                case Finish(done):
                    self._give_back(state, done)
                    self._keep(done)
                    await self._to(trial, self._commits[done.accepted])
                    return done

    async def _merge(self, trial: Worktree, state: QueueState, branch: str) -> str | None:
        """Merge a branch on top of what was tried; returns the conflict, or None."""
        before = (*state.accepted, *state.tried)
        if not await self._git("merge-base", "HEAD", branch, cwd=trial.path, fine=(0, 1)):
            self._emit(MergeDecided(branch, "conflict", NO_HISTORY))
            return NO_HISTORY
        words = ("--no-ff", "--no-edit", "-m", f"Merge {branch}", branch)
        code, printed, complaint = await self._git.run("merge", *words, cwd=trial.path)
        conflict = None
        if code:
            files = await self._git("diff", "--name-only", "--diff-filter=U", cwd=trial.path)
            if not files:
                raise WorktreeError(f"git merge {branch} failed: {' '.join((complaint or printed).split())[:500]}")
            shown = await self._git("diff", "--no-color", "--no-ext-diff", "--no-textconv", cwd=trial.path)
            conflict = f"in {', '.join(files.split(chr(10)))}\n{shown[:MOST_CHARACTERS]}"
            await self._git("merge", "--abort", cwd=trial.path)
        else:
            self._commits[*before, branch] = await self._git("rev-parse", "HEAD", cwd=trial.path)
        short = "" if conflict is None else conflict.partition("\n")[0]
        self._emit(MergeDecided(branch, "merged" if conflict is None else "conflict", short))
        return conflict

    async def _checked(self, trial: Worktree, state: QueueState, count: int) -> QueueState:
        tried = (*state.accepted, *state.tried[:count])
        if self._check is None:
            return checked(state, count, green=True)
        await self._to(trial, self._commits[tried])
        found = await self._check(trial.path)
        output = found.output[-MOST_CHARACTERS:]
        what = f"{count} of {len(state.tried)}" if len(state.tried) > 1 else state.tried[0]
        self._emit(MergeDecided("", "green" if found.green else "red", what))
        return checked(state, count, green=found.green, output=output)

    def _give_back(self, before: QueueState, after: QueueState) -> None:
        for one in after.given_back[len(before.given_back) :]:
            self._emit(MergeDecided(one.branch, "given back", f"{one.why}\n{one.detail}"))

    async def _to(self, trial: Worktree, commit: str) -> None:
        """Let the trial tree, in which only this queue works, be at a commit, without files that a check has written;
        ignored ones stay, as a check may be quicker with them."""
        await self._git("reset", "--quiet", "--hard", commit, cwd=trial.path)
        await self._git("clean", "--quiet", "--force", "-d", cwd=trial.path)

    async def _landed(self, here: Repository, trial: Worktree, target: str, base: str, done: QueueState) -> QueueResult:
        """Bring the result to the user's branch where that is a fast-forward."""
        if not done.accepted:
            return QueueResult((), done.given_back)
        commit = self._commits[done.accepted]
        code, said = 1, "HEAD is detached there"
        now = await self._git("symbolic-ref", "--quiet", "--short", "HEAD", cwd=here.top, fine=(0, 1))
        if now != target:
            said = f"{now or 'no branch'} is checked out now"
        elif target:
            code, printed, complaint = await self._git.run("merge", "--ff-only", "--quiet", commit, cwd=here.top)
            said = " ".join((complaint or printed).split())[:300]
        if code == 0:
            self._emit(MergeDecided("", "landed", f"{target} is at {commit[:10]}"))
            return QueueResult(done.accepted, done.given_back, landed=target)
        moved = now == target and await self._git("rev-parse", "HEAD", cwd=here.top) != base
        why = f"{target} has moved meanwhile" if moved else said
        ready = shlex.join(("git", "-C", str(here.top), "merge", f"{BRANCH}{TRIAL}"))
        self._emit(MergeDecided("", "ready", f"{why}; to take it: {ready}"))
        return QueueResult(done.accepted, done.given_back, ready=ready, why=why, moved=moved)

    async def _away(self) -> None:
        """Remove the trial tree: it holds commits, which its branch keeps, and what the check has written."""
        found = await self._worktrees.removal(TRIAL)
        if not found.forbidden:
            await self._worktrees.remove(TRIAL, found)

    # ── the file ────────────────────────────────────────────────────────────────────────────────

    def _keep(self, state: QueueState) -> None:
        given_back = [[one.branch, one.why, one.detail] for one in state.given_back]
        data = {"waiting": [*state.accepted, *state.waiting], "given_back": given_back}
        replace_atomically(self._file, json.dumps(data).encode(), private=True)

    def _continued(self, branches: Sequence[str]) -> QueueState:
        """What a killed program has left of these branches: accepted ones are merged first again, with one check."""
        try:
            data = json.loads(self._file.read_bytes())
            waiting = tuple(one for one in data["waiting"] if one in branches)
            return QueueState(waiting, (), tuple(GivenBack(*one) for one in data["given_back"]))
        except (OSError, ValueError, KeyError, TypeError):
            return QueueState(())
