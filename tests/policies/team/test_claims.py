"""Claims of idle members against a naive oracle; ends of turns; evidence."""

from hypothesis import given
from hypothesis import strategies as st

from harness.events import AgentEnd, TaskState
from harness.policies.tasks.task import Task
from harness.policies.team.claims import (
    PASSED_OVER,
    Claimant,
    ClaimOutcome,
    CommandRun,
    Evidence,
    NoEvidence,
    Work,
    at_rest,
    at_turn_end,
    evidence,
    order,
    pairs,
    unclaimable,
)

NAMES = ("ann", "ben", "cem", "dia")


@st.composite
def boards(draw: st.DrawFn) -> dict[int, Task]:
    tasks: dict[int, Task] = {}
    for number in range(1, draw(st.integers(0, 8)) + 1):
        needs = draw(st.lists(st.sampled_from(sorted(tasks)), max_size=2, unique=True)) if tasks else []
        state = draw(st.sampled_from([TaskState.PENDING] * 3 + [TaskState.COMPLETED, TaskState.FAILED]))
        tasks[number] = Task(
            number,
            f"task {number}",
            state=state,
            priority=draw(st.integers(0, 4)),
            needs=tuple(needs),
            assignee=draw(st.sampled_from(["", "", *NAMES, "tester", "gone"])),
            fence=int(state is not TaskState.PENDING),
        )
    return tasks


@st.composite
def idlers(draw: st.DrawFn) -> list[Claimant]:
    names = draw(st.lists(st.sampled_from(NAMES), unique=True))
    roles = [draw(st.sampled_from(["tester", "writer"])) for _ in names]
    return [
        Claimant(name, frozenset({name, role}), float(draw(st.integers(0, 3))))
        for name, role in zip(names, roles, strict=True)
    ]


@given(boards(), idlers())
def test_no_task_has_two_members_and_none_waits_while_one_could_take_it(
    tasks: dict[int, Task], idle: list[Claimant]
) -> None:
    found = pairs(tasks, idle)
    assert len({one.number for one in found}) == len({one.name for one in found}) == len(found)
    able = {number for number, task in tasks.items() if task.state is TaskState.PENDING}
    able = {n for n in able if all(tasks[need].state is TaskState.COMPLETED for need in tasks[n].needs)}
    by_name = {one.name: one for one in idle}
    for one in found:
        assert one.number in able
        assert tasks[one.number].assignee in {"", *by_name[one.name].answers_to}
    left = [one for one in idle if one.name not in {pair.name for pair in found}]
    for number in able - {one.number for one in found}:
        assert not [one for one in left if tasks[number].assignee in {"", *one.answers_to}]


@given(boards(), idlers())
def test_the_first_task_that_a_member_may_take_is_never_passed_over(
    tasks: dict[int, Task], idle: list[Claimant]
) -> None:
    found = pairs(tasks, idle)
    claimed = {one.number for one in found}
    for pair in found:
        (mine,) = (one for one in idle if one.name == pair.name)
        for task in order(tasks)[: [task.number for task in order(tasks)].index(pair.number)]:
            assert task.number in claimed or task.assignee not in {"", *mine.answers_to}


def test_an_old_task_rises_above_a_stream_of_more_urgent_ones() -> None:
    """The naive stream: one urgent task after the other, each claimed at once, and one old task without urgency."""
    tasks = {1: Task(1, "old", priority=4)}
    for number in range(2, 5 * PASSED_OVER + 3):
        tasks[number] = Task(number, "urgent", priority=0)
        (pair,) = pairs(tasks, [Claimant("ann", frozenset())])
        if pair.number == 1:
            return
        tasks[pair.number] = tasks[pair.number]._replace(state=TaskState.COMPLETED, fence=1)
    raise AssertionError("the old task was never claimed")


def test_who_has_been_idle_longest_goes_first_and_a_task_without_its_member_is_told() -> None:
    tasks = {1: Task(1, "any"), 2: Task(2, "for gone", assignee="gone")}
    idle = [Claimant("ann", frozenset({"ann"}), 5.0), Claimant("ben", frozenset({"ben"}), 2.0)]
    assert [(one.name, one.number) for one in pairs(tasks, idle)] == [("ben", 1)]
    assert [task.id for task in unclaimable(tasks, ["ann", "ben"])] == ["t2"]


@given(st.sampled_from(AgentEnd), *[st.booleans()] * 5)
def test_a_claim_is_never_left_to_nobody(
    end: AgentEnd, held: bool, finished: bool, waits: bool, transient: bool, stopped: bool
) -> None:
    outcome = at_turn_end(end, held=held, finished=finished, waits=waits, transient=transient, stopped=stopped)
    assert (outcome is ClaimOutcome.OVER) is not held
    if held and stopped:
        assert outcome is ClaimOutcome.SET_ASIDE
    if outcome is ClaimOutcome.KEEP:
        assert (waits and end in (AgentEnd.ANSWERED, AgentEnd.SILENT)) or (transient and end is AgentEnd.FAILED)


runs = st.builds(CommandRun, st.just("pytest"), st.just("exit 1"), st.booleans())
works = st.builds(
    Work,
    st.lists(runs, max_size=3).map(tuple),
    st.sampled_from([(), ("a.py",)]),
    st.integers(0, 2),
    st.integers(0, 2),
)


@given(works)
def test_done_needs_a_command_that_succeeded_last_or_a_change(work: Work) -> None:
    found = evidence(work)
    fine = not work.uncommitted and (work.runs[-1].succeeded if work.runs else bool(work.files or work.commits))
    assert isinstance(found, Evidence if fine else NoEvidence)


def test_a_goal_is_at_rest_when_nobody_works_and_nobody_could() -> None:
    blocked = {1: Task(1, "a", state=TaskState.FAILED, fence=1), 2: Task(2, "b", needs=(1,))}
    assert at_rest(blocked, working=0, able=0)
    assert not at_rest(blocked, working=1, able=0)
    assert not at_rest(blocked, working=0, able=1)
