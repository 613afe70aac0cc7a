"""`harness --input-format stream-json` as a process, driven line by line."""

import asyncio
import json
import signal
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import pytest

from harness.ui.programs.driver import PATIENCE_S
from harness.ui.signals import GRACE_S
from tests.ui.lines_of_json import DOT, Peer, Said, bash, calls, peer, says
from tests.ui.program import LIMIT_S, Place, run

pytestmark = pytest.mark.anyio

FLAGS = ("--input-format", "stream-json", "--output-format", "stream-json", "--verbose")
ASKS = (*FLAGS, "--permission-prompt-tool", "stdio")


def driven(place: Place, script: str, *flags: str) -> AbstractAsyncContextManager[Peer]:
    return peer(place, script, *(flags or ASKS))


def prompt(text: str, **fields: str) -> Said:
    return {"type": "user", "message": {"role": "user", "content": text}, **fields}


def request(subtype: str, **fields: object) -> Said:
    return {"type": "control_request", "request_id": subtype, "request": {"subtype": subtype, **fields}}


def answer(asked: Said, **response: object) -> Said:
    whole = {"subtype": "success", "request_id": asked["request_id"], "response": response}
    return {"type": "control_response", "response": whole}


def is_question(message: Said) -> bool:
    return str(message["type"]) == "control_request"


def is_response(message: Said) -> bool:
    return str(message["type"]) == "control_response"


def is_result(message: Said) -> bool:
    return str(message["type"]) == "result"


def named(subtype: str) -> Callable[[Said], bool]:
    return lambda message: message.get("subtype") == subtype


async def test_several_turns_in_one_process_with_the_same_messages_as_a_conversation(place: Place) -> None:
    async with driven(place, says("One.") + says("Two.")) as program:
        program.send(prompt("first"))
        first = await program.until(is_result)
        program.send(prompt("second"))
        second = await program.until(is_result)
        assert await program.ends() == 0
    assert [(one["result"], one["subtype"], one["is_error"]) for one in (first, second)] == [
        ("One.", "success", False),
        ("Two.", "success", False),
    ]
    answers = [one["message"]["content"][0]["text"] for one in program.seen if one["type"] == "assistant"]
    assert answers == ["One.", "Two."]
    assert program.seen[0]["subtype"] == "init"
    assert {one["session_id"] for one in program.seen} == {first["session_id"]}


async def test_the_program_allows_one_call_and_refuses_another(place: Place) -> None:
    script = bash("touch made") + bash("touch other") + says("Done.")
    async with driven(place, script) as program:
        program.send(prompt("do both"))
        asked = await program.until(is_question)
        assert (asked["request"]["tool_name"], asked["request"]["input"]) == ("bash", {"command": "touch made"})
        program.send(answer(asked, behavior="allow", updatedInput={"command": "touch made"}))
        program.send(answer(await program.until(is_question), behavior="deny", message="not that one"))
        result = await program.until(is_result)
        assert await program.ends() == 0
    assert (place.folder / "made").exists()
    assert not (place.folder / "other").exists()
    assert [(one["tool_name"], one["reason"]) for one in result["permission_denials"]] == [("bash", "not that one")]
    results = [one["message"]["content"][0] for one in program.seen if one["type"] == "user"]
    assert "not that one" in results[1]["content"]


async def test_a_call_that_is_allowed_with_another_input_does_not_run(place: Place) -> None:
    async with driven(place, bash("touch made") + says("Done.")) as program:
        program.send(prompt("do it"))
        asked = await program.until(is_question)
        program.send(answer(asked, behavior="allow", updatedInput={"command": "touch safe"}))
        result = await program.until(is_result)
    assert [one.name for one in place.folder.iterdir()] == ["notes.md"]
    assert "another input" in result["permission_denials"][0]["reason"]


async def test_a_suggestion_sent_back_holds_for_later_calls(place: Place) -> None:
    async with driven(place, bash("touch a") + bash("touch b") + says("Done.")) as program:
        program.send(prompt("do both"))
        asked = await program.until(is_question)
        (family,) = [one for one in asked["request"]["permission_suggestions"] if "*" in str(one["rules"])]
        program.send(answer(asked, behavior="allow", updatedPermissions=[family]))
        assert (await program.until(is_result))["permission_denials"] == []
    assert (place.folder / "b").exists()
    assert sum(map(is_question, program.seen)) == 1


