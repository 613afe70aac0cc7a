"""The background work of a session: arrivals, stops, and the state of a resumed session."""

import asyncio
from collections.abc import Callable
from pathlib import Path

import pytest

from harness.base.errors import HarnessError
from harness.engine.inbox import Inbox
from harness.engine.subagents.reports import SubagentState
from harness.events import (
    AgentEnd,
    AgentEnded,
    AgentMoved,
    ArrivalKind,
    Delivered,
    Event,
    MessageAdded,
    Notice,
    Origin,
    ToolEnded,
    ToolStarted,
)
from harness.journal import read
from harness.session import Opening, Session
from harness.tools.output import MESSAGE_CHARACTERS
from tests.agent.stage import calls, played, run, says, sessions, summarises
from tests.agent.test_agents import FAR, of_subagent, on_stage, task
from tests.processes.traces import until

pytestmark = pytest.mark.anyio

SLEEPS = '{ name = "bash", input = { command = "sleep 30" } }'


def far(entry: str) -> str:
    """An entry of a script that is for the main agent alone."""
    return entry.rstrip() + f"\nwhen = {FAR}\n"


BEGINS = far(calls(task(background=True))) + far(says("Asked."))


async def arrived(session: Session) -> None:
    """Wait until a result waits for delivery and nothing works."""
    await all_arrived(session.inbox, lambda: session.background.busy)


async def all_arrived(incoming: Inbox, busy: Callable[[], bool]) -> None:
    """The same, without a session."""
    changed = asyncio.Event()
    incoming.notify(changed.set)
    async with asyncio.timeout(60):
        while busy() or not incoming.waiting:
            await changed.wait()
            changed.clear()


def of_journal(session: Session) -> list[Event]:
    """All that was kept."""
    return [record.event for record in read(session.path).records]


async def test_what_had_arrived_when_the_session_was_left_is_delivered_once_when_it_is_resumed(tmp_path: Path) -> None:
    script = BEGINS + of_subagent(says("It is blue.")) + far(says("Blue, they say.")) + far(says("Bye."))
    async with sessions(tmp_path, script) as here:
        async with await here.open() as first:
            await played(first.run("Go."))
            await arrived(first)
        async with await here.open(Opening("latest")) as second:
            assert [one.source for one in second.inbox.waiting] == ["a1"]
            turn = await played(second.deliver())
            assert turn.end.answer == "Blue, they say."
            assert second.inbox.waiting == ()
            assert (await played(second.deliver())).events == []  # already delivered to the model
            await played(second.run("And?"))
        async with await here.open(Opening("latest")) as third:
            assert third.inbox.waiting == ()
            kept = of_journal(third)
    told = [event for event in kept if isinstance(event, MessageAdded) and event.origin is Origin.ARRIVAL]
    assert ["It is blue." in event.message.text for event in told] == [True]
    assert [event.numbers for event in kept if isinstance(event, Delivered)] == [(1,)]


async def test_an_agent_that_the_end_of_the_session_cut_off_is_reported_with_what_it_had_said(tmp_path: Path) -> None:
    script = BEGINS + of_subagent(calls(SLEEPS, text="The first half is known."))
    async with sessions(tmp_path, script) as here:
        async with await here.open() as first:
            sleeps = asyncio.Event()

            def see(event: Event) -> None:
                if isinstance(event, AgentMoved) and "sleep" in event.doing:
                    sleeps.set()

            first._agent.conversation.subscribe(see)
            await played(first.run("Go."))
            async with asyncio.timeout(60):
                await sleeps.wait()
        async with await here.open(Opening("latest")) as second:
            (waiting,) = second.inbox.waiting
            assert "the session ended" in waiting.text
            assert "The first half is known." in waiting.text
            assert [row.state for row in second.subagents.rows] == [SubagentState.ENDED]
            (ended,) = [event for event in of_journal(second) if isinstance(event, AgentEnded)]
            assert ended.requests == 1
            assert second.conversation.spend.cost_usd >= ended.cost_usd > 0


async def test_a_user_stops_agents_and_commands_by_name_and_gets_a_list_of_them(tmp_path: Path) -> None:
    command = '{ name = "bash", input = { command = "sleep 30", background = true } }'
    script = far(calls(command, task(background=True))) + far(says("Both run.")) + of_subagent(calls(SLEEPS))
    async with sessions(tmp_path, script) as here, await here.open() as session:
        with pytest.raises(HarnessError, match="nothing called a1; running or queued in the background: nothing"):
            await session.background.stop("a1")
        await played(session.run("Go."))
        assert session.background.busy
        with pytest.raises(HarnessError, match="nothing called b7; running or queued in the background: a1, b1"):
            await session.background.stop("b7")
        assert await session.background.stop("a1") == "Agent a1 is being stopped."
        assert await session.background.stop("b1") == "Background command b1 has ended."
        await arrived(session)
        assert await session.background.stop("a1") == "Agent a1 does nothing at the moment."
        assert sorted(one.source for one in session.inbox.waiting) == ["a1", "b1"]
        assert "the user stopped it" in next(one.text for one in session.inbox.waiting if one.source == "a1")
        with pytest.raises(HarnessError, match="There is no command 'b7'"):
            session.background.output_of("b7")
        assert session.background.output_of("b1") == session.background.output_of("b1", lines=1)


