"""The prompt cache: which beginning of a prompt was read before, by the breakpoints of its requests.

A prompt is a row of blocks: tools, then system, then messages. A request writes an entry at each breakpoint
(`cache_control`) whose prefix is long enough, and reads the longest prefix that has an entry, at a breakpoint or at
most 19 blocks before one. A prefix is the same only if the model and every block of it are; from the messages on, the
choice of tools, thinking and the output's configuration count too. An entry lives for five minutes or an hour from the
start of the request that used it last.

See https://platform.claude.com/docs/en/build-with-claude/prompt-caching.
"""

import hashlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
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
_NOT_IN_MESSAGES = -1


@dataclass(frozen=True, slots=True)
class CacheLookup:
    """What one request reads from the cache, and what it will have written once its reply begins."""

    digests: Sequence[bytes]
    """One for each block of the prompt, of the model and of all blocks up to it."""
    use: CacheUse = UNCACHED
    at: float = 0.0
    lifetimes: dict[bytes, float] = field(default_factory=dict)
    """The entries that are used from now on, with their time to live in seconds."""
    reach: int = 0
    """Tokens of the prompt that a request which begins with the same bytes can read."""


class PromptCache:
    """The entries of one server."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """`clock` gives seconds."""
        self._clock = clock
        self._entries: dict[bytes, tuple[float, float]] = {}
        """Each with its time to live, and when that is over."""

    def look_up(self, body: Json, model: ServedModel, counter: Counter) -> CacheLookup:
        """What a request reads and writes. Nothing is written yet."""
        now, prompt = self._clock(), list(_blocks_of(body))
        digests, breakpoints = _digests(prompt, body, model), _breakpoints(prompt, body)
        read_to = max((self._hit(digests, at, now) for at in breakpoints), default=-1)
        sizes = {at: _size(prompt, at, counter) for at in (*breakpoints, read_to) if at >= 0}
        written = {at: ttl for at, ttl in breakpoints.items() if sizes[at] >= model.cache_minimum}
        read = sizes.get(read_to, 0)
        reach = max((sizes[at] for at in written), default=0)
        hour = max((sizes[at] for at, ttl in written.items() if ttl == "1h"), default=0)
        written_1h = max(0, hour - read)
        use = CacheUse(read, written_5m=max(0, reach - read) - written_1h, written_1h=written_1h)
        lifetimes = {digests[at]: TTL_S[ttl] for at, ttl in written.items()}
        if read_to >= 0:
            lifetimes.setdefault(digests[read_to], self._entries[digests[read_to]][0])
        return CacheLookup(digests, use, now, lifetimes, max(read, reach))

    def write(self, lookup: CacheLookup) -> None:
        """The reply to a request has begun: what it read lives longer, and what it wrote can be read."""
        self._entries = {key: entry for key, entry in self._entries.items() if entry[1] > lookup.at}
        for key, ttl_s in lookup.lifetimes.items():
            longest = max(ttl_s, self._entries.get(key, (0.0, 0.0))[0])
            self._entries[key] = longest, lookup.at + longest

    def _hit(self, digests: Sequence[bytes], start: int, now: float) -> int:
        near = range(start, max(-1, start - LOOKBACK), -1)
        return next((at for at in near if self._entries.get(digests[at], (0.0, now))[1] > now), -1)


# ── why a prompt is not read ────────────────────────────────────────────────────────────────────────

MOST_KNOWN = 10_000
"""Requests that later ones can be compared with."""


@dataclass(frozen=True, slots=True)
class _Fingerprint:
    """What of a request another one is compared with, in this order."""

    parts: dict[str, object]
    """By the reason that is given where it differs."""
    blocks: int
    last: bytes
    """Digest of all blocks."""
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
        if (before := self._known.get(previous)) is None:
            return {"cache_miss_reason": {"type": "previous_message_not_found"}}
        now = _fingerprint(body, lookup)
        reason = next((reason for reason, part in before.parts.items() if now.parts[reason] != part), None)
        if reason is None and before.last not in lookup.digests[before.blocks - 1 : before.blocks]:
            reason = "messages_changed"
        if reason is None:
            return None
        missed = {"cache_missed_input_tokens": max(0, before.reach - lookup.use.read)}
        return {"cache_miss_reason": {"type": reason, **({} if reason == "unavailable" else missed)}}

    def remember(self, message_id: str, body: Json, lookup: CacheLookup) -> None:
        """Keep what later requests are compared with, if the request asks for it."""
        if isinstance(body.get("diagnostics"), dict):
            self._known[message_id] = _fingerprint(body, lookup)
            if len(self._known) > MOST_KNOWN:
                del self._known[next(iter(self._known))]


def _fingerprint(body: Json, lookup: CacheLookup) -> _Fingerprint:
    parts = {
        "model_changed": body.get("model"),
        "system_changed": _digest([_bare(block) for block in blocks(body.get("system"))]),
        "tools_changed": _digest([_bare(tool) for tool in _dicts(body.get("tools"))]),
        "unavailable": _digest([body.get(name) for name in _BEFORE_MESSAGES]),
    }
    return _Fingerprint(parts, len(lookup.digests), b"".join(lookup.digests[-1:]), lookup.reach)


# ── a prompt as a row of blocks ─────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _PromptBlock:
    """A block of a prompt."""

    section: str
    """"tools", "system" or the role of its message."""
    message: int
    """Number of its message."""
    block: Block

    @property
    def marks(self) -> Iterator[Any]:
        """Its breakpoints; those of the parts of a tool result are its own."""
        parts = blocks(self.block.get("content")) if self.block.get("type") == "tool_result" else ()
        return (mark for one in (self.block, *parts) if isinstance(mark := one.get("cache_control"), dict))


def _blocks_of(body: Json) -> Iterator[_PromptBlock]:
    yield from (_PromptBlock("tools", _NOT_IN_MESSAGES, tool) for tool in _dicts(body.get("tools")))
    yield from (_PromptBlock("system", _NOT_IN_MESSAGES, block) for block in blocks(body.get("system")))
    for number, message in enumerate(_dicts(body.get("messages"))):
        role = str(message.get("role"))
        yield from (_PromptBlock(role, number, block) for block in blocks(message.get("content")))


def _dicts(values: Any) -> list[Json]:
    """The objects in a list; where requests are not checked it may hold anything."""
    return [value for value in values or () if isinstance(value, dict)]


def _breakpoints(prompt: Sequence[_PromptBlock], body: Json) -> dict[int, str]:
    """The numbers of the blocks with a breakpoint, each with its time to live."""
    marked = {at: mark.get("ttl") for at, one in enumerate(prompt) for mark in one.marks}
    if isinstance(automatic := body.get("cache_control"), dict):
        last = [at for at, one in enumerate(prompt) if one.block.get("type") not in _UNCACHED][-1:]
        marked = dict.fromkeys(last, automatic.get("ttl")) | marked
    return {at: ttl if ttl in TTL_S else "5m" for at, ttl in marked.items()}


def _digests(prompt: Sequence[_PromptBlock], body: Json, model: ServedModel) -> list[bytes]:
    running = hashlib.sha256(model.id.encode())
    digests = []
    for one in prompt:
        before = [body.get(name) for name in _BEFORE_MESSAGES] if one.message != _NOT_IN_MESSAGES else None
        running.update(compact([one.section, before, _bare(one.block)]).encode())
        digests.append(running.digest())
    return digests


def _digest(value: object) -> bytes:
    return hashlib.sha256(compact(value).encode()).digest()


def _bare(block: Block) -> Block:
    """The block without its marks."""
    bare = {key: value for key, value in block.items() if key != "cache_control"}
    if block.get("type") == "tool_result" and isinstance(block.get("content"), list):
        bare["content"] = [_bare(part) for part in _dicts(block["content"])]
    return bare


def _size(prompt: Sequence[_PromptBlock], last: int, counter: Counter) -> int:
    """Tokens of the prompt up to a block."""
    messages = groupby(prompt[: last + 1], key=lambda one: (one.message, one.section))
    part: Json = {"tools": [], "system": [], "messages": []}
    for (number, section), group in messages:
        content = [one.block for one in group]
        if number == _NOT_IN_MESSAGES:
            part[section] = content
        else:
            part["messages"].append({"role": section, "content": content})
    return request_tokens(counter, part)
