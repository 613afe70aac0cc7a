"""The values of the dispatch layer: what may be decided about a tool call, and how the tools are (seed 000)."""

from dataclasses import dataclass
from enum import StrEnum


class FailureCategory(StrEnum):
    """How a tool itself failed (resilience Q3). A failed test or a missing file is no failure of the tool."""

    TIMEOUT = "timeout"
    CANNOT_START = "cannot_start"
    """The program is not there or cannot be run: exit 126 and 127 among them."""
    KILLED = "killed"
    """Ended by a signal that was not ours."""
    TRANSPORT = "transport"
    """What does the work could not be reached: refused, reset, no such host."""
    SYSTEM = "system"
    """The operating system failed: an I/O error, a full disk, no more file descriptors."""
    CRASHED = "crashed"
    """The code of the tool raised something it does not handle."""
    REFUSED = "refused"
    """An ordinary error result, counted because `count_errors` is on."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure that counts for a breaker (resilience A5)."""

    category: FailureCategory
    message: str
    """One line for a person."""
    signature: str = ""
    """What failures of one cause have in common (A14); empty: unknown, and never the same as another."""
    part: str = ""
    """What of the tool failed, such as a program that bash was to run; empty: the tool itself."""


def part_key(tool: str, part: str) -> str:
    """The key of the breaker of a part of a tool: "bash:npm"."""
    return f"{tool}:{part}"


def key_of(let_through: str, failure: Failure) -> str:
    """The key of the breaker that a failure counts for.

    Args:
        let_through: that of the breaker that let the call through. One that tries a part is charged to that part.
    """
    return part_key(let_through, failure.part) if failure.part and ":" not in let_through else let_through


class BreakerState(StrEnum):
    """Where a breaker stands: the three states of seed 000, step 2."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half-open"


class ChangeReason(StrEnum):
    """Why a breaker changed. The first four are the transitions of seed 000; the last four are a person's."""

    THRESHOLD = "threshold"
    PROBE_GIVEN = "probe_given"
    PROBE_SUCCEEDED = "probe_succeeded"
    PROBE_FAILED = "probe_failed"
    PROBE_LOST = "probe_lost"
    """No outcome came before the lease ended (A8)."""
    PROBE_RELEASED = "probe_released"
    """The probe was not run after all: cancelled, not allowed, wrong arguments (A6)."""
    FAILED = "failed"
    """One more failure in a row, still below the threshold."""
    SUCCEEDED = "succeeded"
    """A success after failures: the count is 0 again."""
    TRIPPED = "tripped"
    ISOLATED = "isolated"
    RELEASED = "released"
    RESET = "reset"


class Dispatch(StrEnum):
    """The four things that can be decided about a tool call (seed 000, step 8)."""

    CALL = "call"
    SKIP = "skip"
    PROBE = "probe"
    PAUSE = "pause"


class DispatchReason(StrEnum):
    """Why a call was decided as it was (resilience A2)."""

    HEALTHY = "healthy"
    DEGRADED = "degraded"
    """Called, with a threshold that is lower by one (A24)."""
    PROBE_DUE = "probe_due"
    CANARY = "canary"
    """The one probe for a whole group that failed together (A16)."""
    RECOVERING = "recovering"
    """A member of such a group, after the canary succeeded: each step probes one (A17)."""
    OPEN = "open"
    PROBE_OUT = "probe_out"
    """Another call is the probe (A7)."""
    DEPENDENCY = "dependency"
    """What the tool depends on is open and will be probed first (A18)."""
    SYSTEMIC = "systemic"
    """The tool failed together with others; the group waits for its canary."""
    UNCONFIRMED = "unconfirmed"
    """The same, and a person has to confirm that the cause is gone (Q2)."""
    ISOLATED = "isolated"
    """Switched off by a person."""
    UNAVAILABLE = "unavailable"
    """A check before the call says so; nothing is charged (A24)."""
    UNKNOWN_TOOL = "unknown_tool"
    BUDGET_SPENT = "budget_spent"
    NOTHING_LEFT = "nothing_left"
    """Every sub-task that is left needs a tool that is open and has no way round (A21)."""


class Severity(StrEnum):
    """How much an alternative loses."""

    LOW = "low"
    HIGH = "high"


class Rank(StrEnum):
    """The order of ways round an open tool (seed 000, step 4)."""

    LOW = "low"
    HIGH = "high"
    MANUAL = "manual"
    SCOPE = "scope"


@dataclass(frozen=True, slots=True)
class Route:
    """One way round a tool that is not called. Advice: dispatch and permissions decide about it by itself (S11)."""

    rank: Rank
    method: str
    """What to do, in one line."""
    degradation: str
    """What is lost by it."""
    tool: str = ""
    """The tool it goes through; empty for the manual way and for leaving it out."""


class Score(StrEnum):
    """What a check before the call says (seed 000, step 10). Advice: an open breaker stays open (A24)."""

    AVAILABLE = "available"
    DEGRADED = "degraded"
    UNAVAILABLE = "unavailable"


