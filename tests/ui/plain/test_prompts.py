"""Prompts from a pipe, from a line editor in a real terminal, and while background work may report."""

import asyncio
import io
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from harness.events import ArrivalKind
from harness.session import Session
from harness.ui.plain.keyboard import Keyboard
from harness.ui.plain.printer import LinePrinter
from harness.ui.plain.prompts import PipedPrompts, arrival, joined, line_or_arrival
from harness.ui.signals import SignalExit
from harness.ui.turn_queue import TurnQueue
from tests.agent.stage import calls, played, says, sessions
from tests.ui.plain.test_unattended import command
from tests.ui.program import Place
from tests.ui.terminals import Terminal

pytestmark = pytest.mark.anyio

# ── a pipe ──────────────────────────────────────────────────────────────────────────────────────────


def reading(*lines: str) -> tuple[Callable[[str], str], list[str]]:
    """The input of `joined`, and the prompt signs that it printed."""
    rest, signs = list(lines), list[str]()

    def read(sign: str) -> str:
        signs.append(sign)
        if not rest:
            raise EOFError
        return rest.pop(0)

    return read, signs


@pytest.mark.parametrize(
    ("lines", "prompt", "signs"),
    [
        (["one", "two"], "one", ["> "]),
        (["one\\", "two\\", "three"], "one\ntwo\nthree", ["> ", "… ", "… "]),
        (["one\\"], "one", ["> ", "… "]),
        (["\\", ""], "\n", ["> ", "… "]),
    ],
)
def test_a_backslash_at_the_end_joins_the_next_line(lines: list[str], prompt: str, signs: list[str]) -> None:
    read, asked = reading(*lines)
    assert (joined(read), asked) == (prompt, signs)


def test_without_any_line_the_input_has_ended() -> None:
    with pytest.raises(EOFError):
        joined(reading()[0])


def test_piped_prompts_are_printed_as_if_they_were_typed() -> None:
    out = io.StringIO()
    prompts = PipedPrompts(io.StringIO("one\n\ntwo\\\nmore\nlast"), LinePrinter(out, colours=False))
    assert [prompts.read(), prompts.read(), prompts.read("and "), prompts.read()] == [
        "one",
        "",
        "and two\nmore",
        "last",
    ]
    with pytest.raises(EOFError):
        prompts.read()
    assert out.getvalue().splitlines() == ["> one", "> two\\", "… more", "> last"]


# ── a line editor ───────────────────────────────────────────────────────────────────────────────────

PROGRAM = """
import sys
from math import inf
from pathlib import Path
from harness.ui.plain.prompts import TypedPrompts

history, editing, begun, idle = sys.argv[1:]
prompts = TypedPrompts(Path(history), editing=editing == "editing")
while True:
    try:
        print("read", repr(prompts.read(begun, idle_s=float(idle))), flush=True)
        begun = ""
    except TimeoutError:
        print("idle", flush=True)
    except EOFError:
        break
"""
CTRL_D, UP = "\x04", "\x1b[A"


@asynccontextmanager
async def editor(place: Place, editing: str = "editing", begun: str = "", idle: str = "inf") -> AsyncIterator[Terminal]:
    """A program that reads prompts, in a terminal."""
    arguments = (str(place.state / "deep" / "history"), editing, begun, idle)
    async with Terminal(place, *arguments, command=[sys.executable, "-c", PROGRAM], cold=True) as terminal:
        yield terminal
        await terminal.waits()
        terminal.type(CTRL_D)
        assert await terminal.ends() == 0


async def test_what_was_typed_is_offered_again_also_by_the_next_program(place: Place) -> None:
    async with editor(place) as terminal:
        await terminal.sees("> ")
        terminal.type("one\x1b]11;rgb:0000/0000/0000\x1b\\ two\x1b[?1;2c\n")
        await terminal.sees("read 'one two'")  # without the answers of the terminal
        terminal.type("first\\\n")
        await terminal.sees("… ")
        terminal.type("more\n")
        await terminal.sees("read 'first\\nmore'")
    history = place.state / "deep" / "history"
    assert history.read_text().splitlines()[-3:] == ["one two", "first\\", "more"]
    assert (history.stat().st_mode & 0o777, history.parent.stat().st_mode & 0o777) == (0o600, 0o700)
    async with editor(place) as terminal:
        await terminal.sees("> ")
        terminal.type(UP)
        await terminal.sees("more")
        terminal.type("\n")
        await terminal.sees("read 'more'")


