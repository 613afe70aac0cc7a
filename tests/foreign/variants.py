"""One row for each difference of a server from the API: bytes that a program has to make the best of.

Unless a row says otherwise it plays one reply with a tool call and then the answer: the tool has to run exactly once,
and the answer has to appear on standard output exactly once.
"""

import json
from dataclasses import dataclass

from harness.events import Json
from tests.foreign.server import NO_MODELS
from tests.foreign.wire import (
    ANSWER,
    CALL,
    COMMAND,
    LOOK,
    Events,
    Head,
    Respond,
    answering,
    asking,
    body_of,
    call_block,
    data_first,
    ending,
    json_body,
    measured,
    message_start,
    nameless,
    numbered,
    over_lines,
    packed,
    page,
    preceded,
    reset_after,
    sse,
    streamed,
    text_block,
    tight,
    typeless,
    until_closed,
    whole,
    without,
)

NOT_PERMITTED = "Extra inputs are not permitted"
MODEL = "claude-sonnet-4-6"
OTHER_CALL: Json = {"type": "tool_use", "id": "toolu_2", "name": "bash", "input": {"command": "echo other >> ran.txt"}}


@dataclass(frozen=True)
class Variant:
    """A server and the expected result."""

    name: str
    responses: tuple[Respond, ...]
    answer: str = ANSWER
    """What standard output must hold; empty: nothing."""
    ran: tuple[str, ...] = ("ran",)
    """What the commands must have left behind, in order."""
    requests: int = 2
    """The most requests that may be sent."""
    code: int = 0
    """Exit code."""
    says: tuple[str, ...] = ()
    """What the reason at the end must hold."""
    models: Respond | None = NO_MODELS
    """How the list of models is answered; None: never."""
    model: str = MODEL


def _bytes(name: str, first: Respond, second: Respond | None = None, **more: object) -> Variant:
    return Variant(name, (first, second or streamed(body_of(answering()))), **more)  # type: ignore[arg-type]


def _events(name: str, first: Events, second: Events | None = None, **more: object) -> Variant:
    return _bytes(name, streamed(body_of(first)), streamed(body_of(second or answering())), **more)


def _both(name: str, respond, **more: object) -> Variant:  # type: ignore[no-untyped-def]
    return Variant(name, (respond(asking()), respond(answering())), **more)  # type: ignore[arg-type]


def _hopeless(name: str, response: Respond, *says: str, requests: int = 3, **more: object) -> Variant:
    return Variant(name, (response,), "", (), requests, 1, says, **more)  # type: ignore[arg-type]


def _error(status: str, message: str, **more: object) -> Respond:
    error = {"type": "invalid_request_error", "message": message, **more}
    return json_body({"type": "error", "error": error}, status)


def _fastapi(*wrong: tuple[str, str]) -> Respond:
    """A request that FastAPI refuses, with where it is wrong and how."""
    details = [
        {"type": "any", "loc": ["body", *(int(step) if step.isdigit() else step for step in place.split("."))]}
        | {"msg": words, "input": {"a": 1}}
        for place, words in wrong
    ]
    return json_body({"detail": details}, "422 Unprocessable Entity")


def _stop(index: int) -> tuple[str, Json]:
    return "content_block_stop", {"index": index}


def _late_stop() -> Events:
    """A block that is closed after the next one has begun."""
    text, call = text_block(0, LOOK), call_block(1)
    return [message_start(), *text[:-1], call[0], text[-1], *call[1:], *ending("tool_use")]


def _doubled(events: Events) -> Events:
    return [again for event in events for again in [event] * (1 if event[0] == "content_block_delta" else 2)]


def _interleaved() -> Events:
    first, second = call_block(0), call_block(1, OTHER_CALL)
    mixed = [event for pair in zip(first, second, strict=True) for event in pair]
    return [message_start(), *mixed, *ending("tool_use")]


def _twice_the_id() -> Events:
    return [message_start(), *call_block(0), *call_block(1, {**OTHER_CALL, "id": "toolu_1"}), *ending("tool_use")]


