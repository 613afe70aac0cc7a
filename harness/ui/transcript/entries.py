"""What stands on the left of the screen, one value for each thing."""

from dataclasses import dataclass

from harness.events import Dispatch, PauseReport, Route, StuckReported, ToolOutcome, TurnEnded
from harness.ui.lines.columns import Groups
from harness.ui.lines.line import Line


@dataclass(frozen=True, slots=True)
class Said:
    """What the person typed."""

    turn: int
    """0 for a shell command, which is no turn."""
    text: str
    at: float
    """Unix time."""
    shell: bool = False
    """A command of the person's own, after `!`."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Text of the model: one reply, or the part of one between two tool rounds. Markdown."""

    text: str
    done: bool = False
    """False: more may stream in."""


@dataclass(frozen=True, slots=True)
class Thinking:
    """The model thinks, or thought; what it thought is not shown unless expanded."""

    text: str
    """Empty: the model does not show it."""
    done: bool = False
    duration_s: float = 0.0
    """Seconds; 0: not known."""
    tokens: int = 0
    """0: not known."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call, from the moment it is decided about."""

    call_id: str
    tool: str
    summary: str
    """The call in one line; empty as long as nothing is known of it."""
    at: float
    """Unix time at which it began to run, or was decided about."""
    running: bool = False
    dispatch: Dispatch = Dispatch.CALL
    why: str = ""
    """What the dispatch layer says about it; empty for a call that is as usual."""
    route: Route | None = None
    """The way round that was offered first; only for one that was skipped."""
    in_place_of: str = ""
    outcome: ToolOutcome | None = None
    """None: not ended yet."""
    result: str = ""
    """The result in a few words."""
    failures: int = 0
    """How many in a row this failure makes; 0: it was none."""
    duration_s: float = 0.0
    detail: str = ""
    """What expanding shows: a diff, the head of the output."""
    detail_of: int = 0
    """Lines of the whole output; 0: `detail` is all of it."""
    full_output: str | None = None
    label: str = ""
    """Why the result may not be fresh."""
    agent: str = ""
    """The agent that works for this call."""
    doing: str = ""
    """What that agent is at, in a few words."""
    asks: bool = False
    """It has a question that only a person can answer."""
    by_person: bool = False
    """The person ran it, after `!`."""


@dataclass(frozen=True, slots=True)
class Note:
    """One line that an event says: a retry, a switch, a compaction, a breaker."""

    line: Line
    of: str = ""
    """What it is about, where the next line about the same takes its place; empty: it stays."""


@dataclass(frozen=True, slots=True)
class Shown:
    """Text that a command printed."""

    text: str


@dataclass(frozen=True, slots=True)
class Listed:
    """A list that a command printed."""

    groups: Groups


@dataclass(frozen=True, slots=True)
class Paused:
    """The report of a pause."""

    report: PauseReport


@dataclass(frozen=True, slots=True)
class Stuck:
    """The report of a turn that ended in a loop."""

    report: StuckReported


@dataclass(frozen=True, slots=True)
class Ended:
    """The end of a turn."""

    end: TurnEnded


Entry = Said | Answer | Thinking | Call | Note | Shown | Listed | Paused | Stuck | Ended
