"""Commands that a call waits for and that continue in the background: the same process, all of its output, one end."""

import asyncio
import os
from pathlib import Path

import pytest

from harness.engine.background.commands import CommandLimits, NotHandedOver
from harness.events import CommandEnd, FailureCategory, MovedToBackground, MoveReason, ToolOutcome
from harness.sandbox import ProfileName, SandboxLevel
from harness.sandbox.sandbox import Sandbox
from harness.tools.background_commands import CommandState, hangs
from harness.tools.tool import ToolResult
from tests.engine.background.stage import Stage, close, lives, stage

pytestmark = pytest.mark.anyio

NUMBERS = "for n in $(seq 40); do echo line $n; sleep 0.01; done; read -r go < ../go; echo the end; exit 3"


async def begun(here: Stage, line: str, timeout: float | None = None) -> asyncio.Task[ToolResult]:
    """A call of bash that waits for its command."""
    started = here.processes.counts.started
    call = asyncio.create_task(here.call("bash", command=line, timeout=timeout))
    await here.until(lambda: here.processes.counts.started > started or call.done())
    return call


async def test_a_moved_command_keeps_its_process_and_all_its_output(here: Stage) -> None:
    os.mkfifo(here.folder / "go")
    call = await begun(here, f"echo $$; {NUMBERS}")
    await asyncio.sleep(0.1)
    assert here.commands.foreground.move() == ("b1",)
    result = await call
    (row,) = here.commands.rows
    assert (result.outcome, row.state, here.told) == (ToolOutcome.OK, CommandState.RUNS, [])
    for named in ("[The user moved this command to the background.", "b1", str(row.output), "you are notified when it"):
        assert named in result.content
    assert here.of(MovedToBackground)[0].reason is MoveReason.ASKED
    assert not here.commands.foreground.movable
    await here.say("go")
    await here.over("b1")
    written = row.output.read_text().splitlines()
    assert written == [str(row.pid), *(f"line {n}" for n in range(1, 41)), "the end"]
    assert (here.end.end, here.end.exit_code) == (CommandEnd.EXITED, 3)
    assert len(here.told) == 1
    assert here.told[0].startswith("b1 ended with exit code 3")


async def test_what_was_written_before_and_after_a_long_output_is_all_there(here: Stage) -> None:
    call = await begun(here, "seq 60000; echo written >&2; sleep 0.3; seq 60000; exec sleep 60")
    await here.until(lambda: len(list((here.folder / "outputs").glob("*"))) == 1)
    here.commands.foreground.move()
    await call
    output = here.commands.rows[0].output
    await here.until(lambda: output.read_text().count("60000\n") == 2)
    assert output.read_text() == "\n".join([*map(str, range(1, 60001)), "written", *map(str, range(1, 60001))]) + "\n"
    assert (await here.commands.stop("b1")).end is CommandEnd.STOPPED


async def test_a_moved_command_is_stopped_with_its_children_and_cannot_be_handed_over(here: Stage) -> None:
    call = await begun(here, "sleep 61 & echo $!; wait")
    await here.until(lambda: here.processes.counts.started == 1)
    here.commands.foreground.move()
    await call
    output = here.commands.rows[0].output
    await here.until(output.read_text)
    with pytest.raises(NotHandedOver, match="its output goes through this program"):
        here.commands.hand_over("b1")
    await here.commands.stop("b1")
    assert not lives(int(output.read_text()))


@pytest.mark.skipif(Sandbox().state.level is not SandboxLevel.FULL, reason="this machine has no full sandbox")
@pytest.mark.parametrize("profile", [ProfileName.LOOK, ProfileName.WORK])
async def test_a_command_in_a_sandbox_is_moved_and_stopped_like_any_other(here: Stage, profile: ProfileName) -> None:
    here.profile = profile
    seconds = f"61.{len(profile)}{os.getpid()}"
    call = await begun(here, f"trap 'echo ended; exit 4' TERM; echo up; sleep {seconds} & wait")
    await here.until(lambda: here.commands.foreground.movable)
    here.commands.foreground.move()
    assert "b1" in (await call).content
    (row,) = here.commands.rows
    assert row.state is CommandState.RUNS
    await here.until(lambda: "up" in row.output.read_text())
    await here.until(lambda: len(here.sleeping(seconds)) == 1)
    await here.commands.stop("b1")
    assert row.output.read_text() == "up\nended\n"
    assert here.sleeping(seconds) == []


async def test_an_interrupted_call_ends_its_command_but_not_one_that_was_moved(here: Stage) -> None:
    first, second = await begun(here, "exec sleep 60"), await begun(here, "exec sleep 61")
    here.commands.foreground.move()
    second.cancel()
    third = await begun(here, "exec sleep 62")
    third.cancel()
    await asyncio.wait({first, second, third})
    assert [row.state for row in here.commands.rows] == [CommandState.RUNS, CommandState.RUNS]
    assert all(row.pid is not None and lives(row.pid) for row in here.commands.rows)
    assert here.processes.counts.terminated == 1


@pytest.fixture
def continues(tmp_path: Path) -> Stage:
    """A session where commands continue at their limit; room for one."""
    return stage(tmp_path, concurrent=1, limits=CommandLimits(continues=True))


async def test_at_its_time_limit_a_command_continues_while_there_is_room(continues: Stage) -> None:
    result = await continues.call("bash", command="echo $$; exec sleep 60", timeout=0.5)
    (row,) = continues.commands.rows
    assert result.content.startswith(f"{row.pid}\n\n[Not over after its time limit of 0.5 s")
    assert "It seems to hang: it has written nothing for 0." in result.content
    assert (result.outcome, result.category) == (ToolOutcome.BROKEN, FailureCategory.TIMEOUT)
    assert row.state is CommandState.RUNS
    assert row.pid is not None
    assert lives(row.pid)
    ended = await continues.call("bash", command="sleep 60", timeout=0.3)
    assert ended.summary == "timed out after 0.3 s"
    assert len(continues.commands.rows) == 1
    await close(continues)
    assert not lives(row.pid)


async def test_a_slow_command_that_continues_is_no_failure(continues: Stage) -> None:
    result = await continues.call("bash", command="while :; do echo on; sleep 0.05; done", timeout=1)
    assert "It seems to be slow, not to hang" in result.content
    assert (result.outcome, result.summary) == (ToolOutcome.OK, "b1 continues in the background")
    assert result.full_output is None, "nothing of the output so far was left out"
    assert continues.of(MovedToBackground)[0].reason is MoveReason.TIME_LIMIT
    await close(continues)


@pytest.mark.parametrize(
    ("silent_s", "time_s", "expected"), [(60, 120, True), (44, 120, False), (45, 3_600, True), (5, 10, True)]
)
def test_silence_distinguishes_a_hang_from_a_slow_command(silent_s: float, time_s: float, expected: bool) -> None:
    assert hangs(silent_s, time_s) is expected


async def test_without_a_user_a_command_that_seems_to_hang_is_ended(tmp_path: Path) -> None:
    alone = stage(tmp_path, concurrent=2, limits=CommandLimits(continues=True, ends_hanging=True))
    ended = await alone.call("bash", command="sleep 60", timeout=0.3)
    assert ended.summary == "timed out after 0.3 s"
    slow = await alone.call("bash", command="while :; do echo on; sleep 0.05; done", timeout=1)
    assert "continues in the background" in slow.summary
    assert len(alone.commands.rows) == 1
    await close(alone)
