"""What is known of the endpoints of models, from one turn to the next, and told whenever a breaker moves."""

from collections.abc import Iterator
from dataclasses import replace

from harness.engine.conversation import Conversation
from harness.engine.model.shared_endpoints import SharedEndpoints
from harness.events import BreakerChanged, BreakerState, ChangeReason
from harness.policies.breakers.breaker import HALF_OPEN, OPEN, Breaker
from harness.policies.recovery import TurnState
from harness.policies.recovery.endpoints import Endpoints


class KeptEndpoints:
    """The breakers of the models, and what one conversation was told of them.

    What other agents have found out is known here as well; a session that is resumed begins with closed ones.
    """

    def __init__(self, conversation: Conversation, shared: SharedEndpoints | None = None) -> None:
        self._conversation = conversation
        self._shared = shared or SharedEndpoints()
        self._base = self._told = self.now

    @property
    def now(self) -> Endpoints:
        """As they are."""
        return self._shared.now

    def begin(self) -> Endpoints:
        """As they are, for a state that begins with them."""
        self._base = self.now
        return self._base

    async def latest(self, state: TurnState, *, overloaded: bool = False) -> TurnState:
        """`state` with what others have found out meanwhile. To be asked for right before a decision; about an
        overload, other sessions are asked as well."""
        if overloaded:
            await self._shared.refresh()
        self._base = self.now
        return replace(state, endpoints=self._base)

    def keep(self, state: TurnState) -> None:
        """Remember what was decided about the breakers in `state`, and leave an event for each move since the last
        time. What others have moved meanwhile, and `state` has not, stays."""
        breakers = state.endpoints.breakers
        own = {model: breaker for model, breaker in breakers.items() if breaker != self._base.of(model)}
        self._base = state.endpoints
        if own:
            self._shared.put(own)
        before, self._told = self._told, self.now
        for model, breaker in self.now.breakers.items():
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
    """What happened in between. An attempt that is known as one by its outcome only makes two moves at once; what
    other agents saw meanwhile is told as one, and not at all where it stands as it stood."""
    if after.generation == before.generation and after.state is before.state:
        return  # others may have moved it as often to somewhere else
    since = before.state
    if after.generation - before.generation > 1 and since is OPEN and after.state is not HALF_OPEN:
        yield since, HALF_OPEN, ChangeReason.PROBE_GIVEN, after.generation - 1
        since = HALF_OPEN
    if since is not after.state:
        yield since, after.state, after.why, after.generation
