"""What one turn gathers on its way: the answer's text, and the reckoning at its end."""

from dataclasses import dataclass

from harness.engine.conversation import Conversation
from harness.events import Block, Fault, SpendChanged, TurnEnded
from harness.events.messages import paragraphs
from harness.model.server_tools import cited
from harness.policies.recovery import Stop, TurnState, Wait


@dataclass(slots=True)
class Turn:
    """A turn under way."""

    number: int
    state: TurnState
    began: float
    """Unix time in seconds."""
    spend_before: SpendChanged
    step_before: int
    answer: str = ""
    """Text since the last tool round; what a person takes for the answer when the turn ends."""
    said: tuple[Block, ...] = ()
    """The blocks that this text stands in."""
    fault: Fault | None = None
    """What the last model call came back with, if it failed."""
    wait: Wait | None = None
    """To be waited before the next request."""
    fresh_connection: bool = False
    """The next request goes over a new connection."""

    def say(self, content: tuple[Block, ...]) -> None:
        """The answer goes on with these blocks, which hold nothing of it once more."""
        self.said += content
        self.answer = paragraphs(self.said)

    def begin_paragraph(self) -> None:
        """What is said from here on stands apart from what was said so far."""
        if self.answer:
            self.say(({"type": "text", "text": "\n\n"},))

    def begin_answer(self) -> None:
        """The tools have run: what is said from here on is the answer."""
        self.answer, self.said = "", ()

    def ended(self, stop: Stop, conversation: Conversation, now: float) -> TurnEnded:
        """The last event of the turn."""
        spend, before = conversation.spend, self.spend_before
        history = (block for message in conversation.messages for block in message.content)
        return TurnEnded(
            turn=self.number,
            code=stop.code,
            reason=stop.reason,
            answer=self.answer,
            usage=spend.usage - before.usage,
            cost_usd=spend.cost_usd - before.cost_usd,
            steps=conversation.step - self.step_before,
            requests=spend.requests - before.requests,
            duration_s=now - self.began,
            unpriced=spend.unpriced - before.unpriced,
            sources=cited(self.said, history),
        )
