"""The state of a turn, the facts that a decision needs from outside, and the breakers of model endpoints.

Overloads open the breaker of an endpoint (docs/design/recovery.md#endpoint-breakers). An open breaker does not hold
requests back: a turn begins with its first model, and without a fallback overloads are retried to the end. It decides
when to switch to the next model.

    first request of a turn to a model whose breaker is open                  the half-open attempt
    a request while it is open and its pause is over                          the same, once the outcome is known
    a reply while it is open                                                  the same, and it closes the breaker
    an overload while it is open, before that                                 is counted, and changes nothing
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import inf
from types import MappingProxyType

from harness.events import Effort
from harness.policies.breakers.breaker import CLOSED, HALF_OPEN, OPEN, Breaker, BreakerLimits
from harness.policies.recovery.compaction import WHEN_FULL, CompactAt, CompactionHealth
from harness.policies.recovery.transitions import Remedy


@dataclass(frozen=True, slots=True)
class Endpoints:
    """The breakers of the models of a conversation, by model. They outlive turns. Moments are Unix time in seconds."""

    breakers: Mapping[str, Breaker] = field(default_factory=lambda: MappingProxyType({}))

    def of(self, model: str) -> Breaker:
        """The breaker of one model; closed for an unknown model."""
        return self.breakers.get(model, Breaker())

    def turned_to(self, model: str, now: float, limits: BreakerLimits) -> "Endpoints":
        """A turn begins with `model` or switches to it: its count starts at 0, and an open breaker gets its attempt,
        even before its pause is over."""
        breaker = self.of(model)
        if breaker.state is OPEN:
            return self._with(model, breaker.probing(now, limits))
        return self._with(model, replace(breaker, failures=0) if breaker.state is CLOSED else breaker)

    def overloaded(self, model: str, now: float, limits: BreakerLimits) -> "Endpoints":
        """A request to `model` failed with an overload."""
        breaker = self.of(model)
        if breaker.state is OPEN and not breaker.probe_due(now):
            return self._with(model, replace(breaker, failures=breaker.failures + 1))
        return self._with(model, _attempted(breaker, now, limits).failed(now, limits))

    def answered(self, model: str, now: float, limits: BreakerLimits) -> "Endpoints":
        """`model` replied. Nothing else closes a breaker."""
        return self._with(model, _attempted(self.of(model), now, limits).succeeded())

    def disturbed(self, model: str, now: float) -> "Endpoints":
        """A request to `model` failed in another way, which interrupts a row of overloads."""
        breaker = self.of(model)
        if breaker.state is HALF_OPEN:
            breaker = breaker.released(now)
        return self._with(model, replace(breaker, failures=0))

    def _with(self, model: str, breaker: Breaker) -> "Endpoints":
        return self if breaker == self.of(model) else Endpoints(MappingProxyType({**self.breakers, model: breaker}))


def _attempted(breaker: Breaker, now: float, limits: BreakerLimits) -> Breaker:
    """A request that went out although the breaker was open is its half-open attempt."""
    return breaker.probing(now, limits) if breaker.state is OPEN else breaker


@dataclass(frozen=True, slots=True)
class RecoveryLimits:
    """The numbers of the policy; most of them are settings."""

    retries_per_request: int = 10
    retries_per_turn: int = 30
    unreadable_answers: int = 3
    """Answers to one request that are not of the Messages API before the turn ends; such faults rarely pass."""
    unreachable_tries: int = 3
    """Tries at an address that has not answered yet and where no server is found: most likely it is misspelt."""
    waiting_per_turn_s: float = 300.0
    long_wait_s: float = 60.0
    """A longer wait is never slept silently."""
    max_wait_s: float = 0.0
    """Longest wait, in seconds, without a user to ask (--max-wait)."""
    interactive: bool = False
    """A user can be asked about a long wait."""
    overloads_before_switch: int = 3
    """Consecutive overloads that open the breaker of a model."""
    endpoint_pauses_s: tuple[float, ...] = (60.0, 120.0, 240.0, 300.0)
    """Pauses of that breaker: after its first opening, its second, …"""
    default_cap: int = 8_000
    """First output cap of a model that does not think."""
    raised_cap: int = 64_000
    user_cap: int | None = None
    """The user's output cap (--max-tokens); never raised."""
    continuations: int = 3
    diminishing_tokens: int = 500
    """Two consecutive nudges that gained fewer tokens end a token budget."""
    malformed_calls: int = 3
    """Consecutive replies with unreadable tool calls before the turn ends."""
    pauses: int = 5
    compaction: bool = True
    """False: histories are never shortened automatically (docs/design/recovery.md#compaction-off)."""
    compact_at: CompactAt = WHEN_FULL
    """Prompt size at which histories are shortened, if below the size that the window requires."""
    objections: int = 8
    """Objections of stop hooks that continue a turn."""
    token_budget: int | None = None
    """Output tokens that a turn should use; None: no target."""
    max_steps: int | None = None
    max_cost_usd: float | None = None

    @property
    def endpoint(self) -> BreakerLimits:
        """The numbers of an endpoint breaker, in seconds. No attempt is lost: each request has an outcome."""
        return BreakerLimits(self.overloads_before_switch, self.endpoint_pauses_s, lease=inf)


