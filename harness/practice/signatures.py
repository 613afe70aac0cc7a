"""Signatures of thinking blocks: a practice model's stand-in for the sealed ones of the API (api §5.4).

A signature names the thinking it belongs to and everything that stood before it: system, tools and
earlier messages, without cache breakpoints and without other thinking blocks, which may be left out.
"""

from collections.abc import Sequence
from hashlib import sha256

from harness.events import Block, Json
from harness.practice.requests import blocks
from harness.practice.sse import compact

_MARK = "practice."


def sign(thinking: str, body: Json, before: int) -> str:
    """The signature of a thinking block that follows the first `before` messages of a request body."""
    return f"{_MARK}{_digest(thinking)}.{_digest(_prefix(body, before))}"


def signature_problem(block: Block, body: Json, position: int, *, bound: bool) -> str | None:
    """What is wrong with a thinking block that is replayed in message `position`; None: nothing.

    Signatures of other makers are taken as they are. `bound`: what stood before must be unchanged.
    """
    signature = block.get("signature")
    if not isinstance(signature, str) or not signature:
        return "signature: Field required"
    if not signature.startswith(_MARK):
        return None
    named, _, prefix = signature.removeprefix(_MARK).partition(".")
    if named != _digest(block.get("thinking", "")):
        return "Invalid `signature` in `thinking` block"
    if bound and prefix != _digest(_prefix(body, position)):
        return (
            "Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the "
            'block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
        )
    return None


def _prefix(body: Json, before: int) -> str:
    earlier = [
        [message.get("role"), _bare(message.get("content"))]
        for message in body["messages"][:before]
        if isinstance(message, dict)
    ]
    return compact([_bare(body.get("system")), _without_marks(body.get("tools") or []), earlier])


def _bare(content: object) -> list[Block]:
    return [
        {key: value for key, value in block.items() if key != "cache_control"}
        for block in blocks(content)
        if block.get("type") not in ("thinking", "redacted_thinking")
    ]


def _without_marks(tools: Sequence[Json]) -> list[Json]:
    return [{key: value for key, value in tool.items() if key != "cache_control"} for tool in tools]


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "replace")).hexdigest()[:24]
