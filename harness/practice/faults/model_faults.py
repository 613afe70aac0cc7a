"""Wire faults: one small class each.

A `StatusFault` is an answer of its own. All others strike a reply whose headers are out, or about to
go out. What each one puts on the wire is decided in `player`; nothing here touches a socket.

Most faults strike at a place, `at`: the number of events that go out before it (0 is before
message_start), or the name of the first event it precedes, or "headers" (nothing has been sent), or
"end" (message_stop is out). A place beyond the last event means just before message_stop, so that a
fault is never lost because a reply was short.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, get_args

At = int | str
MIDDLE = 4
"""After message_start, content_block_start, ping and one delta: something has been shown, nothing is complete."""


@dataclass(frozen=True, slots=True)
class StatusFault:
    """An HTTP error instead of a reply."""

    status: int
    type: str | None = None
    """`error.type`; None: the usual one for the status."""
    message: str | None = None
    """`error.message`; None: the usual one for the status."""
    error_code: str | None = None
    """`error.details.error_code`, for example "enforced_spend_limit_reached"."""
    headers: Mapping[str, str] = field(default_factory=dict)
    body: str | None = None
    """Sent instead of the JSON error."""
    content_type: str | None = None
    """None: application/json, or text/html for a `body` that begins with "<", else text/plain."""
    delay_s: float = 0.0
    """Seconds before the response headers."""


@dataclass(frozen=True, slots=True)
class ErrorEvent:
    """An `error` event in a stream that began well; the stream ends after it."""

    kind: ClassVar[str] = "error_event"
    at: At = MIDDLE
    type: str = "overloaded_error"
    message: str | None = None
    error_code: str | None = None
    raw: str | None = None
    """Sent as the event's data instead of the JSON error."""


@dataclass(frozen=True, slots=True)
class Reset:
    """The connection is reset (RST)."""

    kind: ClassVar[str] = "reset"
    at: At = MIDDLE


@dataclass(frozen=True, slots=True)
class CutChunk:
    """The connection is closed (FIN) in the middle of a chunk."""

    kind: ClassVar[str] = "cut_chunk"
    at: At = MIDDLE


@dataclass(frozen=True, slots=True)
class ShortLength:
    """The body is announced with a content-length and ends before it."""

    kind: ClassVar[str] = "short_length"
    at: At = MIDDLE


@dataclass(frozen=True, slots=True)
class CleanEnd:
    """The body ends properly although the stream is not finished. At 0: an empty stream. At "headers": no answer."""

    kind: ClassVar[str] = "clean_end"
    at: At = MIDDLE


@dataclass(frozen=True, slots=True)
class CloseDelimited:
    """The body has neither length nor chunks; the connection is closed, and only that ends it."""

    kind: ClassVar[str] = "close_delimited"
    at: At = MIDDLE


@dataclass(frozen=True, slots=True)
class Stall:
    """Nothing is sent for a while. At "end": the socket stays open after message_stop."""

    kind: ClassVar[str] = "stall"
    at: At = MIDDLE
    seconds: float | None = None
    """None: until the client goes away. Otherwise the reply continues after this time."""


@dataclass(frozen=True, slots=True)
class PingsOnly:
    """Pings and nothing else."""

    kind: ClassVar[str] = "pings_only"
    at: At = 0
    every_s: float = 1.0
    count: int | None = None
    """None: until the client goes away. Otherwise the body ends after so many pings."""


@dataclass(frozen=True, slots=True)
class BadJson:
    """An event whose data is not JSON is put in; the reply continues."""

    kind: ClassVar[str] = "bad_json"
    at: At = MIDDLE
    data: str = '{"type":"content_block_delta","index":0,"delta":{"type":"text_del'


@dataclass(frozen=True, slots=True)
class BadUtf8:
    """An event whose data is not UTF-8 is put in; the reply continues."""

    kind: ClassVar[str] = "bad_utf8"
    at: At = MIDDLE


@dataclass(frozen=True, slots=True)
class JsonBody:
    """Status 200, and an error as a JSON body instead of a stream."""

    kind: ClassVar[str] = "json_body"
    type: str = "api_error"
    message: str = "Internal server error"


