"""A program that ends while agents and commands work for it, in each way it can: nothing of them is left.

Then the session is resumed twice: their ends are delivered once.
"""

import os
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Event
from uuid import uuid4

import psutil
import pytest

from harness.events import AgentCreated, AgentEnded, Arrived, CommandEnd, CommandEnded, Delivered, MessageAdded, Origin
from harness.journal import read
from harness.processes.watcher_link import PROGRAM
from tests.processes.traces import NAME, Trace
from tests.ui.processes import alive
from tests.ui.program import Place, run
from tests.ui.warm import Fork, begin

pytestmark = pytest.mark.anyio

BOUND_S = 3 + 1 + 1
"""TERM, KILL, and a second to look for processes that are left."""
SCRIPT = """
[[reply]]
tools = [
    { name = "bash", input = { command = "echo up >> LOG; sleep 300", background = true } },
    { name = "bash", input = { command = "STUBBORN", background = true } },
    { name = "bash", input = { command = "HIDDEN", background = true } },
    { name = "agent", times = 2, input = { description = "part {n}", prompt = "Do it.", background = true } },
]
when = { offers = "agent" }

[[reply]]
tools = [ { name = "bash", input = { command = "echo up >> LOG; : < GATE" } } ]
when = { offers = "agent" }

[[reply]]
text = "All of it has begun."
when = { offers = "agent" }

[[reply]]
tools = [ { name = "bash", input = { command = "STUBBORN" } } ]
when = { lacks = "agent" }
times = 2
"""
HIDDEN = "( setsid sh -c 'echo up >> LOG; exec sleep 300' & ) ; sleep 300"
STUBBORN = "trap '' TERM; echo up >> LOG; while :; do sleep 0.1; done"
UP = 6
"""Commands that say so: three in the background, one of each agent, one that the turn waits for."""


class Busy:
    """A program at whose expense all this works."""

    watcher: int
    """Process id of the watcher that ends the others after a kill of the program; set once it runs."""

    def __init__(self, folder: Path, arguments: tuple[str, ...], typed: str) -> None:
        self.trace = Trace(uuid4().hex)
        self.place = Place(folder / "work")
        self.place.folder.mkdir()
        self._log, self._gate = folder / "log", folder / "gate"
        os.mkfifo(self._gate)
        script = folder / "script.toml"
        text = SCRIPT.replace("STUBBORN", STUBBORN).replace("HIDDEN", HIDDEN)
        script.write_text(text.replace("LOG", str(self._log)).replace("GATE", str(self._gate)))
        flags = ("--practice", str(script), "--yolo", *arguments)
        (folder / "typed").write_text(typed)
        with (folder / "typed").open("rb") as typing, (folder / "out").open("wb") as out:
            given = (typing.fileno(), out.fileno(), out.fileno())
            environment = self.place.environment | {NAME: self.trace.value}
            self.program: Fork = begin(self.place.folder, flags, environment, given)

    def up(self) -> None:
        """Wait until everything works, and find the watcher that acts when the program is killed."""
        until, pause = time.monotonic() + 60, Event()
        while not self._log.exists() or self._log.read_text().count("up") < UP:
            assert time.monotonic() < until, self._log.read_text() if self._log.exists() else "nothing is up"
            assert self.program.poll() is None
            pause.wait(0.02)
        (self.watcher,) = (
            child.pid for child in psutil.Process(self.program.pid).children() if str(PROGRAM) in child.cmdline()
        )

    def let_turn_end(self) -> None:
        """The command that the turn waits for ends."""
        os.close(os.open(self._gate, os.O_WRONLY))

    @property
    def events(self) -> list[object]:
        """The events of its journal."""
        (path,) = self.place.state.glob("sessions/*/*.jsonl")
        return [record.event for record in read(path).records]


@contextmanager
def busy(folder: Path, *arguments: str, typed: str = "") -> Iterator[Busy]:
    """A program running with all its agents and commands."""
    here = Busy(folder, arguments, typed)
    try:
        here.up()
        yield here
    finally:
        here.program.kill()
        for process in here.trace.left(within_s=30):
            process.kill()


def count(events: list[object], kind: type[object]) -> int:
    return sum(isinstance(event, kind) for event in events)


async def check_delivered(here: Busy, command_end: CommandEnd) -> None:
    """Everything has one end, and it is delivered to the model once, however often the session is resumed."""
    goes_on = here.place.folder.parent / "goes-on.toml"
    goes_on.write_text('[[reply]]\ntext = "I see."\ntimes = 9\n')
    for _ in range(2):
        ended = await run(here.place, "-c", "--practice", str(goes_on), "-p", "What became of it?")
        assert (ended.code, ended.out) == (0, "I see.\n")
    events = here.events
    assert count(events, AgentCreated) == count(events, AgentEnded) == 2
    ends = {event.command: event.end for event in events if isinstance(event, CommandEnded)}
    assert ends == dict.fromkeys(("b1", "b2", "b3"), command_end)
    assert count(events, CommandEnded) == 3
    arrived = [event for event in events if isinstance(event, Arrived)]
    assert Counter(event.source for event in arrived) == Counter(("a1", "a2", "b1", "b2", "b3"))
    delivered = [number for event in events if isinstance(event, Delivered) for number in event.numbers]
    assert sorted(delivered) == sorted(event.number for event in arrived)
    (message,) = [
        event.message for event in events if isinstance(event, MessageAdded) and event.origin is Origin.ARRIVAL
    ]
    assert all(f'from="{source}"' in message.text for source in ("a1", "a2", "b1", "b2", "b3"))


def check_gone(here: Busy, code: int) -> None:
    """Check that it ends with this code and leaves no process; called when it begins to end.

    Seconds do not count while the process that ends the others had no processor.
    """
    ending = here.program.pid if code >= 0 else here.watcher
    began, kept, pause = time.monotonic(), [kept_waiting_s(ending)], Event()
    spent_s = 0.0
    while spent_s < BOUND_S and alive(ending):
        pause.wait(0.02)
        kept.append(kept_waiting_s(ending))
        spent_s = time.monotonic() - began - (max(kept) - kept[0])
    assert spent_s < BOUND_S
    assert here.program.wait() == code
    assert here.trace.living() == []


def kept_waiting_s(process: int) -> float:
    """Seconds that the main thread of a process waited for a processor; 0: it has ended."""
    try:
        _, nanoseconds, _ = Path(f"/proc/{process}/schedstat").read_text().split()
    except (FileNotFoundError, ProcessLookupError):
        return 0.0
    return int(nanoseconds) / 1e9


@pytest.mark.stories
async def test_one_that_is_killed(tmp_path: Path) -> None:
    with busy(tmp_path, "-p", "Go.") as here:
        here.program.kill()
        check_gone(here, -signal.SIGKILL)
        await check_delivered(here, CommandEnd.LOST)


async def test_one_that_is_asked_to_end(tmp_path: Path) -> None:
    with busy(tmp_path, "-p", "Go.") as here:
        here.program.send(signal.SIGTERM)
        check_gone(here, 128 + signal.SIGTERM)
        await check_delivered(here, CommandEnd.SHUT_DOWN)


@pytest.mark.stories
async def test_one_that_is_closed(tmp_path: Path) -> None:
    with busy(tmp_path, "--plain", typed="Go.\n/exit\n") as here:
        here.let_turn_end()
        check_gone(here, 0)
        await check_delivered(here, CommandEnd.SHUT_DOWN)