@pytest.mark.parametrize(
    "response",
    [
        {},
        {"behavior": "perhaps"},
        {"behavior": "allow", "updatedPermissions": [{"type": "addRules", "behavior": "deny"}]},
    ],
)
async def test_what_is_no_clear_yes_is_a_no(place: Place, response: Said) -> None:
    async with driven(place, bash("touch made") + says("Done.")) as program:
        program.send(prompt("do it"))
        program.send(answer(await program.until(is_question), **response))
        assert len((await program.until(is_result))["permission_denials"]) == 1
    assert not (place.folder / "made").exists()


async def test_the_end_of_the_input_answers_no(place: Place) -> None:
    async with driven(place, bash("touch made") + says("Done.")) as program:
        program.send(prompt("do it"))
        await program.until(is_question)
        assert await program.ends() == 0
    (result,) = filter(is_result, program.seen)
    assert result["result"] == "Done."
    assert "input ended" in result["permission_denials"][0]["reason"]


async def test_without_a_program_that_answers_nothing_is_asked(place: Place) -> None:
    async with driven(place, bash("touch made") + says("Done."), *FLAGS) as program:
        program.send(prompt("do it"))
        assert "no user is present" in (await program.until(is_result))["permission_denials"][0]["reason"]
    assert not any(map(is_question, program.seen))


async def test_a_prompt_during_a_turn_joins_it_and_a_later_one_waits(place: Place) -> None:
    async with driven(place, bash("touch made") + says("Both.") + says("Third.")) as program:
        program.send(prompt("first"))
        asked = await program.until(is_question)
        program.send(prompt("y"))
        program.send(prompt("third", priority="later"))
        await program.until(named("steering_queued"))
        program.send(answer(asked, behavior="allow"))
        assert (await program.until(is_result))["result"] == "Both."
        assert (await program.until(is_result))["result"] == "Third."
    assert any(one.get("subtype") == "steering_delivered" for one in program.seen)


async def test_an_interrupt_ends_the_turn_and_takes_its_question_back(place: Place) -> None:
    async with driven(place, bash("touch made") + says("Next.")) as program:
        program.send(prompt("first"))
        asked = await program.until(is_question)
        program.send(request("interrupt"))
        result = await program.until(is_result)
        program.send(prompt("second"))
        assert (await program.until(is_result))["result"] == "Next."
    assert result["is_error"]
    cancelled = [one["request_id"] for one in program.seen if one["type"] == "control_cancel_request"]
    assert cancelled == [asked["request_id"]]
    assert not (place.folder / "made").exists()


async def test_mode_and_model_change_between_turns(place: Place) -> None:
    async with driven(place, bash("touch made") + says("Done.")) as program:
        program.send(request("initialize", hooks=None))
        ready = await program.until(is_response)
        assert "review" in [one["name"] for one in ready["response"]["response"]["commands"]]
        program.send(request("set_permission_mode", mode="bypassPermissions"))
        program.send(request("set_model", model="claude-haiku-5-5"))
        program.send(request("unheard_of"))
        refused = await program.until(lambda one: one.get("response", {}).get("subtype") == "error")
        assert refused["response"]["error"] == "The request unheard_of is not supported."
        program.send(prompt("do it"))
        init = await program.until(named("init"))
        assert (init["permissionMode"], init["model"]) == ("bypassPermissions", "claude-haiku-5-5")
        await program.until(is_result)
    assert (place.folder / "made").exists()


async def test_hooks_of_a_program_are_asked(place: Place) -> None:
    def hooks(*ids: str, **more: object) -> list[Said]:
        return [{"matcher": "Bash", "hookCallbackIds": list(ids), **more}]

    script = bash("touch bad") + bash("touch good") + bash("touch unknown") + says("Done.")
    async with driven(place, script, *FLAGS, "--yolo") as program:
        program.send(request("initialize", hooks={"PreToolUse": hooks("one", onFailure="block"), "Stop": []}))
        assert (await program.until(is_response))["response"]["response"]["hook_on_failure_supported"] is True
        program.send(prompt("do it"))
        denies = {"permissionDecision": "deny", "permissionDecisionReason": "a bad word"}
        first, second, third = [
            await answered(program, hookSpecificOutput=denies),
            await answered(program),
            await answered(program, fails="gone"),
        ]
        result = await program.until(is_result)
    assert (first["callback_id"], first["input"]["tool_name"]) == ("one", "Bash")
    assert [one["input"]["tool_input"]["command"] for one in (second, third)] == ["touch good", "touch unknown"]
    assert [one.name for one in place.folder.iterdir() if one.name != "notes.md"] == ["good"]
    assert ["a bad word" in one["reason"] for one in result["permission_denials"]] == [True, False]
    assert "gone" in result["permission_denials"][1]["reason"]


