"""A session that was killed at any moment continues from its journal."""

import asyncio
import json
import os
import random
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

import pytest

from harness import journal
from harness.base.errors import JournalError, UnknownSession
from harness.events import (
    Event,
    HistoryRepaired,
    HistoryReplaced,
    Message,
    MessageAdded,
    SessionResumed,
    SessionStarted,
    TransitionCode,
    TurnEnded,
    TurnStarted,
)
from harness.journal import read, replay
from harness.practice.requests import messages as messages_of
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from harness.session import NoAsker, Opening, Session, open_session
from harness.settings import LoadedSettings
from tests.agent.stage import calls, check_requests, left_running, played, ran_in, run, says, settings_of, too_long
from tests.ui.warm import Piped
from tests.whole import stride

pytestmark = pytest.mark.anyio

AGAIN = "Where were we?"
SCRIPT = (
    f"[[reply]]\nwhen = {{ text = '{AGAIN}' }}\ntext = 'Here.'\ntimes = 'forever'\n"
    "[[reply]]\nwhen = { purpose = 'summary' }\ntext = 'Next: answer.'\n"
    + calls(run("first"), run("second"), '{ name = "glob", input = { pattern = "*" } }', text="I look.")
    + too_long()
    + calls(run("third"), text="Once more.")
    + '[[reply]]\ncontent = [{ text = "The note says " }, { text = "fo" }]\nfault = { kind = "reset", at = 7 }\n'
    + says("forty-two.")
)
"""Tool rounds, a compaction, a stream that breaks after complete text."""


async def whole_journal(folder: Path) -> bytes:
    """The journal of an eventful session."""
    folder.mkdir()
    async with (
        PracticeServer(script=Script.parse(SCRIPT)) as server,
        await open_session(settings_of(folder, server.base_url), NoAsker()) as session,
    ):
        turn = await played(session.run("What does the note say?"))
        assert (turn.end.code, turn.end.answer) == (TransitionCode.COMPLETED, "The note says forty-two.")
        assert turn.of(HistoryReplaced)
        return session.path.read_bytes()


def kept(loaded: LoadedSettings, data: bytes, id: str) -> Path:
    """A journal in the place where sessions live, as a killed process left it."""
    settings = loaded.settings
    folder = journal.session_folder(settings.workspace, settings.state_dir)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{id}.jsonl"
    path.write_bytes(data)
    return path


def cuts(data: bytes) -> Iterator[bytes]:
    """The journal as it was after each event, and torn in the middle of some."""
    lines = data.splitlines(keepends=True)
    for number in range(1, len(lines) + 1):
        yield b"".join(lines[:number])
    dice = random.Random(7)
    for _ in range(20):
        yield data[: dice.randrange(1, len(data))]


async def goes_on(session: Session, server: PracticeServer) -> None:
    """The next prompt works, and sends the recorded history, repaired."""
    before = session.resumed_from.messages
    turn = await played(session.run(AGAIN))
    assert (turn.end.code, turn.end.answer) == (TransitionCode.COMPLETED, "Here.")
    check_requests(server.requests)
    sent = messages_of(server.requests[-1].body)
    if not turn.of(HistoryRepaired):
        assert texts(sent) == texts([*before, *(event.message for event in turn.of(MessageAdded)[:-1])])
    assert calls_in(sent) == calls_in(before)
    after = replay(read(session.path).records)
    assert after.messages[-1].text == "Here."
    assert not after.interrupted


def texts(messages: Sequence[Message]) -> str:
    return "".join(message.text for message in messages)


def calls_in(messages: Sequence[Message]) -> list[str]:
    return [block["id"] for message in messages for block in message.content if block.get("type") == "tool_use"]


def unfinished(events: Sequence[Event]) -> bool:
    """A turn began and did not end, by the simplest reading."""
    begun = sum(isinstance(event, TurnStarted) for event in events)
    return begun > sum(isinstance(event, TurnEnded) for event in events)


async def test_a_session_killed_after_any_event_continues(tmp_path: Path) -> None:
    data = await whole_journal(tmp_path / "first")
    async with PracticeServer(script=Script.parse(SCRIPT)) as server:
        loaded = settings_of(tmp_path, server.base_url)
        for number, cut in islice(enumerate(cuts(data)), 0, None, stride(3)):
            path = kept(loaded, cut, f"20261121-0000-{number:06}")
            reading = read(path)
            async with await open_session(loaded, NoAsker(), Opening(path.stem)) as session:
                assert session.resumed_from == replay(reading.records)
                assert session.skipped_lines == len(reading.skipped) <= 1
                resumed = [record.event for record in read(path).records if isinstance(record.event, SessionResumed)]
                assert [event.skipped_lines for event in resumed] == [session.skipped_lines]
                interrupted = unfinished([record.event for record in reading.records])
                assert [event.interrupted for event in resumed] == [interrupted]
                await goes_on(session, server)
        assert ran_in(loaded.settings.workspace) == {}


