"""The prompt cache: which beginning of a prompt was read before, by the breakpoints of its requests.

A prompt is a row of blocks: tools, then system, then messages. A request writes an entry at each breakpoint
(`cache_control`) whose prefix is long enough, and reads the longest prefix that has an entry, at a breakpoint or at
most 19 blocks before one. A prefix is the same only if the model and every block of it are; from the messages on, the
choice of tools, thinking and the output's configuration count too. An entry lives for five minutes or an hour from the
start of the request that used it last.

See https://platform.claude.com/docs/en/build-with-claude/prompt-caching.
"""

import hashlib
import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from harness.events import Block, Json
from harness.practice.checks.rules import ServedModel
from harness.practice.requests import blocks
from harness.practice.wire.prepared_reply import Counter, request_tokens
from harness.practice.wire.replies import UNCACHED, CacheUse, compact

LOOKBACK = 20
"""Blocks that are looked at for each breakpoint, itself the first."""
TTL_S = {"5m": 300.0, "1h": 3_600.0}
_UNCACHED = ("thinking", "redacted_thinking")
_BEFORE_MESSAGES = ("tool_choice", "thinking", "output_config", "output_format")


@dataclass(frozen=True, slots=True)
class CacheLookup:
    """What one request reads from the cache, and what it will have written once its reply begins."""

    use: CacheUse = UNCACHED
    at: float = 0.0
    lifetimes: dict[bytes, float] = field(default_factory=dict)
    """The entries that are used from now on, with their time to live in seconds."""
    reach: int = 0
    """Tokens of the prompt that a request which begins with the same bytes can read."""


@dataclass(frozen=True, slots=True)
class _Entry:
    ttl_s: float
    until: float


@dataclass(frozen=True, slots=True)
class _PromptBlock:
    """A block of a prompt."""

    section: str
    block: Block
    marks: tuple[Any, ...]


MOST_KNOWN = 10_000
"""Requests that later ones can be compared with."""


@dataclass(frozen=True, slots=True)
class _Fingerprint:
    """What of a request another one is compared with."""

    model: object
    system: str
    tools: str
    others: str
    """Further parameters that the cache of messages depends on."""
    blocks: int
    """Their number in its messages."""
    beginning: str
    """Digest of all of them."""
    reach: int


class CacheDiagnosis:
    """Why the prompt of a request differs from that of an earlier one, which the request names by its reply.

    Only requests with `diagnostics` are remembered. See
    https://platform.claude.com/docs/en/build-with-claude/cache-diagnostics.
    """

    def __init__(self) -> None:
        self._known: dict[str, _Fingerprint] = {}
        """The newest ones, by the reply."""

    def compare(self, body: Json, lookup: CacheLookup) -> Json | None:
        """The `diagnostics` of the reply; None: nothing was asked, or nothing differs."""
        asked = body.get("diagnostics")
        if not isinstance(asked, dict) or (previous := asked.get("previous_message_id")) is None:
            return None
        before = self._known.get(previous)
        if before is None:
            return _reason("previous_message_not_found")
        now = _fingerprint(body, lookup)
        missed = {"cache_missed_input_tokens": max(0, before.reach - lookup.use.read)}
        if before.model != now.model:
            return _reason("model_changed", **missed)
        if before.system != now.system:
            return _reason("system_changed", **missed)
        if before.tools != now.tools:
            return _reason("tools_changed", **missed)
        if before.others != now.others:
            return _reason("unavailable")
        if before.beginning not in _beginnings(body)[before.blocks : before.blocks + 1]:
            return _reason("messages_changed", **missed)
        return None

    def remember(self, message_id: str, body: Json, lookup: CacheLookup) -> None:
        """Keep what later requests are compared with, if the request asks for it."""
        if isinstance(body.get("diagnostics"), dict):
            self._known[message_id] = _fingerprint(body, lookup)
            if len(self._known) > MOST_KNOWN:
                del self._known[next(iter(self._known))]


def _reason(kind: str, **more: int) -> Json:
    return {"cache_miss_reason": {"type": kind, **more}}


def _fingerprint(body: Json, lookup: CacheLookup) -> _Fingerprint:
    beginnings = _beginnings(body)
    return _Fingerprint(
        body.get("model"),
        _digest([_bare(block) for block in blocks(body.get("system"))]),
        _digest([_bare(tool) for tool in body.get("tools") or () if isinstance(tool, dict)]),
        _digest([body.get(name) for name in _BEFORE_MESSAGES]),
        len(beginnings) - 1,
        beginnings[-1],
        lookup.reach,
    )


def _beginnings(body: Json) -> list[str]:
    """Digests of the first 0, 1, 2 … blocks of the messages."""
    running = hashlib.sha256()
    found = [running.hexdigest()]
    for place in _places(body):
        if place.section not in ("tools", "system"):
            running.update(compact([place.section, _bare(place.block)]).encode())
            found.append(running.hexdigest())
    return found


def _digest(value: object) -> str:
    return hashlib.sha256(compact(value).encode()).hexdigest()


