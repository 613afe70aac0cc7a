"""Commands in the background: real processes, real files, and a clock that the test moves."""

import asyncio
import os
import random
import re
import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.base.secrets import Masking, Secret
from harness.engine.background.commands import CommandLimits, NotHandedOver
from harness.events import (
    ArrivalKind,
    Arrived,
    CommandBegun,
    CommandCreated,
    CommandEnd,
    CommandEnded,
    CommandHandedOver,
    CommandQuiet,
    Event,
    OutputDelta,
    ToolOutcome,
)
from harness.processes.memory_groups import MemoryGroups
from harness.sandbox import ProfileName, SandboxLevel
from harness.sandbox.landlock import landlock_version
from harness.sandbox.sandbox import Sandbox
from harness.tools.background_commands import CommandState, NotMonitored, UnknownCommand
from harness.tools.bash import bash_tool
from harness.tools.tool import ToolContext
from harness.tools.workspace import Workspace
from tests.engine.background.stage import Stage, close, lives, stage
from tests.policies.admission.oracle import balanced
from tests.whole import WHOLE

pytestmark = pytest.mark.anyio


# ── a command that ends by itself ───────────────────────────────────────────────────────────────


async def test_bash_returns_at_once_and_the_end_arrives(here: Stage) -> None:
    os.mkfifo(here.folder / "go")
    result = await here.call("bash", command="pwd; read -r line < ../go; echo oops >&2; exit 3", background=True)
    assert result.outcome is ToolOutcome.OK
    assert result.content.startswith("b1 runs (process ")
    assert (here.told, here.of(CommandEnded)) == ([], [])
    await here.say("go")
    await here.over("b1")
    output = here.folder / "outputs" / "b1.out"
    assert output.read_text() == f"{here.folder / 'workspace'}\noops\n"
    assert (here.end.end, here.end.exit_code, here.end.output_bytes) == (CommandEnd.EXITED, 3, output.stat().st_size)
    assert here.told == [
        (
            "b1 ended with exit code 3: pwd; read -r line < ../go; echo oops >&2; exit 3\n"
            f"Its output, {output.stat().st_size} bytes, is in {output}. The end of it:\n{output.read_text().rstrip()}"
        )
    ]


async def test_the_user_follows_the_output_of_a_command(here: Stage) -> None:
    for name in ("go", "on", "end"):
        os.mkfifo(here.folder / name)
    await here.commands.start(
        "echo one; read -r x < ../go; printf '10%%\\r20%%'; read -r x < ../on; echo; read -r x < ../end", "c"
    )
    output = here.folder / "outputs" / "b1.out"
    await here.until(lambda: output.read_bytes() == b"one\n")
    assert here.commands.follow("b1")
    assert here.of(OutputDelta) == [OutputDelta("b1", ("one",))]
    await here.say("go")
    await here.until(lambda: output.read_bytes().endswith(b"20%"))
    await here.pass_by(1)
    assert here.of(OutputDelta)[1:] == [OutputDelta("b1", (), "20%")]
    await here.pass_by(1)
    assert len(here.of(OutputDelta)) == 2, "nothing new"
    await here.say("on")
    await here.until(lambda: output.read_bytes().endswith(b"\n\n") or output.read_bytes().endswith(b"20%\n"))
    assert not here.commands.follow("b1"), "once more ends it"
    await here.pass_by(1)
    assert len(here.of(OutputDelta)) == 2
    await here.say("end")
    await here.over("b1")
    with pytest.raises(NotMonitored, match=r"b1 does not run: .*; /background b1 shows its output"):
        here.commands.follow("b1")


async def test_following_ends_with_the_command_or_the_next_turn(here: Stage) -> None:
    os.mkfifo(here.folder / "go")
    await here.commands.start("read -r x < ../go; echo last", "c")
    here.commands.follow("b1")
    await here.say("go")
    await here.over("b1")
    assert here.of(OutputDelta) == [OutputDelta("b1", ("last",))]
    await here.commands.start("while echo tick; do sleep 0.05; done", "c")
    here.commands.follow("b2")
    here.conversation.begin_turn("next")
    await here.pass_by(2)
    assert {delta.call_id for delta in here.of(OutputDelta)[1:]} <= {"b2"}
    seen = len(here.of(OutputDelta))
    await here.pass_by(2)
    assert len(here.of(OutputDelta)) == seen
    await here.commands.stop("b2")


