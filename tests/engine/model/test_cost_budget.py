"""Notices about a cost budget, against a naive count."""

from math import inf

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.base.errors import SettingsError
from harness.engine.conversation import Conversation, ignore
from harness.engine.model.cost_budget import BudgetNotices, require_prices
from harness.engine.model.shared_retries import SharedRetries
from harness.events import BudgetReached, Event, RetryBudgetSpent, Usage
from harness.journal import SessionState
from harness.model.catalogue import Catalogue
from harness.policies.recovery.backoff import RetryBudget

CENTS = st.lists(st.integers(0, 60), max_size=30)


@given(before=CENTS, after=CENTS, budget=st.integers(1, 200))
def test_each_share_is_reported_once_also_in_a_session_that_is_resumed(
    before: list[int], after: list[int], budget: int
) -> None:
    told: list[Event] = []
    first = Conversation(ignore)
    for cents in before:
        first.add_spend(Usage(output=1), cents, wasted=False)
    conversation = Conversation(told.append, SessionState(spend=first.spend))
    conversation.subscribe(BudgetNotices(conversation, budget).on_event)
    expected, spent = [], sum(before)
    for cents in after:
        passed = [percent for percent in (50, 80, 100) if spent * 100 < percent * budget <= (spent + cents) * 100]
        spent += cents
        expected += [BudgetReached(passed[-1], spent, budget)] if passed else []
        conversation.add_spend(Usage(output=1), cents, wasted=False)
    assert [event for event in told if isinstance(event, BudgetReached)] == expected


def test_what_has_no_price_is_counted_as_requests_and_not_as_money() -> None:
    conversation = Conversation(ignore)
    conversation.add_spend(Usage(output=1), None, wasted=False)
    conversation.add_spend(Usage(output=1), 0.5, wasted=False)
    conversation.add_waste(Usage(output=1), None)
    spend = conversation.spend
    assert (spend.requests, spend.unpriced, spend.cost_usd, spend.retry_cost_usd) == (2, 1, 0.5, 0.0)


def test_a_budget_without_a_price_is_refused_with_what_to_write() -> None:
    models = ("claude-opus-5-5", "claude-mythos-9")
    with pytest.raises(SettingsError, match=r'max_budget_usd .* \[prices\."claude-mythos-9"\] with input and output'):
        require_prices(models, Catalogue().price, "max_budget_usd")
    require_prices(models[:1], Catalogue().price, "max_budget_usd")


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


def test_the_user_is_notified_once_a_turn_and_each_agent_that_is_refused() -> None:
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
