"""What a cycle may cost: failures are charged to their root."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.events import Failure, FailureCategory, LoggedFailure
from harness.policies.breakers.failure_budget import KEPT, FailureBudget, budget_used

TOOLS = ("grep", "bash", "fetch")
ROOTS = ("", "transport: connection refused", "timeout")

charges = st.lists(st.tuples(st.sampled_from(TOOLS), st.sampled_from(ROOTS)), max_size=25)


def failure(root: str) -> Failure:
    """A failure of this root."""
    return Failure(FailureCategory.CRASHED, "it failed", root)


def charged(budget: FailureBudget, *charges: tuple[str, str]) -> FailureBudget:
    """The budget after failures of these tools and roots."""
    for step, (tool, root) in enumerate(charges):
        budget = budget.charged(tool, failure(root), step)
    return budget


def naive(charges: list[tuple[str, str]], systemic: set[str]) -> int:
    """What failures cost, by the words of the rule."""
    cost = 0
    for root in ROOTS:
        each = Counter(tool for tool, other in charges if other == root)
        if not root:
            cost += sum(each.values())
        elif each:
            cost += 1 if root in systemic else max(each.values())
    return cost


@given(charges=charges, systemic=st.sets(st.sampled_from(ROOTS[1:])), total=st.integers(1, 8))
def test_the_cost_is_that_of_the_rule_and_once_it_is_used_up_it_stays_so(
    charges: list[tuple[str, str]], systemic: set[str], total: int
) -> None:
    budget, spent = FailureBudget(total), False
    for step, (tool, root) in enumerate(charges, 1):
        before = budget.consumed
        budget = budget.charged(tool, failure(root), step)
        assert before <= budget.consumed <= before + 1
        assert budget.consumed == naive(charges[:step], set())
        spent = spent or budget.consumed >= total
        assert budget.exhausted == spent
    for root in sorted(systemic):
        budget = budget.one_cause(root)
    assert budget.consumed == naive(charges, systemic)
    assert budget.exhausted == spent
    assert budget.caution == (budget.consumed >= total - 1)


@pytest.mark.parametrize(
    ("total", "exhausted"), [(2, True), (3, True), (4, False), (1, True)], ids=["smaller", "same", "larger", "smallest"]
)
def test_only_a_larger_budget_ends_a_pause(total: int, exhausted: bool) -> None:
    budget = charged(FailureBudget(3), *[("grep", ROOTS[1])] * 3).one_cause(ROOTS[1])
    assert budget.of(total).exhausted == exhausted


def test_a_larger_budget_that_is_used_up_as_well_and_a_smaller_one_that_becomes_so() -> None:
    budget = charged(FailureBudget(5), *[("grep", "")] * 5)
    assert [budget.of(total).exhausted for total in (5, 6, 4)] == [True, False, True]
    assert charged(FailureBudget(10), *[("grep", "")] * 5).of(5).exhausted
    assert charged(FailureBudget(3), *[("grep", "")] * 8).of(8).exhausted


def test_a_new_cycle_is_fresh_but_for_the_causes_that_live_on() -> None:
    spent = charged(FailureBudget(2), *[("grep", ROOTS[1])] * 3)
    fresh = spent.next_cycle(frozenset({ROOTS[1]}))
    assert (fresh.total, fresh.consumed, fresh.exhausted, fresh.log) == (2, 0, False, ())
    assert charged(fresh, *[("grep", ROOTS[1])] * 3).consumed == 1
    assert spent.next_cycle(frozenset()).systemic == frozenset()


def test_the_log_keeps_the_last_failures_and_counts_the_others() -> None:
    budget = charged(FailureBudget(), *[("grep", "")] * (KEPT + 7))
    assert (len(budget.log), budget.not_logged) == (KEPT, 7)
    assert budget.log[0] == LoggedFailure(7, "grep", failure(""))
    assert budget.log[-1].step == KEPT + 6
    assert budget.consumed == KEPT + 7


def test_calls_that_fail_together_never_show_more_than_the_whole_budget() -> None:
    used = charged(FailureBudget(2), ("grep", ""), ("bash", ""), ("fetch", "")).consumed
    assert (used, budget_used(used, 2)) == (3, "2 of 2")
    assert [budget_used(1, 2), budget_used(3, 0)] == ["1 of 2", "3 of an unknown number"]
