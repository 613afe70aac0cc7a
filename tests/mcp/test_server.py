"""A server of a session, with real processes that are killed, hang, lie and write too much."""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from harness.events import FailureCategory, McpState, ToolOutcome
from harness.sandbox import SandboxLevel
from harness.sandbox.sandbox import Sandbox
from harness.tools.held_commands import MADE_OBEYED
from tests.mcp.conftest import Sites, eventually, lives, practice

pytestmark = pytest.mark.anyio


async def test_a_tool_answers_with_text_and_its_name_leads_back_to_it(site: Sites) -> None:
    async with site({"p": practice()}) as here:
        result = await here.call("p.echo", text="hello")
        assert (result.outcome, result.content) == (ToolOutcome.OK, "hello")
        assert [change.state for change in here.changes] == [McpState.CONNECTING, McpState.READY]
        assert here.server().instructions == "Use echo to test the connection."


@pytest.mark.parametrize("kills", [3, pytest.param(50, marks=pytest.mark.stories)])
async def test_a_killed_server_costs_one_call_each_time_and_its_tools_are_back(site: Sites, kills: int) -> None:
    async with site({"p": practice()}) as here:
        names = set(here.servers.tools)
        for kill in range(kills):
            died = await here.call("p.die")
            assert (died.outcome, died.category) == (ToolOutcome.BROKEN, FailureCategory.TRANSPORT), kill
            assert (await here.call("p.echo", text=f"{kill}")).content == f"{kill}"
            assert set(here.servers.tools) == names
        assert here.server().starts == kills + 1


async def test_calls_that_end_with_one_server_are_one_failure(site: Sites) -> None:
    async with site({"p": practice()}) as here:
        pid = int((await here.call("p.pid")).content)
        calls = [asyncio.create_task(here.call("p.work", seconds=20)) for _ in range(4)]
        await asyncio.sleep(0.3)
        os.kill(pid, signal.SIGKILL)
        results = await asyncio.gather(*calls)
        assert sorted(result.outcome for result in results) == sorted(
            [ToolOutcome.BROKEN, *[ToolOutcome.CANCELLED] * 3]
        )
        assert "is being started again" in results[0].content


async def test_the_reason_of_an_end_has_the_exit_code_and_the_last_words(site: Sites) -> None:
    async with site({"p": practice()}) as here:
        await here.call("p.die")
        await here.call("p.echo", text="a")
        ended = [change.detail for change in here.changes if change.state is McpState.CONNECTING and change.detail]
        assert ended == ["its connection ended; exit code 9; it wrote: out of memory"]


@pytest.mark.parametrize(
    ("entry", "why"),
    [
        (practice("crash"), "exit code 3; it wrote: cannot open the database /nowhere/notes.db"),
        ({"command": "/nowhere/notes"}, "there is no program /nowhere/notes"),
        (
            {"command": "${NOT_SET_ANYWHERE}"},
            "the test uses ${NOT_SET_ANYWHERE} for the MCP server p, which is not set",
        ),
        ({"url": "http://127.0.0.1:9/mcp"}, "connect"),
    ],
)
async def test_a_server_that_does_not_start_says_why_and_a_call_says_it_too(
    site: Sites, entry: dict[str, Any], why: str
) -> None:
    async with site({"p": entry, "good": practice()}) as here:
        assert here.server().state is McpState.FAILED
        assert why in here.server().why
        assert (await here.call("good.echo", text="a")).content == "a"  # the others are not concerned


async def test_a_server_that_hangs_while_it_starts_is_given_up_and_ended(site: Sites) -> None:
    async with site({"p": practice("silent")}, connect_s=1.5) as here:
        assert here.server().state is McpState.FAILED
        assert "did not answer within 1.5 s" in here.server().why


