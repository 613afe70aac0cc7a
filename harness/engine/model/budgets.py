"""The cost budget of an agent, and the retry budget that an agent and its subagents share.

`recovery.over_budget` ends a turn whose cost budget is spent.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from math import inf

from harness.base.errors import SettingsError
from harness.engine.conversation import Conversation
from harness.events import BudgetReached, Event, RetryBudgetSpent, SpendChanged
from harness.policies.recovery.backoff import RetryBudget

TOLD_AT = (50, 80, 100)
"""Percent of the budget."""


class BudgetNotices:
    """Reports once each when 50, 80 and 100 % of the budget of a conversation are spent.

    Earlier spend of a resumed session was reported then.
    """

    def __init__(self, conversation: Conversation, budget_usd: float) -> None:
        self._conversation = conversation
        self._budget_usd = budget_usd
        self._told = reached(conversation.spend.cost_usd, budget_usd)

    def on_event(self, event: Event) -> None:
        """An event of the conversation."""
        if isinstance(event, SpendChanged) and (now := reached(event.cost_usd, self._budget_usd)) > self._told:
            self._told = now
            self._conversation.emit(BudgetReached(now, event.cost_usd, self._budget_usd))


def reached(cost_usd: float, budget_usd: float) -> int:
    """The largest of `TOLD_AT` that is spent; 0: none of them."""
    return max((percent for percent in TOLD_AT if cost_usd * 100 >= budget_usd * percent), default=0)


def require_prices(models: Iterable[str], priced: Callable[[str], object | None], name: str) -> None:
    """Raise SettingsError when one of the models has no price, so that the budget of this setting would never end."""
    for model in models:
        if priced(model) is None:
            table = f'[prices."{model}"]'
            raise SettingsError(
                f"{name} cannot be kept, because the price of {model} is not known; give it as {table} with input and "
                "output, in US dollars per million tokens, in your settings.toml (`harness doctor` says where that is)."
            )


class SharedRetries:
    """The retries that an agent and its subagents share while any subagent works."""

    def __init__(self, budget: RetryBudget | None = None, emit: Callable[[Event], None] | None = None) -> None:
        """
        Args:
            budget: what there is at the beginning of a turn.
            emit: reports to the conversation of the user, once a turn, that nothing is left.
        """
        self._full = self.budget = budget or RetryBudget()
        self._emit = emit
        self._at_work = 0
        self._reported = False

    @contextmanager
    def subagent_at_work(self) -> Iterator[None]:
        """A subagent takes its turn."""
        self._at_work += 1
        try:
            yield
        finally:
            self._at_work -= 1

    def begin_turn(self) -> None:
        """The user wants something new: the budget is full again, unless subagents are still at work."""
        if not self._at_work:
            self.budget, self._reported = replace(self._full), False

    @property
    def left(self) -> float:
        """Retries that may be made now; infinite while no subagent is at work."""
        return self.budget.left if self._at_work else inf

    def requested(self) -> None:
        """A request goes out that is no retry."""
        if self._at_work:
            self.budget = self.budget.after_request()

    def retried(self) -> None:
        """A retry was decided."""
        if self._at_work:
            self.budget = self.budget.after_retry()

    def report_spent(self, emit: Callable[[Event], None]) -> None:
        """A retry was refused to the agent whose conversation `emit` is."""
        event = RetryBudgetSpent(self.budget.requests, self.budget.retries)
        emit(event)
        if self._emit is not None and self._emit != emit and not self._reported:
            self._emit(event)
        self._reported = True
