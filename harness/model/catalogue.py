"""What is known about the models: window, output cap, and with `prices` what they cost.

The table is api §5.2. It is a start, not the truth: what it lacks the models endpoint adds, and the numbers in
error texts correct it (api R32). A model that nobody knows gets a careful card instead of an error.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import lru_cache

from harness.events import Effort, Json, Usage
from harness.model.prices import Price, price_of
from harness.model.retirement import RETIRES, Retirement, retirement_in, warning


class Thinking(StrEnum):
    """How a model takes the `thinking` parameter."""

    ALWAYS = "always"
    """Adaptive and cannot be turned off."""
    ADAPTIVE = "adaptive"
    EITHER = "either"
    """Adaptive, or enabled with a budget."""
    MANUAL = "manual"
    """Only enabled with a budget."""
    NONE = "none"
    """It cannot think."""
    UNKNOWN = "unknown"


ON_REQUEST = frozenset({Thinking.ALWAYS, Thinking.ADAPTIVE, Thinking.EITHER})
"""Models of these kinds take `{"type": "adaptive"}`."""
LEVELS = tuple(Effort)


@dataclass(frozen=True, slots=True)
class ModelCard:
    """One model. Sizes are tokens."""

    id: str
    window: int
    """Prompt and reply together."""
    max_output: int
    thinking: Thinking = Thinking.UNKNOWN
    thinks: bool = False
    """Thinks when a request says nothing about thinking."""
    efforts: tuple[Effort, ...] | None = None
    """Levels of `output_config.effort` that it takes, the least first; empty: it takes none, None: not known."""
    takes_web: bool = True
    """Takes the server's own tools for web search and fetch, as far as is known."""
    takes_format: bool = True
    """Takes `output_config.format`, as far as is known."""
    token_ratio: float = 1.5
    """Tokens of this model for one token of o200k, before anything was measured (api R31)."""
    retirement: Retirement | None = None
    """None: no end is known."""

    @property
    def lowers_effort(self) -> bool:
        """Less effort than its own can be asked for."""
        return Effort.LOW in (self.efforts or ())

    @property
    def thinking_parameter(self) -> Json | None:
        """What a request to it says about thinking; None: nothing.

        One that thinks does so in any case. It is asked for a summary, because what it writes between tool calls is in
        its thinking, of which newer models send nothing unless they are asked to.
        """
        asks = self.thinks and self.thinking in ON_REQUEST
        return {"type": "adaptive", "display": "summarized"} if asks else None

    def effort(self, wanted: Effort | None) -> Effort | None:
        """The effort that a request to it names; None: it goes by its own. Where nothing is known, what is wanted."""
        return wanted if self.efforts is None or wanted in self.efforts else None

    def effort_problem(self, wanted: Effort) -> str:
        """Why it cannot be asked for this effort, without a full stop; empty: it can."""
        if self.effort(wanted) is not None:
            return ""
        if not self.efforts:
            return f"{self.id} takes no effort"
        return f"{self.id} does not take the effort {wanted}; it takes {', '.join(self.efforts)}"


def _large(id: str, thinking: Thinking, *, thinks: bool = True) -> ModelCard:
    return ModelCard(id, 1_000_000, 128_000, thinking, thinks=thinks, efforts=LEVELS)


def _of_4_6(id: str) -> ModelCard:
    efforts = tuple(level for level in LEVELS if level is not Effort.XHIGH)
    return ModelCard(id, 1_000_000, 128_000, Thinking.EITHER, efforts=efforts, token_ratio=1.2)


def _small(id: str, efforts: tuple[Effort, ...] = ()) -> ModelCard:
    return ModelCard(id, 200_000, 64_000, Thinking.MANUAL, efforts=efforts, token_ratio=1.2)


