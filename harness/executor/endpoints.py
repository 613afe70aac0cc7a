"""What is known of the endpoints of models, from one turn to the next, and told whenever a breaker moves."""

from collections.abc import Iterator

from harness.breakers.breaker import HALF_OPEN, Breaker
from harness.conversation import Conversation
from harness.events import BreakerChanged, BreakerState, ChangeReason
from harness.recovery import TurnState
from harness.recovery.endpoints import Endpoints


class KeptEndpoints:
    """The breakers of the models of one conversation; one that is resumed begins with closed ones."""

    def __init__(self, conversation: Conversation) -> None:
        self._conversation = conversation
        self.now = Endpoints()
        """As they were told last."""

    def keep(self, state: TurnState) -> None:
        """Remember the breakers of `state`, and leave an event for each move since the last time."""
        before, self.now = self.now, state.endpoints
        for model, breaker in state.endpoints.breakers.items():
            for since, after, why, generation in _moves(before.of(model), breaker):
                self._conversation.emit(
                    BreakerChanged(
                        f"model:{model}",
                        since,
                        after,
                        why,
                        breaker.failures,
                        generation,
                        self._conversation.step,
                        detail="overloaded" if why in OVERLOADED else "",
                    )
                )


OVERLOADED = frozenset({ChangeReason.THRESHOLD, ChangeReason.PROBE_FAILED})

Move = tuple[BreakerState, BreakerState, ChangeReason, int]
"""The states before and after, why, and the generation that it led to."""


def _moves(before: Breaker, after: Breaker) -> Iterator[Move]:
    """What happened in between. An attempt that is known as one by its outcome only makes two moves at once."""
    if after.generation == before.generation:
        return
    since = before.state
    if after.generation - before.generation > 1:
        yield since, HALF_OPEN, ChangeReason.PROBE_GIVEN, after.generation - 1
        since = HALF_OPEN
    yield since, after.state, after.why, after.generation
