"""Real processes, good and bad, and the proof that none is left."""

import asyncio
import os
import time
from pathlib import Path

import psutil
import pytest

from harness.processes import Processes, ProcessLimits, ProcessResult
from tests.processes.traces import Shell, Trace, until

pytestmark = pytest.mark.anyio


async def test_output_comes_in_the_order_of_writing(shell: Shell, trace: Trace) -> None:
    heard = bytearray()
    finished = await shell.run("echo a; echo b >&2; echo c; exit 3", heard)
    assert (bytes(heard), finished) == (b"a\nb\nc\n", ProcessResult(3))


async def test_stderr_can_be_read_alone(root: Path, processes: Processes) -> None:
    heard, errors = bytearray(), bytearray()
    line = "cat; echo b >&2; head -c 300000 /dev/zero >&2; echo c"
    with (root / "question").open("w+b") as question:
        question.write(b"a\n")
        question.seek(0)
        finished = await processes.run(
            ("bash", "-c", line),
            cwd=root,
            environment=dict(os.environ),
            sink=heard.extend,
            stdin=question,
            errors=errors.extend,
        )
    assert (bytes(heard), len(errors), finished) == (b"a\nc\n", 300_002, ProcessResult(0))


async def test_a_program_that_is_not_there_leaks_neither_of_two_pipes(root: Path, processes: Processes) -> None:
    async def attempt() -> None:
        with pytest.raises(FileNotFoundError):
            await processes.run(
                ("/no/such",), cwd=root, environment={}, sink=bytearray().extend, errors=bytearray().extend
            )

    await attempt()
    before = psutil.Process().num_fds()
    for _ in range(5):
        await attempt()
    await until(lambda: psutil.Process().num_fds() <= before)


async def test_stdin_is_empty_and_there_is_no_terminal(shell: Shell, trace: Trace) -> None:
    heard = bytearray()
    finished = await shell.run("cat; (: </dev/tty) 2>/dev/null || echo none", heard)
    assert (bytes(heard), finished) == (b"none\n", ProcessResult(0))


async def test_no_descriptor_is_leaked_by_commands(shell: Shell, trace: Trace) -> None:
    await shell.run("true")
    before = psutil.Process().num_fds()
    for _ in range(5):
        await shell.run("true")
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


async def test_a_time_limit_ends_every_process(shell: Shell, trace: Trace) -> None:
    ended = dict(
        zip(TREES, await asyncio.gather(*(shell.run(line, time_s=0.5) for line in TREES.values())), strict=True)
    )
    assert {name: one for name, one in ended.items() if not one.timed_out or one.left} == {}
    assert trace.living() == []


@pytest.mark.parametrize("line", TREES.values(), ids=TREES.keys())
async def test_a_cancelled_command_leaves_no_process_when_the_cancellation_arrives(
    line: str, shell: Shell, limits: ProcessLimits, trace: Trace
) -> None:
    heard = bytearray()
    task = asyncio.create_task(shell.run(line, heard))
    await until(lambda: b"up" in heard)
    started = time.monotonic()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert trace.living() == []
    assert time.monotonic() - started < limits.term_grace_s + limits.kill_grace_s + 20


async def test_cancelling_at_any_moment_leaves_no_process(shell: Shell, trace: Trace) -> None:
    for ticks in range(12):
        task = asyncio.create_task(shell.run("sleep 60 & sleep 60"))
        for _ in range(ticks):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert trace.living() == []


async def test_cancelling_again_while_it_ends_changes_nothing(shell: Shell, trace: Trace) -> None:
    heard = bytearray()
    task = asyncio.create_task(shell.run(TREES["ignores TERM"], heard))
    await until(lambda: b"up" in heard)
    for _ in range(5):
        task.cancel()
        await asyncio.sleep(0.02)
    with pytest.raises(asyncio.CancelledError):
        await task
    assert trace.living() == []


def test_the_end_of_the_event_loop_leaves_no_process(root: Path, limits: ProcessLimits, trace: Trace) -> None:
    shell = Shell(Processes(limits), trace, root, limits)

    async def program() -> None:
        heard = bytearray()
        lost = asyncio.create_task(shell.run(TREES["ignores TERM"], heard))
        await until(lambda: b"up" in heard)
        assert not lost.done()

    asyncio.run(program())
    assert trace.living() == []


async def test_a_background_child_that_holds_the_output_does_not_hang_a_finished_command(
    shell: Shell, trace: Trace
) -> None:
    heard = bytearray()
    started = time.monotonic()
    finished = await shell.run("sleep 60 & echo done", heard)
    assert time.monotonic() - started < 30
    assert (finished.exit_code, [left.name for left in finished.left]) == (0, ["sleep"])
    assert heard == b"done\n"
    assert await shell.processes.aclose() == ()
    assert trace.living() == []


async def test_a_command_whose_output_is_closed_is_not_waited_for(shell: Shell) -> None:
    async with asyncio.timeout(60):
        assert await shell.run("echo done", pipe_grace_s=600) == ProcessResult(0)


async def test_what_a_quick_background_child_still_writes_is_read(shell: Shell, trace: Trace) -> None:
    heard = bytearray()
    finished = await shell.run("(sleep 0.1; echo late) & echo early", heard, pipe_grace_s=5)
    assert (bytes(heard), finished) == (b"early\nlate\n", ProcessResult(0))


async def test_a_daemon_that_left_everything_is_ended_with_its_owner(shell: Shell, trace: Trace) -> None:
    await shell.run("( setsid sleep 60 >/dev/null 2>&1 </dev/null & )")
    await until(lambda: [process.name() for process in trace.living()] == ["sleep"])
    assert await Processes().aclose() == ()
    assert len(trace.living()) == 1
    assert await shell.processes.aclose() == ()
    assert trace.living() == []


async def test_commands_side_by_side_do_not_end_each_other(shell: Shell, trace: Trace) -> None:
    slow = asyncio.create_task(shell.run("sleep 0.8; exit 7"))
    quick = await shell.run(TREES["double fork and setsid"], time_s=0.3)
    assert quick.timed_out
    assert await slow == ProcessResult(7)


async def test_a_flood_of_output_does_not_block_the_loop(shell: Shell, trace: Trace) -> None:
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            await asyncio.sleep(0.01)
            ticks += 1

    counter = asyncio.create_task(tick())
    finished = await shell.run("yes", time_s=0.5)
    counter.cancel()
    assert finished.timed_out
    assert ticks > 10
