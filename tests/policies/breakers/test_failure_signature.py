"""Signatures: the same for one cause, different for others, and none for an unknown one."""

import re
import time
import tomllib
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.events import FailureCategory
from harness.policies.breakers.failure_signature import LONGEST, MOST_READ, normalised, signature_of, suspected_root

C = FailureCategory

FAILURES = tomllib.loads(Path(__file__).with_name("failures.toml").read_text("utf-8"))


@pytest.mark.parametrize(("text", "words"), FAILURES["normalised"])
def test_what_differs_from_case_to_case_is_left_out(text: str, words: str) -> None:
    assert normalised(text) == words


@pytest.mark.parametrize(("category", "text", "words"), FAILURES["signatures"])
def test_a_signature_is_the_category_and_what_the_text_says(category: str, text: str, words: str) -> None:
    assert signature_of(C(category), text, "weather") == f"{category}: {words}"


def test_a_text_that_says_nothing_gives_no_signature() -> None:
    categories = (C.CRASHED, C.KILLED, C.REFUSED, C.SYSTEM, C.CANNOT_START)
    found = {(one, text): signature_of(one, text, "weather") for one in categories for text in FAILURES["unknown"]}
    assert {where: signature for where, signature in found.items() if signature} == {}


@pytest.mark.parametrize("category", [C.TIMEOUT, C.TRANSPORT])
def test_that_nothing_answers_is_known_without_a_word(category: C) -> None:
    assert signature_of(category, "error") == category.value


def test_time_outs_are_the_same_however_they_are_said() -> None:
    said = ["timed out after 2 s", "timed out after 120 s; 5 matches", "ReadTimeout: the server took 10 minutes", ""]
    assert {signature_of(C.TIMEOUT, text) for text in said} == {"timeout"}


@pytest.mark.parametrize("category", [C.TRANSPORT, C.SYSTEM, C.CRASHED, C.REFUSED])
@pytest.mark.parametrize(("signature", "texts"), FAILURES["network"].items())
def test_a_common_network_fault_is_one_cause_however_it_is_said(category: C, signature: str, texts: list[str]) -> None:
    assert {signature_of(category, text, "weather") for text in texts} == {signature}
    assert suspected_root(signature) in ("the network", "something that does not answer")


@pytest.mark.parametrize("tool", ["read_file", "file", "bash", "mcp__web__fetch", "c++", "refused(", "Weather"])
def test_the_name_of_the_tool_is_no_part_of_the_cause(tool: str) -> None:
    text = f"{tool} failed: FileNotFoundError: [Errno 2] No such directory: '/data'"
    assert signature_of(C.CANNOT_START, text, tool) == "cannot_start: no such directory"


def test_other_causes_and_other_categories_have_other_signatures() -> None:
    texts = ["connection lost", "database is locked", "licence expired", "out of memory", "not found"]
    signatures = [signature_of(category, text) for category in (C.SYSTEM, C.CRASHED) for text in texts]
    assert all(one != other for one, other in combinations(signatures, 2))


@pytest.mark.parametrize(("signature", "root"), FAILURES["roots"])
def test_a_signature_suggests_a_root_by_whole_words(signature: str, root: str) -> None:
    assert suspected_root(signature) == root


# ── properties ──────────────────────────────────────────────────────────────────────────────────

AWKWARD = st.text(
    st.sampled_from("aAfs09xmZ _.-:/\\'\"`~,;()[]{}@+\n\t\0éİΣß²½٣ー界‘’“”") | st.characters(), max_size=300
)


@given(text=AWKWARD)
def test_normalising_again_changes_nothing(text: str) -> None:
    once = normalised(text)
    assert normalised(once) == once


@given(text=AWKWARD | st.text("ab ", min_size=300, max_size=900))
def test_a_normalised_text_is_short_lower_case_words_without_digits(text: str) -> None:
    words = normalised(text)
    assert len(words) <= LONGEST
    assert words == words.lower()
    assert words == " ".join(words.split())
    assert not re.search(r"\d", words)


VARYING = st.one_of(
    st.integers().map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.integers(0).map(hex),
    st.uuids().map(str),
    st.binary(min_size=6, max_size=16).map(bytes.hex).filter(lambda run: not run.isalpha() or len(run) >= 8),
    st.datetimes().map(lambda at: at.isoformat()),
    st.datetimes().map(lambda at: at.strftime("%a %b %d %H:%M:%S UTC %Y")),
    st.times().map(lambda at: at.isoformat()),
    st.integers(0, 10_000).flatmap(lambda n: st.sampled_from([f"{n}ms", f"{n} seconds", f"{n}h {n}min"])),
    st.ip_addresses().map(str),
    st.lists(st.from_regex(r"[a-zA-Z0-9_.-]{1,12}", fullmatch=True), min_size=1, max_size=6).map(
        lambda p: "/" + "/".join(p)
    ),
    st.lists(st.from_regex(r"[a-z]{1,8}", fullmatch=True), min_size=1).map(
        lambda p: "/".join(["src", *p]) + "/main.py"
    ),
    st.text(st.characters(exclude_characters='"\n', exclude_categories=["Cs"]), min_size=1, max_size=60).map(
        '"{}"'.format
    ),
    st.from_regex(r"'[a-z /]{1,40}'", fullmatch=True),
    st.from_regex(r"https?://[a-z]{1,10}\.[a-z]{2,3}/[a-z?=&%]{0,20}", fullmatch=True),
)
WORDS = st.lists(st.sampled_from(["connection", "refused", "by", "the", "server", "disk", "quota"]), max_size=12)


@given(words=WORDS, extra=st.lists(st.tuples(st.integers(0, 12), VARYING), max_size=6))
def test_numbers_identifiers_paths_quotes_and_times_change_nothing(
    words: list[str], extra: list[tuple[int, str]]
) -> None:
    longer = list(words)
    for place, varying in extra:
        longer.insert(min(place, len(longer)), varying)
    assert normalised(" ".join(longer)) == normalised(" ".join(words))


UNITS = ("1", "a", "1 ", "1-", "a.", "a-", "/", "/a", "a/", "'", "'a ", " '", "~", "-", "f:", "0:", "\\", "x://", "_")


@pytest.mark.parametrize("unit", [*UNITS, "a" * 21 + ":"])
def test_the_time_grows_no_faster_than_the_text(unit: str) -> None:
    """Texts that the patterns like least; a quadratic one would take 64 times as long for 8 times the text."""
    short, long = (min(_seconds(unit, length) for _ in range(3)) for length in (MOST_READ // 8, MOST_READ))
    assert long < 20 * short + 0.02


def test_a_megabyte_takes_no_longer_than_what_is_read_of_it() -> None:
    read, whole = (min(_seconds("1 /a 'x' ", length) for _ in range(3)) for length in (MOST_READ, 1_000_000))
    assert whole < 5 * read + 0.01


def _seconds(unit: str, length: int) -> float:
    text = unit * (length // len(unit)) + "g"
    began = time.process_time()
    normalised(text)
    return time.process_time() - began
