"""Events of commands in the background, and of what arrives while the agent does something else (lessons s13)."""

from dataclasses import dataclass
from enum import StrEnum

from harness.events.catalogue import Event


class CommandEnd(StrEnum):
    """How a command in the background ended."""

    EXITED = "exited"
    """By itself; its exit code says what came of it."""
    TIMED_OUT = "timed_out"
    STOPPED = "stopped"
    """The model or a person ended it."""
    TOO_LONG = "too_long"
    """It wrote more than may be kept."""
    NOT_STARTED = "not_started"
    """It could not be started, or the gate did not let it in."""
    SHUT_DOWN = "shut_down"
    """The program ended, and it with it."""
    LOST = "lost"
    """The program that watched it died; what became of it is not known. Told when the session is gone on with."""


@dataclass(frozen=True, slots=True)
class CommandCreated(Event):
    """A command was asked for in the background. The gate decides when it begins."""

    command: str
    """Its id in this session: "b1". It is also its key at the gate."""
    call_id: str
    line: str
    """The command line."""
    output: str
    """The file that all it writes goes to, stdout and stderr in one."""
    time_s: float
    """Seconds it may take, from its beginning."""


@dataclass(frozen=True, slots=True)
class CommandBegun(Event):
    """A command in the background runs."""

    command: str
    pid: int


@dataclass(frozen=True, slots=True)
class CommandQuiet(Event):
    """A command has written nothing for a while, and what it wrote last looks like a question. Told once a silence."""

    command: str
    quiet_s: float
    tail: str
    """The end of what it wrote."""


@dataclass(frozen=True, slots=True)
class CommandHandedOver(Event):
    """A command is nobody's any more: it goes on when the program ends, without a time limit."""

    command: str
    pid: int


@dataclass(frozen=True, slots=True)
class CommandEnded(Event):
    """A command in the background is over, and so are all its children."""

    command: str
    end: CommandEnd
    exit_code: int | None
    """Negative: the number of the signal that killed it. None: there is none, or nobody saw it."""
    duration_s: float
    output_bytes: int
    tail: str
    """The end of what it wrote."""
    reason: str = ""
    """One line, where `end` and exit code do not say all."""
    forced: bool = False
    """TERM did not end it in time; KILL did."""
    left: tuple[str, ...] = ()
    """What even KILL did not end, as "name (pid)"."""
    told: bool = False
    """The call that ended it tells the model; nothing arrives."""


class ArrivalKind(StrEnum):
    """What has arrived."""

    COMMAND_ENDED = "command_ended"
    COMMAND_QUIET = "command_quiet"
    AGENT_ENDED = "agent_ended"


@dataclass(frozen=True, slots=True)
class Arrived(Event):
    """Something came for the model while it did something else. It is handed over exactly once."""

    number: int
    """Counts from 1 within a session."""
    kind: ArrivalKind
    source: str
    """Id of the command or agent."""
    text: str
    """What the model will read."""


@dataclass(frozen=True, slots=True)
class Delivered(Event):
    """These arrivals stand in the history now, in one message."""

    numbers: tuple[int, ...]
