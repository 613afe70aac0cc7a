"""The model table: lookup by id, and corrections during the session."""

import pytest

from harness.events import Effort, Usage
from harness.model.catalogue import (
    KNOWN,
    UNKNOWN_MODEL,
    Catalogue,
    ModelCard,
    ThinkingSupport,
    described_card,
    family_name,
    known_card,
)
from harness.practice.checks.rules import MODELS, ServedModel


@pytest.mark.parametrize(
    ("asked", "family"),
    [
        ("claude-opus-5-5", "claude-opus-5-5"),
        ("claude-opus-5-5-20260901", "claude-opus-5-5"),
        ("claude-opus-5-5@20260901", "claude-opus-5-5"),
        ("claude-opus-5-5-latest", "claude-opus-5-5"),
        ("anthropic/claude-opus-5-5", "claude-opus-5-5"),
        ("openrouter/anthropic/Claude-Opus-5-5", "claude-opus-5-5"),
        ("us.anthropic.claude-opus-5-5-20260901-v1:0", "claude-opus-5-5"),
        ("global.anthropic.claude-sonnet-4-6", "claude-sonnet-4-6"),
        ("anthropic.claude-haiku-4-5-20251001-v1:0", "claude-haiku-4-5"),
        ("claude-sonnet-4-6[1m]", "claude-sonnet-4-6"),
        (" practice-1 ", "practice-1"),
    ],
)
def test_an_id_is_found_whatever_a_provider_wraps_around_it(asked: str, family: str) -> None:
    assert family_name(asked) == family
    card = known_card(asked)
    assert card.id == asked
    assert card.window == next(known.window for known in KNOWN if known.id == family)


def test_the_longest_family_wins() -> None:
    assert known_card("claude-sonnet-4-5").window == 200_000
    assert known_card("claude-opus-5-5").thinking is ThinkingSupport.ALWAYS
    assert known_card("claude-opus-5-20260101").thinking is ThinkingSupport.ADAPTIVE


def test_a_new_point_release_is_treated_like_its_family() -> None:
    assert known_card("claude-sonnet-5-9").window == 1_000_000


def test_a_name_that_only_begins_alike_is_not_of_the_family() -> None:
    assert known_card("claude-opus-50").window == UNKNOWN_MODEL.window


@pytest.mark.parametrize("asked", ["", "gpt-9", "/", "claude", "模型", "x" * 10_000])
def test_an_unknown_model_gets_the_careful_card(asked: str) -> None:
    card = Catalogue().card(asked)
    assert (card.window, card.max_output) == (200_000, 32_000)
    assert Catalogue().cost(asked, Usage(1_000, 1_000)) is None


def test_every_known_card_is_plausible_and_named_once() -> None:
    assert len({card.id for card in KNOWN}) == len(KNOWN)
    for card in KNOWN:
        assert 0 < card.max_output < card.window
        assert 1.0 <= card.token_ratio <= 2.5
        assert family_name(card.id) == card.id


def test_an_error_text_corrects_one_model_only() -> None:
    catalogue = Catalogue()
    catalogue.correct("claude-opus-5-5", window=500_000)
    corrected = catalogue.correct("claude-opus-5-5", max_output=64_000)
    assert (corrected.window, corrected.max_output) == (500_000, 64_000)
    assert catalogue.card("claude-opus-5-5") == corrected
    assert catalogue.card("claude-opus-5").window == 1_000_000


def test_nonsense_in_an_error_text_changes_nothing() -> None:
    catalogue = Catalogue()
    before = catalogue.card("claude-opus-5-5")
    assert catalogue.correct("claude-opus-5-5", window=0, max_output=-1) == before


def test_a_small_window_also_lowers_the_output_cap() -> None:
    assert Catalogue().correct("practice-1", window=8_000).max_output == 8_000


def test_the_models_endpoint_refreshes_limits_and_keeps_the_rest() -> None:
    catalogue = Catalogue()
    catalogue.update([ModelCard("claude-sonnet-5-5", 2_000_000, 256_000), ModelCard("newcomer", 300_000, 10_000)])
    card = catalogue.card("claude-sonnet-5-5")
    assert (card.window, card.max_output, card.thinking) == (2_000_000, 256_000, ThinkingSupport.ADAPTIVE)
    assert catalogue.card("newcomer").max_output == 10_000


