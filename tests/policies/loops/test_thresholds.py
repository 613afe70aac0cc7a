"""Thresholds are checked when they are made."""

from dataclasses import fields, replace

import pytest

from harness.policies.loops.limits import THRESHOLD_RANGES, LoopThresholds


def test_every_number_has_a_range_and_its_default_is_in_it() -> None:
    assert {one.name for one in fields(LoopThresholds)} == set(THRESHOLD_RANGES)
    LoopThresholds()


@pytest.mark.parametrize("name", THRESHOLD_RANGES)
def test_a_number_out_of_range_is_rejected_in_one_sentence(name: str) -> None:
    least, most = THRESHOLD_RANGES[name]
    for value in (least - 1, most + 1):
        with pytest.raises(ValueError, match=f"^{name} must be from {least} to {most}, not {value}$"):
            replace(LoopThresholds(), **{name: value})


def test_more_copies_than_the_window_has_steps_could_never_be_found() -> None:
    with pytest.raises(ValueError, match="stagnation_copies must be at most stagnation_window"):
        LoopThresholds(stagnation_copies=25)
