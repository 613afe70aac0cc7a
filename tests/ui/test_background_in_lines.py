"""Background work in the plain REPL: results arrive unprompted, and the user can inspect, keep and kill it."""

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import psutil
import pytest

from harness.practice.script import Script
from harness.practice.server import PracticeServer
from tests.ui.processes import gone
from tests.ui.program import Place, end_of, run, start
from tests.ui.terminals import Terminal

pytestmark = pytest.mark.anyio

CTRL_C, CTRL_D = "\x03", "\x04"
UNTIL = "until [ -e go ]; do sleep 0.05; done"
BEGINS = f"""
after = "error"

[[reply]]
text = "I begin it."
tools = [ {{ name = "bash", input = {{ command = "echo $$ > pid; {UNTIL}; echo over", background = true }} }} ]

[[reply]]
text = "It runs."
"""
ARRIVES = BEGINS + '\n[[reply]]\ntext = "I heard that it is over."\n'


@asynccontextmanager
async def talking(place: Place, script: str) -> AsyncIterator[tuple[Terminal, Path]]:
    """A terminal whose first prompt has started a command, and the file that ends the command when created."""
    async with (
        PracticeServer(script=Script.parse(script)) as server,
        Terminal(Place(place.folder, server.base_url), "--yolo") as terminal,
    ):
        await terminal.sees("> ")
        terminal.type("begin\n")
        await terminal.sees("It runs.")
        await terminal.sees("> ")
        yield terminal, place.folder / "go"


def command(place: Place) -> int:
    """The process of the command."""
    return int((place.folder / "pid").read_text())


async def test_what_a_command_brings_reaches_the_model_while_the_user_is_asked_for_a_prompt(place: Place) -> None:
    async with talking(place, ARRIVES) as (terminal, go):
        terminal.type("/background\n")
        assert "b1    running" in await terminal.sees("/background keep")
        await terminal.sees("> ")
        terminal.type("/background b1\n")
        await terminal.sees("full output: ")
        await terminal.sees("> ")
        terminal.type("half a ")
        go.touch()
        await terminal.sees('✓ b1 "')
        await terminal.sees("results of b1 delivered to the model")
        await terminal.sees("I heard that it is over.")
        await terminal.sees("> ")
        await terminal.waits()
        terminal.type(CTRL_C)  # the typed text is dropped and the prompt returns
        await terminal.sees("Ctrl-C again")
        await terminal.sees("> ")
        terminal.type("/background\n")
        assert "b1    exit 0" in await terminal.sees("/background keep")
        await terminal.sees("> ")
        terminal.type(CTRL_D)
        assert await terminal.ends() == 0


STALLS = BEGINS + '\n[[reply]]\ntext = "Words that stop in the mid"\nchunk = 5\nfault = { kind = "stall", at = 7 }\n'


async def test_a_command_is_killed_while_a_turn_runs_and_while_none_does(place: Place) -> None:
    async with talking(place, STALLS + BEGINS.replace('after = "error"', "")) as (terminal, _):
        terminal.type("/kill b9\n")
        await terminal.sees("! There is nothing called b9")
        await terminal.sees("> ")
        pid = command(place)
        terminal.type("stall\n")
        await terminal.sees("Words that stop")
        terminal.type("/agents\n")
        await terminal.sees("No subagent has run in this session yet.")
        terminal.type("/kill b1\n")
        await terminal.sees("was stopped after")
        await terminal.sees("Background command b1 has ended.")
        await gone(pid)
        terminal.type(CTRL_C)
        await terminal.sees("interrupted")
        await terminal.sees("> ")
        terminal.type("and again\n")
        await terminal.sees("results of b1 delivered to the model")
        await terminal.sees("It runs.")
        await terminal.sees("> ")
        pid = command(place)
        terminal.type("/kill b2\n")
        await terminal.sees("Background command b2 has ended.")
        await gone(pid)
        await terminal.sees("> ")
        await terminal.waits()
        terminal.send(signal.SIGTERM)
        await terminal.sees("resume with: harness --resume")
        assert await terminal.ends() == 143


async def test_leaving_lists_what_ends_with_the_program(place: Place) -> None:
    async with talking(place, BEGINS) as (terminal, _):
        pid = command(place)
        await terminal.waits()
        terminal.type(CTRL_C)
        await terminal.sees("Ctrl-C again")
        await terminal.sees("> ")
        await terminal.waits()
        terminal.type(CTRL_C)
        await terminal.sees("was stopped after")
        assert await terminal.ends() == 130
        await gone(pid)


async def test_what_is_kept_continues_when_the_program_has_ended(place: Place) -> None:
    async with talking(place, ARRIVES) as (terminal, go):
        pid = command(place)
        terminal.type("/background keep b1\n")
        await terminal.sees("outlives the program")
        await terminal.sees("I heard that it is over.")
        await terminal.sees("> ")
        terminal.type(CTRL_D)
        assert await terminal.ends() == 0
        assert psutil.pid_exists(pid)
        go.touch()
        await gone(pid)


