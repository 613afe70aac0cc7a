"""The real command on a real screen: typed input and the resulting screen."""

import re
import signal

import pytest

from tests.ui.program import Place
from tests.ui.terminals import REASON, TMUX, Tmux

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(TMUX is None, reason=REASON)]
PRACTICE = "--practice"


def script(place: Place, text: str) -> str:
    """A script of replies and faults, outside of the folder that is worked in."""
    path = place.folder.parent / "script.toml"
    path.write_text(text)
    return str(path)


def seconds_left(screen: str) -> int:
    found = re.search(r"next try in (\d+) s", screen)
    assert found is not None, screen
    return int(found[1])


STORM = """
[[reply]]
status = 529
headers = { retry-after = "30" }
times = 2

[[reply]]
text = "The storm is over."
"""


@pytest.mark.stories
async def test_a_conversation_from_the_first_paint_to_the_line_that_says_how_to_continue(place: Place) -> None:
    async with Tmux(place, PRACTICE) as terminal:
        await terminal.sees("▸", "loading")
        await terminal.type("list the files")  # typed before anything is ready
        await terminal.press("Enter")
        screen = await terminal.sees("● glob", "notes.md", "practice-1 · ready", "asks first")
        assert "▌ list the files" in screen
        assert "others not used" in screen
        await terminal.resize(80, 24)
        await terminal.sees("tools    ● 1 work", "failures ░░░░░ 0 of 5", gone=("practice-1 · ready", "│"))
        await terminal.press("C-d")
        screen = await terminal.sees("resume with: harness --resume", "exit code 0")
        assert not await terminal.alternate()
        session = re.findall(r"--resume (\S+)", screen)[0]
    async with Tmux(place, PRACTICE, "--resume", session) as terminal:
        await terminal.sees("▌ list the files", "● glob", f"Resumed {session}", "asks first")


@pytest.mark.stories
async def test_a_storm_is_counted_down_and_r_does_not_wait_for_its_end(place: Place) -> None:
    async with Tmux(place, PRACTICE, script(place, STORM), columns=80, rows=24) as terminal:
        await terminal.sees("asks first")
        await terminal.type("hello")
        await terminal.press("Enter")
        first = seconds_left(await terminal.sees("529 overloaded", "next try in", "Alt+R retry now", "Esc stop"))
        await terminal.sees_that(lambda screen: seconds_left(screen) < first, "a smaller number of seconds")
        await terminal.press("M-r")
        await terminal.sees("try 2 of 10", "next try in")
        await terminal.press("M-r")
        await terminal.sees("The storm is over.", "failures ░░░░░ 0 of 5", gone=("next try in",))


@pytest.mark.stories
async def test_m_asks_the_other_model_and_esc_stops_a_wait(place: Place) -> None:
    flags = ("-m", "claude-opus-5-5", "--fallback-model", "claude-sonnet-5-5")
    async with Tmux(place, PRACTICE, script(place, STORM), *flags) as terminal:
        await terminal.sees("asks first")
        await terminal.type("hello")
        await terminal.press("Enter")
        await terminal.sees("next try in", "Alt+M fallback model")
        await terminal.press("M-m")
        await terminal.sees("claude-sonnet-5-5 answers instead of claude-opus-5-5", "try 2 of 10")
        await terminal.press("Escape")
        await terminal.sees("interrupted; partial results are kept", gone=("next try in",))
        await terminal.type("and now?")
        await terminal.press("Enter")
        await terminal.sees("The storm is over.", "claude-opus-5-5 · ready")


@pytest.mark.stories
async def test_esc_stops_an_answer_and_a_tool_and_keeps_what_was_said(place: Place) -> None:
    slow = """
[[reply]]
text = "One two three four five six seven eight nine ten and so on for a long time, word by word."
chunk = 4
event_delay = 0.3

[[reply]]
tools = [{ name = "bash", input = { command = "sleep 60" } }]

[[reply]]
text = "Here I am."
"""
    async with Tmux(place, PRACTICE, script(place, slow), "--yolo") as terminal:
        await terminal.sees("asks nothing")
        await terminal.type("count")
        await terminal.press("Enter")
        await terminal.sees("One two", "answers")
        await terminal.press("Escape")
        screen = await terminal.sees("interrupted; partial results are kept", "practice-1 · ready")
        assert "One two" in screen
        await terminal.type("wait")
        await terminal.press("Enter")
        await terminal.sees("◍ bash sleep 60", "running bash")
        await terminal.press("Escape")
        await terminal.sees("○ bash sleep 60", gone=("running bash",))
        await terminal.type("are you there?")
        await terminal.press("Enter")
        await terminal.sees("Here I am.")


