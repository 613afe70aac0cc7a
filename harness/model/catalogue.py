"""Known models: window, output cap, thinking, effort, retirement.

The table is only the start: the models endpoint completes it, and limits named in error texts correct it. An unknown
model gets a cautious card instead of an error (docs/design/model-calls.md#models).
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from enum import StrEnum
from functools import lru_cache

from harness.events import Effort, Json, Usage
from harness.model.prices import Price, price_of

NEAR_DAYS = 60
"""A warning is shown this many days before the retirement of a model."""
RETIRES: Mapping[str, date] = {
    "claude-3-opus": date(2026, 1, 5),
    "claude-3-7-sonnet": date(2026, 2, 19),
    "claude-3-5-haiku": date(2026, 2, 19),
    "claude-opus-4": date(2026, 6, 15),
    "claude-opus-4-0": date(2026, 6, 15),
    "claude-sonnet-4": date(2026, 6, 15),
    "claude-sonnet-4-0": date(2026, 6, 15),
    "claude-mythos-preview": date(2026, 6, 30),
    "claude-sonnet-4-5": date(2026, 11, 30),
}
"""By family name, from https://platform.claude.com/docs/en/about-claude/model-deprecations."""


@dataclass(frozen=True, slots=True)
class Retirement:
    """Retirement of a model."""

    on: date
    retired: bool = False
    """Requests to it fail. A date in the past is not enough: retirements are sometimes late."""


class ThinkingSupport(StrEnum):
    """Values of the `thinking` parameter that a model accepts."""

    ALWAYS = "always"
    """Adaptive and cannot be turned off."""
    ADAPTIVE = "adaptive"
    EITHER = "either"
    """Adaptive, or enabled with a budget."""
    MANUAL = "manual"
    """Only with a budget."""
    NONE = "none"
    """No thinking."""
    UNKNOWN = "unknown"


ON_REQUEST = frozenset({ThinkingSupport.ALWAYS, ThinkingSupport.ADAPTIVE, ThinkingSupport.EITHER})
"""These accept `{"type": "adaptive"}`."""
LEVELS = tuple(Effort)
MUCH = frozenset({Effort.HIGH, Effort.XHIGH, Effort.MAX})


@dataclass(frozen=True, slots=True)
class ModelCard:
    """One model. Sizes are tokens."""

    id: str
    window: int
    """Prompt and reply together."""
    max_output: int
    thinking: ThinkingSupport = ThinkingSupport.UNKNOWN
    thinks: bool = False
    """Thinks by default."""
    efforts: tuple[Effort, ...] | None = None
    """Accepted levels of `output_config.effort`, least first; empty: none, None: unknown."""
    takes_web: bool = True
    """Accepts the server tools web search and fetch, as far as known."""
    takes_format: bool = True
    """Accepts `output_config.format`, as far as known."""
    token_ratio: float = 1.5
    """Assumed tokens of this model per token of o200k, before any measurement."""
    retirement: Retirement | None = None
    """None: not announced."""

    @property
    def lowers_effort(self) -> bool:
        """Accepts an effort below its default."""
        return Effort.LOW in (self.efforts or ())

    def thinks_at(self, wanted: Effort | None) -> bool:
        """Whether it thinks if the user wants this effort; None: the model's own."""
        return self.thinks or (self.effort(wanted) in MUCH and self.thinking in ON_REQUEST)

    def thinking_parameter(self, wanted: Effort | None) -> Json | None:
        """The `thinking` parameter of a request, with the effort that the user wants; None: left out.

        A model that thinks by default is asked for summaries, because newer models otherwise send no thinking, and text
        between tool calls is part of it. A model that thinks only on request is asked to from effort high on.
        """
        asks = self.thinks_at(wanted) and self.thinking in ON_REQUEST
        return {"type": "adaptive", "display": "summarized"} if asks else None

    def effort(self, wanted: Effort | None) -> Effort | None:
        """The `effort` parameter of a request; None: left out. A model without known levels gets the wanted one."""
        return wanted if self.efforts is None or wanted in self.efforts else None

    @property
    def thinks_only_with_budget(self) -> bool:
        """Effort alone does not make it think. Budgets are not sent."""
        return self.thinking is ThinkingSupport.MANUAL

    def effort_problem(self, wanted: Effort) -> str:
        """Why this effort cannot be requested, without a full stop; empty: it can."""
        if self.effort(wanted) is not None:
            return ""
        if not self.efforts:
            return f"{self.id} does not support effort"
        return f"{self.id} does not support the effort {wanted}; it supports {', '.join(self.efforts)}"


def _large(id: str, thinking: ThinkingSupport, *, thinks: bool = True) -> ModelCard:
    return ModelCard(id, 1_000_000, 128_000, thinking, thinks=thinks, efforts=LEVELS)


def _of_4_6(id: str) -> ModelCard:
    efforts = tuple(level for level in LEVELS if level is not Effort.XHIGH)
    return ModelCard(id, 1_000_000, 128_000, ThinkingSupport.EITHER, efforts=efforts, token_ratio=1.2)


