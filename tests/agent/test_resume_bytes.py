"""A resumed session sends the bytes that the uninterrupted one would have sent, so that the prompt cache still fits."""

import json
import re
import shutil
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path

import pytest

from harness.events import (
    Event,
    FaultOccurred,
    HistoryReplaced,
    Json,
    Message,
    MessageAdded,
    PlanReminded,
    PromptListsRead,
    ReplyReceived,
    RequestSent,
    ThinkingOmitted,
    TransitionCode,
)
from harness.hooks import Hook, HookAnswer, HookCall, hook
from harness.journal import read
from harness.model import prices
from harness.practice.checks.rules import ServerRules
from harness.practice.requests import Purpose, purpose
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from harness.practice.wire.replies import Part, ScriptedReply, TextPart, ToolUse
from harness.session import NoAsker, Opening, Session, open_session
from harness.settings import LoadedSettings
from harness.ui.commands.commands import COMMANDS
from harness.ui.commands.results import ShowText
from harness.ui.lines.events import line_of
from tests.agent.stage import Played, check_requests, played, settings_of
from tests.whole import stride

pytestmark = pytest.mark.anyio

MODEL = "claude-opus-5-5"
TURNS = 20
PROMPT = re.compile(r"Turn (\d+)\b")
SKILL = "---\nname: release\ndescription: How a release is made.\n---\nTag it, then build it.\n"
PLAN = [{"text": "look", "status": "in_progress", "tools": []}, {"text": "write", "status": "pending", "tools": []}]


class Model:
    """Says the same to the same conversation, so that two runs of it can be held against each other."""

    def answer(self, request: Json) -> ScriptedReply:
        if purpose(request) is Purpose.SUMMARY:
            return ScriptedReply((TextPart("Requests: turns of a test. Next: the next turn."),))
        turn, rounds = place_in(request)
        calls = rounds_of(turn)
        if rounds == len(calls):
            return ScriptedReply((TextPart(f"That was turn {turn}."),))
        return ScriptedReply((TextPart(f"Round {rounds}."), *calls[rounds]))


def place_in(request: Json) -> tuple[int, int]:
    """The turn that the last prompt names, and how many replies came since."""
    rounds = 0
    for message in reversed(request["messages"]):
        if message["role"] == "assistant":
            rounds += 1
            continue
        for block in reversed(message["content"]):
            if block.get("type") == "text" and (found := PROMPT.match(block["text"])):
                return int(found[1]), rounds
    return 0, rounds


def rounds_of(turn: int) -> list[tuple[Part, ...]]:
    """The tool calls of a turn, round by round."""

    def call(name: str, input: Json, number: int = 0) -> ToolUse:
        return ToolUse(name, input, id=f"toolu_{turn}_{name}_{number}")

    match turn % 6:
        case 1:
            return [(call("todo_write", {"items": PLAN}),)]
        case 2:
            kept = {
                "type": "user",
                "name": f"fact {turn}",
                "description": f"What turn {turn} found.",
                "text": "So it is.",
            }
            return [(call("remember", kept),)]
        case 3:
            return [(call("skill", {"name": "release"}),)]
        case 4:
            return [
                (call("bash", {"command": f"echo {turn}-{n}"}, n), call("glob", {"pattern": "*"}, n)) for n in (1, 2)
            ]
        case 5:
            return [(call("read_file", {"path": "notes.txt"}, n),) for n in (1, 2, 3)]
        case _:
            return []


def hooks() -> list[Hook]:
    """Hooks that add words to prompts, to results and after a compaction."""

    @hook("prompt_submit", name="clock")
    def about_the_prompt(call: HookCall) -> HookAnswer:
        return HookAnswer(context=f"The prompt has {len(str((call.input or {})['prompt']))} characters.")

    @hook("after_tool", name="checker", tools="bash")
    def about_the_result(call: HookCall) -> HookAnswer:
        return HookAnswer(context="It was checked.")

    @hook("after_compaction", name="keeper")
    def about_the_summary(call: HookCall) -> HookAnswer:
        return HookAnswer(context="Shortened.")

    return [about_the_prompt, about_the_result, about_the_summary]


