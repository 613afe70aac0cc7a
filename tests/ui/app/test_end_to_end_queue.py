"""Prompts queued in a real terminal: behind a command, over a retry and a question, in their order, none lost."""

import re
from pathlib import Path

import pytest

from tests.ui.program import Place
from tests.ui.terminals import REASON, TMUX, Tmux

pytestmark = [pytest.mark.anyio, pytest.mark.stories, pytest.mark.skipif(TMUX is None, reason=REASON)]

SCRIPT = """
after = "repeat"

[[reply]]
when = { text = "the second" }
times = 1
status = 529
headers = { retry-after = "60" }

[[reply]]
when = { text = "the third" }
times = 1
text = "I tidy up."
tools = [{ name = "bash", input = { command = "rm -rf kept" } }]

[[reply]]
times = "forever"
text = "An answer."
"""


def asked(screen: str) -> list[str]:
    """The user's prompts in conversation order."""
    return [found[1].strip() for found in re.finditer(r"^ ?▌ (?:! )?(.*?)(?:│|$)", screen, re.MULTILINE)]


def prompt_line(screen: str) -> str:
    """The text in the prompt."""
    return next(line for line in reversed(screen.splitlines()) if line.startswith(" ▸"))[2:].strip()


async def test_a_conversation_with_a_queue_a_retry_and_a_question(place: Place) -> None:
    script = place.folder.parent / "script.toml"
    script.write_text(SCRIPT)
    (place.folder / "kept").mkdir()
    async with Tmux(place, "--practice", str(script), columns=130, rows=50) as terminal:
        await terminal.sees("asks first")
        await terminal.say("!sleep 6")
        for prompt in ("the first", "the second", "the third"):
            await terminal.say(prompt)
        await terminal.sees("3 queued", "Esc stop")

        await terminal.sees("▌ the second", "next try in", "Alt+R retry now", "Esc stop", "1 queued")
        await terminal.type("read the notes, maybe")
        screen = await terminal.sees("▸ read the notes, maybe", "next try in")
        assert asked(screen) == ["sleep 6", "the first", "the second"]
        await terminal.press("M-Enter")
        await terminal.sees("2 queued", "next try in")
        await terminal.press("M-r")

        screen = await terminal.sees("rm -rf kept", "yes, once", "1 queued")
        assert (place.folder / "kept").exists()
        await terminal.press("Escape")
        screen = await terminal.sees(
            "interrupted; partial results are kept", "▸ read the notes, maybe", gone=("Esc stop",)
        )
        assert asked(screen) == ["sleep 6", "the first", "the second", "the third"]
        await terminal.press("Enter")
        screen = await terminal.sees("▌ read the notes, maybe", gone=("Esc stop", "queued"))
        assert asked(screen) == ["sleep 6", "the first", "the second", "the third", "read the notes, maybe"]
        assert prompt_line(screen) == ""
    assert (place.folder / "kept").exists()


async def test_five_hundred_lines_pasted_without_brackets_are_one_prompt(place: Place, tmp_path: Path) -> None:
    lines = [f"{'rm?m'[number % 4]}{number}" for number in range(500)]
    paste = tmp_path / "paste.txt"
    paste.write_text("\n".join((*lines, "")))
    async with Tmux(place, columns=130, rows=50) as terminal:
        await terminal.sees("asks first")
        await terminal.say("!sleep 300")
        await terminal.sees("Esc stop")
        await terminal.paste(paste)
        await terminal.sees("[pasted 501 lines #1]", gone=("queued",))
        await terminal.press("Enter")
        await terminal.sees("1 queued")
        await terminal.press("Escape")
        await terminal.sees("?498", "m499", gone=("queued",))
        await terminal.press("C-c")
        await terminal.say("/exit")
        await terminal.sees("exit code 0")


async def test_a_question_that_comes_while_something_is_typed_takes_none_of_it(place: Place) -> None:
    script = place.folder.parent / "script.toml"
    script.write_text(SCRIPT.replace('text = "I tidy up."\n', 'text = "I tidy up."\ndelay = 3\n'))
    (place.folder / "kept").mkdir()
    typed = "kay please also add many keys"
    async with Tmux(place, "--practice", str(script), columns=130, rows=50) as terminal:
        await terminal.sees("asks first")
        for prompt in ("the first", "the third"):
            await terminal.say(prompt)
        await terminal.sees("▌ the third")
        await terminal.type("the fourth")
        await terminal.press("M-Enter")
        for letter in typed:
            await terminal.type(letter)
        await terminal.sees("rm -rf kept", "yes, once", f"▸ {typed}")
        await terminal.press("M-Enter")
        await terminal.sees("2 queued", "yes, once")
        assert (place.folder / "kept").exists()
        await terminal.press("Escape")
        await terminal.sees("interrupted; partial results are kept", "▸ the fourth", f"  {typed}", gone=("yes, once",))
    assert (place.folder / "kept").exists()
