"""Programs that drive our agent: acpx over the Agent Client Protocol, the Claude Agent SDK over stream-json."""

import json
from pathlib import Path

import pytest

from harness.events import Json
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from tests.interop.programs import Program, confined, environments, finished, needed, python_version
from tests.ui.lines_of_json import bash, says
from tests.ui.warm import ROOT

pytestmark = [pytest.mark.anyio, pytest.mark.interop]

ACPX = Program("acpx", "acpx")
HARNESS = ROOT / ".venv" / "bin" / "harness"
CALLS = f'after = "error"\n{bash("touch made")}{bash("touch other")}{says("Done.")}'
SDK_PROGRAM = """
import asyncio, sys
from claude_agent_sdk import *

async def answer(tool, input, context):
    return PermissionResultAllow() if input["command"] == "touch made" else PermissionResultDeny(message="not that one")

async def main():
    options = ClaudeAgentOptions(cli_path=sys.argv[1], can_use_tool=answer, permission_mode="default")
    async with ClaudeSDKClient(options) as client:
        await client.query("do both")
        async for message in client.receive_response():
            if isinstance(message, ResultMessage):
                print(message.result, [denial["reason"] for denial in message.permission_denials])

asyncio.run(main())
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


async def test_the_claude_agent_sdk_answers_permissions(tmp_path: Path) -> None:
    python = next((one / "bin" / "python" for one in environments() if python_version(one, "claude-agent-sdk")), None)
    if python is None:
        pytest.skip("claude-agent-sdk is not installed; tests/interop/README.md says how to have it")
    folder = folder_in(tmp_path)
    (tmp_path / "program.py").write_text(SDK_PROGRAM)
    async with PracticeServer(script=Script.parse(CALLS)) as standing:
        command = [str(python), str(tmp_path / "program.py"), str(HARNESS)]
        ended = await finished(command, environment(tmp_path, standing.base_url), folder)
    assert (ended.out, ended.code) == ("Done. ['not that one']\n", 0), ended.err
    assert [one.name for one in folder.iterdir()] == ["made"]
