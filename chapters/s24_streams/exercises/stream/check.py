"""Plays streams to a learner's reader, beside an oracle that knows where each event ends and parses nothing."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from random import Random
from types import ModuleType
from typing import Any

Block = dict[str, Any]
Chunks = list[tuple[float, bytes]]
TEXTS = ("La marée monte.", "潮が満ちる。", "Ferry at 09:30 🌊", "a\n\nb", "x")
BYTES_S, EVENTS_S = 1.0, 1.5
STREAMS, LONGEST = 1_000, 40
SHOWN = 8
"""Lines of a story, and events of a line, that are shown."""


@dataclass(frozen=True)
class Sent:
    """An event that the server sends."""

    name: str
    data: Block
    closes: Block | None = None
    """The block that is complete with it."""

    @property
    def wire(self) -> bytes:
        """The bytes of the event."""
        return f"event: {self.name}\ndata: {json.dumps(self.data, ensure_ascii=False)}\n\n".encode()

    def __str__(self) -> str:
        """The event in a story."""
        delta = self.data.get("delta", {})
        return repr(delta.get("text", delta.get("partial_json"))) if self.name == "content_block_delta" else self.name


def text(words: str, size: int = 4) -> list[Sent]:
    """The events of a block of text."""
    start = {"type": "text", "text": ""}
    pieces = [{"type": "text_delta", "text": words[at : at + size]} for at in range(0, len(words), size)]
    return _block(start, pieces, {"type": "text", "text": words})


def call(given: str, size: int = 5) -> list[Sent]:
    """The events of a tool call; input that is no JSON object closes no usable block."""
    start = {"type": "tool_use", "id": "t1", "name": "write_file", "input": {}}
    pieces = [{"type": "input_json_delta", "partial_json": given[at : at + size]} for at in range(0, len(given), size)]
    whole: Block | None = None
    if given.startswith("{") and given.endswith("}"):
        whole = {"type": "tool_use", "name": "write_file", "input": json.loads(given)}
    return _block(start, pieces, whole)


def _block(start: Block, pieces: list[Block], whole: Block | None) -> list[Sent]:
    deltas = [Sent("content_block_delta", {"index": 0, "delta": piece}) for piece in pieces]
    begin = Sent("content_block_start", {"index": 0, "content_block": start})
    return [begin, *deltas, Sent("content_block_stop", {"index": 0}, whole)]


PING = Sent("ping", {"type": "ping"})
ERROR = Sent("error", {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}})
BEGIN = Sent("message_start", {"message": {"content": []}})
LAST = (Sent("message_delta", {"delta": {"stop_reason": "end_turn"}}), Sent("message_stop", {}))


def numbered(*blocks: Sequence[Sent]) -> list[Sent]:
    """The events of the blocks of one answer, which have an index and calls an id of their own."""
    return [replace(event, data=_with_number(event.data, at)) for at, block in enumerate(blocks) for event in block]


def _with_number(data: Block, at: int) -> Block:
    if "index" not in data:
        return data
    if "id" in data.get("content_block", {}):
        data = {**data, "content_block": {**data["content_block"], "id": f"t{at}"}}
    return {**data, "index": at}


def message(*blocks: list[Sent]) -> list[Sent]:
    """The events of a complete answer."""
    return [BEGIN, *numbered(*blocks), *LAST]


def wire(events: Sequence[Sent]) -> bytes:
    """The bytes of events."""
    return b"".join(event.wire for event in events)


def expected(work: ModuleType, events: Sequence[Sent], chunks: Chunks) -> tuple[str, list[Block]]:
    """What a reader of these chunks should return."""
    arrived, read, byte_at, event_at = 0, 0, 0.0, 0.0
    blocks: list[Block] = []
    ends = [len(wire(events[: number + 1])) for number in range(len(events))]
    for at, data in chunks:
        if at - byte_at > BYTES_S or at - event_at > EVENTS_S:
            return work.STALLED, blocks
        byte_at = at if data else byte_at
        arrived += len(data)
        while read < len(events) and ends[read] <= arrived:
            event = events[read]
            read += 1
            event_at = event_at if event.name == "ping" else at
            blocks += [event.closes] if event.closes else []
            if event.name in ("message_stop", "error"):
                return (work.WHOLE if event.name == "message_stop" else work.BROKEN_OFF), blocks
    return work.BROKEN_OFF, blocks


def story(events: Sequence[Sent], chunks: Chunks, found: object, wanted: object) -> str:
    """The chunks of a stream, those of the same moment together, and how it was read."""
    ends = [len(wire(events[: number + 1])) for number in range(len(events))]
    lines, arrived = [], 0
    for at, group in groupby(chunks, key=lambda chunk: chunk[0]):
        sizes = [len(data) for _, data in group]
        before, arrived = arrived, arrived + sum(sizes)
        whole = [str(event) for event, end in zip(events, ends, strict=True) if before < end <= arrived]
        if len(whole) > SHOWN:
            whole[SHOWN // 2 : -SHOWN // 2] = ["…"]
        if sum(sizes) and arrived not in ends:
            whole.append("then a part of an event")
        what = ", ".join(whole) if sum(sizes) else "no bytes"
        lines.append(f"{at:g} s{f', in {len(sizes)} pieces' if len(sizes) > 1 else ''}: {what}")
    hidden = [f"… {len(lines) - SHOWN} moments before"] if len(lines) > SHOWN else []
    return "\n".join([*hidden, *lines[-SHOWN:], f"-> {found}", f"wanted {wanted}"])


def _reads(work: ModuleType, events: Sequence[Sent], chunks: Chunks) -> str:
    """The story of a difference; empty: there is none."""
    wanted = expected(work, events, chunks)
    found: object
    try:
        found = work.read_stream(chunks)
    except Exception as error:  # noqa: BLE001 (whatever the learner's code raises is a finding)
        found = f"{type(error).__name__}: {error}"
    return "" if found == wanted else story(events, chunks, found, wanted)


def _agree(work: ModuleType, events: Sequence[Sent], chunks: Chunks) -> None:
    difference = _reads(work, events, chunks)
    assert not difference, difference


def check_pieces_may_be_cut_anywhere(work: ModuleType) -> None:
    for words in TEXTS:
        events = message(text(words))
        data = wire(events)
        _agree(work, events, [(0.0, data)])
        _agree(work, events, [(0.0, bytes([byte])) for byte in data])


def check_only_closed_blocks_are_kept(work: ModuleType) -> None:
    events = message(text("Ferry at 09:30."), call('{"path": "crew.txt", "content": "Mind the rocks."}'))
    data = wire(events)
    for cut in range(0, len(data), 3):
        _agree(work, events, [(0.0, data[:cut])])
    for given in ('{"path": "cr', '["crew.txt"]'):
        events = message(text("Wait."), call(given))
        _agree(work, events, [(0.0, wire(events))])


def check_only_message_stop_makes_an_answer_whole(work: ModuleType) -> None:
    events = message(text("High water at 06:20."))
    _agree(work, events, [(0.0, wire(events[:-1]))])
    _agree(work, events, [])
    events = [BEGIN, *numbered(text("High water"), text("at 06:20.")[:2]), ERROR, *text("never")]
    _agree(work, events, [(0.0, wire(events))])
    events = [*message(text("All is said.")), *text("never"), ERROR]
    _agree(work, events, [(0.0, wire(events))])
    stream = work.Stream()
    stream.feed(0.0, wire(events))
    stream.feed(9.0, b"")
    stream.end()
    assert stream.state == work.WHOLE, f"after message_stop, 9 s and the end of the connection: {stream.state!r}"


def check_silence_is_noticed(work: ModuleType) -> None:
    begun, rest = [BEGIN, *text("High water")[:2]], [*text("High water")[2:], *LAST]
    events = [*begun, *rest]
    head, tail = wire(begun), wire(rest)
    _agree(work, events, [(0.5, head), (1.5, b""), (1.5, tail)])
    _agree(work, events, [(0.5, head), (1.0, b""), (1.75, b""), (1.75, tail)])
    _agree(work, events, [(1.25, head)])
    pings = [*begun, PING, PING, PING, *rest]
    _agree(work, pings, [(0.0, head), (0.5, PING.wire), (1.0, PING.wire), (1.5, PING.wire + tail)])
    _agree(work, pings, [(0.0, head), (0.75, PING.wire), (1.5, PING.wire), (1.75, PING.wire + tail)])
    letters = [(at * 0.75, tail[at : at + 1]) for at in range(1, len(tail))]
    _agree(work, events, [(0.0, head), (0.0, tail[:1]), *letters])


def check_random_streams_are_read_as_the_oracle_reads_them(work: ModuleType) -> None:
    found = (_difference(work, Random(seed)) for seed in range(STREAMS))
    shortest = min(filter(None, found), key=len, default="")
    assert not shortest, shortest


def _difference(work: ModuleType, chance: Random) -> str:
    """The story of one random stream that is read in another way than the oracle reads it; empty: there is none."""
    makers = (
        lambda: text(chance.choice(TEXTS), chance.randint(1, 9)),
        lambda: call(json.dumps({"path": chance.choice(TEXTS)}, ensure_ascii=False), chance.randint(1, 9)),
        lambda: call(chance.choice(['{"path": "cr', '["a"]'])),
        lambda: [PING],
    )
    events = message(*(chance.choice(makers)() for _ in range(chance.randint(0, 4))))
    if chance.random() < 0.3:
        events.insert(chance.randrange(len(events)), ERROR)
    data = wire(events)
    if chance.random() < 0.5:
        data = data[: chance.randrange(len(data) + 1)]
    chunks: Chunks = []
    at, longest = 0.0, chance.choice([1, 5, 200, 2_000])
    slow = chance.choice([0.0, 0.02, 0.2])
    while data:
        at += chance.choice([0.25, 0.5, 1.0, 1.25]) if chance.random() < slow else 0.0
        size = 0 if chance.random() < slow else chance.randint(1, longest)
        chunks.append((at, data[:size]))
        data = data[size:]
    return _reads(work, events, chunks)