async def answered(program: Peer, fails: str = "", **response: object) -> Said:
    """Answer the next request of the session, and return it."""
    asked = await program.until(is_question)
    if fails:
        whole = {"subtype": "error", "request_id": asked["request_id"], "error": fails}
        program.send({"type": "control_response", "response": whole})
    else:
        program.send(answer(asked, **response))
    content: Said = asked["request"]
    return content


@pytest.mark.parametrize(
    ("field", "value", "why"),
    [
        ("agents", {"a": {}}, "agents of a program is not supported"),
        ("systemPrompt", ["Be brief."], "systemPrompt of a program is not supported"),
        ("hooks", {"Never": [{"hookCallbackIds": ["a"]}]}, "there is no hook point 'Never'"),
        ("hooks", {"Stop": [{"matcher": "x", "hookCallbackIds": ["a"]}]}, "concerns no tool"),
        ("hooks", ["PreToolUse"], "cannot be used"),
    ],
)
async def test_what_is_not_supported_is_refused_and_not_forgotten(
    place: Place, field: str, value: object, why: str
) -> None:
    async with driven(place, says("Hi.")) as program:
        program.send(request("initialize", **{field: value}))
        assert why in (await program.until(is_response))["response"]["error"]


async def test_hooks_come_with_the_first_message_or_not_at_all(place: Place) -> None:
    async with driven(place, says("Hi.")) as program:
        program.send(prompt("hi"))
        await program.until(is_result)
        program.send(request("initialize", sdkMcpServers=["calc"]))
        assert "first message" in (await program.until(is_response))["response"]["error"]


TOOL: Said = {"name": "add", "description": "Add.", "inputSchema": {"type": "object"}}


async def test_a_server_inside_the_program_is_reached_through_it(place: Place) -> None:
    info = {"name": "c", "version": "1"}
    results: Said = {
        "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": info},
        "tools/list": {"tools": [TOOL]},
        "tools/call": {"content": [{"type": "text", "text": "5"}]},
    }
    config = json.dumps({"mcpServers": {"calc": {"type": "sdk", "name": "calc"}}})
    async with driven(place, calls("mcp__calc__add") + says("Five."), *FLAGS, "--yolo", "--mcp-config", config) as one:
        one.send(request("initialize"))
        called = []
        while not is_result(said := await one.until(lambda _: True)):
            if is_response(said):
                one.send(request("mcp_status"))
                assert await one.until(is_response)
                one.send(prompt("add"))
            elif is_question(said):
                asked = said["request"]
                called.append((asked["subtype"], asked["server_name"], asked["message"]["method"]))
                reply: Said = {"jsonrpc": "2.0", "id": asked["message"].get("id", 0)}
                known = results.get(asked["message"]["method"])
                reply |= {"result": known} if known else {"error": {"code": -32601, "message": "no"}}
                one.send(answer(said, mcp_response=reply))
    statuses = [one["response"]["response"]["mcpServers"] for one in one.seen if is_status(one)]
    assert statuses == [[{"name": "calc", "status": "connected"}]]
    assert ("mcp_message", "calc", "tools/call") in called
    (content,) = [one["message"]["content"][0]["content"] for one in one.seen if one["type"] == "user"]
    assert "5" in str(content)
    (init,) = filter(named("init"), one.seen)
    assert init["mcp_servers"] == statuses[0]


def is_status(message: Said) -> bool:
    return is_response(message) and "mcpServers" in message["response"].get("response", {})


async def test_a_question_of_the_model_is_answered_by_the_program(place: Place) -> None:
    asks = '[[reply]]\ntools = [{ name = "ask_user", input = { question = "Which?", options = [{ label = "red" }, '
    asks += '{ label = "blue" }] } }]\n'
    async with driven(place, asks + says("Blue it is.")) as program:
        program.send(prompt("paint"))
        asked = await program.until(is_question)
        assert asked["request"]["tool_name"] == "AskUserQuestion"
        given = asked["request"]["input"] | {"answers": {"Which?": "blue"}}
        program.send(answer(asked, behavior="allow", updatedInput=given))
        await program.until(is_result)
    (result,) = [one["message"]["content"][0] for one in program.seen if one["type"] == "user"]
    assert result["content"] == "The user chose: blue"


