"""The worktrees of members: entered, looked at, merged, left."""

from collections.abc import Sequence
from pathlib import Path

from harness.engine.core import AgentCore
from harness.engine.team.member import Member
from harness.engine.worktrees import check_runner, worktrees_for
from harness.events import Address, Notice, WorktreeLeft
from harness.worktrees import WorktreeError, Worktrees
from harness.worktrees.git import Git
from harness.worktrees.merge_queue import MergeQueue, QueueResult


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

    async def merged(self, names: Sequence[str]) -> QueueResult:
        """Merge the branches of these worktrees, behind the project's check. Raises WorktreeError."""
        core = self._core
        check = check_runner(core.settings, core.shared.rules, core.shared.processes)
        return await MergeQueue(self._worktrees(), check, core.conversation.emit).run(names)

    def _warn(self, text: str) -> None:
        self._core.conversation.emit(Notice("warning", text))
