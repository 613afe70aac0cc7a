"""A model that ends soon is named in time, with its date and what to take instead."""

from datetime import UTC, date, datetime

import pytest

from harness.model.catalogue import (
    KNOWN,
    NEAR_DAYS,
    RETIRES,
    Catalogue,
    ModelCard,
    Retirement,
    retirement_in,
    retirement_warning,
    successor_of,
)

END = Retirement(date(2026, 11, 30))


def at(year: int, month: int, day: int) -> float:
    return datetime(year, month, day, 12, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("now", "words"),
    [
        (at(2026, 9, 30), None),
        (at(2026, 10, 1), "m will be retired on 2026-11-30, in 60 days; use -m n."),
        (at(2026, 11, 29), "m will be retired on 2026-11-30, tomorrow; use -m n."),
        (at(2026, 11, 30), "m will be retired on 2026-11-30, today; use -m n."),
        (at(2026, 12, 1), "m was to be retired on 2026-11-30 and may stop at any time; use -m n."),
    ],
)
def test_a_model_is_warned_about_from_sixty_days_before_its_end_on(now: float, words: str | None) -> None:
    assert NEAR_DAYS == 60
    assert retirement_warning("m", END, now, "n") == words


def test_a_retired_model_is_said_to_fail_whatever_the_date() -> None:
    text = retirement_warning("m", Retirement(END.on, retired=True), at(2020, 1, 1), None)
    assert text == "m was retired on 2026-11-30, and requests to it fail; choose another model with -m."


@pytest.mark.parametrize(
    ("entry", "found"),
    [
        ({"retires_at": "2026-11-30T00:00:00Z", "lifecycle": "deprecated"}, END),
        ({"retires_at": "2026-11-30T00:00:00Z", "lifecycle": "retired"}, Retirement(END.on, retired=True)),
        ({"retires_at": None, "lifecycle": "active"}, None),
        ({"retires_at": "soon"}, None),
        ({}, None),
    ],
)
def test_an_entry_of_the_models_endpoint_is_read(entry: dict[str, object], found: Retirement | None) -> None:
    assert retirement_in(entry) == found


@pytest.mark.parametrize("name", ["claude-sonnet-4-5", "claude-sonnet-4-5-20250929", "claude-sonnet-4-5@20250929"])
def test_the_table_knows_a_model_by_all_its_names(name: str) -> None:
    text = Catalogue().warning(name, at(2026, 11, 22))
    assert text == f"{name} will be retired on 2026-11-30, in 8 days; use -m claude-sonnet-5-5."


def test_what_the_server_says_goes_before_the_table_and_a_server_that_says_nothing_changes_nothing() -> None:
    catalogue = Catalogue()
    catalogue.update([ModelCard("claude-sonnet-4-5", 200_000, 64_000)])
    assert catalogue.card("claude-sonnet-4-5").retirement == END
    later = Retirement(date(2027, 6, 1))
    catalogue.update([ModelCard("claude-sonnet-4-5", 200_000, 64_000, retirement=later)])
    assert catalogue.card("claude-sonnet-4-5").retirement == later


def test_no_successor_is_retired_itself_and_the_newest_has_none() -> None:
    assert successor_of("claude-3-7-sonnet-20250219") == "claude-sonnet-5-5"
    assert successor_of("claude-opus-4-0") == "claude-opus-5-5"
    assert successor_of("claude-mythos-preview") == "claude-mythos-5-2"
    assert successor_of("local-model") is None
    assert successor_of("claude-opus-5-5") is None
    assert not {successor_of(model) for model in RETIRES} & RETIRES.keys()
    assert {successor_of(card.id) for card in KNOWN} <= {card.id for card in KNOWN} | {None}


def test_an_end_does_not_make_a_model_known() -> None:
    assert not Catalogue().knows("claude-opus-4-0")
