"""The entries of the transcript."""

from dataclasses import dataclass

from harness.events import (
    Alternative,
    Dispatch,
    OutputDelta,
    PauseReport,
    PlanItem,
    ProposedPlan,
    StuckReported,
    ToolOutcome,
    TurnEnded,
)
from harness.ui.lines.line import Groups, Line


@dataclass(frozen=True, slots=True)
class PromptEntry:
    """A prompt, or a command after `!`."""

    turn: int
    """0 for a shell command."""
    text: str
    at: float
    """Unix time."""
    shell: bool = False


@dataclass(frozen=True, slots=True)
class AnswerEntry:
    """Text of one reply. Markdown."""

    text: str
    done: bool = False
    """False: more may stream in."""


@dataclass(frozen=True, slots=True)
class ThinkingEntry:
    """Thinking of the model; its text is shown only when expanded."""

    text: str
    """Empty if the model does not show it."""
    done: bool = False
    duration_s: float = 0.0
    """Seconds; 0: unknown."""
    tokens: int = 0
    """0: unknown."""


LIVE_LINES = 40
"""Last lines of a running command that are kept."""


@dataclass(frozen=True, slots=True)
class LiveLines:
    """The output of a running command."""

    ended: tuple[str, ...] = ()
    """The last lines that have ended."""
    open_line: str = ""
    """The line that has not."""
    count: int = 0
    """Lines so far."""
    highest: int = 0
    """Most lines so far at one time: an erased line leaves its row."""

    def after(self, delta: OutputDelta) -> "LiveLines":
        """The output once `delta` has come as well."""
        ended = (*(() if delta.skipped else self.ended), *delta.lines)[-LIVE_LINES:]
        shown = len(ended) + bool(delta.open_line)
        count = self.count - bool(self.open_line) + delta.skipped + len(delta.lines) + bool(delta.open_line)
        return LiveLines(ended, delta.open_line, count, max(self.highest, shown))

    def last(self, rows: int) -> tuple[str, ...]:
        """The last lines, at most `rows`; blank ones behind them in the place of erased ones."""
        lines = (*self.ended, self.open_line) if self.open_line else self.ended
        rows = min(rows, self.highest)
        return (*lines[-rows:], *("",) * (rows - len(lines)))


@dataclass(frozen=True, slots=True)
class CallEntry:
    """A tool call, from its dispatch decision on."""

    call_id: str
    tool: str
    summary: str
    """The call in one line; empty while unknown."""
    at: float
    """Unix time at which it started, or was decided about."""
    running: bool = False
    dispatch: Dispatch = Dispatch.CALL
    why: str = ""
    """The explanation of the dispatch decision; empty for an ordinary call."""
    route: Alternative | None = None
    """The best alternative of a skipped call."""
    in_place_of: str = ""
    outcome: ToolOutcome | None = None
    """None: not ended."""
    result: str = ""
    """The result in a few words."""
    failures: int = 0
    """Failures of the tool in a row, including this one; 0: it did not fail."""
    duration_s: float = 0.0
    live: LiveLines | None = None
    """Output of a command that has not ended; None: there is none yet."""
    detail: str = ""
    """A diff or the head of the output, shown when expanded."""
    detail_of: int = 0
    """Lines of the whole output; 0: `detail` is all of it."""
    detail_end: str = ""
    """The last lines of the output where `detail` is only its beginning; empty: unknown."""
    full_output: str | None = None
    label: str = ""
    """Why the result may be outdated."""
    agent: str = ""
    """The subagent that works for this call."""
    doing: str = ""
    """What the subagent does, in a few words."""
    asks: bool = False
    """Whether the subagent waits for the user."""
    by_user: bool = False
    """Whether the user ran it, after `!`."""
    joined: tuple[str, ...] = ()
    """Summaries of the following calls merged into it: none of them started a subagent, for the same reason."""


@dataclass(frozen=True, slots=True)
class NoteEntry:
    """The line of an event, such as a retry, a switch, a compaction or a breaker."""

    line: Line
    replaces: str = ""
    """A note replaces the previous entry if both have the same non-empty value here."""


@dataclass(frozen=True, slots=True)
class TextEntry:
    """Text printed by a command."""

    text: str
    heading: str = ""
    """The command as typed."""


@dataclass(frozen=True, slots=True)
class DiffEntry:
    """Diffs printed by a command."""

    heading: str
    parts: tuple[str, ...]
    """Texts, and unified diffs of one file each."""


@dataclass(frozen=True, slots=True)
class ListEntry:
    """A list printed by a command."""

    groups: Groups


@dataclass(frozen=True, slots=True)
class ExamplesEntry:
    """Prompts worth trying, in a conversation that has not begun."""

    prompts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class PauseEntry:
    """The report of a pause."""

    report: PauseReport


@dataclass(frozen=True, slots=True)
class LoopReportEntry:
    """The report of a turn that ended in a loop."""

    report: StuckReported


@dataclass(frozen=True, slots=True)
class PlanEntry:
    """A plan that the model proposes, or that the user has edited."""

    plan: ProposedPlan
    edited: bool = False


@dataclass(frozen=True, slots=True)
class ChecklistEntry:
    """The checklist of todo_write, in a turn that has changed it. Changes of the same turn change it in place."""

    items: tuple[PlanItem, ...]


@dataclass(frozen=True, slots=True)
class TurnEndEntry:
    """The end of a turn."""

    end: TurnEnded


Entry = (
    PromptEntry
    | AnswerEntry
    | ThinkingEntry
    | CallEntry
    | NoteEntry
    | TextEntry
    | DiffEntry
    | ListEntry
    | ExamplesEntry
    | PauseEntry
    | LoopReportEntry
    | PlanEntry
    | ChecklistEntry
    | TurnEndEntry
)