@dataclass(frozen=True, slots=True)
class HtmlBody:
    """Status 200 and a web page, as a captive portal or a wrong base URL gives it."""

    kind: ClassVar[str] = "html_body"
    body: str = "<!doctype html><html><head><title>Sign in</title></head><body>Please sign in.</body></html>"


@dataclass(frozen=True, slots=True)
class Omit:
    """All events of these names are left out."""

    kind: ClassVar[str] = "omit"
    events: tuple[str, ...] = ("message_stop",)


@dataclass(frozen=True, slots=True)
class CutTool:
    """The input of a tool call ends after some characters."""

    kind: ClassVar[str] = "cut_tool"
    characters: int = 10
    ending: Literal["max_tokens", "end", "reset", "silent"] = "max_tokens"
    """How the stream continues: whole with stop_reason max_tokens; a clean end without message_stop; a reset;
    or "silent", as if the call were complete."""
    tool: int = 1
    """Which tool call of the reply, from 1."""


@dataclass(frozen=True, slots=True)
class ToolJson:
    """The input of a tool call is this text."""

    kind: ClassVar[str] = "tool_json"
    text: str = '{"path": }'
    tool: int = 1
    """Which tool call of the reply, from 1."""


@dataclass(frozen=True, slots=True)
class UnknownEvent:
    """An event of an unknown type is put in."""

    kind: ClassVar[str] = "unknown_event"
    at: At = MIDDLE
    name: str = "weather_report"


@dataclass(frozen=True, slots=True)
class UnknownDelta:
    """A delta of an unknown type is put into the open block."""

    kind: ClassVar[str] = "unknown_delta"
    at: At = MIDDLE


@dataclass(frozen=True, slots=True)
class UnknownBlock:
    """A block of an unknown type follows the last block."""

    kind: ClassVar[str] = "unknown_block"
    type: str = "hologram"


@dataclass(frozen=True, slots=True)
class StopReason:
    """The stop reason is this."""

    kind: ClassVar[str] = "stop_reason"
    value: str = "out_of_ink"


@dataclass(frozen=True, slots=True)
class BadIndex:
    """The first delta from here on carries the index of a block that does not exist."""

    kind: ClassVar[str] = "bad_index"
    at: At = MIDDLE


@dataclass(frozen=True, slots=True)
class MissingUsage:
    """No event carries usage."""

    kind: ClassVar[str] = "missing_usage"


@dataclass(frozen=True, slots=True)
class SecondStart:
    """The message_start of another message is put in."""

    kind: ClassVar[str] = "second_start"
    at: At = MIDDLE


@dataclass(frozen=True, slots=True)
class DataOnly:
    """Events have no `event:` line. The SDK drops such events."""

    kind: ClassVar[str] = "data_only"


@dataclass(frozen=True, slots=True)
class CrLf:
    """Lines end in CR LF. Allowed; a client must not mind."""

    kind: ClassVar[str] = "crlf"


@dataclass(frozen=True, slots=True)
class Comments:
    """A comment precedes each event. Allowed; a client must not mind."""

    kind: ClassVar[str] = "comments"


@dataclass(frozen=True, slots=True)
class ByteByByte:
    """Each byte is a chunk of its own, so that characters are split. Allowed; a client must not mind."""

    kind: ClassVar[str] = "byte_by_byte"


StreamFault = (
    ErrorEvent
    | Reset
    | CutChunk
    | ShortLength
    | CleanEnd
    | CloseDelimited
    | Stall
    | PingsOnly
    | BadJson
    | BadUtf8
    | JsonBody
    | HtmlBody
    | Omit
    | CutTool
    | ToolJson
    | UnknownEvent
    | UnknownDelta
    | UnknownBlock
    | StopReason
    | BadIndex
    | MissingUsage
    | SecondStart
    | DataOnly
    | CrLf
    | Comments
    | ByteByByte
)
Fault = StatusFault | StreamFault
KINDS: Mapping[str, type[StreamFault]] = {fault.kind: fault for fault in get_args(StreamFault)}
"""Every fault of a stream by the name it has in a script."""