KNOWN: tuple[ModelCard, ...] = (
    _large("claude-fable-5-2", Thinking.ALWAYS),
    _large("claude-fable-5-1", Thinking.ALWAYS),
    _large("claude-opus-5-5", Thinking.ALWAYS),
    _large("claude-sonnet-5-5", Thinking.ADAPTIVE),
    _large("claude-haiku-5-5", Thinking.ADAPTIVE),
    _large("claude-fable-5", Thinking.ADAPTIVE),
    _large("claude-opus-5", Thinking.ADAPTIVE),
    _large("claude-sonnet-5", Thinking.ADAPTIVE),
    _large("claude-opus-4-8", Thinking.ADAPTIVE, thinks=False),
    _large("claude-opus-4-7", Thinking.ADAPTIVE, thinks=False),
    _of_4_6("claude-opus-4-6"),
    _of_4_6("claude-sonnet-4-6"),
    _small("claude-opus-4-5", (Effort.LOW, Effort.MEDIUM, Effort.HIGH)),
    _small("claude-sonnet-4-5"),
    _small("claude-haiku-4-5"),
    # The practice model counts with the very vocabulary that we estimate with.
    ModelCard("practice-1", 200_000, 64_000, efforts=LEVELS, token_ratio=1.0),
)
"""The models of api §5.2 and our own, newest generation first."""

UNKNOWN_MODEL = ModelCard("", 200_000, 32_000)
"""The card of a model that nobody knows: the smallest window still sold, and an output cap that most
current models accept. Where it is wrong, the first error text corrects it (api R32)."""

_PROVIDER_PREFIX = re.compile(r"^(?:[a-z]{2,6}\.)?anthropic\.")
_VERSION_SUFFIX = re.compile(r"(?:[-@]\d{8})?(?:-latest)?(?:-v\d+)?(?::\d+)?(?:@default)?(?:\[1m\])?$")


_FAMILY = re.compile(r"claude-(?:\d+-)*([a-z]+)")


def family_name(model: str) -> str:
    """The plain name in a model id: without provider, region, date and version.

    "us.anthropic.claude-opus-5-5-20260901-v1:0", "anthropic/claude-opus-5-5" and "claude-opus-5-5@20260901"
    are all "claude-opus-5-5".
    """
    name = model.strip().lower().rsplit("/", 1)[-1]
    return _VERSION_SUFFIX.sub("", _PROVIDER_PREFIX.sub("", name), count=1)


def model_named(name: str) -> str:
    """The id of a model in a file of other programs: "haiku" and "sonnet[1m]" are the newest ones of these families."""
    family = family_name(name)
    return next((card.id for card in KNOWN if card.id.startswith(f"claude-{family}-")), name)


@lru_cache(maxsize=64)
def known_card(model: str) -> ModelCard:
    """The card of `model` from the table alone, under the id that was asked for.

    Takes the known model whose name is the longest beginning of this one, so that a new point release is
    treated like its family; anything else gets `UNKNOWN_MODEL`.
    """
    name = family_name(model)
    matches = [card for card in KNOWN if name == card.id or name.startswith(card.id + "-")]
    card = max(matches, key=lambda card: len(card.id), default=UNKNOWN_MODEL)
    on = RETIRES.get(name)
    return replace(card, id=model, retirement=None if on is None else Retirement(on))


def successor_of(model: str) -> str | None:
    """The newest known model of the same family; None where there is none."""
    family = _FAMILY.match(family_name(model))
    newest = model_named(family[1]) if family is not None else model
    return newest if newest.startswith("claude-") and newest != family_name(model) else None


