"""Holds the work on a task of a fleet to the token of its start (docs/fleet.md).

Before each call of a tool that may change something, the token is compared and the intent recorded; after it, the
result. A task that was started elsewhere, or has ended, stops here. While the database is away the work waits.
"""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from functools import partial
from itertools import count
from typing import TypeVar

from harness.base.concurrency import in_thread
from harness.base.external_text import visible
from harness.base.secrets import Masking
from harness.events import HookPoint
from harness.events.tool_names import OURS
from harness.fleet.schema import FleetError
from harness.fleet.tasks import FenceLost, FleetEffect, FleetTaskRefused, FleetTasks
from harness.hooks import Hook, HookAnswer, HookCall
from harness.policies.fleet.task import FleetTask, TaskOutcome

CHANGING = frozenset({"bash", "edit_file", "forget", "kill_background", "remember", "schedule_create"}) | frozenset(
    {"schedule_delete", "write_file"}
)
"""Our tools that may change something; those of others are taken to."""
PAUSES_S = (0.5, 1.0, 2.0, 5.0, 10.0)
"""Between attempts while the database is away; the last one repeats."""
LONGEST_WAIT_S = 30 * 86_400.0
MOST_SAID = 300
"""Characters of an effect that the next start reads."""
MOST_EFFECTS = 40
"""Effects that the next start reads of."""

T = TypeVar("T")


class Fence:
    """The right to work on a task: one start of it."""

    def __init__(
        self,
        tasks: FleetTasks,
        task: FleetTask,
        *,
        masking: Masking | None = None,
        report: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Args:
        task: as `FleetTasks.begin` has returned it.
        masking: takes secrets out of what is recorded.
        report: called with a sentence when the database is away, and when it is back.
        """
        self.task = task
        self._tasks = tasks
        self._masking = masking or Masking()
        self._report = report
        self._numbers = count(1)
        self._open: dict[tuple[str, str], str] = {}
        """The keys of effects under way, by agent and id of their calls."""
        self._away = False
        self.lost = asyncio.Event()
        """Set when the token no longer counts: the work ends."""
        self.reason = ""
        """Why, as a sentence."""

    def hooks(self) -> tuple[Hook, ...]:
        """For `AgentOptions.hooks`: they also hold the subagents to it."""
        name, point = "fence of the fleet's task", HookPoint
        return (
            Hook(name, point.BEFORE_TOOL, self._before, time_s=LONGEST_WAIT_S, required=True),
            Hook(name, point.AFTER_TOOL, self._after, time_s=LONGEST_WAIT_S, required=True),
        )

    @asynccontextmanager
    async def effect(self, text: str) -> AsyncIterator[None]:
        """Something that the worker itself does outside, for example a push. Raises FenceLost: it must not be done."""
        key = await self._intend(text)
        try:
            yield
        except Exception as error:
            await self._held(partial(self._tasks.result, self.task.id, self.task.fence, key, f"failed: {error}"))
            raise
        await self._held(partial(self._tasks.result, self.task.id, self.task.fence, key, "done"))

    async def check(self) -> None:
        """Compare the token, for example during a long call. Raises FenceLost."""
        await self._held(partial(self._tasks.hold, self.task.id, self.task.fence))

    async def record(self, what: str, text: str) -> None:
        """Add a line to the history of the task. Raises FenceLost."""
        await self._held(partial(self._tasks.record, self.task.id, self.task.fence, what, self._masking.text(text)))

    async def finish(self, outcome: TaskOutcome) -> FleetTask:
        """End the task. Raises FenceLost."""
        return await self._held(
            partial(self._tasks.finish, self.task.id, self.task.fence, self._masking.value(outcome))
        )

    async def give_back(self, reason: str) -> FleetTask:
        """Let another worker start it. Raises FenceLost."""
        return await self._held(partial(self._tasks.give_back, self.task.id, self.task.fence, reason))

    async def earlier(self) -> str:
        """What the model has to know of earlier starts; empty: nothing."""
        return earlier_effects(await self.waited(partial(self._tasks.effects, self.task.id)), self.task.fence)

    async def waited(self, step: Callable[[], T]) -> T:
        """A step of the database, tried again until it is there."""
        for attempt in count():
            try:
                result = await in_thread(step)
            except FleetError as error:
                if not self._away:
                    self._report(f"{error} The task {self.task.id} waits for it.")
                self._away = True
                await asyncio.sleep(PAUSES_S[min(attempt, len(PAUSES_S) - 1)])
            else:
                if self._away:
                    self._report(f"{self._tasks.database.where} is back; the task {self.task.id} goes on.")
                self._away = False
                return result
        raise AssertionError

    async def _held(self, step: Callable[[], T]) -> T:
        if self.lost.is_set():
            raise FenceLost(self.reason)
        try:
            return await self.waited(step)
        except (FenceLost, FleetTaskRefused) as error:
            self.reason = str(error)
            self.lost.set()
            raise FenceLost(self.reason) from error

    async def _intend(self, text: str) -> str:
        key = str(next(self._numbers))
        await self._held(partial(self._tasks.intend, self.task.id, self.task.fence, key, self._masking.text(text)))
        return key

    async def _before(self, call: HookCall) -> HookAnswer | None:
        if call.tool in OURS and call.tool not in CHANGING:
            return None
        try:
            self._open[call.agent, call.call_id] = await self._intend(said(call))
        except FenceLost as error:
            return HookAnswer(block=str(error), stop=str(error))
        return None

    async def _after(self, call: HookCall) -> HookAnswer | None:
        if (key := self._open.pop((call.agent, call.call_id), None)) is None:
            return None
        outcome = self._masking.text(f"{call.outcome}: {call.result}")
        try:
            await self._held(partial(self._tasks.result, self.task.id, self.task.fence, key, outcome))
        except FenceLost as error:
            return HookAnswer(stop=str(error))
        return None


def said(call: HookCall) -> str:
    """A call in words: its tool and the command or path, else its input."""
    given = next((str(call.input[name]) for name in ("command", "path") if call.input.get(name)), None)
    return f"{call.tool}: {given if given is not None else json.dumps(call.input, ensure_ascii=False, default=str)}"


def earlier_effects(effects: Iterable[FleetEffect], fence: int) -> str:
    """For the model: what earlier starts did, and of what it is not known whether it happened; empty: nothing."""
    before = [effect for effect in effects if effect.fence < fence]
    unknown = [_line(effect) for effect in before if effect.outcome is None]
    known = [_line(effect) for effect in before if effect.outcome is not None]
    parts = []
    if unknown:
        parts.append(
            "An earlier worker began the following and was lost; whether it happened is unknown. Look before you do "
            f"any of it again:\n{_listed(unknown)}"
        )
    if known:
        parts.append(
            f"Earlier workers of this task did this; files outside of the branch may be gone:\n{_listed(known)}"
        )
    return "\n\n".join(parts)


def _line(effect: FleetEffect) -> str:
    outcome = "" if effect.outcome is None else f" → {' '.join(effect.outcome.split())[:80]}"
    return visible(f"- {' '.join(effect.text.split())[:MOST_SAID]}{outcome}")


def _listed(lines: list[str]) -> str:
    more = len(lines) - MOST_EFFECTS
    return "\n".join([f"- {more} more, older"] * (more > 0) + lines[-MOST_EFFECTS:])