@pytest.mark.stories
async def test_a_question_is_answered_with_a_reason_a_digit_and_a_full_width_letter(place: Place) -> None:
    asks = """
[[reply]]
tools = [{ name = "bash", input = { command = "touch first" } }]

[[reply]]
tools = [{ name = "bash", input = { command = "touch second" } }]

[[reply]]
tools = [{ name = "edit_file", input = { path = "notes.md", old_string = "## First", new_string = "## 天気予報" } }]

[[reply]]
text = "All asked."
"""
    async with Tmux(place, PRACTICE, script(place, asks)) as terminal:
        await terminal.sees("asks first")
        await terminal.type("do it")
        await terminal.press("Enter")
        await terminal.asks("it runs `touch first`", "y  yes, once", "may bash run?")
        await terminal.press("n")
        await terminal.type("not now")
        await terminal.press("Enter")
        await terminal.asks("not allowed: not now", "it runs `touch second`")
        await terminal.press("1")
        await terminal.asks("● bash touch second", "it writes a file", "+ ## 天気予報")
        await terminal.type("ｙ")
        await terminal.sees("All asked.", "● edit_file notes.md", "+1 -1")
    assert "天気予報" in (place.folder / "notes.md").read_text()


@pytest.mark.stories
async def test_a_broken_tool_is_shown_with_the_way_round_it_and_steps_can_be_walked(place: Place) -> None:
    async with Tmux(place, PRACTICE, "--tool-faults", "grep-dies", "--yolo") as terminal:
        await terminal.sees("asks nothing")
        for turn in ("timed out after 0.2 s  ", "(2nd)", "(3rd)", "grep skipped"):
            await terminal.type("find TODO")
            await terminal.press("Enter")
            await terminal.sees(turn, "practice-1 · ready")
        screen = await terminal.sees("paused     3", "→ bash: rg", "grep skipped")
        await terminal.press("F3")
        await terminal.sees("last ok", "n p incidents")
        await terminal.press("F3", "F2")
        await terminal.sees("grep skipped", gone=("fails",))
        await terminal.press("F2", "Left")
        await terminal.sees("◂ step", "Esc back to now")
        await terminal.press("Escape")
        await terminal.type("/reset grep")
        await terminal.press("Enter")
        await terminal.sees("grep is reset", gone=("paused     3",))
        assert "⊘" in screen


@pytest.mark.stories
async def test_ctrl_c_clears_then_stops_then_quits(place: Place) -> None:
    async with Tmux(place, PRACTICE, script(place, STORM)) as terminal:
        await terminal.sees("asks first")
        await terminal.type("something")
        await terminal.sees("▸ something")
        await terminal.press("C-c")
        await terminal.sees("asks first", gone=("▸ something",))
        await terminal.type("hello")
        await terminal.press("Enter")
        await terminal.sees("next try in")
        await terminal.press("C-c")
        await terminal.sees("interrupted")
        await terminal.press("C-c")
        await terminal.sees("Ctrl+C again to quit")
        await terminal.press("C-c")
        await terminal.sees("exit code 130", "resume with")


@pytest.mark.stories
async def test_ctrl_z_suspends_and_the_program_comes_back(place: Place) -> None:
    async with Tmux(place, PRACTICE) as terminal:
        await terminal.sees("asks first")
        await terminal.press("C-z")
        await terminal.sees_that(lambda screen: "asks first" not in screen, "the screen from before")
        assert not await terminal.alternate()
        await terminal.send(signal.SIGCONT)
        await terminal.sees("asks first", "ready")
        await terminal.type("list the files")
        await terminal.press("Enter")
        await terminal.sees("● glob", "notes.md")
