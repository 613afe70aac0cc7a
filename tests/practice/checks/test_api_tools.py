"""The tools that the API defines: every type that the SDK knows is one of ours, or has a schema of its own."""

from typing import get_args, get_type_hints

import pytest
from anthropic.types import ToolUnionParam
from anthropic.types.beta import BetaToolUnionParam

from harness.practice.checks.api_tools import input_schema, server_result

TYPES = sorted(
    type_
    for tool in (*get_args(ToolUnionParam), *get_args(BetaToolUnionParam))
    for type_ in get_args(get_args(get_type_hints(tool, include_extras=True)["type"])[0])
    if isinstance(type_, str) and type_ != "custom"
)


@pytest.mark.parametrize("type_", dict.fromkeys(TYPES))
def test_every_tool_of_the_sdk_can_be_called_or_is_a_set_of_tools(type_: str) -> None:
    assert (input_schema({"type": type_}) is None) == type_.endswith("_toolset") or "_toolset_" in type_


def test_results_of_server_tools_have_their_types_and_tools_of_a_client_none() -> None:
    own = {"name": "bash", "input_schema": {"type": "object"}}
    assert input_schema(own) == input_schema(own | {"type": "custom"}) == {"type": "object"}
    assert [server_result(tool) for tool in (own, {"type": "bash_20250124"}, {"type": "web_search_20250305"})] == [
        *(None, None),
        "web_search_tool_result",
    ]
    assert server_result({"type": "tool_search_tool_regex_20251119"}) == "tool_search_tool_result"
