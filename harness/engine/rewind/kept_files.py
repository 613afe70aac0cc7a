"""Which states of the files were kept, and what was done to them since, folded from the events of a session.

Live, the events come one by one; a session that is gone on with folds those of its journal first and knows the same.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass

from harness.events import (
    CheckpointMade,
    Event,
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

_LEFT_NOTHING = frozenset({ToolOutcome.DENIED, ToolOutcome.INVALID, ToolOutcome.SKIPPED})


@dataclass(frozen=True, slots=True)
class KeptAt:
    """A checkpoint, and when the files held what is in it."""

    turn: int
    step: int
    """Before the calls of this step."""
    id: str


@dataclass(frozen=True, slots=True)
class _Effect:
    """What a tool did that writes or runs."""

    step: int
    text: str
    writes: str | None
    """The file, as the call names it; None: nobody knows which, as after a command."""

    def is_undone(self, restored: tuple[str, ...]) -> bool:
        return self.writes is not None and any(
            self.writes == path or self.writes.endswith(f"/{path}") for path in restored
        )


class KeptFiles:
    """What a rollback or a rewind can go by."""

    def __init__(self, tool: Callable[[str], Tool | None]) -> None:
        """`tool` looks a tool up by its name."""
        self._tool = tool
        self._kept: list[KeptAt] = []
        self._effects: list[_Effect] = []
        self._calls: dict[str, tuple[str, str | None]] = {}
        self._began: dict[int, int] = {}
        self._step = 0
        self.undo = ""
        """Id of the state before the last restore; empty: there was none."""
        self.copied_from = ""
        """The session that this one began as a copy of."""

    def see(self, event: Event) -> None:
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
                self.add(KeptAt(turn, step, id))
            case ToolStarted(call_id=call_id, summary=summary, input=input):
                self._calls[call_id] = summary, path_of(input)
            case ToolEnded(tool=tool) if not self.only_reads(tool) and event.outcome not in _LEFT_NOTHING:
                summary, path = self._calls.get(event.call_id, ("", None))
                known = self._tool(tool)
                writes = path if known is not None and known.effect is Effect.WRITE else None
                self._effects.append(_Effect(self._step, f"{tool} {summary}".rstrip(), writes))
            case RolledBack(step=step, files_restored=restored) if restored:
                self.undo = event.undo
                self._effects = [
                    effect for effect in self._effects if effect.step <= step or not effect.is_undone(restored)
                ]

    def add(self, kept: KeptAt) -> None:
        """The files were kept once more."""
        self._kept.append(kept)

    @property
    def last(self) -> KeptAt | None:
        """What was kept last."""
        return self._kept[-1] if self._kept else None

    def after(self, step: int) -> str | None:
        """Id of what was kept before the first round after this step that may have changed something."""
        return next((kept.id for kept in self._kept if kept.step > step), None)

    def since(self, turn: int) -> KeptAt | None:
        """What the files held when that turn began: no call before this checkpoint may have changed them since."""
        return next((kept for kept in self._kept if kept.turn >= turn), None)

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
