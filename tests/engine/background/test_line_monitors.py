"""Monitored commands: their lines arrive, merged and until a deadline, and their end is announced once."""

import os

import pytest

from harness.events import ArrivalKind, MonitorEnd, MonitorEnded, MonitorSet, PollNoted, ToolOutcome
from tests.engine.background.stage import Stage

pytestmark = pytest.mark.anyio


async def test_lines_arrive_until_the_command_ends_and_the_end_is_announced_once(here: Stage) -> None:
    os.mkfifo(here.folder / "go")
    echoes = "exec 3<>../go; echo early; while read -r -u 3 w; do [ $w = end ] && exit; echo $w; done"
    row = await here.commands.start(echoes, "c")
    await here.until(row.output.read_text)
    result = await here.call("monitor_background", id="b1", words=["ERR"], seconds=100)
    assert result.content.startswith("New lines of b1 with 'ERR' arrive as notifications until ")
    await here.say("go", "fine\nerr-1\nerr-2\n")
    await here.until(lambda: "err-2" in row.output.read_text())
    await here.pass_by(1)
    assert here.told == ["b1 wrote:\nerr-1\nerr-2"]
    await here.say("go", "err-3\n")
    await here.until(lambda: "err-3" in row.output.read_text())
    await here.pass_by(20)
    assert here.told == ["b1 wrote:\nerr-1\nerr-2"]  # the first is unread
    here.incoming.deliver(here.incoming.waiting)
    await here.pass_by(1)
    assert here.told == ["b1 wrote:\nerr-3"]
    await here.say("go", "err-4\nend\n")
    await here.over("b1")
    assert here.told[1] == "b1 wrote:\nerr-4"
    assert here.told[2].startswith("b1 ended with exit code 0")
    assert len(here.told) == 3
    assert here.of(MonitorEnded) == [MonitorEnded("b1", MonitorEnd.COMMAND_ENDED, 3)]


async def test_a_monitor_ends_at_its_deadline_and_is_set_again(here: Stage) -> None:
    await here.commands.start("sleep 60", "c")
    await here.call("monitor_background", id="b1", seconds=3)
    await here.pass_by(4)
    (told,) = here.told
    assert told.startswith("The monitor of b1 has ended at its deadline (")
    assert here.incoming.waiting[0].kind is ArrivalKind.COMMAND_LINES
    await here.call("monitor_background", id="b1", seconds=3)
    await here.call("monitor_background", id="b1", seconds=30)
    await here.pass_by(5)
    assert len(here.told) == 1
    assert (await here.call("monitor_background", id="b1", seconds=0)).content == "The monitor of b1 has ended."
    assert (await here.call("monitor_background", id="b1", seconds=0)).content == "b1 was not monitored."
    assert [event.words for event in here.of(MonitorSet)] == [(), (), ()]


async def test_few_commands_are_monitored_at_once_and_none_that_is_over(here: Stage) -> None:
    for _ in range(5):
        await here.commands.start("sleep 60", "c")
    row = await here.commands.start("true", "c")
    for id in ("b1", "b2", "b3", "b4", "b5"):
        assert (await here.call("monitor_background", id=id)).outcome is ToolOutcome.OK
    await here.commands.stop("b1")
    assert (await here.call("monitor_background", id="b1")).content == "b1 does not run: stopped."
    await here.over("b1", "b6")
    refused = await here.call("monitor_background", id="b9")
    ongoing = ", ".join(f"b{number} (sleep 60)" for number in range(2, 6))
    known = f"running or queued: {ongoing}; over: b1, b6"
    assert refused.content == f"There is no command 'b9' in the background; {known}."
    assert row.id == "b6"


async def test_a_model_that_sleeps_and_looks_reads_that_ends_are_announced(here: Stage) -> None:
    assert "Waiting is not needed" not in (await here.call("bash", command="sleep 1; echo looked")).content
    row = await here.commands.start("sleep 60", "c")
    first = await here.call("bash", command=f"sleep 1; cat {row.output}")
    assert first.content.startswith("(no output)\n\n[exit 0]\n[Waiting is not needed: b1 in the background. An end is ")
    second = await here.call("bash", command=f"sleep 1; cat {row.output}")
    assert second.content == "(no output)\n\n[exit 0]"
    assert here.of(PollNoted) == [PollNoted("toolu_2", ("b1",))]
