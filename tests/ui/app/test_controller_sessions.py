"""Sessions on a real screen: gone on with, gone back in, watched from another window, and seen again."""

import json
import re
from pathlib import Path

import pytest

from tests.mcp.conftest import eventually
from tests.ui.program import Place
from tests.ui.terminals import REASON, TMUX, Tmux

pytestmark = [pytest.mark.anyio, pytest.mark.stories, pytest.mark.skipif(TMUX is None, reason=REASON)]
RECORDED = Path(__file__).parents[2] / "policies" / "breakers" / "sessions" / "network-gone.jsonl"
TALK = """
[[reply]]
text = "The first answer."

[[reply]]
text = "The second answer."

[[reply]]
text = "The third answer."
"""


def script(place: Place, text: str) -> str:
    path = place.folder.parent / "script.toml"
    path.write_text(text)
    return str(path)


async def test_a_session_is_gone_back_in_left_listed_and_resumed(place: Place) -> None:
    async with Tmux(place, "--practice", script(place, TALK)) as terminal:
        await terminal.sees("loading")
        await terminal.say("first words")  # typed before anything is ready
        await terminal.sees("The first answer.", "· ready")
        await terminal.say("second words")
        await terminal.sees("The second answer.", "· ready")
        await terminal.press("Escape", "Escape")
        await terminal.sees("Go back to before which prompt?", "1  first words", "2  second words")
        await terminal.press("Escape")
        await terminal.sees("· ready", gone=("Go back to before",))
        await terminal.say("/rewind")
        await terminal.sees("Go back to before which prompt?")
        await terminal.press("Enter")
        await terminal.sees("▸ second words", "asks first", gone=("Go back to before",))
        await terminal.type(", and other ones")
        await terminal.press("Enter")
        await terminal.sees("▌ second words, and other ones", "The third answer.", "· ready")
        await terminal.press("C-d")
        left = await terminal.sees("resume with: harness --resume", "exit code 0", "\nicanon")
        session = re.findall(r"--resume (\S+)", left)[0]
        assert not await terminal.alternate()
    async with Tmux(place, "--practice", "-c", columns=60, rows=20) as terminal:
        await terminal.sees(f"Resumed {session}", "The third answer.", "asks first")
    async with Tmux(place, "--practice", "-r") as terminal:
        await terminal.sees("Choose a session to resume", session)
        await terminal.press("Enter")
        await terminal.sees(f"Resumed {session}", "The third answer.", gone=("Choose a session",))
        await terminal.press("C-q")
        await terminal.sees("exit code 0")


async def test_servers_start_with_the_session_before_a_key(place: Place) -> None:
    started = place.folder / "started"
    server = {"command": "sh", "args": ["-c", f"touch {started}; exec sleep 60"], "sandbox": "free"}
    config = json.dumps({"mcpServers": {"p": server}})
    async with Tmux(place, "--practice", "--mcp-config", config) as terminal:
        await terminal.sees("asks first")
        await eventually(started.exists)


WRITES = """
[[reply]]
tools = [{ name = "write_file", input = { path = "made.txt", content = "made" } }]

[[reply]]
text = "It is written."

[[reply]]
text = "It is not."
"""


async def test_files_go_back_with_a_prompt_when_the_user_wants_it_and_forth_again(place: Place) -> None:
    made = place.folder / "made.txt"
    async with Tmux(place, "--yolo", "--practice", script(place, WRITES)) as terminal:
        await terminal.sees("asks nothing")
        await terminal.say("make a file")
        await terminal.sees("It is written.", "· ready")
        await terminal.press("Escape", "Escape")
        await terminal.sees("Go back to before which prompt?")
        await terminal.press("Enter")
        await terminal.asks("remove 1 file, as they were before turn 1", "made.txt", "c  conversation only")
        await terminal.press("n")
        await terminal.sees("· ready", gone=("What to restore?",))
        assert made.exists()
        await terminal.press("Escape", "Escape")
        await terminal.sees("Go back to before which prompt?")
        await terminal.press("Enter")
        await terminal.asks("conversation and files")
        await terminal.press("f")
        await terminal.sees("▸ make a file", "as they were before turn 1: made.txt", gone=("What to restore?",))
        assert not made.exists()
        await terminal.press("C-u")
        await terminal.say("/rewind undo")
        await terminal.asks(
            "rewind write back 1 file, as they were before the rewind", "files are restored", "yes, once"
        )
        await terminal.press("y")
        await terminal.sees("as they were before the rewind: made.txt", "· ready")
        assert made.read_text() == "made"


async def test_a_session_is_watched_from_another_window(place: Place) -> None:
    flags = ("--practice", "--tool-faults", "grep-dies", "--yolo")
    async with Tmux(place, *flags) as terminal:
        await terminal.sees("asks nothing")
        await terminal.say("find TODO")
        await terminal.sees("timed out after", "· ready")
        async with Tmux(place, "watch") as other:
            await other.sees("▌ find TODO", "timed out after", "watching process", "n p incidents")
            await terminal.say("find TODO")
            await other.sees("(2nd)")
            await terminal.say("find TODO")
            await other.sees("paused     3", "(3rd)")
            await other.press("Left")
            await other.sees("◂ step", "Esc back to now")
            await other.press("p")
            await other.sees("◂ step")
            await other.press("Escape")
            await other.sees("paused     3", gone=("◂ step",))
            await other.press("F3")
            await other.sees("last ok")
            await other.press("F3")
            await terminal.press("C-d")
            await terminal.sees("exit code 0")
            await other.sees("no process is writing")
            await other.press("q")
            await other.sees("exit code 0", "\nicanon")
            assert not await other.alternate()


async def test_a_recorded_session_is_seen_again(place: Place) -> None:
    async with Tmux(place, "replay", str(RECORDED), columns=80, rows=24) as terminal:
        await terminal.sees("playing", "Space pause")
        await terminal.press("Space")
        await terminal.sees("paused", "Space play")
        await terminal.press("Home")
        await terminal.sees("step 0 of 9")
        await terminal.press("Right", "Right", "Right", "Right", "Left")
        await terminal.sees("step 2 of 9")
        await terminal.press("n")
        await terminal.sees_that(lambda screen: "step 2 of 9" not in screen and "of 9" in screen, "another step")
        await terminal.press("p", "p", "p", "p", "p", "p")
        await terminal.sees("no earlier incident")
        await terminal.press("+", "+", "-")
        await terminal.sees("2×")
        await terminal.press("End")
        await terminal.sees("end ", "step 9 of 9")
        await terminal.resize(120, 40)
        await terminal.sees("works", "failures", "1 of 5", "│")
        await terminal.press("q")
        await terminal.sees("exit code 0", "\nicanon")
        assert not await terminal.alternate()
