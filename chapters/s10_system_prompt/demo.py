"""s10: two sessions in one folder. Between two prompts of the first one the instructions change."""

from hashlib import sha256

from chapters.course import DemoSession
from harness.agent import Agent
from harness.events import Notice


def tell(session: DemoSession, agent: Agent, before: str = "") -> str:
    """Show what the beginning of every request is made of. Returns its fingerprint, to be compared with `before`."""
    parts = agent.parts.context.prompt_parts
    names = ", ".join(f"{part.name} {part.tokens:,}" for part in parts)
    files = ", ".join(str(source) for part in parts for source in part.sources)
    mark = sha256("\n".join(part.text for part in parts).encode()).hexdigest()[:8]
    session.show(Notice("info", f"Tokens of each part: {names}"))
    session.show(Notice("info", f"Instructions from: {files}"))
    compared = f", {'the same as' if mark == before else 'not the same as'} before" if before else ""
    session.show(Notice("info", f"Fingerprint of all parts: {mark}{compared}"))
    return mark


async def demo(session: DemoSession) -> None:
    """The folder `you` plays the one beside your settings, where your own AGENTS.md is."""
    settings = session.settings(user_dir=session.workspace / "you")
    prompts = session.prompts()
    async with session.agent(settings) as agent:
        first = tell(session, agent)
        await session.watch(agent.run(await anext(prompts)))
        with (session.workspace / "AGENTS.md").open("a", encoding="utf-8") as file:
            file.write("- Every file begins with a line that says what it is for.\n")
        await session.watch(agent.run(await anext(prompts)))
        tell(session, agent, first)
    async with session.agent(settings) as agent:
        tell(session, agent, first)
        async for prompt in prompts:
            await session.watch(agent.run(prompt))
