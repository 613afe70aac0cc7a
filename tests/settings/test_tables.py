"""Prices of the user, from files and variables."""

import pytest

from harness.base.errors import SettingsError
from harness.model.prices import Band, Price
from tests.settings.conftest import Place


def test_a_settings_file_gives_prices_with_all_that_a_price_can_have(place: Place) -> None:
    place.write(
        user='model = "mine"\n[prices."gw/llama-3.1"]\ninput = 1\noutput = 2.5\ncache_read = 0\nfast = 3\n'
        "long_context = [{ above = 200_000, factor = 2 }]\n[prices.mine]\ninput = 0\noutput = 0\n"
    )
    llama = Price("gw/llama-3.1", 1, 2.5, cache_read=0, fast=3, long_context=(Band(200_000, 2),))
    assert place.load().settings.prices == (llama, Price("mine", 0, 0))


def test_a_variable_gives_prices_as_json_and_goes_before_a_file(place: Place) -> None:
    place.write(user="[prices.mine]\ninput = 1\noutput = 1\n")
    loaded = place.load(environ={"HARNESS_PRICES": '{"mine": {"input": 3, "output": 4}}'})
    assert loaded.settings.prices == (Price("mine", 3, 4),)


@pytest.mark.parametrize(
    ("text", "line", "sentence"),
    [
        ("\n[prices.mine]\ninput = 1\n", 2, "price of mine: output is missing; give US dollars per million tokens."),
        ("[prices.mine]\ninput = 1\noutput = 'x'\n", 3, "price of mine: output is 'x'; give a number, 0 or more."),
        (
            "[prices.mine]\ninput = 1\noutput = 1\ncache_raed = 0\n",
            4,
            "'cache_raed' is not known; perhaps cache_read was meant",
        ),
        ("[prices.gpt-5.1]\ninput = 1\noutput = 1\n", 1, "put quotes around a name that contains a dot."),
        ("x = 1\nprices = 3\n", 2, 'prices are tables; write [prices."NAME"]'),
        ("prices = { a = { input = 1 } }\n", 1, "price of a: output is missing"),
    ],
)
def test_a_price_that_cannot_be_used_is_one_sentence_with_file_and_line(
    place: Place, text: str, line: int, sentence: str
) -> None:
    place.write(user=text.replace("x = 1", "debug = false"))
    with pytest.raises(SettingsError) as refused:
        place.load()
    said = str(refused.value)
    assert said.startswith(f"{place.user_file}, line {line}: ")
    assert sentence in said
    assert said.endswith(".")
    assert "\n" not in said
    assert refused.value.exit_code == 2


@pytest.mark.parametrize(
    ("value", "sentence"),
    [
        ('{"m": {"input": 1}}', "Cannot use environment HARNESS_PRICES: price of m: output is missing;"),
        ("{", "Cannot use environment HARNESS_PRICES: it is not valid JSON ("),
        ("[" * 100_000, "Cannot use environment HARNESS_PRICES: it is not valid JSON ("),
        ("7", "Cannot use environment HARNESS_PRICES: prices are tables;"),
    ],
)
def test_a_variable_that_cannot_be_used_is_one_sentence(place: Place, value: str, sentence: str) -> None:
    with pytest.raises(SettingsError) as refused:
        place.load(environ={"HARNESS_PRICES": value})
    assert str(refused.value).startswith(sentence)
    assert refused.value.exit_code == 2


def test_prices_of_a_folder_wait_for_trust(place: Place) -> None:
    place.write(project="[prices.mine]\ninput = 0\noutput = 0\n")
    loaded = place.load(trust=None)
    assert loaded.settings.prices == ()
    assert [(claim.name, claim.shown) for claim in loaded.claims] == [("prices", "mine $0 in, $0 out")]
    assert place.load(trust=True).settings.prices == (Price("mine", 0, 0),)
