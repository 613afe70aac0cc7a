"""What a request is made of. One function is missing; TASK.md says what it has to do."""

from collections.abc import Mapping, Sequence
from typing import Any

Block = dict[str, Any]
Message = dict[str, Any]
"""`role` is "user" or "assistant"; `content` is a list of blocks."""
Tool = dict[str, Any]
"""`name`, `description` and `input_schema`."""

MARK: Block = {"cache_control": {"type": "ephemeral"}}
"""What a block holds besides when it says: you may keep everything up to here."""


def block(text: str) -> Block:
    """A text as a block."""
    return {"type": "text", "text": text}


def titled(name: str, text: str) -> str:
    """A section as rendered in the system prompt."""
    return f"# {name.capitalize()}\n\n{text.strip()}"


def is_facts(one: Block) -> bool:
    """The block holds facts of the moment, such as the date."""
    return one["type"] == "text" and str(one["text"]).startswith("<facts>")


def request(
    sections: Mapping[str, str], tools: Sequence[Tool], history: Sequence[Message], facts: str, prompt: str
) -> dict[str, Any]:
    """The `tools`, `system` and `messages` to send when the user has written `prompt`.

    `history` is the conversation so far, as sent. `facts` are the current facts; "" where nothing is known.
    """
    # ── your part begins ─────────────────────────────────────────────
    text = "\n\n".join((facts, *(titled(name, text) for name, text in sections.items())))
    newest = {"role": "user", "content": [block(prompt)]}
    return {"tools": list(tools), "system": [block(text) | MARK], "messages": [*history, newest]}
    # ── your part ends ───────────────────────────────────────────────
