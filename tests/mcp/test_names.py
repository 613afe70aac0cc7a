"""Names of tools of servers: unique, short, and the same in every session."""

import re

from hypothesis import given
from hypothesis import strategies as st

from harness.mcp.names import LONGEST, name_table, server_key

NAMES = st.lists(st.text(min_size=0, max_size=90) | st.sampled_from(["a b", "a_b", "a-b", "a.b", "constructor"]))


@given(server=st.text(min_size=1, max_size=80), tools=NAMES)
def test_every_tool_has_one_name_that_the_api_takes_and_it_leads_back(server: str, tools: list[str]) -> None:
    key = server_key(server)
    table = name_table(key, tools)
    assert sorted(table.values()) == sorted(set(tools))
    for name in table:
        assert re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", name)
        assert len(name) <= LONGEST
        assert name.startswith(f"{key}__")
    assert key.count("__") == 1  # a rule `mcp__server` means all tools of one server


@given(tools=NAMES)
def test_the_order_and_the_company_of_a_tool_do_not_change_its_name(tools: list[str]) -> None:
    table = {tool: name for name, tool in name_table("mcp__s", tools).items()}
    assert {tool: name for name, tool in name_table("mcp__s", tools[::-1]).items()} == table
    for tool in tools:
        assert name_table("mcp__s", [tool]) == {table[tool]: tool}


def test_plain_names_stay_as_they_are() -> None:
    assert server_key("github") == "mcp__github"
    assert name_table("mcp__github", ["create_issue", "list-repos"]) == {
        "mcp__github__create_issue": "create_issue",
        "mcp__github__list-repos": "list-repos",
    }
    assert server_key("a b") != server_key("a_b")


@given(tools=NAMES)
def test_no_tool_and_no_server_can_take_the_name_that_was_made_for_another(tools: list[str]) -> None:
    made = [name.removeprefix("mcp__s__") for name in name_table("mcp__s", tools)]
    both = {*tools, *made}
    assert sorted(name_table("mcp__s", both).values()) == sorted(both)
    assert server_key(server_key("a b").removeprefix("mcp__")) != server_key("a b")
