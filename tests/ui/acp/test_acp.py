"""`harness acp` as a process, with an editor at the other end of its pipes."""

import asyncio
import json
import os
import shutil
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from acp.schema import (
    InitializeResponse,
    ListSessionsResponse,
    NewSessionResponse,
    PromptResponse,
    RequestPermissionRequest,
    SessionNotification,
)

from harness.ui.signals import GRACE_S
from tests.mcp.conftest import practice
from tests.mcp.test_http import Web
from tests.ui.lines_of_json import DOT, Peer, Said, bash, calls, peer, says
from tests.ui.program import Place, run, start

pytestmark = pytest.mark.anyio

TWIN: Said = {"name": "twin", "command": "true", "args": []}
NOTICES: Said = {"session": {"notices": {}}}


class Editor:
    """An editor with one session."""

    def __init__(self, place: Place, agent: Peer) -> None:
        self.place = place
        self.agent = agent
        self.session = ""
        self._requests = 0

    def send(self, method: str, **params: object) -> int:
        """Send a request of the session; returns its id."""
        self._requests += 1
        whole = {"sessionId": self.session, **params} if self.session else params
        self.agent.send({"jsonrpc": "2.0", "id": self._requests, "method": method, "params": whole})
        return self._requests

    async def answer(self, number: int) -> Said:
        return await self.agent.until(lambda one: one.get("id") == number and "method" not in one)

    async def call(self, method: str, **params: object) -> Said:
        answer = await self.answer(self.send(method, **params))
        assert "result" in answer, answer
        result: Said = answer["result"]
        return result

    def prompt(self, text: str) -> int:
        return self.send("session/prompt", prompt=[{"type": "text", "text": text}])

    async def asked(self, method: str = "session/request_permission") -> Said:
        return await self.agent.until(lambda one: one.get("method") == method)

    def choose(self, asked: Said, option: str | None) -> None:
        outcome = {"outcome": "selected", "optionId": option} if option else {"outcome": "cancelled"}
        self.agent.send({"jsonrpc": "2.0", "id": asked["id"], "result": {"outcome": outcome}})

    @property
    def updates(self) -> list[Said]:
        """The updates so far. All but notices, which the library does not know yet, fit its schema."""
        found = [one["params"] for one in self.agent.seen if one.get("method") == "session/update"]
        for one in found:
            if one["update"]["sessionUpdate"] != "notice":
                SessionNotification.model_validate(one)
        return [one["update"] for one in found]

    def of(self, kind: str) -> list[Said]:
        return [one for one in self.updates if one["sessionUpdate"] == kind]

    def text(self, kind: str = "agent_message_chunk") -> str:
        return "".join(one["content"]["text"] for one in self.of(kind))


@asynccontextmanager
async def editor(
    place: Place, script: str, *flags: str, capabilities: Said | None = None, opens: bool = True
) -> AsyncIterator[Editor]:
    async with peer(place, script, "acp", *flags) as agent:
        one = Editor(place, agent)
        begun = await one.call("initialize", protocolVersion=1, clientCapabilities=capabilities or {})
        assert InitializeResponse.model_validate(begun).protocol_version == 1
        if opens:
            new = await one.call("session/new", cwd=str(place.folder), mcpServers=[])
            one.session = NewSessionResponse.model_validate(new).session_id
        yield one


def is_running(said: Said) -> bool:
    return bool(said.get("params", {}).get("update", {}).get("status") == "in_progress")


async def test_text_and_the_commands_that_can_be_typed(place: Place) -> None:
    async with editor(place, says("Hello.")) as one:
        answer = await one.answer(one.prompt("hi"))
        assert await one.agent.ends() == 0
    assert PromptResponse.model_validate(answer["result"]).stop_reason == "end_turn"
    assert one.text() == "Hello."
    assert "review" in [command["name"] for command in one.of("available_commands_update")[0]["availableCommands"]]
    assert one.of("usage_update")[-1]["used"] > 0


