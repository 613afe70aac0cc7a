"""An agent by hand that can ask other agents. One method is missing: what the tool `agent` does."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

AGENT = "agent"
STEPS = 4
"""Requests that an agent may make before its turn is ended."""

Block = dict[str, Any]
Message = dict[str, Any]
Model = Callable[[Sequence[Message], Sequence[str]], Awaitable[list[Block]]]
"""Gets a history and the names of the tools; gives the blocks of a reply, or raises what went wrong."""
Do = Callable[[str, Any], str]
"""Does what an ordinary tool does: gets its name and its input, gives its result."""


def result(call: Block, content: str, *, failed: bool = False) -> Block:
    """The answer to a call."""
    return {"type": "tool_result", "tool_use_id": call["id"], "content": content, "is_error": failed}


def said(messages: Sequence[Message]) -> str:
    """All that an agent has said in a history."""
    replies = (message["content"] for message in messages if message["role"] == "assistant")
    return "\n\n".join(block["text"] for blocks in replies for block in blocks if block["type"] == "text")


@dataclass
class Purse:
    """What a whole family of agents may still spend."""

    requests: int


@dataclass
class Ended:
    """How a turn ended."""

    answer: str
    """The last text."""
    why: str = ""
    """Why it was ended before the model was done; empty: it was done."""


@dataclass
class Agent:
    """A model, its tools, and a history."""

    model: Model
    do: Do
    tools: tuple[str, ...]
    """Names of the tools that it may use."""
    purse: Purse = field(default_factory=lambda: Purse(20))
    messages: list[Message] = field(default_factory=list)

    async def run(self, prompt: str) -> Ended:
        """Ask the model until it asks for no more tools, or may not be asked again. Raises what the model raises."""
        self.messages.append({"role": "user", "content": prompt})
        last = ""
        for _ in range(STEPS):
            if not self.purse.requests:
                return Ended(last, "the purse is empty")
            self.purse.requests -= 1
            blocks = await self.model(self.messages, self.tools)
            self.messages.append({"role": "assistant", "content": blocks})
            last = "".join(block["text"] for block in blocks if block["type"] == "text")
            calls = [block for block in blocks if block["type"] == "tool_use"]
            if not calls:
                return Ended(last)
            results = await asyncio.gather(*map(self.answered, calls))  # side by side
            self.messages.append({"role": "user", "content": list(results)})
        return Ended(last, f"it was stopped after {STEPS} steps")

    async def answered(self, call: Block) -> Block:
        """The result of a call."""
        if call["name"] not in self.tools:
            return result(call, f"there is no tool {call['name']}", failed=True)
        if call["name"] == AGENT:
            return await self.delegate(call)
        return result(call, self.do(call["name"], call["input"]))

    async def delegate(self, call: Block) -> Block:
        """Have a new agent do what the call asks for: its `prompt`, and perhaps `tools`, the names that it may use."""
        # ── your part begins ─────────────────────────────────────────────
        return result(call, "Nobody has done it.")
        # ── your part ends ───────────────────────────────────────────────
