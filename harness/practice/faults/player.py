"""How a fault looks on the wire: events in, acts out, no sockets.

`FaultPlayer` is fed the events of a reply, one by one, and says what to do: send these bytes, wait, end the
body, reset the connection. The practice server feeds it the events of a scripted reply, the proxy those
of an upstream server, so that a fault looks the same in both.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from harness.events import Json
from harness.practice.faults import model_faults
from harness.practice.faults.model_faults import At, StreamFault
from harness.practice.wire.replies import Frame, compact, error_body, frame, usual_message


@dataclass(frozen=True, slots=True)
class Send:
    """Send these bytes now, as one chunk or byte by byte."""

    data: bytes
    each_byte: bool = False


@dataclass(frozen=True, slots=True)
class Silence:
    """Send nothing for so many seconds; None: until the client goes away."""

    seconds: float | None


class ReplyEnd(Enum):
    """The last act of a reply."""

    FINISH = auto()
    """End the body properly."""
    CUT = auto()
    """Close the connection in the middle of a chunk."""
    CLOSE = auto()
    """Close the connection."""
    RESET = auto()
    """Reset the connection."""


Act = Send | Silence | ReplyEnd


class Framing(Enum):
    """How the end of a body is marked."""

    CHUNKED = auto()
    LENGTH = auto()
    """A content-length, which the body may never reach."""
    NONE = auto()
    """Neither length nor chunks: the end of the connection ends the body."""


def framing(fault: StreamFault | None) -> Framing:
    """The framing a fault needs."""
    match fault:
        case model_faults.ShortLength():
            return Framing.LENGTH
        case model_faults.CloseDelimited():
            return Framing.NONE
        case _:
            return Framing.CHUNKED


def acts_before_headers(fault: StreamFault | None) -> Iterator[Act]:
    """What happens before the response headers. An `ReplyEnd` means that there is no response."""
    match fault:
        case model_faults.Reset(at="headers"):
            yield ReplyEnd.RESET
        case model_faults.CleanEnd(at="headers") | model_faults.CutChunk(at="headers"):
            yield ReplyEnd.CLOSE
        case model_faults.Stall(at="headers", seconds=seconds):
            yield Silence(seconds)
        case _:
            return


class FaultPlayer:
    """Plays one reply with at most one fault."""

    def __init__(self, fault: StreamFault | None, request_id: str) -> None:
        self._fault = fault
        self._request_id = request_id
        self._at: At | None = getattr(fault, "at", None)
        self._struck = self._at in (None, "headers")
        self._index_broken = False
        self._ended = False
        self._frames = 0
        self._tools = 0
        self._tool_open = False
        self._tool_characters = 0
        self._tool_pieces = 0
        self._block = -1
        self._start: Frame | None = None

    def feed(self, event: Frame) -> Iterator[Act]:
        """What to do for the next event of the reply."""
        if self._ended:
            return
        self._note(event)
        if not self._struck and self._reached(event):
            yield from self._strike()
        elif isinstance(self._fault, model_faults.UnknownBlock) and event.name == "message_delta":
            yield from self._unknown_block(self._fault.type)
        if self.ended:
            return
        yield from self._altered(event)
        self._frames += 1

    def finish(self) -> Iterator[Act]:
        """What to do after the last event."""
        if not self._struck and not self._ended:
            yield from self._strike()
        if not self.ended:
            yield from self._end(ReplyEnd.FINISH)

    @property
    def ended(self) -> bool:
        """The last act is out; further events change nothing."""
        return self._ended

    def _note(self, event: Frame) -> None:
        match event.name:
            case "message_start":
                self._start = event
            case "content_block_start":
                block = _data(event)
                self._block = block.get("index", self._block + 1)
                self._tool_open = block.get("content_block", {}).get("type") == "tool_use"
                self._tools += self._tool_open
            case "content_block_stop":
                self._tool_open = False

    def _reached(self, event: Frame) -> bool:
        if self._at == "end":
            return False
        if event.name == "message_stop":
            return True
        return event.name == self._at if isinstance(self._at, str) else self._frames >= (self._at or 0)

    def _strike(self) -> Iterator[Act]:
        self._struck = True
        match self._fault:
            case model_faults.ErrorEvent():
                yield self._send(self._error_event(self._fault))
                yield from self._end(ReplyEnd.FINISH)
            case model_faults.Reset():
                yield from self._end(ReplyEnd.RESET)
            case model_faults.CutChunk():
                yield from self._end(ReplyEnd.CUT)
            case model_faults.ShortLength():
                yield from self._end(ReplyEnd.CLOSE)
            case model_faults.CleanEnd() | model_faults.CloseDelimited():
                yield from self._end(ReplyEnd.FINISH)
            case model_faults.Stall(seconds=seconds):
                yield Silence(seconds)
            case model_faults.PingsOnly(every_s=every_s, count=count):
                yield from self._pings(every_s, count)
            case model_faults.BadJson(data=data):
                yield self._send(Frame("content_block_delta", data))
            case model_faults.BadUtf8():
                yield Send(b'event: content_block_delta\ndata: {"type":"content_block_delta","x":"\xff\xfe"}\n\n')
            case model_faults.UnknownEvent(name=name):
                yield self._send(frame({"type": name, "forecast": "rain"}))
            case model_faults.UnknownDelta():
                delta = {"type": "smell_delta", "smell": "rain"}
                yield self._send(frame({"type": "content_block_delta", "index": max(self._block, 0), "delta": delta}))
            case model_faults.SecondStart() if self._start is not None:
                start = _data(self._start)
                message = {**start.get("message", {}), "id": "msg_second"}
                yield self._send(frame({"type": "message_start", **start, "message": message}))

    def _end(self, end: ReplyEnd) -> Iterator[Act]:
        self._ended = True
        yield end

    def _pings(self, every_s: float, count: int | None) -> Iterator[Act]:
        sent = 0
        while count is None or sent < count:
            yield self._send(frame({"type": "ping"}))
            yield Silence(every_s)
            sent += 1
        yield from self._end(ReplyEnd.FINISH)

    def _unknown_block(self, type_: str) -> Iterator[Act]:
        index = self._block + 1
        block = {"type": type_, "colour": "blue"}
        yield self._send(frame({"type": "content_block_start", "index": index, "content_block": block}))
        yield self._send(frame({"type": "content_block_stop", "index": index}))

    def _error_event(self, fault: model_faults.ErrorEvent) -> Frame:
        if fault.raw is not None:
            return Frame("error", fault.raw)
        message = fault.message or usual_message(fault.type)
        return frame(error_body(fault.type, message, self._request_id, fault.error_code))

    def _altered(self, event: Frame) -> Iterator[Act]:
        match self._fault:
            case model_faults.Omit(events) if event.name in events:
                return
            case model_faults.MissingUsage() if event.name in ("message_start", "message_delta"):
                yield self._send(_rewritten(event, _without_usage(_data(event))))
            case model_faults.StopReason(value=value) if event.name == "message_delta":
                yield self._send(_rewritten(event, _with_stop_reason(_data(event), value)))
            case model_faults.BadIndex() if self._struck and not self._index_broken and "index" in _data(event):
                self._index_broken = True
                yield self._send(_rewritten(event, _data(event) | {"index": self._block + 7}))
            case model_faults.CutTool() if self._in_tool(self._fault.tool, event):
                yield from self._cut_tool(self._fault, event)
            case model_faults.ToolJson(text=text, tool=tool) if self._in_tool(tool, event):
                if not self._tool_pieces:
                    yield self._send(_with_json(event, text))
                self._tool_pieces += 1
            case _:
                yield from self._encoded(event)

    def _in_tool(self, tool: int, event: Frame) -> bool:
        return self._tool_open and self._tools == tool and event.name == "content_block_delta"

    def _cut_tool(self, fault: model_faults.CutTool, event: Frame) -> Iterator[Act]:
        piece = _data(event).get("delta", {}).get("partial_json", "")
        room = fault.characters - self._tool_characters
        self._tool_characters += len(piece)
        if room > 0 and piece[:room]:
            yield self._send(_with_json(event, piece[:room]))
        if len(piece) < room or fault.ending == "silent":
            return
        match fault.ending:
            case "end":
                yield from self._end(ReplyEnd.FINISH)
            case "reset":
                yield from self._end(ReplyEnd.RESET)
            case "max_tokens":
                yield from self._stopped_at_max_tokens()

    def _stopped_at_max_tokens(self) -> Iterator[Act]:
        usage = {"output_tokens": self._frames}
        delta = {"stop_reason": "max_tokens", "stop_sequence": None}
        yield self._send(frame({"type": "content_block_stop", "index": self._block}))
        yield self._send(frame({"type": "message_delta", "delta": delta, "usage": usage}))
        yield self._send(frame({"type": "message_stop"}))
        yield from self._end(ReplyEnd.FINISH)

    def _send(self, event: Frame) -> Send:
        return Send(event.encode())

    def _encoded(self, event: Frame) -> Iterator[Act]:
        match self._fault:
            case model_faults.DataOnly():
                yield self._send(Frame(None, event.data))
            case model_faults.CrLf():
                yield Send(event.encode("\r\n"))
            case model_faults.Comments():
                yield Send(b": a comment\n" + event.encode())
            case model_faults.ByteByByte():
                yield Send(event.encode(), each_byte=True)
            case _:
                yield self._send(event)


def _data(event: Frame) -> Json:
    """The data of an event; empty when an upstream server sent something that is no JSON object."""
    try:
        data = json.loads(event.data)
    except ValueError:
        return {}
    return data if isinstance(data, dict) else {}


def _rewritten(event: Frame, data: Json) -> Frame:
    return Frame(event.name, compact(data))


def _with_json(event: Frame, text: str) -> Frame:
    data = _data(event)
    return _rewritten(event, data | {"delta": data.get("delta", {}) | {"partial_json": text}})


def _with_stop_reason(data: Json, value: str) -> Json:
    return data | {"delta": data.get("delta", {}) | {"stop_reason": value}}


def _without_usage(data: Json) -> Json:
    kept = {key: value for key, value in data.items() if key != "usage"}
    if "message" in kept:
        kept["message"] = {key: value for key, value in kept["message"].items() if key != "usage"}
    return kept
