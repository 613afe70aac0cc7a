"""A hostile line on a screen: a question is shown, nothing has run, and a no keeps it so."""

import json

import pytest

from harness.practice.script import Script
from harness.practice.server import PracticeServer
from tests.ui.conftest import place
from tests.ui.program import Place
from tests.ui.terminals import REASON, TMUX, Terminal, Tmux

__all__ = ["place"]

pytestmark = pytest.mark.anyio

HOSTILE = (
    *("sleep 0 & wait -n -p 'a[$(touch PWNED)]'", "[ -- = -- -o -v 'a[$(touch PWNED)]' ]"),
    *("echo 'touch PWNED' | sh -sc ls", "find . -[d]elete", "echo $((a[$(touch PWNED)]))", "set"),
)


def script(*lines: str) -> str:
    """The model asks for these lines one after the other."""
    replies = (
        f'\n[[reply]]\ntools = [{{ name = "bash", input = {{ command = {json.dumps(line)} }} }}]' for line in lines
    )
    return f'after = "error"\n{"".join(replies)}\n[[reply]]\ntext = "Then not."\n'


@pytest.mark.stories
async def test_each_hostile_line_is_a_question_in_lines(place: Place) -> None:
    (place.folder / "-delete").touch()
    async with (
        PracticeServer(script=Script.parse(script(*HOSTILE))) as server,
        Terminal(Place(place.folder, server.base_url)) as terminal,
    ):
        await terminal.sees("Ctrl-D quits")
        terminal.type("go\r")
        for _ in HOSTILE:
            await terminal.sees("allow it?")
            terminal.type("n it is hostile\r")
            await terminal.sees("not allowed")
        await terminal.sees("Then not.")
    assert not (place.folder / "PWNED").exists()
    assert (place.folder / "-delete").exists()


@pytest.mark.stories
@pytest.mark.skipif(TMUX is None, reason=REASON)
async def test_a_hostile_line_is_a_question_in_the_app(place: Place) -> None:
    path = place.folder.parent / "script.toml"
    path.write_text(script(HOSTILE[0]))
    async with Tmux(place, "--practice", str(path)) as terminal:
        await terminal.sees("asks first")
        await terminal.type("go")
        await terminal.press("Enter")
        await terminal.sees("wait -n -p", "yes, once")
        assert not (place.folder / "PWNED").exists()
        await terminal.press("Escape")
    assert not (place.folder / "PWNED").exists()
