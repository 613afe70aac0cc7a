"""Events of subagents and background commands, and of the notifications that they send."""

from dataclasses import dataclass
from enum import StrEnum

from harness.events.catalogue import Event
from harness.events.messages import Usage

__all__ = [
    "AgentCreated",
    "AgentEnd",
    "AgentEnded",
    "AgentMoved",
    "ArrivalKind",
    "Arrived",
    "CommandBegun",
    "CommandCreated",
    "CommandEnd",
    "CommandEnded",
    "CommandHandedOver",
    "CommandQuiet",
    "Delivered",
    "Health",
    "MonitorEnd",
    "MonitorEnded",
    "MonitorSet",
    "MoveReason",
    "MovedToBackground",
    "PollNoted",
]


class AgentEnd(StrEnum):
    """How a subagent ended. Everything but ANSWERED is reported as a failure."""

    ANSWERED = "answered"
    SILENT = "silent"
    """It ended its turn without any text."""
    LIMIT = "limit"
    """Its limit of steps, its cost budget or that of the session was reached."""
    PAUSED = "paused"
    """Too many of its tool calls failed."""
    STUCK = "stuck"
    """It repeated itself."""
    FAILED = "failed"
    """The model could not be reached or gave no usable reply."""
    CANCELLED = "cancelled"
    """Stopped by the user, or by the end of the turn that had asked for it."""
    NOT_STARTED = "not_started"
    """It was not admitted or could not be created."""


@dataclass(frozen=True, slots=True)
class AgentCreated(Event):
    """The model asked for a subagent, or gave an existing one another task. Admission decides when it starts."""

    agent: str
    """Its id in this session, such as "a1"; also its key in admission control."""
    call_id: str
    task: str
    """A short description."""
    prompt: str
    """The whole prompt."""
    model: str
    tools: tuple[str, ...]
    """Names of the tools it may use."""
    background: bool = False
    """No call waits for its answer; a notification follows."""
    again: bool = False
    """It has worked earlier in this session and continues from there."""
    journal: str = ""
    """Name of the file with its own events, beside the journal of the session; empty: there is none."""
    kind: str = ""
    """The kind of agent that a file defines; empty: none of these."""
    member: str = ""
    """Name of the member whose task it is; empty: that of a subagent without a name."""


class Health(StrEnum):
    """What keeps a subagent from its task. Silence is no sign of it: a long command is silent, too."""

    WELL = "well"
    PROCESS = "process"
    """Its turn ended without an answer, so nothing of it runs."""
    LOOP = "loop"
    """It repeats itself, and no intervention has led it out yet."""
    MODEL = "model"
    """The newest request of it failed."""


@dataclass(frozen=True, slots=True)
class AgentMoved(Event):
    """Progress of a subagent."""

    agent: str
    step: int
    """Its steps in this task so far, from 1."""
    doing: str
    """Its current activity: "asks the model", "grep load_config"."""
    requests: int
    tokens: int
    """All tokens of its requests in this task, input and output."""
    cost_usd: float
    waits_for_user: bool = False
    """It asks a question that only the user can answer."""
    unpriced: int = 0
    """Requests among `requests` without a known price; `cost_usd` does not include them."""
    health: Health = Health.WELL


@dataclass(frozen=True, slots=True)
class AgentEnded(Event):
    """A subagent has finished its task. Its cost is already part of the session's."""

    agent: str
    end: AgentEnd
    reason: str
    """One line for the user; empty where it answered."""
    steps: int
    requests: int
    usage: Usage
    cost_usd: float
    duration_s: float
    """From its first step, without the wait for admission."""
    unpriced: int = 0
    """Requests among `requests` without a known price; `cost_usd` does not include them."""


class CommandEnd(StrEnum):
    """How a background command ended."""

    EXITED = "exited"
    """By itself; see its exit code."""
    TIMED_OUT = "timed_out"
    STOPPED = "stopped"
    """The model or the user stopped it."""
    TOO_LONG = "too_long"
    """Its output exceeded the limit."""
    NOT_STARTED = "not_started"
    """It could not be started or was not admitted."""
    SHUT_DOWN = "shut_down"
    """The program ended and stopped it."""
    LOST = "lost"
    """The program died before it; its result is unknown. Reported when the session is resumed."""


