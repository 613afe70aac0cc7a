"""Digests are equal across processes, work for any value, and ignore meaningless differences."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from enum import Enum
from pathlib import Path
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.policies.loops.digests import action_of, canonical, digest, normalised_result, result_of

T = TypeVar("T")
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text() | st.integers(), inner),
    max_leaves=20,
)


@dataclass
class Point:
    x: int
    y: int


class Colour(Enum):
    RED = 1


class Plain:
    def __init__(self, value: object) -> None:
        self.value = value


# ── values ──────────────────────────────────────────────────────────────────────────────────────

ODD = """
import sys; sys.path.insert(0, {root!r})
from harness.policies.loops.digests import canonical, digest
loop = [1]; loop.append(loop)
names = {{"alpha", "beta", "gamma", "delta", ("a", 1), frozenset({{"x", "y", "z"}})}}
value = {{"set": names, "bytes": b"\\xff", "nan": float("nan"), "loop": loop, "object": object(), 3: None, ("k",): 1}}
print(digest(canonical(value)), list(names))
"""


def test_another_process_with_another_order_of_hashing_gives_the_same_digest() -> None:
    told = [in_a_process(seed).split(" ", 1) for seed in ("1", "2", "3")]
    assert len({order for _, order in told}) > 1
    assert len({found for found, _ in told}) == 1


def in_a_process(seed: str) -> str:
    code = ODD.format(root=str(Path(__file__).parents[3]))
    environment = {**os.environ, "PYTHONHASHSEED": seed}
    return subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    ).stdout


@given(PLAIN)
def test_any_value_gives_one_text_of_json(value: object) -> None:
    assert canonical(value) == canonical(value)
    json.loads(canonical(value))


@given(st.dictionaries(st.text(), st.integers()))
def test_the_order_of_names_says_nothing(value: dict[str, int]) -> None:
    assert canonical(value) == canonical(dict(reversed(value.items())))


DIFFERENT = [
    *(None, True, 1, 1.5, float("nan"), float("inf"), float("-inf"), 10**30, -(10**30), "1", "", b"1", "a"),
    *(["a"], [["a"]]),
    *({"a": 1}, {"a": 2}, {"b": 1}, {"a", "b"}, ["a", "b"], ["b", "a"], set(), [], {}, Point(1, 2), Point(2, 1)),
    *(Colour.RED, Path("a"), Path("b"), date(2026, 11, 21), date(2026, 11, 22), ValueError("a"), ValueError("b")),
    *(KeyError("a"), Plain(1), Plain(2), Plain, Point, range(3), range(4), "\ud800", "nan", {1: 1}, {"x": {"a": 1}}),
]


def test_different_values_give_different_texts() -> None:
    texts = [canonical(value) for value in DIFFERENT]
    assert len(set(texts)) == len(texts)


def test_tuples_are_lists_and_addresses_say_nothing() -> None:
    assert canonical((1, 2)) == canonical([1, 2])
    assert canonical(object()) == canonical(object())
    assert canonical(Plain(object())) == canonical(Plain(object()))


def test_circles_are_classified_by_how_far_up_they_lead() -> None:
    one: list[object] = [1]
    one.append(one)
    two: list[object] = [1]
    two.append(two)
    assert canonical(one) == canonical(two) == '[1,{"$cycle":1}]'


def test_what_lies_deeper_than_anybody_looks_is_cut_off() -> None:
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]
    assert len(canonical(deep)) < 1_000


def test_a_value_that_holds_itself_many_times_over_ends() -> None:
    value: object = "x"
    for _ in range(60):
        value = [value, value]
    began = time.process_time()
    canonical(value)
    assert time.process_time() - began < 10


@pytest.mark.parametrize(
    "make", [lambda n: "x" * n, lambda n: [1] * n, lambda n: b"x" * n, lambda n: {str(i): i for i in range(n)}]
)
def test_ten_times_as_much_takes_about_ten_times_as_long(make: Callable[[int], object]) -> None:
    assert_linear(canonical, make, 5_000)


def test_the_two_ends_of_a_long_list_count_and_its_length() -> None:
    long = [0] * 110_000
    assert canonical(long) != canonical([1, *long[1:]])
    assert canonical(long) != canonical([*long[:-1], 1])
    assert canonical(long) != canonical([*long, 0])


# ── calls ───────────────────────────────────────────────────────────────────────────────────────


def test_a_digest_has_sixteen_digits_and_keeps_its_parts_apart() -> None:
    assert len(digest("a")) == 16
    int(digest("a"), 16)
    parts = [("ab", "c"), ("a", "bc"), ("abc",), ("abc", ""), ("", "abc"), ()]
    assert len({digest(*each) for each in parts}) == len(parts)


def test_an_action_is_the_tool_and_its_arguments() -> None:
    assert action_of("read", {"path": "a", "limit": 3}) == action_of("read", {"limit": 3, "path": "a"})
    assert action_of("read", {"path": "a"}) != action_of("read", {"path": "b"})
    assert action_of("read", {"path": "a"}) != action_of("write", {"path": "a"})


@pytest.mark.parametrize("name", ["timestamp", "request_id", "requestId", "trace-id", "nonce", "thought"])
def test_fields_that_differ_each_time_do_not_count_at_any_depth(name: str) -> None:
    one, other = {"path": "a", name: 1, "in": [{name: 3}]}, {"path": "a", name: 2, "in": [{name: 4}]}
    assert action_of("read", one) == action_of("read", other) == action_of("read", {"path": "a", "in": [{}]})


def test_fields_that_say_what_is_asked_for_do_count() -> None:
    for name in ("id", "time", "page", "cursor", "offset", "session"):
        assert action_of("list", {name: 1}) != action_of("list", {name: 2})


# ── results ─────────────────────────────────────────────────────────────────────────────────────

SAME = [
    ("request 7f5021ab failed", "request 00c4d7e1 failed"),
    ("id 123e4567-e89b-12d3-a456-426614174000", "id 123e4567-e89b-12d3-a456-426614174999"),
    ("object at 0x7f3a00b1c2d0", "object at 0x1f3a00b1c2d7"),
    ("12:30:01: started", "12:30:02: started"),
    ("at 9:05 pm", "at 10:15 pm"),
    ("2026-11-21T07:51:45.123Z up", "2026-11-22T08:00:00Z up"),
    ("2026-11-21 07:51:45,001 INFO up", "2026-11-21 07:51:46,201 INFO up"),
    ("Sat Nov 21 07:51:45 2026", "Sun Nov 22 07:51:46 2026"),
    ("1 passed in 0.35s", "1 passed in 1.2s"),
    ("took 12 ms", "took 1300 ms"),
    ("real 0m1.204s", "real 2m0.9s"),
    ("now=1732190000", "now=1732190017.25"),
]
OTHER = [
    ("page 3 of 9", "page 4 of 9"),
    ("10 %", "20 %"),
    ("5000 rows", "6000 rows"),
    ("line 120482", "line 120483"),
    ("main.py:12:30: unused", "main.py:14:30: unused"),
    ("1 failed", "2 failed"),
    ("version 3.11.7", "version 3.11.8"),
    ("deadbeef", "cafe"),
    ("chunk_3", "chunk_4"),
    ("3 sections", "4 sections"),
    ("HTTP 503", "HTTP 502"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_ids_and_times_make_no_other_result(one: str, other: str) -> None:
    assert result_of(one) == result_of(other)


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_counts_and_places_are_progress(one: str, other: str) -> None:
    assert result_of(one) != result_of(other)


@given(st.text(st.sampled_from("0123456789abcdefxms:-./ TZ"), max_size=60))
def test_what_is_normalised_stays_as_it_is(text: str) -> None:
    assert normalised_result(normalised_result(text)) == normalised_result(text)


@pytest.mark.parametrize("piece", ["a", "1", "a1", "1:", "0x", "1-", "1.", "12:30:", "Nov ", "1 "])
def test_a_result_is_read_in_time_that_grows_with_its_length(piece: str) -> None:
    assert_linear(normalised_result, lambda n: piece * (n // len(piece)), 9_000)


def test_of_a_very_long_result_the_beginning_and_the_end_count() -> None:
    long = "x" * 1_000_000
    assert result_of(long) != result_of("y" + long[1:])
    assert result_of(long) != result_of(long[:-1] + "y")
    assert len(normalised_result(long)) < 110_000


def assert_linear(function: Callable[[T], object], make: Callable[[int], T], size: int) -> None:
    """Ten times the size takes less than forty times as long, with room for a busy machine."""
    small, large = make(size), make(10 * size)
    assert min_seconds(function, large) < 40 * min_seconds(function, small) + 0.05


def min_seconds(function: Callable[[T], object], value: T) -> float:
    found = []
    for _ in range(3):
        began = time.process_time()
        function(value)
        found.append(time.process_time() - began)
    return min(found)