def test_an_endpoint_that_leaves_limits_out_changes_nothing() -> None:
    catalogue = Catalogue()
    catalogue.update([ModelCard("claude-sonnet-5-5", 0, 0)])
    assert catalogue.card("claude-sonnet-5-5") == known_card("claude-sonnet-5-5")


@pytest.mark.parametrize("served", [model for model in MODELS if model.id in {card.id for card in KNOWN[:-1]}])
def test_the_table_and_the_models_endpoint_say_the_same_of_thinking_and_effort(served: ServedModel) -> None:
    known = known_card(served.id)
    assert described_card(known, served.described()) == known
    assert known.thinks is served.thinks


ADAPTIVE = {"supported": True, "types": {"adaptive": {"supported": True}, "disabled": {"supported": True}}}


def test_an_unknown_model_is_taken_as_its_endpoint_describes_it() -> None:
    effort = {"supported": True, "low": {"supported": True}, "high": {"supported": True}, "max": {"supported": False}}
    catalogue = Catalogue()
    entry = {"id": "new-1", "max_input_tokens": 500_000, "capabilities": {"thinking": ADAPTIVE, "effort": effort}}
    catalogue.update([described_card(catalogue.card("new-1"), entry)])
    card = catalogue.card("new-1")
    assert (card.window, card.thinking, card.thinks) == (500_000, ThinkingSupport.ADAPTIVE, True)
    assert card.thinking_parameter(None) == {"type": "adaptive", "display": "summarized"}
    assert card.efforts == (Effort.LOW, Effort.HIGH)


@pytest.mark.parametrize(
    "capabilities", [None, {}, [], {"thinking": None, "effort": 3}, {"thinking": {"types": 1}, "effort": {"low": 1}}]
)
def test_an_endpoint_that_does_not_say_changes_nothing(capabilities: object) -> None:
    known = known_card("claude-opus-5-5")
    assert described_card(known, {"id": known.id, "capabilities": capabilities}) == known


def test_a_known_model_that_thinks_only_on_request_is_not_asked_to() -> None:
    card = described_card(known_card("claude-opus-4-8"), {"capabilities": {"thinking": ADAPTIVE}})
    assert (card.thinks, card.thinking_parameter(None)) == (False, None)


MUCH_EFFORT = (Effort.HIGH, Effort.XHIGH, Effort.MAX)


@pytest.mark.parametrize("model", ["claude-opus-4-8", "claude-opus-4-7", "claude-opus-4-6", "claude-sonnet-4-6"])
def test_a_model_that_thinks_only_on_request_is_asked_to_at_high_effort(model: str) -> None:
    card = known_card(model)
    assert card.efforts
    told = [effort for effort in Effort if card.thinking_parameter(effort) is not None]
    assert (
        told
        == [effort for effort in Effort if card.thinks_at(effort)]
        == [level for level in MUCH_EFFORT if level in card.efforts]
    )
    assert known_card("claude-sonnet-4-5").thinking_parameter(Effort.MAX) is None


def test_a_server_that_takes_no_thinking_is_asked_for_none() -> None:
    card = described_card(known_card("claude-opus-5-5"), {"capabilities": {"thinking": {"supported": False}}})
    assert (card.thinking, card.thinking_parameter(Effort.MAX)) == (ThinkingSupport.NONE, None)


@pytest.mark.parametrize(
    ("model", "wanted", "problem"),
    [
        ("claude-opus-5-5", Effort.MAX, ""),
        (
            "claude-opus-4-6",
            Effort.XHIGH,
            "claude-opus-4-6 does not support the effort xhigh; it supports low, medium, high, max",
        ),
        ("claude-haiku-4-5", Effort.LOW, "claude-haiku-4-5 does not support effort"),
        ("nobody-knows-1", Effort.HIGH, ""),
    ],
)
def test_an_effort_that_a_model_does_not_take_is_refused_with_those_it_does(
    model: str, wanted: Effort, problem: str
) -> None:
    card = known_card(model)
    assert card.effort_problem(wanted) == problem
    assert card.effort(wanted) == (None if problem else wanted)
