"""An agent by hand that can ask other agents. One method is missing: the one that runs the tool `agent`."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

AGENT = "agent"
STEPS = 4
"""Requests of an agent before its turn is stopped."""

Block = dict[str, Any]
Message = dict[str, Any]
Model = Callable[[Sequence[Message], Sequence[str]], Awaitable[list[Block]]]
"""Takes a history and the names of the tools; returns the blocks of a reply, or raises an error."""
Do = Callable[[str, Any], str]
"""Runs an ordinary tool: takes its name and its input, returns its result."""


def result(call: Block, content: str, *, failed: bool = False) -> Block:
    """The answer to a call."""
    return {"type": "tool_result", "tool_use_id": call["id"], "content": content, "is_error": failed}


def said(messages: Sequence[Message]) -> str:
    """All texts of an agent in a history."""
    replies = (message["content"] for message in messages if message["role"] == "assistant")
    return "\n\n".join(block["text"] for blocks in replies for block in blocks if block["type"] == "text")


@dataclass
class Budget:
    """The requests that an agent and its children may still make."""

    requests: int


@dataclass
class Ended:
    """How a turn ended."""

    answer: str
    """The last text."""
    why: str = ""
    """Why it ended before the model finished; empty: it finished."""


@dataclass
class Agent:
    """A model, its tools, and a history."""

    model: Model
    do: Do
    tools: tuple[str, ...]
    """Names of the tools available."""
    budget: Budget = field(default_factory=lambda: Budget(20))
    messages: list[Message] = field(default_factory=list)

    async def run(self, prompt: str) -> Ended:
        """Ask the model until it calls no more tools or a limit is reached. Raises the errors of the model."""
        self.messages.append({"role": "user", "content": prompt})
        last = ""
        for _ in range(STEPS):
            if not self.budget.requests:
                return Ended(last, "the budget is exhausted")
            self.budget.requests -= 1
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
        """Let a new agent carry out the `prompt` of the call, with the `tools` that it may name."""
        # ── your part begins ─────────────────────────────────────────────
        return result(call, "Nothing was done.")
        # ── your part ends ───────────────────────────────────────────────
