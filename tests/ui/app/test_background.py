"""Background work in the app: results arrive unprompted, and the user can inspect and kill it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from tests.agent.stage import calls, says
from tests.ui.app.resting import timers_running
from tests.ui.app.test_conversation import Here, opened

pytestmark = pytest.mark.anyio
WAITS = "until [ -e go ]; do sleep 0.05; done"
BEGINS = calls(f'{{ name = "bash", input = {{ command = "{WAITS}", background = true }} }}') + says("It runs.")
ANSWERS = says("I heard of it.")


@asynccontextmanager
async def begun(folder: Path, script: str = BEGINS + ANSWERS) -> AsyncIterator[Here]:
    """The app after a prompt that has begun a command in the background."""
    async with opened(folder, script, permission_mode="yolo") as here:
        await here.says("begin")
        await here.sees("It runs.")
        await here.rests()
        yield here


async def test_what_a_command_brings_begins_a_turn_by_itself(tmp_path: Path) -> None:
    async with begun(tmp_path) as here:
        await here.sees("◍ until")
        (tmp_path / "workspace" / "go").touch()
        seen = await here.sees("I heard of it.")
        assert any("results of b1 delivered to the model" in row for row in seen)
        assert not any("continuing the last turn" in row for row in seen)
        await here.rests()
        await here.pilot.pause(0.5)
        assert timers_running(here.app) == []


async def test_a_command_is_shown_and_killed(tmp_path: Path) -> None:
    async with begun(tmp_path) as here:
        await here.says("/background")
        await here.sees("b1    running")
        await here.says("/kill b1")
        await here.sees("Background command b1 has ended.")
        await here.sees("I heard of it.")
        await here.says("/kill b7")
        await here.sees("There is nothing called b7")


async def test_ctrl_b_moves_the_running_command_and_its_end_arrives(tmp_path: Path) -> None:
    runs = calls(f'{{ name = "bash", input = {{ command = "{WAITS}; echo $$ > pid" }} }}') + says("It goes on.")
    async with opened(tmp_path, runs + ANSWERS, permission_mode="yolo") as here:
        await here.pilot.press("ctrl+b")
        await here.sees("No command or subagent runs that can")
        await here.says("begin")
        await here.sees("running bash")
        await here.pilot.press("ctrl+b")
        await here.sees("b1 continues in the back")
        await here.sees("It goes on.")
        await here.sees("moved · ")
        (tmp_path / "workspace" / "go").touch()
        await here.sees("I heard of it.")
        (row,) = here.controller.session.background.commands.rows
        assert (tmp_path / "workspace" / "pid").read_text() == f"{row.pid}\n"


async def test_ctrl_b_moves_the_running_subagent_and_its_answer_arrives(tmp_path: Path) -> None:
    works = f'{{ name = "bash", input = {{ command = "{WAITS}" }} }}'
    script = DELEGATES.replace(
        'text = "Forty-two."',
        f'text = "I count."\ntools = [ {works} ]\n\n[[reply]]\nwhen = {{ text = "exit 0" }}\ntext = "Forty-two."',
    ).replace('text = "It says', 'text = "It works on."\n\n[[reply]]\ntext = "It says')
    async with opened(tmp_path, script, permission_mode="yolo") as here:
        await here.says("begin")
        await here.sees("bash until")
        await here.pilot.press("ctrl+b")
        await here.sees('a1 "count them" continues in the background')
        await here.sees("It works on.")
        (tmp_path / "workspace" / "go").touch()
        await here.sees("It says forty-two.")
        messages = here.controller.session.conversation.messages
        assert "Forty-two." in messages[-2].text


async def test_after_a_stop_what_arrives_waits_for_the_next_prompt(tmp_path: Path) -> None:
    stalls = says("Words that stop in the mid", chunk="5", fault='{ kind = "stall", at = 7 }')
    async with begun(tmp_path, BEGINS + stalls + ANSWERS) as here:
        await here.says("stall")
        await here.sees("Words")
        await here.says("typed ahead")
        await here.sees("joins after this reply")
        await here.pilot.press("escape")
        await here.rests()
        (tmp_path / "workspace" / "go").touch()
        async with asyncio.timeout(60):
            while not here.controller.session.inbox.waiting:
                await here.pilot.pause(0.05)
        await here.pilot.pause(0.2)
        assert not here.controller.running
        assert here.app.prompt.text == "typed ahead"
        await here.pilot.press("enter")
        seen = await here.sees("I heard of it.")
        assert any("results of b1 delivered to the model" in row for row in seen)


DELEGATES = """
[[reply]]
when = { text = "begin" }
text = "I ask an agent."
tools = [ { name = "agent", input = { description = "count them", prompt = "How many?" } } ]

[[reply]]
when = { text = "How many?" }
text = "Forty-two."

[[reply]]
text = "It says forty-two."
"""


async def test_an_agent_is_shown_with_what_it_took_and_where_its_events_are(tmp_path: Path) -> None:
    async with opened(tmp_path, DELEGATES, size=(160, 44)) as here:
        await here.says("/agents")
        await here.sees("No subagent has run in this session yet.")
        await here.says("begin")
        await here.sees("It says forty-two.")
        await here.rests()
        await here.says("/agents")
        await here.sees("a1    answered     count them (1 step,")
        await here.says("/agents a1")
        await here.sees("replay: harness replay ")
        await here.says("/agents a9")
        await here.sees("There is no subagent a9")
        await here.says("/agents stop a1")
        await here.sees("Agent a1 does nothing at the moment.")
        await here.says("/kill")
        await here.sees("Which one? Type /kill and an id")