async def test_a_program_that_was_killed_in_the_middle_of_a_tool_continues(tmp_path: Path) -> None:
    script = f"[[reply]]\nwhen = {{ text = '{AGAIN}' }}\ntext = 'Here.'\n" + calls(
        run("before"), '{ name = "bash", input = { command = "echo begun >> ran.txt; echo > begun; exec sleep 60" } }'
    )
    async with PracticeServer(script=Script.parse(script)) as server:
        loaded = settings_of(tmp_path, server.base_url)
        workspace = loaded.settings.workspace
        os.mkfifo(workspace / "begun")
        flags = ["-p", "Please look.", "--yolo", "--model", "claude-sonnet-4-6", "--cwd", str(workspace)]
        environment = {
            "PATH": "/usr/bin:/bin",
            "HARNESS_STATE_DIR": str(loaded.settings.state_dir),
            "ANTHROPIC_BASE_URL": server.base_url,
            "ANTHROPIC_API_KEY": "sk-ant-of-the-killed-program",
            "PYTHONPATH": str(Path(__file__).parents[2]),
            "HOME": str(tmp_path),
        }
        program = await Piped.begin(tmp_path, flags, environment)
        program.stdin.close()
        async with asyncio.timeout(60):
            await asyncio.to_thread((workspace / "begun").read_text)
        program.kill()
        await program.wait()
        async with await open_session(loaded, NoAsker(), Opening("latest")) as session:
            assert session.resumed_from.interrupted
            await goes_on(session, server)
        results = [
            block
            for message in messages_of(server.requests[-1].body)
            for block in message.content
            if block.get("type") == "tool_result"
        ]
        assert [result.get("is_error", False) for result in results] == [True, True]
        assert ran_in(workspace) == {"before": 1, "begun": 1}
        assert left_running(loaded.settings) == []


async def test_a_copy_continues_and_the_original_stays_as_it_is(tmp_path: Path) -> None:
    data = await whole_journal(tmp_path / "first")
    async with PracticeServer(script=Script.parse(SCRIPT)) as server:
        loaded = settings_of(tmp_path, server.base_url)
        path = kept(loaded, data, json.loads(data.splitlines()[0])["session_id"])
        async with await open_session(loaded, NoAsker(), Opening(path.stem, fork=True)) as session:
            assert session.id != path.stem
            await goes_on(session, server)
            copy = read(session.path).records
        assert path.read_bytes() == data
        started = [record.event for record in copy if isinstance(record.event, SessionStarted)]
        assert [event.forked_from for event in started] == [path.stem]


async def test_a_session_in_use_is_refused_in_one_sentence_and_can_be_copied(tmp_path: Path) -> None:
    async with PracticeServer(script=Script.parse(SCRIPT)) as server:
        loaded = settings_of(tmp_path, server.base_url)
        async with await open_session(loaded, NoAsker()) as session:
            await played(session.run(AGAIN))
            with pytest.raises(JournalError, match=r"is open in process .* --fork-session"):
                await open_session(loaded, NoAsker(), Opening(session.id))
            async with await open_session(loaded, NoAsker(), Opening(session.id, fork=True)) as copy:
                await goes_on(copy, server)
            await played(session.run(AGAIN))
        assert session.conversation.turn == 2


async def test_an_unknown_session_is_named_and_nothing_is_left_behind(tmp_path: Path) -> None:
    loaded = settings_of(tmp_path, "http://127.0.0.1:9")
    with pytest.raises(UnknownSession, match="20261121"):
        await open_session(loaded, NoAsker(), Opening("20261121"))
    assert loaded.settings.state_dir is not None
    assert not loaded.settings.state_dir.exists()


async def test_the_model_chosen_last_is_the_model_of_the_session(tmp_path: Path) -> None:
    async with PracticeServer(script=Script.parse(SCRIPT)) as server:
        flags = {"model": None}
        loaded = settings_of(tmp_path, server.base_url, **flags)
        async with await open_session(loaded, NoAsker()) as session:
            session.models.select("claude-haiku-4-5")
            await played(session.run(AGAIN))
        async with await open_session(loaded, NoAsker(), Opening("latest")) as session:
            assert session.models.current == "claude-haiku-4-5"
            await goes_on(session, server)
        assert {request.body["model"] for request in server.requests} == {"claude-haiku-4-5"}
