"""Which idle member claims which task of the board, and what becomes of a claim when the member ends its turn.

ready task ─▶ claimed for an idle member ─▶ its turn ─▶ ended by the member, with evidence
                    ▲                          ├─▶ kept: it waits for an answer, or goes on after a fault
                    └── given back ◀───────────┴─▶ set aside: the user stopped it
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Final

from harness.events import AgentEnd, FaultKind, GoalEnded, TaskState
from harness.policies.tasks.graph import Standing, Tasks, ready, standings
from harness.policies.tasks.task import PENDING, Task

PASSED_OVER = 20
"""A task counts as one step more urgent for so many younger tasks that were claimed before it."""


@dataclass(frozen=True, slots=True)
class Claimant:
    """An idle member that may claim."""

    name: str
    answers_to: frozenset[str]
    """Assignees that mean it: its name, its role, its kind, the actor that it is on the board."""
    idle_since: float = 0.0
    """Unix time."""


@dataclass(frozen=True, slots=True)
class Pair:
    """This member claims this task."""

    name: str
    number: int


def pairs(tasks: Tasks, claimants: Iterable[Claimant]) -> tuple[Pair, ...]:
    """Who claims what now: the first ready task in `order` goes to whoever it is assigned to, else to the member that
    has been idle longest. A member gets one task, a task one member."""
    idle = sorted(claimants, key=lambda one: (one.idle_since, one.name))
    found: list[Pair] = []
    for task in order(tasks):
        one = next((one for one in idle if task.assignee in one.answers_to or not task.assignee), None)
        if one is not None:
            idle.remove(one)
            found.append(Pair(one.name, task.number))
    return tuple(found)


def order(tasks: Tasks) -> list[Task]:
    """The ready tasks in the order in which members claim them: by priority, then by age. So that none waits for ever
    behind more urgent ones, a task rises by one step for each `PASSED_OVER` younger tasks that were claimed."""
    claimed = sorted(number for number, task in tasks.items() if task.fence)

    def rank(task: Task) -> tuple[int, int]:
        passed = sum(number > task.number for number in claimed)
        return task.priority - passed // PASSED_OVER, task.number

    return sorted(ready(tasks), key=rank)


def unclaimable(tasks: Tasks, names: Iterable[str]) -> tuple[Task, ...]:
    """Ready tasks that are assigned to somebody who is not there; `names`: all that members answer to."""
    known = set(names)
    return tuple(task for task in order(tasks) if task.assignee and task.assignee not in known)


PASSING: Final = frozenset(
    {
        FaultKind.OVERLOADED,
        FaultKind.RATE_LIMIT,
        FaultKind.SERVER,
        FaultKind.TIMEOUT,
        FaultKind.NETWORK,
        FaultKind.STALE_SOCKET,
    }
)
"""Faults of the model that pass; a member keeps its task and goes on after a while."""
OF_THE_ACCOUNT: Final = frozenset(
    {
        FaultKind.AUTH,
        FaultKind.BILLING,
        FaultKind.QUOTA_EXHAUSTED,
        FaultKind.TLS,
        FaultKind.MODEL_NOT_FOUND,
        FaultKind.WRONG_ADDRESS,
    }
)
"""Faults that the user has to mend; members keep their tasks, and no other one is claimed."""


class ClaimOutcome(Enum):
    """What becomes of a claim at the end of a turn."""

    OVER = "over"
    """The member has ended the task itself."""
    MERGE = "merge"
    """The member has finished; its branch goes to the merge queue first."""
    KEEP = "keep"
    """It goes on with the task: when the answer that it waits for has come, or after a fault has passed."""
    GIVE_BACK = "give back"
    """The task is ready again, with a note and one more attempt."""
    SET_ASIDE = "set aside"
    """Nobody claims it before the user or the lead says so."""


def at_turn_end(
    end: AgentEnd, *, held: bool, finished: bool, waits: bool, transient: bool, stopped: bool
) -> ClaimOutcome:
    """What becomes of the claim of a member whose turn has ended.

    Args:
        held: its task is still in progress.
        finished: it has said that the task is done, and its branch is to be merged.
        waits: it waits for an answer that it has asked for.
        transient: the model failed in a way (`PASSING`, `OF_THE_ACCOUNT`) of which the task is not the reason.
        stopped: the user stopped this turn, and not the member.
    """
    if not held:
        return ClaimOutcome.OVER
    if stopped:
        return ClaimOutcome.SET_ASIDE
    if finished:
        return ClaimOutcome.MERGE
    if end is AgentEnd.FAILED and transient:
        return ClaimOutcome.KEEP
    if waits and end in (AgentEnd.ANSWERED, AgentEnd.SILENT):
        return ClaimOutcome.KEEP
    return ClaimOutcome.GIVE_BACK


# ── evidence ────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class CommandRun:
    """A command that the program ran for a member."""

    line: str
    end: str
    """How it ended, in a few words, such as "exit 1"."""
    succeeded: bool
    """Its exit code is 0."""


@dataclass(frozen=True, slots=True)
class Work:
    """What a member has done since it claimed its task, as the program saw it."""

    runs: tuple[CommandRun, ...] = ()
    """Oldest first."""
    files: tuple[str, ...] = ()
    """Files that its tools have written."""
    commits: int = 0
    """In its worktree, since the task began."""
    uncommitted: int = 0
    """Changed files of its worktree that are not committed."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What shows that a task is done."""

    text: str


