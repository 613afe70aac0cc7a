"""s24: one connection after another breaks, and no piece of an answer is lost, run or shown twice.

The loop is that of every chapter. New are only the limits of silence, which are short so that they can be watched.
"""

from harness.lessons import DemoSession
from harness.settings import Settings

QUIET_S = 1.0
"""Silence in the middle of a block that is taken for a dead connection; 45 seconds by default."""
KEEP_ALIVES_S = 1.6
"""The same where only keep-alives arrive; 300 seconds by default."""
HINT_S = 0.5
"""Silence after which the user is told; 20 seconds by default."""


def impatient(session: DemoSession) -> Settings:
    """The settings of the chapter: everything else is as usual."""
    return session.settings(
        watch_content_bytes_s=QUIET_S,
        watch_content_event_s=KEEP_ALIVES_S,
        watch_quiet_event_s=KEEP_ALIVES_S,
        watch_hint_s=HINT_S,
    )


async def demo(session: DemoSession) -> None:
    """Shows every event, and the hints about silence, which are not kept in the journal."""
    async with session.agent(impatient(session)) as agent:
        async for prompt in session.prompts():
            async for event in agent.run(prompt):
                session.show(event)
