"""What may be changed on a board, who may do it, and what follows."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.events import TaskState
from harness.policies.tasks.decisions import (
    Changes,
    Refused,
    TaskDraft,
    TaskEdit,
    act,
    change,
    claim,
    create,
    delete,
    expire,
)
from harness.policies.tasks.graph import Standing, standings
from harness.policies.tasks.task import (
    ENDED,
    TRANSITIONS,
    Actor,
    Role,
    Task,
    TaskAction,
    TaskLimits,
    legal_actions,
    number_of,
)

LIMITS = TaskLimits(tasks=12, batch=6, subject=20, description=30, needs=3, attempts=2, lease_s=10.0)
ANN, BEN = Actor("s1/a1"), Actor("s1/a2")
LEAD, USER = Actor("s1", Role.LEAD), Actor("user", Role.USER)


@dataclass
class Board:
    """A board in memory: every change is applied at once."""

    tasks: dict[int, Task] = field(default_factory=dict)
    last: int = 0
    now: float = 100.0

    def apply(self, decided: Changes | Refused) -> Changes | Refused:
        if isinstance(decided, Changes):
            self.tasks |= {task.number: task for task in decided.tasks}
            for number in decided.deleted:
                del self.tasks[number]
            self.last = max([self.last, *self.tasks])
        return decided

    def create(self, *drafts: TaskDraft, actor: Actor = LEAD) -> Changes | Refused:
        first, stored = self.last + 1, len(self.tasks)
        return self.apply(create(drafts, self.tasks, actor, first=first, stored=stored, now=self.now, limits=LIMITS))

    def claim(self, number: int, actor: Actor = ANN) -> Changes | Refused:
        return self.apply(claim(self.tasks[number], self.tasks, actor, now=self.now, limits=LIMITS))

    def act(
        self, number: int, action: TaskAction, actor: Actor = ANN, text: str = "seen", fence: int | None = None
    ) -> Changes | Refused:
        task = self.tasks[number]
        if fence is None and not actor.leads:
            fence = task.fence
        decided = act(task, action, self.tasks, actor, text=text, fence=fence, now=self.now, limits=LIMITS)
        return self.apply(decided)

    def edit(self, number: int, edit: TaskEdit, actor: Actor = LEAD) -> Changes | Refused:
        return self.apply(change(self.tasks[number], edit, self.tasks, actor, now=self.now, limits=LIMITS))


def drafts(*needs: Sequence[str]) -> tuple[TaskDraft, ...]:
    """Drafts named a, b, c, … with these needs."""
    return tuple(
        TaskDraft(f"part {name}", needs=tuple(own), name=name) for name, own in zip("abcdef", needs, strict=False)
    )


@pytest.fixture
def board() -> Board:
    """t1, t2 and t3, which needs both."""
    board = Board()
    board.create(*drafts((), (), "ab"))
    return board


def refused(decided: Changes | Refused) -> str:
    assert isinstance(decided, Refused), decided
    return decided.reason


def changed(decided: Changes | Refused) -> Changes:
    assert isinstance(decided, Changes), decided
    return decided


def test_a_graph_is_made_in_one_step_with_names_of_its_own(board: Board) -> None:
    assert [(task.id, task.needs) for task in board.tasks.values()] == [("t1", ()), ("t2", ()), ("t3", (1, 2))]
    changed(board.create(TaskDraft("  more\n of it ", needs=("t3", "1"))))
    assert (board.tasks[4].subject, board.tasks[4].needs) == ("more of it", (3, 1))


@pytest.mark.parametrize(
    ("batch", "words"),
    [
        ((), "no task"),
        ((TaskDraft("x"),) * 7, "at most 6"),
        ((TaskDraft("x", needs=("t9",)),), "no task 't9'"),
        ((TaskDraft("x", needs=("z",)),), "no task 'z'"),
        ((TaskDraft(" "),), "subject is empty"),
        ((TaskDraft("x" * 21),), "at most 20"),
        ((TaskDraft("x", "y" * 31),), "at most 30"),
        ((TaskDraft("x", priority=5),), "priority 5"),
        ((TaskDraft("x", name="a"), TaskDraft("y", name="a")), "'a' is used twice"),
        ((TaskDraft("x", name="t1"),), "looks like an id"),
        (drafts("b", "a"), "t4 (part a) needs t5 (part b) needs t4 (part a)"),
        (drafts("a"), "t4 (part a) needs t4 (part a)"),
        ((*drafts((), (), (), ()), TaskDraft("x", needs=tuple("abcd"))), "at most 3"),
    ],
)
def test_a_batch_is_created_whole_or_not_at_all(board: Board, batch: tuple[TaskDraft, ...], words: str) -> None:
    before = dict(board.tasks)
    assert words in refused(board.create(*batch))
    assert board.tasks == before


def test_a_full_board_takes_no_more(board: Board) -> None:
    changed(board.create(*drafts((), (), (), (), (), ())))
    assert "holds 9 of 12" in refused(board.create(*drafts((), (), (), ())))


def test_a_claim_needs_what_the_task_needs_and_the_loser_learns_who_won(board: Board) -> None:
    assert refused(board.claim(3)) == "t3 needs t1 (pending), t2 (pending) first."
    changed(board.claim(1))
    assert refused(board.claim(1, BEN)) == "t1 was claimed by s1/a1."
    assert "yours already" in refused(board.claim(1))
    assert board.tasks[1].claim is not None
    assert board.tasks[1].claim.expires == board.now + LIMITS.lease_s


def test_an_assigned_task_is_for_its_assignee_and_for_the_lead(board: Board) -> None:
    changed(board.edit(1, TaskEdit(assignee=BEN.name)))
    assert refused(board.claim(1)) == "t1 is assigned to s1/a2."
    changed(board.claim(1, BEN))
    changed(board.edit(2, TaskEdit(assignee=BEN.name)))
    changed(board.claim(2, USER))


def test_the_end_of_a_task_names_what_it_unblocks_and_whom_it_wakes(board: Board) -> None:
    changed(board.edit(3, TaskEdit(assignee=BEN.name)))
    board.claim(1)
    assert changed(board.act(1, TaskAction.COMPLETE)).unblocked == ()
    board.claim(2)
    ended = changed(board.act(2, TaskAction.COMPLETE))
    assert (ended.unblocked, ended.wakes) == ((3,), ((3, BEN.name),))
    assert "Say what was checked" in refused((board.claim(3, BEN), board.act(3, TaskAction.COMPLETE, BEN, " "))[1])


def test_a_failure_defers_what_needs_it_and_reopening_brings_it_back(board: Board) -> None:
    board.create(TaskDraft("last", needs=("t3",)))
    board.claim(1)
    assert changed(board.act(1, TaskAction.FAIL, text="no disk")).deferred == (3, 4)
    positions = standings(board.tasks)
    assert {number: (positions[number].standing, positions[number].causes) for number in (3, 4)} == {
        3: (Standing.DEFERRED, (1,)),
        4: (Standing.DEFERRED, (1,)),
    }
    assert changed(board.act(1, TaskAction.REOPEN, LEAD)).unblocked == (1,)
    assert standings(board.tasks)[4].standing is Standing.BLOCKED
    assert board.tasks[1].attempts == 0


def test_an_old_claim_changes_nothing(board: Board) -> None:
    board.claim(1)
    board.apply(expire(board.tasks[1], "its process ended", board.tasks, now=board.now, limits=LIMITS))
    assert (board.tasks[1].state, board.tasks[1].attempts, board.tasks[1].claim) == (TaskState.PENDING, 1, None)
    board.claim(1, BEN)
    assert "s1/a2 has it now" in refused(board.act(1, TaskAction.COMPLETE, ANN, fence=1))
    assert "held by s1/a2" in refused(board.act(1, TaskAction.COMPLETE, ANN, fence=2))
    changed(board.act(1, TaskAction.COMPLETE, BEN))


def test_the_lead_ends_what_its_subagents_hold_and_not_what_other_sessions_do(board: Board) -> None:
    board.claim(1, Actor("s2", Role.LEAD))
    board.claim(2, ANN)
    assert "is held by s2" in refused(board.act(1, TaskAction.COMPLETE, LEAD))
    changed(board.act(2, TaskAction.COMPLETE, LEAD))
    changed(board.act(1, TaskAction.RELEASE, USER))


def test_the_end_of_a_very_long_chain_is_decided_at_once() -> None:
    chain = {number: Task(number, "x", needs=(number - 1,) if number > 1 else ()) for number in range(1, 10_001)}
    began = time.thread_time()
    deferred = changed(act(chain[1], TaskAction.CANCEL, chain, USER, now=1.0, limits=LIMITS)).deferred
    assert (len(deferred), time.thread_time() - began < 2) == (9_999, True)


def test_a_task_that_is_never_finished_is_set_aside_with_its_reason(board: Board) -> None:
    for reason in ("first", "second"):
        board.claim(1)
        board.apply(expire(board.tasks[1], reason, board.tasks, now=board.now, limits=LIMITS))
    assert board.tasks[1].state is TaskState.DEFERRED
    assert "after 2 attempts" in board.tasks[1].note
    assert "second" in board.tasks[1].note
    assert changed(board.act(1, TaskAction.RELEASE, LEAD)).unblocked == (1,)
    board.claim(1)
    board.act(1, TaskAction.RELEASE, text="third")
    assert board.tasks[1].state is TaskState.DEFERRED


@pytest.mark.parametrize("state", list(TaskState))
@pytest.mark.parametrize("action", list(TaskAction))
def test_what_is_not_possible_is_refused_with_what_is(state: TaskState, action: TaskAction) -> None:
    task = Task(1, "x", state=state, creator=LEAD.name)
    decided = (
        claim(task, {1: task}, LEAD, now=1.0, limits=LIMITS)
        if action is TaskAction.CLAIM
        else act(task, action, {1: task}, LEAD, text="why", now=1.0, limits=LIMITS)
    )
    if (state, action) in TRANSITIONS:
        assert changed(decided).tasks[0].state is TRANSITIONS[state, action]
    else:
        assert all(possible in refused(decided) for possible in legal_actions(state))


def test_only_its_own_people_change_a_task(board: Board) -> None:
    assert "belongs to s1" in refused(board.edit(1, TaskEdit(subject="mine"), BEN))
    assert "belongs to s1" in refused(delete(board.tasks[1], board.tasks, BEN))
    changed(board.edit(1, TaskEdit(subject="mine", note="looked at it")))
    assert (board.tasks[1].subject, board.tasks[1].note) == ("mine", "looked at it")
    board.claim(1)
    assert "only its holder" in refused(board.act(1, TaskAction.CANCEL, BEN, fence=None))
    changed(board.act(1, TaskAction.CANCEL, USER))


def test_a_need_can_be_added_and_removed_without_a_cycle(board: Board) -> None:
    assert "t1 (part a) needs t3 (part c) needs t1 (part a)" in refused(board.edit(1, TaskEdit(add_needs=("t3",))))
    changed(board.edit(2, TaskEdit(add_needs=("t1",))))
    freed = changed(board.edit(2, TaskEdit(drop_needs=("t1",))))
    assert freed.unblocked == (2,)
    assert refused(board.edit(2, TaskEdit(drop_needs=("t3",)))) == "t2 needs nothing; t3 cannot be removed from that."
    board.claim(1)
    assert "while it is pending" in refused(board.edit(1, TaskEdit(add_needs=("t2",))))


def test_a_task_that_others_need_or_that_is_worked_on_is_not_deleted(board: Board) -> None:
    assert "needed by t3" in refused(delete(board.tasks[1], board.tasks, LEAD))
    assert changed(delete(board.tasks[3], board.tasks, LEAD)).deleted == (3,)
    board.claim(1)
    assert "in progress" in refused(delete(board.tasks[1], {}, LEAD))


@pytest.mark.parametrize(
    ("text", "number"), [("t12", 12), (" 7 ", 7), ("t", None), ("x1", None), ("t²", None), ("", None)]
)
def test_ids_are_read(text: str, number: int | None) -> None:
    assert number_of(text) == number


STEPS = st.tuples(
    st.sampled_from([*TaskAction, "create", "edit", "delete", "expire"]),
    st.integers(0, 30),
    st.integers(0, 30),
    st.sampled_from([ANN, BEN, LEAD]),
)


@given(st.lists(STEPS, max_size=60))
def test_no_order_of_changes_breaks_a_board(steps: list[tuple[str, int, int, Actor]]) -> None:
    """Invariants after every step, whatever is asked for."""
    board = Board()
    fences: dict[int, int] = {}
    for what, one, other, actor in steps:
        numbers = sorted(board.tasks)
        before, highest = dict(board.tasks), board.last
        number = numbers[one % len(numbers)] if numbers else 0
        need = f"t{numbers[other % len(numbers)]}" if numbers else "t1"
        if what == "create" or not numbers:
            board.create(TaskDraft("x", needs=(need,) if numbers and other % 2 else ()), actor=actor)
        elif what == "edit":
            board.edit(number, TaskEdit(add_needs=(need,)) if one % 2 else TaskEdit(drop_needs=(need,)), actor)
        elif what == "delete":
            board.apply(delete(board.tasks[number], board.tasks, actor))
        elif what == "expire":
            if board.tasks[number].state is TaskState.IN_PROGRESS:
                board.apply(expire(board.tasks[number], "gone", board.tasks, now=board.now, limits=LIMITS))
        elif what == TaskAction.CLAIM:
            board.claim(number, actor)
        else:
            board.act(number, TaskAction(what), actor)
        for task in board.tasks.values():
            assert (task.claim is not None) == (task.state is TaskState.IN_PROGRESS)
            assert all(need in board.tasks for need in task.needs)
            if task.state in (TaskState.IN_PROGRESS, TaskState.COMPLETED):
                assert all(board.tasks[need].state is TaskState.COMPLETED for need in task.needs)
            assert task.fence >= fences.get(task.number, 0)
            fences[task.number] = task.fence
            if (old := before.get(task.number)) is not None and old.state is TaskState.COMPLETED:
                assert task.state is TaskState.COMPLETED
        assert all(number > highest for number in board.tasks.keys() - before.keys())
        standings(board.tasks)  # raises KeyError if there is a cycle
    assert all(
        task.attempts <= LIMITS.attempts or task.state in ENDED | {TaskState.DEFERRED} for task in board.tasks.values()
    )
