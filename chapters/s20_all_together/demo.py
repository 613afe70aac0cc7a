"""s20: one loop by hand; then the whole program, which is closed in the middle of its work and resumed."""

import asyncio
from contextlib import redirect_stdout
from importlib.util import find_spec
from io import StringIO
from runpy import run_path
from typing import Any

from chapters.course import DemoSession, LessonError
from chapters.s20_all_together.whole_run import Whole, make_repository
from harness.events import AgentMoved, ArrivalKind, Arrived, ClaimEnded, JobFired, Notice, ToolStarted
from harness.session import Session

HALF_AN_HOUR_S = 2_100.0
BUDGET_USD, HARDLY_USD = 0.2, 0.0001


async def by_hand(session: DemoSession) -> None:
    """Use the small version: order, a part that fails, the budget, the end."""
    own = run_path(str(session.workspace / "one_loop.py"))
    read: list[str] = []

    async def waits(put: object) -> None:
        await asyncio.Event().wait()

    async def server(put: object) -> None:
        raise ConnectionResetError("killed")

    async def turn(texts: list[str]) -> int:
        read.append(" · ".join(texts))
        if len(read) == 1:
            for kind in reversed(own["ORDER"]):
                loop.put(kind, kind)
        elif len(read) == 2:
            loop.start("server", server)
            await asyncio.sleep(0)
            loop.put("mail", "a message")
        else:
            loop.put("clock", "the next hour")
        return 1

    loop: Any = own["Loop"](turn, budget=3)
    for name in ("command", "clock"):
        loop.start(name, waits)
    loop.put("user", "Begin.")
    await loop.run()
    ended = StringIO()
    with redirect_stdout(ended):
        await loop.close()
    for text in (
        f"six things happen, the clock first; the next turn reads: {read[1]}",
        f"the server is killed; the next turn reads: {read[2]}",
        f"3 of 3 are spent; left in the queue: {loop.queue.qsize()}",
        f"closed: {', '.join(ended.getvalue().splitlines())}",
        f"in the queue of the next run: {own['Loop'](turn, 3).queue.qsize()}",
    ):
        session.show(Notice("info", text))


async def meanwhile(whole: Whole, session: Session) -> None:
    """What happens while a command of the lead runs: last comes the user."""

    def arrived(kind: ArrivalKind) -> bool:
        return any(one.kind is kind for one in whole.of(Arrived))

    await whole.until("the command of the lead", lambda: any("go.gate" in one.summary for one in whole.of(ToolStarted)))
    claims = session.background.team.claims
    assert claims is not None
    claims.switch(on=True, why="the work is on the board")
    await whole.until("the end of both tasks", lambda: len(whole.of(ClaimEnded)) == 2)
    whole.clock.forward(HALF_AN_HOUR_S)
    await whole.until("the clock", lambda: bool(whole.of(JobFired)))
    whole.open_gate("bell")
    await whole.until("the bell", lambda: arrived(ArrivalKind.COMMAND_ENDED))
    whole.open_gate("count")
    await whole.until("the subagent", lambda: arrived(ArrivalKind.AGENT_ENDED))
    session.steer("Name the island, too.")
    await whole.show_status(session)
    whole.open_gate("go")


async def demo(session: DemoSession) -> None:
    """The small loop; a day with everything; the end in the middle of work; the next day with a small budget."""
    await by_hand(session)
    if find_spec("mcp") is None:
        raise LessonError("The steps from here on need the package mcp; run: pip install 'harness-agent[mcp]'")
    await make_repository(session)
    whole, prompts = Whole(session), session.prompts()
    async with whole.opened(max_budget_usd=BUDGET_USD) as first:
        await whole.join(first, "ann", "ben")
        async with asyncio.TaskGroup() as both:
            both.create_task(meanwhile(whole, first))
            await whole.turn(first.run(await anext(prompts)))
        first.faults.break_tool("mcp:tide die")
        await whole.settle(first)
        await whole.turn(first.run(await anext(prompts)))
        await whole.until("ben", lambda: any("never.gate" in one.doing for one in whole.of(AgentMoved)))
        await whole.show_status(first)
    whole.show_end(first)
    async with whole.opened(first.id, max_budget_usd=2 * BUDGET_USD) as second:
        await whole.show_status(second)
        await whole.turn(second.run(await anext(prompts)))
        await whole.settle(second)
    spent = second.conversation.spend.cost_usd
    async with whole.opened(first.id, max_budget_usd=spent + HARDLY_USD) as third:
        async for prompt in prompts:
            await whole.turn(third.run(prompt))
            await whole.settle(third)
