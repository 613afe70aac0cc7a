"""A session with a journal, and a tool and a hook of your own; a second session continues where the first one ended."""

import asyncio

from harness import HookAnswer, HookCall, Opening, Session, hook, open_session, tool
from harness.events import TurnEnded
from harness.tools import Effect

NOTES: list[str] = []


@tool(effect=Effect.READ)
def weather(city: str) -> str:
    """The weather in a city."""
    return f"It is raining in {city}."


@hook("after_tool")
def note(call: HookCall) -> HookAnswer | None:
    """Note every call."""
    NOTES.append(f"{call.tool}: {call.outcome}")
    return None


async def opened(opening: Opening | None = None) -> Session:
    """A session with our tool and hook. A journal holds neither, so they are handed in each time."""
    return await open_session(opening=opening, tools=[weather], hooks=[note])


async def ask(session: Session, prompt: str) -> str:
    """The answer to a prompt."""
    async for event in session.run(prompt):
        if isinstance(event, TurnEnded):
            return event.answer
    raise AssertionError("a turn ends with TurnEnded")


async def main() -> None:
    """Ask in one session, and again in a second one that has read the journal of the first."""
    async with await opened() as first:
        print(await ask(first, "What is the weather in Oslo?"))
    async with await opened(Opening(resume=first.id)) as second:
        print("turns so far:", second.conversation.turn)
        print(await ask(second, "What is the weather in Bergen?"))
    print(NOTES)


if __name__ == "__main__":
    asyncio.run(main())
