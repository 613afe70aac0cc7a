"""Whether trying again can help."""

import errno
import time
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.events import ErrorClass
from harness.policies.loops.error_classes import after_retries, classify

TRANSIENT, PERSISTENT, UNKNOWN = ErrorClass.TRANSIENT, ErrorClass.PERSISTENT, ErrorClass.UNKNOWN


KNOWN = tomllib.loads(Path(__file__).with_name("error_classes.toml").read_text("utf-8"))


@pytest.mark.parametrize(
    ("facts", "expected"), [(facts, ErrorClass(name)) for name, all in KNOWN.items() for facts in all], ids=str
)
def test_the_class_of_what_is_known(facts: dict[str, Any], expected: ErrorClass) -> None:
    assert classify(**facts) is expected


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 529])
def test_statuses_that_pass(status: int) -> None:
    assert classify(status=status) is TRANSIENT
    assert classify(code=str(status)) is TRANSIENT


@pytest.mark.parametrize("status", [400, 401, 403, 404, 405, 406, 410, 413, 422])
def test_statuses_that_stay(status: int) -> None:
    assert classify(status=status) is PERSISTENT
    assert classify(status=status, text="timed out, try again") is PERSISTENT


def test_a_conflict_passes_only_where_something_holds_a_lock() -> None:
    assert classify(status=409, code="lock_timeout") is TRANSIENT
    assert classify(status=409, text="edited by somebody else") is UNKNOWN


def test_a_rate_limit_that_only_money_lifts_stays() -> None:
    assert classify(status=429, code="insufficient_quota") is PERSISTENT


def test_numbers_and_names_of_system_errors() -> None:
    passing = ["ECONNRESET", "ECONNREFUSED", "ECONNABORTED", "ETIMEDOUT", "EAI_AGAIN"]
    assert {classify(errno=name) for name in passing} == {TRANSIENT}
    assert {classify(errno=number) for number in (errno.ECONNRESET, errno.ETIMEDOUT)} == {TRANSIENT}
    assert {classify(errno=number) for number in (errno.ENOENT, errno.EACCES)} == {PERSISTENT}
    assert classify(errno=999_999) is UNKNOWN


def test_the_type_is_believed_before_the_number_the_number_before_the_status_and_the_text_last() -> None:
    assert classify(kind="TimeoutError", errno="ENOENT", status=404, text="not found") is TRANSIENT
    assert classify(kind="OSError", errno="ENOENT", status=503, text="timed out") is PERSISTENT
    assert classify(status=503, code="not_found_error", text="not found") is TRANSIENT
    assert classify(code="overloaded_error", text="not found") is TRANSIENT
    assert classify(kind="OSError", code="whatever", text="timed out") is TRANSIENT


MESSAGES = [
    *("Read 5000 rows; schema invalid", "port 15030, permission denied", "timed out after 120s", "order 404-A late"),
    *("request id 7f5021 unauthorized", "field 'timeout' must be int", "read ECONNRESET", "invalid_api_key"),
    *("429 Too Many Requests", "409 lock conflict", "no such file: a/b.txt", "could not connect", "", "nothing to say"),
    *("connection refused", "database is locked", "name resolution failed", "rate limit exceeded", "bad gateway"),
]
"""None of them has a field for the status."""
WORDS = [
    *("timed", "out", "invalid", "lock", "is", "locked", "not", "found", "denied", "rate", "limit", "rows"),
    *("the", "ECONNRESET"),
]
digits = st.text("0123456789", min_size=1, max_size=6) | st.sampled_from(["404", "429", "500", "503", "٤٠٤"])


@given(text=st.sampled_from(MESSAGES) | st.lists(st.sampled_from(WORDS)).map(" ".join), data=st.data())
def test_digits_anywhere_in_a_message_never_change_its_class(text: str, data: st.DataObject) -> None:
    changed = text
    for number in data.draw(st.lists(digits, min_size=1, max_size=4)):
        at = data.draw(st.integers(0, len(changed)))
        alone = not changed[:at].strip() or not changed[at:].strip() or changed[at - 1] == " "
        changed = changed[:at] + (f" {number} " if alone and data.draw(st.booleans()) else number) + changed[at:]
    assert classify(text=changed) is classify(text=text), changed


@given(
    status=st.sampled_from(["HTTP 503", "status 404", "returned 429", "Error 401:"]),
    before=st.sampled_from(MESSAGES),
    after=st.sampled_from(MESSAGES),
    number=digits,
    in_front=st.booleans(),
)
def test_nor_do_they_beside_a_status(status: str, before: str, after: str, number: str, *, in_front: bool) -> None:
    text = f"{before}; {status}; {after}"
    changed = f"{number} {before}; {status}; {after}" if in_front else f"{before}; {status}; {after} {number}"
    assert classify(text=changed) is classify(text=text) is classify(text=status)


@given(text=st.text(max_size=200), kind=st.text(max_size=20), code=st.text(max_size=20))
def test_any_text_has_a_class(text: str, kind: str, code: str) -> None:
    assert classify(kind=kind, code=code, text=text) in ErrorClass


@pytest.mark.parametrize("piece", ["a", "4", "status ", "http status ", "returned 404 "])
def test_a_megabyte_is_read_in_time_that_grows_with_its_length(piece: str) -> None:
    def cost(size: int) -> float:
        text = piece * (size // len(piece))
        began = time.process_time()
        classify(text=text)
        return time.process_time() - began

    cost(10_000)  # built at the first use
    assert cost(1_000_000) < 1.0
    shorter = min(cost(50_000) for _ in range(3))
    longer = min(cost(400_000) for _ in range(3))
    assert longer < 32 * shorter + 0.01  # eight times as long; quadratic would be sixty-four


def test_what_a_long_message_says_at_its_ends_is_read() -> None:
    lines = "line 17 of the log\n" * 50_000
    assert classify(text=f"permission denied\n{lines}") is PERSISTENT
    assert classify(text=f"{lines}connection reset by peer") is TRANSIENT
    assert classify(text=f"{lines}HTTP 503") is TRANSIENT


def test_what_may_pass_is_tried_three_times_in_a_row_the_unknown_once_and_what_stays_never() -> None:
    assert [after_retries(TRANSIENT, retried) for retried in range(5)] == [TRANSIENT] * 3 + [PERSISTENT] * 2
    assert [after_retries(UNKNOWN, retried) for retried in range(3)] == [UNKNOWN, PERSISTENT, PERSISTENT]
    assert {after_retries(found, 0, retries=0) for found in ErrorClass} == {PERSISTENT}
