"""A loop by hand; the learner decides what follows a cut reply."""

from types import ModuleType
from typing import Any

from anthropic import APIStatusError, AsyncAnthropic, DefaultAsyncHttpxClient
from anthropic.types import Message

from chapters.course import DemoSession
from harness.events import Notice

MOST = 32_000
"""Tokens that the model can answer at most."""
MOST_REQUESTS = 16
"""For one prompt."""
NO_PROXY = {"all://127.0.0.1": None}
WRITE_FILE: Any = {
    "name": "write_file",
    "description": "Write a file.",
    "input_schema": {
        "type": "object",
        "properties": {"path": {"type": "string"}, "content": {"type": "string"}},
        "required": ["path", "content"],
    },
}


class Loop:
    """One conversation; each turn begins with a fresh `Turn` of the learner."""

    def __init__(self, session: DemoSession, client: AsyncAnthropic, work: ModuleType) -> None:
        self._session = session
        self._client = client
        self._work = work
        self._messages: list[dict[str, Any]] = []

    async def turn(self, prompt: str) -> None:
        """Ask until the learner says that the turn is over; the end is a notice."""
        self._messages.append({"role": "user", "content": prompt})
        turn = self._work.Turn()
        steps: list[str] = []
        while len(steps) < MOST_REQUESTS:
            try:
                reply = await self._asked(self._work.cap_of(turn, MOST))
            except APIStatusError as error:
                steps.append(f"the server refuses: {error.message}")
                break
            calls, cut = [block for block in reply.content if block.type == "tool_use"], is_cut(reply)
            half = cut and reply.content[-1:] == calls[-1:] and bool(calls)
            seen = self._work.Reply(cut, len(calls) - half, half)
            turn, step = self._work.decide(turn, seen, MOST)
            steps.append(step.name)
            self._session.show(Notice("info", f"{'cut' if cut else 'whole'} reply: {step.name}"))
            if step.name != "AGAIN":
                self._keep(reply, half)
            if step.name in ("DONE", "GIVE_UP"):
                break
            if step.name == "GO_ON":
                self._messages.append({"role": "user", "content": "Go on where you stopped."})
        self._session.show(Notice("info", f"the turn: {', '.join(steps)}"))

    async def _asked(self, cap: int) -> Message:
        sent: Any = self._messages
        return await self._client.messages.create(
            model=self._session.MODEL, max_tokens=cap, tools=[WRITE_FILE], messages=sent, timeout=60
        )

    def _keep(self, reply: Message, half: bool) -> None:
        """Append a reply and run its calls; half a call gets an error as its result."""
        self._messages.append(
            {"role": "assistant", "content": [block.model_dump(exclude_none=True) for block in reply.content]}
        )
        calls = [block for block in reply.content if block.type == "tool_use"]
        results = []
        for block in calls:
            if half and block is calls[-1]:
                text = "This call was cut and did not run. Make it smaller."
            else:
                (self._session.workspace / str(block.input["path"])).write_text(str(block.input["content"]), "utf-8")
                text = "written"
            results.append(
                {"type": "tool_result", "tool_use_id": block.id, "content": text, "is_error": text != "written"}
            )
        if results:
            self._messages.append({"role": "user", "content": results})


def is_cut(reply: Message) -> bool:
    """The reply ended because its tokens were used up."""
    return reply.stop_reason == "max_tokens"


async def demo(session: DemoSession, work: ModuleType) -> None:
    """One conversation for all prompts."""
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