def _split_pair() -> bytes:
    """An emoji in two halves, as a gateway in JavaScript writes it."""
    return body_of([message_start(), *text_block(0, "A \ud83d", "\ude00 B"), *ending("end_turn")])


def _split_arguments() -> Events:
    arguments = json.dumps({"command": "printf '😀' > face.txt; " + COMMAND}, ensure_ascii=False)
    at = arguments.index("😀")
    pieces = [arguments[:at] + "\ud83d", "\ude00" + arguments[at + 1 :]]
    return [message_start(), *call_block(0, CALL, pieces), *ending("tool_use")]


def _unknown_things() -> Events:
    """Unknown items in the SDK's fixtures: events, deltas, blocks, and a stop without a block."""
    return [
        message_start(container=None, context_management=None),
        ("model_context", {"window": 4096}),
        _stop(0),
        *text_block(0, LOOK),
        ("content_block_start", {"index": 1, "content_block": {"type": "mystery", "payload": [1]}}),
        ("content_block_delta", {"index": 1, "delta": {"type": "mystery_delta", "payload": 2}}),
        _stop(1),
        _stop(7),
        *call_block(2),
        ("content_block_delta", {"index": 2, "delta": {"type": "progress_delta", "percent": 99}}),
        *ending("tool_use"),
    ]


def _same_index() -> Events:
    return [message_start(), *text_block(0, LOOK), *call_block(0), *ending("tool_use")]


def _input_at_once() -> Events:
    start = ("content_block_start", {"index": 0, "content_block": CALL})
    return [message_start(), start, _stop(0), *ending("tool_use")]


def _unsigned_thinking() -> Events:
    thinking = [
        ("content_block_start", {"index": 0, "content_block": {"type": "thinking", "thinking": ""}}),
        ("content_block_delta", {"index": 0, "delta": {"type": "thinking_delta", "thinking": "Hm."}}),
        _stop(0),
    ]
    return [message_start(), *thinking, *text_block(1, LOOK), *call_block(2), *ending("tool_use")]


def _nothing(reason: object = "end_turn") -> Events:
    return [message_start(), *ending(reason)]


def _thinking_only() -> Events:
    return [*_unsigned_thinking()[:4], *ending("end_turn")]


def _lost_call(reason: object = "tool_use") -> Events:
    return [message_start(), *text_block(0, LOOK), *ending(reason)]


def _error_event(kind: str, message: str = "Internal server error") -> bytes:
    return sse("error", {"error": {"type": kind, "message": message}})


def _then_good(first: Respond, **more: object) -> Variant:
    """For a server that fails once."""
    name = str(more.pop("name"))
    responses = (first, streamed(body_of(asking())), streamed(body_of(answering())))
    return Variant(name, responses, **{"requests": 3, **more})  # type: ignore[arg-type]


def _called(call: Json) -> Events:
    """A reply that asks for one command and says nothing."""
    return [message_start(), *call_block(0, call), *ending("tool_use")]


ASKING, ANSWERING = body_of(asking()), body_of(answering())
WRITERS = {
    "CRLF": lambda name, data: sse(name, data, "\r\n"),
    "CR alone": lambda name, data: sse(name, data, "\r"),
    "data without a space": tight,
    "data over several lines": over_lines,
    "the name after the data": data_first,
    "id and retry": numbered,
    "data without a type": typeless,
    "no event lines": nameless,
}
BETWEEN = {
    "comments": b": keep-alive\n\n",
    "blank lines between events": b"\n\n",
    "[DONE] between events": b"data: [DONE]\n\n",
    "pings": b'event: ping\ndata: {"type":"ping"}\n\n',
}
HEADS = {
    "text/plain": Head(content_type="text/plain; charset=utf-8"),
    "octet-stream": Head(content_type="application/octet-stream"),
    "application/json": Head(content_type="application/json"),
    "no content type": Head(content_type=None),
    "x-ndjson": Head(content_type="application/x-ndjson"),
    "upper case": Head(content_type="Text/Event-Stream;charset=UTF-8"),
}
REASONS = ("end_turn", "stop", "tool_calls", "", None, "eos", "function_call")
MOVED = measured(b"", Head("307 Temporary Redirect", more=("location: /other/v1/messages",)))
EARLY = b"HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n"
BOM = "\ufeff".encode()

