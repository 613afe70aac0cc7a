"""Processes after the program is killed: nothing (issue 6, "also after a crash of ours")."""

import asyncio
import gc
import os
import random
import signal
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import psutil
import pytest

from harness.processes import Processes
from harness.processes.watcher import WatcherState
from tests.processes.test_children import TREES
from tests.processes.traces import Shell, Trace, until

pytestmark = pytest.mark.anyio

TERM_S = 3
BOUND_S = TERM_S + 20
"""TERM, KILL, and time for the watcher to wake up on a busy machine. What is ended would live for a minute."""


@asynccontextmanager
async def doomed(folder: Path, trace: Trace, *lines: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """A program that has started these command lines."""
    program = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.processes.doomed", str(folder), *lines),
        cwd=Path(__file__).parents[2],
        env=trace.environment,
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert program.stdout is not None
        async with asyncio.timeout(60):
            assert await program.stdout.readline()
        yield program
    finally:
        trace.kill()
        await program.wait()


def line_of(process: psutil.Process) -> str:
    """The command line; nothing once it has exited."""
    try:
        return " ".join(process.cmdline())
    except psutil.Error:
        return ""


def watchers(trace: Trace) -> list[psutil.Process]:
    return [process for process in trace.living() if "watcher.py" in line_of(process)]


def children_that_watch() -> set[psutil.Process]:
    """The watchers of this program."""
    return {child for child in psutil.Process().children() if "watcher.py" in line_of(child)}


@pytest.fixture
def watching() -> Callable[[], set[psutil.Process]]:
    """The watchers that were started since the test began: owners of other tests may not be collected yet."""
    before = children_that_watch()
    return lambda: children_that_watch() - before


def open_in(process: psutil.Process) -> Iterator[str]:
    """Its open files; files closed during the listing, such as a module being imported, are left out."""
    for entry in Path(f"/proc/{process.pid}/fd").iterdir():
        with suppress(FileNotFoundError):
            yield str(entry.readlink())


def of(trace: Trace, *lines: str) -> list[psutil.Process]:
    """The processes whose command line is one of these."""
    return [process for process in trace.living() if line_of(process) in lines]


# ── a program that is killed ────────────────────────────────────────────────────────────────────


async def test_a_program_that_is_killed_leaves_no_process(root: Path, trace: Trace) -> None:
    lines = [line for name, line in TREES.items() if name not in ("exits between two looks", "fork storm")]
    async with doomed(root, trace, *lines) as program:
        assert len(trace.living()) > len(lines)
        program.kill()
        assert await asyncio.to_thread(trace.left, BOUND_S) == []


@pytest.mark.parametrize("name", ["exits between two looks", "fork storm"])
async def test_nor_do_those_that_multiply_while_they_are_ended(name: str, root: Path, trace: Trace) -> None:
    async with doomed(root, trace, TREES[name]) as program:
        program.kill()
        assert await asyncio.to_thread(trace.left, BOUND_S) == []


async def test_what_an_exited_command_left_is_ended_even_without_its_environment(root: Path, trace: Trace) -> None:
    number = f"60.{random.randrange(10**9)}"  # how it is found: it has neither our trace nor a parent
    async with doomed(root, trace, f"left env -i sleep {number} & echo up") as program:
        (hidden,) = [process for process in psutil.process_iter() if line_of(process) == f"sleep {number}"]
        program.kill()
        await until(lambda: not hidden.is_running(), within_s=BOUND_S)


async def test_one_that_was_handed_over_lives_on(root: Path, trace: Trace) -> None:
    async with doomed(root, trace, "keep echo up; exec sleep 62", "echo up; exec sleep 63") as program:
        program.kill()
        await until(lambda: not of(trace, "sleep 63") and not watchers(trace), within_s=BOUND_S)
        assert len(of(trace, "sleep 62")) == 1


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only there the kernel reports the end of a process")
async def test_a_forked_copy_that_lives_on_does_not_hide_the_end(root: Path, trace: Trace) -> None:
    async with doomed(root, trace, "echo up; exec sleep 63", "fork") as program:
        program.kill()
        await until(lambda: not of(trace, "sleep 63", "sleep 60"), within_s=BOUND_S)


async def test_no_other_signal_diverts_it_and_it_waits_for_no_process_that_obeys(root: Path, trace: Trace) -> None:
    async with doomed(root, trace, "echo up; exec sleep 63") as program:
        (watcher,) = watchers(trace)
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
            watcher.send_signal(number)
        await asyncio.sleep(0.05)
        program.kill()
        assert await asyncio.to_thread(trace.left, TERM_S) == []


# ── its own life ────────────────────────────────────────────────────────────────────────────────


async def test_there_is_none_before_the_first_command_and_none_after_the_end(
    shell: Shell, watching: Callable[[], set[psutil.Process]]
) -> None:
    assert watching() == set()
    await shell.run("true")
    (watcher,) = watching()
    assert os.getsid(watcher.pid) == watcher.pid
    assert await shell.processes.aclose() == ()
    assert not watcher.is_running()


async def test_it_is_small_and_inherits_nothing(shell: Shell, watching: Callable[[], set[psutil.Process]]) -> None:
    reading, writing = os.pipe()
    os.set_inheritable(writing, True)  # noqa: FBT003  it has no other way to say it
    await shell.run("true")
    (watcher,) = watching()
    await until(lambda: watcher.memory_info().rss > 5_000_000)
    assert watcher.memory_info().rss < 16_000_000
    if sys.platform.startswith("linux"):
        open_files = set(open_in(watcher))
        assert f"pipe:[{os.fstat(writing).st_ino}]" not in open_files
    os.close(reading)
    os.close(writing)


async def test_commands_inherit_no_end_of_the_line_to_it(shell: Shell) -> None:
    heard = bytearray()
    await shell.run("ls /proc/self/fd | wc -l; ls -l /proc/self/fd | grep -c pipe", heard)
    descriptors, pipes = map(int, heard.split())
    assert descriptors <= 5
    assert pipes <= 3  # stdout and stderr, and that of ls


async def test_one_that_was_killed_is_started_again_with_the_next_command(
    shell: Shell, watching: Callable[[], set[psutil.Process]], tmp_path: Path
) -> None:
    first = await shell.processes.start(
        ("sleep", "60"), cwd=shell.root, environment=shell.trace.environment, output=tmp_path / "out"
    )
    (killed,) = watching()
    killed.kill()
    await until(lambda: not killed.is_running())  # until then its end of the line may still be open
    await shell.run("true")
    (another,) = watching()
    assert another != killed
    assert (await first.end()).exit_code == -signal.SIGTERM


async def test_the_group_of_an_unknown_owner_is_removed(
    root: Path, watching: Callable[[], set[psutil.Process]]
) -> None:
    gc.collect()  # what earlier tests have left open is closed now, and not below
    before = psutil.Process().num_fds()
    processes = Processes()
    await processes.run(("true",), cwd=root, environment=os.environ, sink=bytearray().extend)
    assert len(watching()) == 1
    del processes
    gc.collect()
    await until(lambda: not watching() and psutil.Process().num_fds() == before)


async def test_a_forked_copy_of_the_program_starts_nothing_and_ends_nothing(shell: Shell, tmp_path: Path) -> None:
    child = await shell.processes.start(
        ("sleep", "60"), cwd=shell.root, environment=shell.trace.environment, output=tmp_path / "out"
    )
    copy = os.fork()
    if copy == 0:
        closing = shell.processes._close()
        try:
            closing.send(None)
        except StopIteration as done:
            os._exit(0 if done.value == () else 1)
        os._exit(2)
    _, status = await asyncio.to_thread(os.waitpid, copy, 0)
    assert os.waitstatus_to_exitcode(status) == 0
    assert shell.processes.children == (child,)
    assert psutil.pid_exists(child.pid)


# ── its input ─────────────────────────────────────────────────────────────────────────────


def test_the_last_that_was_said_of_a_command_holds() -> None:
    state = WatcherState()
    for line in ("left a.1 0", "leads a.1 10 5.25", "leads a.2 11 6", "leads a.3 12 7", "left a.4 9 10 5 11 6"):
        state.take(line)
    state.take("gone a.2")
    state.take("free a.3")
    state.take("gone a.9")
    assert state.free == {"a.3"}
    assert {mark: (command.session, command.leads) for mark, command in state.known.items()} == {
        "a.1": (10, True),
        "a.4": (9, False),
    }
    assert state.known["a.4"].members == [(10, 5.0), (11, 6.0)]
