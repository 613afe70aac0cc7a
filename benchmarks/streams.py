"""One long stream through our accumulator and through the SDK's own, in processor time.

Both get the same events as parsed JSON. What the SDK needs to make its typed events of them belongs to its
price, because its accumulator takes no others; it is shown apart as well.
"""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from benchmarks.figures import Figure
from harness.events import Block, Json
from harness.model.accumulator import Accumulator

INPUT_CHARACTERS = 1_000_000
INPUT_PIECE = 20
TEXT_CHARACTERS = 2_000_000
TEXT_PIECE = 20
Result = TypeVar("Result")
LINE = '    return self.value + other["value"]  # one line of a program\n'


@dataclass(frozen=True, slots=True)
class _Cost:
    """Processor seconds."""

    events_s: float
    """Making typed events."""
    accumulating_s: float

    @property
    def total_s(self) -> float:
        return self.events_s + self.accumulating_s


async def accumulators() -> Iterator[Figure | str]:
    """Tool input of 1 MB and text of 2 MB. The SDK takes about half a minute for the first."""
    return _compared()


def _compared() -> Iterator[Figure | str]:
    written = json.dumps({"path": "long.py", "content": _lines(INPUT_CHARACTERS)})
    call: Block = {"type": "tool_use", "id": "toolu_1", "name": "write_file", "input": {}}
    deltas = ({"type": "input_json_delta", "partial_json": piece} for piece in _pieces(written, INPUT_PIECE))
    yield from _both("tool input of 1 MB / the SDK's", list(_stream(call, deltas, "tool_use")), times_faster=20)

    text = _lines(TEXT_CHARACTERS)
    answer: Block = {"type": "text", "text": ""}
    deltas = ({"type": "text_delta", "text": piece} for piece in _pieces(text, TEXT_PIECE))
    yield from _both("text of 2 MB / the SDK's", list(_stream(answer, deltas, "end_turn")))


def _both(name: str, events: list[Json], *, times_faster: float | None = None) -> Iterator[Figure | str]:
    our_content, ours = _ours(events)
    their_content, theirs = _theirs(events)
    if our_content != their_content:
        raise AssertionError(f"{name}: the two do not end with the same content")
    note = (
        f"(the SDK: {theirs.events_s:.2f} s for typed events, {theirs.accumulating_s:.2f} s for putting them together)"
    )
    yield Figure(name, ours.total_s, "s", theirs.total_s, times_faster=times_faster or 1, note=note)
    yield f"{'':44} {len(events):,} events, the same content in the end"


def _ours(events: list[Json]) -> tuple[list[Block], _Cost]:
    accumulator = Accumulator()

    def feed() -> list[Block]:
        for event in events:
            accumulator.feed(event["type"], event)
        return list(accumulator.reply().content)

    content, seconds = _timed(feed)
    return content, _Cost(0.0, seconds)


def _theirs(events: list[Json]) -> tuple[list[Block], _Cost]:
    from anthropic._models import construct_type_unchecked
    from anthropic.lib.streaming._messages import accumulate_event
    from anthropic.types import Message, RawMessageStreamEvent

    def accumulate() -> Message | None:
        snapshot: Message | None = None
        buffers: dict[int, bytes] = {}
        for event in typed:
            snapshot = accumulate_event(event=event, current_snapshot=snapshot, json_bufs=buffers)  # type: ignore[arg-type]
        return snapshot

    def made() -> list[RawMessageStreamEvent]:
        kind: Any = RawMessageStreamEvent  # a union, which the type of `type_` does not allow for
        return [construct_type_unchecked(type_=kind, value=event) for event in events]

    typed, events_s = _timed(made)
    message, accumulating_s = _timed(accumulate)
    content = message.to_dict()["content"] if message is not None else []
    return [dict(block) for block in content], _Cost(events_s, accumulating_s)  # type: ignore[attr-defined]


def _timed(work: Callable[[], Result]) -> tuple[Result, float]:
    began = time.process_time()
    result = work()
    return result, time.process_time() - began


def _stream(start: Block, deltas: Iterator[Json], stop_reason: str) -> Iterator[Json]:
    usage = {"input_tokens": 10, "output_tokens": 1}
    message = {"id": "msg_1", "type": "message", "role": "assistant", "model": "claude-sonnet-4-6", "content": []}
    ending = {"stop_reason": stop_reason, "stop_sequence": None}
    yield {"type": "message_start", "message": {**message, "stop_reason": None, "stop_sequence": None, "usage": usage}}
    yield {"type": "content_block_start", "index": 0, "content_block": start}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": 0, "delta": delta}
    yield {"type": "content_block_stop", "index": 0}
    yield {"type": "message_delta", "delta": ending, "usage": {"output_tokens": 100}}
    yield {"type": "message_stop"}


def _lines(characters: int) -> str:
    return (LINE * (characters // len(LINE) + 1))[:characters]


def _pieces(text: str, size: int) -> Iterator[str]:
    return (text[start : start + size] for start in range(0, len(text), size))