STREAMS = (
    *(_both(name, lambda events, w=write: streamed(body_of(events, w))) for name, write in WRITERS.items()),
    *(_both(name, lambda events, b=between: streamed(body_of(events, sse, b))) for name, between in BETWEEN.items()),
    *(
        _both(f"content type {name}", lambda events, h=head: streamed(body_of(events), h))
        for name, head in HEADS.items()
    ),
    *(_events(f"stop reason {reason!r}", asking(reason)) for reason in REASONS),
    _both("[DONE] at the end", lambda events: streamed(body_of(events) + b"data: [DONE]\n\n")),
    _both("no last blank line", lambda events: streamed(body_of(events)[:-1])),
    _both("one byte a chunk", lambda events: streamed(body_of(events), size=1)),
    _both("gzip", lambda events: packed(body_of(events), "gzip")),
    _both("deflate", lambda events: packed(body_of(events), "deflate")),
    _both("a content length", lambda events: measured(body_of(events))),
    _both("closed at the end", lambda events: until_closed(body_of(events))),
    _both("HTTP/1.0", lambda events: until_closed(body_of(events), Head(version="1.0"))),
    _both("trailers", lambda events: streamed(body_of(events), end=b"0\r\nx-checksum: 1\r\n\r\n")),
    _both("100 and 103 first", lambda e: preceded(EARLY, streamed(body_of(e)))),
    _both("reset after the end", lambda events: reset_after(body_of(events))),
    _both("the socket stays open", lambda events: streamed(body_of(events), end=b"")),
    _both("a byte order mark", lambda events: streamed(BOM + body_of(events))),
    _both("a byte order mark and no event lines", lambda e: streamed(BOM + body_of(e, nameless), size=2)),
    _both("text/plain, one byte a chunk", lambda e: streamed(body_of(e), HEADS["text/plain"], size=1)),
    _both("text/plain, comments first", lambda e: streamed(b": hi\n\n" + body_of(e), HEADS["text/plain"])),
    _both("no message_stop", lambda e: streamed(body_of(without(e, "message_stop")))),
    _both("no message_delta", lambda e: streamed(body_of(without(e, "message_delta")))),
    _both("no message_start", lambda e: streamed(body_of(without(e, "message_start")))),
    _both("no content_block_stop", lambda e: streamed(body_of(without(e, "content_block_stop")))),
    _both("no usage", lambda e: streamed(body_of([(n, {k: v for k, v in d.items() if k != "usage"}) for n, d in e]))),
    _both("a late delta after message_stop", lambda e: streamed(body_of([*e, text_block(9, "!")[1]]))),
    _both("an error after message_stop", lambda e: streamed(body_of(e) + _error_event("api_error"))),
    _both("message_start twice", lambda e: streamed(body_of([e[0], *e]))),
    _both("all but the pieces twice", lambda e: streamed(body_of(_doubled(e)))),
    _both("message_stop twice", lambda e: streamed(body_of([*e, e[-1]]))),
    _events("usage null", [message_start(usage=None), *asking()[1:-2], *ending("tool_use", None)]),
    _events("usage as text", [message_start(usage="many"), *asking()[1:-2], *ending("tool_use", "many")]),
    _events("no message id", [message_start(id=None), *asking()[1:]]),
    _events("indices from 1", [message_start(), *text_block(1, LOOK), *call_block(2), *ending("tool_use")]),
    _events("every block has the index 0", _same_index()),
    _events("interleaved tool calls", _interleaved(), ran=("ran", "other")),
    _events("input in the start of the block", _input_at_once()),
    _events("unknown events, deltas, blocks and stray stops", _unknown_things()),
    _events("thinking without a signature", _unsigned_thinking()),
    _events(
        "content_block_stop twice",
        [
            *asking()[:4],
            _stop(0),
            *asking()[4:],
        ],
    ),
    _events("a late content_block_stop", _late_stop()),
    _events("a stray content_block_stop", [message_start(), _stop(3), *asking()[1:-2], _stop(1), *ending("tool_use")]),
    _events("stop reason null, answer too", asking(None), answering(reason=None)),
    _events("stop reason 'stop', answer too", asking("stop"), answering(reason="stop")),
    _events("a call without an id", _called({**CALL, "id": None})),
    _events("a call with an empty id", _called({**CALL, "id": ""})),
    _events("two calls with the same id", _twice_the_id(), ran=("ran", "other")),
    _events("an id that the API refuses", _called({**CALL, "id": "c:1/é"})),
    Variant(
        "the same id in every reply",
        (streamed(ASKING), streamed(body_of(_called({**OTHER_CALL, "id": "toolu_1"}))), streamed(ANSWERING)),
        ran=("ran", "other"),
        requests=3,
    ),
    Variant("a surrogate pair in two halves", (streamed(_split_pair()),), "A 😀 B", (), 1),
    Variant("half a surrogate pair", (streamed(body_of(answering("A \ud83d and \ude00 B"))),), "A � and � B", (), 1),
    Variant("half a surrogate pair at the end", (streamed(body_of(answering("A B\ud83d"))),), "A B�", (), 1),
    _events("a surrogate pair split in the arguments", _split_arguments()),
    Variant("redirected", (MOVED, streamed(ASKING), MOVED, streamed(ANSWERING)), requests=4),
    _both("the model is unknown and there is no list of models", lambda e: streamed(body_of(e)), model="local-model"),
    _both("the list of models never comes", lambda e: streamed(body_of(e)), model="local-model", models=None),
)
"""A reply with a tool call and then the answer, in every form."""

