"""A team after its program has ended: members, unread mail and ghosts; what a crash leaves is read once."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from harness.events import (
    Address,
    AgentEnded,
    Event,
    MailDelivered,
    MemberChanged,
    MemberState,
    MessageAdded,
    Origin,
    StepStarted,
    TurnStarted,
)
from harness.journal import outputs_folder, read
from harness.session import Opening, Session
from tests.agent.stage import Sessions, calls, played, says, sessions
from tests.agent.test_team import message, of_member, start, wait_for

pytestmark = pytest.mark.anyio

BEGUN = calls(start("ann", role="reader")) + says("Started.") + of_member(says("Done."), "Look.")
ANN = Address("ann", 1)


async def begun(stage: Sessions) -> tuple[Path, Path]:
    """A session whose member is idle, with an unread note, and its files: its journal, and that of the member."""
    async with await stage.open() as session:
        await played(session.run("start"))
        await until_rest(session)
        await session.background.team.say(["ann"], "Read on.")
        await until_rest(session)
        return session.path, session.agents_folder / "a1.jsonl"


async def until_rest(session: Session) -> None:
    """Wait until no member works."""
    await wait_for(session._parts, lambda: not session.subagents.running)


def told(path: Path, kind: type[Event]) -> list[Event]:
    return [record.event for record in read(path).records if isinstance(record.event, kind)]


def mails(path: Path) -> list[str]:
    """The texts of all mail in the journal of a member."""
    added = (event for event in told(path, MessageAdded) if isinstance(event, MessageAdded))
    return [
        block["text"].splitlines()[1] for one in added if one.origin is Origin.MAIL for block in one.message.content
    ]


def cut(path: Path, kind: type[Event], skip: int = 0) -> None:
    """The journal as a kill -9 left it: nothing from this event on, after `skip` others of its kind."""
    lines = path.read_text().splitlines(keepends=True)
    found = [number for number, record in enumerate(read(path).records) if isinstance(record.event, kind)]
    path.write_text("".join(lines[: found[skip]]))


def forget_cursor(stage: Sessions) -> None:
    (file,) = (stage.loaded.settings.state_dir or Path()).glob("teams/*.sqlite")
    with closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE boxes SET cursor = 0 WHERE name = 'ann'")


async def test_members_are_there_again_and_go_on_where_they_were(tmp_path: Path) -> None:
    script = BEGUN + of_member(says("Read."), "Read on.") + of_member(says("More."), "And more.") + says("Hello.")
    async with sessions(tmp_path, script, team=True) as stage:
        path, of_ann = await begun(stage)
        async with await stage.open(Opening(resume=path.stem)) as session:
            (row,) = session.background.team.rows
            assert (row.address, row.state, row.role, row.tasks) == (ANN, MemberState.IDLE, "reader", 2)
            await session.background.team.say(["ann"], "And more.")
            await until_rest(session)
        assert mails(of_ann) == ["Read on.", "And more."]
        body = stage.server.requests[-1].body
        assert [one["role"] for one in body["messages"]] == ["user", "assistant"] * 2 + ["user"]


@pytest.mark.parametrize("marked", [True, False])
async def test_what_a_crash_left_is_neither_lost_nor_doubled(tmp_path: Path, *, marked: bool) -> None:
    script = BEGUN + of_member(says("Read.", times="9"))
    async with sessions(tmp_path, script, team=True) as stage:
        path, of_ann = await begun(stage)
        cut(of_ann, StepStarted if marked else MailDelivered, skip=int(marked))
        forget_cursor(stage)
        async with await stage.open(Opening(resume=path.stem)) as session:
            await session.background.team.say(["ann"], "And more.")
            await until_rest(session)
        assert mails(of_ann) == ["Read on.", "And more."]
        ids = [id for event in told(of_ann, MailDelivered) if isinstance(event, MailDelivered) for id in event.ids]
        assert len(ids) == len(set(ids)) == 2


async def test_unread_mail_waits_for_the_first_prompt_of_the_user(tmp_path: Path) -> None:
    script = BEGUN + of_member(says("Read.", times="9")) + says("Hello.")
    async with sessions(tmp_path, script, team=True) as stage:
        path, of_ann = await begun(stage)
        cut(of_ann, TurnStarted, skip=1)
        forget_cursor(stage)
        async with await stage.open(Opening(resume=path.stem)) as session:
            await session.background.team.open()
            before = len(stage.server.requests)
            assert not session.subagents.running
            await played(session.run("hello"))
            await until_rest(session)
            assert len(stage.server.requests) > before
        assert mails(of_ann) == ["Read on."]


async def test_a_member_without_its_mailbox_is_told_as_gone(tmp_path: Path) -> None:
    async with sessions(tmp_path, BEGUN + of_member(says("Read.")) + says("I see."), team=True) as stage:
        path, _ = await begun(stage)
        for file in (stage.loaded.settings.state_dir or Path()).glob("teams/*"):
            file.unlink()
        async with await stage.open(Opening(resume=path.stem)) as session:
            await session.background.team.open()
            await played(session.run("who is there?"))
            assert "ann is gone: its mailbox is gone." in str(stage.server.requests[-1].body["messages"][-1])
        (changed,) = (event for event in told(path, MemberChanged) if event.state is MemberState.ENDED)  # type: ignore[attr-defined]
        assert changed.member == ANN  # type: ignore[attr-defined]


async def test_a_member_that_was_at_work_has_failed_and_says_so(tmp_path: Path) -> None:
    async with sessions(tmp_path, BEGUN + of_member(says("Read.", times="9")) + says("Hm."), team=True) as stage:
        path, _ = await begun(stage)
        cut(path, AgentEnded)
        async with await stage.open(Opening(resume=path.stem)) as session:
            await session.background.team.open()
            (row,) = session.background.team.rows
            assert (row.state, row.why) == (MemberState.FAILED, "it was at work when the session was left")
            await played(session.run("go on"))
            assert "it was at work when the session was left" in str(stage.server.requests[-1].body["messages"])


async def test_long_last_words_of_a_later_run_do_not_take_the_file_of_earlier_ones(tmp_path: Path) -> None:
    numbers = " ".join(map(str, range(3_000)))
    first, second = f"First. {numbers}", f"Second. {numbers}"
    script = calls(start("ann")) + says("Started.") + of_member(says(first), "Look.")
    script += calls(message("ann", "More.")) + says("Sent.", times="9") + of_member(says(second), "More.")
    async with sessions(tmp_path, script, team=True) as stage:
        async with await stage.open() as session:
            await played(session.run("start"))
            await until_rest(session)
        async with await stage.open(Opening(resume=session.path.stem)) as session:
            await played(session.run("go on"))
            await until_rest(session)
        files = sorted(outputs_folder(session.path).glob("a1-mail-*.txt"))
        assert [file.read_text().split()[0] for file in files] == ["First.", "Second."]