@dataclass(frozen=True, slots=True)
class NoEvidence:
    """The task is not done yet, and why, as a sentence."""

    why: str


def evidence(work: Work) -> Evidence | NoEvidence:
    """What shows that a task is done: the last command and its exit code, and what was changed."""
    if work.uncommitted:
        files = "file is" if work.uncommitted == 1 else "files are"
        return NoEvidence(f"{work.uncommitted} changed {files} not committed; commit the work, then complete the task.")
    last = work.runs[-1] if work.runs else None
    if last is not None and not last.succeeded:
        return NoEvidence(
            f"The last command, `{last.line}`, ended with {last.end}. Run one that shows that the task is done, or end "
            "the task as failed."
        )
    parts = [f"`{last.line}`: exit 0"] if last else []
    if work.commits:
        parts.append(f"{work.commits} commits" if work.commits > 1 else "1 commit")
    elif work.files:
        parts.append(f"changed {_listed(work.files)}")
    if not parts:
        return NoEvidence(
            "Nothing shows that the task is done: no command was run and no file was changed since you claimed it. Run "
            "a command that shows the result."
        )
    return Evidence("; ".join(parts))


def _listed(names: Sequence[str], most: int = 5) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


# ── the end of a goal ───────────────────────────────────────────────────────────────────────────


def at_rest(tasks: Tasks, *, working: int, able: int) -> bool:
    """Nothing follows by itself: nobody works, and no ready task has a member that can claim it.

    Args:
        working: members with a task, queued or under way.
        able: pairs that could claim now.
    """
    return not working and not able and not any(task.claim for task in tasks.values() if task.state is not PENDING)


GoalLists = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], tuple[str, ...], tuple[str, ...]]
"""Done, failed or cancelled, set aside, deferred, left; a line for each task."""


def goal_ended(tasks: Tasks, begun: Collection[str], names: Collection[str], holders: Mapping[str, str]) -> GoalLists:
    """How the tasks of a board stand at the end.

    Args:
        begun: ids of those that members have claimed; of tasks that have ended only these are listed.
        names: all that members answer to.
        holders: names of members that still hold a task, by its id.
    """
    lists: dict[str, list[str]] = {"done": [], "failed": [], "set aside": [], "deferred": [], "left": []}
    where = standings(tasks)
    for number, task in sorted(tasks.items()):
        note = f": {task.note}" if task.note else ""
        match task.state:
            case TaskState.COMPLETED | TaskState.FAILED | TaskState.CANCELLED if task.id not in begun:
                continue
            case TaskState.COMPLETED:
                kind = "done"
            case TaskState.FAILED | TaskState.CANCELLED:
                kind = "failed"
            case TaskState.DEFERRED:
                kind = "set aside"
            case TaskState.IN_PROGRESS:
                kind, note = "left", f": held by {holders.get(task.id, task.claim.actor if task.claim else '')}"
            case TaskState.PENDING if where[number].standing is Standing.DEFERRED:
                kind, note = "deferred", f": waits for {_ids(where[number].causes)}"
            case TaskState.PENDING if where[number].standing is Standing.BLOCKED:
                kind, note = "left", f": needs {_ids(where[number].causes)}"
            case TaskState.PENDING:
                gone = task.assignee and task.assignee not in names
                kind, note = "left", f": assigned to {task.assignee}, who is not there" if gone else note
        lists[kind].append(f"{task.id} {task.subject}{note}")
    return tuple(map(tuple, lists.values()))  # type: ignore[return-value]


def _ids(numbers: Iterable[int]) -> str:
    return ", ".join(f"t{number}" for number in numbers)


def goal_text(ended: GoalEnded) -> str:
    """The report at the end of a goal, for the lead and the user."""
    parts = {
        "done": ended.done,
        "failed": ended.failed,
        "set aside": ended.set_aside,
        "deferred": ended.deferred,
        "left": ended.left,
        "not allowed": ended.denied,
    }
    numbers = ", ".join(f"{len(found)} {name}" for name, found in parts.items() if found)
    lines = [f"The members have nothing left to claim: {numbers}."]
    for name, found in parts.items():
        lines += [f"{name}:", *(f"- {one}" for one in found)] if found else []
    unpriced = f", {ended.unpriced} requests of unknown price" if ended.unpriced else ""
    return "\n".join([*lines, f"All members together: {ended.tokens:,} tokens, ${ended.cost_usd:.4f}{unpriced}."])
