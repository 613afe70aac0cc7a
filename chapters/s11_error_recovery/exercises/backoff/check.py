"""Checks of the waits: the formula of harness, and a practice server with real failures."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from random import Random
from types import ModuleType
from typing import Any

from anthropic import APIStatusError, AsyncAnthropic, DefaultAsyncHttpxClient

from harness.policies.recovery.backoff import delay_s
from harness.practice.script import Script
from harness.practice.server import PracticeServer

CASES = 500
ANSWER = '\n[[reply]]\ntext = "At last."\n'
BROKEN = '\n[[reply]]\nfault = { kind = "reset", at = "headers" }\ntext = "Never said."\n'


def fails(status: int, times: int = 1, retry_after: str | None = None) -> str:
    """An entry of a script: an HTTP error."""
    header = "" if retry_after is None else f'headers = {{ retry-after = "{retry_after}" }}\n'
    return f"\n[[reply]]\nstatus = {status}\ntimes = {times}\n{header}"


@dataclass
class Sender:
    """Sends requests; waits are recorded and return at once."""

    server: PracticeServer
    client: AsyncAnthropic
    waits: list[float] = field(default_factory=list)

    async def send(self) -> Any:
        """Send the request once."""
        message = {"role": "user", "content": "Hello."}
        return await self.client.messages.create(model="practice-1", max_tokens=100, messages=[message])  # type: ignore[list-item]

    async def sleep(self, seconds: float) -> None:
        """Record the seconds of a wait."""
        self.waits.append(seconds)

    async def ask(self, work: ModuleType) -> Any:
        """Run the learner's `ask` with every random number 0."""
        return await work.ask(self.send, self.sleep, lambda: 0.0)

    @property
    def sent(self) -> int:
        """Requests so far."""
        return len(self.server.requests)


@asynccontextmanager
async def sender(*entries: str) -> AsyncIterator[Sender]:
    """A sender with a server that plays these entries."""
    straight = DefaultAsyncHttpxClient(mounts={"all://127.0.0.1": None})  # this machine: no proxy
    async with (
        PracticeServer(script=Script.parse("".join(entries))) as server,
        AsyncAnthropic(base_url=server.base_url, api_key="practice", max_retries=0, http_client=straight) as client,
    ):
        yield Sender(server, client)


def check_the_wait_doubles_up_to_a_limit(work: ModuleType) -> None:
    for retry in range(1, 15):
        got, wanted = work.delay(retry, None, 0.0), delay_s(retry, None, 0.0)
        assert got == wanted, f"delay({retry}, None, 0.0) -> {got}; wanted {wanted}"


def check_chance_makes_it_longer(work: ModuleType) -> None:
    for chance in (0.0, 0.5, 0.999):
        got, wanted = work.delay(4, None, chance), delay_s(4, None, chance)
        assert abs(got - wanted) < 1e-9, f"delay(4, None, {chance}) -> {got}; wanted {wanted}"


def check_the_server_decides_unless_our_own_wait_is_longer(work: ModuleType) -> None:
    random = Random(11)
    for _ in range(CASES):
        retry, asked, chance = random.randint(1, 12), random.choice([0.0, 1.0, 7.5, 40.0]), random.random()
        got, wanted = work.delay(retry, asked, chance), delay_s(retry, asked, chance)
        assert abs(got - wanted) < 1e-9, f"delay({retry}, {asked}, {chance:.2f}) -> {got}; wanted {wanted}"


def check_a_header_that_is_no_number_counts_as_none(work: ModuleType) -> None:
    for header in (None, "", "soon", "nan", "inf", "-3", "Wed, 21 Oct 2026 07:28:00 GMT"):
        assert (got := work.seconds_in(header)) is None, f"seconds_in({header!r}) -> {got}; wanted None"
    for header, wanted in (("0", 0.0), ("2", 2.0), ("0.5", 0.5)):
        assert (got := work.seconds_in(header)) == wanted, f"seconds_in({header!r}) -> {got}; wanted {wanted}"


async def check_a_server_in_trouble_is_asked_again(work: ModuleType) -> None:
    async with sender(fails(429, retry_after="2"), fails(529), BROKEN, ANSWER) as here:
        reply = await here.ask(work)
        story = f"429 with retry-after 2, 529, broken connection, 200 -> {here.sent} requests, waits {here.waits}"
        assert here.sent == 4, f"{story}; wanted 4 requests"
        assert reply is not None, f"{story}; the reply was not returned"
        assert reply.content[0].text == "At last.", story
        assert here.waits == [2.0, 1.0, 2.0], f"{story}; wanted waits [2.0, 1.0, 2.0]"


async def check_a_wrong_request_is_not_sent_again(work: ModuleType) -> None:
    for status in (400, 401, 404, 413):
        async with sender(fails(status), ANSWER) as here:
            raised = await _raised(here, work)
            story = f"{status} -> {here.sent} requests, raised {raised}"
            assert here.sent == 1, f"{story}; wanted 1 request"
            assert raised == status, f"{story}; wanted the error of the server"


async def check_it_gives_up_in_the_end(work: ModuleType) -> None:
    async with sender(fails(529, times=50)) as here:
        raised = await _raised(here, work)
        story = f"529 every time -> {here.sent} requests, {len(here.waits)} waits, raised {raised}"
        assert here.sent == work.RETRIES + 1, f"{story}; wanted {work.RETRIES + 1} requests"
        assert len(here.waits) == work.RETRIES, f"{story}; no wait is needed after the last request"
        assert raised == 529, f"{story}; wanted the error of the server"


async def _raised(here: Sender, work: ModuleType) -> int | None:
    """The status of the raised error; None: there is none."""
    try:
        await here.ask(work)
    except APIStatusError as error:
        return error.status_code
    return None
