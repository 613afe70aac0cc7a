"""The retries that an agent and its subagents share."""

import math

from harness.engine.model.shared_retries import SharedRetries
from harness.events import Event, RetryBudgetSpent
from harness.policies.recovery.backoff import RetryBudget


def test_retries_are_limited_only_while_a_subagent_works() -> None:
    shared = SharedRetries(RetryBudget(share=0.5, burst=2))
    shared.retried()
    assert shared.left == math.inf
    with shared.subagent_at_work():
        assert shared.left == 2
        shared.retried()
        shared.retried()
        assert shared.left == 0
        shared.requested()
        shared.requested()
        assert shared.left == 1
        shared.begin_turn()  # not while a subagent works
        assert shared.left == 1
    assert shared.left == math.inf
    shared.begin_turn()
    with shared.subagent_at_work():
        assert shared.left == 2


def test_that_nothing_is_left_is_reported_to_the_agent_and_once_a_turn_to_the_user() -> None:
    user: list[Event] = []
    agents: list[list[Event]] = [[], []]
    emit = user.append
    shared = SharedRetries(RetryBudget(burst=1), emit)
    with shared.subagent_at_work():
        shared.requested()
        shared.retried()
        for seen in agents:
            shared.report_spent(seen.append)
    assert user == [RetryBudgetSpent(1, 1)]
    assert agents == [user, user]
    shared.begin_turn()
    shared.report_spent(emit)  # its own conversation is that of the user
    assert user == [RetryBudgetSpent(1, 1), RetryBudgetSpent(0, 0)]
    shared.report_spent(agents[0].append)
    assert len(user) == 2
    SharedRetries().report_spent(agents[0].append)
