"""The rule-based model in a real agent with open breakers: it uses the alternatives and reports the losses."""

from pathlib import Path

import pytest

from harness.agent import Agent
from harness.engine.conversation import Conversation
from harness.events import BreakerCommand, Event, ToolEnded
from harness.practice.rule_model import RuleModel
from harness.practice.server import PracticeServer
from tests.agent.stage import VirtualClock, played, settings_of

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("tripped", "prompt", "expected", "tools"),
    [
        (("grep",), "find TODO", "`src/app.py:1` x = 1  # TODO", ["grep", "bash"]),
        (("grep",), "TODO を探して", "代わりに bash で行いました", ["grep", "bash"]),
        (("glob",), "list the files", "- src/app.py", ["glob", "bash"]),
        (("read_file",), "read a.txt", "a.txt has 2 lines", ["read_file", "bash"]),
        (("write_file",), "create new.txt with “it's $HOME”", "new.txt is written", ["glob", "write_file", "bash"]),
        (("edit_file",), "replace one with 1 in a.txt", "is now “1”", ["read_file", "edit_file", "write_file"]),
        (("bash",), "run `date`", "bash was not run", ["bash"]),
        (("grep", "bash"), "find TODO", "By hand: ", ["grep"]),
    ],
)
async def test_an_open_breaker_leads_to_an_alternative(
    tmp_path: Path, tripped: tuple[str, ...], prompt: str, expected: str, tools: list[str]
) -> None:
    async with PracticeServer(RuleModel()) as server:
        settings = settings_of(tmp_path, server.base_url).settings
        (settings.workspace / "src").mkdir(parents=True)
        (settings.workspace / "src" / "app.py").write_text("x = 1  # TODO\n")
        (settings.workspace / "a.txt").write_text("one\ntwo\n")
        recorded: list[Event] = []
        async with Agent(settings, conversation=Conversation(recorded.append), clock=VirtualClock()) as agent:
            for tool in tripped:
                agent.parts.breakers.command(BreakerCommand.TRIP, tool)
            turn = await played(agent.run(prompt))
    assert expected in turn.end.answer
    assert [event.tool for event in turn.of(ToolEnded)] == tools
    if tools[-1] == "write_file":
        assert (settings.workspace / "a.txt").read_text() == "1\ntwo\n"
    if prompt.startswith("create"):
        assert (settings.workspace / "new.txt").read_text() == "it's $HOME\n"
