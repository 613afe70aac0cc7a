"""The practice model: a Messages API on loopback that needs no real key.

    async with PracticeServer(RuleModel()) as server:
        client = AsyncAnthropic(base_url=server.base_url, api_key="practice", max_retries=0)

It answers as the real API does, errors included, and plays the faults of a script on the real socket.
It never blocks the loop it runs in, so that the client may run in the same one.
"""

import asyncio
import sys
import time
import uuid
from collections import deque
from collections.abc import Callable, Mapping

from harness.events import Json
from harness.practice.checks.betas import betas_of
from harness.practice.checks.request import check, check_access, unsupported
from harness.practice.checks.rules import MOST_LISTED, ServedModel
from harness.practice.checks.shapes import request_fields
from harness.practice.faults.model_faults import StatusFault
from harness.practice.faults.model_orders import FaultQueue
from harness.practice.prompt_cache import CacheDiagnosis, PromptCache
from harness.practice.rule_model.reply_form import reply_to, rest_of, shows_thinking, sized, thinks_about
from harness.practice.script import Script
from harness.practice.script.entries import PlayReply
from harness.practice.script.playback import Playback
from harness.practice.wire.connection import ClientConnection, HttpRequest
from harness.practice.wire.listener import LOOPBACK, Address, Listener, body_of
from harness.practice.wire.platforms import translated
from harness.practice.wire.prepared_reply import ByteCounter, Counter, filled, prepare, request_tokens
from harness.practice.wire.recorded import RecordedExchange, RecordedRequest, ResponseRecorder
from harness.practice.wire.replies import ApiError, ReplyModel, ScriptedReply
from harness.practice.wire.response import ResponseWriter


