"""The members of a session, folded from its events, and what a member does next.

    team_start ──▶ queued ──▶ working ──▶ idle, failed ──▶ queued, by mail that begins work
                                  │           └──▶ paused: failed too often in a row
                                  └──▶ ended: its name is free again

The roster of the model, the panel and a replay read the same fold.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from harness.events import (
    Address,
    AdmissionPool,
    AgentCreated,
    AgentEnd,
    AgentEnded,
    AgentMoved,
    Event,
    Health,
    MailDelivered,
    MailReturned,
    MailSent,
    MemberChanged,
    MemberClaimed,
    MemberStarted,
    MemberState,
    SessionStarted,
    WorkAdmitted,
)

LANE = 60
WATCHED = 50
"""Members that are listed; the most recently active ones."""
AT_WORK = frozenset({MemberState.QUEUED, MemberState.WORKING})
REST = frozenset({MemberState.IDLE, MemberState.FAILED, MemberState.PAUSED})


@dataclass(frozen=True, slots=True)
class MemberRow:
    """A member and its newest task."""

    address: Address
    agent: str
    """Id of its subagent."""
    role: str = ""
    kind: str = ""
    tools: tuple[str, ...] = ()
    worktree: str = ""
    """Name of its worktree; empty: it works where the lead does."""
    plans: bool = False
    """It writes and runs nothing before a plan of it is approved."""
    state: MemberState = MemberState.IDLE
    why: str = ""
    since: float = 0.0
    """Unix time at which it came into this state."""
    task: str = ""
    """Its newest task in a few words."""
    tasks: int = 0
    """Tasks that it was given."""
    moved: AgentMoved | None = None
    """Progress of the task that it works on."""
    claimed: int = 0
    """Tasks of the board that it has claimed."""
    unread: int = 0
    active: float = 0.0
    """Unix time of its last event."""
    owes: tuple[Address, ...] = ()
    """Whom it will report to, as soon as it has what it waits for."""
    lane: tuple[tuple[float, MemberState], ...] = ()
    """The states it came into, with their Unix times, oldest first; the last `LANE` of them."""
    tokens_before: int = 0
    """Of the tasks that have ended; the same for what follows."""
    cost_before: float = 0.0
    unpriced_before: int = 0

    @property
    def name(self) -> str:
        return self.address.name

    @property
    def tokens(self) -> int:
        """Of all its tasks."""
        return self.tokens_before + (self.moved.tokens if self.moved else 0)

    @property
    def cost_usd(self) -> float:
        return self.cost_before + (self.moved.cost_usd if self.moved else 0.0)

    @property
    def unpriced(self) -> int:
        """Requests without a known price."""
        return self.unpriced_before + (self.moved.unpriced if self.moved else 0)

    @property
    def asks(self) -> bool:
        """It waits for the user."""
        return self.moved is not None and self.moved.waits_for_user

    @property
    def health(self) -> Health:
        """Whether something keeps it from its task: its turn died, it is in a loop, or the model fails."""
        if self.state is MemberState.FAILED:
            return Health.PROCESS
        return self.moved.health if self.moved else Health.WELL

    @property
    def word(self) -> str:
        """What it does, in a few words."""
        if self.asks:
            return "asks you"
        return {Health.LOOP: "looping", Health.MODEL: "no model"}.get(self.health, self.state.value)

    @property
    def reason(self) -> str:
        """What it does now, or why it does nothing; may be empty."""
        return self.moved.doing if self.moved is not None else self.why


class TeamFold:
    """All members of a session, also those that have ended."""

    def __init__(self) -> None:
        self._rows: dict[str, MemberRow] = {}
        """By the id of the subagent, in the order of their last activity."""
        self._agents: dict[Address, str] = {}

    @property
    def rows(self) -> tuple[MemberRow, ...]:
        """The most recently active one last."""
        return tuple(self._rows.values())

    @property
    def live(self) -> tuple[MemberRow, ...]:
        """Those that have not ended."""
        return tuple(row for row in self._rows.values() if row.state is not MemberState.ENDED)

    def of_agent(self, agent: str) -> MemberRow | None:
        """The member that a subagent is."""
        return self._rows.get(agent)

    def named(self, name: str) -> MemberRow | None:
        """The newest member of a name."""
        found = (row for row in self._rows.values() if row.name == name)
        return max(found, key=lambda row: row.address.generation, default=None)

    def on_event(self, event: Event, at: float) -> None:
        """Process an event of Unix time `at`."""
        match event:
            case SessionStarted():
                self._rows.clear()
                self._agents.clear()
            case MemberStarted(member=address, agent=agent):
                given = event.role, event.kind, event.tools, event.worktree, event.plans
                row = MemberRow(address, agent, *given, since=at, active=at)
                self._rows[agent], self._agents[address] = row, agent
            case MemberChanged(member=address):
                self._change(self._agents.get(address, ""), at, lambda row: _changed(row, event, at))
            case AgentCreated(agent=agent, task=task):
                self._change(agent, at, lambda row: _given(row, task, at))
            case WorkAdmitted(key=agent, pool=AdmissionPool.AGENTS):
                self._change(agent, at, lambda row: _now(row, MemberState.WORKING, at))
            case AgentMoved(agent=agent):
                self._change(agent, at, lambda row: replace(row, moved=event))
            case AgentEnded(agent=agent):
                self._change(agent, at, lambda row: _ended(row, event, at))
            case MemberClaimed(member=address):
                agent = self._agents.get(address, "")
                self._change(agent, at, lambda row: replace(row, claimed=row.claimed + 1))
            case MailSent(recipient=address):
                self._change(self._agents.get(address, ""), at, lambda row: replace(row, unread=row.unread + 1))
            case MailDelivered(member=address, ids=ids) | MailReturned(member=address, ids=ids):
                left = len(ids)
                agent = self._agents.get(address, "")
                self._change(agent, at, lambda row: replace(row, unread=max(0, row.unread - left)))

    def _change(self, agent: str, at: float, change: Callable[[MemberRow], MemberRow]) -> None:
        if (row := self._rows.pop(agent, None)) is not None:
            self._rows[agent] = replace(change(row), active=at)


def _now(row: MemberRow, state: MemberState, at: float, why: str = "") -> MemberRow:
    moved = row.moved if state in AT_WORK else None
    lane = (*row.lane[1 - LANE :], (at, state))
    return replace(row, state=state, why=why, since=at, moved=moved, lane=lane)


def _changed(row: MemberRow, event: MemberChanged, at: float) -> MemberRow:
    return replace(_now(row, event.state, at, event.why), owes=event.owes)


def _given(row: MemberRow, task: str, at: float) -> MemberRow:
    return replace(_now(row, MemberState.QUEUED, at), task=task, tasks=row.tasks + 1, moved=None)


def _ended(row: MemberRow, event: AgentEnded, at: float) -> MemberRow:
    """It rests, until what follows says more."""
    well = event.end in (AgentEnd.ANSWERED, AgentEnd.SILENT)
    resting = _now(row, MemberState.IDLE if well else MemberState.FAILED, at, event.reason)
    return replace(
        resting if row.state in AT_WORK else row,
        moved=None,
        tokens_before=row.tokens_before + event.usage.prompt + event.usage.output,
        cost_before=row.cost_before + event.cost_usd,
        unpriced_before=row.unpriced_before + event.unpriced,
    )


def watched(rows: Iterable[MemberRow]) -> tuple[MemberRow, ...]:
    """The members to list, at most `WATCHED`: those that ask, then those at work, then the most recently active."""
    ranked = sorted(rows, key=lambda row: (not row.asks, row.state is not MemberState.WORKING, -row.active))
    return tuple(ranked[:WATCHED])


LANE_MARKS = {
    MemberState.QUEUED: "░",
    MemberState.WORKING: "▇",
    MemberState.IDLE: "▁",
    MemberState.FAILED: "✗",
    MemberState.PAUSED: "‖",
    MemberState.ENDED: " ",
}


def lane(row: MemberRow, begin: float, end: float, cells: int) -> str:
    """What a member did between two moments, one mark for each part of the time; a failure shows over what it followed.

    Before it joined, and after its end, the lane is blank.
    """
    each = max(end - begin, 1e-9) / max(cells, 1)
    marks, state, at = "", MemberState.ENDED, 0
    for cell in range(cells):
        until = begin + (cell + 1) * each if cell < cells - 1 else end
        passed = [state]
        while at < len(row.lane) and row.lane[at][0] <= until:
            passed.append(row.lane[at][1])
            at += 1
        state = passed[-1]
        shown = next((one for one in (MemberState.FAILED, MemberState.WORKING) if one in passed[1:]), state)
        marks += LANE_MARKS[shown]
    return marks


@dataclass(frozen=True, slots=True)
class TeamSpend:
    """What all members have cost."""

    tokens: int
    cost_usd: float
    unpriced: int


def spent(rows: Iterable[MemberRow]) -> TeamSpend:
    """What these members have cost, all their tasks together."""
    known = tuple(rows)
    cost = sum(row.cost_usd for row in known)
    return TeamSpend(sum(row.tokens for row in known), cost, sum(row.unpriced for row in known))


def roster_lines(rows: Iterable[MemberRow], now: float) -> Iterator[str]:
    """The members as lines for the model and the user: the listed ones, how many more there are, and what all cost."""
    known = tuple(rows)
    live = [row for row in known if row.state is not MemberState.ENDED]
    listed = watched(live)
    for row in listed:
        facts = [f"{row.tokens:,} tokens", *_price(row.cost_usd, row.unpriced)]
        facts += [f"worktree {row.worktree}"] if row.worktree else []
        facts += [f"{row.claimed} {'task' if row.claimed == 1 else 'tasks'} of the board"] if row.claimed else []
        facts += [f"{row.unread} unread"] if row.unread else []
        facts += [f"owes a report to {', '.join(one.name for one in row.owes)}"] if row.owes else []
        since = f" for {lasted(now - row.since)}" if row.since else ""
        what = " · ".join(filter(None, (row.role, row.task and f"task: {row.task}", row.reason)))
        yield f"{row.name} ({row.agent}) {row.word}{since}: {what} ({', '.join(facts)})"
    if len(live) > len(listed):
        yield f"and {len(live) - len(listed)} more"
    if ended := [row.name for row in known if row.state is MemberState.ENDED]:
        yield f"ended: {', '.join(ended[-WATCHED:])}"
    if known:
        all = spent(known)
        yield ", ".join((f"together: {all.tokens:,} tokens", *_price(all.cost_usd, all.unpriced)))


def counted_members(rows: Sequence[MemberRow]) -> str:
    """How many members there are, and what they do; empty: there is none."""
    words = Counter(row.word for row in rows)
    parts = ", ".join(f"{number} {word}" for word, number in words.items())
    return f"{len(rows)} {'member' if len(rows) == 1 else 'members'}: {parts}" if rows else ""


def lasted(seconds: float) -> str:
    """A time in its largest unit: "3 h", "40 min", "12 s"."""
    for unit, length, least in (("h", 3_600, 7_200), ("min", 60, 120)):
        if seconds >= least:
            return f"{seconds // length:.0f} {unit}"
    return f"{max(0.0, seconds):.0f} s"


def _price(cost_usd: float, unpriced: int) -> tuple[str, ...]:
    """A cost in words; unknown prices are unknown, never zero."""
    known = (f"${cost_usd:,.2f}" if cost_usd >= 0.1 else f"${cost_usd:.4f}",) if cost_usd else ()
    return (*known, f"{unpriced} requests of unknown price") if unpriced else known


# ── decisions ───────────────────────────────────────────────────────────────────────────────────


def full(live: int, most: int) -> str:
    """Why no other member may join, as a sentence; empty: one may."""
    if live < most:
        return ""
    return f"There are {live} members, and team_members allows no more. End one with team_stop, or write to one."


@dataclass(frozen=True, slots=True)
class Begin:
    """Its mail begins a task now."""


@dataclass(frozen=True, slots=True)
class WaitUntil:
    """Its mail waits for the end of its pause."""

    at: float
    """Unix time."""


@dataclass(frozen=True, slots=True)
class Stay:
    """Nothing follows: it works, has ended, or has no mail that begins work."""


def next_step(
    state: MemberState, *, begins_work: bool, paused_until: float | None, now: float
) -> Begin | WaitUntil | Stay:
    """What a member does next.

    Args:
        begins_work: it has unread mail that is a reason for a turn.
        paused_until: Unix time at which its pause ends; None: it is not paused.
    """
    if state not in REST or not begins_work:
        return Stay()
    if paused_until is not None and now < paused_until:
        return WaitUntil(paused_until)
    return Begin()
