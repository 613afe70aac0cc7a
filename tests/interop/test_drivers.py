"""Programs that drive our agent: acpx over the Agent Client Protocol, the Claude Agent SDKs over stream-json."""

import asyncio
import json
import shutil
import time
from pathlib import Path

import pytest

from harness.events import Json
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from tests.interop.programs import (
    HOW,
    LIMIT_S,
    Program,
    confined,
    environments,
    finished,
    needed,
    node_version,
    python_version,
)
from tests.ui.lines_of_json import bash, calls, says
from tests.ui.warm import ROOT

pytestmark = [pytest.mark.anyio, pytest.mark.interop]

ACPX = Program("acpx", "acpx")
HARNESS = ROOT / ".venv" / "bin" / "harness"
CALLS = f'after = "error"\n{bash("touch made")}{bash("touch other")}{says("Done.")}'
SDK_CALLS = "".join(
    [
        'after = "error"\n',
        calls("mcp__mine__greet", '{ name = "Ann" }'),
        *map(bash, ("touch made", "touch other", "rm notes", "sleep 60")),
        says("Done."),
    ]
)
"""For both libraries: the program has a tool, allows, denies, denies by a hook, and interrupts."""
SDK_PROGRAM = """
import asyncio, json, sys
from claude_agent_sdk import *

@tool("greet", "Greets", {"name": str})
async def greet(given):
    return {"content": [{"type": "text", "text": "hello " + given["name"]}]}

async def no_rm(given, id, context):
    if not given["tool_input"]["command"].startswith("rm"):
        return {}
    decided = {"permissionDecision": "deny", "permissionDecisionReason": "no rm"}
    return {"hookSpecificOutput": {"hookEventName": "PreToolUse", **decided}}

async def answer(tool, input, context):
    return PermissionResultDeny(message="not that one") if "other" in str(input) else PermissionResultAllow()

async def main():
    options = ClaudeAgentOptions(
        cli_path=sys.argv[1], can_use_tool=answer, permission_mode="default",
        mcp_servers={"mine": create_sdk_mcp_server("mine", tools=[greet])},
        hooks={"PreToolUse": [HookMatcher(matcher="Bash", hooks=[no_rm])]},
    )
    async with ClaudeSDKClient(options) as client:
        results = []
        for prompt in ("do it", "go on"):
            await client.query(prompt)
            async for message in client.receive_response():
                if isinstance(message, UserMessage):
                    results += [block.content for block in message.content]
                if isinstance(message, AssistantMessage) and "sleep" in str(message.content):
                    await client.interrupt()
                if isinstance(message, ResultMessage):
                    reasons = [denial["reason"] for denial in message.permission_denials]
                    print(json.dumps([message.subtype, message.result, reasons]))
        print(json.dumps(results[0]))

asyncio.run(main())
"""
NPM_PROGRAM = """
import { createSdkMcpServer, query, tool } from '@anthropic-ai/claude-agent-sdk';
import { z } from 'zod';

const greet = tool('greet', 'Greets', { name: z.string() }, async ({ name }) =>
  ({ content: [{ type: 'text', text: `hello ${name}` }] }));
const noRm = async (given) => !given.tool_input.command.startsWith('rm') ? {} : { hookSpecificOutput: {
  hookEventName: 'PreToolUse', permissionDecision: 'deny', permissionDecisionReason: 'no rm' } };
let ended;
const until = () => new Promise((resolve) => { ended = resolve; });
async function* prompts() {
  for (const content of ['do it', 'go on']) {
    const end = until();
    yield { type: 'user', message: { role: 'user', content }, parent_tool_use_id: null };
    await end;
  }
}
const session = query({ prompt: prompts(), options: {
  pathToClaudeCodeExecutable: process.argv[2], permissionMode: 'default',
  mcpServers: { mine: createSdkMcpServer({ name: 'mine', version: '1', tools: [greet] }) },
  hooks: { PreToolUse: [{ matcher: 'Bash', hooks: [noRm] }] },
  canUseTool: async (name, input) => JSON.stringify(input).includes('other')
    ? { behavior: 'deny', message: 'not that one' } : { behavior: 'allow', updatedInput: input },
} });
const results = [];
for await (const message of session) {
  if (message.type === 'user') results.push(...message.message.content.map((block) => block.content));
  if (message.type === 'assistant' && JSON.stringify(message).includes('sleep')) await session.interrupt();
  if (message.type === 'result') {
    console.log(JSON.stringify([message.subtype, message.result, message.permission_denials.map((one) => one.reason)]));
    ended();
  }
}
console.log(JSON.stringify(results[0]));
"""


