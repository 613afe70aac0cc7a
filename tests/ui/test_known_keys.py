"""A key that a command prints is in nothing that this program shows, sends or writes, in any of its front ends."""

import json
from pathlib import Path

import pytest

from harness.practice.script import Script
from harness.practice.server import PracticeServer
from tests.agent.stage import calls
from tests.ui.program import Place, run
from tests.ui.terminals import Terminal

pytestmark = pytest.mark.anyio

KEY = "sk-ant-api03-" + "k9Zq_f27" * 11
TOKEN = "gw-" + "Qz7" * 12
OTHER = "sk-ant-oat01-" + "w8Lm-c35" * 11
"""In a .env whose key is not the one in use."""
LONG = "seq 1 90000; cat .env; seq 1 30000"
SAYS_KEY = f'[[reply]]\ntext = "You gave me {KEY}."\n'
DONE = '[[reply]]\ntext = "Done."\n'
SCREEN = {"TERM": "xterm-256color", "HARNESS_PLAIN": "", "NO_COLOR": ""}


def call(command: str, **more: object) -> str:
    more_input = "".join(f", {name} = {json.dumps(value)}" for name, value in more.items())
    return calls(f'{{ name = "bash", input = {{ command = {json.dumps(command)}{more_input} }} }}')


def serving(script: str) -> PracticeServer:
    return PracticeServer(script=Script.parse(f'after = "error"\n{script}'))


