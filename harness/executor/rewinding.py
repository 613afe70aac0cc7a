"""Takes the files back to what they held when an earlier turn began: `/rewind` with files (resilience B24)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from harness.checkpoints import Change, ChangeKind, CheckpointError, Checkpoints
from harness.conversation import Conversation
from harness.errors import HarnessError
from harness.events import Event, PermissionAnswered, PermissionAsked, RolledBack
from harness.executor.asker import Asker
from harness.executor.kept_files import KeptFiles
from harness.executor.waiting import Signals, unless
from harness.permissions import PermissionRequest
from harness.tools.tool import Effect

MOST_LINES = 20
"""Paths, and then commands, that are named before a person is asked; of more the number is told."""


@dataclass(frozen=True, slots=True)
class FilesBack:
    """What it would mean to take the files back."""

    id: str
    """Of the checkpoint."""
    when: str
    """What the files would hold again, as in "before turn 2"."""
    why: Literal["rewind", "undo"]
    turn: int
    step: int
    """The last step before it."""
    changes: tuple[Change, ...]
    """What differs now, the person's own changes included."""
    stays: tuple[str, ...]
    """What was done since and cannot be undone, such as commands that ran, in one line each."""

    @property
    def summary(self) -> str:
        """How many files would be written back or removed, in one line."""
        removed = sum(change.kind is ChangeKind.ADDED for change in self.changes)
        parts = [("write back", len(self.changes) - removed), ("remove", removed)]
        said = [f"{what} {count:,} file{'s' * (count != 1)}" for what, count in parts if count]
        return f"{' and '.join(said) or 'no file differs'}, as {'they were' if said else 'it was'} {self.when}"

    @property
    def lines(self) -> tuple[str, ...]:
        """The first paths, and what stays."""
        verbs = {ChangeKind.ADDED: "remove", ChangeKind.CHANGED: "write back", ChangeKind.REMOVED: "bring back"}
        paths = [f"{verbs[change.kind]:<10}  {change.path}" for change in self.changes]
        return (*_first(paths), *_first([f"not undone  {one}" for one in self.stays]))


class Rewinding:
    """Shows what a rewind of the files would do, asks, and does it. The state before it is kept."""

    def __init__(
        self,
        conversation: Conversation,
        kept: KeptFiles,
        checkpoints: Checkpoints | None,
        asker: Asker,
        signals: Signals,
    ) -> None:
        """`checkpoints` keeps what the files hold; None: files are never taken back."""
        self._conversation = conversation
        self._kept = kept
        self._checkpoints = checkpoints
        self._asker = asker
        self._signals = signals

    def recall(self, events: Iterable[Event]) -> None:
        """Fold what an earlier run of this session kept."""
        for event in events:
            self._kept.see(event)

    async def files_since(self, turn: int) -> FilesBack | None:
        """What it would mean to take the files back to the beginning of that turn. None: nothing was kept since then.

        Raises HarnessError for a turn that never was, and CheckpointError for what was kept and is not here.
        """
        step = self._kept.began(turn)
        if step is None:
            raise HarnessError(f"There was no turn {turn} in this session.")
        kept = self._kept.since(turn)
        if self._checkpoints is None or kept is None:
            return None
        return await self._compared(kept.id, f"before turn {turn}", "rewind", turn, step)

    async def files_before_restore(self) -> FilesBack | None:
        """What it would mean to undo the last restore. None: there was none."""
        if self._checkpoints is None or not self._kept.undo:
            return None
        turn, step = self._conversation.turn, self._conversation.step
        return await self._compared(self._kept.undo, "before they were taken back", "undo", turn, step)

    async def agreed(self, back: FilesBack) -> bool:
        """Show the person what would be done, and ask."""
        request = PermissionRequest(
            *(f"rewind-{back.id}", "rewind", Effect.WRITE, back.summary), detail="\n".join(back.lines), input={}
        )
        asked = PermissionAsked(request.call_id, request.tool, request.summary, "files are taken back")
        self._conversation.emit(asked)
        answer = await unless(self._signals.interrupt, self._asker.permission(asked, request))
        if answer is None:
            return False
        self._conversation.emit(PermissionAnswered(request.call_id, request.tool, answer.choice, answer.by, answer.why))
        return answer.choice != "no"

    async def restore(self, back: FilesBack) -> RolledBack:
        """Do it, without asking. Returns the event that is still to be emitted: a view that forgets what comes after
        a prompt would forget it, too, if it came before the history is cut.

        Raises CheckpointError, and then nothing has been changed.
        """
        done = await self._checkpoints_here().restore(back.id)
        restored = (*done.written, *done.removed)
        left = (*done.not_undone, *self._kept.left(back.step, restored))
        return RolledBack(back.turn, back.step, restored, left, back.why, done.undo)

    async def _compared(self, id: str, when: str, why: Literal["rewind", "undo"], turn: int, step: int) -> FilesBack:
        checkpoints = self._checkpoints_here()
        if not checkpoints.holds(id):
            raise CheckpointError(self._elsewhere(when))
        changes = await checkpoints.changes_since(id)
        paths = tuple(change.path for change in changes)
        return FilesBack(id, when, why, turn, step, changes, self._kept.left(step, paths))

    def _checkpoints_here(self) -> Checkpoints:
        if self._checkpoints is None:
            raise CheckpointError("No files are kept in this session.")
        return self._checkpoints

    def _elsewhere(self, when: str) -> str:
        what = f"What the files held {when}"
        if original := self._kept.copied_from:
            return f"{what} is kept by the session {original}, which this one was copied from; go on there instead."
        return f"{what} is no longer kept: its checkpoint is gone from the folder of this session."


def _first(lines: list[str]) -> list[str]:
    more = len(lines) - MOST_LINES
    return [*lines[:MOST_LINES], f"and {more:,} more"] if more > 0 else lines