def _small(id: str, efforts: tuple[Effort, ...] = ()) -> ModelCard:
    return ModelCard(id, 200_000, 64_000, ThinkingSupport.MANUAL, efforts=efforts, token_ratio=1.2)


KNOWN: tuple[ModelCard, ...] = (
    _large("claude-fable-5-2", ThinkingSupport.ALWAYS),
    _large("claude-fable-5-1", ThinkingSupport.ALWAYS),
    _large("claude-mythos-5-2", ThinkingSupport.ALWAYS),
    _large("claude-mythos-5-1", ThinkingSupport.ALWAYS),
    _large("claude-opus-5-5", ThinkingSupport.ALWAYS),
    _large("claude-sonnet-5-5", ThinkingSupport.ADAPTIVE),
    _large("claude-haiku-5-5", ThinkingSupport.ADAPTIVE),
    _large("claude-fable-5", ThinkingSupport.ADAPTIVE),
    _large("claude-mythos-5", ThinkingSupport.ADAPTIVE),
    _large("claude-opus-5", ThinkingSupport.ADAPTIVE),
    _large("claude-sonnet-5", ThinkingSupport.ADAPTIVE),
    _large("claude-opus-4-8", ThinkingSupport.ADAPTIVE, thinks=False),
    _large("claude-opus-4-7", ThinkingSupport.ADAPTIVE, thinks=False),
    _of_4_6("claude-opus-4-6"),
    _of_4_6("claude-sonnet-4-6"),
    _small("claude-opus-4-5", (Effort.LOW, Effort.MEDIUM, Effort.HIGH)),
    _small("claude-sonnet-4-5"),
    _small("claude-haiku-4-5"),
    # The practice model counts with the vocabulary that we estimate with.
    ModelCard("practice-1", 200_000, 64_000, efforts=LEVELS, token_ratio=1.0),
)
"""Newest generation first."""

UNKNOWN_MODEL = ModelCard("", 200_000, 32_000)
"""The smallest window still sold, and an output cap that most models accept. The first error text corrects it."""

_PROVIDER_PREFIX = re.compile(r"^(?:[a-z]{2,6}\.)?anthropic\.")
_VERSION_SUFFIX = re.compile(r"(?:[-@]\d{8})?(?:-latest)?(?:-v\d+)?(?::\d+)?(?:@default)?(?:\[1m\])?$")


_FAMILY = re.compile(r"claude-(?:\d+-)*([a-z]+)")


def family_name(model: str) -> str:
    """The family name in a model id, without provider, region, date and version.

    "us.anthropic.claude-opus-5-5-20260901-v1:0", "anthropic/claude-opus-5-5" and "claude-opus-5-5@20260901"
    are all "claude-opus-5-5".
    """
    name = model.strip().lower().rsplit("/", 1)[-1]
    return _VERSION_SUFFIX.sub("", _PROVIDER_PREFIX.sub("", name), count=1)


def model_named(name: str) -> str:
    """The model id for a name in files of other programs: "haiku" and "sonnet[1m]" are the newest of their family."""
    family = family_name(name)
    return next((card.id for card in KNOWN if card.id.startswith(f"claude-{family}-")), name)


@lru_cache(maxsize=64)
def known_card(model: str) -> ModelCard:
    """The card of `model` from the table, under the requested id; `UNKNOWN_MODEL` where there is none.

    Uses the known model whose name is the longest prefix, so that a new point release is treated like its family.
    """
    name = family_name(model)
    matches = [card for card in KNOWN if name == card.id or name.startswith(card.id + "-")]
    card = max(matches, key=lambda card: len(card.id), default=UNKNOWN_MODEL)
    on = RETIRES.get(name)
    return replace(card, id=model, retirement=None if on is None else Retirement(on))


def successor_of(model: str) -> str | None:
    """The newest known model of the same family, or None."""
    family = _FAMILY.match(family_name(model))
    newest = model_named(family[1]) if family is not None else model
    return newest if newest.startswith("claude-") and newest != family_name(model) else None


