"""Web search and fetch of the practice server: made-up pages, the same each time, with the limits of the real tools."""

import json
from typing import Any

import pytest

from harness.events import Block, Json
from harness.practice.rule_model import RuleModel
from harness.practice.server import PracticeServer
from harness.practice.web import PAGES, run, sealed, unsealed
from tests.practice.raw_client import post

pytestmark = pytest.mark.anyio

SEARCH = {"type": "web_search_20260318", "name": "web_search"}
FETCH = {"type": "web_fetch_20260318", "name": "web_fetch"}
SEAL = "https://wiki.practice.example/harbour-seal"


def asks(prompt: str, *tools: Json, messages: list[Json] | None = None) -> Json:
    asked = messages or [{"role": "user", "content": prompt}]
    return {"model": "claude-sonnet-4-6", "max_tokens": 1_000, "messages": asked, "tools": list(tools)}


def searched(tool: Json, query: str, used: int = 0) -> Any:
    call = {"id": "s1", "name": "web_search", "input": {"query": query}}
    return run(asks("x", tool), call, used)["content"]


def fetched(tool: Json, url: str, prompt: str) -> Any:
    return run(asks(prompt, tool), {"id": "f1", "name": "web_fetch", "input": {"url": url}})["content"]


def test_a_search_finds_the_pages_that_share_its_words_first() -> None:
    assert searched(SEARCH, "harbour seals")[0]["url"] == SEAL
    assert searched(SEARCH, "what does Retry-After mean")[0]["url"].endswith("/retry-after")
    assert all("made-up" in page.title for page in PAGES)


@pytest.mark.parametrize(
    ("limits", "hosts"),
    [
        ({"allowed_domains": ["docs.practice.example"]}, {"docs.practice.example"}),
        ({"blocked_domains": ["wiki.practice.example", "news.practice.example"]}, {"docs.practice.example"}),
        ({"allowed_domains": ["practice.example/rain"]}, {"wiki.practice.example"}),
        ({"allowed_domains": ["example.org"]}, set()),
    ],
)
def test_the_domain_lists_hold(limits: Json, hosts: set[str]) -> None:
    assert {one["url"].split("/")[2] for one in searched(SEARCH | limits, "anything")} == hosts


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (searched(SEARCH | {"max_uses": 2}, "seals", used=2), "max_uses_exceeded"),
        (searched(SEARCH, "x" * 1_001), "query_too_long"),
        (searched(SEARCH, " "), "invalid_tool_input"),
        (fetched(FETCH, "https://nowhere.example/", "read https://nowhere.example/"), "url_not_accessible"),
        (fetched(FETCH, SEAL, "read something"), "url_not_in_prior_context"),
        (fetched(FETCH | {"blocked_domains": ["practice.example"]}, SEAL, f"read {SEAL}"), "url_not_allowed"),
    ],
)
def test_errors_are_in_the_result_as_the_api_gives_them(content: Json, code: str) -> None:
    assert content["error_code"] == code


def test_a_seal_that_was_changed_opens_no_more() -> None:
    seal = sealed(SEAL)
    assert unsealed(seal) == SEAL
    assert unsealed(seal[:-1] + ("0" if seal[-1] != "0" else "1")) is None
    assert unsealed("sealed by another server") == ""


async def test_the_reply_pauses_at_the_second_call_and_continues_with_its_result() -> None:
    async with PracticeServer(RuleModel()) as server:
        body = asks("search the web for harbour seals", SEARCH, FETCH)
        first = (await post(server.base_url, body)).json
        types = [block["type"] for block in first["content"]]
        assert (first["stop_reason"], types[-1]) == ("pause_turn", "server_tool_use")
        assert first["usage"]["server_tool_use"] == {"web_search_requests": 1, "web_fetch_requests": 0}
        paused = [*body["messages"], {"role": "assistant", "content": first["content"]}]
        second = (await post(server.base_url, asks("", SEARCH, FETCH, messages=paused))).json
    result, text = second["content"]
    assert result["tool_use_id"] == first["content"][-1]["id"]
    assert (second["stop_reason"], result["type"]) == ("end_turn", "web_fetch_tool_result")
    assert {one["url"] for one in text["citations"]} >= {SEAL}
    assert unsealed(text["citations"][0]["encrypted_index"]) == text["citations"][0]["url"]


CALL: Block = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {"query": "seals"}}
FOUND: Block = {
    "type": "web_search_tool_result",
    "tool_use_id": "s1",
    "content": [{"type": "web_search_result", "url": SEAL, "title": "Seals", "encrypted_content": sealed(SEAL)}],
}
DONE: Block = {"type": "text", "text": "Done."}


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ([CALL, FOUND, DONE], None),
        ([CALL, DONE], "was found without a corresponding `web_search_tool_result` block"),
        ([FOUND, DONE], "unexpected `tool_use_id` found in `web_search_tool_result` blocks: s1"),
        ([CALL, json.loads(json.dumps(FOUND).replace("practice.", "practice.X")), DONE], "Invalid `encrypted_content`"),
    ],
)
async def test_a_history_is_refused_where_the_api_would(content: list[Block], why: str | None) -> None:
    user: Json = {"role": "user", "content": "hi"}
    async with PracticeServer(RuleModel()) as server:
        history: list[Json] = [user, {"role": "assistant", "content": content}, user]
        answer = await post(server.base_url, asks("", SEARCH, messages=history))
    assert answer.status == (200 if why is None else 400)
    assert why is None or why in answer.json["error"]["message"]


@pytest.mark.parametrize(
    ("tool", "why"),
    [
        (SEARCH | {"allowed_domains": ["a.example"], "blocked_domains": ["b.example"]}, "Only one of"),
        (SEARCH | {"allowed_domains": ["https://a.example"]}, "leave out the scheme"),
        (SEARCH | {"max_uses": 0}, "greater than 0"),
        (SEARCH | {"max_content_tokens": 5}, "max_content_tokens: Extra inputs are not permitted"),
        ({"type": "web_search_20270101", "name": "web_search"}, "does not match any of the expected tags"),
    ],
)
async def test_a_definition_is_refused_where_the_api_would(tool: Json, why: str) -> None:
    async with PracticeServer(RuleModel()) as server:
        answer = await post(server.base_url, asks("hi", tool))
    assert (answer.status, why in answer.json["error"]["message"]) == (400, True), answer.json
