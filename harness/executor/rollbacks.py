"""Where a turn can be taken back to, and what of it cannot be undone (resilience B24)."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from harness.checkpoints import CheckpointError, Checkpoints
from harness.conversation import Conversation
from harness.events import (
    CheckpointMade,
    Event,
    HistoryReplaced,
    Loop,
    MessageAdded,
    Notice,
    Origin,
    RolledBack,
    ToolEnded,
    ToolOutcome,
    ToolStarted,
    TurnStarted,
)
from harness.tools.tool import Effect, Tool

_LEFT_NOTHING = frozenset({ToolOutcome.DENIED, ToolOutcome.INVALID, ToolOutcome.SKIPPED})


@dataclass(frozen=True, slots=True)
class Place:
    """The end of a tool round."""

    step: int
    messages: int
    """Messages of the history up to there."""


class Rollbacks:
    """Knows the tool rounds of the turn that runs, and takes the conversation back to one of them."""

    def __init__(
        self, conversation: Conversation, tool: Callable[[str], Tool | None], checkpoints: Checkpoints | None
    ) -> None:
        """
        Args:
            tool: looks a tool up by its name.
            checkpoints: keeps what the files hold; None: files are never taken back.
        """
        self._conversation = conversation
        self._tool = tool
        self._checkpoints = checkpoints
        self._rounds: list[Place] = []
        self._kept: list[tuple[int, str]] = []
        """The steps before whose calls the files were kept, with the ids of the checkpoints."""
        self._effects: list[tuple[int, str]] = []
        """What tools did that write or run, by step."""
        self._summaries: dict[str, str] = {}
        conversation.observe(self._see)

    async def keep(self, tools: list[str]) -> None:
        """Keep what the files hold, if one of these tools may change them; called before a round of calls."""
        if self._checkpoints is None or all(self._only_reads(tool) for tool in tools):
            return
        conversation = self._conversation
        try:
            kept = await self._checkpoints.keep(conversation.turn, conversation.step)
        except CheckpointError as error:
            self._checkpoints = None  # one that cannot be kept now will not be kept a moment later either
            self._conversation.emit(Notice("warning", f"files are not kept for a way back: {error}"))
            return
        if not self._kept or self._kept[-1][1] != kept.id:
            made = CheckpointMade(kept.id, conversation.turn, conversation.step, kept.how, kept.files, kept.left_out)
            conversation.emit(made)
        self._kept.append((conversation.step, kept.id))

    def place(self, loop: Loop) -> Place | None:
        """The end of the first copy of a loop: what came back then is worth keeping, the rest is not. None: it is no
        longer in the history."""
        at = len(self._rounds) - 1 - (loop.copies - 1) * loop.period
        return self._rounds[max(at, 0)] if len(self._rounds) > 1 else None

    async def changed_files(self, place: Place) -> tuple[str, ...]:
        """The paths that differ from what they held at that place; nothing where that was not kept."""
        checkpoint = self._checkpoint(place)
        if checkpoint is None or self._checkpoints is None:
            return ()
        return tuple(change.path for change in await self._checkpoints.changes_since(checkpoint))

    async def take_back(self, place: Place, *, files: bool) -> RolledBack:
        """Cut the conversation, and with `files` write back what the files held."""
        conversation = self._conversation
        restored: tuple[str, ...] = ()
        left = _counted(effect for step, effect in self._effects if step > place.step)
        checkpoint = self._checkpoint(place)
        if files and checkpoint is not None and self._checkpoints is not None:
            done = await self._checkpoints.restore(checkpoint)
            restored, left = (*done.written, *done.removed), (*done.not_undone, *left)
        rounds = [one for one in self._rounds if one.step <= place.step]
        conversation.replace(conversation.messages[: place.messages], "rollback")
        self._rounds = rounds
        back = RolledBack(conversation.turn, place.step, restored, left)
        conversation.emit(back)
        return back

    def _checkpoint(self, place: Place) -> str | None:
        """What was kept before the first round after the place that may have changed something."""
        return next((id for step, id in self._kept if step > place.step), None)

    def _only_reads(self, name: str) -> bool:
        tool = self._tool(name)
        return tool is None or tool.effect is Effect.READ

    def _see(self, event: Event) -> None:
        conversation = self._conversation
        match event:
            case TurnStarted():
                self._rounds.clear()
                self._effects.clear()
                self._kept.clear()
                self._summaries.clear()
            case HistoryReplaced():
                self._rounds.clear()
            case ToolStarted(call_id=call_id, summary=summary):
                self._summaries[call_id] = summary
            case ToolEnded(tool=tool) if not self._only_reads(tool) and event.outcome not in _LEFT_NOTHING:
                did = self._summaries.get(event.call_id, "")
                self._effects.append((conversation.step, f"{tool} {did}".rstrip()))
            case MessageAdded(origin=Origin.TOOL_RESULTS):
                self._rounds.append(Place(conversation.step, len(conversation.messages)))


def _counted(effects: Iterable[str]) -> tuple[str, ...]:
    """Each of them once, with how often it was done."""
    return tuple(f"{effect} ({times} times)" if times > 1 else effect for effect, times in Counter(effects).items())
