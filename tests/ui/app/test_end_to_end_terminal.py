"""The real command gives its terminal back, whatever ends it. The bytes are looked at, so any system can run this."""

import signal

import pytest

from tests.ui.program import Place, Terminal

pytestmark = pytest.mark.anyio

SCREEN = {"TERM": "xterm-256color", "HARNESS_PLAIN": "", "NO_COLOR": ""}
ALTERNATE, CURSOR, LINE_WRAP, PASTE, FOCUS, MOUSE = 1049, 25, 7, 2004, 1004, (1000, 1003, 1015, 1006)
STORM = """
[[reply]]
status = 529
headers = { retry-after = "30" }
times = "forever"
"""


def on_screen(place: Place, *arguments: str, **environment: str) -> Terminal:
    """The command, where it may draw."""
    return Terminal(place, *arguments, environment=SCREEN | environment)


def storm(place: Place) -> str:
    path = place.folder.parent / "storm.toml"
    path.write_text(STORM)
    return str(path)


def is_given_back(terminal: Terminal) -> None:
    """Every mode is as a shell wants it."""
    wanted = dict.fromkeys((ALTERNATE, PASTE, FOCUS, *MOUSE), False) | dict.fromkeys((CURSOR, LINE_WRAP), True)
    assert {mode: terminal.modes.get(mode) for mode in wanted} == wanted
    assert terminal.screen.count("\x1b[<u") == terminal.screen.count("\x1b[>25u")  # what the keyboard reports
    assert terminal.waits_for_lines


async def test_a_program_that_is_killed_leaves_the_terminal_as_it_is(place: Place) -> None:
    """What the other tests look at would show it."""
    async with on_screen(place, "--practice") as terminal:
        await terminal.sees("getting ready")
        terminal.send(signal.SIGKILL)
        assert await terminal.ends() == -signal.SIGKILL
        assert not terminal.waits_for_lines
        with pytest.raises(AssertionError):
            is_given_back(terminal)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGTERM, 143), (signal.SIGHUP, 129)])
async def test_a_signal_before_anything_is_ready_and_in_a_wait(place: Place, number: signal.Signals, code: int) -> None:
    async with on_screen(place, "--practice") as terminal:
        await terminal.sees("getting ready")
        terminal.send(number)
        assert await terminal.ends() == code
        is_given_back(terminal)
    async with on_screen(place, "--practice", storm(place), "hello") as terminal:
        await terminal.sees("next try in")
        assert not terminal.waits_for_lines
        terminal.send(number)
        assert await terminal.ends() == code
        is_given_back(terminal)
        await terminal.sees("resume with: harness --resume ")


async def test_a_terminal_that_goes_away_ends_the_program(place: Place) -> None:
    for arguments, shown in ((("--practice",), "asks first"), (("--practice", storm(place), "hello"), "next try in")):
        async with on_screen(place, *arguments) as terminal:
            await terminal.sees(shown)
            terminal.hang_up()
            assert await terminal.ends() == 129
