"""The real command gives its terminal back, whatever ends it. The bytes are looked at, so any system can run this."""

import shlex
import signal
from pathlib import Path

import pytest

from tests.ui.program import COMMAND, Place, run
from tests.ui.terminals import Terminal

pytestmark = pytest.mark.anyio

CTRL_C, CTRL_D, CTRL_Z = "\x03", "\x04", "\x1a"
SCREEN = {"TERM": "xterm-256color", "HARNESS_PLAIN": "", "NO_COLOR": ""}
ALTERNATE, CURSOR, LINE_WRAP, PASTE, FOCUS, MOUSE = 1049, 25, 7, 2004, 1004, (1000, 1003, 1015, 1006)
STORM = """
[[reply]]
status = 529
headers = { retry-after = "30" }
times = "forever"
"""


def on_screen(place: Place, *arguments: str, cold: bool = False, **environment: str) -> Terminal:
    """The command, where it may draw."""
    return Terminal(place, *arguments, environment=SCREEN | environment, cold=cold)


def storm(place: Place) -> str:
    path = place.folder.parent / "storm.toml"
    path.write_text(STORM)
    return str(path)


def settings_file(place: Place, text: str) -> None:
    file = place.folder / ".harness" / "settings.toml"
    file.parent.mkdir()
    file.write_text(text)


def is_given_back(terminal: Terminal) -> None:
    """Every mode is as a shell wants it."""
    wanted = dict.fromkeys((ALTERNATE, PASTE, FOCUS, *MOUSE), False) | dict.fromkeys((CURSOR, LINE_WRAP), True)
    assert {mode: terminal.modes.get(mode) for mode in wanted} == wanted
    assert terminal.screen.count("\x1b[<u") == terminal.screen.count("\x1b[>25u")  # what the keyboard reports
    assert terminal.waits_for_lines


async def test_a_program_that_is_killed_leaves_the_terminal_as_it_is(place: Place) -> None:
    """What the other tests look at would show it."""
    async with on_screen(place, "--practice") as terminal:
        await terminal.sees("loading")
        terminal.send(signal.SIGKILL)
        assert await terminal.ends() == -signal.SIGKILL
        assert not terminal.waits_for_lines
        with pytest.raises(AssertionError):
            is_given_back(terminal)


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGTERM, 143), pytest.param(signal.SIGHUP, 129, marks=pytest.mark.stories)]
)
async def test_a_signal_before_anything_is_ready_and_in_a_wait(place: Place, number: signal.Signals, code: int) -> None:
    async with on_screen(place, "--practice", cold=True) as terminal:  # else all is ready at once
        await terminal.sees("loading")
        terminal.send(number)
        assert await terminal.ends() == code
        is_given_back(terminal)
    async with on_screen(place, "--practice", storm(place), "hello there") as terminal:
        await terminal.sees("next try in")
        assert not terminal.waits_for_lines
        terminal.send(number)
        assert await terminal.ends() == code
        is_given_back(terminal)
        await terminal.sees("resume with: harness --resume ")


async def test_a_terminal_that_goes_away_ends_the_program(place: Place) -> None:
    for arguments, shown in (
        (("--practice",), "asks first"),
        (("--practice", storm(place), "hello there"), "next try in"),
    ):
        async with on_screen(place, *arguments) as terminal:
            await terminal.sees(shown)
            terminal.hang_up()
            assert await terminal.ends() == 129


async def test_sigint_is_ctrl_c_and_ctrl_c_stops_and_twice_quits(place: Place) -> None:
    async with on_screen(place, "--practice", storm(place), "hello there") as terminal:
        await terminal.sees("next try in")
        terminal.send(signal.SIGINT)
        await terminal.sees("interrupted; partial results are kept")
        terminal.type(CTRL_C)
        await terminal.sees("Ctrl+C again to quit")
        terminal.type(CTRL_C)
        assert await terminal.ends() == 130
        is_given_back(terminal)


