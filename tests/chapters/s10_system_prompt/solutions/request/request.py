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
    """A section as it stands in the system prompt."""
    return f"# {name.capitalize()}\n\n{text.strip()}"


def is_facts(one: Block) -> bool:
    """The block says what is so at the moment, such as the date."""
    return one["type"] == "text" and str(one["text"]).startswith("<facts>")


def request(
    sections: Mapping[str, str], tools: Sequence[Tool], history: Sequence[Message], facts: str, prompt: str
) -> dict[str, Any]:
    """The `tools`, `system` and `messages` to send when a person has written `prompt`.

    `history` is what was said before, as it was sent. `facts` is what is so now; "" where nothing is known.
    """
    # ── your part begins ─────────────────────────────────────────────
    system = [block(titled(name, text)) for name, text in sections.items() if text.strip()]
    if system:
        system[-1] |= MARK
    told = [one["text"] for message in history for one in message["content"] if is_facts(one)]
    news = [block(facts)] if facts and told[-1:] != [facts] else []
    return {
        "tools": sorted(tools, key=lambda tool: str(tool["name"])),
        "system": system,
        "messages": [*history, {"role": "user", "content": [*news, block(prompt)]}],
    }
    # ── your part ends ───────────────────────────────────────────────
