"""Accumulate the events of one stream into one reply, in time linear in its length.

The SDK's own accumulator parses the whole input of a tool call again with every piece, and hides how a stream ended.
This one keeps a list of pieces per block and joins them when the block closes. Which tool calls may run:
docs/design/model-calls.md#tool-calls-that-may-run.
"""

import json
import re
import uuid
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Any, Never

from harness.events import (
    Block,
    CacheMiss,
    CutCall,
    Event,
    Json,
    Reply,
    TextDelta,
    ThinkingDelta,
    ToolCall,
    ToolCallDelta,
    Usage,
    WebUsed,
)
from harness.events.messages import without_unanswered
from harness.model.content_cleanup import sendable, whole_characters
from harness.model.invariants import IDENTIFIER, SERVER_USES, is_server_result
from harness.model.server_tools import FETCH, SEARCH, asked_for, error_of, outcome_of, pages_of
from harness.model.watchdog import Phase

_KEEPS_EARLIER_CALLS = frozenset({"max_tokens", "model_context_window_exceeded"})
_OTHER_NAMES = {
    "length": "max_tokens",
    "content_filter": "refusal",
    "tool_calls": "tool_use",
    "function_call": "tool_use",
}
"""OpenAI stop reasons, passed on by gateways, that do not mean the end of an answer."""
_HIGH_HALF = re.compile("[\ud800-\udbff]\\Z")
_USAGE_FIELDS = {
    "input_tokens": "input",
    "output_tokens": "output",
    "cache_creation_input_tokens": "cache_creation",
    "cache_read_input_tokens": "cache_read",
    "cache_creation.ephemeral_1h_input_tokens": "cache_creation_1h",
    "server_tool_use.web_search_requests": "web_searches",
    "output_tokens_details.thinking_tokens": "thinking",
}
_USAGE_WORDS = ("speed", "inference_geo")
_LONGEST = {"name": 128, "type": 128, "id": 10_000, "tool_use_id": 10_000}
"""Characters kept of the words of a block that are shown, recorded and sent again; some gateways put data into ids."""
_LONGEST_WORD = 128
_MOST_TOKENS = 10**12
"""A larger count is a mistake of the server."""


class NotStrict(ValueError):  # noqa: N818 (says what the text is)
    """The text is not a strict JSON object. `str(error)` is a clause about the tool call."""

    def __init__(self, why: str, *, whole: bool = True) -> None:
        super().__init__(why)
        self.whole = whole
        """False: the text ends too early."""


class BrokenStream(Exception):  # noqa: N818 (the stream is broken, not the program)
    """The events contradict each other, so nothing after them can be trusted."""


@dataclass(slots=True, eq=False)
class _OpenBlock:
    """A content block while its pieces arrive."""

    start: Block
    given: Block
    """`start` as the server sent it, with its own id of a call."""
    twin: "_OpenBlock | None" = None
    """The block before it of the same index, if that one began the same."""
    pieces: list[str] = field(default_factory=list)
    characters: int = 0
    half: str = ""
    """First half of a surrogate pair; the other half comes with the next piece."""
    signature: str | None = None
    citations: list[Any] = field(default_factory=list)
    closed: bool = False

    @property
    def type(self) -> object:
        return self.start.get("type")

    @property
    def grown(self) -> bool:
        """Something came after its start."""
        return bool(self.characters or self.half or self.signature or self.citations)

    @property
    def repeats(self) -> bool:
        """Its events are those of its twin once more, as far as they came."""
        return self.twin is not None and "".join(self.twin.pieces).startswith("".join(self.pieces))

    def add(self, piece: str) -> str:
        """Add the next piece; returns it without half a character at its end."""
        piece = self.half + piece
        self.half = piece[-1] if _HIGH_HALF.search(piece) else ""
        piece = whole_characters(piece.removesuffix(self.half))
        self.pieces.append(piece)
        self.characters += len(piece)
        return piece

    def close(self) -> str:
        """End the block; returns a replacement for half a character at its end."""
        self.closed = True
        half, self.half = self.half, ""
        return self.add("\ufffd") if half and self.type in ("text", "thinking") else ""

    def text(self, key: str) -> str:
        return "".join([str(self.start.get(key) or ""), *self.pieces])

    def finished(self) -> Block:
        """The block as the API would have sent it in one piece; tool input stays as in its start event."""
        block = dict(self.start)
        if self.type == "text":
            block["text"] = self.text("text")
            if self.citations:
                block["citations"] = [*(block.get("citations") or ()), *self.citations]
        elif self.type == "thinking":
            block["thinking"] = self.text("thinking")
            if self.signature is not None:
                block["signature"] = self.signature
        elif self.pieces and "input" in block:
            block["input"] = strict_object("".join(self.pieces))
        return block