async def test_an_image_is_sent_to_the_model(place: Place) -> None:
    source = {"type": "base64", "media_type": "image/png", "data": DOT}
    async with driven(place, says("A dot.")) as program:
        content = [{"type": "text", "text": "what is this?"}, {"type": "image", "source": source}]
        program.send({"type": "user", "message": {"role": "user", "content": content}})
        assert (await program.until(is_result))["result"] == "A dot."
    (path,) = place.state.glob("sessions/*/*.jsonl")
    assert '"type":"image"' in path.read_text()


async def test_the_journal_is_that_of_a_prompt_given_by_hand(place: Place) -> None:
    script = bash("ls") + says("Done.")
    async with peer(place, script, "-p", "look") as by_hand:
        by_hand.process.stdin.close()
        await by_hand.process.wait()
    async with driven(place, script, *FLAGS) as program:
        program.send(prompt("look"))
        await program.ends()
    one, other = sorted(place.state.glob("sessions/*/*.jsonl"))
    types = [[json.loads(line)["type"] for line in path.read_text().splitlines()] for path in (one, other)]
    assert types[0] == types[1]


async def test_a_slash_command_has_a_result_of_its_own(place: Place) -> None:
    async with driven(place, says("Hi.")) as program:
        program.send(prompt("/mode"))
        result = await program.until(is_result)
    assert (result["is_error"], result["num_turns"]) == (False, 0)
    assert result["result"].startswith("permissions: ")


async def test_a_failed_turn_is_an_error_with_the_reason(place: Place) -> None:
    async with driven(place, '[[reply]]\nstatus = 401\nmessage = "invalid x-api-key"\n') as program:
        program.send(prompt("hi"))
        result = await program.until(is_result)
        assert await program.ends() == 1
    assert result["is_error"]
    assert "key" in result["errors"][0]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{broken", "Line 1 of standard input is not JSON"),
        ("[" * 100_000, "Line 1 of standard input is not JSON"),
        ("[]", "Line 1 of standard input is not a JSON object."),
        ('{"type": "new"}', "Standard input has a message that is not known"),
    ],
)
async def test_a_line_that_cannot_be_understood_ends_the_program(place: Place, line: str, problem: str) -> None:
    ended = await run(place, *FLAGS, stdin=f"{line}\n")
    assert ended.code == 2
    assert problem in ended.err


async def test_sigterm_ends_a_turn_in_its_middle(place: Place) -> None:
    async with driven(place, bash("sleep 60"), *FLAGS, "--permission-mode", "bypassPermissions") as program:
        program.send(prompt("wait"))
        await program.until(named("tool_started"))
        program.process.terminate()
        assert await program.process.wait() == 143


def at_once(program: Peer, *messages: Said) -> None:
    """Send messages in one write."""
    program.process.stdin.write(b"".join(json.dumps(one).encode() + b"\n" for one in messages))


async def test_an_interrupt_right_behind_a_prompt_stops_it_and_no_other(place: Place) -> None:
    async with driven(place, says("Second.") + says("Third.")) as program:
        at_once(
            program, request("interrupt"), prompt("first"), request("interrupt"), prompt("second", priority="later")
        )
        results = [await program.until(is_result) for _ in range(2)]
        at_once(program, prompt("third", priority="later"), request("interrupt"), request("interrupt"))
        results.append(await program.until(is_result))
        program.send(prompt("fourth"))
        results.append(await program.until(is_result))
        assert await program.ends() == 0
    assert [one["is_error"] for one in results] == [True, False, True, False]
    assert [one["result"] for one in results if not one["is_error"]] == ["Second.", "Third."]


async def test_a_prompt_that_is_sent_twice_runs_once_and_comes_back_where_that_is_wanted(place: Place) -> None:
    one = prompt("hi", uuid="one", session_id="default", parent_tool_use_id="")
    async with driven(place, says("Hello."), *FLAGS, "--replay-user-messages") as program:
        at_once(program, one, one)
        assert (await program.until(is_result))["result"] == "Hello."
        assert await program.ends() == 0
    back = [said for said in program.seen if said.get("isReplay")]
    assert [(said["uuid"], said["message"]["content"]) for said in back] == [("one", "hi"), ("one", "hi")]
    assert {said["session_id"] for said in back} == {program.seen[-1]["session_id"]}
    assert sum(map(is_result, program.seen)) == 1


