"""Where a turn can be taken back to, and what of it cannot be undone."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import zip_longest

from harness.checkpoints import CheckpointError, Checkpoints
from harness.engine.conversation import Conversation
from harness.engine.loops.command_kinds import changes_nothing
from harness.events import (
    OWN_COMMAND,
    CheckpointMade,
    Event,
    HistoryReplaced,
    Loop,
    MessageAdded,
    Notice,
    Origin,
    RolledBack,
    SessionStarted,
    StepStarted,
    ToolEnded,
    ToolOutcome,
    ToolStarted,
    TurnStarted,
)
from harness.tools.files import path_of
from harness.tools.tool import Effect, Tool

END_S = 3.0
"""Seconds that the end of a turn waits for it."""
_LEFT_NOTHING = frozenset({ToolOutcome.DENIED, ToolOutcome.INVALID, ToolOutcome.SKIPPED})
_WROTE_NOTHING = _LEFT_NOTHING | {ToolOutcome.ERROR}
"""Outcomes of a tool that writes one file, as a whole or not at all."""


@dataclass(frozen=True, slots=True)
class CheckpointMark:
    """A checkpoint and its moment."""

    turn: int
    step: int
    """Before the calls of this step."""
    id: str
    ends_turn: bool = False
    """Kept when the turn had ended: what changes from here to the next one is not the work of a turn."""
    restored: frozenset[str] = frozenset()
    """The paths of a restore between the checkpoint before and this one."""


@dataclass(frozen=True, slots=True)
class _Effect:
    """What a tool did that writes or runs."""

    step: int
    text: str
    writes: str | None
    """The file, as the call names it; None: unknown, as after a command."""

    def is_undone(self, restored: tuple[str, ...]) -> bool:
        return self.writes is not None and any(
            self.writes == path or self.writes.endswith(f"/{path}") for path in restored
        )


class CheckpointFold:
    """What a rollback or a rewind can go by."""

    def __init__(self, tool: Callable[[str], Tool | None]) -> None:
        """`tool` looks a tool up by its name."""
        self._tool = tool
        self._kept: list[CheckpointMark] = []
        self._effects: list[_Effect] = []
        self._calls: dict[str, tuple[str, str | None, str]] = {}
        """Summary, path and command line by id."""
        self._began: dict[int, int] = {}
        self._step = 0
        self.undo = ""
        """Id of the state before the last restore; empty: there was none."""
        self.restored: frozenset[str] = frozenset()
        """The paths of the last restore, until the files are kept again."""
        self.copied_from = ""
        """The session that this one began as a copy of."""

    def recall(self, events: Iterable[Event]) -> None:
        """Fold what an earlier run of this session kept."""
        for event in events:
            self.on_event(event)

    def on_event(self, event: Event) -> None:
        """An event of the session, in its order."""
        match event:
            case SessionStarted(forked_from=original):
                self.copied_from = original or ""
            case TurnStarted(turn=turn):
                self._began[turn] = self._step
                self._calls.clear()
            case StepStarted(step=step):
                self._step = step
            case CheckpointMade(id=id, turn=turn, step=step):
                self.add(CheckpointMark(turn, step, id, ends_turn=step > self._step))
            case ToolStarted(call_id=call_id, summary=summary, input=input):
                self._calls[call_id] = summary, path_of(input), str(input.get("command", ""))
            case ToolEnded(tool=tool) if not self.only_reads(tool):
                self._note_effect(event)
            case RolledBack(step=step, files_restored=restored) if restored:
                self.undo, self.restored = event.undo, frozenset(restored)
                self._effects = [
                    effect for effect in self._effects if effect.step <= step or not effect.is_undone(restored)
                ]

    def _note_effect(self, end: ToolEnded) -> None:
        """Note what a call of the agent may have left; the user's own commands, looks, checks and failed edits leave
        nothing."""
        summary, path, line = self._calls.get(end.call_id, ("", None, ""))
        known = self._tool(end.tool)
        is_write = known is not None and known.effect is Effect.WRITE
        if end.call_id.startswith(OWN_COMMAND) or end.outcome in (_WROTE_NOTHING if is_write else _LEFT_NOTHING):
            return
        if not (line and changes_nothing(line)):
            self._effects.append(_Effect(self._step, f"{end.tool} {summary}".rstrip(), path if is_write else None))

    def add(self, kept: CheckpointMark) -> None:
        """The files were kept once more."""
        self._kept.append(replace(kept, restored=self.restored))
        self.restored = frozenset()

    @property
    def last(self) -> CheckpointMark | None:
        """The last checkpoint."""
        return self._kept[-1] if self._kept else None

    def after(self, step: int) -> str | None:
        """Id of the first checkpoint after this step."""
        return next((kept.id for kept in self._kept if kept.step > step), None)

    def since(self, turn: int) -> CheckpointMark | None:
        """What the files held when that turn began: no call before this checkpoint may have changed them since."""
        return next((kept for kept in self._kept if kept.turn >= turn), None)

    def since_each(self, turn: int) -> Iterator[tuple[CheckpointMark, CheckpointMark | None]]:
        """The checkpoints since that turn began, each with the next one; None: now."""
        kept = [one for one in self._kept if one.turn >= turn]
        yield from zip_longest(kept, kept[1:])

    def began(self, turn: int) -> int | None:
        """The last step before a turn; None: there was no such turn."""
        return self._began.get(turn)

    def left(self, step: int, restored: tuple[str, ...] = ()) -> tuple[str, ...]:
        """What tools did after this step that stays, although these paths were restored; each once, with how often."""
        left = Counter(one.text for one in self._effects if one.step > step and not one.is_undone(restored))
        return tuple(f"{effect} ({times} times)" if times > 1 else effect for effect, times in left.items())

    def only_reads(self, name: str) -> bool:
        """A tool of that name changes nothing."""
        tool = self._tool(name)
        return tool is None or tool.effect is Effect.READ


@dataclass(frozen=True, slots=True)
class RollbackPoint:
    """The end of a tool round."""

    step: int
    messages: int
    """Messages of the history up to there."""


class Rollbacks:
    """Knows the tool rounds of the turn that runs, and takes the conversation back to one of them."""

    def __init__(self, conversation: Conversation, kept: CheckpointFold, checkpoints: Checkpoints | None) -> None:
        """
        Args:
            kept: the checkpoints; receives every event before this.
            checkpoints: keeps what the files hold; None: files are never taken back.
        """
        self._conversation = conversation
        self._kept = kept
        self._checkpoints = checkpoints
        self._rounds: list[RollbackPoint] = []

    async def keep(self, tools: list[str]) -> None:
        """Keep what the files hold, if one of these tools may change them; called before a round of calls."""
        if not all(self._kept.only_reads(tool) for tool in tools):
            await self.keep_files()

    async def keep_files(self) -> None:
        """Keep what the files hold; /undo of the last turn brings it back."""
        await self._keep(self._conversation.step)

    async def end_turn(self) -> None:
        """Keep what the turn has made of the files, if they were kept before; the user's changes come after this."""
        last = self._kept.last
        if last is not None and last.turn == self._conversation.turn:
            with suppress(TimeoutError):
                async with asyncio.timeout(END_S):
                    await self._keep(self._conversation.step + 1, ends_turn=True)

    async def _keep(self, step: int, *, ends_turn: bool = False) -> None:
        if self._checkpoints is None:
            return
        conversation = self._conversation
        try:
            kept = await self._checkpoints.keep()
        except CheckpointError as error:
            self._checkpoints = None  # one that cannot be kept now will not be kept a moment later either
            self._conversation.emit(Notice("warning", f"files are not kept for a way back: {error}"))
            return
        here = CheckpointMark(conversation.turn, step, kept.id)
        if not ends_turn and (last := self._kept.last) is not None and (last.turn, last.id) == (here.turn, here.id):
            self._kept.add(here)
        else:
            conversation.emit(CheckpointMade(here.id, here.turn, here.step, kept.files, kept.left_out))

    def place(self, loop: Loop) -> RollbackPoint | None:
        """The end of the first copy of a loop, whose results are worth keeping; None: it has left the history."""
        at = len(self._rounds) - 1 - (loop.copies - 1) * loop.period
        return self._rounds[max(at, 0)] if len(self._rounds) > 1 else None

    async def changed_files(self, place: RollbackPoint) -> tuple[str, ...]:
        """The paths that differ from what they held at that place; nothing where that was not kept."""
        checkpoint = self._kept.after(place.step)
        if checkpoint is None or self._checkpoints is None:
            return ()
        return tuple(change.path for change in await self._checkpoints.changes_since(checkpoint))

    async def take_back(self, place: RollbackPoint, *, files: bool) -> RolledBack:
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

    def on_event(self, event: Event) -> None:
        conversation = self._conversation
        match event:
            case TurnStarted() | HistoryReplaced() | MessageAdded(origin=Origin.STEERING):
                self._rounds.clear()
            case MessageAdded(origin=Origin.TOOL_RESULTS):
                self._rounds.append(RollbackPoint(conversation.step, len(conversation.messages)))