class Accumulator:
    """The reply so far of one stream.

    Unknown events, deltas, blocks and stop reasons are kept or ignored, never an error. So are a missing start and the
    end of a block that is not open.
    """

    def __init__(self, taken: Collection[str] = (), new_id: Callable[[], str] | None = None) -> None:
        """
        Args:
            taken: ids of earlier calls, which calls of this reply must not use.
            new_id: creates an id for a call without a usable one.
        """
        self._taken = frozenset(taken)
        self._new_id = new_id or _random_id
        self._order: list[_OpenBlock] = []
        self._blocks: dict[int, _OpenBlock] = {}
        """The newest block of each index."""
        self._open: _OpenBlock | None = None
        self._message: Json | None = None
        self._again = False
        """message_start came again after blocks, so their events may follow once more."""
        self._usage: dict[str, int] = {}
        self._usage_words: dict[str, str] = {}
        self._stopped = False
        self.stop_reason: str | None = None
        """Set when the stream reports it, by its name in the API."""
        self.stop_details: Json | None = None
        """Details of the stop reason, such as the category of a refusal."""
        self.shown_characters = 0
        """Characters of answer text emitted as TextDelta."""

    @property
    def started(self) -> bool:
        """message_start or a block has arrived."""
        return self._message is not None or bool(self._order)

    @property
    def complete(self) -> bool:
        """message_stop has arrived; nothing after it can change the reply."""
        return self._stopped and self.started

    @property
    def model(self) -> str:
        """The model's id as the server names it; empty before message_start."""
        return str((self._message or {}).get("model") or "")[:_LONGEST_WORD]

    @property
    def usage(self) -> Usage:
        """Tokens reported so far. Reports are totals: a later one replaces an earlier one."""
        return Usage(**self._usage, **self._usage_words)  # type: ignore[arg-type]

    @property
    def phase(self) -> Phase:
        """Position in the stream, for the watchdog."""
        if self._open is None:
            return "waiting"
        return "thinking" if self._open.type in ("thinking", "redacted_thinking") else "content"

    def feed(self, event: str | None, data: Json) -> Event | None:
        """Process the next server-sent event; returns an event to show, if any.

        Raises BrokenStream when it cannot follow the previous ones.

        Args:
            event: its name; one without a name is ignored.
            data: its parsed data.
        """
        match event:
            case None | "ping":
                return None
            case "message_start":
                self._start_message(data)
            case "content_block_start":
                return self._start_block(data)
            case "content_block_delta":
                return self._grow_block(data)
            case "content_block_stop":
                return self._stop_block(data)
            case "message_delta":
                self._end_message(data)
            case "message_stop":
                self._stopped = True
                self._close_at_the_end()
        return None

    def reply(self, request_id: str | None = None) -> Reply:
        """The complete reply, without cut calls and unsigned thinking in `content`."""
        if not self.complete:
            raise ValueError("the stream is not complete")
        content, calls, cut_calls = self._sorted()
        return Reply(
            model=self.model,
            stop_reason=self.stop_reason or ("tool_use" if calls else "end_turn"),
            content=content,
            calls=calls,
            cut_calls=cut_calls,
            usage=self.usage,
            request_id=request_id,
            stop_details=self.stop_details,
            message_id=self._message_id(),
            cache_miss=_cache_miss((self._message or {}).get("diagnostics")),
        )

    def kept(self, *, open_text: bool = False) -> tuple[tuple[Block, ...], tuple[ToolCall, ...]]:
        """The usable blocks of a broken stream, and the tool calls among them.

        These are text that is not blank, tool calls, signed thinking that is followed by another block, and calls of
        server tools with their results. With `open_text` the unfinished text block counts too, because the user who
        interrupted has read it.
        """
        if open_text:
            self._close_open_text()
        content, calls, _ = self._sorted()
        kept: list[Block] = []
        for block in without_unanswered(content):
            if kept and _is_blank(block) and kept[-1].get("type") == "text":
                kept[-1] = {**kept[-1], "text": kept[-1]["text"] + block["text"]}  # not a block of its own
            elif _worth_keeping(block):
                kept.append(block)
        while kept and kept[-1].get("type") in ("thinking", "redacted_thinking"):
            kept.pop()
        return tuple(kept), calls

    def _message_id(self) -> str:
        id = (self._message or {}).get("id")
        return id if isinstance(id, str) and len(id) <= _LONGEST["id"] and IDENTIFIER.fullmatch(id) else ""

    def _start_message(self, data: Json) -> None:
        """A repeated start of the same message changes nothing."""
        given = data.get("message")
        message = given if isinstance(given, dict) else {}
        if self._message is not None:
            id = message.get("id")
            if id != self._message.get("id") or (not id and message != self._message):
                raise BrokenStream("a second message began inside the first")
            self._again = bool(self._order)
            return
        self._message = message
        self._count(self._message)

    def _end_message(self, data: Json) -> None:
        delta = data.get("delta")
        if isinstance(delta, dict):
            if isinstance(reason := delta.get("stop_reason"), str) and reason:
                self.stop_reason = _OTHER_NAMES.get(reason, reason)[:_LONGEST_WORD]
                self._close_open_text()
            if isinstance(details := delta.get("stop_details"), dict):
                self.stop_details = details
        self._count(data)

    def _count(self, data: Json) -> None:
        usage = data.get("usage")
        if not isinstance(usage, dict):
            return
        for name, ours in _USAGE_FIELDS.items():
            outer, _, inner = name.rpartition(".")
            table = usage.get(outer) if outer else usage
            count = table.get(inner) if isinstance(table, dict) else None
            if isinstance(count, int) and 0 <= count <= _MOST_TOKENS:
                self._usage[ours] = count
        for name in _USAGE_WORDS:
            if isinstance(word := usage.get(name), str):
                self._usage_words[name] = word[:_LONGEST_WORD]

    def _start_block(self, data: Json) -> Event | None:
        index, start = data.get("index"), data.get("content_block")
        if not isinstance(index, int) or not isinstance(start, dict):
            raise BrokenStream(f"a block began with the index {index!r}, which it cannot have")
        given, earlier = _bounded(sendable(start)), self._blocks.get(index)
        twin = earlier if earlier is not None and earlier.given == given else None
        if earlier is not None and (self._again or self._open not in (None, earlier)):
            raise BrokenStream("the message began once more")
        if earlier is not None and not earlier.closed:
            if twin is not None and not earlier.grown:
                return None
            raise BrokenStream(f"a block began with the index {index!r}, which it cannot have")
        self._close_open_text()
        block = self._open = self._blocks[index] = _OpenBlock(dict(given), given, twin)
        if twin is not None and not twin.grown:
            block.twin = twin.twin
            self._order[self._order.index(twin)] = block
        else:
            self._order.append(block)
        if block.type == "tool_use":
            block.start["id"] = self._own_id(block)
        match block.type:
            case _ if twin is not None:
                return None
            case "tool_use":
                return ToolCallDelta(name=str(block.start.get("name") or ""), characters=0)
            case "server_tool_use":
                return ToolCallDelta(name=str(block.start.get("name") or ""), characters=0)
            case "text" if text := block.start.get("text"):
                return self._shown(str(text))
            case _ if is_server_result(block.start):
                return self._web_used(block.start)
            case _:
                return None

    def _stop_block(self, data: Json) -> Event | None:
        index = data.get("index")
        block = self._blocks.get(index) if isinstance(index, int) else None
        if block is None or block.closed:
            return None  # late or stray: the block has already ended
        if block is self._open:
            self._open = None
        rest = block.close()
        return self._shown(rest) if rest and block.type == "text" else None

    def _web_used(self, result: Block) -> WebUsed | None:
        """The event for the result of a search or a fetch; None for other tools."""
        tool = str(result["type"]).removesuffix("_tool_result")
        if tool not in (SEARCH, FETCH):
            return None
        calls = (block for block in self._order if block.start.get("id") == result.get("tool_use_id"))
        call = next(calls, None)
        finished = _finished(call) if call is not None else None
        pages = pages_of(result) if tool == FETCH else ()
        asked = asked_for(finished) if finished is not None else pages[0].url if pages else ""
        return WebUsed(tool, asked, outcome_of(result), failed=bool(error_of(result)))

    def _own_id(self, block: _OpenBlock) -> str:
        """The id of a call, or a new one where it cannot be used."""
        given = block.start.get("id")
        others = {other.start.get("id") for other in self._order if other is not block and other.type == "tool_use"}
        usable = isinstance(given, str) and IDENTIFIER.fullmatch(given) and given not in self._taken | others
        return str(given) if usable else self._new_id()

    def _grow_block(self, data: Json) -> Event | None:
        block, delta = self._block(data), data.get("delta")
        if not isinstance(delta, dict):
            return None
        match delta, block.type:
            case {"type": "text_delta", "text": str(piece)}, "text":
                piece = block.add(piece)
                return self._shown(piece) if piece else None
            case {"type": "thinking_delta", "thinking": str(piece)}, "thinking":
                piece = block.add(piece)
                return ThinkingDelta(text=piece) if piece else None
            case {"type": "input_json_delta", "partial_json": str(piece)}, kind:
                block.add(piece)
                if kind in ("tool_use", "server_tool_use"):
                    return ToolCallDelta(name=str(block.start.get("name") or ""), characters=block.characters)
            case {"type": "signature_delta", "signature": str(signature)}, "thinking":
                block.signature = signature
            case {"type": "citations_delta", "citation": citation}, "text":
                block.citations.append(citation)
        return None

    def _block(self, data: Json) -> _OpenBlock:
        index = data.get("index")
        block = self._blocks.get(index) if isinstance(index, int) else None
        if block is None or block.closed:
            raise BrokenStream(f"something came for block {index!r}, which is not open")
        return block

    def _shown(self, text: str) -> TextDelta:
        self.shown_characters += len(text)
        return TextDelta(text=text)

    def _close_open_text(self) -> None:
        """An open text block is complete once another block begins or the stream ends."""
        if self._open is not None and self._open.type == "text":
            self._open.close()
            self._open = None

    def _close_at_the_end(self) -> None:
        """The message is complete, and so are open text and an unclosed call with input, unless a limit cut it."""
        self._close_open_text()
        if self.stop_reason in _KEEPS_EARLIER_CALLS:
            return
        for block in self._order:
            if block.type == "tool_use" and not block.closed and (block.pieces or block.start.get("input")):
                block.close()

    def _sorted(self) -> tuple[tuple[Block, ...], tuple[ToolCall, ...], tuple[CutCall, ...]]:
        """Complete blocks, calls that may run, and calls that must not."""
        content: list[Block] = []
        calls: list[ToolCall] = []
        cut_calls: list[CutCall] = []
        blocks = [block for block in self._order if not block.repeats]
        tools = [block for block in blocks if block.type == "tool_use"]
        seen: list[tuple[object, str, Json]] = []
        for block in blocks:
            if block.type == "tool_use":
                judged = self._judged(block, last=block is tools[-1])
                if isinstance(judged, CutCall):
                    cut_calls.append(judged)
                    continue
                key = (block.given.get("id"), judged.name, judged.input)
                if key[0] and key in seen:
                    continue  # sent twice
                seen.append(key)
                calls.append(judged)
                content.append({**block.start, "input": judged.input})
            elif block.closed and (finished := _finished(block)) is not None:
                content.append(finished)
        return tuple(content), tuple(calls), tuple(cut_calls)

    def _judged(self, block: _OpenBlock, *, last: bool) -> ToolCall | CutCall:
        name, call_id = block.start.get("name"), str(block.start["id"])
        name = name if isinstance(name, str) else ""
        if why := self._cut_by_the_end(last=last):
            return CutCall(call_id, name, why)
        if not block.closed:
            return CutCall(call_id, name, "the reply broke off inside its input")
        if not name:
            return CutCall(call_id, name, "it has no name", whole=self.complete)
        raw = "".join(block.pieces)
        try:
            if raw.strip():
                return ToolCall(call_id, name, sendable(strict_object(raw)))
        except NotStrict as error:
            return CutCall(call_id, name, str(error), whole=self.complete and error.whole)
        given = block.start.get("input", {})
        if not isinstance(given, dict):
            return CutCall(call_id, name, _not_an_object(given), whole=self.complete)
        if not self.complete and not given:
            return CutCall(call_id, name, "the reply broke off and its input never came")
        return ToolCall(call_id, name, given)

    def _cut_by_the_end(self, *, last: bool) -> str:
        """Why this call must not run after this stop reason; empty: it may."""
        match self.stop_reason:
            case "refusal":
                return "the model declined to answer"
            case reason if reason in _KEEPS_EARLIER_CALLS:
                return "the reply reached its limit inside or right after it" if last else ""
            case _:
                return ""