@asynccontextmanager
async def serving() -> AsyncIterator[PracticeServer]:
    """A server whose thinking is valid only behind the very bytes that it was written behind."""
    async with PracticeServer(Model(), script=Script(rules=ServerRules(bind_thinking=True))) as server:
        yield server


def fresh(folder: Path, server: PracticeServer) -> LoadedSettings:
    """Settings of a new folder."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    loaded = settings_of(
        folder, server.base_url, model=MODEL, plan_reminder=2, user_dir=folder / "user", home_dir=folder / "home"
    )
    workspace = loaded.settings.workspace
    (workspace / "notes.txt").write_text("a note\n" * 40)
    (workspace / "AGENTS.md").write_text("Write short sentences.\n")
    skill = workspace / ".harness" / "skills" / "release" / "SKILL.md"
    skill.parent.mkdir(parents=True)
    skill.write_text(SKILL)
    return loaded


async def turn(session: Session, number: int) -> None:
    """One turn and the changes before it."""
    if number == 8:
        await played(session.user_commands.shell("echo by hand"))
    if number == 12:
        assert (await played(session.user_commands.compact())).of(HistoryReplaced)
    if number == 17:
        session.rewind.to_turn(session.conversation.turn)
    done = await played(session.run(f"Turn {number}: go on."))
    assert done.end.code is TransitionCode.COMPLETED, done.end
    assert not done.of(ThinkingOmitted)


async def uninterrupted(loaded: LoadedSettings, server: PracticeServer) -> Path:
    """The whole session in one go; its journal."""
    async with await open_session(loaded, NoAsker(), hooks=hooks()) as session:
        for number in range(1, TURNS + 1):
            await turn(session, number)
        return session.path


def bodies(server: PracticeServer, since: int = 0) -> list[str]:
    """The bodies of the requests, byte by byte, without the id of the message before, which the server makes up."""
    posts = [request.body for request in server.requests[since:] if request.path == "/v1/messages"]
    return [json.dumps({**body, "diagnostics": None}) for body in posts]


@pytest.mark.stories
async def test_a_session_resumed_before_every_turn_sends_what_the_uninterrupted_one_does(tmp_path: Path) -> None:
    folder = tmp_path / "here"
    async with serving() as server:
        path = await uninterrupted(fresh(folder, server), server)
        wanted, events = bodies(server), Played([record.event for record in read(path).records])
        assert not [result["content"] for result in events.results if result.get("is_error")]
        assert all(events.of(kind) for kind in (PlanReminded, HistoryReplaced, PromptListsRead))
        assert all("Compared with the list in the system prompt" in body for body in wanted[-3:])
        since, loaded = len(server.requests), fresh(folder, server)
        for number in range(1, TURNS + 1):
            opening = Opening("latest") if number > 1 else Opening()
            async with await open_session(loaded, NoAsker(), opening, hooks=hooks()) as session:
                await turn(session, number)
        sent = bodies(server, since)
        check_requests(server.requests)
    for at, (one, other) in enumerate(zip(wanted, sent, strict=True)):
        assert one == other, f"request {at} differs"


async def test_a_session_resumed_after_any_event_sends_all_that_was_said_unchanged(tmp_path: Path) -> None:
    async with serving() as server:
        loaded = fresh(tmp_path / "here", server)
        path = await uninterrupted(loaded, server)
        records = read(path).records
        lines, first = path.read_bytes().splitlines(keepends=True), json.loads(bodies(server)[0])
        assert len(lines) == len(records)
        for number in islice(range(1, len(lines) + 1), 0, None, stride(120)):
            events = [record.event for record in records[:number]]
            cut = path.with_name(f"20261121-0000-{number:06}.jsonl")
            cut.write_bytes(b"".join(lines[:number]))
            async with await open_session(loaded, NoAsker(), Opening(cut.stem), hooks=hooks()) as session:
                since = len(server.requests)
                done = await played(session.run("Turn 6: where were we?"))
                assert not done.of(FaultOccurred), f"after event {number}"
                assert not done.of(ThinkingOmitted), f"after event {number}"
            body = server.requests[since].body
            said = list(blocks_of(history_after(events)))
            sent = [(message["role"], bare(block)) for message in body["messages"] for block in message["content"]]
            assert json.dumps(sent[: len(said)]) == json.dumps(said), f"after event {number}"
            if any(isinstance(event, RequestSent) for event in events):
                assert json.dumps([body["tools"], body["system"]]) == json.dumps([first["tools"], first["system"]])


async def begun(loaded: LoadedSettings) -> Path:
    """A session of two turns; its journal."""
    async with await open_session(loaded, NoAsker()) as session:
        for number in (1, 2):
            await turn(session, number)
        return session.path


async def test_changed_instructions_leave_out_the_thinking_and_are_reported(tmp_path: Path) -> None:
    async with serving() as server:
        loaded = fresh(tmp_path / "here", server)
        await begun(loaded)
        (loaded.settings.workspace / "AGENTS.md").write_text("Write long sentences.\n")
        async with await open_session(loaded, NoAsker(), Opening("latest")) as session:
            (omitted,) = (await played(session.run("Turn 6: go on."))).of(ThinkingOmitted)
            assert str(line_of(omitted)).endswith(
                "left out from here on: changed since the last request: system prompt"
            )
            cost = COMMANDS["cost"].run(session, "")
            assert isinstance(cost, ShowText)
            assert re.search(r"missed in 1 request, about [\d,]{5,} tokens: the system prompt changed \(1\)", cost.text)
            assert not (await played(session.run("Turn 6: and now?"))).of(ThinkingOmitted)
        assert [json.dumps(request.body).count('"type": "thinking"') for request in server.requests[-2:]] == [0, 1]
        async with await open_session(loaded, NoAsker(), Opening("latest")) as session:
            assert not (await played(session.run("Turn 6: again."))).of(ThinkingOmitted)
            assert [miss.reason for miss in session.conversation.state.cache_misses] == ["system_changed"]
        assert json.dumps(server.requests[-1].body).count('"type": "thinking"') == 2


async def test_a_journal_of_an_earlier_version_is_sent_without_thinking(tmp_path: Path) -> None:
    async with serving() as server:
        loaded = fresh(tmp_path / "here", server)
        path = await begun(loaded)
        kept = [json.loads(line) for line in path.read_bytes().splitlines()]
        older = [{name: value for name, value in data.items() if "_digest" not in name} for data in kept]
        path.write_text("".join(f"{json.dumps(data)}\n" for data in older if data["type"] != "prompt_lists_read"))
        async with await open_session(loaded, NoAsker(), Opening("latest")) as session:
            assert len((await played(session.run("Turn 6: go on."))).of(ThinkingOmitted)) == 1
        assert "thinking" not in json.dumps(server.requests[-1].body["messages"])


async def test_system_prompt_and_tools_are_kept_for_an_hour_where_that_is_set(tmp_path: Path) -> None:
    async with serving() as server:
        loaded = fresh(tmp_path / "here", server)
        settings = loaded.settings.model_copy(update={"cache_ttl": "1h"})
        async with await open_session(replace(loaded, settings=settings), NoAsker()) as session:
            done = await played(session.run("Turn 6: go on."))
            (usage,) = [event.usage for event in done.of(ReplyReceived)]
            price = prices.price_of([MODEL])
            assert price is not None
            assert 1_024 < usage.cache_creation_1h < usage.cache_creation
            dear = usage.cache_creation_1h * (price.cache_write_1h - price.cache_write_5m) * price.input / 1e6
            cheap = price.cost(replace(usage, cache_creation_1h=0))
            assert cheap is not None
            assert session.conversation.spend.cost_usd == pytest.approx(cheap + dear)


def history_after(events: Sequence[Event]) -> list[Message]:
    """The history after these events, by the simplest reading."""
    messages: list[Message] = []
    for event in events:
        match event:
            case MessageAdded(message=message):
                messages.append(message)
            case HistoryReplaced(messages=others):
                messages = list(others)
    return messages


def blocks_of(messages: Sequence[Message]) -> Iterator[tuple[str, Json]]:
    for message in messages:
        for block in message.content:
            yield message.role, block


def bare(block: Json) -> Json:
    """The block without its cache breakpoint."""
    return {key: value for key, value in block.items() if key != "cache_control"}
