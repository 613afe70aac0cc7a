"""s16: requests by a small table; then those of a team: a plan, a question, and the ends of two members."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from runpy import run_path

from chapters.course import DemoSession
from chapters.s15_teams.team_run import TeamRun
from harness.engine.subagents.background_work import BackgroundWork
from harness.events import AgentMoved, Event, MailKind, MailSent, MemberChanged, MemberState, Notice, RequestChanged

QUESTION, END = (600, 300), (120, 60)
"""Seconds until the deadlines of a question and of an end, one after the other."""
PATIENCE_S = 15
"""After the last event, for what does not come because a learner has changed the chapter."""


def by_hand(session: DemoSession) -> None:
    """Use the table of workspace/protocol.py, and start it again after the answer."""
    make = run_path(str(session.workspace / "protocol.py"))["Requests"]

    def show(text: str) -> None:
        session.show(Notice("info", text))

    requests = make()
    id = requests.ask("ann", "lead", "Bread costs 4.")
    show(f"{id}: ann may write: {requests.may_write(id)}")
    show(f"ben agrees: {requests.say(id, 'agree', 'ben')}")
    show(f"the lead agrees: {requests.say(id, 'agree', 'lead')}; ann may write: {requests.may_write(id)}")
    show(f"the lead declines: {requests.say(id, 'decline', 'lead')}")
    again = make()
    other = again.ask("ann", "lead", "Bread costs 40.")
    show(f"after a restart the answer to {id} comes again: {again.say(id, 'agree', 'lead')}; {other} costs 40")


class Bakery(TeamRun):
    """A lead, ann and ben, and a clock."""

    def __init__(self, session: DemoSession) -> None:
        super().__init__(session)
        self._requests: set[str] = set()
        self.keys: list[str] = []
        """What requests led to: mail such as "r5 declined", returned mail, and members that have ended."""
        self.doing = ""
        """What a member began last."""

    def _record(self, event: Event) -> None:
        match event:
            case RequestChanged(id=id):
                self._requests.add(id)
            case MailSent(key=key) if key.partition(" ")[0] in self._requests:
                self.keys.append(key)
            case MailSent(kind=MailKind.RETURNED):
                self.keys.append("returned")
            case MemberChanged(state=MemberState.ENDED):
                self.keys.append(event.member.name)
            case AgentMoved(doing=doing):
                self.doing = doing
        super()._record(event)

    @property
    def _work(self) -> BackgroundWork:
        assert self.agent.parts.background is not None
        return self.agent.parts.background

    async def until(self, holds: Callable[[], bool]) -> None:
        """Wait for something that the members do."""
        self._work.inbox.notify(self._changed.set)
        with suppress(TimeoutError):
            while not holds():
                self._changed.clear()
                await asyncio.wait_for(self._changed.wait(), PATIENCE_S)

    async def settle(self) -> None:
        """As in s15, but mail for the lead waits until no member works, so that every run is the same."""
        await self.until(lambda: not self._work.subagents.running)
        while self._work.inbox.waking:
            await self.turn(self.agent.deliver())
            await self.until(lambda: not self._work.subagents.running)

    async def late(self, seconds: float) -> None:
        """Let a deadline pass, and wait for what follows from it."""
        before = len(self.keys)
        self._session.show(Notice("info", f"{seconds:.0f} s later"))
        self.clock.forward(seconds)
        await self.until(lambda: len(self.keys) > before)


async def demo(session: DemoSession) -> None:
    """Requests by hand; then a plan that is approved, a question without an answer, and the ends of two members."""
    by_hand(session)
    bakery, prompts = Bakery(session), session.prompts()
    async with bakery.agent as agent:
        await bakery.turn(agent.run(await anext(prompts)))  # the plan
        await bakery.settle()
        await bakery.turn(agent.run(await anext(prompts)))  # the question
        await bakery.settle()
        for seconds in QUESTION:
            await bakery.late(seconds)
            await bakery.settle()
        await bakery.turn(agent.run(await anext(prompts)))  # ann ends, ben bakes
        await bakery.until(lambda: "loaf" in bakery.doing)
        await bakery.turn(agent.run(await anext(prompts)))  # ben is asked to end, and declines
        (session.workspace / "loaf").touch()
        await bakery.until(lambda: "r5 declined" in bakery.keys and "bell" in bakery.doing)
        await bakery.turn(agent.deliver())  # it is asked again, and says nothing
        for seconds in END:
            await bakery.late(seconds)
        await bakery.until(lambda: bakery.keys.count("returned") == 2)  # both times that r6 was brought
        await bakery.settle()
        async for prompt in prompts:
            await bakery.turn(agent.run(prompt))
            await bakery.settle()
