"""A loop by hand that reads one log after the other. When the server refuses, the learner says where to cut."""

from pathlib import Path
from types import ModuleType
from typing import Any

from anthropic import APIStatusError, AsyncAnthropic, DefaultAsyncHttpxClient

from chapters.course import DemoSession
from harness.events import Notice

BUDGET = 2_700
"""Room for the part that stays, as `size` of the exercise measures it."""
LINES = {1: 30, 2: 30, 3: 30, 4: 120}
"""Lines of the log of each day."""
LATE = "day-04"
"""A message arrives together with the result of this file."""
MOST_REQUESTS = 12
NO_PROXY = {"all://127.0.0.1": None}
TOO_LONG = "prompt is too long"
READ_FILE: Any = {
    "name": "read_file",
    "description": "Read a file.",
    "input_schema": {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]},
}
Messages = list[dict[str, Any]]


def write_logs(folder: Path) -> None:
    """A log for each day; the last one is larger than the budget."""
    for day, count in LINES.items():
        lines = (f"order {day * 1_000 + number} was packed" for number in range(count))
        (folder / f"day-{day:02}.log").write_text("\n".join(lines) + "\n")


class Loop:
    """One conversation."""

    def __init__(self, session: DemoSession, client: AsyncAnthropic, work: ModuleType) -> None:
        self.messages: Messages = []
        self._session = session
        self._client = client
        self._work = work

    async def turn(self, prompt: str) -> None:
        """Ask and run the calls until a reply has none. A history that the server calls too long is shortened."""
        self.messages.append({"role": "user", "content": [_text(prompt)]})
        for _ in range(MOST_REQUESTS):
            try:
                reply = await self._asked(self.messages)
            except APIStatusError as error:
                if TOO_LONG not in error.message:
                    self._session.show(Notice("error", f"the server refuses the history: {error.message}"))
                    return
                await self._shorten()
                continue
            self.messages.append({"role": "assistant", "content": reply})
            results = [_result(block, self._session.workspace) for block in reply if block["type"] == "tool_use"]
            if not results:
                return
            self.messages.append({"role": "user", "content": results})
            if any(LATE in str(block["input"]) for block in reply if block["type"] == "tool_use"):
                self.messages.append({"role": "user", "content": [_text("A command in the background has ended.")]})
        self._session.show(Notice("error", f"no answer after {MOST_REQUESTS} requests"))

    async def _shorten(self) -> None:
        first = self._work.cut(tuple(self.messages), BUDGET)
        kept = self.messages[first:]
        size = sum(map(self._work.size, kept))
        self._session.show(
            Notice("info", f"cut at {first} of {len(self.messages)} messages, {size} characters stay, budget {BUDGET}")
        )
        front = "\n".join(str(block) for message in self.messages[:first] for block in message["content"])
        summary = await self._asked([{"role": "user", "content": [_text(f"Summarise this work:\n{front}")]}])
        self.messages = [{"role": "user", "content": summary}, *kept]

    async def _asked(self, messages: Any) -> list[dict[str, Any]]:
        reply = await self._client.messages.create(
            model=self._session.MODEL, max_tokens=1_000, tools=[READ_FILE], messages=messages
        )
        return [
            _text(block.text) if block.type == "text" else block.model_dump(include={"type", "id", "name", "input"})
            for block in reply.content
        ]


def _text(text: str) -> dict[str, Any]:
    return {"type": "text", "text": text}


def _result(call: dict[str, Any], folder: Path) -> dict[str, Any]:
    text = (folder / str(call["input"]["path"])).read_text("utf-8")
    return {"type": "tool_result", "tool_use_id": call["id"], "content": text}


async def demo(session: DemoSession, work: ModuleType) -> None:
    """One conversation for all prompts."""
    write_logs(session.workspace)
    client = AsyncAnthropic(
        base_url=session.address,
        api_key=session.KEY,
        max_retries=0,
        http_client=DefaultAsyncHttpxClient(mounts=NO_PROXY),
    )
    async with client:
        loop = Loop(session, client, work)
        async for prompt in session.prompts():
            await loop.turn(prompt)
