"""The worktrees of members: entered, looked at, merged, left."""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.engine.core import AgentCore
from harness.engine.team.member import Member
from harness.engine.worktrees import check_runner, worktrees_for
from harness.events import Address, Notice, WorktreeLeft
from harness.worktrees import WorktreeError, Worktrees
from harness.worktrees.git import Git, TreeInUseError
from harness.worktrees.look import BRANCH
from harness.worktrees.merge_queue import MergeQueue

OTHER_QUEUE_S = 2.0
"""Seconds between looks at whether the merge queue of another session has ended."""
MOST_RUNS = 5
"""Of the queue, where the branch of the user moves during each."""


@dataclass(frozen=True, slots=True)
class Merged:
    """What became of a finished branch; it is merged if both are empty."""

    red: str = ""
    """What its member has to mend: a conflict, the output of the check, or the state of its worktree."""
    problem: str = ""
    """Why it cannot be merged, which the member cannot mend."""


class MemberTrees:
    """Those of one session."""

    def __init__(self, core: AgentCore) -> None:
        self._core = core

    def _worktrees(self) -> Worktrees:
        return worktrees_for(self._core.settings, self._core.shared.processes, self._core.session)

    def name_for(self, address: Address) -> str:
        """The name of a worktree that no other member of any session has."""
        life = "" if address.generation == 1 else f"-{address.generation}"
        return f"{address.name[:40]}{life}-{self._core.session[-6:]}"

    async def entered(self, worktree: str) -> Path | None:
        """The workspace in a worktree, which is made again if it was left unchanged; no name: None. Raises
        WorktreeError."""
        if not worktree:
            return None
        worktrees = self._worktrees()
        return worktrees.workspace_in(await worktrees.enter(worktree, copies=self._core.settings.worktree_files))

    async def enter_again(self, member: Member, worktree: str) -> None:
        """Enter the worktree that a member had in an earlier run; where that fails, say so."""
        try:
            member.workspace = await self.entered(worktree)
        except WorktreeError as error:
            self._warn(f"{member.name} cannot work in its worktree: {error}")

    async def leave(self, member: Member, worktree: str) -> None:
        """Leave the worktree of a member that has ended; it stays if anything is in it. No name: nothing to leave."""
        if not worktree:
            return
        try:
            found = await self._worktrees().leave(worktree)
        except WorktreeError as error:
            self._warn(f"The worktree {worktree} was not left: {error}")
            return
        why = () if found is None else (*found.kept, *found.lost, *found.forbidden)
        self._core.conversation.emit(WorktreeLeft(worktree, str(member.workspace), found is None, why))

    async def caught_up(self, worktree: str) -> str:
        """Bring a worktree to the commit of the user's tree where that is a fast-forward; returns the commit that it is
        at. Raises WorktreeError."""
        worktrees = self._worktrees()
        tree, here = await worktrees.find(worktree), await worktrees.repository()
        git: Git = worktrees.git
        target = await git("rev-parse", "HEAD", cwd=here.top)
        if not (await worktrees.state(tree)).changed:
            await git.run("merge", "--ff-only", "--quiet", target, cwd=tree.path)
        return await git("rev-parse", "HEAD", cwd=tree.path)

    async def since(self, worktree: str, commit: str) -> tuple[int, int]:
        """Commits of a worktree since this one that the user's branch does not have, and its files that are not
        committed. Raises WorktreeError."""
        worktrees = self._worktrees()
        tree, here = await worktrees.find(worktree), await worktrees.repository()
        state = await worktrees.state(tree)
        merged = await worktrees.git("rev-parse", "HEAD", cwd=here.top)
        commits = await worktrees.git("rev-list", "--count", tree.head, "--not", commit, merged, cwd=tree.path)
        return int(commits), len(state.changed) + len(state.untracked)

    async def merged(self, names: Sequence[str]) -> dict[str, Merged]:
        """Merge the branches of these worktrees, behind the project's check, and say what became of each. One that
        cannot be merged keeps no other from it."""
        found = {name: Merged(red=red) for name in names if (red := await self._unmergeable(name))}
        if rest := [name for name in names if name not in found]:
            try:
                found |= await self._queued(rest)
            except WorktreeError as error:
                if len(rest) == 1:
                    return found | {rest[0]: Merged(problem=f"its branch could not be merged: {error}")}
                for name in rest:
                    found |= await self.merged([name])
        return found

    async def _unmergeable(self, name: str) -> str:
        """What its member has to mend before the branch of a worktree can be merged; empty: nothing."""
        worktrees = self._worktrees()
        try:
            tree = await worktrees.find(name)
            state = await worktrees.state(tree)
        except WorktreeError:
            return ""  # the queue says what is wrong with it
        if tree.branch != f"{BRANCH}{name}":
            there = f"the branch {tree.branch}" if tree.branch else "no branch"
            return f"The worktree is on {there}; bring your commits to {BRANCH}{name} and switch to it."
        if state.changed or state.untracked or state.unfinished:
            return "The worktree has changes that are not committed, or an operation of git that is not finished."
        return ""

    async def _queued(self, names: Sequence[str]) -> dict[str, Merged]:
        core, worktrees = self._core, self._worktrees()
        check = check_runner(core.settings, core.shared.rules, core.shared.processes)
        queue, runs, waits = MergeQueue(worktrees, check, core.conversation.emit), 0, False
        while True:
            try:
                result, runs = await queue.run(names), runs + 1
            except TreeInUseError as error:  # the queue of another session, which ends
                if not waits:
                    core.conversation.emit(Notice("info", f"A merge waits. {error}"))
                waits = True
                await core.clock.sleep(OTHER_QUEUE_S)
                continue
            if not result.moved or runs == MOST_RUNS:
                break
        red = {one.branch: one.detail for one in result.given_back}
        top, found = (await worktrees.repository()).top, {}
        for name in names:
            branch = f"{BRANCH}{name}"
            take = shlex.join(("git", "-C", str(top), "merge", branch))
            why = f"its branch is ready and was not merged: {result.why}; to take it: {take}"
            landed = result.landed and branch in result.accepted
            found[name] = Merged(red.get(branch, ""), "" if landed or branch in red else why)
        return found

    def _warn(self, text: str) -> None:
        self._core.conversation.emit(Notice("warning", text))