async def test_what_a_command_leaves_behind_ends_with_it(here: Stage) -> None:
    row = await here.commands.start("sleep 60 & echo $!; exit 4", "c")
    await here.over("b1")
    assert (here.end.end, here.end.exit_code, here.end.left) == (CommandEnd.EXITED, 4, ())
    assert here.end.reason == "1 process of it lived on and had to be ended"
    assert not lives(int(row.output.read_text()))


async def test_the_end_of_a_command_names_its_memory_limit(tmp_path: Path) -> None:
    (place := tmp_path / "groups").mkdir()  # in place of control groups; the command counts for the kernel
    here = stage(tmp_path, memory=MemoryGroups(place, 64 * 2**20))
    counts = f"for group in {place}/harness-*; do echo oom_kill 1 > $group/memory.events; done"
    await here.commands.start(f"{counts}; kill -9 $$", "c")
    await here.over("b1")
    assert here.end.reason == "the kernel killed 1 process of it at its memory limit of 64 MiB"
    assert here.told[0].startswith("b1 was killed by signal 9 (the kernel killed 1 process of it at its memory limit")
    result = await here.call("bash", command=f"{counts}; exit 2")
    assert f"[out of memory, exit 2: {here.end.reason}; let it use less, for example with fewer" in result.content
    await close(here)


@pytest.mark.parametrize(("line", "workspace"), [("a\0b", True), ("true", False)])
async def test_what_cannot_be_started_is_reported_by_the_call(here: Stage, line: str, workspace: bool) -> None:
    if not workspace:
        (here.folder / "workspace").rmdir()
    result = await here.call("bash", command=line, background=True)
    assert (result.outcome, here.end.end) == (ToolOutcome.ERROR, CommandEnd.NOT_STARTED)
    assert result.content == f"The command was not started: {here.end.reason}"
    assert here.told == []


# ── stopping and handing over ───────────────────────────────────────────────────────────────────


async def test_killing_ends_the_whole_tree_and_only_the_call_reports_it(here: Stage) -> None:
    row = await here.commands.start("trap '' TERM; sleep 61 & echo $!; wait; sleep 62", "c")
    await here.until(row.output.read_text)
    child = int(row.output.read_text())
    result = await here.call("kill_background", id="b1")
    assert result.content == f"b1 and all its children were ended; its output is in {row.output}."
    assert not lives(child)
    assert row.pid is not None
    assert not lives(row.pid)
    assert (here.end.end, here.end.reported, here.end.forced, here.told) == (CommandEnd.STOPPED, True, True, [])


async def test_a_kill_that_is_interrupted_still_ends_it_and_its_end_arrives(here: Stage) -> None:
    await here.commands.start("trap '' TERM; echo up; while :; do sleep 0.05; done", "c")
    await here.until(lambda: here.commands.rows[0].bytes)
    kill = asyncio.create_task(here.commands.stop("b1", notify=False))
    await asyncio.sleep(0)
    kill.cancel()
    await asyncio.gather(kill, return_exceptions=True)
    await here.over("b1")
    assert (kill.cancelled(), here.end.reported, len(here.told)) == (True, False, 1)


async def test_a_command_that_was_handed_over_outlives_the_session(here: Stage) -> None:
    row = await here.commands.start("sleep 60", "c", time_s=5)
    assert here.commands.hand_over("b1").state is CommandState.HANDED_OVER
    await here.pass_by(10)
    assert here.clock.sleepers == []
    await close(here)
    assert row.pid is not None
    try:
        assert lives(row.pid)
    finally:
        os.killpg(row.pid, 9)
    assert (here.of(CommandEnded), here.of(CommandHandedOver)) == ([], [CommandHandedOver("b1", row.pid)])
    assert here.told[0].startswith("b1 was handed over by the user and keeps running (process ")


@pytest.mark.parametrize("kept", ["ended", "read", "handed over"])
async def test_the_output_file_holds_no_key_once_it_is_read_or_no_longer_ours(kept: str, tmp_path: Path) -> None:
    here = stage(tmp_path, masking=Masking([Secret("npm_0123456789")]))
    os.mkfifo(here.folder / "go")
    row = await here.commands.start("echo npm_01234''56789 of $PWD; read -r line < ../go; exec sleep 60", "c", time_s=5)
    await here.until(lambda: row.output.exists() and b"of /" in row.output.read_bytes())
    match kept:
        case "ended":
            await here.commands.stop("b1")
        case "read":
            assert "npm_" not in here.commands.read("b1").text
        case "handed over":
            here.commands.hand_over("b1")
    assert row.output.read_text() == f"************** of {here.folder / 'workspace'}\n"
    await close(here)
    if kept == "handed over":
        assert row.pid is not None
        os.killpg(row.pid, 9)


