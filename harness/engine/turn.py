"""The state of one turn."""

from dataclasses import dataclass

from harness.engine.conversation import Conversation
from harness.events import Block, Fault, SpendChanged, TurnEnded
from harness.events.messages import paragraphs
from harness.model.server_tools import cited
from harness.policies.recovery import RetryWait, Stop, TurnState


@dataclass(slots=True)
class Turn:
    """A turn under way."""

    number: int
    state: TurnState
    began: float
    """Seconds on a clock that pauses while a question waits for the user."""
    spend_before: SpendChanged
    step_before: int
    answer: str = ""
    """Text since the last tool results or text of the user: the answer when the turn ends."""
    content: tuple[Block, ...] = ()
    """The blocks with this text."""
    fault: Fault | None = None
    """Outcome of the last model call, if it failed."""
    wait: RetryWait | None = None
    """Due before the next request."""
    fresh_connection: bool = False
    """Send the next request over a new connection."""

    def add(self, content: tuple[Block, ...]) -> None:
        """Append blocks to the answer; they repeat nothing of it."""
        self.content += content
        self.answer = paragraphs(self.content)

    def begin_paragraph(self) -> None:
        """Separate what follows from the answer so far."""
        if self.answer:
            self.add(({"type": "text", "text": "\n\n"},))

    def begin_answer(self) -> None:
        """Tools have run, or the user has added something: what follows is the answer."""
        self.answer, self.content = "", ()

    def steered(self) -> None:
        """A text of the user has joined: what follows is the answer to it."""
        self.begin_answer()
        self.state = self.state.steered()

    def ended(self, stop: Stop, conversation: Conversation, now: float) -> TurnEnded:
        """The last event of the turn; `now` is on the clock of `began`."""
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
            sources=cited(self.content, history),
            denials=conversation.take_denials(),
        )