AGENT = """
after = "error"

[[reply]]
when = { text = "begin" }
text = "I give it away."
tools = [ { name = "agent", input = { description = "count", prompt = "How many?", background = true } } ]

[[reply]]
when = { text = "works on it in the background" }
text = "It works."

[[reply]]
when = { text = "How many?" }
text = "Forty-two."

[[reply]]
when = { text = "has ended" }
text = "The agent has counted."
"""


async def test_at_the_end_of_a_pipe_what_agents_bring_is_waited_for(place: Place) -> None:
    async with PracticeServer(script=Script.parse(AGENT)) as server:
        ended = await run(Place(place.folder, server.base_url), "--yolo", stdin="begin\n")
    assert ended.code == 0
    told = ['→ a1 "count" started', "It works.", '✓ a1 "count" answered', "results of a1 delivered to the model"]
    places = [ended.out.find(text) for text in (*told[1:2], *told[3:], "The agent has counted.", "end of input")]
    assert -1 not in places, ended.out
    assert places == sorted(places)
    assert all(text in ended.out for text in told), ended.out


async def test_one_prompt_waits_for_its_agents_and_says_what_they_brought(place: Place) -> None:
    async with PracticeServer(script=Script.parse(AGENT)) as server:
        ended = await run(Place(place.folder, server.base_url), "-p", "begin")
    assert (ended.code, ended.out) == (0, "It works.\nThe agent has counted.\n")
    assert '✓ a1 "count" answered' in ended.err


HEARS = (
    BEGINS
    + """
[[reply]]
when = { text = "was stopped" }
text = "I heard that it was stopped."
"""
)


async def test_one_prompt_waits_for_its_commands_and_the_model_says_what_came_of_them(place: Place) -> None:
    async with PracticeServer(script=Script.parse(ARRIVES)) as server:
        process = await start(Place(place.folder, server.base_url), "-p", "begin", "--yolo")
        process.stdin.close()
        async with asyncio.timeout(60):
            assert "waiting for b1 " in (waited := (await process.stderr.readline()).decode())
        assert "at most 5 min (background_wait_s)" in waited
        (place.folder / "go").touch()
        ended = await end_of(process)
    assert (ended.code, ended.out) == (0, "It runs.\nI heard that it is over.\n")
    assert '✓ b1 "' in ended.err


@pytest.mark.parametrize("form", [("-p", "begin"), ()])
async def test_what_takes_longer_than_the_bound_is_ended_and_that_is_reported(
    place: Place, form: tuple[str, ...]
) -> None:
    async with PracticeServer(script=Script.parse(HEARS)) as server:
        here = Place(place.folder, server.base_url)
        ended = await run(
            here, *form, "--yolo", stdin="" if form else "begin\n", env={"HARNESS_BACKGROUND_WAIT_S": "0.3"}
        )
    assert ended.code == 0
    said = ended.err if form else ended.out
    assert "! ended after 0.3 s of waiting (background_wait_s): b1 " in said
    assert "was stopped after" in said
    assert "I heard that it was stopped." in ended.out
    await gone(command(place))


async def test_with_a_wait_of_0_nothing_is_waited_for_and_that_is_said(place: Place) -> None:
    async with PracticeServer(script=Script.parse(HEARS)) as server:
        here = Place(place.folder, server.base_url)
        ended = await run(here, "-p", "begin", "--yolo", env={"HARNESS_BACKGROUND_WAIT_S": "0"})
    assert (ended.code, ended.out) == (0, "It runs.\n")
    assert "! not waited for (background_wait_s = 0): b1 " in ended.err
    assert "was stopped after" in ended.err
    await gone(command(place))


ASKS = """
after = "error"

[[reply]]
when = { text = "begin" }
text = "I give it away."
tools = [ { name = "agent", input = { description = "count", prompt = "How many?", background = true } } ]

[[reply]]
when = { text = "works on it in the background" }
text = "It works."

[[reply]]
when = { text = "How many?" }
text = "I have to look."
tools = [ { name = "bash", input = { command = "until [ -e go ]; do sleep 0.05; done; touch x; echo notes.md" } } ]

[[reply]]
when = { text = "notes.md" }
text = "Five."

[[reply]]
when = { text = "has ended" }
text = "The agent has counted."
"""


async def test_the_question_of_an_agent_in_the_background_is_asked_at_the_prompt(place: Place) -> None:
    async with (
        PracticeServer(script=Script.parse(ASKS)) as server,
        Terminal(Place(place.folder, server.base_url)) as terminal,
    ):
        await terminal.sees("> ")
        terminal.type("begin\n")
        await terminal.sees("? agent a1: ")
        await terminal.sees("allow it?")
        terminal.type("y\n")
        await terminal.sees("> ")
        terminal.type("/agents\n")
        assert "a1    running" in await terminal.sees("/agents ID shows one")
        await terminal.sees("> ")
        (place.folder / "go").touch()
        await terminal.sees('✓ a1 "count" answered')
        await terminal.sees("The agent has counted.")
        await terminal.sees("> ")
        terminal.type(CTRL_D)
        assert await terminal.ends() == 0
