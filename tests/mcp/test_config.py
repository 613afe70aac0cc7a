"""Entries of servers in the forms that other programs write."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness.mcp.config import (
    McpConfigError,
    Transport,
    environment_of,
    from_command_line,
    from_file,
    joined,
    parse_entries,
    read_entries,
    write_entries,
)
from harness.mcp.lists import LastLists
from harness.mcp.offers import ServerTool


def parsed(entry: Any, **more: Any) -> Any:
    return parse_entries({"s": entry, **more}, "file", own=True)


@pytest.mark.parametrize(
    ("entry", "transport", "shown"),
    [
        ({"command": "npx", "args": ["-y", "server", 3]}, Transport.STDIO, "npx -y server 3"),
        ({"type": "stdio", "command": "x"}, Transport.STDIO, "x"),
        ({"type": "http", "url": "https://u:pw@a.example:8/mcp?key=1"}, Transport.HTTP, "https://a.example:8"),
        ({"url": "http://a.example/mcp"}, Transport.HTTP, "http://a.example"),
        ({"type": "streamable-http", "url": "https://a.example"}, Transport.HTTP, "https://a.example"),
        ({"type": "sse", "url": "https://a.example/sse"}, Transport.SSE, "https://a.example"),
        ({"httpUrl": "https://a.example"}, Transport.HTTP, "https://a.example"),
        ({"url": "${BASE}/mcp"}, Transport.HTTP, "://"),
        ({"command": "x", "args": ["--access-token=sbp_1234abcd"]}, Transport.STDIO, "x --access-token=•••"),
        ({"command": "x", "args": ["--api-key", "9f8a7b6c5d4e"]}, Transport.STDIO, "x --api-key •••"),
        ({"command": "x", "args": ["db://u:pw1@host/db"]}, Transport.STDIO, "x db://•••@host/db"),
        ({"command": "x", "args": ["A: Bearer 9f8a7b6c5d4e"]}, Transport.STDIO, "x A: Bearer •••"),
        ({"command": "x", "args": ["--token", "${TOKEN}", "-e", "KEY"]}, Transport.STDIO, "x --token ${TOKEN} -e KEY"),
    ],
)
def test_forms_that_people_have(entry: dict[str, Any], transport: Transport, shown: str) -> None:
    (server,) = parsed(entry).servers
    assert (server.transport, server.shown) == (transport, shown)


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        ("npx", "it is not a table"),
        ({}, "needs a text 'command'"),
        ({"command": ["npx"]}, "needs a text 'command'"),
        ({"command": "npx "}, "begins or ends with a space"),
        ({"command": "npx", "args": "-y"}, "not a list of texts"),
        ({"command": "npx", "env": ["A=1"]}, "its env is not a table of texts"),
        ({"type": "http"}, "needs a text 'url'"),
        ({"type": "websocket", "url": "wss://a"}, "it can be stdio, http or sse"),
        ({"url": "ftp://a"}, "neither http:// nor https://"),
        ({"command": "npx", "timeout": "soon"}, "not a number of milliseconds"),
        ({"command": "npx", "sandbox": "jail"}, "it can be look, work, free"),
    ],
)
def test_one_bad_entry_says_why_and_drops_no_other(entry: Any, why: str) -> None:
    found = parsed(entry, good={"command": "x"})
    assert [one.name for one in found.servers] == ["good"]
    (problem,) = found.problems
    assert problem.startswith("file: the MCP server s is left out: ")
    assert why in problem


def test_variables_are_replaced_when_a_server_starts_and_not_before() -> None:
    entry = {"command": "${BIN:-npx}", "args": ["${HOME}/x"], "env": {"TOKEN": "${TOKEN}"}}
    (server,) = parsed(entry).servers
    assert server.shown == "${BIN:-npx} ${HOME}/x"
    started = server.expanded({"HOME": "/h", "TOKEN": "secret-value"})
    assert started.command == ("npx", "/h/x")
    assert environment_of(started, {"PATH": "/bin", "ANTHROPIC_API_KEY": "k"}) == {
        "PATH": "/bin",
        "TOKEN": "secret-value",
    }
    assert "secret-value" in [secret.reveal() for secret in started.secrets()]
    assert "secret-value" not in repr(started)
    with pytest.raises(McpConfigError, match=r"uses \$\{TOKEN\} for the MCP server s, which is not set"):
        server.expanded({"HOME": "/h"})


def test_the_first_place_wins_and_the_same_server_counts_once() -> None:
    mine = parse_entries({"a": {"command": "x"}, "b": {"command": "y"}}, "mine", own=True)
    theirs = parse_entries({"a": {"command": "z"}, "c": {"command": "y"}}, "theirs", own=False)
    both = joined([mine, theirs])
    assert [(one.name, one.origin) for one in both.servers] == [("a", "mine"), ("b", "mine")]
    assert "it is b once more" in both.problems[0]


def test_only_the_users_own_files_trust_hints() -> None:
    entry = {"a": {"command": "x", "trusted": True}}
    assert parse_entries(entry, "mine", own=True).servers[0].trusted
    assert not parse_entries(entry, "theirs", own=False).servers[0].trusted


@pytest.mark.parametrize(
    "text", ["{", "[]", '{"mcpServers": []}', "[" * 100_000, "\ud800".encode("utf-8", "replace").decode()]
)
def test_a_damaged_file_is_a_problem_and_no_exception(tmp_path: Path, text: str) -> None:
    path = tmp_path / ".mcp.json"
    path.write_text(text)
    found = from_file(path, own=False)
    assert not found.servers
    assert str(path) in found.problems[0]


def test_a_written_file_is_private_and_keeps_what_else_it_holds(tmp_path: Path) -> None:
    path = tmp_path / "user" / "mcp.json"
    assert read_entries(path) == {}
    write_entries(path, {"a": {"command": "x"}})
    data = json.loads(path.read_text())
    path.write_text(json.dumps({**data, "other": 1}))
    write_entries(path, {})
    assert json.loads(path.read_text()) == {"mcpServers": {}, "other": 1}
    assert path.stat().st_mode & 0o077 == 0


def test_the_command_line_names_files_and_servers_and_an_editor_tables(tmp_path: Path) -> None:
    (tmp_path / "more.json").write_text(json.dumps({"mcpServers": {"b": {"command": "b", "trusted": True}}}))
    given = ['{"mcpServers": {"a": {"command": "a"}}}', str(tmp_path / "more.json"), {"c": {"command": "c"}}]
    found = from_command_line(given)
    assert [(one.name, one.trusted) for one in found.servers] == [("a", False), ("b", True), ("c", False)]
    assert from_command_line(given[0]).servers == found.servers[:1]


@pytest.mark.parametrize(
    ("given", "why"),
    [("gone", "there is no file"), ("{", "is not valid JSON"), ('{"mcpServers": 3}', "no servers")],
)
def test_what_the_command_line_gives_has_to_be_there(given: str, why: str) -> None:
    with pytest.raises(McpConfigError, match=why):
        from_command_line([given])


def test_a_server_inside_a_program_is_reached_by_it_and_its_tools_are_not_remembered(tmp_path: Path) -> None:
    async def host(server: str, message: Any) -> Any:
        return {"server": server, "message": message}

    entries = {"a": {"type": "sdk", "name": "there", "timeout": 2_000}, "b": {"command": "b"}}
    config = from_command_line([entries]).hosted(host)
    inside, other = config.servers
    assert (inside.command, inside.timeout_s, inside.host, other.host) == (("there",), 2.0, host, None)
    lists = LastLists(tmp_path)
    for one in config.servers:
        lists.put(one, (ServerTool("t", "T.", {"type": "object"}),))
    assert [len(lists.get(one)) for one in config.servers] == [0, 1]
