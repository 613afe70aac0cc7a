"""The client of a Messages API: one request in, one reply or one fault out."""

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from harness.base.secrets import MASK, SHORTEST_SECRET
from harness.events import Block, Effort, Event, Fault, FaultKind, Json, Message, Outcome, Reply
from harness.model.endpoint import Endpoint, Platform
from harness.model.exchange import PATH, ModelExchange, fault_of
from harness.model.fault_classifier import classify
from harness.model.history import bridged
from harness.model.prompt import without_breakpoints
from harness.model.sdk import SdkClient, SdkClientFactory
from harness.model.watchdog import AbortableWait, Aborted, Watchdog, WatchLimits

if TYPE_CHECKING:
    from harness.model.catalogue import ModelCard

LOADING_S = 120.0
"""Limit for importing the SDK, on a very slow disk."""
MODELS_S = 10.0
"""Limit for listing the models."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """One request to a model."""

    model: str
    max_tokens: int
    system: tuple[Block, ...]
    tools: tuple[Json, ...]
    messages: tuple[Message, ...]
    estimated_tokens: int
    """Size of the prompt in tokens; the watchdog waits longer for long prompts."""
    thinking: Json | None = None
    effort: Effort | None = None
    """None: the model's default."""
    answer_format: Json | None = None
    """JSON schema of the answer; None: free text."""
    previous_message: str = ""
    """Id of the previous reply, for cache diagnostics; may be empty."""

    def body(self) -> Json:
        """The JSON body, without empty parameters."""
        body: Json = {
            "model": self.model,
            "max_tokens": self.max_tokens,
            "messages": [{"role": message.role, "content": list(message.content)} for message in self.messages],
            "stream": True,
        }
        if self.system:
            body["system"] = list(self.system)
        if self.tools:
            body["tools"] = list(self.tools)
        if self.thinking is not None:
            body["thinking"] = self.thinking
        config = {"effort": self.effort, "format": self.answer_format}
        if given := {name: value for name, value in config.items() if value is not None}:
            body["output_config"] = given
        body["diagnostics"] = {"previous_message_id": self.previous_message or None}
        return body


