"""The learner's cron decides when an agent gets its prompt."""

# ruff: noqa: DTZ001 (the times of the exercise are local)

from datetime import datetime
from types import ModuleType

from chapters.course import DemoSession
from chapters.s14_schedule.demo import inbox_of
from harness.events import ArrivalKind, Notice
from harness.model.notices import scheduled_prompt

WHEN = "30 2 * * 1-5"
"""Half past two, from Monday to Friday."""
LOOKS = (
    datetime(2027, 3, 26, 9, 0),
    datetime(2027, 3, 27, 9, 0),
    datetime(2027, 3, 29, 2, 30),
    datetime(2027, 4, 2, 10, 0),
)
"""A Friday; the day after it; the night to Monday; and Friday, after four nights of sleep."""


async def demo(session: DemoSession, work: ModuleType) -> None:
    """Look at the clock four times, and have a turn for each fire."""
    async for prompt in session.prompts():
        async with session.agent(session.settings(permission_mode="yolo")) as agent:
            done_until = LOOKS[0]
            for now in LOOKS:
                session.show(Notice("info", f"It is {now:%A %Y-%m-%d %H:%M} now."))
                fire = work.due(WHEN, done_until, now)
                if fire is None:
                    continue
                done_until, missed = fire
                id = f"c1@{done_until:%Y-%m-%dT%H:%M}"
                text = scheduled_prompt(
                    prompt, fire=id, due=f"{done_until:%Y-%m-%d %H:%M}", now=f"{now:%H:%M}", missed=missed, last=False
                )
                inbox_of(agent).arrive(ArrivalKind.SCHEDULED, id, text)
                await session.watch(agent.deliver())