@dataclass(frozen=True, slots=True)
class TurnState:
    """The state of a turn. Immutable: a decision carries the next one."""

    model: str
    fallbacks: tuple[str, ...] = ()
    """Models not tried yet in this turn, in order."""
    endpoints: Endpoints = field(default_factory=Endpoints)
    """The breakers of all models; they outlive turns."""
    retries: int = 0
    """Retries of the current request; 0 again after a good reply."""
    turn_retries: int = 0
    unreadable: int = 0
    """Answers to the current request that are not of the Messages API."""
    waited_s: float = 0.0
    """Seconds waited for retries in this turn, without waits that a user agreed to."""
    raises: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    """Raised caps by model, in tokens. They outlive turns, because a cap that was needed once is needed again."""
    lowered_cap: int | None = None
    """Cap that replaces one that the server refused; dropped after a good reply."""
    cut_at: int = 0
    """Cap at which the reply to this history was cut; not requested again."""
    lowered: int = 0
    """Times that the cap of the current request was lowered: once for each limit that a cap can exceed."""
    continuations: int = 0
    """Consecutive requests to continue a reply that was cut or broke off."""
    broke_off: bool = False
    """The model was asked to continue after complete text of a broken stream, which may have been all of it."""
    said: bool = False
    """Text was kept since the last tool calls, so a reply without any means that nothing is to be added."""
    malformed: int = 0
    """Consecutive replies whose calls could not be run."""
    pauses: int = 0
    drained: bool = False
    """Old tool results were shortened for the current overflow; the next one compacts."""
    compacted: bool = False
    """The reactive compaction is spent (docs/design/recovery.md#reactive-compaction)."""
    cuts: int = 0
    """Cuts since then, because the history was still too long."""
    overflows: CompactionHealth = field(default_factory=CompactionHealth)
    """Reactive compactions of the turn, counted in tool steps, so that progress cannot hide a cycle."""
    effort: Effort | None = None
    """Effort that the user set for the turn; None: the model's own."""
    tried: frozenset[Remedy] = frozenset()
    """Remedies that were used in this turn, of those that are tried once."""
    output_tokens: int = 0
    """Output tokens of the turn's complete replies, including cut ones that were kept."""
    nudged_at: tuple[int, ...] = ()
    """`output_tokens` at each token budget nudge."""
    steps: int = 0
    """Tool steps finished in this turn."""
    steps_before: int = 0
    """Those of them that were finished when the user last added a text; `max_steps` counts from there."""
    objections: int = 0
    """Objections of stop hooks in this turn. Never reset: only an end without objection shows that the hook is
    satisfied."""

    attended: bool = True
    """A user can type commands; otherwise advice names none."""

    @property
    def low_effort(self) -> bool:
        """Use the lowest effort for the rest of the turn, if the model has one."""
        return self.effort is Effort.LOW or Remedy.LOWER_EFFORT in self.tried

    def raised_to(self, cap: int) -> "TurnState":
        """The state with `cap` as the output cap of the current model, until the session ends."""
        return replace(self, raises=MappingProxyType({**self.raises, self.model: cap}))

    @property
    def endpoint(self) -> Breaker:
        """The breaker of the current model."""
        return self.endpoints.of(self.model)

    def on_next_model(self, now: float, limits: RecoveryLimits) -> "TurnState":
        """Continue with the first fallback. Raises ValueError if there is none."""
        to_model, *rest = self.fallbacks
        endpoints = self.endpoints.turned_to(to_model, now, limits.endpoint)
        return replace(self, model=to_model, fallbacks=tuple(rest), endpoints=endpoints)

    @property
    def nudge_gains(self) -> tuple[int, ...]:
        """Output tokens that each nudge gained, up to the next one or until now."""
        return tuple(after - before for before, after in pairwise((*self.nudged_at, self.output_tokens)))

    def after_reply(self, output_tokens: int) -> "TurnState":
        """A reply came back, whole or cut: the next request has retries of its own."""
        return replace(
            self,
            retries=0,
            unreadable=0,
            cut_at=0,
            lowered=0,
            broke_off=False,
            drained=False,
            output_tokens=self.output_tokens + output_tokens,
        )

    def after_good_reply(self, output_tokens: int) -> "TurnState":
        """A whole reply came back: a lowered cap is dropped, and continuations are counted from 0."""
        return replace(self.after_reply(output_tokens), lowered_cap=None, continuations=0)

    def steered(self) -> "TurnState":
        """The user added a text: no step and no empty reply after it is counted yet."""
        return replace(self, said=False, steps_before=self.steps, tried=self.tried - {Remedy.ASK_AGAIN})

    def trying(self, remedy: Remedy) -> "TurnState":
        """The state after `remedy` was used."""
        return replace(self, tried=self.tried | {remedy})


@dataclass(frozen=True, slots=True)
class Situation:
    """Facts at the moment of a decision. Token counts are estimates unless stated otherwise."""

    chance: float
    """A uniform random number in [0, 1)."""
    now: float
    """Unix time in seconds; used for the pauses of endpoint breakers only."""
    window: int
    """Context window of the current model, in tokens."""
    max_output: int
    """Largest output of the current model, in tokens."""
    prompt_tokens: int
    """Size of the prompt of the last or the next request."""
    thinks: bool = False
    """The current model thinks by default, and thinking counts as output."""
    takes_effort: bool = False
    """The current model accepts a lower effort than its own."""
    drainable_tokens: int = 0
    """Tokens that shortening old tool results would save. Counted only if a prompt is nearly full, or was refused."""
    cost_usd: float = 0.0
    """Cost of the session."""
    reached: bool = True
    """The server has answered a request since the program started, with whatever."""
    shared_retries: float = inf
    """Retries left in the budget that all agents share; infinite for a single agent."""
    largest: str = ""
    """The largest message of the history, described."""
    system_tokens: int = 0
    """Tokens of the system prompt. This and the rest are counted only when `drainable_tokens` is."""
    tool_tokens: int = 0
    """Tokens of the tool definitions."""
    answered: bool = True
    """The model has answered in this history, so system prompt and tools fit its window."""

    @property
    def fixed_tokens(self) -> int:
        """Tokens of the prompt that no shortening of the history removes."""
        return self.system_tokens + self.tool_tokens
