"""A server that answers the n-th question with the n-th response, then repeats the last one."""

import asyncio
from collections.abc import Callable, Sequence

from harness.events import Json
from tests.foreign.wire import Respond, json_body
from tests.model.byte_server import ByteServer, Request

NO_MODELS = json_body({"detail": "Not Found"}, "404 Not Found")


class ForeignServer(ByteServer):
    """A byte server with a list of responses, or one response for each body. Open as an async context manager."""

    def __init__(
        self, *responses: Respond, answer: Callable[[Json], Respond] | None = None, models: Respond | None = NO_MODELS
    ) -> None:
        """
        Args:
            responses: played in this order; the last one repeats.
            answer: chooses by the body of the request, instead.
            models: how a question for the list of models is answered; None: never.
        """
        super().__init__(self._respond)
        self._responses: Sequence[Respond] = responses
        self._answer_to = answer
        self._models = models

    @property
    def posts(self) -> list[Request]:
        """The requests for messages."""
        return [request for request in self.requests if request.method == "POST"]

    async def _respond(self, writer: asyncio.StreamWriter, number: int) -> None:
        request = self.requests[number - 1]
        if request.method != "POST":
            if self._models is not None:
                await self._models(writer)
            return
        if self._answer_to is not None:
            await self._answer_to(request.body)(writer)
            return
        await self._responses[min(len(self.posts), len(self._responses)) - 1](writer)