class CascadeMode(StrEnum):
    """What a group that failed together waits for (Q2)."""

    CANARY = "canary"
    """One probe after 3, 6, 12, 20, 20, … steps."""
    CONFIRM = "confirm"
    """A person says that the cause is gone."""


class CascadePhase(StrEnum):
    """How far a common cause is known, or gone (seed 000, step 9)."""

    SUSPECTED = "suspected"
    """Two tools opened with the same signature; nothing changes yet (S3)."""
    SYSTEMIC = "systemic"
    RECOVERING = "recovering"
    OVER = "over"


class BreakerCommand(StrEnum):
    """What a person can do to the breakers."""

    TRIP = "trip"
    """Open it; probes come as usual."""
    ISOLATE = "isolate"
    """Open it and never probe, until it is released or reset."""
    RELEASE = "release"
    """End the isolation; the next call is a probe."""
    RESET = "reset"
    """Close it and forget its failures."""
    CONFIRM = "confirm"
    """The common cause is gone: the next call is the canary."""


@dataclass(frozen=True, slots=True)
class DispatchLimits:
    """The numbers of the dispatch layer (A4). Distances are steps. Raises ValueError where one makes no sense."""

    threshold: int = 3
    """Failures in a row that open a breaker."""
    budget: int = 5
    """Failures of all tools in one cycle, after which the turn pauses."""
    probe_distance: int = 3
    """From the opening of a breaker to its probe."""
    lease: int = 3
    """After which a probe without an outcome counts as lost (A8, Q8)."""
    window: int = 10
    """Within which breakers that open have a cause in common, if their signatures agree (Q8)."""
    score_lasts: int = 5
    """For which the score of a tool is believed."""
    cascade: CascadeMode = CascadeMode.CANARY

    def __post_init__(self) -> None:
        for name in ("threshold", "budget", "probe_distance", "lease", "window", "score_lasts"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} is {value!r}; it has to be a whole number of at least 1")
        if self.cascade not in list(CascadeMode):
            raise ValueError(f"cascade is {self.cascade!r}; it has to be canary or confirm")
        object.__setattr__(self, "cascade", CascadeMode(self.cascade))


class ItemStatus(StrEnum):
    """How far an item of a plan is."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    DONE = "done"

    @property
    def mark(self) -> str:
        """The box before the item in a list."""
        return {"pending": "[ ]", "in_progress": "[▸]", "done": "[x]"}[self.value]


@dataclass(frozen=True, slots=True)
class PlanItem:
    """One sub-task that a turn has declared."""

    text: str
    status: ItemStatus = ItemStatus.PENDING
    tools: tuple[str, ...] = ()
    """Tools it cannot be done without; empty: not declared."""

    @property
    def is_open(self) -> bool:
        """Whether something is left to do."""
        return self.status is not ItemStatus.DONE

    @property
    def line(self) -> str:
        """The item in a list, as the model wrote it."""
        needs = f" (needs {', '.join(self.tools)})" if self.tools else ""
        return f"{self.status.mark} {self.text}{needs}"


@dataclass(frozen=True, slots=True)
class Deferred:
    """A sub-task that cannot be done now (seed 000, step 5)."""

    item: PlanItem
    reason: str
    unblock: str
    """What would make it possible."""


class FreshnessLabel(StrEnum):
    """What may be wrong with a result that looks good (seed 000, step 6). Fresh results carry none."""

    STALE = "stale"
    CACHED = "cached"
    UNVERIFIED = "unverified"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class HealthRow:
    """One line of the breaker table (seed 000, step 2)."""

    tool: str
    """Or a part of one that fails, such as "bash:npm"."""
    state: BreakerState
    failures: int
    """In a row."""
    last_failure: float | None = None
    """Unix time; None: none yet."""
    last_success: float | None = None
    message: str = ""
    """Of the last failure."""
    probe_at: int | None = None
    """Step at or after which the next call is a probe; None: not open, or not by itself."""
    note: str = ""
    """What a person should know besides: isolated, member of a group, degraded."""
    critical: bool = False
    """No other tool can take its place."""


@dataclass(frozen=True, slots=True)
class LoggedFailure:
    """One failure of the cycle."""

    step: int
    tool: str
    failure: Failure


@dataclass(frozen=True, slots=True)
class Done:
    """What a turn did with its tools, where it declared no plan."""

    tool: str
    succeeded: int
    failed: int


@dataclass(frozen=True, slots=True)
class PauseReport:
    """Why a turn paused, and how things are (seed 000, step 7; A23). A part that could not be had is empty."""

    reason: str
    """Empty: it did not pause, a person asked."""
    completed: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    not_attempted: tuple[str, ...] = ()
    deferred: tuple[Deferred, ...] = ()
    planned: bool = False
    """False: no plan was declared, and `completed` and `failed` are tool calls instead of sub-tasks."""
    health: tuple[HealthRow, ...] = ()
    consumed: int = 0
    budget: int = 0
    log: tuple[LoggedFailure, ...] = ()
    """The failures of the cycle, oldest first."""
    not_logged: int = 0
    """Failures of the cycle before those in `log`, dropped to keep it short."""
    next_steps: tuple[str, ...] = ()
