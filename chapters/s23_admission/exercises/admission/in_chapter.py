"""The learner's admission control with concurrent work: each piece is one request, sent once it is admitted."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from anthropic import APIError, AsyncAnthropic, DefaultAsyncHttpxClient

from chapters.course import DemoSession
from harness.events import (
    AdmissionLimitsSet,
    DropReason,
    Notice,
    RejectionReason,
    WorkAdmitted,
    WorkDropped,
    WorkEnd,
    WorkQueued,
    WorkRejected,
    WorkReleased,
)

SLOTS, PLACES = 2, 2
REQUESTS = (("a1", 1), ("a2", 2), ("a3", 3), ("a1", 4), ("a4", 5), ("a4", 6))
"""Agents and the part of the book that each reads, in the order of the requests."""
NO_PROXY = {"all://127.0.0.1": None}


@dataclass(frozen=True, slots=True)
class Work:
    """A piece of work."""

    key: str
    number: int
    part: int

    @property
    def name(self) -> str:
        """Its name for the learner's code."""
        return f"part {self.part}"


class AdmittedWork:
    """Runs the admitted work and shows each decision."""

    def __init__(self, session: DemoSession, client: AsyncAnthropic, admission: Any, work: ModuleType) -> None:
        self._session = session
        self._client = client
        self._admission = admission
        self._decisions = work
        self._waiting: dict[str, Work] = {}
        self._running = 0
        self._group = asyncio.TaskGroup()

    async def run(self) -> None:
        """Ask for all work at once, and wait for the running part."""
        self._session.show(AdmissionLimitsSet(SLOTS, PLACES, len(REQUESTS)))
        async with self._group:
            for number, (key, part) in enumerate(REQUESTS, 1):
                self._ask(Work(key, number, part))
        self._admission.close()
        self._ask(Work("a5", len(REQUESTS) + 1, 7))
        left = ", ".join(self._waiting) or "none"
        self._session.show(
            Notice("info", f"dropped: {', '.join(self._admission.dropped) or 'none'}; never started: {left}")
        )

    def _ask(self, work: Work) -> None:
        before, queued = len(self._admission.dropped), self._of(work.key)
        answer = self._admission.ask(work.key, work.name)
        for name in self._admission.dropped[before:]:
            if (lost := self._waiting.pop(name, None)) is not None and answer != self._decisions.REPLACE:
                self._session.show(WorkDropped(lost.key, lost.number, DropReason.QUEUE_FULL, deferred=False))
        if answer == self._decisions.RUN:
            self._start(work)
        elif answer == self._decisions.REPLACE:
            self._waiting[work.name] = work
            self._session.show(
                WorkQueued(work.key, work.number, len(self._admission.queue), queued.number if queued else 0)
            )
        elif answer == self._decisions.WAIT:
            self._waiting[work.name] = work
            self._session.show(WorkQueued(work.key, work.number, len(self._admission.queue)))
        elif answer == self._decisions.DROP:
            self._session.show(WorkDropped(work.key, work.number, DropReason.QUEUE_FULL, deferred=False))
        elif answer == self._decisions.REJECT:
            self._session.show(WorkRejected(work.key, RejectionReason.SHUTTING_DOWN))
        else:
            raise ValueError(f"ask returned {answer!r}, which is none of the five answers")

    def _of(self, key: str) -> Work | None:
        return next((one for one in self._waiting.values() if one.key == key), None)

    def _start(self, work: Work) -> None:
        self._running += 1
        self._session.show(WorkAdmitted(work.key, work.number, self._running))
        if self._admission.closed:
            self._session.show(Notice("error", f"{work.key} was started after admission had closed"))
            return
        self._group.create_task(self._read(work))

    async def _read(self, work: Work) -> None:
        book = Path(self._session.workspace, "book.txt").read_text("utf-8")
        prompt = f"Read part {work.part} of the book and give its title.\n\n{book}"
        end = WorkEnd.SUCCEEDED
        try:
            await self._client.messages.create(
                model=self._session.MODEL, max_tokens=1_000, messages=[{"role": "user", "content": prompt}]
            )
        except APIError:
            end = WorkEnd.FAILED
        self._running -= 1
        self._session.show(WorkReleased(work.key, work.number, end, self._running))
        for name in self._admission.release(work.key):
            if name not in self._waiting:
                raise ValueError(f"release returned {name!r}, which is not queued")
            self._start(self._waiting.pop(name))


async def demo(session: DemoSession, work: ModuleType) -> None:
    """One admission control per prompt, with two slots and two places to wait."""
    client = AsyncAnthropic(
        base_url=session.address,
        api_key=session.KEY,
        max_retries=0,
        http_client=DefaultAsyncHttpxClient(mounts=NO_PROXY),
    )
    async with client:
        async for _ in session.prompts():
            await AdmittedWork(session, client, work.Admission(SLOTS, PLACES), work).run()