WHOLE_ANSWER = whole("end_turn", {"type": "text", "text": ANSWER})
MESSAGES = (
    _bytes("JSON instead of a stream", json_body(whole()), json_body(WHOLE_ANSWER)),
    _bytes("JSON as an event stream", json_body(whole(), content_type="text/event-stream"), None),
    _bytes("JSON without a content type", json_body(whole(), content_type=None), None),
    _bytes("JSON without stop reason and usage", json_body({**whole(), "stop_reason": None, "usage": None}), None),
    _bytes(
        "JSON in pieces",
        streamed(json.dumps(whole(), indent=2).encode(), Head(content_type="application/json"), size=7),
    ),
)
"""One message in place of a stream."""

PASSING = (
    _then_good(json_body({"error": "later"}, "425 Too Early"), name="425 once"),
    _then_good(streamed(_error_event("internal_error")), name="internal_error once"),
    _then_good(streamed(body_of([message_start()]) + _error_event("internal_error")), name="internal_error in a reply"),
    Variant(
        "internal_error four times",
        (*[streamed(_error_event("InternalServerError"))] * 4, streamed(ANSWERING)),
        ran=(),
        requests=5,
    ),
    _then_good(_error("400 Bad Request", f"system.0.cache_control: {NOT_PERMITTED}"), name="no cache marks"),
    _then_good(
        _fastapi(("messages.0.content.0.cache_control", NOT_PERMITTED)), name="no cache marks, in the words of FastAPI"
    ),
    _then_good(_error("400 Bad Request", f"diagnostics: {NOT_PERMITTED}"), name="no diagnostics"),
    _then_good(_fastapi(("diagnostics", NOT_PERMITTED)), name="no diagnostics, in the words of FastAPI"),
    Variant("an empty reply once", (streamed(ASKING), streamed(body_of(_nothing())), streamed(ANSWERING)), requests=3),
    *(
        Variant(
            f"a lost call, {reason}",
            (streamed(body_of(_lost_call(reason))), streamed(ASKING), streamed(ANSWERING)),
            requests=3,
        )
        for reason in ("tool_use", "tool_calls")
    ),
    Variant("cut by 'length'", (streamed(body_of(answering(ANSWER[:9], "length"))), streamed(ANSWERING)), ran=()),
)
"""Faults that pass."""

