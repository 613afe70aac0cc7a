"""The practice model: a Messages API on loopback that needs no key of a real one (api R33).

    async with PracticeServer(Improviser()) as server:
        client = AsyncAnthropic(base_url=server.base_url, api_key="practice", max_retries=0)

It answers as the real API does, errors included, and plays the faults of a script on the real socket.
It never blocks the loop it runs in, so that the client may run in the same one.
"""

import asyncio
import json
import time
import uuid
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from harness.events import Json
from harness.practice import faults
from harness.practice.checks import check, check_access, check_headers
from harness.practice.counting import ByteCounter, Counter, reply_tokens, request_tokens
from harness.practice.errors import ApiError, error_body, usual_message, usual_type
from harness.practice.faults import StatusFault, StreamFault
from harness.practice.listener import Listener
from harness.practice.performance import perform_before_headers, perform_body, perform_stream
from harness.practice.playback import Playback
from harness.practice.replies import Brain, ScriptedReply, Thinking, ToolUse
from harness.practice.rules import ServerRules
from harness.practice.script import Play, Script
from harness.practice.signing import sign
from harness.practice.sse import Envelope, Frame, compact, frames, message
from harness.practice.wire import Connection, Disconnected, HttpRequest

Headers = list[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class RecordedRequest:
    """A request as the server saw it."""

    path: str
    """Without the query."""
    method: str
    headers: Mapping[str, str]
    """Names in lower case."""
    body: Json
    """Empty when there was none, or it was not a JSON object."""
    connection_id: int
    """Counts connections from 1; equal for requests that shared one."""
    at: float
    """time.monotonic() when its last byte had come."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """A request and what became of it."""

    request: RecordedRequest
    answer: str
    """A few words, for example "200", "529 overloaded_error" or "200 with reset"."""
    completed: bool
    """False: the connection ended before the answer did."""
    duration_s: float


class PracticeServer(Listener):
    """A loopback Messages API. Use it as an async context manager."""

    def __init__(
        self,
        brain: Brain | None = None,
        *,
        script: Script | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        rules: ServerRules | None = None,
        tokens: Counter | None = None,
        remember: int = 1000,
        on_exchange: Callable[[Exchange], None] | None = None,
    ) -> None:
        """`brain` answers when the script does not; without one the server says that the script is used up.

        `rules` replaces the rules of the script; port 0 is any free one; `tokens` counts requests (None:
        by their bytes); `remember` is how many requests are kept in `requests`; `on_exchange` is told
        about every request when it is over.
        """
        super().__init__(host, port)
        self._brain = brain
        self._script = script or Script()
        self._rules = rules or self._script.rules
        self._playback = Playback(self._script)
        self._counter = tokens or ByteCounter()
        self._requests: deque[RecordedRequest] = deque(maxlen=remember)
        self._on_exchange = on_exchange

    @property
    def requests(self) -> list[RecordedRequest]:
        """The requests so far, oldest first, of any path."""
        return list(self._requests)

    async def answer(self, connection: Connection, request: HttpRequest) -> None:
        """Answer one request."""
        recorded = RecordedRequest(
            request.path, request.method, dict(request.headers), _json(request.body), connection.id, time.monotonic()
        )
        self._requests.append(recorded)
        answer = _Answer(connection, f"req_{uuid.uuid4().hex[:24]}")
        try:
            await self._route(answer, request, recorded)
        finally:
            if self._on_exchange is not None:
                spent = time.monotonic() - recorded.at
                self._on_exchange(Exchange(recorded, answer.what, answer.completed, spent))

    async def answer_defect(self, connection: Connection, defect: Exception) -> None:
        """Status 500 that names the defect."""
        if connection.response_begun:
            await connection.reset()
        await _Answer(connection, "req_defect").refuse(ApiError(500, f"practice server: {defect!r}", "api_error"))

    async def _route(self, answer: "_Answer", request: HttpRequest, recorded: RecordedRequest) -> None:
        if request.too_large:
            return await answer.refuse(ApiError(413, usual_message("request_too_large"), "request_too_large"))
        if (denied := check_access(recorded.headers, self._rules)) is not None:
            return await answer.refuse(denied)
        match request.method, request.path.rstrip("/").split("/")[1:]:
            case "POST", ["v1", "messages"]:
                return await self._messages(answer, request, recorded)
            case "POST", ["v1", "messages", "count_tokens"]:
                return await self._count_tokens(answer, request, recorded)
            case "GET", ["v1", "models"]:
                return await answer.reply(self._models())
            case "GET", ["v1", "models", id]:
                model = self._rules.model(id)
                return await (answer.refuse(_no_model(id)) if model is None else answer.reply(model.described()))
            case _, ["v1", "messages" | "models", *_]:
                return await answer.refuse(ApiError(405, "Method Not Allowed"))
            case _:
                return await answer.refuse(ApiError(404, "Not found", "not_found_error"))

    def _models(self) -> Json:
        listed = [model.described() for model in self._rules.listed()]
        first, last = (listed[0]["id"], listed[-1]["id"]) if listed else (None, None)
        return {"data": listed, "has_more": False, "first_id": first, "last_id": last}

    async def _count_tokens(self, answer: "_Answer", request: HttpRequest, recorded: RecordedRequest) -> None:
        body = recorded.body | {"max_tokens": recorded.body.get("max_tokens", 1)}
        error = self._refusal(request, recorded.headers, body, sized=False)
        if error is not None:
            return await answer.refuse(error)
        return await answer.reply({"input_tokens": request_tokens(self._counter, body)})

    async def _messages(self, answer: "_Answer", request: HttpRequest, recorded: RecordedRequest) -> None:
        body = recorded.body
        if (error := self._refusal(request, recorded.headers, body, sized=True)) is not None:
            return await answer.refuse(error)
        match self._playback.next(body):
            case ApiError() as error:
                return await answer.refuse(error)
            case StatusFault() as fault:
                return await answer.fail(fault)
            case Play(reply, fault):
                reply = reply or self._improvised(body)
        if reply is None:
            return await answer.refuse(ApiError(400, f"{self._script.name}: nothing to say, and no model behind it."))
        reply = _with_ids(reply)
        envelope = self._envelope(body, reply)
        return await answer.play(reply, envelope, fault, streamed=body.get("stream") is True)

    def _refusal(self, request: HttpRequest, headers: Mapping[str, str], body: Json, *, sized: bool) -> ApiError | None:
        if not body:
            return ApiError(400, "The request body is not valid JSON: expected an object")
        if not self._rules.strict:
            return None
        return check_headers(headers) or check(body, self._rules, self._counter if sized else None)

    def _improvised(self, body: Json) -> ScriptedReply | None:
        return self._brain.answer(body) if self._brain is not None else None

    def _envelope(self, body: Json, reply: ScriptedReply) -> Envelope:
        usage = reply.usage
        thinking = "".join(part.thinking for part in reply.parts if isinstance(part, Thinking))
        counted = (
            request_tokens(self._counter, body)
            if usage.input_tokens is None and body.get("messages")
            else usage.input_tokens
        )
        return Envelope(
            message_id=f"msg_{uuid.uuid4().hex[:24]}",
            model=str(body.get("model")),
            input_tokens=counted or 0,
            output_tokens=reply_tokens(self._counter, reply) if usage.output_tokens is None else usage.output_tokens,
            cache_creation_input_tokens=usage.cache_creation_input_tokens,
            cache_read_input_tokens=usage.cache_read_input_tokens,
            signature=sign(thinking, body, len(body.get("messages") or ())) if thinking else "",
        )


class _Answer:
    """Writes the answer to one request, and knows in a few words what it was."""

    def __init__(self, connection: Connection, request_id: str) -> None:
        self._connection = connection
        self._request_id = request_id
        self.what = "no answer"
        self.completed = False

    async def reply(self, body: Json) -> None:
        self.what = "200"
        await self._respond(200, body)

    async def refuse(self, error: ApiError) -> None:
        self.what = f"{error.status} {error.type}: {error.message}"
        await self._respond(error.status, error.body(self._request_id))

    async def fail(self, fault: StatusFault) -> None:
        self.what = f"{fault.status} {fault.type or usual_type(fault.status)}"
        await asyncio.sleep(fault.delay_s)
        type_ = fault.type or usual_type(fault.status)
        if fault.body is None:
            message = fault.message or usual_message(type_)
            body = compact(error_body(type_, message, self._request_id, fault.error_code))
        else:
            body = fault.body
        headers = [*fault.headers.items()]
        await self._write(fault.status, _content_type(fault), body.encode(), headers)

    async def play(
        self, reply: ScriptedReply, envelope: Envelope, fault: StreamFault | None, *, streamed: bool
    ) -> None:
        self.what = "200" if fault is None else f"200 with {fault.kind}"
        if reply.delay_s:
            await asyncio.sleep(reply.delay_s)
        await perform_before_headers(self._connection, fault)
        match fault:
            case faults.JsonBody(type, message_):
                await self._respond(200, error_body(type, message_, self._request_id))
            case faults.HtmlBody(body):
                await self._write(200, "text/html; charset=utf-8", body.encode())
            case _ if streamed:
                events = _paced(frames(reply, envelope), reply.event_delay_s)
                headers = self._headers("text/event-stream; charset=utf-8")
                await perform_stream(self._connection, headers, events, fault, self._request_id)
            case faults.ErrorEvent():
                type_ = fault.type
                await self.refuse(ApiError(_status_of(type_), fault.message or usual_message(type_), type_))
            case _:
                body = compact(message(reply, envelope)).encode()
                await perform_body(self._connection, self._headers("application/json"), body, fault)
        self.completed = True

    async def _respond(self, status: int, body: Json) -> None:
        await self._write(status, "application/json", compact(body).encode())

    async def _write(self, status: int, content_type: str, body: bytes, more: Iterable[tuple[str, str]] = ()) -> None:
        await self._connection.respond(status, [*self._headers(content_type), *more], body)
        self.completed = True

    def _headers(self, content_type: str) -> Headers:
        return [("content-type", content_type), ("request-id", self._request_id), ("server", "practice")]


async def _paced(events: Iterable[Frame], delay_s: float) -> AsyncIterator[Frame]:
    for count, event in enumerate(events):
        if delay_s and count:
            await asyncio.sleep(delay_s)
        yield event


def _with_ids(reply: ScriptedReply) -> ScriptedReply:
    return replace(
        reply,
        parts=tuple(
            replace(part, id=f"toolu_{uuid.uuid4().hex[:24]}")
            if isinstance(part, ToolUse) and part.id is None
            else part
            for part in reply.parts
        ),
    )


def _json(body: bytes) -> Json:
    try:
        value = json.loads(body)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _no_model(id: str) -> ApiError:
    return ApiError(404, f"model: {id}", "not_found_error")


def _content_type(fault: StatusFault) -> str:
    if fault.content_type is not None:
        return fault.content_type
    if fault.body is None:
        return "application/json"
    return "text/html; charset=utf-8" if fault.body.lstrip().startswith("<") else "text/plain; charset=utf-8"


def _status_of(type_: str) -> int:
    statuses = (400, 401, 402, 403, 404, 409, 413, 429, 500, 504, 529)
    return next((status for status in statuses if usual_type(status) == type_), 500)
