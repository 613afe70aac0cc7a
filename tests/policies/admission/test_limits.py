"""The numbers of the gate."""

from typing import Any

import pytest

from harness.policies.admission.controller import AdmissionLimits


def test_the_numbers_are_those_of_the_plan() -> None:
    limits = AdmissionLimits()
    assert (limits.max_concurrent, limits.max_queue_size, limits.watch_cap) == (5, 20, 50)
    assert (limits.breaker.threshold, limits.breaker.pauses) == (5, (60.0, 120.0, 240.0, 300.0))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("max_concurrent", -1),
        ("max_concurrent", True),
        ("max_concurrent", 2.5),
        ("max_queue_size", -1),
        ("max_queue_size", "20"),
        ("watch_cap", -1),
        ("reserved_percent", 0),
        ("reserved_percent", 101),
        ("failures_in_a_row", 0),
        ("pause_s", 0.0),
        ("pause_s", float("nan")),
        ("pause_s", 301.0),
        ("longest_pause_s", float("inf")),
        ("sweep_every_s", 0.0),
    ],
)
def test_a_number_that_cannot_be_is_named(name: str, value: Any) -> None:
    with pytest.raises(ValueError, match=name):
        AdmissionLimits(**{name: value})


def test_a_pause_that_does_not_grow_is_one_pause() -> None:
    assert AdmissionLimits(pause_s=10.0, longest_pause_s=10.0).breaker.pauses == (10.0,)
    assert AdmissionLimits(pause_s=10.0, longest_pause_s=35.0).breaker.pauses == (10.0, 20.0, 35.0)
