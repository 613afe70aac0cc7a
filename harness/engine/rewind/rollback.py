"""Where a turn can be taken back to, and what of it cannot be undone."""

from dataclasses import dataclass

from harness.checkpoints import CheckpointError, Checkpoints
from harness.engine.conversation import Conversation
from harness.engine.rewind.kept_files import KeptAt, KeptFiles
from harness.events import (
    CheckpointMade,
    Event,
    HistoryReplaced,
    Loop,
    MessageAdded,
    Notice,
    Origin,
    RolledBack,
    TurnStarted,
)


@dataclass(frozen=True, slots=True)
class Place:
    """The end of a tool round."""

    step: int
    messages: int
    """Messages of the history up to there."""


class Rollbacks:
    """Knows the tool rounds of the turn that runs, and takes the conversation back to one of them."""

    def __init__(self, conversation: Conversation, kept: KeptFiles, checkpoints: Checkpoints | None) -> None:
        """
        Args:
            kept: knows what was kept; sees every event before this does.
            checkpoints: keeps what the files hold; None: files are never taken back.
        """
        self._conversation = conversation
        self._kept = kept
        self._checkpoints = checkpoints
        self._rounds: list[Place] = []
        conversation.observe(self._see)

    async def keep(self, tools: list[str]) -> None:
        """Keep what the files hold, if one of these tools may change them; called before a round of calls."""
        if self._checkpoints is None or all(self._kept.only_reads(tool) for tool in tools):
            return
        conversation = self._conversation
        try:
            kept = await self._checkpoints.keep(conversation.turn, conversation.step)
        except CheckpointError as error:
            self._checkpoints = None  # one that cannot be kept now will not be kept a moment later either
            self._conversation.emit(Notice("warning", f"files are not kept for a way back: {error}"))
            return
        here = KeptAt(conversation.turn, conversation.step, kept.id)
        if (last := self._kept.last) is not None and (last.turn, last.id) == (here.turn, here.id):
            self._kept.add(here)
        else:
            conversation.emit(CheckpointMade(here.id, here.turn, here.step, kept.how, kept.files, kept.left_out))

    def place(self, loop: Loop) -> Place | None:
        """The end of the first copy of a loop: what came back then is worth keeping, the rest is not. None: it is no
        longer in the history."""
        at = len(self._rounds) - 1 - (loop.copies - 1) * loop.period
        return self._rounds[max(at, 0)] if len(self._rounds) > 1 else None

    async def changed_files(self, place: Place) -> tuple[str, ...]:
        """The paths that differ from what they held at that place; nothing where that was not kept."""
        checkpoint = self._kept.after(place.step)
        if checkpoint is None or self._checkpoints is None:
            return ()
        return tuple(change.path for change in await self._checkpoints.changes_since(checkpoint))

    async def take_back(self, place: Place, *, files: bool) -> RolledBack:
        """Cut the conversation, and with `files` write back what the files held."""
        conversation = self._conversation
        restored: tuple[str, ...] = ()
        stays: tuple[str, ...] = ()
        undo = ""
        checkpoint = self._kept.after(place.step)
        if files and checkpoint is not None and self._checkpoints is not None:
            done = await self._checkpoints.restore(checkpoint)
            restored, stays, undo = (*done.written, *done.removed), done.not_undone, done.undo
        rounds = [one for one in self._rounds if one.step <= place.step]
        conversation.replace(conversation.messages[: place.messages], "rollback")
        self._rounds = rounds
        back = RolledBack(
            *(conversation.turn, place.step, restored, (*stays, *self._kept.left(place.step, restored))), undo=undo
        )
        conversation.emit(back)
        return back

    def _see(self, event: Event) -> None:
        conversation = self._conversation
        match event:
            case TurnStarted() | HistoryReplaced():
                self._rounds.clear()
            case MessageAdded(origin=Origin.TOOL_RESULTS):
                self._rounds.append(Place(conversation.step, len(conversation.messages)))
