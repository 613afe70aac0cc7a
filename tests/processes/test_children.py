"""Background commands: real processes, well-behaved or not, and none left over."""

import asyncio
import random
import stat
import time
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from harness.processes import ExitCounts, Processes, ProcessLimits, ProcessResult
from harness.processes.command import ChildProcess
from tests.processes.traces import Shell, Trace, until
from tests.whole import WHOLE

pytestmark = pytest.mark.anyio

STUBBORN = "trap '' TERM; echo up; while :; do sleep 0.05; done"
ANSWERING = "trap 'echo asked' TERM; echo up; while :; do sleep 0.05; done"
TREES = {
    "obedient": "echo up; sleep 60",
    "ignores TERM": STUBBORN,
    "grandchild holds the output": "(sleep 60 &) ; echo up; sleep 60",
    "double fork and setsid": "( setsid sh -c 'echo up; exec sleep 60' & ) ; sleep 60",
    "orphan that ignores TERM": f'( setsid sh -c "{STUBBORN}" & ) ; sleep 60',
    "clears its environment": "env -i sh -c 'sleep 60 & sleep 60' & sleep 0.1; echo up; wait",
    "leader gone, environment cleared": "env -i sleep 60 & sleep 0.1; echo up; kill -9 $$",
    "exits on TERM and leaves another": "trap 'sleep 60 & exit' TERM; echo up; while :; do sleep 0.05; done",
    "exits between two looks": "( while :; do sh -c : ; done ) & echo up; sleep 60",
    "stopped": "echo up; kill -STOP $$; sleep 60",
    "fork storm": "storm() { while :; do sleep 60 & sleep 0.002; done; }; storm & storm & echo up; wait",
}


class Background:
    """Starts command lines whose output is in a file."""

    def __init__(self, shell: Shell, folder: Path) -> None:
        self.shell = shell
        self.folder = folder
        self.started = 0

    async def start(self, line: str) -> ChildProcess:
        self.started += 1
        return await self.shell.processes.start(
            ("bash", "-c", line),
            cwd=self.shell.root,
            environment=self.shell.trace.environment,
            output=self.folder / f"b{self.started}.txt",
        )

    async def up(self, line: str) -> ChildProcess:
        """Start a line that says so when it is up."""
        child = await self.start(line)
        await until(lambda: b"up" in child.output.read_bytes())
        return child


@pytest.fixture
def background(shell: Shell, tmp_path: Path) -> Background:
    return Background(shell, tmp_path / "outputs")


def zombies() -> list[psutil.Process]:
    return [child for child in psutil.Process().children() if child.status() == psutil.STATUS_ZOMBIE]


# ── a child that ends by itself ─────────────────────────────────────────────────────────────────


async def test_everything_it_writes_is_in_a_file_that_only_its_owner_can_read(background: Background) -> None:
    child = await background.start("echo one; echo two >&2; exit 4")
    assert await child.wait() == ProcessResult(4)
    assert child.output.read_text() == "one\ntwo\n"
    assert stat.S_IMODE(child.output.stat().st_mode) == 0o600


async def test_it_has_no_input_and_a_session_of_its_own(background: Background) -> None:
    child = await background.start("cat; ps -o sid= -p $$")
    await child.wait()
    assert int(child.output.read_text()) == child.pid


async def test_any_number_may_wait_and_one_who_gives_up_does_not_matter(background: Background) -> None:
    child = await background.up("echo up; sleep 0.2; exit 3")
    waiters = [asyncio.create_task(child.wait()) for _ in range(20)]
    await asyncio.sleep(0)
    waiters[0].cancel()
    assert set(await asyncio.gather(*waiters[1:])) == {ProcessResult(3)}
    assert await child.wait() == ProcessResult(3)


async def test_its_exit_counts_and_not_who_holds_the_output_open(background: Background) -> None:
    began = time.monotonic()
    child = await background.start("sleep 60 & ( setsid sleep 61 & ) ; echo done")
    finished = await child.wait()
    assert time.monotonic() - began < 30
    assert (finished.exit_code, len(finished.left)) == (0, 2)  # the shell may end before they are called sleep
    assert background.shell.processes.children == ()
    assert (await child.end()).left == ()
    assert background.shell.trace.living() == []


async def test_what_is_running_is_listed(background: Background) -> None:
    first, second = await background.up("echo up; sleep 60"), await background.start("true")
    await second.wait()
    assert background.shell.processes.children == (first,)
    assert abs(first.began - time.time()) < 60


