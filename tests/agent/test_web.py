"""Web search and fetch: tools of the server in the loop, on the wire against the practice server's made-up pages."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.agent import Agent
from harness.engine.conversation import Conversation
from harness.events import Block, Event, HistoryRepaired, Json, Message, MessageAdded, Notice, TransitionCode, WebUsed
from harness.model.catalogue import Catalogue
from harness.practice.rule_model import RuleModel
from harness.practice.server import PracticeServer
from harness.practice.web import sealed
from tests.agent.stage import (
    MODEL,
    Played,
    VirtualClock,
    check_requests,
    fails,
    played,
    says,
    settings_of,
    stage,
    summarises,
    too_long,
)

pytestmark = pytest.mark.anyio

SEAL = "https://wiki.practice.example/harbour-seal"
SEARCH: Block = {"type": "server_tool_use", "id": "srvtoolu_1", "name": "web_search", "input": {"query": "seals"}}
FOUND: Block = {
    "type": "web_search_tool_result",
    "tool_use_id": "srvtoolu_1",
    "content": [
        {
            "type": "web_search_result",
            "url": SEAL,
            "title": "Seals",
            "encrypted_content": sealed(SEAL),
            "page_age": None,
        }
    ],
}
CITED: Block = {
    "type": "text",
    "text": "They dive.",
    "citations": [
        {
            "type": "web_search_result_location",
            "url": SEAL,
            "title": "Seals",
            "encrypted_index": sealed(SEAL),
            "cited_text": "dive",
        }
    ],
}


@dataclass
class Here:
    """An agent before the improviser."""

    agent: Agent
    server: PracticeServer
    recorded: list[Event]

    async def turn(self, prompt: str) -> Played:
        return await played(self.agent.run(prompt))

    @property
    def bodies(self) -> list[Json]:
        return [request.body for request in self.server.requests if request.path == "/v1/messages"]


@asynccontextmanager
async def improvised(folder: Path, messages: tuple[Message, ...] = (), **values: object) -> AsyncIterator[Here]:
    async with PracticeServer(RuleModel()) as server:
        loaded = settings_of(folder, server.base_url, **values)
        recorded: list[Event] = []
        conversation = Conversation(recorded.append, messages=messages)
        async with Agent(loaded.settings, conversation=conversation, clock=VirtualClock()) as agent:
            yield Here(agent, server, recorded)
        check_requests([request for request in server.requests if request.path == "/v1/messages"])


def toml(blocks: list[Block]) -> str:
    """Blocks as `content` of an entry of a script."""
    return "[" + ", ".join(f"{{ block = {_toml(block)} }}" for block in blocks) + "]"


def _toml(value: object) -> str:
    match value:
        case dict():
            return (
                "{ " + ", ".join(f"{key} = {_toml(inner)}" for key, inner in value.items() if inner is not None) + " }"
            )
        case list():
            return "[" + ", ".join(map(_toml, value)) + "]"
        case _:
            return json.dumps(value)


def entry(*blocks: Block, **more: str) -> str:
    extra = "\n".join(f"{key} = {value}" for key, value in more.items())
    return f"\n[[reply]]\ncontent = {toml(list(blocks))}\n{extra}\n"


def bare(content: list[Block]) -> list[Block]:
    """Blocks without cache breakpoints."""
    return [{key: value for key, value in block.items() if key != "cache_control"} for block in content]


# ── what is asked for ───────────────────────────────────────────────────────────────────────────────


async def test_the_newest_types_go_to_known_models_and_the_oldest_to_others(tmp_path: Path) -> None:
    on = {"web_search": True, "web_fetch": True}
    async with improvised(tmp_path, (), **on, web_allowed_domains=("practice.example",), web_max_uses=2) as here:
        await here.turn("hello")
        limits = {"allowed_domains": ["practice.example"], "max_uses": 2}
        newest = [tool for tool in here.bodies[0]["tools"] if "type" in tool]
        assert newest == [
            {"type": "web_search_20260318", "name": "web_search", "allowed_callers": ["direct"], **limits},
            {
                "type": "web_fetch_20260318",
                "name": "web_fetch",
                "allowed_callers": ["direct"],
                **limits,
                "citations": {"enabled": True},
            },
        ]
    async with stage(tmp_path, says("a"), web_search=True, model="claude-some-day") as there:
        await there.turn()
        assert there.bodies[0]["tools"][-1] == {"type": "web_search_20250305", "name": "web_search"}


# ── a search ────────────────────────────────────────────────────────────────────────────────────────


async def test_a_paused_search_is_sent_back_byte_for_byte_and_continues(tmp_path: Path) -> None:
    async with improvised(tmp_path, web_search=True, web_fetch=True) as here:
        turn = await here.turn("search the web for harbour seals")
        first, second = here.bodies
        added = [event.message for event in turn.of(MessageAdded)]
        assert turn.codes == [TransitionCode.NEXT_TURN, TransitionCode.COMPLETED]
        assert [bare(one["content"]) for one in second["messages"][:-1]] == [
            bare(one["content"]) for one in first["messages"]
        ]
        last = second["messages"][-1]
        assert last["role"] == "assistant", "the server continues without a user message"
        assert bare(last["content"]) == list(added[1].content)
        assert [block["type"] for block in last["content"]][-1] == "server_tool_use"
        assert [(event.tool, event.outcome) for event in turn.of(WebUsed)] == [
            ("web_search", "3 results"),
            ("web_fetch", "1 page"),
        ]
        assert turn.end.sources[0].url == SEAL
        assert "100 kg" in turn.end.answer
        assert turn.end.usage.web_searches == 1
        await here.turn("thank you")
        sent = here.bodies[2]["messages"][1]["content"]
        assert json.dumps(sent) == json.dumps([*added[1].content, *added[2].content])
        assert not [event for event in here.recorded if isinstance(event, HistoryRepaired)]


async def test_a_search_costs_what_the_price_list_says(tmp_path: Path) -> None:
    async with improvised(tmp_path, web_search=True) as here:
        turn = await here.turn("search the web for harbour seals")
        price = Catalogue().price(MODEL)
        assert price is not None
        usage = turn.end.usage
        assert turn.end.cost_usd == pytest.approx(price.cost(usage))
        assert turn.end.cost_usd > 0.01 * usage.web_searches == 0.01


# ── what breaks ─────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("at", range(3, 14))
async def test_wherever_the_stream_breaks_the_history_stays_valid(tmp_path: Path, at: int) -> None:
    broken = entry({"type": "text", "text": "Looking."}, SEARCH, FOUND, CITED, fault=f'{{ kind = "reset", at = {at} }}')
    async with stage(tmp_path, broken + says("They dive deep.") + says("Good."), web_search=True) as here:
        turn = await here.turn()
        assert turn.end.code is TransitionCode.COMPLETED
        await here.turn("And now?")


async def test_a_server_that_never_stops_pausing_ends_the_turn(tmp_path: Path) -> None:
    pauses = "".join(
        entry({**SEARCH, "id": f"s{n}"}, {**FOUND, "tool_use_id": f"s{n}"}, stop_reason='"pause_turn"')
        for n in range(6)
    )
    async with stage(tmp_path, pauses, web_search=True) as here:
        turn = await here.turn()
        assert turn.codes == [*[TransitionCode.NEXT_TURN] * 5, TransitionCode.BUDGET_EXHAUSTED]
        assert "paused its tools 6 times" in turn.end.reason


@pytest.mark.parametrize(
    "refusal",
    [
        "tools.9: Input tag 'web_search_20260318' found using 'type' does not match any of the expected tags: 'custom'",
        "'claude-sonnet-4-6' does not support tool types: web_search_20260318. Did you mean one of bash_20250124?",
        "Web search is not enabled for this organization.",
        "tools[9]: unknown tool type 'web_search_20260318'",
    ],
)
async def test_a_server_without_the_tool_is_reported_and_asked_without_it_from_then_on(
    tmp_path: Path, refusal: str
) -> None:
    refused = fails(400, message=json.dumps(refusal))
    async with stage(tmp_path, refused + says("Without.") + says("Again."), web_search=True) as here:
        turn = await here.turn()
        await here.turn("And now?")
        assert turn.end.answer == "Without."
        assert [any("type" in tool for tool in body["tools"]) for body in here.bodies] == [True, False, False]
        [notice] = turn.of(Notice)
        assert notice.text == f"{MODEL} does not support web search or fetch; these tools are omitted from now on"


async def test_a_model_without_the_tool_reads_earlier_searches_in_words(tmp_path: Path) -> None:
    searched = entry({"type": "text", "text": "Looking."}, SEARCH, FOUND, CITED)
    refused = fails(400, message='"Unsupported tool type: web_search_20260318"')
    async with stage(tmp_path, searched + refused + says("In words."), web_search=True) as here:
        await here.turn()
        await here.turn("And now?")
        sent = here.bodies[2]["messages"][1]["content"]
        assert {block["type"] for block in sent} == {"text"}
        assert not any("citations" in block for block in sent)
        assert f"Seals {SEAL}" in sent[2]["text"]


# ── a history that is made shorter ──────────────────────────────────────────────────────────────────


async def test_a_summary_and_a_cut_of_a_history_with_searches_are_valid(tmp_path: Path) -> None:
    searched = entry({"type": "text", "text": "Looking."}, SEARCH, FOUND, CITED)
    script = summarises() + searched + says("b") + says("c")
    async with stage(tmp_path, script, web_search=True) as here:
        await here.turn()
        await here.turn("And now?")
        await here.compact()
        asked = here.bodies[-1]["messages"]
        assert {block["type"] for message in asked for block in message["content"]} == {"text"}
        await here.turn("Go on.")


async def test_an_overflow_behind_a_search_is_cut_and_continues(tmp_path: Path) -> None:
    many = {**FOUND, "content": FOUND["content"] * 100}
    searched = entry({"type": "text", "text": "Looking."}, SEARCH, many, CITED)
    no_summary = '\n[[reply]]\nwhen = { purpose = "summary" }\nstatus = 400\nmessage = "no"\ntimes = "forever"\n'
    script = no_summary + searched + too_long() + says("Short.")
    async with stage(tmp_path, script, web_search=True) as here:
        await here.turn()
        turn = await here.turn("And now?")
        assert turn.end.answer == "Short.", turn.end.reason