async def test_a_command_that_has_just_ended_ended_by_itself_and_is_not_handed_over(here: Stage) -> None:
    await here.commands.start("exit 5", "c")
    while here.processes.children:  # noqa: ASYNC110  before any other task is notified
        await asyncio.sleep(0)
    assert here.of(CommandEnded) == []
    with pytest.raises(NotHandedOver):
        here.commands.hand_over("b1")
    row = await here.commands.stop("b1")
    assert (row.end, row.exit_code) == (CommandEnd.EXITED, 5)


async def test_only_what_runs_can_be_handed_over(here: Stage) -> None:
    await here.commands.start("true", "c")
    await here.over("b1")
    with pytest.raises(NotHandedOver, match="b1 does not run"):
        here.commands.hand_over("b1")
    for refused in (here.commands.hand_over, here.commands.read):
        with pytest.raises(
            UnknownCommand, match="no command 'b2' in the background; running or queued: none; over: b1"
        ):
            refused("b2")


# ── admission ────────────────────────────────────────────────────────────────────────────────────


async def test_more_than_may_run_wait_their_turn_in_order(tmp_path: Path) -> None:
    here = stage(tmp_path, concurrent=1, queue=4)
    for n in range(1, 6):
        os.mkfifo(tmp_path / f"go{n}")
    rows = [await here.commands.start(f"read -r line < ../go{n}", "c") for n in range(1, 6)]
    assert [(row.state, row.before) for row in rows] == [
        (CommandState.RUNS, 0),
        (CommandState.WAITS, 0),
        (CommandState.WAITS, 1),
        (CommandState.WAITS, 2),
        (CommandState.WAITS, 3),
    ]
    for n in range(1, 6):
        await here.say(f"go{n}")
        await here.over(f"b{n}")
    await close(here)
    assert [event.command for event in here.of(CommandBegun)] == ["b1", "b2", "b3", "b4", "b5"]


async def test_a_command_that_waits_can_be_taken_back(tmp_path: Path) -> None:
    here = stage(tmp_path, concurrent=1)
    await here.commands.start("sleep 60", "c")
    result = await here.call("bash", command="echo never", background=True)
    assert result.content.startswith("b2 is queued; its output will be in ")
    assert (await here.call("read_background", id="b2")).content.startswith("(no output)\n\n[b2: waits")
    assert (await here.call("kill_background", id="b2")).summary == "ended"
    assert (here.end.command, here.end.end, here.end.exit_code) == ("b2", CommandEnd.STOPPED, None)
    assert (await here.call("read_background", id="b2")).content.startswith("(no output)\n\n[b2: stopped")
    await close(here)
    assert not (tmp_path / "outputs" / "b2.out").exists()
    assert balanced(here.runner.status.counts)


# ── the look at all that run ────────────────────────────────────────────────────────────────────


async def test_a_time_limit_counts_from_the_beginning_and_ends_the_tree(here: Stage) -> None:
    row = await here.commands.start("echo begun; sleep 60", "c", time_s=30)
    await here.until(row.output.read_text)
    await here.pass_by(29)
    assert here.of(CommandEnded) == []
    await here.pass_by(1)
    await here.over("b1")
    assert (here.end.end, here.end.duration_s) == (CommandEnd.TIMED_OUT, 30)
    assert here.told[0].startswith("b1 was ended, because its time limit of 30 s was up: echo begun; sleep 60\n")


async def test_a_command_that_writes_too_much_is_ended_and_the_disk_given_back(tmp_path: Path) -> None:
    here = stage(tmp_path, limits=CommandLimits(output_bytes=10_000))
    row = await here.commands.start("head -c 50000 /dev/zero; sleep 60", "c")
    await here.until(lambda: row.output.stat().st_size == 50_000)
    os.truncate(row.output, 10_000)  # as much as may be
    await here.pass_by(1)
    with row.output.open("ab") as output:
        output.write(b"x" * 40_000)
    await here.pass_by(1)
    await here.over("b1")
    await close(here)
    assert (here.end.end, here.end.duration_s) == (CommandEnd.TOO_LONG, 2)
    assert here.end.output_bytes == row.output.stat().st_size == 10_000


WRITTEN = ("working\n", "Go on? ", "name: ", "45%", "done\nSure? (y/n)\n")


