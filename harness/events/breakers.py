"""Dispatch decisions, breaker states, plan items and the pause report."""

from dataclasses import dataclass
from enum import StrEnum

__all__ = [
    "Alternative",
    "BreakerCommand",
    "BreakerState",
    "CascadeMode",
    "CascadePhase",
    "ChangeReason",
    "Deferred",
    "Dispatch",
    "DispatchLimits",
    "DispatchReason",
    "Failure",
    "FailureCategory",
    "FreshnessLabel",
    "HealthRow",
    "ItemStatus",
    "LoggedFailure",
    "PauseReport",
    "PlanItem",
    "Rank",
    "Score",
    "Severity",
    "ToolTally",
    "key_of",
    "part_key",
]


class FailureCategory(StrEnum):
    """How a tool itself failed. A failed test or a missing file is not a failure of the tool."""

    TIMEOUT = "timeout"
    CANNOT_START = "cannot_start"
    """The program is missing or cannot run, as with exit codes 126 and 127."""
    KILLED = "killed"
    """Ended by a signal that we did not send."""
    TRANSPORT = "transport"
    """The server behind the tool could not be reached: refused, reset, no such host."""
    SYSTEM = "system"
    """The operating system failed: an I/O error, a full disk, no more file descriptors."""
    CRASHED = "crashed"
    """The tool raised an unhandled exception."""
    REFUSED = "refused"
    """An ordinary error result, counted because `count_errors` is on."""


@dataclass(frozen=True, slots=True)
class Failure:
    """A failure that counts for a breaker."""

    category: FailureCategory
    message: str
    """One line for the user."""
    signature: str = ""
    """Equal for failures with the same cause; empty: unknown, and never equal to another."""
    part: str = ""
    """The failed part of the tool, such as a program run by bash; empty: the tool itself."""


def part_key(tool: str, part: str) -> str:
    """Key of the breaker of a part of a tool: "bash:npm"."""
    return f"{tool}:{part}"


def key_of(let_through: str, failure: Failure) -> str:
    """Key of the breaker that a failure counts for.

    Args:
        let_through: key of the breaker that allowed the call; the probe of a part counts for that part.
    """
    return part_key(let_through, failure.part) if failure.part and ":" not in let_through else let_through


class BreakerState(StrEnum):
    """State of a breaker (Nygard, *Release It!*, ch. 5)."""

    CLOSED = "closed"
    OPEN = "open"
    HALF_OPEN = "half-open"


class ChangeReason(StrEnum):
    """Why a breaker changed. The last four are commands of the user."""

    THRESHOLD = "threshold"
    PROBE_GIVEN = "probe_given"
    PROBE_SUCCEEDED = "probe_succeeded"
    PROBE_FAILED = "probe_failed"
    PROBE_LOST = "probe_lost"
    """No result came before the lease ended."""
    PROBE_RELEASED = "probe_released"
    """The probe did not run: cancelled, denied or invalid arguments."""
    FAILED = "failed"
    """Another failure in a row, still below the threshold."""
    SUCCEEDED = "succeeded"
    """A success after failures: the count is 0 again."""
    TRIPPED = "tripped"
    ISOLATED = "isolated"
    RELEASED = "released"
    RESET = "reset"


class Dispatch(StrEnum):
    """Decision about a tool call."""

    CALL = "call"
    SKIP = "skip"
    PROBE = "probe"
    PAUSE = "pause"


class DispatchReason(StrEnum):
    """Reason for a dispatch decision."""

    HEALTHY = "healthy"
    DEGRADED = "degraded"
    """Called with a threshold that is lower by one."""
    PROBE_DUE = "probe_due"
    CANARY = "canary"
    """The only probe for a group of tools that failed together."""
    RECOVERING = "recovering"
    """A member of such a group after its canary succeeded; one is probed per step."""
    OPEN = "open"
    PROBE_OUT = "probe_out"
    """Another call is already the probe."""
    DEPENDENCY = "dependency"
    """A dependency of the tool is open and is probed first."""
    SYSTEMIC = "systemic"
    """The tool failed together with others, and the group waits for its canary."""
    UNCONFIRMED = "unconfirmed"
    """The same, and the user has to confirm that the cause is fixed."""
    ISOLATED = "isolated"
    """Disabled by the user."""
    UNAVAILABLE = "unavailable"
    """A health check reports it as unavailable; does not count as a failure."""
    UNKNOWN_TOOL = "unknown_tool"
    BUDGET_SPENT = "budget_spent"
    NOTHING_LEFT = "nothing_left"
    """Every remaining item of the plan requires an open tool without an alternative."""


class Severity(StrEnum):
    """How much an alternative loses."""

    LOW = "low"
    HIGH = "high"


class Rank(StrEnum):
    """Order of the alternatives to an open tool."""

    LOW = "low"
    HIGH = "high"
    MANUAL = "manual"
    SCOPE = "scope"


@dataclass(frozen=True, slots=True)
class Alternative:
    """Something to do instead of a skipped call. Advice only: its calls go through dispatch and permissions too."""

    rank: Rank
    method: str
    """One line."""
    degradation: str
    """What it loses."""
    tool: str = ""
    """The tool to use; empty for MANUAL and SCOPE."""