async def test_a_call_is_shown_asked_about_and_run(place: Place) -> None:
    writes = '[[reply]]\ntools = [{ name = "write_file", input = { path = "a.txt", content = "one\\ntwo\\n" } }]\n'
    async with editor(place, writes + says("Done.")) as one:
        number = one.prompt("write")
        asked = await one.asked()
        RequestPermissionRequest.model_validate(asked["params"])
        one.choose(asked, "once")
        await one.answer(number)
    diff = {"type": "diff", "path": str(place.folder / "a.txt"), "oldText": None, "newText": "one\ntwo"}
    assert diff in asked["params"]["toolCall"]["content"]
    assert (place.folder / "a.txt").read_text() == "one\ntwo\n"
    (call,) = one.of("tool_call")
    assert (call["kind"], call["status"], call["title"]) == ("edit", "pending", "write_file a.txt")
    running, ended = one.of("tool_call_update")
    assert running["locations"] == [{"path": str(place.folder / "a.txt")}]
    assert (ended["status"], ended["content"]) == ("completed", [diff])


async def test_a_refused_call_does_not_run(place: Place) -> None:
    async with editor(place, bash("touch made") + says("Not done.")) as one:
        number = one.prompt("do it")
        asked = await one.asked()
        assert [option["kind"] for option in asked["params"]["options"]][-1] == "reject_once"
        one.choose(asked, "no")
        await one.answer(number)
    assert not (place.folder / "made").exists()
    assert one.of("tool_call_update")[-1]["status"] == "failed"