async def test_a_program_that_is_not_there_raises_and_counts_as_nothing(processes: Processes, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        await processes.start(("/no/such",), cwd=tmp_path, environment={}, output=tmp_path / "out")
    assert processes.counts == ExitCounts()


# ── a child that is ended ───────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("line", TREES.values(), ids=TREES.keys())
async def test_ending_leaves_no_process(line: str, background: Background, limits: ProcessLimits) -> None:
    child = await background.up(line)
    began = time.monotonic()
    finished = await child.end()
    assert time.monotonic() - began < limits.term_grace_s + limits.kill_grace_s + 20
    assert finished.left == ()
    assert background.shell.trace.living() == []
    assert zombies() == []


async def test_what_it_took_is_counted(background: Background) -> None:
    processes = background.shell.processes
    await (await background.up("echo up; sleep 60")).end()
    await (await background.up(STUBBORN)).end()
    await (await background.start("exit 3")).wait()
    await background.shell.run("true")
    kept = await background.up("echo up; exec sleep 60")
    kept.hand_over()
    psutil.Process(kept.pid).kill()
    counts = processes.counts
    assert replace(counts, slowest_end_s=0) == ExitCounts(
        started=5, exited=2, terminated=1, killed=1, survived=0, handed_over=1
    )
    assert 0.3 <= counts.slowest_end_s < 3


async def test_a_second_call_waits_for_the_first(background: Background) -> None:
    child = await background.up(STUBBORN)
    ends = await asyncio.gather(*(child.end() for _ in range(5)))
    assert ends == [ProcessResult(-9, forced=True)] * 5
    assert background.shell.processes.counts.killed == 1


async def test_cancelling_the_end_does_not_stop_it(background: Background) -> None:
    child = await background.up(ANSWERING)
    ending = asyncio.create_task(child.end())
    await until(lambda: b"asked" in child.output.read_bytes())
    ending.cancel()
    with pytest.raises(asyncio.CancelledError):
        await ending
    assert await child.wait() == ProcessResult(-9, forced=True)
    assert background.shell.trace.living() == []


async def test_one_that_exits_while_it_is_ended_settles_once(background: Background) -> None:
    for _ in range(6):
        child = await background.start("sleep 0.03")
        await asyncio.sleep(random.Random(child.pid).uniform(0.0, 0.08))
        await asyncio.gather(child.end(), child.wait())
    counts = background.shell.processes.counts
    assert counts.exited + counts.terminated == counts.started == 6


# ── a child that is handed over ─────────────────────────────────────────────────────────────────


async def test_one_that_was_handed_over_outlives_its_owner(background: Background) -> None:
    child = await background.up("( setsid sh -c 'echo up; exec sleep 60' & ) ; sleep 60")
    before = await _with_sleeps(background.shell.trace, 2)
    child.hand_over()
    assert background.shell.processes.children == ()
    assert await background.shell.processes.aclose() == ()
    assert sorted(background.shell.trace.living(), key=_pid) == sorted(before, key=_pid)
    with pytest.raises(RuntimeError):
        await child.end()
    background.shell.trace.kill()
    assert (await child.wait()).exit_code == -9
    assert background.shell.trace.left(within_s=20) == []


async def test_handing_over_one_that_ends_changes_nothing(background: Background) -> None:
    child = await background.up(STUBBORN)
    ending = asyncio.create_task(child.end())
    await asyncio.sleep(0)
    child.hand_over()
    assert await ending == ProcessResult(-9, forced=True)
    child.hand_over()
    assert background.shell.processes.counts.handed_over == 0


# ── the end of all ──────────────────────────────────────────────────────────────────────────────


async def test_closing_ends_thirty_at_once(background: Background, limits: ProcessLimits) -> None:
    processes = background.shell.processes
    kinds = ["echo up; sleep 60", TREES["double fork and setsid"], STUBBORN]
    children = [await background.start(kinds[number % 3]) for number in range(30)]
    foreground = asyncio.create_task(background.shell.run("sleep 60"))
    await until(lambda: all(b"up" in child.output.read_bytes() for child in children))
    await until(lambda: processes.counts.started == 31)
    began = time.monotonic()
    assert await processes.aclose() == ()
    assert time.monotonic() - began < limits.term_grace_s + 20
    assert background.shell.trace.living() == []
    assert zombies() == []
    assert [(await child.wait()).exit_code for child in children] == [-15, -15, -9] * 10
    assert (await foreground).exit_code == -15
    counts = processes.counts
    assert (counts.terminated, counts.killed, counts.started) == (21, 10, 31)


async def test_closing_again_waits_for_the_first_and_nothing_starts_any_more(background: Background) -> None:
    await background.up("echo up; sleep 60")
    processes = background.shell.processes
    assert tuple(await asyncio.gather(processes.aclose(), processes.aclose())) == ((), ())
    with pytest.raises(OSError, match="is ending"):
        await background.start("true")
    with pytest.raises(OSError, match="is ending"):
        await background.shell.run("true")


async def test_closing_waits_for_a_child_that_is_being_ended_and_does_not_signal_it_again(
    background: Background,
) -> None:
    child = await background.up(ANSWERING)
    ending = asyncio.create_task(child.end())
    await until(lambda: b"asked" in child.output.read_bytes())
    assert await background.shell.processes.aclose() == ()
    assert await ending == ProcessResult(-9, forced=True)
    assert child.output.read_text().count("asked") == 1


async def test_interrupted_once_it_continues_and_interrupted_twice_it_kills_at_once(
    root: Path, trace: Trace, tmp_path: Path
) -> None:
    patient = ProcessLimits(term_grace_s=30)
    background = Background(Shell(Processes(patient), trace, root, patient), tmp_path / "outputs")
    child = await background.up(ANSWERING)
    began = time.monotonic()
    closing = asyncio.create_task(background.shell.processes.aclose())
    await until(lambda: b"asked" in child.output.read_bytes())
    closing.cancel()
    await asyncio.sleep(0.2)
    assert len(trace.living()) >= 1
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    assert time.monotonic() - began < 20
    assert trace.living() == []


async def test_closing_one_that_started_nothing_looks_at_nothing(processes: Processes) -> None:
    began = time.thread_time()
    assert await processes.aclose() == ()
    assert time.thread_time() - began < 0.005


async def test_a_command_of_a_program_within_the_program_ends_with_the_outer_one(
    background: Background, trace: Trace, root: Path, limits: ProcessLimits
) -> None:
    outer, inner = background.shell.processes, Processes(limits)
    await background.shell.run("true")
    environment = outer.marked(trace.environment)
    child = await inner.start(("sleep", "60"), cwd=root, environment=environment, output=root / "out")
    assert await outer.aclose() == ()
    assert await child.wait() == ProcessResult(-15)
    assert await inner.aclose() == ()


# ── all of it, at random ────────────────────────────────────────────────────────────────────────


async def end_unless_handed_over(child: ChildProcess) -> ProcessResult | None:
    try:
        return await child.end()
    except RuntimeError:
        return None


SHORT = ("true", "exit 3", "sleep 0.05", "sleep 0.02 & true")
LONG = ("sleep 60", "sleep 60 & sleep 60", "( setsid sleep 60 & ) ; sleep 60", "exec sleep 60")


@pytest.mark.parametrize("seed", range(3 if WHOLE else 1))
async def test_operations_at_random_end_with_an_empty_process_table(
    seed: int, background: Background, trace: Trace
) -> None:
    dice, processes = random.Random(seed), background.shell.processes
    await background.shell.run("true")
    tasks_before, descriptors_before = len(asyncio.all_tasks()), psutil.Process().num_fds()
    handed: list[ChildProcess] = []
    pending: set[asyncio.Task[ProcessResult] | asyncio.Task[ProcessResult | None]] = set()
    for _ in range(300 if WHOLE else 80):
        children = processes.children
        match dice.choice(("start", "start", "run", "end", "end", "cancel", "hand over", "wait")):
            case "start" if len(children) < 12:
                await background.start(dice.choice(SHORT + LONG))
            case "run":
                pending.add(asyncio.create_task(background.shell.run(dice.choice(SHORT))))
            case "end" if children:
                pending.add(asyncio.create_task(end_unless_handed_over(dice.choice(children))))
            case "cancel" if pending:
                dice.choice(sorted(pending, key=id)).cancel()
            case "hand over" if children and len(handed) < 5:
                handed.append(dice.choice(children))
                handed[-1].hand_over()
            case _:
                await asyncio.sleep(dice.uniform(0, 0.01))
        pending = {task for task in pending if not task.done()}
    await asyncio.gather(*pending, return_exceptions=True)
    assert await processes.aclose() == ()
    counts = processes.counts
    assert counts.started == counts.exited + counts.terminated + counts.killed + counts.handed_over
    assert counts.handed_over or trace.living() == []
    trace.kill()
    assert trace.left(within_s=20) == []
    await until(lambda: len(asyncio.all_tasks()) <= tasks_before)
    await until(lambda: psutil.Process().num_fds() <= descriptors_before - 1)  # that of the watcher is gone as well
    await until(lambda: zombies() == [])


async def _with_sleeps(trace: Trace, count: int) -> list[psutil.Process]:
    """The processes, once so many of them have become a sleep: a shell forks first."""
    found: list[psutil.Process] = []

    def all_there() -> bool:
        found[:] = trace.living()
        with suppress(psutil.NoSuchProcess):
            return [process.name() for process in found].count("sleep") == count
        return False

    await until(all_there)
    return found


def _pid(process: psutil.Process) -> int:
    return process.pid