class Catalogue:
    """The cards of all models, with what this session has learned about them."""

    def __init__(self, prices: tuple[Price, ...] = ()) -> None:
        """
        Args:
            prices: those of the user, which go before ours.
        """
        self._learned: dict[str, ModelCard] = {}
        self._prices = prices
        self._plain: set[str] = set()
        """Models that refused what was said of thinking or effort."""

    def card(self, model: str) -> ModelCard:
        """The best card for `model`; never fails."""
        return self._learned.get(model) or known_card(model)

    def knows(self, model: str) -> bool:
        """Whether the card of `model` is more than a careful guess."""
        return model in self._learned or replace(known_card(model), id="", retirement=None) != UNKNOWN_MODEL

    def update(self, cards: Iterable[ModelCard]) -> None:
        """Take over what the models endpoint says. What it leaves out stays as known."""
        for new in cards:
            old = self.card(new.id)
            says = new.thinking is not Thinking.UNKNOWN and new.id not in self._plain
            self._learned[new.id] = replace(
                old,
                window=new.window if new.window > 0 else old.window,
                max_output=new.max_output if new.max_output > 0 else old.max_output,
                thinking=new.thinking if says else old.thinking,
                thinks=new.thinks if says else old.thinks,
                retirement=new.retirement or old.retirement,
                efforts=old.efforts if new.efforts is None or new.id in self._plain else new.efforts,
                takes_web=old.takes_web and new.takes_web,
                takes_format=old.takes_format and new.takes_format,
            )

    def correct(self, model: str, *, window: int | None = None, max_output: int | None = None) -> ModelCard:
        """Take over a limit, in tokens, that an error text named; gives the corrected card.

        A number that is not positive is ignored, and no model is left with an output cap above its window.
        """
        card = self.card(model)
        if window is not None and window > 0:
            card = replace(card, window=window)
        if max_output is not None and max_output > 0:
            card = replace(card, max_output=max_output)
        card = replace(card, max_output=min(card.max_output, card.window))
        self._learned[model] = card
        return card

    def warning(self, model: str, now: float) -> str | None:
        """The sentence about a model that ends soon or has ended; `now` is Unix time in seconds."""
        return warning(model, self.card(model).retirement, now, successor_of(model))

    def drop_reply_settings(self, model: str) -> None:
        """The server refused what was said of thinking or effort: `model` takes neither there, to the end of the
        session. Whether it thinks by itself is as before."""
        self._plain.add(model)
        self._learned[model] = replace(self.card(model), thinking=Thinking.UNKNOWN, efforts=())

    def without_web(self, model: str) -> bool:
        """Note that `model` takes no web search and fetch; False: that was known."""
        card = self.card(model)
        self._learned[model] = replace(card, takes_web=False)
        return card.takes_web

    def without_format(self, model: str) -> None:
        """Note that `model` takes no `output_config.format`."""
        self._learned[model] = replace(self.card(model), takes_format=False)

    def price(self, model: str) -> Price | None:
        """What `model` costs; None where nobody has said. A new point release is not taken to cost what others do."""
        return price_of((model, family_name(model)), self._prices)

    def cost(self, model: str, usage: Usage) -> float | None:
        """What a request with this usage costs with `model`, in US dollars; None where that is not known."""
        if usage == Usage():
            return 0.0
        price = self.price(model)
        return None if price is None else price.cost(usage)


def described_card(known: ModelCard, entry: Json) -> ModelCard:
    """The card of a model as an object of the models endpoint describes it; what that leaves out stays as known.

    A model that nobody knows and that takes adaptive thinking is asked to think, so that it is one that thinks.
    """
    window, max_output = entry.get("max_input_tokens"), entry.get("max_tokens")
    capabilities = entry.get("capabilities")
    capabilities = capabilities if isinstance(capabilities, dict) else {}
    thinking, efforts = _thinking_of(capabilities.get("thinking")), _efforts_of(capabilities.get("effort"))
    card = replace(
        known,
        window=window if isinstance(window, int) and window > 0 else known.window,
        max_output=max_output if isinstance(max_output, int) and max_output > 0 else known.max_output,
        efforts=known.efforts if efforts is None else efforts,
        retirement=retirement_in(entry) or known.retirement,
        takes_web=known.takes_web and not _refused(capabilities.get("server_tools")),
        takes_format=known.takes_format and not _refused(capabilities.get("structured_outputs")),
    )
    if thinking is Thinking.UNKNOWN:
        return card
    thinks = thinking in ON_REQUEST and (known.thinks or known.thinking is Thinking.UNKNOWN)
    return replace(card, thinking=thinking, thinks=thinks)


def _refused(capability: object) -> bool:
    """The server says that a model has not got it; it may say nothing."""
    return isinstance(capability, dict) and capability.get("supported") is False


def _thinking_of(capability: object) -> Thinking:
    types = capability.get("types") if isinstance(capability, dict) else None
    if _refused(capability):
        return Thinking.NONE
    if not isinstance(types, dict):
        return Thinking.UNKNOWN
    adaptive, manual = _supported(types.get("adaptive")), _supported(types.get("enabled"))
    if adaptive and not manual:
        return Thinking.ADAPTIVE if _supported(types.get("disabled")) else Thinking.ALWAYS
    return Thinking.EITHER if adaptive else Thinking.MANUAL if manual else Thinking.UNKNOWN


def _efforts_of(capability: object) -> tuple[Effort, ...] | None:
    if not isinstance(capability, dict):
        return None
    if _refused(capability):
        return ()
    return tuple(level for level in LEVELS if _supported(capability.get(level))) or None


def _supported(capability: object) -> bool:
    return isinstance(capability, dict) and capability.get("supported") is True
