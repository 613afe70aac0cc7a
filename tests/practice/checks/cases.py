"""Cases as data: one request per line of a file, with the API's error message."""

import json
from pathlib import Path

import pytest

from harness.events import Json
from harness.practice.checks.request import check
from harness.practice.checks.rules import ServerRules
from harness.practice.wire.prepared_reply import ByteCounter
from tests.practice.raw_client import request

VERSION = {"anthropic-version": "2026-10-21"}


def refusal(body: Json, rules: ServerRules | None = None, headers: dict[str, str] = VERSION) -> str | None:
    """Status and words of the refusal; None: the request is taken."""
    error = check(headers, body, rules or ServerRules(), ByteCounter())
    return None if error is None else f"{error.status} {error.message}"


def each_case(subject: str) -> pytest.MarkDecorator:
    """One test for each line of the file after the first, which describes them."""
    lines = Path(__file__).with_name(f"{subject}.jsonl").read_text("utf-8").splitlines()[1:]
    return pytest.mark.parametrize("case", map(json.loads, lines), ids=lambda case: str(case["says"])[:60])


def agrees(case: Json) -> None:
    """The request of a case is taken, or refused in its words."""
    body = case["body"] if "body" in case else request(**case["changes"])
    assert refusal(body) == (None if case["says"] is None else f"400 {case['says']}")
