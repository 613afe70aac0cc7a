"""The prompt cache, held against an oracle that keeps whole prefixes and looks through all of them."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest
from anthropic import AsyncAnthropic
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.events import Json
from harness.practice.checks.rules import ServedModel
from harness.practice.prompt_cache import PromptCache
from harness.practice.requests import messages as values_of
from harness.practice.rule_model import RuleModel
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from tests.practice.raw_client import post, request
from tests.whole import WHOLE

MINIMUM = 12


class Letters:
    """Counts one token for each letter of a text, so that an oracle can too."""

    def count_text(self, text: str) -> int:
        return len(text)

    def count_request(self, system: Any, tools: Any, messages: Any) -> int:
        blocks = [*tools, *system, *(block for message in messages for block in message.content)]
        return sum(len(block.get("text", block.get("name", ""))) for block in blocks)


@dataclass
class Oracle:
    """Remembers every prefix that was written, block by block."""

    written: list[tuple[list[Any], float, float]] = field(default_factory=list)
    """A prefix, how long it lives, and until when."""

    def usage(self, body: Json, now: float) -> tuple[int, int, int, int]:
        row = [("tool", tool) for tool in body["tools"]] + [("system", block) for block in body["system"]]
        start = len(row)
        row += [(message["role"], block) for message in body["messages"] for block in message["content"]]
        marks = {
            at: block["cache_control"].get("ttl", "5m") for at, (_, block) in enumerate(row) if "cache_control" in block
        }
        bare = [(role, {k: v for k, v in block.items() if k != "cache_control"}) for role, block in row]

        def prefix(at: int) -> list[Any]:
            later = [body["tool_choice"]] if at >= start else []
            return [body["model"], *later, *bare[: at + 1]]

        def size(at: int) -> int:
            return sum(len(block.get("text", block.get("name", ""))) for _, block in bare[: at + 1])

        near = {at for mark in marks for at in range(max(0, mark - 19), mark + 1)}
        hits = [at for at in near if any(old == prefix(at) and until > now for old, _, until in self.written)]
        read = size(max(hits)) if hits else 0
        writes = {at: ttl for at, ttl in marks.items() if size(at) >= MINIMUM}
        new = max(0, max(map(size, writes), default=0) - read)
        hour = max(0, max((size(at) for at, ttl in writes.items() if ttl == "1h"), default=0) - read)
        lives = {at: 300.0 if ttl == "5m" else 3600.0 for at, ttl in writes.items()}
        if hits:
            lives.setdefault(max(hits), 0.0)
        for at, seconds in lives.items():
            living = [old for old in self.written if old[0] == prefix(at) and old[2] > now]
            longest = max([seconds, *(old[1] for old in living)])
            self.written = [old for old in self.written if old[0] != prefix(at)]
            self.written.append((prefix(at), longest, now + longest))
        return read, new - hour, hour, size(len(row) - 1)


marks = st.sampled_from([None, None, None, "5m", "1h"])


def block(text: str, mark: str | None, kind: str = "text") -> Json:
    made: Json = (
        {"type": "text", "text": text} if kind == "text" else {"name": text, "input_schema": {"type": "object"}}
    )
    return made | ({} if mark is None else {"cache_control": {"type": "ephemeral", "ttl": mark}})


@st.composite
def bodies(draw: st.DrawFn) -> Json:
    """Requests, many with a common beginning."""
    words = st.sampled_from(["aaaa", "bbbb", "a much longer text"])
    many = draw(st.integers(0, 25))
    content = [block(f"line {at}", None) for at in range(many)] + [
        block(draw(words), draw(marks)) for _ in range(draw(st.integers(1, 4)))
    ]
    split = draw(st.integers(1, len(content)))
    return {
        "model": "practice-1",
        "tools": [block(draw(words), draw(marks), "tool") for _ in range(draw(st.integers(0, 1)))],
        "system": [block(draw(words), draw(marks)) for _ in range(draw(st.integers(0, 2)))],
        "tool_choice": draw(st.sampled_from([None, None, {"type": "auto"}])),
        "messages": [
            {"role": role, "content": part}
            for role, part in (("user", content[:split]), ("assistant", content[split:]))
            if part
        ],
    }


@settings(max_examples=300 if WHOLE else 100, deadline=None)
@given(st.lists(st.tuples(bodies(), st.sampled_from([0.0, 1.0, 290.0, 301.0, 3590.0, 3601.0])), min_size=1, max_size=6))
def test_reads_and_writes_are_those_of_the_oracle(steps: list[tuple[Json, float]]) -> None:
    now = 0.0
    cache, oracle, model = (
        PromptCache(lambda: now),
        Oracle(),
        ServedModel("practice-1", 10**6, 1, cache_minimum=MINIMUM),
    )
    for body, pause in steps:
        now += pause
        assert Letters().count_request(body["system"], body["tools"], values_of(body)) == oracle_size(body)
        lookup = cache.look_up(body, model, Letters())
        cache.write(lookup)
        use = lookup.use
        assert (use.read, use.written_5m, use.written_1h, oracle_size(body)) == oracle.usage(body, now)


def oracle_size(body: Json) -> int:
    return Oracle().usage(body, 0.0)[3]


def lines(count: int, *marked: int) -> Json:
    """A request of so many blocks, some of them with a breakpoint."""
    content = [block("a line of text", "5m" if at in marked else None) for at in range(count)]
    return {"model": "practice-1", "messages": [{"role": "user", "content": content}]}


def read(cache: PromptCache, body: Json) -> int:
    lookup = cache.look_up(body, ServedModel("practice-1", 10**6, 1, cache_minimum=MINIMUM), Letters())
    cache.write(lookup)
    return lookup.use.read


def test_an_entry_is_found_nineteen_blocks_before_a_breakpoint_and_no_further() -> None:
    for more, found in ((19, 4 * 14), (20, 0)):
        cache = PromptCache(lambda: 0.0)
        read(cache, lines(4, 3))
        assert read(cache, lines(4 + more, 3 + more)) == found


def test_an_entry_that_is_read_from_a_later_breakpoint_lives_on() -> None:
    now = 0.0
    cache = PromptCache(lambda: now)
    read(cache, lines(4, 3))
    now = 290.0
    assert read(cache, lines(6, 5)) == 4 * 14
    now = 580.0
    assert read(cache, lines(4, 3)) == 4 * 14


# ── over a socket ───────────────────────────────────────────────────────────────────────────────────

LONG = "A long text that many requests share. " * 150
SYSTEM = [{"type": "text", "text": LONG, "cache_control": {"type": "ephemeral"}}]


@pytest.mark.anyio
async def test_the_usage_counts_what_was_written_and_read_until_it_expires() -> None:
    now = 0.0
    async with (
        PracticeServer(RuleModel(), clock=lambda: now) as server,
        AsyncAnthropic(base_url=server.base_url, api_key="key", max_retries=0) as client,
    ):

        async def usage(prompt: str, **changes: Any) -> tuple[int, int, int]:
            messages: Any = [{"role": "user", "content": prompt}]
            fields: Any = {"model": "practice-1", "max_tokens": 100, "system": SYSTEM, "messages": messages} | changes
            used = (await client.messages.create(**fields)).usage
            return used.input_tokens, used.cache_creation_input_tokens or 0, used.cache_read_input_tokens or 0

        first = await usage("hello")
        second = await usage("hello again, and again")
        now += 299
        third = await usage("hello")
        now += 301
        assert await usage("hello") == first
        other = await usage("hello", model="claude-sonnet-4-6")
        short = await usage("hello", system=[SYSTEM[0] | {"text": "short"}])
    size = first[1]
    assert size > 1_024
    assert first == (first[0], size, 0)
    assert (second[1:], third) == ((0, size), (first[0], 0, size))
    assert second[0] > first[0]
    assert other == first
    assert short[1:] == (0, 0)


@pytest.mark.anyio
async def test_nothing_can_be_read_before_a_reply_has_begun() -> None:
    script = Script.parse('[[reply]]\nstatus = 529\n[[reply]]\ntext = "x"\ntimes = 3\ndelay = 0.05')
    body = request(system=SYSTEM, stream=False)
    async with PracticeServer(script=script) as server:
        failed = await post(server.base_url, body)
        both = await asyncio.gather(post(server.base_url, body), post(server.base_url, body))
        last = await post(server.base_url, body)
    assert failed.status == 529
    assert [seen.json["usage"]["cache_read_input_tokens"] for seen in both] == [0, 0]
    usage = last.json["usage"]
    assert usage["cache_read_input_tokens"] > 1_024
    assert usage["cache_creation"] == {"ephemeral_5m_input_tokens": 0, "ephemeral_1h_input_tokens": 0}


@pytest.mark.anyio
async def test_counts_of_a_script_are_kept_and_the_automatic_breakpoint_is_the_last_block() -> None:
    script = Script.parse('[[reply]]\ntext = "x"\nusage = { input_tokens = 5 }\n[[reply]]\ntext = "x"\ntimes = 2')
    body = request(system=LONG, stream=False, cache_control={"type": "ephemeral", "ttl": "1h"})
    async with PracticeServer(script=script) as server:
        scripted, second, third = [(await post(server.base_url, body)).json["usage"] for _ in range(3)]
    assert (scripted["input_tokens"], scripted["cache_read_input_tokens"]) == (5, 0)
    assert (second["input_tokens"], second["cache_creation_input_tokens"]) == (0, 0)
    assert second["cache_read_input_tokens"] == third["cache_read_input_tokens"] > 1_024


@pytest.mark.anyio
async def test_the_diagnosis_names_what_changed_since_the_request_before() -> None:
    tools = [{"name": "look", "description": "", "input_schema": {"type": "object"}}]
    first: Any = {"role": "user", "content": "hello"}
    later: list[Any] = [first, {"role": "assistant", "content": "Hi."}, {"role": "user", "content": "and?"}]
    usual = {"model": "practice-1", "max_tokens": 100, "system": SYSTEM, "tools": tools, "messages": later}
    async with (
        PracticeServer(RuleModel()) as server,
        AsyncAnthropic(base_url=server.base_url, api_key="key", max_retries=0) as client,
    ):

        async def answered(previous: str | None, **changes: Any) -> tuple[str, str, int]:
            fields: Any = usual | {"diagnostics": {"previous_message_id": previous}} | changes
            message = await client.messages.create(**fields)
            reason = message.diagnostics.cache_miss_reason if message.diagnostics else None
            return message.id, getattr(reason, "type", ""), getattr(reason, "cache_missed_input_tokens", 0)

        id, *nothing = await answered(None, messages=[first])
        assert nothing == ["", 0]
        assert (await answered(id))[1:] == ("", 0)
        size = (await answered(id, model="claude-sonnet-4-6"))[2]
        assert size > 1_024
        changed = [SYSTEM[0] | {"text": f"{LONG}!"}]
        for changes, reason, missed in (
            ({"model": "claude-sonnet-4-6"}, "model_changed", 0),
            ({"system": changed}, "system_changed", size),
            ({"tools": []}, "tools_changed", size),
            ({"tool_choice": {"type": "none"}}, "unavailable", 0),
            ({"messages": later[2:]}, "messages_changed", 0),
        ):
            assert (await answered(id, **changes))[1:] == (reason, missed), changes
        assert (await answered("msg_of_another_day"))[1:] == ("previous_message_not_found", 0)
        silent: Any = usual
        unknown = (await client.messages.create(**silent)).id
        assert (await answered(unknown))[1] == "previous_message_not_found"
