"""Goes back to where an earlier turn began: with the history, the files, or both: `/rewind`."""

from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Literal

from harness.base.concurrency import unless
from harness.base.errors import HarnessError
from harness.base.external_text import counted
from harness.checkpoints import ChangeKind, CheckpointError, Checkpoints, FileChange
from harness.engine.core import AgentCore
from harness.engine.permissions.asker import ask_permission
from harness.engine.rewind.rollback import CheckpointFold
from harness.events import Event, Notice, RolledBack
from harness.journal import RewindPoint
from harness.permissions import PermissionRequest
from harness.tools.tool import Effect

MOST_LINES = 20
"""Paths, and then commands, that a question names; of more it gives the number."""
_NOTHING_KEPT = "No files were kept since turn {turn} began, so that only the conversation can be taken back."


@dataclass(frozen=True, slots=True)
class RewindPlan:
    """What it would mean to take the files back."""

    id: str
    """Of the checkpoint."""
    when: str
    """What the files would hold again, as in "before turn 2"."""
    why: Literal["rewind", "undo"]
    turn: int
    step: int
    """The last step before it."""
    changes: tuple[FileChange, ...]
    """What would be undone."""
    yours: frozenset[str]
    """The paths among them that changed again after the turn: by the user, or another program."""
    left: tuple[str, ...]
    """The paths that only changed after or between turns; they stay as they are."""
    stays: tuple[str, ...]
    """Effects since then that cannot be undone, such as commands, in one line each."""

    @property
    def summary(self) -> str:
        """How many files would be written back or removed, in one line."""
        removed = sum(change.kind is ChangeKind.ADDED for change in self.changes)
        parts = [("write back", len(self.changes) - removed), ("remove", removed)]
        said = [f"{what} {counted(count, 'file')}" for what, count in parts if count]
        yours = f"; {len(self.yours):,} of them changed after the turn" if self.yours else ""
        return f"{' and '.join(said) or 'no file differs'}, as {'they were' if said else 'it was'} {self.when}{yours}"

    @property
    def lines(self) -> tuple[str, ...]:
        """The first paths, and what stays."""
        verbs = {ChangeKind.ADDED: "remove", ChangeKind.CHANGED: "write back", ChangeKind.REMOVED: "bring back"}
        again = "  (changed after the turn; /rewind undo brings that back)"
        ordered = sorted(self.changes, key=lambda change: change.path not in self.yours)
        paths = [f"{verbs[change.kind]:<10}  {change.path}{again * (change.path in self.yours)}" for change in ordered]
        left = [f"left alone  {path}  (changed after the turn only)" for path in self.left]
        return (*_first(paths), *_first(left), *_first([f"not undone  {one}" for one in self.stays]))


