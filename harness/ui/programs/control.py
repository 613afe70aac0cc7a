"""Requests between harness and the program that drives it, in both directions; each is answered once."""

import asyncio
from collections.abc import Callable
from uuid import uuid4

from harness.base.errors import HarnessError
from harness.events import Json


class NoAnswerError(HarnessError):
    """The program answered a request with an error, or its input ended before an answer."""


class ControlChannel:
    """The requests to the program that wait for an answer, and the answers to its own."""

    def __init__(self, write: Callable[[Json], None]) -> None:
        """`write`: sends one message to the program."""
        self._write = write
        self._waiting: dict[str, asyncio.Future[Json]] = {}
        self._closed = False

    async def ask(self, request: Json) -> Json:
        """Send a request and return the response of the program. A cancellation takes the request back.

        Raises NoAnswerError.
        """
        if self._closed:
            raise NoAnswerError("the input ended before an answer")
        request_id = str(uuid4())
        answer: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        self._waiting[request_id] = answer
        self._write({"type": "control_request", "request_id": request_id, "request": request})
        try:
            return await answer
        except asyncio.CancelledError:
            self._write({"type": "control_cancel_request", "request_id": request_id})
            raise
        finally:
            del self._waiting[request_id]

    def receive(self, response: object) -> None:
        """Take the response to a request. One that answers nothing, or comes too late, is ignored."""
        fields = response if isinstance(response, dict) else {}
        waiting = self._waiting.get(str(fields.get("request_id")))
        if waiting is None or waiting.done():
            return
        if fields.get("subtype") != "success":
            waiting.set_exception(NoAnswerError(str(fields.get("error") or "the program gave no reason")))
        else:
            content = fields.get("response")
            waiting.set_result(content if isinstance(content, dict) else {})

    def answer(self, request_id: object, content: Json) -> None:
        """Answer a request of the program."""
        self._respond({"subtype": "success", "request_id": request_id, "response": content})

    def refuse(self, request_id: object, why: str) -> None:
        """Answer a request of the program with an error."""
        self._respond({"subtype": "error", "request_id": request_id, "error": why})

    def _respond(self, response: Json) -> None:
        self._write({"type": "control_response", "response": response})

    def close(self) -> None:
        """The program sends nothing more: nothing that waits is answered."""
        self._closed = True
        for waiting in self._waiting.values():
            if not waiting.done():
                waiting.set_exception(NoAnswerError("the input ended before an answer"))