class Score(StrEnum):
    """Result of a health check. It does not close an open breaker."""

    AVAILABLE = "available"
    DEGRADED = "degraded"
    UNAVAILABLE = "unavailable"


class CascadeMode(StrEnum):
    """What a group that failed together waits for."""

    CANARY = "canary"
    """One probe after 3, 6, 12, 20, 20, … steps."""
    CONFIRM = "confirm"
    """The user confirms that the cause is fixed."""


class CascadePhase(StrEnum):
    """Phase of a cascade: several tools failing from one cause."""

    SUSPECTED = "suspected"
    """Two tools opened with the same signature; no effect yet."""
    SYSTEMIC = "systemic"
    RECOVERING = "recovering"
    OVER = "over"


class BreakerCommand(StrEnum):
    """Commands of the user for breakers."""

    TRIP = "trip"
    """Open it; it is probed as usual."""
    ISOLATE = "isolate"
    """Open it without probes until it is released or reset."""
    RELEASE = "release"
    """End the isolation; the next call is a probe."""
    RESET = "reset"
    """Close it and clear its failures."""
    CONFIRM = "confirm"
    """The common cause is fixed: the next call is the canary."""


@dataclass(frozen=True, slots=True)
class DispatchLimits:
    """Limits of tool breakers; distances are in steps. Raises ValueError for an invalid number."""

    threshold: int = 3
    """Failures in a row that open a breaker."""
    budget: int = 5
    """Failures of all tools in one cycle before the turn pauses."""
    probe_distance: int = 3
    """From opening to the first probe."""
    lease: int = 3
    """After which an unanswered probe counts as lost."""
    window: int = 10
    """Within which breakers that open with the same signature form a cascade."""
    score_lasts: int = 5
    """Validity of a health check."""
    cascade: CascadeMode = CascadeMode.CANARY

    def __post_init__(self) -> None:
        for name in ("threshold", "budget", "probe_distance", "lease", "window", "score_lasts"):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"{name} is {value!r}; use a whole number of at least 1")
        if self.cascade not in list(CascadeMode):
            raise ValueError(f"cascade is {self.cascade!r}; use canary or confirm")
        object.__setattr__(self, "cascade", CascadeMode(self.cascade))


class ItemStatus(StrEnum):
    """Progress of a plan item."""

    PENDING = "pending"
    IN_PROGRESS = "in_progress"
    DONE = "done"

    @property
    def mark(self) -> str:
        """The box before the item in a list."""
        return {"pending": "[ ]", "in_progress": "[▸]", "done": "[x]"}[self.value]


@dataclass(frozen=True, slots=True)
class PlanItem:
    """One item of the plan that the model declared with todo_write."""

    text: str
    status: ItemStatus = ItemStatus.PENDING
    tools: tuple[str, ...] = ()
    """Tools that it requires; empty: not declared."""

    @property
    def is_open(self) -> bool:
        """Not done yet."""
        return self.status is not ItemStatus.DONE

    @property
    def line(self) -> str:
        """The item as a line of a list."""
        needs = f" (needs {', '.join(self.tools)})" if self.tools else ""
        return f"{self.status.mark} {self.text}{needs}"


@dataclass(frozen=True, slots=True)
class Deferred:
    """A plan item that cannot be done now."""

    item: PlanItem
    reason: str
    unblock: str
    """What has to change first."""


class FreshnessLabel(StrEnum):
    """Why a successful result may be outdated. Fresh results have no label."""

    STALE = "stale"
    CACHED = "cached"
    UNVERIFIED = "unverified"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class HealthRow:
    """One row of the breaker table."""

    tool: str
    """Name of a tool, or of a failing part such as "bash:npm"."""
    state: BreakerState
    failures: int
    """In a row."""
    last_failure: float | None = None
    """Unix time; None: never."""
    last_success: float | None = None
    message: str = ""
    """Message of the last failure."""
    probe_at: int | None = None
    """First step whose call is a probe; None: not open, or no automatic probe."""
    note: str = ""
    """Such as isolated, member of a cascade, degraded."""
    critical: bool = False
    """No other tool can replace it."""
    calls: int = 0
    """Calls of this session that succeeded or failed; refused, invalid and cancelled ones do not count."""
    failed: int = 0
    """Those that failed, with failures of the programs that the tool ran."""

    @property
    def error_rate(self) -> float | None:
        """Failed calls divided by calls; None: no calls yet."""
        return self.failed / self.calls if self.calls else None


@dataclass(frozen=True, slots=True)
class LoggedFailure:
    """One failure of the cycle."""

    step: int
    tool: str
    failure: Failure


@dataclass(frozen=True, slots=True)
class ToolTally:
    """Calls of one tool in a turn, reported where the turn declared no plan."""

    tool: str
    succeeded: int
    failed: int


@dataclass(frozen=True, slots=True)
class PauseReport:
    """Why a turn paused, and the state of the work. Parts that are not available are empty."""

    reason: str
    """Empty: the turn did not pause; the user asked for the report."""
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
    """Earlier failures of the cycle, left out of `log`."""
    next_steps: tuple[str, ...] = ()
