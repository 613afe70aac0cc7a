"""Hooks whose functions are in the program that drives the session, declared as the SDKs for Claude Code do."""

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

from harness.events import Json
from harness.hooks.commands import answer_in, own_answer
from harness.hooks.definition import TOOL_POINTS, Hook, HookAnswer, HookCall, point_called

TIME_LIMIT_S = 60.0
Ask = Callable[[Json], Awaitable[Json]]
"""Sends a request to the program and returns its answer."""


def callback_hooks(declared: Mapping[str, Any], ask: Ask) -> tuple[Hook, ...]:
    """The hooks of an `initialize` request: for each event its matchers with the ids of functions. Raises ValueError,
    a clause, for one that would not run as it is meant."""
    return tuple(hook for event, matchers in declared.items() for one in matchers for hook in _hooks(event, one, ask))


def _hooks(event: str, matcher: Mapping[str, Any], ask: Ask) -> Iterator[Hook]:
    point, tools = point_called(event), str(matcher.get("matcher") or "").strip()
    required = matcher.get("onFailure", "continue") != "continue"
    callbacks: Sequence[str] = matcher.get("hookCallbackIds", ())
    for callback in callbacks:
        yield Hook(
            f"{event} of the program",
            point,
            partial(_asked, ask, callback),
            "" if tools == "*" and point not in TOOL_POINTS else tools,
            float(matcher.get("timeout") or TIME_LIMIT_S),
            required,
        )


async def _asked(ask: Ask, callback: str, call: HookCall) -> HookAnswer:
    request = {"subtype": "hook_callback", "callback_id": callback, "input": call.document()}
    return own_answer(answer_in(await ask(request | {"tool_use_id": call.call_id or None})), call)
