"""The cost budget of an agent: what it needs, and notices when parts of it are spent.

`recovery.over_budget` ends a turn whose cost budget is spent.
"""

from collections.abc import Callable, Iterable

from harness.base.errors import SettingsError
from harness.engine.conversation import Conversation
from harness.events import BudgetReached, Event, SpendChanged

TOLD_AT = (50, 80, 100)
"""Percent of the budget."""


class BudgetNotices:
    """Reports once each when 50, 80 and 100 % of the budget of a conversation are spent.

    Earlier spend of a resumed session was reported then.
    """

    def __init__(self, conversation: Conversation, budget_usd: float) -> None:
        self._conversation = conversation
        self._budget_usd = budget_usd
        self._reported = reached(conversation.spend.cost_usd, budget_usd)

    def on_event(self, event: Event) -> None:
        """An event of the conversation."""
        if isinstance(event, SpendChanged) and (now := reached(event.cost_usd, self._budget_usd)) > self._reported:
            self._reported = now
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