def environment() -> dict[str, str]:
    return {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_CUSTOM_HEADERS": f"X-Gateway-Token: {TOKEN}\nX-Team: blue"}


def folder_with_keys(place: Place) -> None:
    text = f"A_KEY={KEY}\nANTHROPIC_AUTH_TOKEN={OTHER}\nGATEWAY={TOKEN}\nTEAM=blue\n"
    (place.folder / ".env").write_text(text)


def kept(place: Place) -> dict[Path, bytes]:
    """Every file written by the program, except the copies of workspace files for /rewind."""
    files = (path for path in place.state.rglob("*") if path.is_file())
    return {path: path.read_bytes() for path in files if not any(part.endswith(".files") for part in path.parts)}


def holds_no_key(*texts: str | bytes) -> None:
    for text in texts:
        data = text.encode() if isinstance(text, str) else text
        for key in (KEY, TOKEN, OTHER):
            assert key[:24].encode() not in data
            assert key[-24:].encode() not in data


@pytest.mark.grid(1)
@pytest.mark.parametrize("form", ["text", "json", "stream-json"])
async def test_a_headless_turn_shows_sends_and_writes_no_key(place: Place, form: str) -> None:
    folder_with_keys(place)
    script = call("cat .env") + call(LONG) + call("cat .env >&2; exit 3") + SAYS_KEY
    async with serving(script) as server:
        there = Place(place.folder, server.base_url)
        flags = ("--yolo", "--trust-folder", "--output-format", form)
        ended = await run(there, "-p", f"look, {KEY}", *flags, env=environment())
        sent = [json.dumps(request.body) for request in server.requests]
    assert ended.code == 0, ended.err
    assert len(sent) == 4
    assert "TEAM=blue" in sent[1]
    assert "A_KEY=•••" in json.loads(sent[1])["messages"][-1]["content"][0]["content"]
    assert "You gave me •••." in (ended.out if form == "text" else json.loads(ended.out.splitlines()[-1])["result"])
    outputs = [path for path in kept(place) if ".outputs" in str(path)]
    assert len(outputs) == 1
    assert b"A_KEY=" + b"*" * len(KEY) in outputs[0].read_bytes()
    holds_no_key(ended.out, ended.err, *sent, *kept(place).values())

    async with serving(SAYS_KEY) as server:
        again = Place(place.folder, server.base_url)
        ended = await run(again, "-p", "-c", "and now", *flags, env=environment())
        sent = [json.dumps(request.body) for request in server.requests]
    assert ended.code == 0, ended.err
    holds_no_key(ended.out, ended.err, *sent, *kept(place).values())


async def test_hooks_background_commands_and_subagents_get_and_write_no_key(place: Place) -> None:
    folder_with_keys(place)
    config = place.folder.parent / "config" / "harness"
    config.mkdir(parents=True)
    heard = place.folder.parent / "heard.txt"
    (config / "settings.toml").write_text(
        f'[[hooks]]\nevent = "after_tool"\ncommand = "cat >> {heard}; echo >> {heard}"\n'
        f'[[hooks]]\nevent = "prompt_submit"\ncommand = "cat >> {heard}"\n'
    )
    script = (
        call("cat .env")
        + call("cat .env; sleep 0.2; cat .env", background=True)
        + calls('{ name = "agent", input = { description = "look", prompt = "Read the file." } }')
        + call("cat .env")
        + '[[reply]]\ntext = "The subagent says: nothing."\n'
        + '[[reply]]\ntext = "Done."\ntimes = "forever"\n'
    )
    async with serving(script) as server:
        there = Place(place.folder, server.base_url)
        ended = await run(there, "-p", f"look, {KEY}", "--yolo", "--trust-folder", env=environment())
        sent = [json.dumps(request.body) for request in server.requests]
    assert ended.code == 0, ended.err
    files = kept(place)
    assert any(path.suffix == ".out" and b"*" * len(KEY) in data for path, data in files.items())
    assert any(path.parent.suffix == ".agents" for path in files)
    assert "A_KEY=\\u2022" in heard.read_text()
    holds_no_key(ended.out, ended.err, heard.read_bytes(), *sent, *files.values())


async def test_a_conversation_in_lines_shows_and_writes_no_key(place: Place) -> None:
    folder_with_keys(place)
    async with (
        serving(call("cat .env") + DONE) as server,
        Terminal(
            Place(place.folder, server.base_url), "--yolo", "--trust-folder", environment=environment()
        ) as terminal,
    ):
        await terminal.waits()
        terminal.type("look\r")
        await terminal.sees("Done.")
        await terminal.waits()
        terminal.type("!cat .env\r")
        await terminal.sees("TEAM=blue")
        await terminal.sees("> ")
        await terminal.waits()
        terminal.type("\x04")
        assert await terminal.ends() == 0
        holds_no_key(terminal.screen, *kept(place).values())


async def test_the_app_shows_and_writes_no_key(place: Place) -> None:
    folder_with_keys(place)
    async with (
        serving(call("cat .env") + DONE) as server,
        Terminal(
            Place(place.folder, server.base_url), "--yolo", "--trust-folder", environment=environment() | SCREEN
        ) as terminal,
    ):
        await terminal.sees("keys")
        terminal.type(f"look {KEY[:40]}")  # the end of a line cuts it
        await terminal.sees("look")
        await terminal.waits()
        terminal.type("\r")
        await terminal.sees("Done.")
        drawn = len(terminal.screen)
        terminal.type("\x0c")  # draws all of it again
        await terminal.sees("TEAM=blue")
        holds_no_key(terminal.screen[drawn:])
        terminal.type("\x04")
        assert await terminal.ends() == 0
    holds_no_key(*kept(place).values())


async def test_a_file_is_not_written_with_the_mask_in_the_place_of_its_key(place: Place) -> None:
    folder_with_keys(place)
    before = (place.folder / ".env").read_text()
    write = '{ name = "write_file", input = { path = ".env", content = "A_KEY=•••\\nDEBUG=1\\n" } }'
    edit = '{ name = "edit_file", input = { path = ".env", old_string = "TEAM=blue", new_string = "TEAM=red" } }'
    async with serving(call("cat .env") + calls(write) + calls(edit) + DONE) as server:
        there = Place(place.folder, server.base_url)
        ended = await run(there, "-p", "add a line", "--yolo", "--trust-folder", env=environment())
        results = [request.body["messages"][-1]["content"][0] for request in server.requests[1:]]
    assert ended.code == 0, ended.err
    assert "stands for a key" in results[1]["content"]
    assert results[1]["is_error"]
    assert (place.folder / ".env").read_text() == before.replace("blue", "red")