@pytest.mark.parametrize("sandbox", [{"sandbox": "free"}, {}])
async def test_a_server_is_ended_with_the_session_also_while_it_starts(
    site: Sites, tmp_path: Path, sandbox: dict[str, str]
) -> None:
    began = tmp_path / "began"
    entry = {"command": "sh", "args": ["-c", f"trap '' TERM; touch {began}; while :; do sleep 1; done"], **sandbox}
    async with site({"p": entry, "good": practice()}, wait=False) as here:
        good = int((await here.call_when_there("good.pid")).content)
        await eventually(began.exists)
        assert here.server().state is McpState.CONNECTING
    assert not lives(good)
    assert not [one for one in psutil.process_iter(["cmdline"]) if str(began) in " ".join(one.info["cmdline"] or ())]


LOOKS = """
import json, os, sys
for line in sys.stdin:
    asked = json.loads(line)
    answer = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}}
    answer["serverInfo"] = {"name": "l", "version": "1"}
    if asked["method"] == "tools/list":
        answer = {"tools": [{"name": "look", "inputSchema": {"type": "object"}}]}
    elif asked["method"] == "tools/call":
        found = [path for path in sys.argv[1:] if os.path.exists(path)]
        text = " ".join([os.environ["TOKEN"], *found, "permission denied"])
        answer = {"isError": True, "content": [{"type": "text", "text": text}]}
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answer}), flush=True)
"""


async def test_a_server_sees_what_its_entry_names_and_a_failure_says_what_frees_it(site: Sites, tmp_path: Path) -> None:
    if Sandbox().state.level is not SandboxLevel.FULL:
        pytest.skip("no full sandbox here")
    (tmp_path / "named").mkdir()
    for file in ("named/data", "other"):
        (tmp_path / file).touch()
    (tmp_path / "named/server.py").write_text(LOOKS)
    seen = [str(tmp_path / "named/data"), "../other"]
    args = [str(tmp_path / "named/server.py"), *seen]
    entry = {"command": sys.executable, "args": args, "env": {"TOKEN": "t0ken"}}
    gone = {"command": "sh", "args": ["-c", "exit 7"]}
    async with site({"p": entry, "gone": gone}) as here:
        said, note = (await here.call("p.look")).content.split("\n\n")
        assert said == f"t0ken {seen[0]} permission denied"
        assert '"sandbox": "free"' in note
        assert here.server().version.endswith(", in the sandbox")
        assert here.server("gone").why.endswith(
            'exit code 7; it ran in the sandbox, which "sandbox": "free" in its entry lifts'
        )
    async with site({"p": {**entry, "sandbox": "free"}}) as here:
        assert (await here.call("p.look")).content == f"t0ken {seen[0]} {seen[1]} permission denied"
        assert here.server().version.endswith(", without the sandbox")


async def test_what_others_obey_and_a_server_made_is_said(site: Sites, tmp_path: Path) -> None:
    if Sandbox().state.level is not SandboxLevel.FULL:
        pytest.skip("no full sandbox here")
    (tmp_path / "work").mkdir()
    (tmp_path / "work/server.py").write_text(LOOKS.replace("found = [", 'os.system("git init -q inner"); found = ['))
    async with site({"p": {"command": sys.executable, "args": ["server.py"], "env": {"TOKEN": "t"}}}) as here:
        made, again = [await here.call("p.look") for _ in range(2)]
    inner = tmp_path / "work/inner/.git"
    assert made.obeyed == (f"{inner}/config", f"{inner}/hooks")
    assert MADE_OBEYED.format(paths=", ".join(made.obeyed)) in made.content
    assert again.obeyed == ()


ODD = """
import json, os, sys
for line in sys.stdin:
    asked = json.loads(line)
    answer = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}}
    answer["serverInfo"] = {"name": "o", "version": "1"}
    if asked["method"] == "tools/list":
        answer = {"tools": [{"name": "close", "inputSchema": {}}, {"name": "bare"}]}
    elif asked["method"] == "tools/call":
        os.close(1)
        sys.exit(sys.stdin.read())
    if "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": answer}), flush=True)
"""


async def test_a_tool_without_a_schema_is_left_out_and_a_closed_output_is_an_end(site: Sites) -> None:
    async with site({"p": {"command": sys.executable, "args": ["-c", ODD], "sandbox": "free"}}) as here:
        assert list(here.servers.tools) == ["mcp__p__close"]
        async with asyncio.timeout(60):
            result = await here.call("p.close")
        assert (result.outcome, result.category) == (ToolOutcome.BROKEN, FailureCategory.TRANSPORT)


