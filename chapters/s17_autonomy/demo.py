"""s17: programs that claim from a queue and are killed; then agents that claim from a board."""

import asyncio
from collections import Counter
from contextlib import AsyncExitStack

from chapters.course import DemoSession
from chapters.s17_autonomy.board_agents import BoardAgent, work_until_idle
from chapters.s17_autonomy.workers import SHORT, Yard, yard
from harness.events import Notice

LAMPS = 12
STEPS = 5
"""Of an agent for one task."""


async def by_hand(session: DemoSession) -> None:
    """Three workers and twelve tasks; a worker that is late; a task that no worker survives."""

    def show(text: str) -> None:
        session.show(Notice("info", text))

    async with yard(session.workspace) as shared:
        queue = shared.queue
        show(f"an empty queue: ann ends with exit code {(await (await shared.worker('ann')).end())[0]}")
        for number in range(1, LAMPS + 1):
            queue.add(f"lamp {number} gets {number + 2} litres")
        ann = await shared.worker("ann", SHORT)
        show(await ann.line())
        show(f"ann is ended by signal {await ann.kill()}; not done: {queue.left()}")
        show(await share(shared))
        queue.add("lamp 13 gets 9 litres")
        show(await late(shared))
        queue.add("lamp 14 is broken")
        show(f"{await broken(shared)}; not done: {queue.left()}")


async def share(shared: Yard) -> str:
    """Two workers do what there is; returns who did what how often."""
    pair = [await shared.worker(name) for name in ("ben", "cleo")]
    for worker in pair:
        worker.enter(LAMPS)
    ends = await asyncio.gather(*(worker.end() for worker in pair))
    lines = [line for _, said, _ in ends for line in said]
    taken = [line.partition(" takes ")[2] for line in lines if " takes " in line]
    done = Counter(line.partition(": ")[2] for line in lines if " has " in line)
    hers = next((text for text in taken if text.startswith("1: ")), "not 1")
    times = "once" if max(done.values(), default=0) == 1 else "or more often"
    return f"ben and cleo take {len(taken)} tasks, among them {hers}; {len(done)} lamps are filled, each {times}"


async def late(shared: Yard) -> str:
    """A worker that is only slow; returns what it says when another one has done its task."""
    dora = await shared.worker("dora", SHORT)
    await dora.line()
    fay = await shared.worker("fay")
    fay.enter()
    (_, said, _) = await fay.end()
    dora.enter()
    return f"{said[-1]}; {(await dora.end())[1][-1]}"


async def broken(shared: Yard) -> str:
    """A task that ends each worker; returns how they ended."""
    ends = []
    for name in ("gus", "hal", "ida"):
        worker = await shared.worker(name, SHORT)
        worker.enter()
        code, _, error = await worker.end()
        ends.append(f"{name} ends with exit code {code}")
    return f"{', '.join(ends)} ({error.partition(':')[0]})"


async def demo(session: DemoSession) -> None:
    """The small workers; then three agents and a board. After each prompt they work until no task is ready."""
    await by_hand(session)
    async with AsyncExitStack() as running:
        agents = [BoardAgent(session, name, max_steps=STEPS) for name in ("ann", "ben", "cleo")]
        lead = BoardAgent(session, "lead")
        for one in (*agents, lead):
            await running.enter_async_context(one.agent)
        async for prompt in session.prompts():
            await lead.turn(lead.agent.run(prompt))
            await work_until_idle(agents)
