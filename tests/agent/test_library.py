"""`from harness import Agent, tool`: the library is the same loop."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

import harness
from harness import Agent, tool
from harness.errors import SettingsError
from harness.events import ToolEnded, TurnEnded
from harness.tools import Effect
from tests.agent.stage import played, says, stage

ROOT = Path(__file__).parents[2]

EXAMPLE = """
import asyncio
from harness import Agent, tool

@tool
def weather(city: str) -> str:
    "The weather in a city."
    return f"It is raining in {city}."

async def main() -> None:
    async with Agent(tools=[weather], permission_mode="yolo") as agent:
        async for event in agent.run("What is the weather in Oslo?"):
            print(event)

asyncio.run(main())
"""


def python(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run code as a user of the library would, with every warning an error, unclosed things included."""
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code],
        cwd=folder,
        env={"PATH": "/usr/bin:/bin", "HOME": str(folder), "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )


def test_ten_lines_run_an_agent_with_a_tool_of_ones_own_and_close_without_a_sound(tmp_path: Path) -> None:
    ran = python(EXAMPLE, tmp_path)
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "It is raining in Oslo" in ran.stdout
    assert "TurnEnded" in ran.stdout.splitlines()[-1]


def test_importing_the_package_loads_neither_pydantic_nor_the_sdk(tmp_path: Path) -> None:
    code = (
        "import sys, harness\n"
        "print(harness.__version__, sorted({name.partition('.')[0] for name in sys.modules}"
        " & {'pydantic', 'anthropic', 'httpx2', 'textual', 'tiktoken', 'asyncio'}))\n"
        "from harness import Agent, tool\n"
        "print(Agent.__name__, callable(tool), 'anthropic' in sys.modules)\n"
    )
    assert python(code, tmp_path).stdout.splitlines() == [f"{harness.__version__} []", "Agent True False"]


def test_a_name_that_the_package_has_not_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="agnet"):
        getattr(harness, "agnet")  # noqa: B009 (a type checker would see the mistake)
    assert {"Agent", "tool"} <= set(harness.__all__)


@pytest.mark.anyio
async def test_an_agent_of_ones_own_asks_before_its_tool_runs_things(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HARNESS_STATE_DIR", str(tmp_path / "state"))

    @tool(effect=Effect.READ)
    def weather(city: str) -> str:
        "The weather in a city."
        return f"It is raining in {city}."

    @tool
    def umbrella(city: str) -> str:
        "Open an umbrella in a city."
        return "open"

    async with Agent(tools=[weather, umbrella], practice=True) as agent:
        turn = await played(agent.run("What is the weather in Oslo?"))
        assert [event.outcome for event in turn.of(ToolEnded)] == ["ok"]
        assert "raining in Oslo" in turn.end.answer
        assert agent.address.startswith("http://127.0.0.1:")


@pytest.mark.anyio
async def test_two_turns_of_one_agent_and_many_agents_at_once(tmp_path: Path) -> None:
    async def one(number: int) -> list[str]:
        folder = tmp_path / str(number)
        folder.mkdir()
        async with stage(folder, says(f"{number} a") + says(f"{number} b")) as here:
            return [(await here.turn()).end.answer, (await here.turn()).end.answer]

    answers = await asyncio.gather(*map(one, range(8)))
    assert answers == [[f"{number} a", f"{number} b"] for number in range(8)]


@pytest.mark.anyio
async def test_closing_twice_and_opening_again_is_no_trouble(tmp_path: Path) -> None:
    async with stage(tmp_path, says("One.") + says("Two.")) as here:
        assert (await here.turn()).end.answer == "One."
        await here.agent.aclose()
        await here.agent.aclose()
        turn = await here.turn()
        assert isinstance(turn.events[-1], TurnEnded)
        assert turn.end.answer == "Two."


def test_a_setting_that_cannot_be_used_is_told_at_once() -> None:
    with pytest.raises(SettingsError, match="max-retries"):
        Agent(max_retries="many")
