"""A model provider inside LiteLLM, which loads this file: it calls bash once, then repeats the result.

LiteLLM's own mocks cannot ask for a tool in a stream. What a provider like this one says is turned into
the Messages API's events by LiteLLM, so that none of them is written by us.
"""

from collections.abc import AsyncIterator
from typing import Any

USAGE = {"prompt_tokens": 4000, "completion_tokens": 5, "total_tokens": 4005}
CALL = (("call_1", "bash", '{"comm'), (None, None, 'and": "echo ran >> rounds.txt; echo forty-two"}'))


class ScriptedProvider:
    """What LiteLLM expects of a custom provider, as far as it is used here."""

    async def astreaming(
        self, model: str, messages: list[dict[str, Any]], *_: object, **__: object
    ) -> AsyncIterator[dict[str, Any]]:
        """One call of bash in two pieces, and after its result an answer."""
        results = [message["content"] for message in messages if message["role"] == "tool"]
        if results:
            yield _chunk(f"The command said: {results[-1].splitlines()[0]}.")
            yield _chunk(reason="stop")
            return
        yield _chunk("Let me look.")
        for id, name, piece in CALL:
            function = {"name": name, "arguments": piece}
            yield _chunk(call={"id": id, "type": "function", "function": function, "index": 0})
        yield _chunk(reason="tool_calls")


def _chunk(text: str = "", *, call: dict[str, Any] | None = None, reason: str = "") -> dict[str, Any]:
    return {
        "text": text,
        "tool_use": call,
        "is_finished": bool(reason),
        "finish_reason": reason,
        "index": 0,
        "usage": USAGE if reason else None,
    }


handler = ScriptedProvider()