class PromptCache:
    """The entries of one server."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` gives seconds."""
        self._clock = clock
        self._entries: dict[bytes, _Entry] = {}

    def look_up(self, body: Json, model: ServedModel, counter: Counter) -> CacheLookup:
        """What a request reads and writes. Nothing is written yet."""
        now = self._clock()
        places = list(_places(body))
        breakpoints = _breakpoints(places, body)
        if not breakpoints:
            return CacheLookup(at=now)
        digests = _digests(places, body, model)
        read_to = max((self._hit(digests, at, now) for at in breakpoints), default=-1)
        sizes = {at: _size(body, places, at, counter) for at in (*breakpoints, read_to) if at >= 0}
        written = {at: ttl for at, ttl in breakpoints.items() if sizes[at] >= model.cache_minimum}
        read = sizes.get(read_to, 0)
        reach = max((sizes[at] for at in written), default=0)
        hour = max((sizes[at] for at, ttl in written.items() if ttl == "1h"), default=0)
        written_1h = max(0, hour - read)
        use = CacheUse(read, written_5m=max(0, reach - read) - written_1h, written_1h=written_1h)
        lifetimes = {digests[at]: TTL_S[ttl] for at, ttl in written.items()}
        if read_to >= 0:
            lifetimes.setdefault(digests[read_to], self._entries[digests[read_to]].ttl_s)
        return CacheLookup(use, now, lifetimes, max(read, reach))

    def write(self, lookup: CacheLookup) -> None:
        """The reply to a request has begun: what it read lives longer, and what it wrote can be read."""
        self._entries = {key: entry for key, entry in self._entries.items() if entry.until > lookup.at}
        for key, ttl_s in lookup.lifetimes.items():
            old = self._entries.get(key)
            longest = max(ttl_s, old.ttl_s) if old is not None else ttl_s
            self._entries[key] = _Entry(longest, lookup.at + longest)

    def _hit(self, digests: Sequence[bytes], start: int, now: float) -> int:
        for at in range(start, max(-1, start - LOOKBACK), -1):
            entry = self._entries.get(digests[at])
            if entry is not None and entry.until > now:
                return at
        return -1


def _places(body: Json) -> Iterator[_PromptBlock]:
    for tool in body.get("tools") or ():
        if isinstance(tool, dict):
            yield _PromptBlock("tools", tool, (tool.get("cache_control"),))
    for block in blocks(body.get("system")):
        yield _PromptBlock("system", block, (block.get("cache_control"),))
    for message in body.get("messages") or ():
        for block in blocks(message.get("content")) if isinstance(message, dict) else ():
            inner = blocks(block.get("content")) if block.get("type") == "tool_result" else []
            marks = (block.get("cache_control"), *(part.get("cache_control") for part in inner))
            yield _PromptBlock(str(message.get("role")), block, marks)


def _breakpoints(places: Sequence[_PromptBlock], body: Json) -> dict[int, str]:
    """The numbers of the blocks with a breakpoint, each with its time to live."""
    marked: dict[int, str] = {}
    for at, place in enumerate(places):
        for mark in place.marks:
            if isinstance(mark, dict):
                marked[at] = _ttl(mark)
    automatic = body.get("cache_control")
    if isinstance(automatic, dict):
        last = [at for at, place in enumerate(places) if place.block.get("type") not in _UNCACHED]
        if last:
            marked.setdefault(last[-1], _ttl(automatic))
    return marked


def _ttl(mark: Json) -> str:
    ttl = mark.get("ttl")
    return ttl if isinstance(ttl, str) and ttl in TTL_S else "5m"


def _digests(places: Sequence[_PromptBlock], body: Json, model: ServedModel) -> list[bytes]:
    """One digest for each block, of the model and of all up to it."""
    running = hashlib.sha256(model.id.encode())
    digests = []
    in_messages = False
    for place in places:
        if place.section not in ("tools", "system") and not in_messages:
            in_messages = True
            running.update(compact([body.get(name) for name in _BEFORE_MESSAGES]).encode())
        running.update(compact([place.section, _bare(place.block)]).encode())
        digests.append(running.digest())
    return digests


def _bare(block: Block) -> Block:
    """The block without its marks."""
    bare = {key: value for key, value in block.items() if key != "cache_control"}
    if block.get("type") == "tool_result" and isinstance(block.get("content"), list):
        bare["content"] = [_bare(part) if isinstance(part, dict) else part for part in block["content"]]
    return bare


def _size(body: Json, places: Sequence[_PromptBlock], last: int, counter: Counter) -> int:
    """Tokens of the prompt up to a block."""
    chosen = places[: last + 1]
    part: Json = {
        "tools": [place.block for place in chosen if place.section == "tools"],
        "system": [place.block for place in chosen if place.section == "system"],
        "messages": [],
    }
    left = len(chosen) - len(part["tools"]) - len(part["system"])
    for message in body.get("messages") or ():
        if left <= 0 or not isinstance(message, dict):
            break
        content = list(itertools.islice(blocks(message.get("content")), left))
        part["messages"].append({"role": message.get("role"), "content": content})
        left -= len(content)
    return request_tokens(counter, part)