async def test_cancel_during_a_question_and_during_a_command(place: Place) -> None:
    async with editor(place, bash("touch made") + bash("sleep 60") + says("Still here.")) as one:
        number = one.prompt("first")
        asked = await one.asked()
        one.agent.send({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": one.session}})
        one.choose(asked, None)
        assert (await one.answer(number))["result"] == {"stopReason": "cancelled"}
        number = one.prompt("second")
        await one.agent.until(is_running)
        one.agent.send({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": one.session}})
        assert (await one.answer(number))["result"] == {"stopReason": "cancelled"}
        assert (await one.answer(one.prompt("third")))["result"] == {"stopReason": "end_turn"}
    assert not (place.folder / "made").exists()


async def test_cancel_right_behind_a_prompt(place: Place) -> None:
    async with editor(place, bash("touch made")) as one:
        number = one.prompt("first")
        one.agent.send({"jsonrpc": "2.0", "method": "session/cancel", "params": {"sessionId": one.session}})
        assert (await one.answer(number))["result"] == {"stopReason": "cancelled"}
        assert await one.agent.ends() == 0


async def test_a_prompt_during_a_turn_joins_it(place: Place) -> None:
    async with editor(place, bash("touch made") + says("Both.")) as one:
        first = one.prompt("first")
        asked = await one.asked()
        second = one.prompt("also this")
        one.choose(asked, "once")
        assert (await one.answer(first))["result"] == {"stopReason": "end_turn"}
        assert (await one.answer(second))["result"] == {"stopReason": "end_turn"}
    assert one.text() == "Both."


@pytest.mark.parametrize("capabilities", [NOTICES, {}])
async def test_a_retry_is_a_notice_or_a_line_of_thought(place: Place, capabilities: Said) -> None:
    async with editor(place, "[[reply]]\nstatus = 529\n" + says("Hello."), capabilities=capabilities) as one:
        await one.answer(one.prompt("hi"))
    if capabilities:
        (notice,) = one.of("notice")
        assert notice["severity"] == "warning"
        assert notice["title"].startswith("retry 1 of 10")
    else:
        assert "retry 1 of 10" in one.text("agent_thought_chunk")
    assert one.text() == "Hello."


async def test_a_failed_turn_is_an_error_with_the_reason(place: Place) -> None:
    async with editor(place, '[[reply]]\nstatus = 401\nmessage = "invalid x-api-key"\n') as one:
        answer = await one.answer(one.prompt("hi"))
    assert "key" in answer["error"]["message"]


async def test_a_session_is_listed_loaded_resumed_and_closed(place: Place) -> None:
    script = bash("touch made", "I look.") + says("Done.") + says("Again.")
    async with editor(place, script) as one:
        number = one.prompt("do it")
        one.choose(await one.asked(), "once")
        await one.answer(number)
        session = one.session
        await one.call("session/close")
        assert "error" in await one.answer(one.prompt("closed"))
        one.session = ""
        listed = ListSessionsResponse.model_validate(await one.call("session/list", cwd=str(place.folder)))
        assert [(found.session_id, found.title) for found in listed.sessions] == [(session, "do it")]
        one.agent.seen.clear()
        await one.call("session/load", cwd=str(place.folder), sessionId=session, mcpServers=[])
        assert [update["sessionUpdate"] for update in one.updates if "tool" in update["sessionUpdate"]] == [
            "tool_call",
            "tool_call_update",
        ]
        assert (one.text("user_message_chunk"), one.text()) == ("do it", "I look.Done.")
        one.agent.seen.clear()
        await one.call("session/resume", cwd=str(place.folder), sessionId=session)
        one.session = session
        await one.answer(one.prompt("go on"))
        assert one.text("user_message_chunk") + one.text() == "Again."
        one.session = ""
        unknown = await one.answer(one.send("session/load", cwd=str(place.folder), sessionId="x", mcpServers=[]))
        assert "no session" in unknown["error"]["message"].lower()


async def test_mode_model_and_effort_are_options(place: Place) -> None:
    async with editor(place, bash("touch made") + says("Done.")) as one:
        for name, value in (("mode", "yolo"), ("model", "claude-haiku-5-5")):
            result = await one.call("session/set_config_option", configId=name, value=value)
            assert {option["id"]: option["currentValue"] for option in result["configOptions"]}[name] == value
        wrong = await one.answer(one.send("session/set_config_option", configId="mode", value="fast"))
        assert "There is no permission mode fast" in wrong["error"]["message"]
        await one.answer(one.prompt("do it"))
    assert (place.folder / "made").exists()
    assert len(one.of("config_option_update")) == 2


ASKS = '[[reply]]\ntools = [{ name = "ask_user", input = { question = "Which?", options = [{ label = "red" }, '
ASKS += '{ label = "blue" }] } }]\n'


async def test_a_question_of_the_model_is_a_form(place: Place) -> None:
    async with editor(place, ASKS + says("Done."), capabilities={"elicitation": {"form": {}}}) as one:
        number = one.prompt("paint")
        asked = await one.asked("elicitation/create")
        content = {"action": "accept", "content": {"answer": "blue"}}
        one.agent.send({"jsonrpc": "2.0", "id": asked["id"], "result": content})
        await one.answer(number)
    assert "blue" in str(one.of("tool_call_update")[-1]["content"])


async def test_without_forms_it_is_a_choice(place: Place) -> None:
    async with editor(place, ASKS + says("Done.")) as one:
        number = one.prompt("paint")
        asked = await one.asked()
        assert [option["optionId"] for option in asked["params"]["options"]] == ["red", "blue", "no"]
        one.choose(asked, "red")
        await one.answer(number)
    assert "red" in str(one.of("tool_call_update")[-1]["content"])


async def test_the_checklist_is_a_plan(place: Place) -> None:
    todo = '[[reply]]\ntools = [{ name = "todo_write", input = { items = [{ text = "a", status = "done" }, '
    todo += '{ text = "b", status = "in_progress" }] } }]\n'
    async with editor(place, todo + says("Done.")) as one:
        await one.answer(one.prompt("plan"))
    assert [(entry["content"], entry["status"]) for entry in one.of("plan")[-1]["entries"]] == [
        ("a", "completed"),
        ("b", "in_progress"),
    ]


async def test_files_of_the_editor_are_named_in_the_prompt(place: Place) -> None:
    link = {"type": "resource_link", "name": "notes.md", "uri": f"file://{place.folder}/notes.md"}
    async with editor(place, says("Read.")) as one:
        content = [{"type": "text", "text": "read"}, link]
        await one.call("session/prompt", prompt=content)
        await one.call("session/close")
    (path,) = place.state.glob("sessions/*/*.jsonl")
    assert f'"prompt":"read @{place.folder}/notes.md"' in path.read_text()


async def test_an_image_is_sent_to_the_model(place: Place) -> None:
    async with editor(place, says("A dot.")) as one:
        await one.call("session/prompt", prompt=[{"type": "image", "mimeType": "image/png", "data": DOT}])
        wrong = one.send("session/prompt", prompt=[{"type": "image", "mimeType": "image/png", "data": "?"}])
        assert "base64" in (await one.answer(wrong))["error"]["message"]
    (path,) = place.state.glob("sessions/*/*.jsonl")
    assert '"type":"image"' in path.read_text()


async def test_what_is_unknown_is_an_error_and_ends_nothing(place: Place) -> None:
    async with editor(place, says("Hello.")) as one:
        assert (await one.answer(one.send("session/nothing")))["error"]["code"] == -32601
        assert (await one.answer(one.send("session/prompt")))["error"]["message"] == "session/prompt needs prompt."
        odd: list[tuple[str, Said, str]] = [
            ("session/new", {"cwd": 3}, "cwd has to be a text"),
            ("session/new", {"cwd": str(place.folder), "mcpServers": ["p"]}, "mcpServers has to be a list"),
            ("session/new", {"cwd": str(place.folder), "mcpServers": [TWIN, TWIN]}, "the same name"),
            ("session/new", {"cwd": str(place.folder), "mcpServers": [TWIN | {"env": {"A": "b"}}]}, "are lists"),
            ("session/load", {"cwd": str(place.folder), "sessionId": 7}, "sessionId has to be a text"),
            ("session/load", {"cwd": str(place.folder.parent)}, f"belongs to {place.folder}"),
            ("session/load", {"cwd": str(place.folder), "additionalDirectories": ["/no/such"]}, "is missing"),
            ("session/prompt", {"prompt": "hi"}, "prompt has to be a list"),
            ("session/prompt", {"prompt": []}, "The prompt is empty"),
            ("session/set_mode", {"modeId": "fast"}, "no permission mode fast"),
        ]
        for method, params, why in odd:
            error = (await one.answer(one.send(method, **params)))["error"]
            assert (error["code"], why in error["message"]) == (-32602, True)
        one.agent.process.stdin.write(b'no json\n[]\n3\n{"jsonrpc":"2.0","method":"$/unknown","params":{}}\n')
        await one.answer(one.prompt("hi"))
        assert await one.agent.ends() == 0
    assert one.text() == "Hello."


async def test_the_end_of_the_input_ends_it(place: Place) -> None:
    ended = await run(place, "acp", stdin="")
    assert (ended.code, ended.out) == (0, "")


async def test_servers_that_the_editor_brings_are_there_for_this_opening_of_the_session(place: Place) -> None:
    web = Web()
    await web.open()
    local = practice() | {"name": "p", "env": [{"name": "BROUGHT", "value": "1"}]}
    remote = {"type": "http", "name": "w", "url": web.url, "headers": [{"name": "X-Key", "value": "k3y"}]}
    script = calls("mcp__p__environment") + calls("mcp__w__echo") + says("Done.")
    async with editor(place, script + script, "--yolo", opens=False) as one:
        new = await one.call("session/new", cwd=str(place.folder), mcpServers=[local, remote])
        one.session = new["sessionId"]
        await one.answer(one.prompt("call"))
        results = [str(ended["content"]) for ended in one.of("tool_call_update") if ended.get("status") == "completed"]
        await one.call("session/load", cwd=str(place.folder), mcpServers=[])
        await one.answer(one.prompt("call again"))
    web.close()
    assert "BROUGHT" in results[0]
    assert "hello" in results[1]
    assert "k3y" in {headers.get("x-key") for headers in web.seen}
    assert [call["status"] for call in one.of("tool_call")][-2:] == ["failed", "failed"]


async def test_two_sessions_of_one_process_ask_and_end_by_themselves(place: Place) -> None:
    async with editor(place, bash("touch a") + bash("touch b") + says("B.") + says("A.")) as one:
        first, one.session = one.session, ""
        second = (await one.call("session/new", cwd=str(place.folder), mcpServers=[]))["sessionId"]
        ends, asked = {}, {}
        for session in (first, second):
            one.session = session
            ends[session] = one.prompt("do it")
            asked[session] = await one.asked()
            assert asked[session]["params"]["sessionId"] == session
        one.choose(asked[second], "once")
        assert (await one.answer(ends[second]))["result"] == {"stopReason": "end_turn"}
        one.choose(asked[first], "no")
        assert (await one.answer(ends[first]))["result"] == {"stopReason": "end_turn"}
    assert [(place.folder / name).exists() for name in "ab"] == [False, True]


async def test_an_editor_that_dies_in_mid_turn_ends_the_turn_and_its_command(place: Place) -> None:
    async with editor(place, bash("sleep 60; touch made"), "--yolo") as one:
        one.prompt("wait")
        await one.agent.until(is_running)
        assert await one.agent.ends() == 0
    assert not (place.folder / "made").exists()


async def test_without_a_key_the_editor_is_told_how_to_give_one(place: Place) -> None:
    one = Editor(place, Peer(await start(place, "acp")))
    begun = await one.call("initialize", protocolVersion=1)
    assert InitializeResponse.model_validate(begun).auth_methods
    assert begun["authMethods"][0]["id"] == "api-key"
    assert (await one.answer(one.send("authenticate", methodId="api-key")))["error"]["message"].startswith("No key")
    await one.call("session/new", cwd=str(place.folder), mcpServers=[])
    assert "No key is set" in str(await one.agent.until(lambda said: said.get("method") == "session/update"))
    assert await one.agent.ends() == 0


async def test_thoughts_and_effort_are_shown_and_the_session_says_when_it_changes_them(place: Place) -> None:
    thinks = '[[reply]]\nthinking = "Hm."\ntext = "Hello."\n'
    async with editor(place, thinks, "--model", "claude-opus-4-8") as one:
        await one.answer(one.prompt("hi"))
        await one.answer(one.prompt("/effort high"))
        await one.answer(one.prompt("/mode plan"))
    assert one.text("agent_thought_chunk").startswith("Hm.")
    changes = [
        {option["id"]: option["currentValue"] for option in said["configOptions"]}
        for said in one.of("config_option_update")
    ]
    assert [(said["effort"], said["mode"]) for said in changes] == [("high", "ask"), ("high", "plan")]


async def test_the_journal_is_that_of_a_session_by_hand(place: Place) -> None:
    script = bash("touch made") + says("Done.")
    async with peer(place, script, "--plain", "--yolo") as by_hand:
        by_hand.process.stdin.write(b"do it\n")
        by_hand.process.stdin.close()
        await by_hand.process.wait()
    async with editor(place, script, "--yolo") as one:
        await one.answer(one.prompt("do it"))
        await one.agent.ends()
    kept = ("type", "tool", "prompt", "outcome", "origin", "code")
    first, second = [
        [{name: said[name] for name in kept if name in said} for said in map(json.loads, path.read_text().splitlines())]
        for path in sorted(place.state.glob("sessions/*/*.jsonl"))
    ]
    assert first == second


async def test_a_request_that_is_taken_back_ends_the_turn(place: Place) -> None:
    async with editor(place, bash("sleep 60") + says("Next."), "--yolo") as one:
        number = one.prompt("wait")
        await one.agent.until(is_running)
        one.agent.send({"jsonrpc": "2.0", "method": "$/cancel_request", "params": {"requestId": number}})
        assert (await one.answer(number))["result"] == {"stopReason": "cancelled"}
        assert (await one.answer(one.prompt("next")))["result"] == {"stopReason": "end_turn"}


def git_that_waits(place: Place, go: Path) -> Path:
    """The folder of a `git` whose diff waits for a file, in a repository."""
    real = shutil.which("git") or "git"
    git = place.folder.parent / "bin" / "git"
    git.parent.mkdir()
    wait = f'case "$*" in *diff*) until [ -e {go} ]; do sleep 0.05; done;; esac'
    git.write_text(f'#!/bin/sh\n{wait}\nexec {real} "$@"\n')
    git.chmod(0o755)
    subprocess.run([real, "init", "-q"], cwd=place.folder, check=True)
    return git.parent


async def test_a_command_beside_a_turn_keeps_no_answer_back(place: Place) -> None:
    go = place.folder.parent / "go"
    path = f"{git_that_waits(place, go)}:{os.environ['PATH']}"
    async with peer(place, says("Hello."), "acp", PATH=path) as agent:
        one = Editor(place, agent)
        await one.call("initialize", protocolVersion=1)
        one.session = (await one.call("session/new", cwd=str(place.folder), mcpServers=[]))["sessionId"]
        both = [one.prompt("/diff"), one.prompt("hi")]
        await one.agent.until(lambda said: "Hello." in str(said))
        await one.call("session/list")
        go.touch()
        for _ in range(2):
            ended = await one.agent.until(lambda said: said.get("id") in both and "method" not in said)
            assert ended["result"] == {"stopReason": "end_turn"}


async def test_two_closings_at_once_are_one(place: Place) -> None:
    async with editor(place, bash("sleep 60"), "--yolo") as one:
        prompt = one.prompt("wait")
        await one.agent.until(is_running)
        first, second = one.send("session/close"), one.send("session/close")
        assert "is not open" in (await one.answer(second))["error"]["message"]
        await one.answer(first)
        assert await one.agent.ends() == 0
    ended = [said["result"] for said in one.agent.seen if said.get("id") == prompt and "method" not in said]
    assert ended == [{"stopReason": "cancelled"}]


async def test_an_editor_that_reads_no_more_cannot_keep_it(place: Place) -> None:
    long = f'[[reply]]\ntext = "{"x" * 200_000}"\nchunk = 50\n'
    async with editor(place, long) as one:
        one.prompt("write")
        await one.agent.until(lambda said: "xxx" in str(said))
        one.agent.process.stdin.close()  # and the pipe is full
        assert await one.agent.process.wait() == 0
    async with editor(place, bash("sleep 60"), "--yolo") as one:
        one.prompt("wait")
        await one.agent.until(is_running)
        one.agent.process.stop_reading()
        assert await one.agent.process.wait() == 141


async def test_a_turn_waits_for_an_editor_that_reads_nothing_until_a_signal_comes(place: Place) -> None:
    words = " ".join(map(str, range(300_000)))
    async with editor(place, f'[[reply]]\ntext = "{words}"\nchunk = 500\n') as one:
        one.prompt("write")
        await one.agent.process.until_full()
        one.agent.process.terminate()
        async with asyncio.timeout(GRACE_S):
            assert await one.agent.process.wait() == 143
        one.agent.process.stop_reading()


async def test_control_characters_do_not_reach_the_editor(place: Place) -> None:
    async with editor(place, says("\\u001b[2JDone.")) as one:
        await one.answer(one.prompt("\x1b[31mred"))
    assert one.text() == "\\x1b[2JDone."
    assert one.of("session_info_update")[0]["title"] == "\\x1b[31mred"
