"""Prices of models and the cost of requests.

`data/prices.toml` has the prices of known models, with their source and the day they were checked. Prices in a settings
file take precedence. Without a price the cost is unknown, never zero.
"""

import math
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from difflib import get_close_matches
from functools import lru_cache
from importlib import resources
from typing import Any

from harness.events import Usage

MILLION = 1_000_000


class PriceError(ValueError):
    """An invalid price. `str(error)` is a clause."""

    def __init__(self, why: str, *path: str) -> None:
        super().__init__(why)
        self.path = path
        """Keys from the table of all prices to the invalid value."""


@dataclass(frozen=True, slots=True)
class Band:
    """A surcharge on long prompts."""

    above: int
    """Applies to prompts with more tokens than this, cached or not."""
    factor: float
    """Multiple of the usual price, for every token of the request."""


@dataclass(frozen=True, slots=True)
class Price:
    """Prices of one model."""

    model: str
    input: float
    """US dollars per million tokens."""
    output: float
    """US dollars per million tokens."""
    cache_read: float = 0.1
    """Multiple of `input` for tokens read from the cache."""
    cache_write_5m: float = 1.25
    cache_write_1h: float = 2.0
    long_context: tuple[Band, ...] = ()
    fast: float | None = None
    """Multiple of all token prices in fast mode; None: unknown."""
    us_inference: float = 1.1
    """Multiple of all token prices with US-only inference."""
    web_search: float = 0.01
    """US dollars per search."""

    def cost(self, usage: Usage) -> float | None:
        """Cost of one request in US dollars; None where the price of a part is unknown."""
        factor = max((band.factor for band in self._bands(usage.prompt)), default=1.0)
        if usage.speed == "fast":
            if self.fast is None:
                return None
            factor *= self.fast
        if usage.inference_geo == "us":
            factor *= self.us_inference
        written_1h = min(usage.cache_creation_1h, usage.cache_creation)
        input_tokens = (
            usage.input
            + usage.cache_read * self.cache_read
            + (usage.cache_creation - written_1h) * self.cache_write_5m
            + written_1h * self.cache_write_1h
        )
        tokens = (input_tokens * self.input + usage.output * self.output) * factor / MILLION
        return tokens + usage.web_searches * self.web_search

    def _bands(self, prompt_tokens: int) -> Iterator[Band]:
        return (band for band in self.long_context if prompt_tokens > band.above)

    def __str__(self) -> str:
        return f"{self.model} ${self.input:g} in, ${self.output:g} out"


@dataclass(frozen=True, slots=True)
class PriceList:
    """The prices included in the package."""

    checked: date
    source: str
    prices: tuple[Price, ...]


@lru_cache(maxsize=1)
def price_list() -> PriceList:
    """The prices of `data/prices.toml`."""
    text = resources.files("harness.model").joinpath("data", "prices.toml").read_text(encoding="utf-8")
    data = tomllib.loads(text)
    return PriceList(data["checked"], data["source"], prices_in(data["models"]))


def prices_in(tables: object) -> tuple[Price, ...]:
    """Parse tables of prices by model name. Raises PriceError."""
    if not isinstance(tables, Mapping):
        raise PriceError('prices are tables; write [prices."NAME"] and below it input and output')
    return tuple(_price(name, table) for name, table in tables.items())


_OPTIONAL = ("cache_read", "cache_write_5m", "cache_write_1h", "fast", "us_inference", "web_search")
_KEYS = ("input", "output", *_OPTIONAL, "long_context")


def _price(model: str, table: object) -> Price:
    if not model.strip():
        raise PriceError('a model has no name; write [prices."NAME"]', model)
    if not isinstance(table, Mapping):
        raise PriceError(f"{table!r} is not a table; give input and output", model)
    for key, value in table.items():
        if key not in _KEYS:
            near = get_close_matches(key, _KEYS, n=1, cutoff=0.6)
            hint = f"perhaps {near[0]} was meant" if near else f"known are {', '.join(_KEYS)}"
            if isinstance(value, Mapping):
                hint = "put quotes around a name that contains a dot"
            raise PriceError(f"{key!r} is not known; {hint}", model, key)
    for key in ("input", "output"):
        if key not in table:
            raise PriceError(f"{key} is missing; give US dollars per million tokens", model)
    numbers = {key: _number(table[key], model, key) for key in ("input", "output", *_OPTIONAL) if key in table}
    return Price(model=model, **numbers, long_context=tuple(_bands(table.get("long_context", ()), model)))


def _number(value: object, *path: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value) or value < 0:
        raise PriceError(f"{path[-1]} is {value!r}; give a number, 0 or more", *path)
    return float(value)


def _bands(value: Any, model: str) -> Iterator[Band]:
    path = (model, "long_context")
    if not isinstance(value, list | tuple):
        raise PriceError("long_context is not a list; give for example [{ above = 200_000, factor = 2 }]", *path)
    for band in value:
        if not isinstance(band, Mapping) or band.keys() != {"above", "factor"}:
            raise PriceError("a band of long_context has exactly the keys above (in tokens) and factor", *path)
        above = band["above"]
        if isinstance(above, bool) or not isinstance(above, int) or above < 0:
            raise PriceError(f"above is {above!r}; give a whole number of tokens", *path)
        yield Band(above, _number(band["factor"], *path, "factor"))


def price_of(names: Iterable[str], own: tuple[Price, ...] = ()) -> Price | None:
    """The price of a model with these names, most exact first; the user's prices take precedence."""
    names = tuple(names)
    for prices in (own, price_list().prices):
        by_name = {price.model.lower(): price for price in prices}
        for name in names:
            if (price := by_name.get(name.strip().lower())) is not None:
                return price
    return None