class Rewinder:
    """Cuts the history, and shows what a rewind of the files would do, asks, and does it; their state before it is
    kept. Nothing is taken back while a turn runs."""

    def __init__(
        self,
        core: AgentCore,
        kept: CheckpointFold,
        checkpoints: Checkpoints | None,
        forget_sizes: Callable[[], None],
    ) -> None:
        """
        Args:
            kept: which states of the files were kept.
            checkpoints: keeps what the files hold; None: files are never taken back.
            forget_sizes: called after a cut, because measured sizes are obsolete then.
        """
        self._conversation = core.conversation
        self._turns = core.turns
        self._kept = kept
        self._checkpoints = checkpoints
        self._asker = core.asker
        self._signals = core.signals
        self._forget_sizes = forget_sizes

    def to_turn(self, turn: int) -> str:
        """Cut the history before the prompt of that turn, and return the prompt. Files stay as they are.

        Raises HarnessError while a turn runs, and for a turn whose prompt is no longer in the history.
        """
        self._require_rest()
        return self._cut(turn)

    def keeps_files(self, turn: int) -> bool:
        """Whether states of the files were kept since that turn began."""
        return self._checkpoints is not None and self._kept.since(turn) is not None

    def left_since(self, turn: int) -> tuple[str, ...]:
        """What tools did since that turn began, where no file is taken back; one line each."""
        return self._kept.left(self._kept.began(turn) or 0)

    async def files_since(self, turn: int) -> RewindPlan | None:
        """What it would mean to take the files back to the beginning of that turn. None: nothing was kept since then.

        Raises HarnessError for an unknown turn, and CheckpointError when the checkpoint is missing.
        """
        step = self._kept.began(turn)
        if step is None:
            raise HarnessError(f"There was no turn {turn} in this session.")
        kept = self._kept.since(turn)
        if kept is None or not self.keeps_files(turn):
            return None
        return await self._compared(kept.id, f"before turn {turn}", "rewind", turn, step)

    async def restore_files(self, turn: int, *, conversation: bool = False) -> RolledBack:
        """Take the files back to what they held when that turn began, without asking; `conversation`: the history, too.

        Raises HarnessError, and then nothing has been changed.
        """
        self._require_rest()
        async with self._turns.alone():
            if conversation:
                self._point(turn)
            back = await self.files_since(turn)
            if back is None:
                raise HarnessError(_NOTHING_KEPT.format(turn=turn))
            restored = await self._restore(back)
            if conversation:
                self._cut(turn)
            self._conversation.emit(restored)
            return restored

    def with_files(self, turn: int) -> AsyncGenerator[Event, None]:
        """Show what would become of the files, ask, and take back the files and then the history.

        Raises HarnessError, and then nothing has been changed.
        """
        return self._turns.events(partial(self._rewind_all, turn))

    def undo(self) -> AsyncGenerator[Event, None]:
        """Show what would become of the files, ask, and undo the last time that they were taken back.

        Raises HarnessError, and then nothing has been changed.
        """
        return self._turns.events(self._undo_rewind)

    def _require_rest(self) -> None:
        if not self._turns.at_rest:
            raise HarnessError("A turn is running; interrupt it before you rewind.")

    def _point(self, turn: int) -> RewindPoint:
        point = next((point for point in self._conversation.rewind_points if point.turn == turn), None)
        if point is None:
            raise HarnessError(f"There is no way back to turn {turn}; its prompt is not in the history.")
        return point

    def _cut(self, turn: int) -> str:
        point = self._point(turn)
        history = self._conversation.messages if point.history is None else point.history
        self._conversation.replace(history[: point.index], "rewind", turn)
        self._forget_sizes()
        return point.prompt

    async def _rewind_all(self, turn: int) -> None:
        self._point(turn)
        compare = partial(self.files_since, turn)
        if (restored := await self._restored(compare, _NOTHING_KEPT.format(turn=turn))) is not None:
            notice = f"The model no longer knows turn {turn} and later. The prompt was: {self._cut(turn)}"
            self._conversation.emit(restored)
            self._conversation.emit(Notice("info", notice))

    async def _undo_rewind(self) -> None:
        nothing = "No files were taken back in this session."
        if (restored := await self._restored(self._before_restore, nothing)) is not None:
            self._conversation.emit(restored)

    async def _restored(self, compare: Callable[[], Awaitable[RewindPlan | None]], otherwise: str) -> RolledBack | None:
        """Restore after consent; changes since the question are shown again."""
        self._signals.reset()
        shown: RewindPlan | None = None
        stop = self._signals.interrupt
        while (back := await unless(stop, compare())) is not None and back.changes and back != shown:
            if not await self._agreed(back):
                break
            shown = back
        if stop.is_set() or (back is not None and back.changes and back != shown):
            self._conversation.emit(Notice("info", "Nothing was taken back."))
            return None
        if back is None:
            raise HarnessError(otherwise)
        return await self._restore(back)

    async def _before_restore(self) -> RewindPlan | None:
        """What it would mean to undo the last restore. None: there was none."""
        if self._checkpoints is None or not self._kept.undo:
            return None
        turn, step = self._conversation.turn, self._conversation.step
        return await self._compared(self._kept.undo, "before the rewind", "undo", turn, step)

    async def _agreed(self, back: RewindPlan) -> bool:
        """Show the changes and ask the user; where none is present, the command was the answer."""
        if not self._asker.present:
            if back.yours:
                names = ", ".join(_first(sorted(back.yours)))
                self._conversation.emit(
                    Notice("warning", f"changed after the turn, too: {names}; /rewind undo brings that back")
                )
            return True
        request = PermissionRequest(
            *(f"rewind-{back.id}", "rewind", Effect.WRITE, back.summary), detail="\n".join(back.lines), input={}
        )
        why = "files are restored"
        answer = await ask_permission(self._asker, self._conversation, self._signals.interrupt, request, why)
        return answer is not None and answer.choice != "no"

    async def _restore(self, back: RewindPlan) -> RolledBack:
        """Restore without asking. The caller emits the returned event after the history is cut: views that drop what
        follows a prompt would drop it otherwise.

        Raises CheckpointError, and then nothing has been changed.
        """
        done = await self._checkpoints_here().restore(back.id, back.left)
        restored = (*done.written, *done.removed)
        left = (*done.not_undone, *self._kept.left(back.step, restored))
        return RolledBack(back.turn, back.step, restored, left, back.why, done.undo)

    async def _compared(self, id: str, when: str, why: Literal["rewind", "undo"], turn: int, step: int) -> RewindPlan:
        checkpoints = self._checkpoints_here()
        if not checkpoints.holds(id):
            raise CheckpointError(self._elsewhere(when))
        found = await checkpoints.changes_since(id)
        if why == "undo":
            restored = self._kept.restored
            left, yours = frozenset(change.path for change in found if restored) - restored, frozenset[str]()
        else:
            turns, later = await self._changed(turn)
            left, yours = later - turns, later & turns
        changes = tuple(change for change in found if change.path not in left)
        paths = tuple(change.path for change in changes)
        stay = tuple(change.path for change in found if change.path in left)
        return RewindPlan(
            id, when, why, turn, step, changes, yours & frozenset(paths), stay, self._kept.left(step, paths)
        )

    async def _changed(self, turn: int) -> tuple[frozenset[str], frozenset[str]]:
        """The paths that changed in turns since that one began, and those that changed between or after them."""
        checkpoints = self._checkpoints_here()
        turns, later = set[str](), set[str]()
        for first, second in self._kept.since_each(turn):
            if not (checkpoints.holds(first.id) and (second is None or checkpoints.holds(second.id))):
                continue
            if second is not None:
                paths = await checkpoints.changed_between(first.id, second.id)
            else:
                paths = frozenset(change.path for change in await checkpoints.changes_since(first.id))
            if first.ends_turn:
                paths -= self._kept.restored if second is None else second.restored
            (later if first.ends_turn else turns).update(paths)
        return frozenset(turns), frozenset(later)

    def _checkpoints_here(self) -> Checkpoints:
        if self._checkpoints is None:
            raise CheckpointError("No files are kept in this session.")
        return self._checkpoints

    def _elsewhere(self, when: str) -> str:
        what = f"What the files held {when}"
        if original := self._kept.copied_from:
            return f"{what} is kept by the session {original}, which this one was copied from; continue there instead."
        return f"{what} is no longer kept: its checkpoint is gone from the folder of this session."


def _first(lines: list[str]) -> list[str]:
    more = len(lines) - MOST_LINES
    return [*lines[:MOST_LINES], f"and {more:,} more"] if more > 0 else lines