async def test_a_call_that_hangs_ends_at_its_time_and_leaves_the_server_in_use(site: Sites) -> None:
    async with site({"p": practice("hang")}, idle_s=0.5) as here:
        result = await here.call("p.echo", text="a")
        assert (result.outcome, result.category) == (ToolOutcome.BROKEN, FailureCategory.TIMEOUT)
        assert here.server().state is McpState.READY
        assert here.server().starts == 1


async def test_progress_is_a_sign_of_life_and_is_shown(site: Sites) -> None:
    async with site({"p": practice(timeout=700)}) as here:
        result = await here.call("p.work", seconds=2)
        assert result.content == "worked"
        assert ("1 of 10: part 1",) in [delta.lines for delta in here.shown]


@pytest.mark.parametrize("fault", ["bad-bytes", "duplicate", "late", "storm"])
async def test_noise_is_survived(site: Sites, fault: str) -> None:
    async with site({"p": practice(fault)}) as here:
        for number in range(4):
            assert (await here.call("p.echo", text=f"{number}")).content == f"{number}"
        assert len([name for name in here.servers.tools if name.endswith("__echo")]) == 1
        assert here.server().starts == 1


@pytest.mark.stories
async def test_a_flood_and_an_endless_line_cost_a_call_and_no_memory(site: Sites) -> None:
    async with site({"flood": practice("flood"), "long": practice("long-line")}, idle_s=20) as here:
        flooded = await here.call("flood.echo", text="a")
        assert flooded.outcome in (ToolOutcome.OK, ToolOutcome.BROKEN)
        long = await here.call("long.echo", text="a")
        assert (long.outcome, long.category) == (ToolOutcome.BROKEN, FailureCategory.TIMEOUT)


async def test_a_result_that_fits_no_schema_is_a_failure_of_the_tool(site: Sites) -> None:
    async with site({"p": practice("bad-result")}) as here:
        result = await here.call("p.echo", text="a")
        assert (result.outcome, result.category) == (ToolOutcome.BROKEN, FailureCategory.CRASHED)
        assert "fits no schema" in result.content


async def test_all_pages_are_read_and_a_list_without_an_end_ends(site: Sites) -> None:
    async with site({"p": practice("pages")}) as here:
        assert len(here.servers.tools) == 16
        assert "its list has no end" in here.server().problems[0]


async def test_a_failed_list_leaves_the_last_good_one(site: Sites) -> None:
    async with site({"p": practice("no-list")}) as here:
        before = set(here.servers.tools)
        await here.call("p.grow")
        await eventually(lambda: here.server().problems)
        assert set(here.servers.tools) == before
        assert "the last one stays: the index is locked" in here.server().problems[0]


async def test_a_changed_list_is_read_again(site: Sites) -> None:
    async with site({"p": practice()}) as here:
        await here.call("p.grow")
        await eventually(lambda: "mcp__p__more_1" in here.servers.tools)
        assert here.changes[-1].detail == "new: more_1"


async def test_the_list_of_an_earlier_session_is_known_before_the_server_is_there(site: Sites, tmp_path: Path) -> None:
    async with site({"p": practice()}) as here:
        names = set(here.servers.tools)
    (kept,) = (tmp_path / "state" / "mcp").iterdir()
    written = kept.stat().st_ino
    async with site({"p": practice()}) as here:
        pass
    async with site({"p": practice()}) as again:
        assert set(again.servers.tools) == names
        assert (await again.call("p.echo", text="a")).content == "a"
    assert kept.stat().st_ino == written, "the same list is not written again"


