"""The queue gives what merging and checking one branch after the other gives."""

from collections.abc import Collection, Sequence

from hypothesis import given
from hypothesis import strategies as st

from harness.policies.worktrees.merge_queue import (
    Check,
    Finish,
    Merge,
    QueueState,
    Restart,
    checked,
    merged,
    next_step,
)

BRANCHES = [f"b{number}" for number in range(9)]
pairs = st.sets(st.frozensets(st.sampled_from(BRANCHES), min_size=2, max_size=2), max_size=5)


class Repository:
    """Branches that are red alone, red together, or in conflict."""

    def __init__(
        self, red: Collection[str], together: Collection[frozenset[str]], conflicts: Collection[frozenset[str]]
    ):
        self.red, self.together, self.conflicts, self.checks = red, together, conflicts, 0

    def conflict(self, merged: Sequence[str], branch: str) -> bool:
        return any(pair <= {*merged, branch} and branch in pair for pair in self.conflicts)

    def green(self, merged: Sequence[str]) -> bool:
        self.checks += 1
        return not set(self.red) & set(merged) and not any(pair <= set(merged) for pair in self.together)


def naive(repository: Repository, branches: Sequence[str]) -> tuple[list[str], list[tuple[str, str]]]:
    """Merge one after the other, and drop what is in conflict or red."""
    accepted: list[str] = []
    dropped: list[tuple[str, str]] = []
    for branch in branches:
        if repository.conflict(accepted, branch):
            dropped.append((branch, "conflict"))
        elif not repository.green([*accepted, branch]):
            dropped.append((branch, "red"))
        else:
            accepted.append(branch)
    return accepted, dropped


def played(repository: Repository, branches: Sequence[str]) -> QueueState:
    state = QueueState(tuple(branches))
    while True:
        match next_step(state):
            case Merge(branch):
                conflict = "both changed f" if repository.conflict((*state.accepted, *state.tried), branch) else None
                state = merged(state, branch, conflict)
            case Check(count):
                green = repository.green((*state.accepted, *state.tried[:count]))
                state = checked(state, count, green=green, output=f"red at {count}")
            case Restart(again):
                assert len(again.waiting) < len(state.waiting)
                state = again
            case Finish(done):
                return done


@given(st.permutations(BRANCHES), st.integers(0, 9), st.sets(st.sampled_from(BRANCHES)), pairs, pairs)
def test_the_outcome_is_that_of_one_branch_after_the_other(
    order: list[str],
    count: int,
    red: set[str],
    together: set[frozenset[str]],
    conflicts: set[frozenset[str]],
) -> None:
    branches = order[:count]
    done = played(Repository(red, together, conflicts), branches)
    accepted, dropped = naive(Repository(red, together, conflicts), branches)
    assert list(done.accepted) == accepted
    assert sorted((one.branch, one.why) for one in done.given_back) == sorted(dropped)
    assert (done.waiting, done.tried, done.conflicts) == ((), (), ())


def test_one_red_branch_of_many_costs_few_checks() -> None:
    branches = [f"b{number}" for number in range(64)]
    repository = Repository({"b40"}, set(), set())
    done = played(repository, branches)
    assert [(one.branch, one.detail) for one in done.given_back] == [("b40", "red at 41")]
    assert repository.checks == 1 + 6 + 1