@settings(max_examples=15 if WHOLE else 8)
@given(script=st.lists(st.tuples(st.sampled_from(WRITTEN), st.integers(1, 100)), min_size=1, max_size=5))
async def test_each_silence_is_reported_when_45_seconds_of_it_are_over(
    tmp_path_factory: pytest.TempPathFactory, script: list[tuple[str, int]]
) -> None:
    """The oracle needs no clock: the reports follow from the pauses alone."""
    here = stage(tmp_path_factory.mktemp("quiet"))
    row = await here.commands.start("sleep 60", "c")
    expected, text = [], ""
    for written, pause in script:
        text += written
        with row.output.open("a") as output:
            output.write(written)
        await here.pass_by(pause)
        if pause > 45 and ("?" in written or ":" in written):  # the look that sees it, and 45 s
            expected.append(text)
    told = [event for event in here.events if isinstance(event, CommandQuiet | Arrived)]
    assert [event.tail for event in here.of(CommandQuiet)] == expected
    assert [event.quiet_s for event in here.of(CommandQuiet)] == [45] * len(expected)
    assert len(told) == 2 * len(expected)
    await close(here)


async def test_there_is_one_timer_while_anything_runs_and_none_otherwise(here: Stage) -> None:
    assert here.clock.sleepers == []
    for _ in range(3):
        await here.commands.start("sleep 60", "c")
    await here.pass_by(0)
    assert len(here.clock.sleepers) == 1
    for id in ("b1", "b2", "b3"):
        await here.commands.stop(id)
    await here.pass_by(0)
    assert here.clock.sleepers == []
    await here.commands.start("sleep 60", "c")
    await here.pass_by(0)
    assert len(here.clock.sleepers) == 1


# ── the end of the session, and the next one ────────────────────────────────────────────────────


async def test_closing_ends_everything_also_where_the_journal_cannot_be_written(tmp_path: Path) -> None:
    here = stage(tmp_path, disk_is_full=lambda event: isinstance(event, CommandBegun) and event.command == "b2")
    await here.commands.start("sleep 60", "c")
    await here.commands.start("sleep 60", "c")
    await close(here)
    assert here.processes.counts.terminated == 2


async def session_of(folder: Path) -> list[Event]:
    """The journal of a session with one command of each fate."""
    here = stage(folder, concurrent=4)
    await here.commands.start("exit 3", "c1")
    await here.over("b1")
    await here.commands.start("sleep 60", "c2")
    await here.commands.stop("b2", notify=False)
    row = await here.commands.start("sleep 60", "c3")
    here.commands.hand_over("b3")
    await here.commands.start("sleep 60", "c4")
    here.incoming.deliver(here.incoming.waiting)
    await here.commands.start("sleep 61", "c5")
    await close(here)
    assert row.pid is not None
    os.killpg(row.pid, 9)
    return here.events


def gone_on_with(folder: Path, journal: Sequence[Event]) -> list[Event]:
    """The events that a new program adds to the journal of a resumed session."""
    again = stage(folder)
    again.incoming.recall(journal)
    again.commands.recall(journal)
    assert {row.state for row in again.commands.rows} <= {CommandState.ENDED, CommandState.HANDED_OVER}
    return [event for event in again.events if isinstance(event, CommandEnded | Arrived)]


@pytest.mark.stories
async def test_after_a_crash_at_any_moment_every_end_is_reported_exactly_once(tmp_path: Path) -> None:
    journal = await session_of(tmp_path)
    cut = [journal[:length] for length in range(len(journal) + 1)]
    cut_again = [
        [*kept, *added[:length]]
        for kept in cut
        if (added := gone_on_with(tmp_path, kept))
        for length in range(len(added))
    ]
    for kept in (*cut, *cut_again):
        whole = [*kept, *gone_on_with(tmp_path, kept)]
        created = {event.command for event in whole if isinstance(event, CommandCreated)}
        ended = [event.command for event in whole if isinstance(event, CommandEnded)]
        handed_over = {event.command for event in whole if isinstance(event, CommandHandedOver)}
        silent = {event.command for event in whole if isinstance(event, CommandEnded) and event.reported}
        told = [event.source for event in whole if isinstance(event, Arrived)]
        assert sorted([*ended, *handed_over]) == sorted(created)
        assert sorted(told) == sorted(created - silent)
        assert gone_on_with(tmp_path, whole) == []


