"""The learner's requests decide about a plan, a question and an end, over a restart."""

from types import ModuleType
from typing import Any

from chapters.course import DemoSession
from harness.events import Notice
from harness.policies.protocols.requests import digest_of

FIRST, SECOND = "Bread costs 4.", "Bread costs 4, and rolls cost 2."


async def demo(session: DemoSession, work: ModuleType) -> None:
    """Each prompt plays all of it, with a new journal."""
    async for _ in session.prompts():
        journal: list[Any] = []
        requests = work.Requests(journal)

        def show(text: str) -> None:
            session.show(Notice("info", text))

        plan = requests.ask("plan", "ann", "lead", FIRST)
        requests.say(plan, "agree", "ben", digest_of(FIRST))
        show(f"ben agrees to {plan}; ann may write: {requests.may_write('ann')}")
        plan = requests.ask("plan", "ann", "lead", SECOND)
        requests.say(plan, "agree", "lead", digest_of(FIRST))
        show(f"the lead agrees to {plan} by the first text; ann may write: {requests.may_write('ann')}")
        requests.say(plan, "agree", "lead", digest_of(SECOND))
        requests = work.Requests(journal)
        requests.say(plan, "decline", "lead")
        show(f"the lead agrees, the program restarts, the lead declines; ann may write: {requests.may_write('ann')}")
        ids = [requests.ask("question", "ann", "ben", "Which flour?"), requests.ask("shutdown", "lead", "ben", "Home!")]
        for id in ids * 2:
            requests.say(id, "deadline", "program")
        requests.say(ids[0], "answer", "lead")
        show(" and ".join(f"{id} is {requests.known()[id].state}" for id in ids))