def events_of(message: Json) -> Iterator[tuple[str, Json]]:
    """The equivalent events of a whole message, which some servers send instead of a stream."""
    yield "message_start", {"message": message}
    content = message.get("content")
    for index, block in enumerate(content if isinstance(content, list) else ()):
        if isinstance(block, dict):
            yield "content_block_start", {"index": index, "content_block": block}
            yield "content_block_stop", {"index": index}
    yield "message_delta", {"delta": message, "usage": message.get("usage")}
    yield "message_stop", {}


def _bounded(start: Block) -> Block:
    """The block with its words cut to lengths that the API and real tools use."""
    return {key: value[: _LONGEST.get(key)] if isinstance(value, str) else value for key, value in start.items()}


def _cache_miss(diagnostics: object) -> CacheMiss | None:
    reason = diagnostics.get("cache_miss_reason") if isinstance(diagnostics, dict) else None
    if not isinstance(reason, dict) or not isinstance(kind := reason.get("type"), str):
        return None
    tokens = reason.get("cache_missed_input_tokens")
    return CacheMiss(kind[:_LONGEST_WORD], tokens if isinstance(tokens, int) else None)


def _random_id() -> str:
    return f"toolu_{uuid.uuid4().hex[:24]}"


def _finished(block: _OpenBlock) -> Block | None:
    """The complete block, or None where the API would not accept it back."""
    try:
        finished = block.finished()
    except NotStrict:
        return None
    if block.type == "thinking" and not finished.get("signature"):
        return None
    return finished