async def test_reading_continues_where_the_last_answer_ended(here: Stage) -> None:
    os.mkfifo(here.folder / "go")
    row = await here.commands.start("echo one; read -r line < ../go; echo two", "c")
    await here.until(row.output.read_text)
    first = here.commands.read("b1")
    assert (first.text, first.start, first.end) == ("one\n", 0, 4)
    assert here.commands.read("b1", from_byte=first.end).text == ""
    await here.say("go")
    await here.over("b1")
    more = here.commands.read("b1", from_byte=first.end)
    assert (more.text, more.end) == ("two\n", 8)
    assert here.commands.read("b1", from_byte=100).end == 8
    assert here.commands.read("b1", lines=1).text == "two\n"


# ── at random ───────────────────────────────────────────────────────────────────────────────────

LINES: Sequence[str] = (
    "true",
    "exit 7",
    "sleep 30",
    "trap '' TERM; sleep 30",
    "sleep 30 & exit 1",
    "printf 'y? '; sleep 30",
)


@settings(max_examples=4)
@given(seed=st.integers(0, 10_000))
async def test_random_operations_leave_nothing_and_tell_everything_once(
    tmp_path_factory: pytest.TempPathFactory, seed: int
) -> None:
    dice = random.Random(seed)
    here = stage(tmp_path_factory.mktemp("random"), concurrent=3, queue=2)
    for step in range(14):
        open_ids = [row.id for row in here.commands.rows if row.state in (CommandState.RUNS, CommandState.WAITS)]
        match dice.choice(["start", "start", "stop", "kill", "wait", "time"]):
            case "start":
                await here.commands.start(dice.choice(LINES), f"c{step}", dice.choice([None, 3]))
            case "stop" if open_ids:
                await here.commands.stop(dice.choice(open_ids))
            case "kill" if open_ids:
                await here.commands.stop(dice.choice(open_ids), notify=False)
            case "time":
                await here.pass_by(dice.choice([1, 50]))
            case _:
                await asyncio.sleep(0.01)
        assert sum(row.state is CommandState.RUNS for row in here.commands.rows) <= 3
    await close(here)
    ends = here.of(CommandEnded)
    assert sorted(end.command for end in ends) == sorted(event.command for event in here.of(CommandCreated))
    told = [event.source for event in here.of(Arrived) if event.kind is ArrivalKind.COMMAND_ENDED]
    assert sorted(told) == sorted(end.command for end in ends if not end.reported)
    assert (here.processes.children, here.clock.sleepers) == ((), [])
    assert not any(lives(event.pid) for event in here.of(CommandBegun))


@pytest.mark.skipif(not landlock_version(), reason="the kernel does not offer Landlock")
async def test_a_call_that_only_looks_is_held_to_that_in_the_background(here: Stage) -> None:
    tool, workspace = bash_tool(background=here.commands), here.folder / "workspace"
    context = ToolContext(Workspace(workspace), here.folder / "outputs", "toolu_1", profile=ProfileName.LOOK)
    await tool.run(context, tool.parse({"command": "touch new; touch newer", "background": True}))
    await here.over("b1")
    assert len(re.findall("Permission denied|Read-only file system", here.end.tail)) == 2
    assert list(workspace.iterdir()) == []


@pytest.mark.skipif(Sandbox().state.level is not SandboxLevel.FULL, reason="this machine has no full sandbox")
async def test_a_command_whose_sandbox_breaks_says_that_it_did_not_run(here: Stage) -> None:
    program = here.folder / "bwrap"
    shutil.copy(str(shutil.which("bwrap")), program)
    here.processes.sandbox = Sandbox(search_path=str(here.folder))
    assert here.processes.sandbox.state.level is SandboxLevel.FULL
    program.write_text("#!/bin/sh\nexit 1\n")
    await here.commands.start("touch new", "c", profile=ProfileName.WORK)
    await here.over("b1")
    program.unlink()
    await here.commands.start("touch new", "c", profile=ProfileName.WORK)
    await here.over("b2")
    broken, missing = here.of(CommandEnded)
    assert broken.reason.startswith("its sandbox could not be made")
    assert missing.end is CommandEnd.NOT_STARTED
    assert "the sandbox that it needs is missing" in missing.reason
    assert list((here.folder / "workspace").iterdir()) == []
    await here.processes.sandbox.aclose()


async def test_only_the_owner_can_read_what_was_written(here: Stage) -> None:
    row = await here.commands.start("echo secret", "c")
    await here.over("b1")
    assert row.output.stat().st_mode & 0o777 == 0o600
