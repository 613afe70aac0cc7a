"""Scripted replies that take their words from the request."""

import pytest

from harness.events import Json
from harness.practice.script import Script
from harness.practice.toml_table import ScriptError
from harness.practice.wire.prepared_reply import filled
from harness.practice.wire.replies import ScriptedReply, TextPart, ToolUse

BODY: Json = {
    "system": [{"type": "text", "text": "The tests run with `make check`."}],
    "messages": [
        {"role": "user", "content": "Count the 7 words."},
        {"role": "assistant", "content": [{"type": "text", "text": "99 words"}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "1", "content": "23 words, 5 words"}]},
    ],
}


def text_of(reply: ScriptedReply) -> str:
    [part] = filled(reply, BODY).parts
    assert isinstance(part, TextPart)
    return part.text


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        (r"(\d+) words", "23"),
        (r"Count the (\d+)", "7"),
        (r"run with `([^`]+)`", "make check"),
        (r"(99) words", "[count: not in the request]"),
    ],
)
def test_a_value_is_what_the_newest_result_says_and_never_what_the_model_said(pattern: str, found: str) -> None:
    reply = ScriptedReply((TextPart("{count}, and {other}"),), fills=(("count", pattern),))
    assert text_of(reply) == f"{found}, and {{other}}"


def test_inputs_of_tools_are_filled_at_any_depth() -> None:
    call = ToolUse("write", {"lines": [{"text": "{n} words"}], "times": 2})
    [part] = filled(ScriptedReply((call,), fills=(("n", r"(\d+) words"),)), BODY).parts
    assert part == ToolUse("write", {"lines": [{"text": "23 words"}], "times": 2})


@pytest.mark.parametrize("pattern", ["'no group'", "'(two) (groups)'", "'(open'", "5"])
def test_a_pattern_without_one_group_is_an_error_of_the_script(pattern: str) -> None:
    with pytest.raises(ScriptError, match="fills, n"):
        Script.parse(f'[[reply]]\ntext = "{{n}}"\nfills = {{ n = {pattern} }}\n')
