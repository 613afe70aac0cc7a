"""Every tool call has a time limit, and one that does not end is given up.

A call that ran out of time, or is interrupted, is cancelled. Most end then. One that does not, such as a blocking
thread or a coroutine that catches its cancellation, must not hold up the turn or the end of the program: the call is
answered, and its end is reported when it comes.
"""

import asyncio
import contextvars
import inspect
from collections.abc import Awaitable, Callable
from math import inf

from harness.base.concurrency import given_up
from harness.events import FailureCategory, ToolOutcome
from harness.tools.tool import Effect, Tool, ToolContext, ToolResult

ANSWER_S = 1.0
"""Seconds that the answer of a cancelled call waits for its end."""
CLOSE_S = 6.0
"""Seconds after which a coroutine that ignores its cancellation is closed: enough to end processes."""
OWN_LIMIT_ANSWER_S = 15.0
"""The same as `ANSWER_S` for tools that keep a time limit of their own and end what they began, such as bash."""


class CallStillRunning(asyncio.CancelledError):
    """The turn was interrupted, and the call could not be ended."""


class TimeLimits:
    """Runs tools, each within its time."""

    def __init__(
        self, limit_s: float, report: Callable[[str], None], *, answer_s: float = ANSWER_S, close_s: float = CLOSE_S
    ) -> None:
        """
        Args:
            limit_s: seconds for a tool that names no limit of its own.
            report: gets one sentence when something that was given up has ended after all.
        """
        self._limit_s = limit_s
        self._report = report
        self._answer_s, self._close_s = answer_s, close_s
        self._left: set[asyncio.Task[None]] = set()
        """Watch coroutines that ignore their cancellation."""

    def limit_of(self, tool: Tool) -> float:
        """Seconds that a call of this tool may take; infinite where the tool has limits of its own."""
        if tool.timeout_s is not None:
            return tool.timeout_s
        return inf if tool.effect is Effect.DELEGATE else self._limit_s

    async def run(self, tool: Tool, context: ToolContext, arguments: object) -> ToolResult:
        """The result of a call, also when its time was up.

        Raises what the tool raises; CancelledError when it was cancelled and has ended, with what it had until then
        where it is a `ToolCancelled`; `CallStillRunning` when it has not ended.
        """
        limit = self.limit_of(tool)
        work = _Work(tool.name, tool.run(context, arguments))
        try:
            await asyncio.wait({work.task}, timeout=None if limit == inf else limit)
        except asyncio.CancelledError as cancelled:
            if not await self._ended(work, limit):
                raise CallStillRunning from cancelled
            if work.task.cancelled():
                work.task.result()  # raises what the tool was cancelled with
            raise
        if not work.task.done():
            return _timed_out(tool, limit, ended=await self._ended(work, limit))
        if work.task.cancelled():
            raise RuntimeError("it cancelled itself")
        return work.task.result()

    async def _ended(self, work: "_Work", limit: float) -> bool:
        """Cancel a call; whether all of it has ended by the time that its answer can wait."""
        work.task.cancel()
        answer_s, close_s = (OWN_LIMIT_ANSWER_S,) * 2 if limit == inf else (self._answer_s, self._close_s)
        watch = asyncio.create_task(self._watch(work, answer_s, close_s), name=f"end of {work.name}")
        self._left.add(watch)
        watch.add_done_callback(self._left.discard)
        await asyncio.wait({work.task}, timeout=answer_s)
        return work.task.done() and not work.threads

    async def _watch(self, work: "_Work", answer_s: float, close_s: float) -> None:
        """Close a call that ignores its cancellation, at the latest when the program ends, and report a late end."""
        now = asyncio.get_running_loop().time
        began = now()
        try:
            await asyncio.wait({work.task}, timeout=close_s)
        finally:
            if not work.task.done():
                work.close()
        await asyncio.wait({work.task})
        if work.threads:
            await asyncio.wait(work.threads)
        if not work.task.cancelled():
            work.task.exception()  # looked at, so that asyncio does not report it as lost
        if work.threads or now() - began > answer_s:
            self._report(
                f"{work.name}, which had been given up, ended {now() - began:.1f} s later. Its result is dropped; "
                "what it did until then was done."
            )


class _Work:
    """A call under way."""

    def __init__(self, name: str, running: Awaitable[ToolResult]) -> None:
        self.name = name
        self.threads: list[asyncio.Future[None]] = []
        """Its threads that still run after cancellation."""
        self._running = running
        self._closed = False
        context = contextvars.copy_context()
        context.run(given_up.set, self.threads.append)
        self.task = asyncio.create_task(self._result(), context=context)

    def close(self) -> None:
        """End a coroutine that catches its cancellation: where it waits, GeneratorExit is raised.

        Only one that catches that, too, survives.
        """
        self._closed = True
        try:
            if inspect.iscoroutine(self._running):
                self._running.close()
        except Exception:  # noqa: BLE001 (whatever it says on its way out; what matters is whether it is over)
            return
        finally:
            self.task.cancel()

    async def _result(self) -> ToolResult:
        try:
            return await self._running
        except RuntimeError as error:
            if self._closed:  # a closed coroutine cannot be cancelled any more
                raise asyncio.CancelledError from error
            raise


def _timed_out(tool: Tool, limit: float, *, ended: bool) -> ToolResult:
    after = f"timed out after {limit:g} s"
    text = f"{tool.name} {after}, its time limit, and has no result. It may have done part of its work."
    if not ended:
        text += " It could not be ended: it may still run and have an effect, but its result will not come."
    return ToolResult(text, ToolOutcome.BROKEN, after, category=FailureCategory.TIMEOUT)
