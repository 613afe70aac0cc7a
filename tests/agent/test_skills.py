"""Skills in whole turns: the request, the answer of the tool, and a change on the disk."""

import json
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import HarnessError
from harness.events import Json
from tests.agent.stage import calls, played, says, sessions, stage, summarises
from tests.agent.test_agents import of_subagent, task
from tests.skills.folders import Folders, skill

pytestmark = pytest.mark.anyio

READ = '{ id = "s1", name = "skill", input = { name = "review" } }'


def prepared(folder: Path) -> None:
    """A skill of the user and one of the project."""
    Folders.write(folder / "skills", "review", skill("review", "Reads code.", "Look twice."))
    Folders.write(folder / "workspace" / ".harness" / "skills", "deploy", skill("deploy", "Brings it out."))


def prompts(body: Json) -> list[str]:
    """The texts of the newest message."""
    blocks: list[dict[str, Any]] = body["messages"][-1]["content"]
    return [block["text"] for block in blocks if block["type"] == "text"]


def beginning(body: Json) -> str:
    """System prompt and tools."""
    return json.dumps([body["system"], body["tools"]])


def knows_of_skills(body: Json) -> bool:
    """The request names skills in its system prompt or brings the tool for them."""
    return "# Skills" in beginning(body) or '"name": "skill"' in beginning(body)


async def test_the_model_and_the_agents_it_asks_know_the_skills_and_can_read_them(tmp_path: Path) -> None:
    prepared(tmp_path)
    script = (
        calls(READ)
        + says("Read.")
        + calls(task())
        + of_subagent(calls(READ))
        + of_subagent(says("Done."))
        + says("Good.")
    )
    async with stage(tmp_path, script, permission_mode="ask") as on:
        first = await on.turn()
        [result] = first.results
        assert "Look twice." in str(result["content"])
        assert str(tmp_path / "skills" / "review") in str(result["content"])
        await on.turn()
        for body in on.bodies:
            assert knows_of_skills(body)
            text = json.dumps(body["system"])
            assert "- deploy (project): Brings it out." in text
            assert "- review (user): Reads code." in text
            assert "Look twice." not in text
            assert "skill" in [tool["name"] for tool in body["tools"]]
        assert "Look twice." in json.dumps([body["messages"] for body in on.bodies if len(body["messages"]) == 3][-1])


async def test_after_compactions_what_runs_and_what_was_read_is_named_again(tmp_path: Path) -> None:
    prepared(tmp_path)
    waits = '{ id = "b1", name = "bash", input = { command = "sleep 600", background = true } }'
    long = says(" ".join(map(str, range(4_000))))
    script = calls(READ) + calls(waits) + (long + says("Well.")) * 2 + summarises()
    async with sessions(tmp_path, script, permission_mode="yolo") as here, await here.open() as session:
        for _ in range(2):
            await played(session.run("Begin."))
            await played(session.run("Go on."))
            await played(session.user_commands.compact())
        text = json.dumps([message.content for message in session.conversation.messages])
        [command] = session.background.commands.ids
        assert text.count(f"command {command}: sleep 600") == 1
        assert text.count("read one again before work of its kind: review") == 1


async def test_without_a_skill_and_where_they_are_switched_off_nothing_is_sent(tmp_path: Path) -> None:
    async with stage(tmp_path, says("Hello.")) as on:
        await on.turn()
        assert knows_of_skills(on.bodies[0]) is False
    prepared(tmp_path)
    async with stage(tmp_path, says("Hello."), skills=False) as on:
        await on.turn()
        assert knows_of_skills(on.bodies[0]) is False


async def test_a_skill_of_the_user_goes_with_one_prompt(tmp_path: Path) -> None:
    prepared(tmp_path)
    async with sessions(tmp_path, says("One.") + says("Two.")) as here, await here.open() as session:
        with pytest.raises(HarnessError, match="did you mean review"):
            session.use_skill("revew")
        session.use_skill("review")
        session.use_skill("review")
        await played(session.run("Go."))
        first = prompts(here.server.requests[-1].body)
        assert ["Look twice." in text for text in first] == [False, True, False]
        await played(session.run("Again."))
        assert prompts(here.server.requests[-1].body) == ["Again."]


async def test_reloaded_skills_are_announced_in_the_newest_message_and_the_prompt_stays(
    tmp_path: Path,
) -> None:
    prepared(tmp_path)
    async with sessions(tmp_path, says("One.") + says("Two.") + says("Three.")) as here, await here.open() as session:
        await played(session.run("Go."))
        Folders.write(tmp_path / "skills", "late", skill("late", "Came later."))
        assert "late" not in [one.name for one in session.skills.skills]
        session.reload_skills()
        session.reload_skills()
        assert "late" in [one.name for one in session.skills.skills]
        await played(session.run("And now?"))
        await played(session.run("And then?"))
        bodies = [request.body for request in here.server.requests]
        assert len({beginning(body) for body in bodies}) == 1
        [reported, _] = prompts(bodies[1])
        assert "- late (user): Came later." in reported
        assert prompts(bodies[2]) == ["And then?"]