LM_STUDIO = (
    "The number of tokens to keep from the initial prompt is greater than the context length "
    "(n_keep: 5214>= n_ctx: 4096). Try to load the model with a larger context length, or provide a shorter input."
)
LLAMA = "request (5214 tokens) exceeds the available context size (4096 tokens), try increasing it"
VLLM = (
    "This model's maximum context length is 4096 tokens. However, you requested 13214 tokens "
    "(5214 in the messages, 8000 in the completion)."
)
NAMED = ("ADDRESS", "base_url")
TWO_WRONG = _fastapi(("messages.0.content", "Input should be a valid string"), ("user", "Field required"))
HOPELESS = (
    _hopeless(
        "404 of FastAPI",
        json_body({"detail": "Not Found"}, "404 Not Found"),
        *NAMED,
        "404 for POST /v1/messages",
        requests=1,
    ),
    _hopeless("405", json_body({"detail": "Method Not Allowed"}, "405 Method Not Allowed"), *NAMED, "405", requests=1),
    _hopeless(
        "404 as a page",
        page("<!doctype html><html><head><title>404</title></head></html>", "404 Not Found"),
        *NAMED,
        requests=1,
    ),
    _hopeless(
        "a page with 200",
        page("<html><head><title>Welcome</title></head><body>Hello</body></html>"),
        *NAMED,
        "web page",
    ),
    _hopeless(
        "422 of FastAPI",
        TWO_WRONG,
        "ADDRESS",
        "messages.0.content: Input should be a valid string",
        "user: Field required",
        requests=1,
    ),
    _hopeless("JSON of another kind", json_body({"object": "chat.completion", "choices": []}), *NAMED),
    _hopeless("an empty body", measured(b""), *NAMED),
    _hopeless("plain words", measured(b"It works!", Head(content_type="text/plain")), *NAMED),
    _hopeless("a stream of nothing", streamed(b""), *NAMED),
    _hopeless(
        "a second message inside the first",
        streamed(body_of([message_start(), *text_block(0, LOOK), *asking()])),
        *NAMED,
    ),
    _hopeless("a delta for no block", streamed(body_of([message_start(), text_block(4, "x")[1]])), *NAMED),
    _hopeless("data that is no JSON", streamed(b"event: message_start\ndata: {oops\n\n"), *NAMED),
    _hopeless("bytes that are no text", streamed(b"event: message_start\ndata: \xff\xfe\n\n"), *NAMED),
    _hopeless("nothing but empty replies", streamed(body_of(_nothing())), "empty", requests=2),
    _hopeless("nothing but thinking", streamed(body_of(_thinking_only())), "empty", requests=2),
    _hopeless(
        "nothing but lost calls",
        streamed(body_of(_lost_call())),
        "held no call",
        requests=2,
    ),
    _hopeless("nothing but pauses", streamed(body_of(_nothing("pause_turn"))), "empty", requests=2),
    _hopeless("nothing but null", streamed(body_of(_nothing(None))), "empty", requests=2),
    _hopeless(
        "cache marks always refused",
        _error("400 Bad Request", f"cache_control: {NOT_PERMITTED}"),
        "cache_control",
        requests=2,
    ),
    _hopeless(
        "LM Studio with a small window",
        _error("400 Bad Request", LM_STUDIO),
        "4,096",
        "system prompt",
        "tools",
        requests=1,
    ),
    _hopeless(
        "llama.cpp with a small window",
        _error("400 Bad Request", LLAMA, n_ctx=4096),
        "4,096",
        "system prompt",
        "tools",
        requests=1,
    ),
    _hopeless("vLLM with a small window", _error("400 Bad Request", VLLM), "4,096", "system prompt", requests=1),
    _hopeless(
        "a small window without numbers",
        _error("400 Bad Request", "exceeds the available context size"),
        "system prompt",
        "tools",
        requests=1,
    ),
)
"""Faults that cannot pass: at most three requests, and words that help."""
