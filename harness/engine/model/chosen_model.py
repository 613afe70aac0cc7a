"""The model and the effort that the next turn begins with."""

from collections.abc import Iterable, Iterator

from harness.base.errors import HarnessError
from harness.engine.core import AgentCore
from harness.engine.model.calls import ModelCalls
from harness.engine.model.cost_budget import require_prices
from harness.events import OWN_EFFORT, Effort, SettingChanged


class ModelSelection:
    """Which model answers, and with how much effort."""

    def __init__(self, core: AgentCore, calls: ModelCalls) -> None:
        self._core = core
        self._conversation = core.conversation
        self._calls = calls
        self._catalogue = core.shared.catalogue
        self.asked = core.choice.model
        """The model that was asked last; its thinking is in the history."""

    @property
    def current(self) -> str:
        """The model of the next turn."""
        return self._core.choice.model

    def select(self, model: str) -> None:
        """Use another model from the next turn on. Raises SettingsError for one without a price under a cost budget."""
        if self._core.limits.max_cost_usd is not None:
            require_prices((model,), self._catalogue.price, "max_budget_usd")
        self._conversation.emit(SettingChanged("model", model))
        self.use(model)
        self._core.choice.model = model

    def choices(self, fallbacks: Iterable[str] = ()) -> Iterator[tuple[str, int, tuple[float, float] | None]]:
        """The models that can be selected, the current one first: name, window in tokens, and price.

        The price is that of input and output in US dollars per million tokens; None: unknown.
        """
        for card in self._catalogue.cards((self.current, *fallbacks)):
            price = self._catalogue.price(card.id)
            yield card.id, card.window, None if price is None else (price.input, price.output)

    def use(self, model: str) -> None:
        """Send the next request to `model`."""
        if model != self.asked:
            self.asked = model
            self._calls.forget_sizes()

    @property
    def effort(self) -> Effort | None:
        """The effort of replies from the next turn on; None: the model's default."""
        return self._core.choice.effort

    @property
    def efforts(self) -> tuple[Effort, ...] | None:
        """The levels that the model accepts, lowest first; None: unknown."""
        return self._catalogue.card(self.current).efforts

    def effort_of(self, model: str) -> Effort | None:
        """The effort of another model when it works for this agent; None: its default."""
        return self._catalogue.card(model).effort(self.effort)

    def set_effort(self, effort: Effort | None) -> None:
        """Use another effort from the next turn on; None: the model's default.

        It never changes within a turn, because prompt cache and thinking are bound to it. Raises HarnessError for one
        that the model does not accept.
        """
        if effort is not None and (problem := self._catalogue.card(self.current).effort_problem(effort)):
            raise HarnessError(f"{problem}.")
        self._conversation.emit(SettingChanged("effort", effort or OWN_EFFORT))
        self._core.choice.effort = effort
