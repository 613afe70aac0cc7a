"""The model as the rest of the program sees it: a request goes in, one reply or one fault comes out."""

import asyncio
import logging
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from harness.base.masking import SHORTEST_SECRET
from harness.base.secret import MASK
from harness.events import Block, Effort, Event, Fault, FaultKind, Json, Message, Outcome
from harness.model.classify import classify
from harness.model.deadline import Ended, Patience
from harness.model.endpoint import Endpoint, Platform
from harness.model.exchange import PATH, Exchange, fault_of
from harness.model.sdk import Line, LineBuilder
from harness.model.watchdog import Watchdog, WatchLimits

if TYPE_CHECKING:
    from harness.model.catalogue import ModelCard

LOADING_S = 120.0
"""How long the import of the SDK may take, on the slowest of disks."""
MODELS_S = 10.0
"""How long the list of models may take; it is a convenience."""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """What a model is asked."""

    model: str
    max_tokens: int
    system: tuple[Block, ...]
    tools: tuple[Json, ...]
    messages: tuple[Message, ...]
    estimated_tokens: int
    """Size of the prompt in tokens; the watchdog waits longer for a long one."""
    thinking: Json | None = None
    effort: Effort | None = None
    """None: the model's own."""
    answer_format: Json | None = None
    """The form that the answer has to have; None: any."""
    previous_message: str = ""
    """Id of the reply to the request before, for the server to say why the cache missed; empty: there is none."""

    def body(self) -> Json:
        """The JSON that is sent. What is empty is left out."""
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
    """Sends requests to one endpoint, each exactly once: whoever calls decides about retries (api R1).

    Belongs to one event loop. Any number of requests may be under way at the same time.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        watch: WatchLimits | None = None,
        log: logging.Logger | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """
        Args:
            endpoint: where the model answers; see `endpoint.checked`.
            watch: how much silence is too much.
            log: gets what the SDK has to say; without one it is dropped.
            clock: seconds, for the watchdog.
        """
        self._endpoint = endpoint
        self._watch = watch or WatchLimits()
        self._log = log
        self._clock = clock
        self._builder = LineBuilder(endpoint, log)
        self._building: Future[Line] | None = None
        self._line: Line | None = None
        self._cache_marks = True
        self._diagnostics = endpoint.platform is Platform.ANTHROPIC  # not known to be taken elsewhere

    @property
    def remote(self) -> bool:
        """The endpoint is on another machine."""
        return not self._endpoint.is_loopback

    def preload(self) -> None:
        """Begin to import the SDK in a thread of its own, or be ready now where that was done before in this process.
        Returns at once; a second call changes nothing."""
        if self._building is not None:
            return
        building = self._building = Future()
        building.set_running_or_notify_cancel()  # from here on, giving up a wait for it does not cancel it

        def build() -> None:
            try:
                self._builder.prepare()
                building.set_result(self._builder.build())
            except BaseException as error:  # noqa: BLE001 (handed over to whoever waits for the line)
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
            request: what to ask.
            emit: gets the pieces of the reply as they arrive, and a SilenceHint when none do.
            interrupt: when set, the connection is closed and a CANCELLED fault keeps what had arrived.
            reconnect: when set, a silent request is given up for a TIMEOUT fault whose `error_code` is
                "reconnect_asked", to be tried again at once.
            enough: when set, the rest of the reply is not wanted: a REPETITION fault keeps what had arrived.
            fresh_connection: use no connection that has served a request before (recovery B8).

        Cancelling the task closes the connection and raises CancelledError as usual.
        """
        if interrupt.is_set():
            return Fault(FaultKind.CANCELLED, "interrupted")
        # The import of the SDK has nothing to do with the server, so its time does not count.
        loading = self._patience(WatchLimits(headers_s=LOADING_S), 0, emit, interrupt, None)
        line = await loading.wait_for(self._ready(fresh=fresh_connection))
        if isinstance(line, Ended):
            return fault_of(line)
        if isinstance(line, Fault):
            return self._without_secrets(line)
        line.users += 1
        try:
            patience = self._patience(self._watch, request.estimated_tokens, emit, interrupt, reconnect, enough)
            body = request.body() if self._cache_marks else without_cache_marks(request.body())
            if not self._diagnostics:
                del body["diagnostics"]
            exchange = Exchange(line, body, emit, patience, self._clock)
            outcome = await patience.wait_for(exchange.run())
            if isinstance(outcome, Ended):
                outcome = exchange.given_up(outcome)
            return self._without_secrets(self._with_address(outcome)) if isinstance(outcome, Fault) else outcome
        finally:
            line.users -= 1
            await line.close_if_unused()

    def drop_cache_marks(self) -> bool:
        """Send no `cache_control` from now on; True when it was sent so far."""
        dropped, self._cache_marks = self._cache_marks, False
        return dropped

    def drop_diagnostics(self) -> bool:
        """Do not ask why the cache missed from now on; True when that was asked so far."""
        dropped, self._diagnostics = self._diagnostics, False
        return dropped

    async def models(self) -> "tuple[ModelCard, ...]":
        """The models that the endpoint offers, with its limits; nothing when it does not say or has no such list."""
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
        except Exception as error:  # noqa: BLE001 (the border: the list is a convenience, whatever is wrong with it)
            if self._log is not None:
                self._log.info("no list of models: %s", classify(error, streamed=False).message)
            return ()
        catalogue = Catalogue()
        named = (entry for entry in listed if isinstance(entry.get("id"), str))
        return tuple(described_card(catalogue.card(entry["id"]), entry) for entry in named)

    async def aclose(self) -> None:
        """Close all connections. Requests under way end first."""
        line, self._line, self._building = self._line, None, None
        if line is not None:
            line.retired = True
            await line.close_if_unused()

    async def _ready(self, *, fresh: bool) -> Line | Fault:
        """The line to use, with a new pool of connections when `fresh`."""
        try:
            if self._line is None:
                self.preload()
                assert self._building is not None
                self._line = await asyncio.wrap_future(self._building)
            elif fresh:
                old, self._line = self._line, self._builder.build()
                old.retired = True
                await old.close_if_unused()
        except Exception as error:  # noqa: BLE001 (the border: a proxy variable or certificate store may be broken)
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
    ) -> Patience:
        watchdog = Watchdog(limits, estimated_tokens, self._clock())
        return Patience(watchdog, limits.hint_s, emit, interrupt, reconnect, self._clock, enough=enough)

    def _with_address(self, fault: Fault) -> Fault:
        """Where a server is to blame that does not speak the Messages API, its address belongs to the message."""
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
        """A server may quote the key it refused; nobody else gets to see it (api R2)."""
        message = fault.message
        for secret in self._endpoint.secrets:
            if len(secret.reveal()) >= SHORTEST_SECRET:
                message = message.replace(secret.reveal(), MASK)
        return replace(fault, message=message) if message != fault.message else fault


def without_cache_marks(value: Any) -> Any:
    """A body, or a part of one, without any `cache_control`; nothing is changed in place."""
    match value:
        case dict():
            return {key: without_cache_marks(inner) for key, inner in value.items() if key != "cache_control"}
        case list() | tuple():
            return [without_cache_marks(inner) for inner in value]
        case _:
            return value
