"""s24: streams that break, stall and end early, and a client that keeps only complete blocks.

Reading a stream needs no code here. The demo sets short limits of silence and counts what the line has cost.
"""

from dataclasses import dataclass

from chapters.course import DemoSession
from harness.events import Event, FaultOccurred, Notice, PartialDiscarded, RequestSent, ToolStarted, TurnEnded

BYTES_S, EVENTS_S = 1.0, 1.5
"""Limits of silence inside a block: no byte at all, and nothing but pings. Both are short, so that you can watch."""
QUIET_S = 4.0
"""The same before the first byte and before the first block."""


@dataclass
class Ledger:
    """What a turn has cost on a bad line: a fold over its events."""

    requests: int = 0
    broken: int = 0
    discarded: int = 0
    run: int = 0

    def see(self, event: Event) -> None:
        """Take in the next event."""
        match event:
            case RequestSent():
                self.requests += 1
            case FaultOccurred():
                self.broken += 1
            case PartialDiscarded(characters=count):
                self.discarded += count
            case ToolStarted():
                self.run += 1

    def summary(self) -> Notice:
        """One line for the user."""
        return Notice(
            "info",
            f"this turn: requests {self.requests}, broken {self.broken}, "
            f"characters taken back {self.discarded}, tool calls run {self.run}",
        )


async def demo(session: DemoSession) -> None:
    """Each turn gets a ledger. Nothing here reads a byte or catches an exception."""
    settings = session.settings(
        watch_headers_s=QUIET_S,
        watch_quiet_bytes_s=QUIET_S,
        watch_quiet_event_s=QUIET_S,
        watch_content_bytes_s=BYTES_S,
        watch_content_event_s=EVENTS_S,
        watch_hint_s=BYTES_S / 2,
    )
    async with session.agent(settings) as agent:
        async for prompt in session.prompts():
            ledger = Ledger()
            async for event in agent.run(prompt):
                if isinstance(event, TurnEnded):
                    session.show(ledger.summary())
                ledger.see(event)
                session.show(event)