@dataclass(frozen=True, slots=True)
class CommandCreated(Event):
    """A background command was requested. Admission decides when it starts."""

    command: str
    """Its id in this session, such as "b1"; also its key in admission control."""
    call_id: str
    line: str
    """The command line."""
    output: str
    """The file that receives its output, stdout and stderr combined."""
    time_s: float
    """Time limit in seconds, from its start."""


@dataclass(frozen=True, slots=True)
class CommandBegun(Event):
    """A background command was started."""

    command: str
    pid: int


@dataclass(frozen=True, slots=True)
class CommandQuiet(Event):
    """A command has been silent for a while after output that looks like a question. Once per silence."""

    command: str
    quiet_s: float
    tail: str
    """The end of its output."""


@dataclass(frozen=True, slots=True)
class CommandHandedOver(Event):
    """A command was detached: it continues after the program ends, without a time limit."""

    command: str
    pid: int


@dataclass(frozen=True, slots=True)
class CommandEnded(Event):
    """A background command and all its children have ended."""

    command: str
    end: CommandEnd
    exit_code: int | None
    """Negative: the number of the signal that killed it. None: unknown."""
    duration_s: float
    output_bytes: int
    tail: str
    """The end of its output."""
    reason: str = ""
    """One line, where `end` and exit code do not explain it."""
    forced: bool = False
    """SIGTERM did not end it in time; SIGKILL did."""
    left: tuple[str, ...] = ()
    """Processes that survived SIGKILL, as "name (pid)"."""
    reported: bool = False
    """The call that stopped it reports the end to the model; no notification follows."""


class MoveReason(StrEnum):
    """Why a call no longer waits for its work."""

    ASKED = "asked"
    """The user moved it."""
    TIME_LIMIT = "time_limit"
    """Its time limit was up."""


@dataclass(frozen=True, slots=True)
class MovedToBackground(Event):
    """A running command or subagent continues in the background, and its call has ended. Follows its `CommandBegun`."""

    call_id: str
    work: str
    """Id of the command or subagent."""
    reason: MoveReason
    silent_s: float = 0.0
    """Seconds since the last output of a command."""


class MonitorEnd(StrEnum):
    """Why the lines of a command are no longer sent."""

    DEADLINE = "deadline"
    TOO_MANY = "too_many"
    """It has sent as many notifications as it may."""
    COMMAND_ENDED = "command_ended"
    STOPPED = "stopped"
    """The model ended it."""


@dataclass(frozen=True, slots=True)
class MonitorSet(Event):
    """Lines of a background command are sent to the model from now on; replaces an earlier monitor of the command."""

    command: str
    words: tuple[str, ...]
    """Only lines with one of these texts; empty: all lines."""
    until: float
    """Unix time of its deadline."""


@dataclass(frozen=True, slots=True)
class MonitorEnded(Event):
    """The lines of a background command are no longer sent."""

    command: str
    end: MonitorEnd
    notifications: int
    """Sent by this monitor."""


@dataclass(frozen=True, slots=True)
class PollNoted(Event):
    """A command only slept and looked while background work ran; its result says that ends are announced."""

    call_id: str
    running: tuple[str, ...]
    """Ids of commands and subagents."""


class ArrivalKind(StrEnum):
    """What a notification is about."""

    COMMAND_ENDED = "command_ended"
    COMMAND_QUIET = "command_quiet"
    COMMAND_LINES = "command_lines"
    """Lines of a monitored command, or the end of its monitor."""
    AGENT_ENDED = "agent_ended"
    SCHEDULED = "scheduled"
    """A scheduled prompt fired; `source` is the id of the fire."""
    TASK_READY = "task_ready"
    """A task of the board can be claimed, or a claim has ended."""
    MAIL = "mail"
    """A message to the lead; `source` is its sender."""
    NOTE = "note"
    """The same, for information: it begins no turn."""


@dataclass(frozen=True, slots=True)
class Arrived(Event):
    """A notification for the model arrived. It is delivered exactly once."""

    number: int
    """Counts from 1 within a session."""
    kind: ArrivalKind
    source: str
    """Id of the command or subagent, or "board"."""
    text: str
    """For the model."""


@dataclass(frozen=True, slots=True)
class Delivered(Event):
    """These notifications were added to the history, in one message."""

    numbers: tuple[int, ...]
