"""The plan of a session: kept with it, taken back with its history."""

import json
from pathlib import Path

import pytest

from harness.events import ItemStatus, PlanChanged, PlanItem
from harness.journal import read, replay
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from harness.session import Nobody, Opening, Session, open_session
from tests.agent.stage import calls, played, run, says, settings_of

pytestmark = pytest.mark.anyio

FIRST = (PlanItem("read the notes", ItemStatus.IN_PROGRESS), PlanItem("write the letter", tools=("write_file",)))
SECOND = (PlanItem("read the notes", ItemStatus.DONE), PlanItem("write the letter", ItemStatus.IN_PROGRESS))


def plans(items: tuple[PlanItem, ...]) -> str:
    """A call, for a script, that declares this plan."""
    told = [{"text": item.text, "status": item.status.value, "tools": list(item.tools)} for item in items]
    return f"{{ name = \"todo_write\", input = {{ items = '''{json.dumps(told)}''' }} }}"


def plan_in_file(session: Session) -> tuple[PlanItem, ...]:
    """The plan as another program reads it from the journal."""
    return replay(read(session.path).records).plans.current


async def test_a_plan_outlives_turns_and_programs_and_goes_along_into_a_copy(tmp_path: Path) -> None:
    script = calls(plans(FIRST)) + says("Later.") + says("Yes?")
    async with PracticeServer(script=Script.parse(script)) as server:
        loaded = settings_of(tmp_path, server.base_url)
        async with await open_session(loaded, Nobody()) as session:
            await played(session.run("Two things."))
            await played(session.run("Something else."))
            assert session.plan == FIRST
        async with await open_session(loaded, Nobody(), Opening(session.id)) as resumed:
            assert resumed.plan == FIRST
        async with await open_session(loaded, Nobody(), Opening(session.id, fork=True)) as copy:
            assert copy.plan == FIRST


async def test_a_rewind_takes_it_back_and_says_which_one_holds_again(tmp_path: Path) -> None:
    script = calls(plans(FIRST)) + says("One.") + calls(run("x")) + calls(plans(SECOND)) + says("Two.")
    async with PracticeServer(script=Script.parse(script)) as server:
        loaded = settings_of(tmp_path, server.base_url)
        async with await open_session(loaded, Nobody()) as session:
            await played(session.run("first"))
            await played(session.run("second"))
            assert session.plan == SECOND
            session.rewind(2)
            assert session.plan == plan_in_file(session) == FIRST
        async with await open_session(loaded, Nobody(), Opening(session.id)) as session:
            session.rewind(1)
            assert session.plan == plan_in_file(session) == ()
    told = [record.event.items for record in read(session.path).records if isinstance(record.event, PlanChanged)]
    assert told == [FIRST, SECOND, FIRST, ()]


async def test_a_forgotten_conversation_has_no_plan(tmp_path: Path) -> None:
    async with (
        PracticeServer(script=Script.parse(calls(plans(FIRST)) + says("One."))) as server,
        await open_session(settings_of(tmp_path, server.base_url), Nobody()) as session,
    ):
        await played(session.run("first"))
        session.clear()
        assert session.plan == plan_in_file(session) == ()


async def test_a_plan_that_was_refused_leaves_the_one_before_it(tmp_path: Path) -> None:
    two_at_once = tuple(PlanItem(item.text, ItemStatus.IN_PROGRESS) for item in FIRST)
    script = calls(plans(FIRST)) + calls(plans(two_at_once)) + says("One.")
    async with (
        PracticeServer(script=Script.parse(script)) as server,
        await open_session(settings_of(tmp_path, server.base_url), Nobody()) as session,
    ):
        await played(session.run("first"))
        assert session.plan == plan_in_file(session) == FIRST