class Catalogue:
    """The cards of all models, with corrections learned in this session."""

    def __init__(self, prices: tuple[Price, ...] = ()) -> None:
        """
        Args:
            prices: the user's prices, which take precedence.
        """
        self._learned: dict[str, ModelCard] = {}
        self._prices = prices
        self._plain: set[str] = set()
        """Models that rejected `thinking` or `effort`."""

    def card(self, model: str) -> ModelCard:
        """The best card for `model`; never fails."""
        return self._learned.get(model) or known_card(model)

    def cards(self, first: Iterable[str] = ()) -> tuple[ModelCard, ...]:
        """The models to choose from: `first`, those of the models endpoint, and known ones; none that is retired."""
        known = (card.id for card in KNOWN if card.id.startswith("claude-"))
        cards = (self.card(name) for name in dict.fromkeys((*first, *self._learned, *known)))
        return tuple(card for card in cards if card.retirement is None or not card.retirement.retired)

    def knows(self, model: str) -> bool:
        """Whether the card of `model` is more than a default."""
        return model in self._learned or replace(known_card(model), id="", retirement=None) != UNKNOWN_MODEL

    def update(self, cards: Iterable[ModelCard]) -> None:
        """Update cards from the models endpoint. Missing values stay as known."""
        for new in cards:
            old = self.card(new.id)
            says = new.thinking is not ThinkingSupport.UNKNOWN and new.id not in self._plain
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
        """Apply a limit, in tokens, that an error text named; returns the corrected card.

        A number that is not positive is ignored, and the output cap never exceeds the window.
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
        """Warning about a model that retires soon or has retired; `now` is Unix time in seconds."""
        return retirement_warning(model, self.card(model).retirement, now, successor_of(model))

    def drop_reply_settings(self, model: str) -> None:
        """Send neither `thinking` nor `effort` to `model` for the rest of the session: the server rejected it."""
        self._plain.add(model)
        self._learned[model] = replace(self.card(model), thinking=ThinkingSupport.UNKNOWN, efforts=())

    def without_web(self, model: str) -> bool:
        """Record that `model` does not support web search and fetch; False: already known."""
        card = self.card(model)
        self._learned[model] = replace(card, takes_web=False)
        return card.takes_web

    def without_format(self, model: str) -> None:
        """Record that `model` does not support `output_config.format`."""
        self._learned[model] = replace(self.card(model), takes_format=False)

    def price(self, model: str) -> Price | None:
        """The price of `model`; None: unknown. A new point release does not inherit the price of its family."""
        return price_of((model, family_name(model)), self._prices)

    def cost(self, model: str, usage: Usage) -> float | None:
        """Cost of a request in US dollars; None: unknown."""
        if usage == Usage():
            return 0.0
        price = self.price(model)
        return None if price is None else price.cost(usage)


def described_card(known: ModelCard, entry: Json) -> ModelCard:
    """The card of a model from an entry of the models endpoint; missing values stay as in `known`.

    An unknown model that supports adaptive thinking is asked to think, and so counts as one that thinks by default.
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
    if thinking is ThinkingSupport.UNKNOWN:
        return card
    thinks = thinking in ON_REQUEST and (known.thinks or known.thinking is ThinkingSupport.UNKNOWN)
    return replace(card, thinking=thinking, thinks=thinks)


def _refused(capability: object) -> bool:
    """The entry says explicitly that it is not supported."""
    return isinstance(capability, dict) and capability.get("supported") is False


def _thinking_of(capability: object) -> ThinkingSupport:
    types = capability.get("types") if isinstance(capability, dict) else None
    if _refused(capability):
        return ThinkingSupport.NONE
    if not isinstance(types, dict):
        return ThinkingSupport.UNKNOWN
    adaptive, manual = _supported(types.get("adaptive")), _supported(types.get("enabled"))
    if adaptive and not manual:
        return ThinkingSupport.ADAPTIVE if _supported(types.get("disabled")) else ThinkingSupport.ALWAYS
    return ThinkingSupport.EITHER if adaptive else ThinkingSupport.MANUAL if manual else ThinkingSupport.UNKNOWN


def _efforts_of(capability: object) -> tuple[Effort, ...] | None:
    if not isinstance(capability, dict):
        return None
    if _refused(capability):
        return ()
    return tuple(level for level in LEVELS if _supported(capability.get(level))) or None


def _supported(capability: object) -> bool:
    return isinstance(capability, dict) and capability.get("supported") is True


def retirement_in(entry: Mapping[str, object]) -> Retirement | None:
    """The retirement in an entry of the models endpoint, or None."""
    at = entry.get("retires_at")
    if not isinstance(at, str):
        return None
    try:
        on = datetime.fromisoformat(at).date()
    except ValueError:
        return None
    return Retirement(on, entry.get("lifecycle") == "retired")


def retirement_warning(model: str, retirement: Retirement | None, now: float, successor: str | None) -> str | None:
    """Warning about a model that retires soon or has retired; None while there is time.

    Args:
        now: Unix time in seconds.
        successor: the model to use instead, where known.
    """
    if retirement is None:
        return None
    days = (retirement.on - datetime.fromtimestamp(now, UTC).date()).days
    if retirement.retired:
        what = f"was retired on {retirement.on}, and requests to it fail"
    elif days < 0:
        what = f"was to be retired on {retirement.on} and may stop at any time"
    elif days > NEAR_DAYS:
        return None
    else:
        what = f"will be retired on {retirement.on}, {_in_days(days)}"
    return f"{model} {what}; " + (f"use -m {successor}." if successor else "choose another model with -m.")


def _in_days(days: int) -> str:
    return {0: "today", 1: "tomorrow"}.get(days, f"in {days} days")
