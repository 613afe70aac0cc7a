"""Settings that are tables, from files and variables: prices and headers."""

import pytest

from harness.base.errors import SettingsError
from harness.model.prices import Band, Price
from tests.settings.conftest import Place

SECRET = "a-very-secret-value"


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


# ── headers ─────────────────────────────────────────────────────────────────────────────────────────


def test_a_table_and_lines_give_the_same_headers_with_their_values_masked(place: Place) -> None:
    place.write(user=f'[headers]\nX-Team = "blue"\nX-Gate-Key = "{SECRET}"\n')
    of_file = place.load()
    of_variable = place.load(environ={"HARNESS_HEADERS": f"X-Team: blue\nX-Gate-Key: {SECRET}"})
    assert of_file.settings.headers == of_variable.settings.headers
    assert [str(one) for one in of_file.settings.headers] == ["X-Team: •••", "X-Gate-Key: •••"]
    assert SECRET in [secret.reveal() for secret in of_file.secrets]


def test_a_line_without_a_colon_is_said_and_not_shown(place: Place) -> None:
    with pytest.raises(SettingsError) as caught:
        place.load(environ={"HARNESS_HEADERS": f"X-Team: blue\n{SECRET}"})
    assert "line 2 has no colon" in str(caught.value)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize("text", ['foundry_resource = "theirs"\n', '[headers]\nX-Team = "blue"\n'])
def test_the_files_of_a_folder_redirect_no_request(place: Place, text: str) -> None:
    place.write(project=text)
    with pytest.raises(SettingsError, match="is refused: a folder that you cloned must not decide about keys"):
        place.load(trust=True)


@pytest.mark.parametrize("line", ['endpoint = "bedrock"', 'region = "us-east-1"', 'vertex_project = "theirs"'])
def test_who_serves_the_model_waits_for_trust_in_a_folder(place: Place, line: str) -> None:
    place.write(project=line)
    name = line.partition(" ")[0]
    assert [claim.name for claim in place.load(trust=None).claims] == [name]
    assert place.load(trust=False).origins[name] == "default"
