"""A practice server that is overloaded, on purpose or by the number of requests in flight, and keeps a log."""

import asyncio
import time
from dataclasses import dataclass

from harness.practice.faults.model_faults import StatusFault
from harness.practice.rule_model import RuleModel
from harness.practice.server import PracticeServer
from harness.practice.wire.connection import ClientConnection, HttpRequest
from harness.practice.wire.listener import body_of
from harness.practice.wire.response import ResponseWriter


@dataclass(slots=True)
class Seen:
    """A request of the log."""

    model: str
    began: float
    """By the monotonic clock, as `ended`."""
    in_flight: int
    """Requests then, with this one."""
    status: int = 200
    ended: float = 0.0


class BusyServer(PracticeServer):
    """Refuses what exceeds `capacity` requests in flight, and every request for a model in `overloaded`."""

    def __init__(
        self, capacity: int = 1_000, hold_s: float = 0.0, retry_after: str = "", refuse_s: float = 0.0
    ) -> None:
        super().__init__(RuleModel())
        self.capacity, self.hold_s, self.retry_after, self.refuse_s = capacity, hold_s, retry_after, refuse_s
        self.overloaded: set[str] = set()
        self.log: list[Seen] = []
        self.in_flight = 0

    async def answer(self, connection: ClientConnection, request: HttpRequest) -> None:
        body = body_of(request) if request.path == "/v1/messages" else None
        if not isinstance(body, dict):
            return await super().answer(connection, request)
        self.in_flight += 1
        seen = Seen(str(body.get("model")), time.monotonic(), self.in_flight)
        self.log.append(seen)
        try:
            if seen.in_flight > self.capacity or seen.model in self.overloaded:
                seen.status = 529
                headers = {"retry-after": self.retry_after} if self.retry_after else {}
                await ResponseWriter(connection, "req_busy").fail(
                    StatusFault(529, headers=headers, delay_s=self.refuse_s)
                )
            else:
                await asyncio.sleep(self.hold_s)
                await super().answer(connection, request)
        finally:
            self.in_flight -= 1
            seen.ended = time.monotonic()