def environment(home: Path, base_url: str) -> dict[str, str]:
    own = {
        "HARNESS_STATE_DIR": str(home / "state"),
        "HARNESS_SANDBOX": "off",
        "CLAUDE_AGENT_SDK_SKIP_VERSION_CHECK": "1",
    }
    return confined(home, ANTHROPIC_BASE_URL=base_url, ANTHROPIC_API_KEY="a-key-for-tests", **own)


def folder_in(home: Path) -> Path:
    folder = home / "project"
    folder.mkdir()
    return folder


@pytest.mark.parametrize(("flag", "made"), [("--approve-all", True), ("--deny-all", False)])
async def test_acpx_allows_and_denies(tmp_path: Path, flag: str, made: bool) -> None:
    folder = folder_in(tmp_path)
    async with PracticeServer(script=Script.parse(CALLS)) as standing:
        flags = (flag, "--format", "json", "--json-strict", "exec", "do both")
        command = [needed(ACPX), "--agent", f"{HARNESS} acp", *flags]
        ended = await finished(command, environment(tmp_path, standing.base_url), folder)
    messages: list[Json] = [json.loads(line) for line in ended.out.splitlines()]
    assert messages[-1]["result"] == {"stopReason": "end_turn"}
    assert (folder / "made").exists() is made


async def test_acpx_loads_the_session_for_every_prompt_and_cancels_a_tool(tmp_path: Path) -> None:
    folder = folder_in(tmp_path)
    script = says("Hello.") + bash("touch begun; sleep 60; touch made") + says("Again.")
    own = (needed(ACPX), "--approve-all", "--agent", f"{HARNESS} acp")
    async with PracticeServer(script=Script.parse(f'after = "error"\n{script}')) as standing:
        place = environment(tmp_path, standing.base_url)

        async def told(*words: str) -> str:
            return (await finished([*own, *words], place, folder)).out

        await told("sessions", "new")
        assert "Hello." in await told("prompt", "hi")
        running = asyncio.create_task(told("prompt", "wait"))
        await asyncio.to_thread(until_there, folder / "begun")
        assert "cancel requested" in await told("cancel")
        assert "cancelled" in await running
        assert "Again." in await told("prompt", "go on")
        await told("sessions", "close")
    assert [one.name for one in folder.iterdir()] == ["begun"]


def until_there(path: Path) -> None:
    """Wait for a file that a command of another program makes."""
    latest = time.monotonic() + LIMIT_S
    while not path.exists() and time.monotonic() < latest:
        time.sleep(0.1)


@pytest.mark.parametrize("package", ["claude-agent-sdk", "@anthropic-ai/claude-agent-sdk"])
async def test_a_program_has_tools_and_hooks_and_denies_and_interrupts(tmp_path: Path, package: str) -> None:
    command = with_library(package, tmp_path)
    folder = folder_in(tmp_path)
    (folder / "notes").touch()
    async with PracticeServer(script=Script.parse(SDK_CALLS)) as standing:
        ended = await finished([*command, str(HARNESS)], environment(tmp_path, standing.base_url), folder)
    assert ended.code == 0, ended.err
    stopped, done, greeting = map(json.loads, ended.out.splitlines())
    assert stopped[0] == "interrupted"
    assert [why.split(": ")[-1] for why in stopped[2]] == ["not that one", "no rm"]
    assert (done, greeting) == (["success", "Done.", []], "hello Ann")
    assert sorted(one.name for one in folder.iterdir()) == ["made", "notes"]


def with_library(package: str, folder: Path) -> list[str]:
    """The command that runs the program of a library; skips the test where it is not installed."""
    for place in environments():
        if package.startswith("@") and node_version(place, package) and (node := shutil.which("node")):
            (folder / "node_modules").symlink_to((place / "node_modules").resolve())
            (folder / "program.mjs").write_text(NPM_PROGRAM)
            return [node, str(folder / "program.mjs")]
        if python_version(place, package):
            (folder / "program.py").write_text(SDK_PROGRAM)
            return [str(place / "bin" / "python"), str(folder / "program.py")]
    pytest.skip(f"{package} is not installed; {HOW}")