class ModelClient:
    """Sends requests to one endpoint, each exactly once: the caller decides about retries.

    Belongs to one event loop. Any number of requests may run at the same time.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        watch: WatchLimits | None = None,
        log: logging.Logger | None = None,
        lazy_sdk: bool = True,
    ) -> None:
        """
        Args:
            endpoint: see `endpoint.checked`.
            watch: limits of silence.
            log: receives the log records of the SDK; None: they are dropped.
            lazy_sdk: import only those parts of the SDK that a request uses.
        """
        self._endpoint = endpoint
        self._watch = watch or WatchLimits()
        self._log = log
        self._builder = SdkClientFactory(endpoint, log, lazy=lazy_sdk)
        self._building: Future[SdkClient] | None = None
        self._line: SdkClient | None = None
        self._reached = False
        self._cache_marks = True
        self._bridges = False
        self._diagnostics = endpoint.platform is Platform.ANTHROPIC  # support elsewhere is unknown

    @property
    def remote(self) -> bool:
        """The endpoint is on another machine."""
        return not self._endpoint.is_loopback

    @property
    def reached(self) -> bool:
        """The endpoint has answered, with whatever, since this client was made."""
        return self._reached

    def preload(self) -> None:
        """Start importing the SDK in a thread, unless it is imported already. Returns at once; idempotent."""
        if self._building is not None:
            return
        building = self._building = Future()
        building.set_running_or_notify_cancel()  # abandoning a wait for it no longer cancels it

        def build() -> None:
            try:
                self._builder.prepare()
                building.set_result(self._builder.build())
            except BaseException as error:  # noqa: BLE001 (raised where the future is awaited)
                building.set_exception(error)

        if self._builder.is_quick:
            build()
        else:
            threading.Thread(target=build, name="sdk-import", daemon=True).start()

    async def send(
        self,
        request: ModelRequest,
        emit: Callable[[Event], None],
        interrupt: asyncio.Event,
        *,
        reconnect: asyncio.Event | None = None,
        enough: asyncio.Event | None = None,
        fresh_connection: bool = False,
    ) -> Outcome:
        """Send one request and wait for its outcome. Raises nothing that the server or the network did.

        Args:
            request: what to send.
            emit: receives the pieces of the reply as they arrive, and a SilenceHint when none do.
            interrupt: when set, the connection is closed and a CANCELLED fault contains the blocks received so far.
            reconnect: when set, the request is given up with a TIMEOUT fault whose `error_code` is "reconnect_asked".
            enough: when set, the rest of the reply is not needed: a REPETITION fault has the blocks so far.
            fresh_connection: do not reuse a connection.

        Cancelling the task closes the connection and raises CancelledError as usual.
        """
        if interrupt.is_set():
            return Fault(FaultKind.CANCELLED, "interrupted")
        # The import of the SDK has nothing to do with the server, so its time does not count.
        loading = self._patience(WatchLimits(headers_s=LOADING_S), 0, emit, interrupt, None)
        line = await loading.wait_for(self._ready(fresh=fresh_connection))
        if isinstance(line, Aborted):
            return fault_of(line)
        if isinstance(line, Fault):
            return self._without_secrets(line)
        line.users += 1
        try:
            patience = self._patience(self._watch, request.estimated_tokens, emit, interrupt, reconnect, enough)
            if self._bridges:
                request = replace(request, messages=bridged(request.messages))
            body = request.body() if self._cache_marks else without_breakpoints(request.body())
            if not self._diagnostics:
                del body["diagnostics"]
            exchange = ModelExchange(line, body, emit, patience, time.monotonic)
            outcome = await patience.wait_for(exchange.run())
            if isinstance(outcome, Aborted):
                outcome = exchange.given_up(outcome)
            if isinstance(outcome, Reply):
                self._reached = True
                return outcome
            self._reached = self._reached or outcome.status is not None or outcome.streamed
            return self._without_secrets(self._with_address(outcome))
        finally:
            line.users -= 1
            await line.close_if_unused()

    def drop_cache_marks(self) -> bool:
        """Stop sending `cache_control`; True if it was sent before."""
        dropped, self._cache_marks = self._cache_marks, False
        return dropped

    def bridge_results(self) -> bool:
        """Send an answer between tool results and text of the user; True if none was sent before."""
        before, self._bridges = self._bridges, True
        return not before

    def drop_diagnostics(self) -> bool:
        """Stop asking for cache diagnostics; True if they were requested before."""
        dropped, self._diagnostics = self._diagnostics, False
        return dropped

    async def models(self) -> "tuple[ModelCard, ...]":
        """The models that the endpoint lists, with their limits; empty without such a list."""
        from harness.model.catalogue import Catalogue, described_card

        if not self._endpoint.lists_models:
            return ()
        line = await self._ready(fresh=False)
        if isinstance(line, Fault):
            return ()
        import httpx2

        try:
            async with asyncio.timeout(MODELS_S):
                response = await line.sdk.get(
                    "/v1/models", cast_to=httpx2.Response, options={"params": {"limit": 1000}}
                )
                listed = response.json()["data"]
        except Exception as error:  # noqa: BLE001 (boundary: the list is optional)
            if self._log is not None:
                self._log.info("no list of models: %s", classify(error, streamed=False).message)
            return ()
        catalogue = Catalogue()
        named = (entry for entry in listed if isinstance(entry.get("id"), str))
        return tuple(described_card(catalogue.card(entry["id"]), entry) for entry in named)

    async def aclose(self) -> None:
        """Close all connections. Running requests end first."""
        line, self._line, self._building = self._line, None, None
        if line is not None:
            line.retired = True
            await line.close_if_unused()

    async def _ready(self, *, fresh: bool) -> SdkClient | Fault:
        """The SDK client to use, with a new connection pool if `fresh`."""
        try:
            if self._line is None:
                self.preload()
                assert self._building is not None
                self._line = await asyncio.wrap_future(self._building)
            elif fresh:
                old, self._line = self._line, self._builder.build()
                old.retired = True
                await old.close_if_unused()
        except Exception as error:  # noqa: BLE001 (boundary: proxy variables or certificates may be invalid)
            self._building = None
            return classify(error, streamed=False)
        return self._line

    def _patience(
        self,
        limits: WatchLimits,
        estimated_tokens: int,
        emit: Callable[[Event], None],
        interrupt: asyncio.Event,
        reconnect: asyncio.Event | None,
        enough: asyncio.Event | None = None,
    ) -> AbortableWait:
        watchdog = Watchdog(limits, estimated_tokens, time.monotonic())
        return AbortableWait(watchdog, limits.hint_s, emit, interrupt, reconnect, time.monotonic, enough=enough)

    def _with_address(self, fault: Fault) -> Fault:
        """Add the address to the message of a fault of a server that does not provide the Messages API."""
        address = self._endpoint.base_url
        match fault:
            case Fault(kind=FaultKind.WRONG_ADDRESS):
                message = (
                    f"{address} does not answer the Messages API ({fault.status} for POST {PATH}: {fault.message})"
                )
            case Fault(kind=FaultKind.MALFORMED_RESPONSE):
                message = f"{address} does not answer as the Messages API does: {fault.message}"
            case Fault(kind=FaultKind.UNKNOWN, status=422):
                message = f"{address} refused a request that the Messages API takes (422): {fault.message}"
            case _:
                return fault
        return replace(fault, message=message)

    def _without_secrets(self, fault: Fault) -> Fault:
        """Mask the key, which a server may quote when it rejects it."""
        message = fault.message
        for secret in self._endpoint.secrets:
            if len(secret.reveal()) >= SHORTEST_SECRET:
                message = message.replace(secret.reveal(), MASK)
        return replace(fault, message=message) if message != fault.message else fault
