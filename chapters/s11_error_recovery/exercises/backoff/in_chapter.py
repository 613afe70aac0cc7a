"""A client by hand whose requests the learner's `ask` repeats; each wait is shown, and shortened."""

import asyncio
import time
from types import ModuleType
from typing import Any

from anthropic import APIConnectionError, APIError, APIStatusError, AsyncAnthropic, DefaultAsyncHttpxClient
from anthropic.types import Message

from chapters.course import DemoSession
from harness.events import FaultKind, Notice, RetryScheduled

SHORTER = 100
"""The course waits this many times shorter than the learner's code asks for."""
LONGEST_S = 0.4
CHANCE = 0.5
"""The same in every run, so that the steps can name the waits."""
MOST_REQUESTS = 12
"""For one prompt; more are not sent."""
NO_PROXY = {"all://127.0.0.1": None}
KINDS = {429: FaultKind.RATE_LIMIT, 529: FaultKind.OVERLOADED}


class Endless(Exception):  # noqa: N818 (an end, not an error of a request)
    """Too many requests."""


def said(reply: Message) -> str:
    """The text of a reply."""
    return "".join(block.text for block in reply.content if block.type == "text")


class Client:
    """Sends the prompts of one conversation."""

    def __init__(self, session: DemoSession, client: AsyncAnthropic, work: ModuleType) -> None:
        self._session = session
        self._client = client
        self._work = work
        self._failed: APIError | None = None
        self._requests = self._waits = 0

    async def turn(self, prompt: str) -> None:
        """Let the learner ask; the end is a notice."""
        self._requests = self._waits = 0

        async def send() -> Message:
            return await self._send(prompt)

        try:
            reply: Any = await self._work.ask(send, self._sleep, lambda: CHANCE)
        except APIError as error:
            end = str(error.status_code) if isinstance(error, APIStatusError) else "a broken connection"
        except Endless:
            end = "no end"
        else:
            end = f"an answer: {said(reply)}" if isinstance(reply, Message) else f"{reply!r}, not a reply"
        self._session.show(Notice("info", f"{self._requests} requests, {self._waits} waits, then {end}"))

    async def _send(self, prompt: str) -> Message:
        if self._requests == MOST_REQUESTS:
            raise Endless
        self._requests += 1
        try:
            return await self._client.messages.create(
                model=self._session.MODEL, max_tokens=1_000, messages=[{"role": "user", "content": prompt}]
            )
        except APIError as error:
            self._failed = error
            raise

    async def _sleep(self, seconds: float) -> None:
        self._waits += 1
        failed, status = self._failed, None
        if isinstance(failed, APIStatusError):
            status = failed.status_code
        kind = FaultKind.NETWORK if isinstance(failed, APIConnectionError) else KINDS.get(status or 0, FaultKind.SERVER)
        until, most = time.time() + seconds, self._work.RETRIES
        self._session.show(RetryScheduled("model", kind, self._waits, most, seconds, until, status, None, str(failed)))
        await asyncio.sleep(min(LONGEST_S, max(0.0, seconds) / SHORTER))


async def demo(session: DemoSession, work: ModuleType) -> None:
    """Each prompt is a conversation of its own."""
    client = AsyncAnthropic(
        base_url=session.address,
        api_key=session.KEY,
        max_retries=0,
        http_client=DefaultAsyncHttpxClient(mounts=NO_PROXY),
    )
    async with client:
        asking = Client(session, client, work)
        async for prompt in session.prompts():
            await asking.turn(prompt)
