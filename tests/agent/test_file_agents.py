"""Kinds of agents that files define, on the wire."""

from pathlib import Path
from typing import Any

import pytest

from harness.events import AgentCreated, ToolEnded, ToolOutcome
from harness.session import Opening
from tests.agent.stage import MODEL, calls, played, says
from tests.agent.test_agents import hired, on_stage, result, task
from tests.definitions.folders import agent
from tests.engine.subagents.test_factory import sessions

pytestmark = pytest.mark.anyio

SEARCHER = agent("searcher", "model: haiku\ntools: Read, Grep\n", "You search. Give paths only.")


def write(workspace: Path, name: str, text: str) -> None:
    """Put a file with an agent into the folder of the project."""
    file = workspace / ".claude" / "agents" / f"{name}.md"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


async def test_an_agent_of_a_kind_has_its_prompt_its_tools_and_its_model(tmp_path: Path) -> None:
    write(tmp_path / "workspace", "searcher", SEARCHER)
    script = calls(task(kind="searcher")) + hired(says("src/a.py")) + says("There.")
    async with on_stage(tmp_path, script, trust_folder=True) as here:
        turn = await here.turn()
        parent, subagent, _ = here.bodies
        (described,) = [tool for tool in parent["tools"] if tool["name"] == "task"]
        assert "- searcher: What searcher is for." in described["description"]
        assert "kind" in described["input_schema"]["properties"]
        assert subagent["model"] == "claude-haiku-5-5"
        assert [tool["name"] for tool in subagent["tools"]] == ["read_file", "grep"]
        assert subagent["system"][-1]["text"] == "# Role\n\nYou search. Give paths only."
        (created,) = turn.of(AgentCreated)
        assert (created.kind, created.model, created.tools) == ("searcher", "claude-haiku-5-5", ("read_file", "grep"))
        assert parent["model"] == MODEL


@pytest.mark.parametrize(
    ("head", "model", "effort"),
    [
        ("effort: low\n", MODEL, "low"),
        ("model: haiku\neffort: xhigh\n", "claude-haiku-5-5", "xhigh"),
        ("model: haiku\n", "claude-haiku-5-5", "max"),
        ("model: claude-haiku-4-5\n", "claude-haiku-4-5", None),
        ("model: claude-haiku-4-5\neffort: high\n", "claude-haiku-4-5", None),
        ("effort: xhigh\n", MODEL, None),
    ],
)
async def test_an_agent_has_the_effort_of_its_file_else_that_of_the_session_if_its_model_takes_it(
    tmp_path: Path, head: str, model: str, effort: str | None
) -> None:
    write(tmp_path / "workspace", "thinker", agent("thinker", head, "You think."))
    script = calls(task(kind="thinker")) + hired(says("Yes.")) + says("There.")
    async with on_stage(tmp_path, script, trust_folder=True, effort="max") as here:
        await here.turn()
        parent, subagent, _ = here.bodies
        assert (subagent["model"], subagent.get("output_config", {}).get("effort")) == (model, effort)
        assert parent["output_config"] == {"effort": "max"}


async def test_without_trust_the_kind_is_there_and_the_model_of_the_session_answers(tmp_path: Path) -> None:
    write(tmp_path / "workspace", "searcher", SEARCHER)
    script = calls(task(kind="searcher")) + hired(says("src/a.py")) + says("There.")
    async with on_stage(tmp_path, script) as here:
        await here.turn()
        assert here.bodies[1]["model"] == MODEL
        assert [tool["name"] for tool in here.bodies[1]["tools"]] == ["read_file", "grep"]


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"kind": "sercher"}, "Unknown kind of agent sercher; there are searcher."),
        ({"kind": "searcher", "tools": ["bash"]}, "No agent can be given bash; there are read_file, grep."),
    ],
)
async def test_an_unknown_kind_and_a_tool_that_it_has_not_are_said(
    tmp_path: Path, more: dict[str, Any], words: str
) -> None:
    write(tmp_path / "workspace", "searcher", SEARCHER)
    async with on_stage(tmp_path, calls(task(**more)) + says("A pity.")) as here:
        turn = await here.turn()
        assert result(turn)["content"] == words
        assert turn.of(AgentCreated) == []


async def test_without_files_the_tool_is_as_it_always_was(tmp_path: Path) -> None:
    async with on_stage(tmp_path, says("Good.")) as here:
        await here.turn()
        (described,) = [tool for tool in here.bodies[0]["tools"] if tool["name"] == "task"]
        assert "kind" not in described["input_schema"]["properties"]
        assert described["description"].endswith("holds what it had.")


async def test_an_agent_keeps_its_kind_when_it_goes_on_in_a_later_session(tmp_path: Path) -> None:
    write(tmp_path / "workspace", "searcher", SEARCHER)
    script = calls(task(kind="searcher")) + hired(says("src/a.py")) + says("There.")
    script += calls(task(prompt="Where else?", agent="a1")) + hired(says("src/b.py")) + says("And there.")
    script += calls(task(prompt="Change.", agent="a1", kind="other")) + says("A pity.")
    async with sessions(tmp_path, script) as here:
        async with await here.open() as first:
            await played(first.run("Go."))
        async with await here.open(Opening("latest")) as second:
            turn = await played(second.run("And?"))
            (created,) = turn.of(AgentCreated)
            assert (created.kind, created.tools, created.again) == ("searcher", ("read_file", "grep"), True)
            asked = [request.body for request in here.server.requests if "Where else?" in str(request.body)]
            assert any("You search." in str(body["system"]) for body in asked)
            other = await played(second.run("Another?"))
            assert "Agent a1 is searcher; leave `kind` out to continue it." in result(other)["content"]
            (ended,) = [event for event in other.of(ToolEnded) if event.outcome is ToolOutcome.INVALID]
            assert ended
