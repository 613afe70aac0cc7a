"""Which retries count against the budget that all agents share, and who is told that it is used up."""

from math import inf

from harness.engine.model.budgets import SharedRetries
from harness.events import Event, RetryBudgetSpent
from harness.policies.recovery.backoff import RetryBudget


def test_an_agent_that_works_alone_is_not_held_by_it() -> None:
    retries = SharedRetries(RetryBudget(burst=1))
    for _ in range(5):
        retries.requested()
        retries.retried()
    assert (retries.left, retries.budget) == (inf, RetryBudget(burst=1))
    with retries.subagent_at_work():
        retries.retried()
        assert retries.left == 0
    assert retries.left == inf


def test_it_is_full_again_when_the_user_wants_something_new_and_no_subagent_is_at_work() -> None:
    retries = SharedRetries(RetryBudget(burst=2))
    with retries.subagent_at_work():
        retries.retried()
        retries.begin_turn()
        assert retries.left == 1
    retries.begin_turn()
    with retries.subagent_at_work():
        assert retries.left == 2


def test_the_user_is_told_once_a_turn_and_each_agent_that_is_refused() -> None:
    user, first, second = list[Event](), list[Event](), list[Event]()
    tell_user = user.append
    retries = SharedRetries(emit=tell_user)
    for emit in (first.append, second.append, tell_user):
        retries.report_spent(emit)
    assert (first, second) == ([RetryBudgetSpent(0, 0)], [RetryBudgetSpent(0, 0)])
    assert len(user) == 2  # of the others once, and of its own request
    retries.begin_turn()
    retries.report_spent(first.append)
    assert len(user) == 3
