"""Runs one hook: a function of this program, or a shell command of the user."""

import asyncio
import copy
import inspect
import json
import os
import threading
from collections.abc import Callable
from contextvars import copy_context
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryFile

from harness.hooks import Hook, HookAnswer, HookCall, HookError, HookFunction
from harness.hooks.commands import MOST_BYTES, answer_of
from harness.hooks.merge import MOST_REASON, checked
from harness.processes import Processes, ProcessLimits
from harness.tools.bash import shell_command, shell_environment

TERM_GRACE_S = 1.0
"""Seconds between TERM and KILL for a command that took too long."""


class HookInvoker:
    """Asks hooks. Whatever they do, the outcome is an answer or a `HookError`."""

    def __init__(self, processes: Processes, workspace: Path) -> None:
        """`workspace` is the folder that commands start in."""
        self._processes = processes
        self._workspace = workspace

    async def ask(self, hook: Hook, call: HookCall) -> HookAnswer:
        """The answer of a hook. Raises HookError, a clause, when it has none that can be used."""
        if isinstance(hook.action, str):
            return checked(hook.point, await self._run(hook.action, hook.time_s, call))
        return checked(hook.point, await _called(hook.action, hook.time_s, call))

    async def _run(self, line: str, time_s: float, call: HookCall) -> HookAnswer:
        stdout, stderr = _Beginning(MOST_BYTES + 1), _Beginning(MOST_REASON)
        with TemporaryFile() as question:
            question.write(_written(call))
            question.seek(0)
            try:
                finished = await self._processes.run(
                    shell_command(line),
                    cwd=self._workspace,
                    environment=shell_environment(os.environ),
                    sink=stdout.feed,
                    errors=stderr.feed,
                    stdin=question,
                    limits=ProcessLimits(time_s, TERM_GRACE_S),
                )
            except (OSError, ValueError) as error:
                raise HookError(f"it could not be started: {error}") from error
        if finished.timed_out:
            raise HookError(_too_slow(time_s))
        return answer_of(finished.exit_code, bytes(stdout.data), bytes(stderr.data))


def _written(call: HookCall) -> bytes:
    try:
        return json.dumps(call.document()).encode()
    except RecursionError as error:
        raise HookError("the input of the call is nested too deeply to be handed over") from error


class _Beginning:
    """Keeps the first bytes of a stream and forgets the others."""

    def __init__(self, most: int) -> None:
        self._most = most
        self.data = bytearray()

    def feed(self, data: bytes) -> None:
        self.data += data[: max(0, self._most - len(self.data))]


async def _called(function: HookFunction, time_s: float, call: HookCall) -> object:
    """What a function returns. One that takes too long is abandoned; its thread cannot hold up the end of
    the program."""
    working = asyncio.ensure_future(_returned(function, call))
    try:
        await asyncio.wait({working}, timeout=time_s)
        if not working.done():
            raise HookError(_too_slow(time_s))
        return working.result()
    except asyncio.CancelledError:
        if working.cancelled():
            raise HookError("it cancelled itself") from None
        raise
    finally:
        working.cancel()


async def _returned(function: HookFunction, call: HookCall) -> object:
    try:
        own = replace(call, input=copy.deepcopy(call.input))  # what it changes in place is no answer
        returned: object = (
            function(own) if inspect.iscoroutinefunction(function) else await _in_own_thread(function, own)
        )
        return await returned if inspect.isawaitable(returned) else returned
    except HookError:
        raise
    except (Exception, SystemExit) as error:  # the border to hooks, which are not ours: a failing one ends no turn
        raise HookError(_in_words(error)) from error


async def _in_own_thread(function: HookFunction, call: HookCall) -> object:
    loop = asyncio.get_running_loop()
    returned: asyncio.Future[object] = loop.create_future()

    def settle(tell: Callable[[], None]) -> None:
        if not returned.done():
            tell()

    def work() -> None:
        try:
            value = copy_context().run(function, call)
        except BaseException as error:  # noqa: BLE001 (nobody else would hear of it, and what is raised is told)
            failure = HookError(_in_words(error))
            tell: Callable[[], None] = lambda: returned.set_exception(failure)  # noqa: E731
        else:
            tell = lambda: returned.set_result(value)  # noqa: E731
        try:
            loop.call_soon_threadsafe(settle, tell)
        except RuntimeError:
            return  # the loop is closed: nobody waits any more

    threading.Thread(target=work, name=f"hook at {call.point}", daemon=True).start()
    return await returned


def _in_words(error: BaseException) -> str:
    said = " ".join(str(error).split())[:300]
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def _too_slow(time_s: float) -> str:
    return f"it took longer than {time_s:g} s"
