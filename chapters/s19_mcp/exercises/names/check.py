"""Asks for the names of tools whose servers call them anything, also on purpose."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from random import Random
from types import ModuleType

SERVERS = 2_000
PARTS = ("a", "b", "A", "7", "_", "__", "-", ".", " ", "é", "船", "\n", "a" * 30)
WEIRD = ("", "berth.free", "berth free", "名前", "x" * 65, "line\n", "a/b", "constructor", "__init__", "_", "é")
IN_A_NEW_PROCESS = """
import json, runpy, sys
servers, file = json.loads(sys.argv[1]), sys.argv[2]
print(json.dumps(list(runpy.run_path(file, run_name="work")["name_table"](servers))))
"""
Servers = dict[str, list[str]]


def fault_of(work: ModuleType, servers: Servers) -> str:
    """What is wrong with the names of these tools; empty: nothing."""
    table = work.name_table({server: list(tools) for server, tools in servers.items()})
    wanted = {(server, tool) for server, tools in servers.items() for tool in tools}
    for name in table:
        if not isinstance(name, str) or not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name):
            return f"name_table({servers})\nthe API refuses the name {name!r}"
        if not name.startswith("mcp__"):
            return f"name_table({servers})\n{name!r} does not begin with mcp__"
    if lost := wanted - set(table.values()):
        return f"name_table({servers})\nno name leads to {min(lost)}"
    if len(table) != len(wanted):
        return f"name_table({servers})\n{len(table)} names for {len(wanted)} tools"
    return ""


def right(work: ModuleType, servers: Servers) -> None:
    assert not (fault := fault_of(work, servers)), fault


def name_of(work: ModuleType, server: str, tool: str, others: Servers) -> str:
    """The name of one tool among others."""
    table = work.name_table({server: [tool]} | others if server not in others else others)
    return next((name for name, found in table.items() if tuple(found) == (server, tool)), "")


def check_plain_names_stay(work: ModuleType) -> None:
    servers = {"github": ["create_issue", "list-repos", "_private"], "db2": ["query"]}
    wanted = {f"mcp__{server}__{tool}": (server, tool) for server, tools in servers.items() for tool in tools}
    found = work.name_table(servers)
    assert found == wanted, f"name_table({servers})\n-> {found}"


def check_the_api_takes_every_name(work: ModuleType) -> None:
    for tool in WEIRD:
        right(work, {"harbor": [tool]})
    for server in ("my server", "é", "s" * 64, "a.b"):
        right(work, {server: ["go", "x" * 70]})


def check_each_tool_has_a_name_of_its_own(work: ModuleType) -> None:
    right(work, {"harbor": ["berth.free", "berth free", "berth_free"]})
    right(work, {"harbor": ["x" * 80 + "1", "x" * 80 + "2"]})
    right(work, {"a": ["b__c", "_b"], "a__b": ["c"], "a_": ["b"]})
    right(work, {"a.b": ["go"], "a_b": ["go"], "a b": ["go"]})
    right(work, {"harbor": ["tide", "tide"]})


def check_a_name_is_the_same_in_every_session(work: ModuleType) -> None:
    servers = {"harbor": ["berth.free", "berth free", "berth_free", "x" * 80], "a b": ["go"], "a.b": ["go"]}
    backwards = {server: tools[::-1] for server, tools in reversed(servers.items())}
    for server, tools in servers.items():
        for tool in tools:
            alone = name_of(work, server, tool, {})
            for others in (servers, backwards):
                among = name_of(work, server, tool, others)
                assert among == alone, f"{(server, tool)} alone: {alone!r}\namong others: {among!r}"
    first, second = (_in_a_new_process(work, servers, seed) for seed in ("1", "2"))
    assert first == second, f"in one process: {first}\nin the next: {second}"


def _in_a_new_process(work: ModuleType, servers: Servers, seed: str) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", IN_A_NEW_PROCESS, json.dumps(servers), str(Path(str(work.__file__)).resolve())],
        env={**os.environ, "PYTHONHASHSEED": seed},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr.strip().splitlines()[-1]
    return sorted(json.loads(done.stdout))


def check_a_made_name_cannot_be_taken(work: ModuleType) -> None:
    for server, tool in (("harbor", "berth free"), ("harbor", "x" * 80), ("my harbor", "tide"), ("a__b", "c")):
        for servers in _with_an_impostor(work, server, tool):
            right(work, servers)


def _with_an_impostor(work: ModuleType, server: str, tool: str) -> Iterator[Servers]:
    """The tool, beside another one that is called what the model calls the first one."""
    made = name_of(work, server, tool, {}).removeprefix("mcp__")
    for place in (match.start() for match in re.finditer(r"(?=__)", made)):
        other, taken = made[:place], made[place + 2 :]
        if other and (other, taken) != (server, tool):
            yield {server: [tool, taken]} if other == server else {server: [tool], other: [taken]}


def check_random_servers_keep_every_rule(work: ModuleType) -> None:
    faults = (_random_fault(work, Random(seed)) for seed in range(SERVERS))
    shortest = min(filter(None, faults), key=len, default="")
    assert not shortest, shortest


def _random_fault(work: ModuleType, chance: Random) -> str:
    """What is wrong on one random table; empty: nothing."""

    def text(least: int) -> str:
        return "".join(chance.choices(PARTS, k=chance.randint(least, 4)))

    servers = {text(1): [text(0) for _ in range(chance.randint(0, 4))] for _ in range(chance.randint(1, 3))}
    if fault := fault_of(work, servers):
        return fault
    tools = [(server, tool) for server, tools in servers.items() for tool in tools]
    if not tools:
        return ""
    server, tool = chance.choice(tools)
    alone, among = name_of(work, server, tool, {}), name_of(work, server, tool, servers)
    if alone != among:
        return f"{(server, tool)} alone: {alone!r}\nin {servers}: {among!r}"
    return next(filter(None, (fault_of(work, one) for one in _with_an_impostor(work, server, tool))), "")