def _is_blank(block: Block) -> bool:
    return block.get("type") == "text" and not str(block.get("text") or "").strip()


def _worth_keeping(block: Block) -> bool:
    match block.get("type"):
        case "text":
            return not _is_blank(block)
        case "tool_use" | "thinking" | "redacted_thinking":
            return True
        case kind:
            return kind in SERVER_USES or is_server_result(block)


def strict_object(text: str) -> Json:
    """The JSON object in `text`.

    Raises NotStrict for anything else: incomplete text, an array, NaN, a repeated key, nesting too deep to read.
    """
    try:
        value = json.loads(text, object_pairs_hook=_without_repeats, parse_constant=_refuse_constant)
    except NotStrict:
        raise
    except json.JSONDecodeError as error:
        ends_early = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
        raise NotStrict(f"its input is not valid JSON: {error}", whole=not ends_early) from None
    except (ValueError, RecursionError):
        raise NotStrict("its input is not valid JSON: it is nested too deep or has a number that is too long") from None
    if not isinstance(value, dict):
        raise NotStrict(_not_an_object(value))
    return value


def _not_an_object(value: object) -> str:
    """A clause that says what the input of a call is instead of an object."""
    kind = {list: "a list", str: "a text", bool: "true or false", type(None): "null"}.get(type(value), "a number")
    if value in ([], ""):
        kind = kind.replace("a ", "an empty ")
    return f"its input is {kind}, not a JSON object"


def _without_repeats(pairs: list[tuple[str, Any]]) -> Json:
    result = dict(pairs)
    if len(result) != len(pairs):
        raise NotStrict("its input names a key twice")
    return result


def _refuse_constant(name: str) -> Never:
    raise NotStrict(f"its input contains {name}, which is not JSON")