async def test_the_child_gets_a_short_list_of_variables_and_no_key(
    site: Sites, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-secret")
    monkeypatch.setenv("NOTES", "of the user")
    async with site({"p": practice(env={"TOKEN": "${NOTES}"})}) as here:
        names = (await here.call("p.environment")).content.split()
        assert "TOKEN" in names
        assert not {"ANTHROPIC_API_KEY", "NOTES"} & set(names)


async def test_roots_are_the_folders_of_the_workspace(site: Sites) -> None:
    async with site({"p": practice()}) as here:
        assert "/work" in (await here.call("p.where")).content


async def test_elicitation_is_answered_by_the_callback(site: Sites) -> None:
    async def accept(server: str, params: Any) -> Any:
        from mcp.types import ElicitResult

        assert (server, params.message) == ("p", "Who are you?")
        return ElicitResult(action="accept", content={"name": "Ada", "number": 3})

    async with site({"p": practice()}, elicit=accept) as here:
        assert '"Ada"' in (await here.call("p.ask")).content


async def test_a_server_that_was_switched_off_says_so_and_comes_back(site: Sites) -> None:
    async with site({"p": practice()}) as here:
        await here.server().switch_off()
        result = await here.call("p.echo", text="a")
        assert result.outcome is ToolOutcome.BROKEN
        assert "is off" in result.content
        await here.server().restart()
        assert (await here.call("p.echo", text="a")).content == "a"


async def test_a_server_that_answers_nothing_any_more_is_started_again(site: Sites) -> None:
    async with site({"p": practice()}, idle_s=2) as here:
        pid = int((await here.call("p.pid")).content)
        os.kill(pid, signal.SIGSTOP)
        assert (await here.call("p.echo", text="a")).category is FailureCategory.TIMEOUT
        await eventually(lambda: here.server().starts == 2)
        assert (await here.call("p.echo", text="b")).content == "b"
        assert not lives(pid)


async def test_an_interrupted_call_leaves_the_server_in_use(site: Sites) -> None:
    async with site({"p": practice()}) as here:
        call = asyncio.create_task(here.call("p.work", seconds=0.5))
        await eventually(lambda: here.shown)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert (await here.call("p.echo", text="a")).content == "a"
        assert here.server().starts == 1


SMALL_SERVER = """
import json, sys
how = sys.argv[1]
for line in sys.stdin:
    message = json.loads(line)
    id, method = message.get("id"), message.get("method")
    answer = {"error": {"code": -32601, "message": "no"}}
    if method == "initialize":
        version = message["params"]["protocolVersion"]
        info = {"name": "s", "version": "1"}
        answer = {"result": {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": info}}
    elif method == "tools/list" and how == "dies":
        sys.exit("no database")
    elif method == "tools/list":
        names = [f"t{number}" for number in range(2_000 if how == "many" else 1)]
        answer = {"result": {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in names]}}
    elif method == "tools/call":
        answer = json.loads(how) if how != "many" else {"result": {"content": [{"type": "text", "text": "yes"}]}}
    if id is not None:
        print(json.dumps({"jsonrpc": "2.0", "id": id, **answer}), flush=True)
"""


def small(how: str) -> dict[str, Any]:
    return {"command": sys.executable, "args": ["-I", "-S", "-c", SMALL_SERVER, how], "sandbox": "free"}


async def test_a_server_that_ends_over_its_list_says_why(site: Sites) -> None:
    async with site({"p": small("dies")}) as here:
        assert here.server().why.endswith("exit code 1; it wrote: no database")


async def test_a_list_that_is_cut_says_so_and_nothing_reaches_the_terminal(
    site: Sites, capfd: pytest.CaptureFixture[str]
) -> None:
    async with site({"p": small("many")}) as here:
        assert here.server().problems == ("it has 2,000 tools; the first 1,000 tools are used",)
        await here.server().call("later", {}, idle_s=9, longest_s=9, show=lambda *_: None, waiting=lambda: False)
        assert capfd.readouterr().err == ""


@pytest.mark.parametrize("answer", ['{"result": null}', '{"error": {}}', '{"error": "no"}', '{"result": [1]}'])
async def test_an_answer_that_is_no_message_fails_its_call_at_once(site: Sites, answer: str) -> None:
    async with site({"p": small(answer)}) as here:
        result = await here.call("p.t0")
        assert result.category is FailureCategory.CRASHED
        assert "its answer is no JSON-RPC" in result.content
        assert here.server().starts == 1
