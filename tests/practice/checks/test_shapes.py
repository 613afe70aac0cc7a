"""The shape of a request, by the SDK's types; the `.jsonl` files have more of them."""

import pytest

from harness.events import Json
from harness.practice.checks.shapes import messages_problems, request_problems
from tests.practice.raw_client import REQUEST, TOOL


@pytest.mark.parametrize(
    ("changes", "problems"),
    [
        ({}, []),
        ({"system": [{"type": "text", "text": "x", "cache_control": None}], "container": "c", "thread": None}, []),
        ({"system": 3, "container": 3}, ["container: Input should be a valid dictionary", "system: … a valid list"]),
        ({"max_tokens": True, "metadata": []}, ["max_tokens: … a valid integer", "metadata: … a valid dictionary"]),
        (
            {"tools": [{"name": "x"}, TOOL | {"n": 1}]},
            ["tools.0.custom.input_schema: Field required", "tools.1.custom.n: +"],
        ),
        ({"thinking": {"type": "enabled"}}, ["thinking.enabled.budget_tokens: Field required"]),
        ({"betas": ["x"]}, ["betas: +"]),
        ({"model": 3}, ["model: … a valid string"]),
        ({"diagnostics": {"previous_message_id": 3}}, ["diagnostics.previous_message_id: … a valid string"]),
    ],
)
def test_problems_name_the_path_to_the_field(changes: Json, problems: list[str]) -> None:
    words = [one.replace("…", "Input should be").replace(": +", ": Extra inputs are not permitted") for one in problems]
    assert list(request_problems(REQUEST | changes)) == words


def test_a_field_may_be_left_out_or_added_where_the_request_says_so() -> None:
    body = {"model": "m", "messages": [], "temperature": "any"}
    assert list(request_problems(body, without=["max_tokens"], also=["temperature"])) == []
    assert list(request_problems(body)) == [
        "temperature: Extra inputs are not permitted",
        "max_tokens: Field required",
    ]


def test_only_a_reply_may_have_blocks_that_the_sdk_does_not_know() -> None:
    content = [{"type": "hologram", "colour": "blue"}]
    assert list(messages_problems([{"role": "assistant", "content": content}])) == []
    (problem,) = messages_problems([{"role": "user", "content": content}])
    assert problem.startswith("messages.0.content.0: Input tag 'hologram' found using 'type' does not match any of")
