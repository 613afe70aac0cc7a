"""The work on a task of a fleet: a session of this process in a worktree of the task's remote.

What the remote's files would start or choose (hooks, MCP servers, settings) is left out unless the operator of the
worker trusts that remote by name.
"""

import asyncio
import logging
import os
import tempfile
from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import aclosing, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

from harness.base.concurrency import in_thread, race
from harness.base.external_text import counted
from harness.events import Event, ToolEnded, TransitionCode, TurnEnded
from harness.fleet.fence import Fence
from harness.fleet.tasks import FenceLost, FleetTasks
from harness.journal import state_folder
from harness.policies.fleet.task import FleetState, TaskOutcome
from harness.processes import Processes
from harness.session import Session, open_session
from harness.settings import LoadedSettings, Settings, load
from harness.ui.plain.headless import most_arrivals
from harness.ui.plain.unattended import BackgroundWait, Unattended
from harness.worker.remote import TaskTree
from harness.worktrees import WorktreeError

SUBJECT = 72
"""Characters of the first line of a commit."""
PLACE = (
    "You work without a user, in a git worktree of {url}. What you commit is pushed to its branch {branch}; what you "
    "leave uncommitted is committed for you at the end. Do not push yourself."
)
GOES_ON = "That branch already holds commits of earlier workers of this task; go on from there."


class SessionWork:
    """Carries tasks out."""

    def __init__(
        self,
        tasks: FleetTasks,
        settings: Settings,
        given: Mapping[str, object],
        *,
        trusted: Collection[str] = (),
        log: logging.Logger,
    ) -> None:
        """
        Args:
            settings: of the worker.
            given: flags of the worker, for the settings of each session.
            trusted: addresses of remotes whose hooks, MCP servers and settings may be used.
        """
        self._tasks, self._given, self._trusted, self._log = tasks, given, frozenset(trusted), log
        self._state = state_folder(settings.state_dir).resolve()

    async def __call__(self, fence: Fence, leaving: asyncio.Event) -> TaskOutcome | None:
        """As `worker.CarryOut` says."""
        if not fence.task.draft.repo:
            return await self._in_folder(fence, leaving)
        processes = Processes()
        tree = TaskTree(processes, self._state, fence, self._tasks)
        try:
            outcome = await self._in_tree(tree, fence, leaving)
        except WorktreeError as error:
            with suppress(WorktreeError):
                await tree.keep()
            return TaskOutcome(FleetState.FAILED, f"{error} The work stays on {fence.task.machine}: {tree.where}.")
        except FenceLost:
            await tree.close()
            raise
        else:
            if why := await tree.close():
                await fence.record("worktree stays", f"{why}: {tree.where}")
            return outcome
        finally:
            await processes.aclose()

    async def _in_folder(self, fence: Fence, leaving: asyncio.Event) -> TaskOutcome | None:
        folder = Path(tempfile.mkdtemp(prefix=f"harness-{fence.task.id}-{fence.task.fence}-"))
        try:
            return await self._session(fence, leaving, folder, "You work without a user, in an empty folder.", None)
        finally:
            with suppress(OSError):  # what the work has left there stays
                folder.rmdir()

    async def _in_tree(self, tree: TaskTree, fence: Fence, leaving: asyncio.Event) -> TaskOutcome | None:
        await tree.open()
        draft = fence.task.draft
        place = PLACE.format(url=draft.repo, branch=tree.branch) + (f" {GOES_ON}" if tree.has_branch else "")
        outcome = await self._session(fence, leaving, tree.path, place, tree)
        subject = " ".join(draft.prompt.split())[:SUBJECT]
        await tree.commit(subject if outcome is not None else f"Unfinished: {subject}"[:SUBJECT])
        await tree.push()
        return None if outcome is None else replace(outcome, branch=tree.branch if tree.has_branch else "")

    async def _session(
        self, fence: Fence, leaving: asyncio.Event, workspace: Path, place: str, tree: TaskTree | None
    ) -> TaskOutcome | None:
        """Answer the prompt of the task. Raises FenceLost."""
        draft, earlier = fence.task.draft, await fence.earlier()
        prompt = "\n\n".join(filter(None, (draft.prompt, place, earlier)))
        loaded = await in_thread(partial(self._loaded, fence, workspace))
        opened = open_session(loaded, Unattended(), hooks=fence.hooks(), log=self._log)
        async with await opened as session:
            await fence.record("session", f"{session.id} on {fence.task.machine}")
            wait = BackgroundWait(session, session.settings.background_wait_s, lambda _: None)
            stopping = asyncio.create_task(_stopped(session, wait, fence, leaving))
            try:
                ends = await _answered(session, session.run(prompt), wait, tree)
            finally:
                stopping.cancel()
            spend = session.conversation.spend
        if fence.lost.is_set():
            raise FenceLost(fence.reason)
        if leaving.is_set() and ends[-1].code is not TransitionCode.COMPLETED:
            return None
        cost = None if spend.unpriced else spend.cost_usd
        return replace(_outcome(ends), cost_usd=cost, tokens=spend.usage.prompt + spend.usage.output)

    def _loaded(self, fence: Fence, workspace: Path) -> LoadedSettings:
        """The settings of a session. Raises SettingsError."""
        draft = fence.task.draft
        own: dict[str, object] = {
            "workspace": str(workspace),
            "state_dir": str(self._state),
            "trust_folder": draft.repo in self._trusted,
            "model": draft.model or None,
            "permission_mode": draft.permission_mode or None,
            "max_budget_usd": draft.budget_usd,
        }
        given = {**self._given, **{name: value for name, value in own.items() if value is not None}}
        return load(given, os.environ, workspace).require_answer()


async def _stopped(session: Session, wait: BackgroundWait, fence: Fence, leaving: asyncio.Event) -> None:
    """End the turn when the task is no longer this worker's, or the worker ends."""
    await race(fence.lost.wait(), leaving.wait())
    session.interrupt()
    wait.stop()


async def _answered(
    session: Session, begun: AsyncGenerator[Event, None], wait: BackgroundWait, tree: TaskTree | None
) -> list[TurnEnded]:
    """The ends of the turn and of those that results of background work begin."""
    ends = [await _played(begun, tree)]
    while ends[-1].code is TransitionCode.COMPLETED and len(ends) <= most_arrivals(session) and not wait.given_up:
        if not await wait.come():
            break
        ends.append(await _played(session.deliver(), tree))
    return ends


async def _played(turn: AsyncGenerator[Event, None], tree: TaskTree | None) -> TurnEnded:
    """Take a turn; commits are pushed after the command that made them, so that they outlive this machine."""
    ended: TurnEnded | None = None
    async with aclosing(turn) as events:
        async for event in events:
            match event:
                case ToolEnded(tool="bash") if tree is not None:
                    with suppress(WorktreeError, FenceLost):  # the push at the end says what is wrong
                        await tree.push()
                case TurnEnded():
                    ended = event
    if ended is None:
        raise RuntimeError("the turn ended without its last event")
    return ended


def _outcome(ends: list[TurnEnded]) -> TaskOutcome:
    answers = "\n\n".join(end.answer for end in ends if end.answer)
    last = ends[-1]
    if last.code is not TransitionCode.COMPLETED:
        return TaskOutcome(FleetState.FAILED, "\n\n".join(filter(None, (f"{last.reason} ({last.code})", answers))))
    denied = sum(len(end.denials) for end in ends)
    note = f"({counted(denied, 'tool call')} not allowed, so the answer may lack something)" if denied else ""
    return TaskOutcome(FleetState.DONE, "\n\n".join(filter(None, (answers, note))))
