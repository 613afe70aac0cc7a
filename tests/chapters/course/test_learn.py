"""`harness learn` as a command: the list, the language, exercises, and how it ends."""

import asyncio
import sys
from pathlib import Path

import pytest

from chapters.course import Progress, lesson
from chapters.course.catalogue import chapters_folder
from chapters.course.checks.exercises import every_exercise
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from tests.ui.program import Place, end_of, run, start
from tests.ui.terminals import Terminal

pytestmark = pytest.mark.anyio


@pytest.fixture
def place(tmp_path: Path) -> Place:
    folder = tmp_path / "here"
    folder.mkdir()
    return Place(folder)


def progress(place: Place) -> Progress:
    return Progress.of(place.state)


@pytest.mark.stories
async def test_without_a_chapter_all_are_listed_with_how_far_one_is(place: Place) -> None:
    """Here `harness learn` is started cold."""
    progress(place).reach("s01", 10, of=10)
    progress(place).reach("s02", 3, of=11)
    progress(place).passed("s01-loop")
    finished = await end_of(await start(place, "learn", cold=True))
    first, second, third, *_ = finished.out.splitlines()
    assert first.startswith("s01  done, 1 of 1 exercises passed")
    assert second.startswith("s02  step 3 of 11")
    assert third.startswith("s03  new")
    assert finished.out.splitlines()[-1] == "Continue: harness learn s02"
    assert (await run(place, "learn", "--list")).out == finished.out


@pytest.mark.stories
async def test_the_language_is_kept_and_else_that_of_the_environment(place: Place) -> None:
    assert "未読" in (await run(place, "learn", env={"LC_ALL": "ja_JP.UTF-8"})).out
    assert "未読" in (await run(place, "learn", "--language", "ja", env={"LC_ALL": "C"})).out
    assert "未読" in (await run(place, "learn", env={"LC_ALL": "C"})).out
    assert "new" in (await run(place, "learn", "--language", "en")).out


async def test_a_chapter_plays_through_and_leaves_no_progress(place: Place) -> None:
    finished = await run(place, "learn", "1", "--auto", "--plain")
    assert finished.code == 0, finished.err
    assert "All 10 steps happened." in finished.out
    assert not progress(place).step("s01")


REAL = """
[[reply]]
text = "The rules say {command}."
fills = { command = 'tests run with `([^`]+)`' }

[[reply]]
tools = [{ name = "bash", input = { command = "git init" } }]

[[reply]]
text = "Then I leave it."

[[reply]]
text = "On none."
"""


@pytest.mark.stories
async def test_another_model_gets_the_same_prompts_and_none_of_the_sentences(place: Place) -> None:
    """The question about `git init` goes to the learner, who says no."""
    async with PracticeServer(script=Script.parse(REAL)) as server:
        key = {"ANTHROPIC_API_KEY": "sk-ant-of-the-learner", "ANTHROPIC_BASE_URL": server.base_url}
        model = ("--model", "claude-opus-5-5")
        finished = await run(place, "learn", "s10", *model, "--plain", stdin="n\nnot now\n/fault 529\nq\n", env=key)
        asked = [request for request in server.requests if request.path == "/v1/messages"]
        assert {(request.headers["authorization"], request.body["model"]) for request in asked} == {
            ("Bearer sk-ant-of-the-learner", "claude-opus-5-5")
        }
    assert finished.code == 0, finished.err
    for prompt in lesson("s10").prompts:
        assert f"> {prompt}" in finished.out
    assert "The rules say make check." in finished.out
    assert "did not allow" in str(asked[2].body["messages"])
    assert "A real model cannot be broken from here" in finished.out
    assert "step 1 of" not in finished.out
    assert not progress(place).step("s10")
    without_key = await run(place, "learn", "s10", *model, "--plain", env={"ANTHROPIC_BASE_URL": "http://127.0.0.1:9"})
    assert "--model needs a key" in without_key.err
    assert "for the chapters from s03 on" in (await run(place, "learn", "s01", *model, "--plain", env=key)).err


async def test_a_closed_input_shows_the_beginning_and_ends(place: Place) -> None:
    finished = await run(place, "learn", "s01", "--plain")
    assert finished.code == 0
    assert "── The idea ──" in finished.out


async def test_lines_that_are_piped_in_are_all_obeyed(place: Place) -> None:
    finished = await run(place, "learn", "s01", stdin="n\nn\nb\nq\n")
    assert [line for line in finished.out.splitlines() if line.startswith("── step")] == [
        f"── step {number} of 10 ──" for number in (1, 2, 1)
    ]
    assert (await run(place, "learn", "s01", "--restart", stdin="n\n")).out.count("── step 1 of 10 ──") == 1
    assert progress(place).step("s01") == 1


async def test_a_chapter_that_there_is_not_is_a_sentence(place: Place) -> None:
    finished = await run(place, "learn", "s99")
    assert finished.code == 2
    assert finished.err.startswith("harness: There is no chapter 's99'")


async def test_an_exercise_is_copied_and_said_what_to_do(place: Place) -> None:
    finished = await run(place, "learn", "s01", "--exercise")
    assert "harness check harness-exercises/s01-loop" in finished.out
    assert (place.folder / "harness-exercises" / "s01-loop" / "TASK.md").exists()
    assert (await run(place, "learn", "s01", "--exercise", "loop")).code == 0
    wrong = await run(place, "learn", "s01", "--exercise", "loup")
    assert wrong.code == 2
    assert "did you mean loop?" in wrong.err
    assert (await run(place, "learn", "--exercise")).code == 0
    assert len(list((place.folder / "harness-exercises").iterdir())) == len(every_exercise(chapters_folder()))


async def test_a_chapter_by_itself_plays_and_then_listens(place: Place) -> None:
    command = (sys.executable, "-m", "chapters.s01_agent_loop")
    async with Terminal(place, command=command) as terminal:
        await terminal.sees("── step 10 of 10 ──")
        await terminal.sees("is yours now: type prompts")
        terminal.type("list the files\n")
        await terminal.sees("There are 3 files in this folder")
        terminal.type("q\n")
        assert await terminal.ends() == 0


@pytest.mark.stories
async def test_a_reader_that_leaves_early_ends_it_without_a_word(place: Place) -> None:
    """Starts the chapter's module cold, from a shell; it loads the same modules as `harness learn s01`."""
    line = f"{sys.executable} -m chapters.s01_agent_loop < /dev/null | head -1"
    shell = await asyncio.create_subprocess_shell(
        line, cwd=place.folder, env=place.environment, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE
    )
    out, err = await shell.communicate()
    assert out.decode().startswith("s01 · ")
    assert not err


async def test_ctrl_c_ends_it(place: Place) -> None:
    async with Terminal(place, "learn", "s01", "--plain") as terminal:
        await terminal.sees("0/10 >")
        await terminal.waits()
        terminal.type("\x03")
        assert await terminal.ends() == 130
