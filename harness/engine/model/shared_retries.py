"""The retry budget that an agent and its subagents share."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from harness.events import Event, RetryBudgetSpent
from harness.policies.recovery.backoff import RetryBudget


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
        return self.budget.left if self._at_work else math.inf

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