class PracticeServer(Listener):
    """A loopback Messages API. Use it as an async context manager."""

    def __init__(
        self,
        brain: ReplyModel | None = None,
        *,
        script: Script | Playback | None = None,
        address: Address = LOOPBACK,
        tokens: Counter | None = None,
        remember: int = 1000,
        on_exchange: Callable[[RecordedExchange], None] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """
        Args:
            brain: answers when the script does not; without one the server says that the script is used up.
            script: the answers and the rules of the server, or a playback of them.
            address: where to listen.
            tokens: counts requests; None: by their bytes.
            remember: how many requests are kept in `requests`.
            on_exchange: called after every request.
            clock: gives the seconds that the prompt cache counts.
        """
        super().__init__(address)
        self._brain = brain
        self._playback = script if isinstance(script, Playback) else Playback(script or Script())
        self._script = self._playback.script
        self._rules = self._script.rules
        self._counter = tokens or ByteCounter()
        self._cache = PromptCache(clock)
        self._diagnosis = CacheDiagnosis()
        self._requests: deque[RecordedRequest] = deque(maxlen=remember)
        self._on_exchange = on_exchange
        self.orders = FaultQueue()
        """The ordered faults, which come before the script."""

    @property
    def requests(self) -> list[RecordedRequest]:
        """The requests so far, oldest first, of any path."""
        return list(self._requests)

    async def answer(self, connection: ClientConnection, request: HttpRequest) -> None:
        """Answer one request."""
        connection.dialect = None
        if not request.path.startswith("/v1/m"):  # messages and models are the API's own paths
            request, connection.dialect = translated(request)
        body = self.refusal(request) or body_of(request)
        recorded = RecordedRequest(
            request.path,
            request.method,
            request.joined_headers(),
            {} if isinstance(body, ApiError) else body,
            connection.id,
            time.monotonic(),
        )
        self._requests.append(recorded)
        connection.recorder = recorder = ResponseRecorder(recorded.at)
        answer = ResponseWriter(connection, f"req_{uuid.uuid4().hex[:24]}")
        try:
            await self._route(answer, request, recorded, body if isinstance(body, ApiError) else None)
        finally:
            if self._on_exchange is not None:
                spent, facts = time.monotonic() - recorded.at, (answer.said, answer.scripted, recorder.response)
                self._on_exchange(RecordedExchange(recorded, answer.what, answer.completed, spent, *facts))

    async def answer_defect(self, connection: ClientConnection, defect: Exception) -> None:
        """Status 500 that names the defect."""
        if connection.response_begun:
            await connection.reset()
        await ResponseWriter(connection, "req_defect").refuse(
            ApiError(500, f"practice server: {defect!r}", "api_error")
        )

    async def _route(
        self, answer: ResponseWriter, request: HttpRequest, recorded: RecordedRequest, unreadable: ApiError | None
    ) -> None:
        if unreadable is not None and unreadable.status in (403, 413):
            return await answer.refuse(unreadable)
        if (denied := check_access(recorded.headers, self._rules)) is not None:
            return await answer.refuse(denied)
        if "anthropic" not in sys.modules and self._rules.strict:
            await asyncio.to_thread(request_fields)  # the SDK takes a second
        match request.method, request.path.rstrip("/").split("/")[1:]:
            case "POST", ["v1", "messages"] | ["v1", "messages", "count_tokens"] if unreadable is not None:
                return await answer.refuse(unreadable)
            case "POST", ["v1", "messages"]:
                return await self._messages(answer, recorded)
            case "POST", ["v1", "messages", "count_tokens"]:
                return await self._count_tokens(answer, recorded)
            case "GET", ["v1", "models"]:
                page = self._models(request.query)
                return await (answer.refuse(page) if isinstance(page, ApiError) else answer.reply(page))
            case "GET", ["v1", "models", id]:
                model = self._rules.model(id)
                return await (answer.refuse(_no_model(id)) if model is None else answer.reply(model.described()))
            case _, ["v1", "messages", "batches", *_]:
                return await answer.refuse(_absent("message batches; send each request to /v1/messages"))
            case _, ["v1", "files" | "skills" as name, *_]:
                return await answer.refuse(_absent(f"{name}; put the content into the messages"))
            case _, ["v1", "messages" | "models", *_]:
                return await answer.refuse(ApiError(405, "Method Not Allowed"))
            case _:
                return await answer.refuse(ApiError(404, "Not found", "not_found_error"))

    def _models(self, query: Mapping[str, str]) -> Json | ApiError:
        limit, after, before = query.get("limit"), query.get("after_id"), query.get("before_id")
        if limit is not None and not (limit.isdecimal() and 1 <= int(limit) <= MOST_LISTED):
            return ApiError(400, f"limit: Input should be a number from 1 to {MOST_LISTED}")
        page = self._rules.page(None if limit is None else int(limit), after=after, before=before)
        if page is None:
            return ApiError(400, "after_id and before_id: Input should be the id of a model in the list")
        return page

    async def _count_tokens(self, answer: ResponseWriter, recorded: RecordedRequest) -> None:
        if (error := self._refusal(recorded, counting=True)) is not None:
            return await answer.refuse(error)
        return await answer.reply({"input_tokens": request_tokens(self._counter, recorded.body)})

    async def _messages(self, answer: ResponseWriter, recorded: RecordedRequest) -> None:
        if (error := self._refusal(recorded, counting=False)) is not None:
            return await answer.refuse(error)
        body = recorded.body
        brain = self._brain_for(recorded)
        ordered = self.orders.next(body, lambda: self._coming(body, brain))
        action = self._playback.next(body) if ordered is None else ordered
        answer.scripted = self._playback.last if ordered is None else None
        match action:
            case ApiError() as error:
                return await answer.refuse(error)
            case StatusFault() as failure:
                return await answer.fail(failure)
            case PlayReply(scripted, fault):
                reply = filled(scripted, body) if scripted else (brain() if brain is not None else None)
        if reply is None:
            return await answer.refuse(
                ApiError(400, f"{self._script.name}: nothing left to say, and no model behind it")
            )
        reply = self._sized(reply, recorded)
        lookup = self._cache.look_up(body, self._model(body), self._counter)
        prepared = prepare(reply, body, self._counter, lookup.use, self._diagnosis.compare(body, lookup))
        self._diagnosis.remember(prepared.envelope.message_id, body, lookup)
        streamed = body.get("stream") is True
        return await answer.play(prepared, fault, streamed=streamed, begun=lambda: self._cache.write(lookup))

    def _brain_for(self, recorded: RecordedRequest) -> Callable[[], ScriptedReply] | None:
        """What the model behind says to a request; None: there is no model behind."""
        brain, body = self._brain, recorded.body
        if brain is None:
            return None
        betas = betas_of(recorded.headers.get("anthropic-beta", ""))
        return lambda: reply_to(body, brain, self._model(body), self._counter, betas)

    def _sized(self, reply: ScriptedReply, recorded: RecordedRequest) -> ScriptedReply:
        """The reply with the tokens that it needs by its script or the profile of the server."""
        body, betas = recorded.body, betas_of(recorded.headers.get("anthropic-beta", ""))
        model = self._model(body)
        return sized(
            *(rest_of(reply, body), self._rules.profile, body, self._counter),
            thinks=thinks_about(body, model, frozenset(betas)),
            shown=shows_thinking(body, model),
        )

    def _model(self, body: Json) -> ServedModel:
        """The model that is asked; where requests are not checked it may be any."""
        id = str(body.get("model"))
        return self._rules.model(id) or ServedModel(id, 200_000, 64_000)

    def _coming(self, body: Json, brain: Callable[[], ScriptedReply] | None) -> ScriptedReply | None:
        """The reply to a request if nothing goes wrong; None: it would get an error."""
        coming = self._playback.coming(body)
        if not isinstance(coming, PlayReply):
            return None
        return coming.reply or (brain() if brain is not None else None)

    def _refusal(self, recorded: RecordedRequest, *, counting: bool) -> ApiError | None:
        if self._rules.strict:
            counter = None if counting else self._counter
            refusal = check(recorded.headers, recorded.body, self._rules, counter, counting=counting)
            return refusal or unsupported(recorded.body)
        if not isinstance(recorded.body.get("messages"), list):
            return ApiError(400, "messages: Field required")
        return unsupported(recorded.body)


def _absent(what: str) -> ApiError:
    return ApiError(404, f"The practice server has no {what}.", "not_found_error")


def _no_model(id: str) -> ApiError:
    return ApiError(404, f"model: {id}", "not_found_error")