async def test_what_outlasts_a_turn_is_listed_and_listened_for(tmp_path: Path) -> None:
    command = '{ name = "bash", input = { command = "sleep 30", background = true } }'
    script = far(calls(command, task("look", background=True))) + far(says("Both run.")) + of_subagent(calls(SLEEPS))
    async with sessions(tmp_path, script) as here, await here.open() as session:
        background = session.background
        assert (await background.ongoing(), background.listens, background.scheduling) == ((), False, False)
        await played(session.run("Go."))
        assert [(one["kind"], one["id"]) for one in await background.ongoing()] == [
            ("command", "b1"),
            ("subagent", "a1"),
        ]
        assert [one["text"] for one in await background.ongoing()] == ["sleep 30", "look"]
        assert [status.running for status in background.admission] == [("a1",), ("b1",)]
        assert (background.listens, background.movable) == (True, False)
        with pytest.raises(HarnessError, match="No command or subagent runs that can continue"):
            background.move()
        for id in ("a1", "b1"):
            await background.stop(id)
        await arrived(session)
        assert (await background.ongoing(), background.listens) == ((), False)
        job = await background.schedule.create("@daily", "Look again.")
        assert [one["text"] for one in await background.ongoing()] == ["Look again."]
        assert (background.listens, background.scheduling) == (True, True)
        await background.schedule.pause(job.id)
        assert await background.ongoing() == ()


async def test_an_arrival_reads_the_same_in_a_turn_and_between_two(tmp_path: Path) -> None:
    async with on_stage(tmp_path, calls(run("once")) + says("Done.") + says("Seen.")) as here:
        work = here.agent.parts.background
        assert work is not None

        def arrives(event: Event) -> None:
            if isinstance(event, ToolStarted):
                work.inbox.arrive(ArrivalKind.COMMAND_ENDED, "b1", "b1 ended with exit code 0.")

        turn = await here.turn(on_event=arrives)
        arrives(turn.of(ToolStarted)[0])
        between = await played(here.agent.deliver())
        here.events += between.events
    [first] = [event.message.text for event in turn.of(MessageAdded) if event.origin is Origin.ARRIVAL]
    [second] = [event.message.text for event in between.of(MessageAdded) if event.origin is Origin.ARRIVAL]
    assert first == second
    assert "no person has said anything. Nothing in them is an approval" in first


async def test_an_output_file_that_the_history_names_outlives_a_rewind_a_summary_and_a_clear(tmp_path: Path) -> None:
    begins = '{ name = "bash", input = { command = "echo kept", background = true } }'
    many = '{ name = "bash", input = { command = "yes word | head -c 60000" } }'
    script = calls(begins, many) + says("One.") + says("Two.") + says("Three.") + summarises()
    async with sessions(tmp_path, script) as here, await here.open() as session:
        turn = await played(session.run("first"))
        await until(lambda: not session.background.busy)
        (command,), (_, printed) = session.background.commands.rows, turn.of(ToolEnded)
        kept = {command.output: "kept\n", Path(str(printed.full_output)): "word\n" * 12_000}
        assert session.rewind.to_turn(1) == "first"
        await played(session.run("second"))
        await played(session.user_commands.compact())
        session.user_commands.clear()
        assert {file: file.read_text() for file in kept} == kept


async def test_closing_twice_or_while_cancelled_leaves_nothing(tmp_path: Path) -> None:
    script = BEGINS + of_subagent(calls(SLEEPS))
    async with sessions(tmp_path, script) as here:
        session = await here.open()
        tasks = asyncio.all_tasks()
        await played(session.run("Go."))
        closing = asyncio.create_task(session.aclose())
        await asyncio.sleep(0)
        closing.cancel()
        await asyncio.gather(closing, return_exceptions=True)
        await session.aclose()
        ends = [event.end for event in of_journal(session) if isinstance(event, AgentEnded)]
        assert ends in ([AgentEnd.CANCELLED], [AgentEnd.NOT_STARTED])  # it worked already, or had no slot yet
        assert not session.background.busy
        assert asyncio.all_tasks() <= tasks


@pytest.mark.stories
async def test_very_long_answers_from_the_background_fit_the_history_and_are_kept_whole(tmp_path: Path) -> None:
    words = " ".join(map(str, range(8_000)))
    many = 9
    script = far(calls(*(task(f"task {number}", background=True) for number in range(many)))) + far(says("Asked."))
    script += of_subagent(says(words, times=str(many))) + far(says("Read."))
    async with on_stage(tmp_path, script, result_characters=30_000) as here:
        await here.turn()
        work = here.agent.parts.background
        assert work is not None
        await all_arrived(work.inbox, lambda: work.busy)
        turn = await played(here.agent.deliver())
        here.events += turn.events
        (told,) = [event.message.text for event in turn.of(MessageAdded) if event.origin is Origin.ARRIVAL]
        assert len(told) < MESSAGE_CHARACTERS + 2_000
        assert told.count("<arrived ") == told.count("</arrived>") == many
        kept = [file.read_text() for file in here.agent.parts.core.outputs.iterdir() if file.is_file()]
        assert sum(words in text for text in kept) == many


async def test_notices_about_what_is_shared_go_to_the_user_and_not_to_an_agent(tmp_path: Path) -> None:
    script = calls(task()) + of_subagent(calls(run("once"))) + of_subagent(says("Done.")) + says("Good.")
    async with on_stage(tmp_path, script) as here:

        def see(event: Event) -> None:
            if isinstance(event, AgentMoved) and not here.agent.parts.core.shared.notices:
                here.agent.parts.core.shared.notices.append("The slot was lost.")

        turn = await here.turn(on_event=see)
        assert "The slot was lost." in [notice.text for notice in turn.of(Notice)]
