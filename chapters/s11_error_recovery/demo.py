"""s11: a model that fails in seven ways, and an agent that answers all the same.

The loop is the one of every other chapter. New are two settings and a diary that counts what each turn survived.
"""

from dataclasses import dataclass, field

from chapters.course import DemoSession
from harness.events import (
    CompactionEnded,
    Event,
    ModelSwitched,
    Notice,
    PartialDiscarded,
    RetryScheduled,
    Transition,
    TransitionCode,
    TurnEnded,
)
from harness.settings import Settings

FALLBACK = "claude-haiku-4-5"
"""Asked when the first model is overloaded."""
PATIENCE_S = 4.0
"""Silence that is taken for a dead connection. Much shorter than usual, so that /fault stall can be watched."""


@dataclass
class Diary:
    """What a turn has survived: a fold over its events, as every view of harness is one."""

    waited_s: float = 0.0
    survived: list[str] = field(default_factory=list)

    def see(self, event: Event) -> None:
        """Take in the next event."""
        match event:
            case RetryScheduled(category=kind, delay_s=seconds):
                self.waited_s += seconds
                self.survived.append(kind.replace("_", " "))
            case PartialDiscarded(characters=count) if count:
                self.survived.append(f"{count} characters taken back")
            case Transition(code=TransitionCode.MAX_OUTPUT_TOKENS_ESCALATE | TransitionCode.MAX_OUTPUT_TOKENS_RECOVERY):
                self.survived.append("a cut reply")
            case CompactionEnded(succeeded=True):
                self.survived.append("a prompt that was too long")
            case ModelSwitched(to_model=model) if model == FALLBACK:
                self.survived.append(f"a switch to {model}")

    def summary(self) -> Notice:
        """One line for the user."""
        survived = ", ".join(self.survived) or "nothing"
        return Notice("info", f"diary: survived {survived}; waited {self.waited_s:.1f} s")


def resilient(session: DemoSession) -> Settings:
    """All retries, caps and compactions are on by default. Only the user can know which other model may answer."""
    silences = ("headers", "quiet_bytes", "quiet_event", "content_bytes", "content_event")
    patience = {f"watch_{silence}_s": PATIENCE_S for silence in silences}
    return session.settings(fallback_models=(FALLBACK,), watch_hint_s=PATIENCE_S / 4, **patience)


async def demo(session: DemoSession) -> None:
    """The script breaks every turn in another way. Nothing here catches an exception, because none is raised."""
    async with session.agent(resilient(session)) as agent:
        async for prompt in session.prompts():
            diary = Diary()
            async for event in agent.run(prompt):
                if isinstance(event, TurnEnded):
                    session.show(diary.summary())
                diary.see(event)
                session.show(event)
