"""The programs in `examples` run alone, without a key, and show what they promise."""

import os
from pathlib import Path

import pytest

from tests.ui.nursery import MODULE
from tests.ui.warm import Piped

pytestmark = pytest.mark.anyio
ROOT = Path(__file__).parents[1]
SHOWS = {
    "custom_tool": ["the last one is weather", "called: It is raining in Oslo."],
    "custom_hook": ["no_force_push blocked: force pushes are not allowed here", "I left the branch as it is."],
    "custom_policy": ["practice-1 → claude-haiku-5-5: practice-1 is rate limited", "The other model answers."],
    "graph_agents": ["⟲ loop (interaction)", "▸ nudge: You are repeating yourself", "✓ the goal is reached, at E"],
    "resumed_session": ["turns so far: 1", "It is raining in Bergen.", "['weather: ok', 'weather: ok']"],
}


@pytest.mark.parametrize("name", SHOWS)
async def test_an_example_shows_what_it_promises(name: str, tmp_path: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "PYTHONPATH": str(ROOT)}
    ran = await Piped.begin(tmp_path, (), environment, command=(*MODULE, f"examples.{name}"))
    out, err = await ran.communicate()
    assert (ran.returncode, err) == (0, b"")
    assert [line for line in SHOWS[name] if line not in out.decode()] == []


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--fail-rate", "0"], 0, "at E after 4 steps"),
        (["--fail-rate", "1"], 3, "■ stopped: no intervention ended the loop"),
        (["--fail-rate", "1", "--user", "stop"], 3, "■ the user ended it"),
        (["--fail-rate", "1", "--steps", "2"], 3, "■ the steps are used up, at A after 2 steps"),
        (["--graph", "random", "--size", "30", "--seed", "4"], 0, "✓ the goal is reached, at N29"),
        (["--fail-rate", "1.5"], 2, "the fail rate from 0 to 1"),
        (["--size", "2"], 2, "the size is from 3 to 1000"),
    ],
    ids=str,
)
async def test_the_walk_over_a_graph_ends_as_asked(tmp_path: Path, arguments: list[str], code: int, words: str) -> None:
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)}
    ran = await Piped.begin(tmp_path, arguments, environment, command=(*MODULE, "examples.graph_agents"))
    out, err = await ran.communicate()
    assert ran.returncode == code
    assert words in (err if code == 2 else out).decode()


async def test_every_example_is_run_and_is_on_the_page() -> None:
    there = {path.stem for path in (ROOT / "examples").glob("*[!_].py")} | {"graph_agents"}
    page = (ROOT / "docs" / "library.md").read_text(encoding="utf-8")
    assert there == SHOWS.keys()
    assert [name for name in there if f"../examples/{name}" not in page] == []