@pytest.mark.grid(1)
@pytest.mark.parametrize("editing", ["editing", "dumb"])
async def test_a_line_that_was_begun_is_continued(place: Place, editing: str) -> None:
    async with editor(place, editing, "half ") as terminal:
        await terminal.sees("> half " if editing == "editing" else "> ")
        terminal.type("and half\n")
        await terminal.sees("read 'half and half'")
        await terminal.sees("> ")
        terminal.type("next\n")
        await terminal.sees("read 'next'")
    assert (place.state / "deep" / "history").exists() is (editing == "editing")


@pytest.mark.stories
async def test_an_empty_line_is_idle_again_and_again_and_a_line_that_was_begun_is_left_alone(place: Place) -> None:
    async with editor(place, idle="0.3") as terminal:
        await terminal.sees("idle")
        await terminal.sees("idle")
        terminal.type("ha")
        await terminal.sees("ha")
        seen = len(terminal.screen)
        await asyncio.sleep(0.7)
        assert "idle" not in terminal.screen[seen:]
        terminal.type("lf\n")
        await terminal.sees("read 'half'")
        await terminal.sees("idle")
        terminal.type("one\\\n")
        await terminal.sees("… ")
        seen = len(terminal.screen)
        await asyncio.sleep(0.7)
        assert "idle" not in terminal.screen[seen:]  # in the middle of a prompt
        terminal.type("two\n")
        await terminal.sees("read 'one\\ntwo'")


async def test_a_history_that_cannot_be_read_or_written_does_not_matter(place: Place) -> None:
    history = place.state / "deep" / "history"
    history.mkdir(parents=True)
    async with editor(place) as terminal:
        await terminal.sees("> ")
        terminal.type("one\n")
        await terminal.sees("read 'one'")


# ── while background work runs ──────────────────────────────────────────────────────────────────────


class Listening:
    """A session with a command in the background, a queue, and a keyboard whose keys the test presses."""

    def __init__(self, session: Session, source: int, typing: int) -> None:
        self.session = session
        self.queue = TurnQueue()
        self.out = io.StringIO()
        self.printer = LinePrinter(self.out, colours=False)
        self.keyboard = Keyboard(source)
        self._typing = typing

    def press(self, keys: str) -> None:
        os.write(self._typing, keys.encode())

    async def next(self) -> "asyncio.Task[str | None]":
        """The next prompt is waited for."""
        task = asyncio.create_task(line_or_arrival(self.session, self.queue, self.keyboard, self.printer))
        await asyncio.sleep(0.01)
        assert not task.done()
        return task


@asynccontextmanager
async def listening(folder: Path, line: str = "sleep 300") -> AsyncIterator[Listening]:
    source, typing = os.pipe()
    async with sessions(folder, calls(command(line)) + says("Asked.")) as here, await here.open() as session:
        await played(session.run("begin"))
        yield Listening(session, source, typing)
    os.close(source)
    os.close(typing)


async def test_a_typed_line_comes_before_any_result_and_may_have_several_lines(tmp_path: Path) -> None:
    async with listening(tmp_path) as here:
        waits = await here.next()
        here.press("one\\\n")
        await asyncio.sleep(0.01)
        assert not waits.done()
        here.press("two\n")
        assert await waits == "one\ntwo"
        assert here.out.getvalue() == "> … "


async def test_further_lines_are_queued_and_a_line_that_is_not_whole_stays_with_the_terminal(tmp_path: Path) -> None:
    async with listening(tmp_path) as here:
        waits = await here.next()
        here.press("one\ntwo\nth")
        assert await waits == "one"
        assert here.queue.lines == ("two",)
        assert here.keyboard.take_begun() == "th"
        waits = await here.next()
        here.press("ree\\\nfour\nfive\n")
        assert await waits == "ree\nfour"
        assert list(here.queue.lines) == ["two", "five"]


