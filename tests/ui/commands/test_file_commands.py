"""Slash commands that files define, in front of a real session and a real server."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from harness.engine.permissions.asker import NoAsker
from harness.events import ToolEnded, ToolOutcome
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from harness.session import Session, open_session
from harness.ui.commands.commands import file_command_help, file_command_names, is_command, run_command, works_any_time
from harness.ui.commands.results import CommandResult, PlayEvents
from tests.agent.stage import MODEL, Played, calls, played, says, settings_of
from tests.agent.test_agents import of_subagent, task
from tests.ui.commands.test_prompt import said
from tests.ui.program import Place, run

pytestmark = pytest.mark.anyio

FIX = (
    "---\ndescription: Fix an issue\nargument-hint: [issue]\nmodel: opus\nallowed-tools: Read, Task\n---\n"
    "Fix issue $1. Status: !`git status`\n"
)


def write(workspace: Path, name: str, text: str) -> None:
    """Put a file with a command into the folder of the project."""
    file = workspace / ".claude" / "commands" / f"{name}.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


@asynccontextmanager
async def opened(folder: Path, script: str, **values: object) -> AsyncIterator[tuple[Session, PracticeServer]]:
    """A session in front of a server that plays this script."""
    async with PracticeServer(script=Script.parse(f'after = "error"\n{script}')) as server:
        loaded = settings_of(folder, server.base_url, **values)
        async with await open_session(loaded, NoAsker()) as session:
            yield session, server


async def turn_of(result: CommandResult) -> Played:
    """The turn that a command began."""
    assert isinstance(result, PlayEvents)
    return await played(result.events)


async def test_the_turn_of_a_command_has_its_prompt_its_model_and_no_other_tools(tmp_path: Path) -> None:
    write(tmp_path / "workspace", "fix", FIX)
    bash = '{ name = "bash", input = { command = "ls" } }'
    script = calls(bash, task()) + of_subagent(says("Seen.")) + says("Fixed.") + says("Good.")
    async with opened(tmp_path, script, trust_folder=True) as (session, server):
        turn = await turn_of(run_command("/fix 12", session))
        first, subagent, *_ = (one.body for one in server.requests if one.path == "/v1/messages")
        text = first["messages"][-1]["content"][-1]["text"]
        assert text.startswith(
            "Fix issue 12. Status: !`git status`\n\n(The commands written as !`…` above were not run."
        )
        assert first["model"] == "claude-opus-5-5"
        assert [tool["name"] for tool in subagent["tools"]] == ["read_file"]
        (refused,) = [event for event in turn.of(ToolEnded) if event.outcome is ToolOutcome.DENIED]
        assert "the command allows no bash" in str(refused)
        await played(session.run("And now?"))
        last = server.requests[-1].body
        assert last["model"] == MODEL
        assert last["tools"] == first["tools"]


async def test_without_trust_the_model_of_the_session_answers(tmp_path: Path) -> None:
    write(tmp_path / "workspace", "fix", FIX)
    async with opened(tmp_path, says("Fixed.")) as (session, server):
        await turn_of(run_command("/fix 12", session))
        assert server.requests[-1].body["model"] == MODEL


async def test_help_lists_them_and_a_name_of_the_program_goes_first(tmp_path: Path) -> None:
    write(tmp_path / "workspace", "fix", FIX)
    write(tmp_path / "workspace", "cost", "Mine.")
    async with opened(tmp_path, says("Fixed.")) as (session, _):
        assert file_command_help(session) == (("From files", (("/fix", "Fix an issue (project)"),)),)
        shown = said("/help fix", session)
        assert shown.startswith("/fix [issue]\n  Fix an issue\n")
        assert "is not expanded" in shown
        assert "tokens in" in said("/cost", session)
        names = file_command_names(session)
        assert is_command("/fix 12", names)
        assert not works_any_time("/fix 12", names)
        assert works_any_time("/cost", names)
        with pytest.raises(Exception, match="did you mean /fix"):
            run_command("/fxi", session)


async def test_a_command_is_taken_by_p_as_well_and_an_untrusted_folder_does_not_stop_it(tmp_path: Path) -> None:
    folder = tmp_path / "workspace"
    write(folder, "fix", FIX)
    async with PracticeServer(script=Script.parse(says("Fixed."))) as server:
        finished = await run(Place(folder, server.base_url), "-p", "/fix 12")
        assert (finished.code, finished.out.strip()) == (0, "Fixed.")
        sent = [one.body for one in server.requests if one.path == "/v1/messages"]
        assert "Fix issue 12." in str(sent[0]["messages"])