@pytest.mark.stories
async def test_a_stop_that_was_not_asked_for_here_does_no_harm(place: Place) -> None:
    async with on_screen(place, "--practice") as terminal:
        await terminal.sees("asks first")
        terminal.send(signal.SIGSTOP)
        terminal.send(signal.SIGCONT)
        terminal.type("list the files\r")
        await terminal.sees("notes.md")
        terminal.type(CTRL_D)
        assert await terminal.ends() == 0
        is_given_back(terminal)


@pytest.mark.stories
async def test_a_shell_gets_its_terminal_while_the_program_is_suspended(place: Place) -> None:
    """Here a screen is started cold, as a shell starts it, and used."""
    program = f"set -m; {shlex.join((*COMMAND, '--practice'))}; echo suspended; fg >/dev/null; echo code $?; exec cat"
    async with Terminal(place, command=("sh", "-c", program), environment=SCREEN, cold=True) as terminal:
        await terminal.sees("asks first")
        terminal.type(CTRL_Z)
        await terminal.sees("\x1b[?1049l")
        await terminal.sees("suspended\n")
        await terminal.sees("\x1b[?1049h")
        await terminal.sees("asks first")
        terminal.type(CTRL_D)
        await terminal.sees("code 0\n")
        is_given_back(terminal)


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        (("--cwd", "/no/such/folder"), "/no/such/folder"),
        (("--resume", "20200101-0000-aaaaaa"), "20200101-0000-aaaaaa"),
        (("--practice", "/no/such/script.toml"), "/no/such/script.toml"),
    ],
    ids=["folder", "session", "script"],
)
async def test_what_cannot_be_begun_ends_in_one_sentence(place: Place, flags: tuple[str, ...], told: str) -> None:
    practice = () if "--practice" in flags else ("--practice",)
    async with on_screen(place, *practice, *flags) as terminal:
        assert await terminal.ends() == 2
        last = terminal.screen.rpartition("\x1b")[2].partition("harness: ")[2]
        assert told in last
        assert last.count("\n") == 1
        is_given_back(terminal)


@pytest.mark.parametrize(
    "environment", [{"TERM": "dumb"}, {"TERM": ""}, {"HARNESS_PLAIN": "1"}], ids=["dumb", "none", "variable"]
)
async def test_lines_where_a_screen_cannot_be_drawn_or_is_not_wanted(place: Place, environment: dict[str, str]) -> None:
    async with Terminal(place, "--practice", environment=SCREEN | environment) as terminal:
        await terminal.sees("/help lists the commands")
        await terminal.sees("> ")
        terminal.type(CTRL_D)
        assert await terminal.ends() == 0
        assert "\x1b[?1049h" not in terminal.screen


async def test_a_settings_file_that_wants_lines_gets_lines(place: Place) -> None:
    settings_file(place, "plain = true\n")
    async with on_screen(place, "--practice") as terminal:
        await terminal.sees("/help lists the commands; Ctrl-C stops a turn, Ctrl-D quits.")
        assert not terminal.modes[ALTERNATE]
        await terminal.sees("> ")
        await terminal.waits()
        terminal.type(CTRL_D)
        assert await terminal.ends() == 0
        is_given_back(terminal)


async def test_a_settings_file_that_cannot_be_used_gets_one_sentence(place: Place) -> None:
    own = Path(place.environment["XDG_CONFIG_HOME"]) / "harness" / "settings.toml"
    own.parent.mkdir(parents=True)
    own.write_text("max_retries = 'many'\n")
    async with on_screen(place, "--practice") as terminal:
        assert await terminal.ends() == 2
        assert "max_retries = 'many'; give a whole number" in terminal.screen.replace("\n", " ")
        is_given_back(terminal)


@pytest.mark.stories
async def test_lines_where_the_output_is_piped(place: Place) -> None:
    ended = await run(place, "--practice", stdin="list the files\n", env=SCREEN)
    assert ended.code == 0
    assert "notes.md" in ended.out
    assert "\x1b" not in ended.out + ended.err
