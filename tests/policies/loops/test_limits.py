"""The policy: validation, version, and its event."""

import re
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.events import LoopPolicySet, Rung
from harness.policies.loops.limits import QUOTAS, RANGES, THRESHOLD_RANGES, LoopLimits, LoopThresholds, announced_limits


def test_default_quotas() -> None:
    policy = LoopLimits()
    assert [policy.quota(rung) for rung in Rung] == [3, 1, 2, 1, 1, 1, 1, 1]
    assert {rung for rung in Rung if rung not in QUOTAS} == {Rung.STOP}


def test_a_change_is_another_policy_with_the_next_version() -> None:
    before = LoopLimits()
    after = before.with_changes(nudges=2, copies=5)
    assert (after.nudges, after.thresholds.copies, after.version) == (2, 5, 2)
    assert before == LoopLimits()


def test_every_setting_has_a_range_and_can_be_changed_by_name() -> None:
    shipped = LoopLimits().settings()
    assert shipped.keys() == RANGES.keys() | {"enabled"}
    for name, value in shipped.items():
        assert LoopLimits().with_changes(**{name: value}).settings() == shipped


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"nudge": 2}, "there is no setting nudge, perhaps nudges was meant"),
        ({"copys": 2}, "there is no setting copys, perhaps copies was meant"),
        ({"zzz": 2}, "there is no setting zzz"),
        ({"version": 7}, "there is no setting version"),
        ({"thresholds": LoopThresholds()}, "there is no setting thresholds"),
        ({"nudges": -1}, "nudges must be from 0 to 20, not -1"),
        ({"copies": 1}, "copies must be from 2 to 100, not 1"),
        ({"nudges": 1.5}, "nudges must be a whole number, not 1.5"),
        ({"nudges": True}, "nudges must be a whole number, not True"),
        ({"copies": "four"}, "copies must be a whole number, not 'four'"),
        ({"retry_base_s": "0.1"}, "retry_base_s must be a number, not '0.1'"),
        ({"retry_base_s": float("nan")}, "retry_base_s must be from 0.001 to 60, not nan"),
        ({"enabled": 1}, "enabled must be true or false, not 1"),
        ({"retry_base_s": 2.0, "retry_cap_s": 1.0}, "retry_cap_s must be at least retry_base_s, which is 2, not 1"),
        ({"stagnation_copies": 30}, "stagnation_copies must be at most stagnation_window, which is 24, not 30"),
    ],
)
def test_what_cannot_be_is_rejected_with_one_sentence(changes: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        LoopLimits().with_changes(**changes)


def test_a_policy_cannot_be_made_with_what_it_would_not_be_changed_to() -> None:
    with pytest.raises(ValueError, match=r"^humans must be from 0 to 20, not 21$"):
        LoopLimits(humans=21)


@given(
    changes=st.fixed_dictionaries(
        {},
        optional={
            "enabled": st.booleans(),
            "nudges": st.integers(0, 20),
            "copies": st.integers(2, 100),
            "longest_period": st.integers(1, 256),
            "retry_cap_s": st.floats(60, 3600),
            "poll_every_s": st.floats(0, 3600),
        },
    ),
    version=st.integers(1, 5),
)
def test_the_event_of_a_policy_is_enough_to_have_it_again(changes: dict[str, object], version: int) -> None:
    policy = LoopLimits()
    for _ in range(version):
        policy = policy.with_changes(**changes)
    assert announced_limits(policy.announced()) == policy


def test_an_event_names_only_changed_values() -> None:
    assert LoopLimits().announced() == LoopPolicySet(enabled=True, version=1)
    changed = LoopLimits().with_changes(enabled=False, nudges=2, retry_base_s=0.5, walk_length=9)
    assert changed.announced() == LoopPolicySet(
        enabled=False, version=2, changed=("nudges=2", "retry_base_s=0.5", "walk_length=9")
    )


def test_a_setting_that_is_not_known_any_more_is_left_out() -> None:
    old = LoopPolicySet(enabled=True, version=4, changed=("patience=7", "nudges=2"))
    assert announced_limits(old) == LoopLimits(nudges=2, version=4)


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