async def test_a_result_that_arrives_within_a_prompt_of_several_lines_waits_for_its_end(tmp_path: Path) -> None:
    async with listening(tmp_path) as here:
        waits = await here.next()
        here.press("one\\\n")
        await asyncio.sleep(0.01)
        here.session.inbox.arrive(ArrivalKind.TASK_READY, "board", "t2 can be claimed now")
        await asyncio.sleep(0.01)
        assert not waits.done()
        here.press("two\n")
        assert await waits == "one\ntwo"


async def test_a_result_ends_the_wait_for_a_line(tmp_path: Path) -> None:
    async with listening(tmp_path) as here:
        waits = await here.next()
        here.session.inbox.arrive(ArrivalKind.TASK_READY, "board", "t2 can be claimed now")
        assert await waits is None
        assert here.out.getvalue() == "> \n"


async def test_a_result_that_arrives_just_before_the_wait_begins_ends_it_too(tmp_path: Path) -> None:
    async with listening(tmp_path) as here:
        waits = line_or_arrival(here.session, here.queue, here.keyboard, here.printer)
        here.session.inbox.arrive(ArrivalKind.TASK_READY, "board", "t2 can be claimed now")
        assert await asyncio.wait_for(waits, 60) is None


async def test_the_wait_ends_when_nothing_can_arrive_any_more(tmp_path: Path) -> None:
    async with listening(tmp_path) as here:
        waits = await here.next()
        here.session.inbox.changed()
        await asyncio.sleep(0.01)
        assert not waits.done()
        await here.session.background.stop("b1")
        here.session.inbox.deliver(here.session.inbox.waiting)
        assert await waits is None
        assert not here.session.background.listens


async def test_the_end_of_input_and_of_a_continued_line(tmp_path: Path) -> None:
    for keys, line in (("one\\\n", "one"), ("", None)):
        source, typing = os.pipe()
        folder = tmp_path / (line or "none")
        folder.mkdir()
        async with sessions(folder, calls(command("sleep 300")) + says("Asked.")) as here, await here.open() as session:
            await played(session.run("begin"))
            one = Listening(session, source, typing)
            waits = await one.next()
            one.press(keys)
            os.close(typing)
            if line is None:
                with pytest.raises(EOFError):
                    await waits
            else:
                assert await waits == line
        os.close(source)


@pytest.mark.parametrize(("number", "raised"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SignalExit)])
async def test_a_signal_ends_the_wait_as_what_it_is(
    tmp_path: Path, number: signal.Signals, raised: type[BaseException]
) -> None:
    async with listening(tmp_path) as here:

        async def waits() -> BaseException:
            asyncio.get_running_loop().call_later(0.05, os.kill, os.getpid(), number)
            try:
                await line_or_arrival(here.session, here.queue, here.keyboard, here.printer)
            except (KeyboardInterrupt, SignalExit) as error:
                return error
            raise AssertionError("it ended by itself")

        ended = await waits()
        assert isinstance(ended, raised)
        assert not isinstance(ended, SignalExit) or ended.exit_code == 128 + number


async def test_without_a_keyboard_results_are_waited_for_and_ctrl_c_ends_the_wait(tmp_path: Path) -> None:
    async with listening(tmp_path) as here:
        asyncio.get_running_loop().call_later(0.05, here.session.inbox.arrive, ArrivalKind.TASK_READY, "board", "t2")
        assert await arrival(here.session, here.printer) is True
        here.session.inbox.deliver(here.session.inbox.waiting)
        asyncio.get_running_loop().call_later(0.05, os.kill, os.getpid(), signal.SIGINT)
        with pytest.raises(SignalExit) as ended:
            await arrival(here.session, here.printer)
        assert ended.value.exit_code == 130
        await here.session.background.stop("b1")
        here.session.inbox.deliver(here.session.inbox.waiting)
        assert await arrival(here.session, here.printer) is False
