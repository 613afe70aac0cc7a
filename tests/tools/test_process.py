"""Real processes, good and bad, and the proof that none is left."""

import asyncio
import os
import signal
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

import psutil
import pytest

from harness.tools.process import MARK, Finished, Limits, end_left_over, run

pytestmark = pytest.mark.anyio

BASH = ("bash", "-c")
DOUBLE_FORK = "( setsid sh -c 'echo $$ > {pids}; exec sleep 60' >/dev/null 2>&1 & ) ; sleep 60"


def living(owner: str) -> list[psutil.Process]:
    """An independent look: every process that carries the owner in its environment and has not exited."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if owner in process.environ().get(MARK, "") and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


@pytest.fixture
def owner() -> str:
    return f"test-{uuid4().hex}"


async def bash(line: str, limits: Limits, owner: str, cwd: Path, heard: bytearray | None = None) -> Finished:
    sink = bytearray() if heard is None else heard
    return await run((*BASH, line), cwd=cwd, environment=os.environ, sink=sink.extend, limits=limits, owner=owner)


async def until(condition: Callable[[], bool]) -> None:
    """Wait for something that another process does."""
    async with asyncio.timeout(20):
        while not condition():  # noqa: ASYNC110  another process has no event for us
            await asyncio.sleep(0.01)


async def test_output_comes_in_the_order_of_writing(root: Path, limits: Limits, owner: str) -> None:
    heard = bytearray()
    finished = await bash("echo a; echo b >&2; echo c; exit 3", limits, owner, root, heard)
    assert (bytes(heard), finished) == (b"a\nb\nc\n", Finished(3))


async def test_stdin_is_empty_and_there_is_no_terminal(root: Path, limits: Limits, owner: str) -> None:
    heard = bytearray()
    finished = await bash("cat; (: </dev/tty) 2>/dev/null || echo none", limits, owner, root, heard)
    assert (bytes(heard), finished) == (b"none\n", Finished(0))


async def test_a_program_that_is_not_there_raises_and_leaks_no_descriptor(
    root: Path, limits: Limits, owner: str
) -> None:
    async def attempt() -> None:
        with pytest.raises(FileNotFoundError):
            await run(("/no/such",), cwd=root, environment={}, sink=bytearray().extend, limits=limits, owner=owner)

    await attempt()
    before = psutil.Process().num_fds()
    for _ in range(5):
        await attempt()
    assert psutil.Process().num_fds() <= before


async def test_no_descriptor_is_leaked_by_commands(root: Path, limits: Limits, owner: str) -> None:
    await bash("true", limits, owner, root)
    before = psutil.Process().num_fds()
    for _ in range(5):
        await bash("true", limits, owner, root)
    await until(lambda: psutil.Process().num_fds() <= before)


TREES = {
    "obedient": "echo up; sleep 60",
    "children": "sleep 60 & sleep 60 & echo up; wait",
    "ignores TERM": "trap '' TERM; echo up; while :; do sleep 0.05; done",
    "child ignores TERM": "(trap '' TERM; echo up; while :; do sleep 0.05; done) & wait",
    "left the group": "setsid sleep 60 & echo up; wait",
    "double fork and setsid": "( setsid sh -c 'echo up; exec sleep 60' & ) ; sleep 60",
    "orphan that ignores TERM": "( setsid sh -c \"trap '' TERM; echo up; while :; do sleep 0.05; done\" & ) ; sleep 60",
    "starts more on TERM": "trap 'setsid sleep 60 & exit' TERM; echo up; while :; do sleep 0.05; done",
    "stopped": "sleep 60 & kill -STOP $!; echo up; wait",
    "leader stopped": "echo up; kill -STOP $$; sleep 60",
}


@pytest.mark.parametrize("line", TREES.values(), ids=TREES.keys())
async def test_a_time_limit_ends_every_process(line: str, root: Path, limits: Limits, owner: str) -> None:
    finished = await bash(line, replace(limits, time_s=0.5), owner, root)
    assert finished.timed_out
    assert finished.left == ()
    assert living(owner) == []


@pytest.mark.parametrize("line", TREES.values(), ids=TREES.keys())
async def test_a_cancelled_command_leaves_no_process_when_the_cancellation_arrives(
    line: str, root: Path, limits: Limits, owner: str
) -> None:
    heard = bytearray()
    task = asyncio.create_task(bash(line, limits, owner, root, heard))
    await until(lambda: b"up" in heard)
    started = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert living(owner) == []
    assert time.monotonic() - started < limits.term_grace_s + limits.kill_grace_s + 1


async def test_cancelling_at_any_moment_leaves_no_process(root: Path, limits: Limits, owner: str) -> None:
    for ticks in range(12):
        task = asyncio.create_task(bash("sleep 60 & sleep 60", limits, owner, root))
        for _ in range(ticks):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert living(owner) == []


async def test_cancelling_again_while_it_ends_changes_nothing(root: Path, limits: Limits, owner: str) -> None:
    heard = bytearray()
    task = asyncio.create_task(bash(TREES["ignores TERM"], limits, owner, root, heard))
    await until(lambda: b"up" in heard)
    for _ in range(5):
        task.cancel()
        await asyncio.sleep(0.02)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert living(owner) == []


def test_the_end_of_the_event_loop_leaves_no_process(root: Path, limits: Limits, owner: str) -> None:
    async def program() -> None:
        heard = bytearray()
        lost = asyncio.create_task(bash(TREES["ignores TERM"], limits, owner, root, heard))
        await until(lambda: b"up" in heard)
        assert not lost.done()

    asyncio.run(program())
    assert living(owner) == []


async def test_a_background_child_that_holds_the_output_does_not_hang_a_finished_command(
    root: Path, limits: Limits, owner: str
) -> None:
    heard = bytearray()
    started = time.monotonic()
    finished = await bash("sleep 60 & echo done", limits, owner, root, heard)
    assert time.monotonic() - started < 10
    assert (finished.exit_code, [left.name for left in finished.left]) == (0, ["sleep"])
    assert heard == b"done\n"
    assert await end_left_over(owner, limits) == ()
    assert living(owner) == []


async def test_what_a_quick_background_child_still_writes_is_heard(root: Path, limits: Limits, owner: str) -> None:
    heard = bytearray()
    finished = await bash("(sleep 0.1; echo late) & echo early", replace(limits, pipe_grace_s=5), owner, root, heard)
    assert (bytes(heard), finished) == (b"early\nlate\n", Finished(0))


async def test_a_daemon_that_left_everything_is_ended_with_its_owner(root: Path, limits: Limits, owner: str) -> None:
    await bash("( setsid sleep 60 >/dev/null 2>&1 </dev/null & )", limits, owner, root)
    await until(lambda: [process.name() for process in living(owner)] == ["sleep"])
    assert await end_left_over(f"not-{owner}", limits) == ()
    assert len(living(owner)) == 1
    assert await end_left_over(owner, limits) == ()
    assert living(owner) == []


async def test_commands_side_by_side_do_not_end_each_other(root: Path, limits: Limits, owner: str) -> None:
    slow = asyncio.create_task(bash("sleep 0.8; exit 7", limits, owner, root))
    quick = await bash(TREES["double fork and setsid"], replace(limits, time_s=0.3), owner, root)
    assert quick.timed_out
    assert await slow == Finished(7)


async def test_a_signal_from_elsewhere_is_the_exit_code(root: Path, limits: Limits, owner: str) -> None:
    assert await bash("kill -9 $$", limits, owner, root) == Finished(-signal.SIGKILL)


async def test_a_flood_of_output_does_not_block_the_loop(root: Path, limits: Limits, owner: str) -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    counter = asyncio.create_task(tick())
    finished = await bash("yes", replace(limits, time_s=0.5), owner, root)
    counter.cancel()
    assert finished.timed_out
    assert ticks > 10


async def test_a_file_can_be_stdin(root: Path, limits: Limits, owner: str) -> None:
    (root / "in").write_bytes(b"hello")
    heard = bytearray()
    with (root / "in").open("rb") as stdin:
        await run(
            ("cat",), cwd=root, environment=os.environ, sink=heard.extend, limits=limits, owner=owner, stdin=stdin
        )
    assert heard == b"hello"