async def test_a_prompt_that_cannot_be_run_has_a_result_that_says_why(place: Place) -> None:
    image = {"type": "image", "source": {"type": "base64", "data": "?"}}
    contents: list[tuple[object, str]] = [
        (" ", "is empty"),
        ([], "is empty"),
        ([image], "base64"),
        ([3], "not supported"),
    ]
    async with driven(place, says("Hello.")) as program:
        for content, why in contents:
            program.send({"type": "user", "message": {"role": "user", "content": content}})
            result = await program.until(is_result)
            assert (result["is_error"], why in result["errors"][0]) == (True, True)
        program.send(prompt("hi"))
        assert (await program.until(is_result))["result"] == "Hello."


async def test_only_the_first_answer_to_a_question_counts_and_the_mode_changes_while_it_is_open(place: Place) -> None:
    async with driven(place, bash("touch a") + bash("touch b") + bash("touch c") + says("Done.")) as program:
        program.send(prompt("do it"))
        first = await program.until(is_question)
        program.send(answer(first | {"request_id": "another"}, behavior="allow"))
        at_once(program, answer(first, behavior="deny", message="no"), answer(first, behavior="allow"))
        second = await program.until(is_question)
        at_once(program, answer(first, behavior="allow"), request("set_permission_mode", mode="bypassPermissions"))
        assert (await program.until(is_response))["response"]["subtype"] == "success"
        program.send(answer(second, behavior="deny", message="no"))
        assert len((await program.until(is_result))["permission_denials"]) == 2
    assert [(place.folder / name).exists() for name in "abc"] == [False, False, True]


async def test_two_interrupts_end_a_turn_at_once_as_an_error(place: Place) -> None:
    async with driven(place, bash("sleep 60") + says("Next."), *FLAGS, "--yolo") as program:
        program.send(prompt("wait"))
        await program.until(named("tool_started"))
        at_once(program, request("interrupt"), request("interrupt"))
        assert (await program.until(is_result))["is_error"]
        program.send(prompt("next"))
        assert (await program.until(is_result))["result"] == "Next."


LONG = " ".join(map(str, range(300_000)))
WRITES = f'[[reply]]\ntext = "{LONG}"\nchunk = 50_000\n'


async def stuck(program: Peer, *, prompts: bool) -> None:
    """Begin a long answer, and read nothing of it."""
    if prompts:
        program.send(prompt("write"))
    else:
        program.process.stdin.close()
    async with asyncio.timeout(LIMIT_S):
        await program.process.until_full()


PRINTS = ("-p", "write", "--output-format", "stream-json")


@pytest.mark.parametrize("flags", [FLAGS, pytest.param(PRINTS, marks=pytest.mark.stories)])
async def test_a_reader_that_reads_nothing_keeps_no_signal_back(place: Place, flags: tuple[str, ...]) -> None:
    async def ended_by(number: int) -> None:
        async with driven(place, WRITES, *flags) as program:
            await stuck(program, prompts=flags is FLAGS)
            program.process.send_signal(number)
            async with asyncio.timeout(GRACE_S):
                assert await program.process.wait() == 128 + number
            program.process.stop_reading()

    await asyncio.gather(ended_by(signal.SIGTERM), ended_by(signal.SIGINT))


@pytest.mark.stories
@pytest.mark.parametrize("flags", [FLAGS, PRINTS])
async def test_a_late_reader_gets_all_and_one_that_leaves_ends_it(place: Place, flags: tuple[str, ...]) -> None:
    async with driven(place, WRITES, *flags) as program:
        await stuck(program, prompts=flags is FLAGS)
        assert await program.ends() == 0
        assert [one["result"] for one in filter(is_result, program.seen)] == [LONG]
    async with driven(place, WRITES, *flags) as program:
        await stuck(program, prompts=flags is FLAGS)
        program.process.stop_reading()
        async with asyncio.timeout(GRACE_S):
            assert await program.process.wait() == 141


@pytest.mark.stories
async def test_a_program_that_reads_nothing_and_closes_the_input_has_gone(place: Place) -> None:
    async with driven(place, WRITES, *FLAGS) as program:
        await stuck(program, prompts=True)
        program.process.stdin.close()
        async with asyncio.timeout(PATIENCE_S + GRACE_S):
            assert await program.process.wait() == 141
        assert "Nothing reads standard output" in (await program.process.stderr.read()).decode()
        program.process.stop_reading()
