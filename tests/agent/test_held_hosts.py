"""Hosts that a command in the sandbox wants to reach, in whole turns."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from harness.engine.permissions.asker import NoAsker, UserAnswer
from harness.engine.permissions.hosts import ONCE
from harness.events import QuestionAnswered, QuestionAsked, SandboxRefused, TurnEnded
from harness.permissions import PermissionAnswer
from harness.sandbox import SandboxLevel
from harness.sandbox.sandbox import Sandbox
from tests.agent.answering_user import AnsweringUser
from tests.agent.stage import Stage, calls, says, stage
from tests.agent.test_agents import of_subagent, on_stage, task
from tests.agent.test_permission_rules import bash
from tests.agent.test_tool_rounds import call

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.skipif(Sandbox().state.level is not SandboxLevel.FULL, reason="this machine has no full sandbox"),
    pytest.mark.skipif(not shutil.which("curl"), reason="needs curl"),
]
ASKS = "curl -sS http://nothing.invalid/; curl -sS http://nothing.invalid/a"


class HostUser(NoAsker):
    """Answers every question about hosts, after a while."""

    present = True

    def __init__(self, answer: UserAnswer, after_s: float = 0.0) -> None:
        self.answer, self.after_s = answer, after_s
        self.asked: list[QuestionAsked] = []

    async def question(self, asked: QuestionAsked) -> UserAnswer | None:
        """The answer."""
        self.asked.append(asked)
        await asyncio.sleep(self.after_s)
        return self.answer


@asynccontextmanager
async def held(folder: Path, command: str, asker: NoAsker) -> AsyncIterator[Stage]:
    """A stage whose model calls bash once."""
    script = calls(command) + says("Done.")
    async with stage(folder, script, asker=asker, permission_mode="ask", sandbox="auto") as here:
        yield here


async def test_a_command_waits_for_the_answer_about_a_host_and_its_time_limit_with_it(tmp_path: Path) -> None:
    user = HostUser(UserAnswer("option", ONCE), after_s=1.5)
    async with held(tmp_path, call("bash", command=ASKS, timeout=1.0), user) as here:
        turn = await here.turn()
    result = str(turn.results[0]["content"])
    assert result.count("nothing.invalid was not found.") == 2
    assert "[exit 0]" in result
    assert [asked.hosts for asked in user.asked] == [("nothing.invalid",)]
    assert [(event.how, event.answer) for event in turn.of(QuestionAnswered)] == [("option", ONCE)]
    assert turn.of(SandboxRefused) == []


async def test_a_refused_host_is_in_the_result_an_event_and_a_denial(tmp_path: Path) -> None:
    async with held(tmp_path, bash(ASKS), HostUser(UserAnswer("text", "not that one"))) as here:
        turn = await here.turn()
    why = "the user does not allow it: not that one"
    result = str(turn.results[0]["content"])
    assert f"The sandbox refused nothing.invalid:80: {why}." in result
    assert f"[the sandbox refused a connection to nothing.invalid:80 ({why}); do not try another way" in result
    assert [(event.subject, event.why) for event in turn.of(SandboxRefused)] == [("nothing.invalid:80", why)]
    (end,) = turn.of(TurnEnded)
    assert [denial.why for denial in end.denials] == [f"the sandbox refused nothing.invalid:80: {why}"]


async def test_a_question_is_withdrawn_when_the_command_ends_first(tmp_path: Path) -> None:
    user = HostUser(UserAnswer("option", ONCE), after_s=60.0)
    async with held(tmp_path, bash("curl -sS -m 0.5 http://nothing.invalid/"), user) as here:
        turn = await here.turn()
    assert "[exit 28]" in str(turn.results[0]["content"])
    assert [event.how for event in turn.of(QuestionAnswered)] == ["withdrawn"]


async def test_a_direct_connection_finds_no_host_and_the_result_says_why(tmp_path: Path) -> None:
    async with held(tmp_path, bash("curl -sS --noproxy '*' http://nothing.invalid/"), NoAsker()) as here:
        turn = await here.turn()
    result = str(turn.results[0]["content"])
    assert "Could not resolve host" in result
    assert "there is no direct network and no DNS" in result


async def test_the_host_of_a_subagent_is_asked_about_in_its_name(tmp_path: Path) -> None:
    user = HostUser(UserAnswer("declined"))
    script = calls(task()) + of_subagent(calls(bash(ASKS))) + of_subagent(says("Some.")) + says("Ok.")
    async with on_stage(tmp_path, script, asker=user, permission_mode="ask", sandbox="auto") as here:
        turn = await here.turn()
    assert [(bool(asked.agent), asked.hosts) for asked in user.asked] == [(True, ("nothing.invalid",))]
    assert [len(end.denials) for end in turn.of(TurnEnded)] == [1]


async def test_a_port_of_this_machine_is_asked_about_when_the_line_is_called_again(tmp_path: Path) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    line = bash("sh fetch.sh")
    user = AnsweringUser(PermissionAnswer("once"))
    async with (
        server,
        stage(tmp_path, calls(line) * 2 + says("Done."), asker=user, permission_mode="ask", sandbox="auto") as here,
    ):
        (here.workspace / "fetch.sh").write_text(f"curl -sS http://localhost:{port}/")
        turn = await here.turn()
    first, second = (str(result["content"]) for result in turn.results)
    assert f"[The sandbox refused localhost:{port}. If the command needs that, call it again" in first
    assert second.startswith("hello")
    assert [(event.kind, event.subject) for event in turn.of(SandboxRefused)] == [("host", f"localhost:{port}")]
    assert [request.allowance.hosts for request in user.requests] == [(f"localhost:{port}",)]
