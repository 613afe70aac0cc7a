"""Requests that the real API takes or refuses, with the words of the refusal."""

from typing import get_args

import pytest
from anthropic.types import AnthropicBetaParam

from harness.events import Block, Json
from harness.practice.checks.betas import beta_problem
from harness.practice.checks.rules import ServerRules
from harness.practice.wire.prepared_reply import ByteCounter, sign
from tests.practice.checks.cases import VERSION, agrees, each_case, refusal
from tests.practice.raw_client import request

OLDER = {"anthropic-version": "2023-06-01"}


@each_case("request")
def test_a_request_is_taken_or_refused_in_the_words_of_the_api(case: Json) -> None:
    agrees(case)


def test_an_unknown_model_is_not_found() -> None:
    assert refusal(request(model="claude-9")) == "404 model: claude-9"


def test_the_version_header_is_required() -> None:
    assert refusal(request(), headers={}) == "400 anthropic-version: header is required"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"temperature": 0.5}, None),
        ({"temperature": 1, "thinking": {"type": "adaptive"}}, None),
        ({"temperature": 5}, "temperature: range: 0..1"),
        ({"temperature": "warm"}, "temperature: Input should be a valid number"),
        ({"top_p": 1.5}, "top_p: range: 0..1"),
        ({"top_k": -1}, "top_k: Input should be greater than or equal to 0"),
        ({"model": "claude-opus-4-7", "temperature": 0.5}, "`temperature` is deprecated for this model."),
        ({"model": "claude-opus-4-7", "temperature": 1}, None),
        ({"temperature": 1, "top_p": 0.9}, "`temperature` and `top_p` cannot both be specified for this model."),
        ({"temperature": 0.5, "thinking": {"type": "adaptive"}}, "`temperature` may only be set to 1 when thinking is"),
        ({"top_p": 0.5, "thinking": {"type": "adaptive"}}, "`top_p` must be greater than or equal to 0.95 or unset"),
        ({"top_k": 5, "thinking": {"type": "adaptive"}}, "`top_k` must be unset when thinking is enabled"),
    ],
)
def test_older_versions_allow_sampling_within_its_ranges(changes: Json, message: str | None) -> None:
    assert (refusal(request(**changes), headers=OLDER) or "").startswith("" if message is None else f"400 {message}")
    assert (refusal(request(**changes), headers=OLDER) is None) == (message is None)


def test_betas_are_known_ones() -> None:
    headers = VERSION | {"anthropic-beta": "pdfs-2024-09-25, telepathy-2026-01-01, claude-code-20250219"}
    message = refusal(request(), headers=headers)
    assert message is not None
    assert message.startswith("400 Unexpected value(s) `telepathy-2026-01-01` for the `anthropic-beta` header.")
    assert refusal(request(), ServerRules(betas=frozenset({"telepathy-2026-01-01"})), headers) is None
    assert beta_problem(get_args(next(each for each in get_args(AnthropicBetaParam) if each is not str))) is None


def test_the_older_name_of_the_output_format_needs_its_beta() -> None:
    schema = {"type": "object", "properties": {}, "additionalProperties": False}
    body = request(output_format={"type": "json_schema", "schema": schema})
    beta = VERSION | {"anthropic-beta": "structured-outputs-2025-11-13"}
    assert refusal(body) == "400 output_format: Extra inputs are not permitted"
    assert refusal(body, headers=beta) is None
    assert refusal(request(output_format={"type": "json"}), headers=beta) == (
        "400 output_format.type: Input should be 'json_schema'"
    )
    both = body | {"output_config": {"format": body["output_format"]}}
    assert refusal(both, headers=beta) == "400 output_format: cannot be used together with output_config.format"


def test_the_window_is_measured_by_the_real_size() -> None:
    words = request(messages=[{"role": "user", "content": "word " * 700}])
    count = ByteCounter().count_text("word " * 700)
    message = refusal(words, ServerRules(window=900))
    assert message is not None
    assert message.startswith(f"400 prompt is too long: {count // 100}")
    assert message.endswith(" tokens > 900 maximum")
    assert refusal(words, ServerRules(window=2000)) is None


def test_older_models_refuse_what_could_pass_the_window() -> None:
    rules = ServerRules(window=500)
    message = refusal(request(model="claude-opus-4", max_tokens=490), rules)
    assert message is not None
    assert "input length and `max_tokens` exceed context limit: " in message
    assert message.endswith("> 500, decrease input length or `max_tokens` and try again")
    assert refusal(request(max_tokens=490), rules) is None
    assert refusal(request(max_tokens=490), ServerRules(window=500, strict_overflow=True)) is not None


def thoughts(prompt: Json, thinking: str = "hm", *after: Block, signature: str | None = None) -> Json:
    """A conversation with a thinking block."""
    signed = sign("hm", request(messages=[{"role": "user", "content": "hi"}]), 1) if signature is None else signature
    thought = {"type": "thinking", "thinking": thinking, "signature": signed}
    messages = [prompt, {"role": "assistant", "content": [thought, *after]}, {"role": "user", "content": "so?"}]
    return request(messages=messages)


def test_thinking_comes_back_as_it_was_and_before_something_else() -> None:
    hi, words = {"role": "user", "content": "hi"}, {"type": "text", "text": "words"}
    assert refusal(thoughts(hi, "hm", words)) is None
    assert refusal(thoughts(hi, "hm", words, signature="of-another-maker")) is None
    for body, message in (
        (thoughts(hi, "hm", words, signature=""), "messages.1.content.0: signature: Field required"),
        (thoughts(hi, "!!", words), "messages.1.content.0: Invalid `signature` in `thinking` block"),
        (thoughts(hi, "hm"), "messages.1: The final block in an assistant message cannot be `thinking`."),
    ):
        assert refusal(body) == f"400 {message}"


def test_bound_thinking_is_invalid_once_something_before_it_changed() -> None:
    rules, words = ServerRules(bind_thinking=True), {"type": "text", "text": "words"}
    marked = {"type": "text", "text": "hi", "cache_control": {"type": "ephemeral"}}
    assert refusal(thoughts({"role": "user", "content": "hi"}, "hm", words), rules) is None
    assert refusal(thoughts({"role": "user", "content": [marked]}, "hm", words), rules) is None
    changed = refusal(thoughts({"role": "user", "content": "hello"}, "hm", words), rules)
    assert changed is not None
    assert "bound to a different conversation" in changed
