"""What requests cost, against the figures of the published price list and a naive oracle."""

from datetime import date
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.events import Usage
from harness.model.catalogue import KNOWN, Catalogue
from harness.model.prices import Band, Price, PriceError, price_list, prices_in

PUBLISHED = {
    "claude-fable-5-1": ("10", "12.50", "20", "0.25", "50"),
    "claude-fable-5": ("10", "12.50", "20", "1", "50"),
    "claude-opus-5-5": ("4", "5", "8", "0.20", "20"),
    "claude-opus-5": ("5", "6.25", "10", "0.50", "25"),
    "claude-opus-4-8": ("5", "6.25", "10", "0.50", "25"),
    "claude-sonnet-5-5": ("2", "2.50", "4", "0.10", "10"),
    "claude-sonnet-5": ("2", "2.50", "4", "0.20", "10"),
    "claude-sonnet-4-6": ("3", "3.75", "6", "0.30", "15"),
    "claude-haiku-5-5": ("0.10", "0.125", "0.20", "0.01", "0.50"),
    "claude-haiku-4-5": ("1", "1.25", "2", "0.10", "5"),
}
"""US dollars per million tokens: input, written for 5 minutes, written for an hour, read from the cache, output.
https://platform.claude.com/docs/en/about-claude/pricing"""

TOKENS = st.integers(0, 1_000_000)


@given(
    model=st.sampled_from(sorted(PUBLISHED)),
    plain=TOKENS,
    short=TOKENS,
    long=TOKENS,
    read=TOKENS,
    output=TOKENS,
    searches=st.integers(0, 50),
    in_us=st.booleans(),
)
def test_a_request_costs_what_the_published_list_says(
    *, model: str, plain: int, short: int, long: int, read: int, output: int, searches: int, in_us: bool
) -> None:
    total = Fraction(0)
    for dollars, tokens in zip(PUBLISHED[model], (plain, short, long, read, output), strict=True):
        total += Fraction(dollars) * tokens / 1_000_000
    if model == "claude-haiku-5-5" and plain + short + long + read > 100_000:
        total *= 5
    if in_us and model != "claude-haiku-4-5":  # of those here, the only one before 4.6
        total *= Fraction("1.1")
    total += searches * Fraction("0.01")
    usage = Usage(
        *(plain, output, short + long, read, long), web_searches=searches, inference_geo="us" if in_us else "global"
    )
    assert Catalogue().cost(model, usage) == pytest.approx(float(total))


@pytest.mark.parametrize(
    ("model", "usage", "dollars"),
    [
        ("claude-haiku-5-5", Usage(input=200_000, output=10_000), 0.125),
        ("claude-haiku-5-5", Usage(input=100_000, output=10_000), 0.015),
        ("claude-haiku-5-5", Usage(input=1, cache_read=100_000), 0.0050005),
        ("claude-opus-5-5", Usage(cache_read=1_000_000), 0.20),
        ("claude-opus-5-5", Usage(cache_read=967_000), 0.1934),
        ("claude-opus-5-5", Usage(cache_read=200_000), 0.04),
        ("claude-sonnet-5-5", Usage(cache_read=1_000_000), 0.10),
        ("claude-fable-5-1", Usage(cache_read=1_000_000), 0.25),
        ("claude-opus-5", Usage(input=1_000_000, output=1_000_000, speed="fast"), 60.0),
        ("claude-opus-5-5@20260922", Usage(output=1_000_000), 20.0),
        ("practice-1", Usage(10**6, 10**6, 10**6, 10**6), 0.0),
    ],
)
def test_the_cases_that_were_counted_wrongly_once(model: str, usage: Usage, dollars: float) -> None:
    assert Catalogue().cost(model, usage) == pytest.approx(dollars)


@pytest.mark.parametrize("model", ["claude-mythos-9", "gpt-9", "claude-opus-5-7", "claude-opus-50", "local/llama", ""])
def test_a_model_that_no_list_names_has_no_price_and_not_that_of_its_family(model: str) -> None:
    assert Catalogue().price(model) is None
    assert Catalogue().cost(model, Usage(input=1)) is None


def test_a_request_that_took_nothing_costs_nothing_with_any_model() -> None:
    assert Catalogue().cost("gpt-9", Usage()) == 0.0


def test_fast_mode_without_a_price_of_its_own_is_unknown() -> None:
    assert Catalogue().cost("claude-sonnet-5-5", Usage(input=1, speed="fast")) is None
    assert Catalogue().cost("claude-sonnet-5-5", Usage(input=1_000_000, speed="standard")) == pytest.approx(2)


def test_prices_of_the_user_go_before_ours_and_an_exact_name_before_its_family() -> None:
    own = Catalogue(prices_in({"claude-opus-5-5": {"input": 1, "output": 2}, "GW/llama": {"input": 3, "output": 4}}))
    assert own.cost("claude-opus-5-5-20260922", Usage(input=1_000_000, output=1_000_000)) == pytest.approx(3)
    assert own.cost("gw/llama", Usage(output=1_000_000)) == pytest.approx(4)
    assert own.cost("claude-sonnet-5-5", Usage(input=1_000_000)) == pytest.approx(2)


def test_of_several_bands_the_dearest_that_is_passed_counts() -> None:
    price = Price("m", 1, 1, long_context=(Band(200, 3), Band(100, 2)))
    assert [price.cost(Usage(input=tokens)) for tokens in (100, 101, 200, 201)] == pytest.approx(
        [100e-6, 202e-6, 400e-6, 603e-6]
    )


def test_every_model_that_is_known_has_a_price_and_the_list_has_a_day_and_a_source() -> None:
    assert {price.model for price in price_list().prices} == {card.id for card in KNOWN}
    assert price_list().checked >= date(2026, 11, 22)
    assert price_list().source.startswith("https://")


@pytest.mark.parametrize(
    ("tables", "why", "path"),
    [
        ([], "prices are tables", ()),
        ({"m": 3}, "not a table", ("m",)),
        ({" ": {"input": 1, "output": 1}}, "no name", (" ",)),
        ({"m": {"input": 1}}, "output is missing; give US dollars per million tokens", ("m",)),
        ({"m": {"input": 1, "outptu": 1}}, "perhaps output was meant", ("m", "outptu")),
        ({"gpt-5": {"1": {"input": 1, "output": 1}}}, "quotes around a name", ("gpt-5", "1")),
        ({"m": {"input": "3", "output": 1}}, "input is '3'; give a number", ("m", "input")),
        ({"m": {"input": True, "output": 1}}, "give a number", ("m", "input")),
        ({"m": {"input": float("nan"), "output": 1}}, "give a number", ("m", "input")),
        ({"m": {"input": 1, "output": -1}}, "give a number, 0 or more", ("m", "output")),
        ({"m": {"input": 1, "output": 1, "long_context": 5}}, "is not a list", ("m", "long_context")),
        (
            {"m": {"input": 1, "output": 1, "long_context": [{"above": 5}]}},
            "exactly the keys above",
            ("m", "long_context"),
        ),
        (
            {"m": {"input": 1, "output": 1, "long_context": [{"above": 1.5, "factor": 2}]}},
            "whole number",
            ("m", "long_context"),
        ),
    ],
)
def test_a_price_that_cannot_be_used_says_why_and_where(tables: object, why: str, path: tuple[str, ...]) -> None:
    with pytest.raises(PriceError) as refused:
        prices_in(tables)
    assert why in str(refused.value)
    assert refused.value.path == path
