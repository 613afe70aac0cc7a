"""What the policy remembers of a turn, and the facts it is given from outside."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from itertools import pairwise
from math import inf
from types import MappingProxyType

from harness.events import Effort
from harness.policies.breakers.breaker import Breaker, BreakerLimits
from harness.policies.recovery.compaction import WHEN_FULL, CompactAt, CompactionHealth
from harness.policies.recovery.endpoints import Endpoints


class OneOff(StrEnum):
    """Remedies that are tried once in a turn and never again."""

    REPAIR = "repair"
    STRIP_THINKING = "strip_thinking"
    STRIP_MEDIA = "strip_media"
    DROP_CACHE_MARKS = "drop_cache_marks"
    DROP_REPLY_SETTINGS = "drop_reply_settings"
    DROP_SERVER_TOOLS = "drop_server_tools"
    DROP_FORMAT = "drop_format"
    DROP_DIAGNOSTICS = "drop_diagnostics"
    RELOAD_KEY = "reload_key"
    EMPTY_REPLY = "empty_reply"
    LOWER_EFFORT = "lower_effort"
    REFUSAL = "refusal"
    UNKNOWN_FAULT = "unknown_fault"


@dataclass(frozen=True, slots=True)
class RecoveryLimits:
    """The numbers of the policy that can differ; the defaults are those of recovery §8. Most of them are settings."""

    retries_per_request: int = 10
    retries_per_turn: int = 30
    unreadable_answers: int = 3
    """Answers to one request that are not what the Messages API sends before the turn ends: they rarely pass."""
    waiting_per_turn_s: float = 300.0
    long_wait_s: float = 60.0
    """A wait longer than this is never slept silently."""
    max_wait_s: float = 0.0
    """Without a person to ask, waits up to this many seconds are slept all the same (--max-wait)."""
    interactive: bool = False
    """A person can be asked about a long wait."""
    overloads_before_switch: int = 3
    """Overloads in a row that open the breaker of a model."""
    endpoint_pauses_s: tuple[float, ...] = (60.0, 120.0, 240.0, 300.0)
    """From an opening of that breaker to the attempt that may close it: after the first one, the second, …"""
    default_cap: int = 8_000
    """Output tokens that a model which does not think is asked for at first."""
    raised_cap: int = 64_000
    user_cap: int | None = None
    """The user's own output cap (--max-tokens); it is never raised."""
    continuations: int = 3
    diminishing_tokens: int = 500
    """Two nudges in a row that brought fewer tokens than this end a token budget (recovery H2)."""
    malformed_calls: int = 3
    """Replies in a row whose tool calls cannot be read before the turn ends."""
    pauses: int = 5
    compaction: bool = True
    """False: histories are never shortened on their own, also not on a hard overflow (recovery E11)."""
    compact_at: CompactAt = WHEN_FULL
    """The size of a prompt from which on histories are shortened, where that is less than the window needs."""
    objections: int = 8
    """Times in a row that stop hooks may send the model back to work (recovery H1)."""
    token_budget: int | None = None
    """Output tokens a turn should use before it may end; None: no target (recovery H2)."""
    max_steps: int | None = None
    max_cost_usd: float | None = None

    @property
    def endpoint(self) -> BreakerLimits:
        """The numbers of the breaker of a model, in seconds. No attempt is ever lost: each request has an outcome."""
        return BreakerLimits(self.overloads_before_switch, self.endpoint_pauses_s, lease=inf)


@dataclass(frozen=True, slots=True)
class TurnState:
    """Where a turn stands. Frozen: a decision carries the state that follows it."""

    model: str
    fallbacks: tuple[str, ...] = ()
    """Models not tried yet in this turn, in order."""
    endpoints: Endpoints = field(default_factory=Endpoints)
    """The breakers of all models, as earlier turns left them and this one goes on with them."""
    retries: int = 0
    """Retries of the current request. Counted again from 0 after a good reply."""
    turn_retries: int = 0
    unreadable: int = 0
    """Answers to the current request that were not what the Messages API sends."""
    waited_s: float = 0.0
    """Seconds slept for retries in this turn; waits a person agreed to are not counted."""
    raises: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    """Caps that were raised after a cut reply, in tokens, by model. They outlive turns: what was needed once is asked
    for in the rest of the session."""
    lowered_cap: int | None = None
    """Cap asked for instead, because the server refused more; dropped after a good reply."""
    cut_at: int = 0
    """Cap at which the reply to this very history was cut; no more than that is not asked for again (api R19)."""
    lowered: int = 0
    """Times the cap of the current request was lowered: once for each limit that a cap can pass (api R24)."""
    continuations: int = 0
    """Times in a row that the model was asked to go on with a reply that was cut or broke off."""
    broke_off: bool = False
    """The model was asked to go on behind complete text of a broken stream; perhaps there was no more of it."""
    said: bool = False
    """Text was kept since the last tool calls, so that a reply without any only means that nothing is to be added."""
    malformed: int = 0
    """Replies in a row with calls of which none could be run."""
    pauses: int = 0
    drained: bool = False
    """Old tool results were shortened for the current overflow; the next one compacts."""
    compacted: bool = False
    """The one reactive compaction is spent, until a tool round or a nudge makes progress (recovery E2)."""
    overflows: CompactionHealth = field(default_factory=CompactionHealth)
    """Reactive compactions of the turn, counted in tool rounds, so that progress cannot hide a vicious circle (E5)."""
    effort: Effort | None = None
    """What the user wants the model to put into its replies, for the whole turn; None: what is its own."""
    tried: frozenset[OneOff] = frozenset()
    output_tokens: int = 0
    """Output tokens of the turn's whole replies, cut ones that were kept among them."""
    nudged_at: tuple[int, ...] = ()
    """`output_tokens` at each nudge to use more of the token budget."""
    steps: int = 0
    """Tool rounds finished in this turn."""
    objections: int = 0
    """Times in this turn that a stop hook objected to its end. Never counted anew: what the model does in between
    may be anything, and only an end without objection shows that the hook is content."""

    attended: bool = True
    """A user is there who can type commands; otherwise advice names none."""

    @property
    def low_effort(self) -> bool:
        """The rest of the turn asks for the lowest effort, where the model takes one."""
        return self.effort is Effort.LOW or OneOff.LOWER_EFFORT in self.tried

    def raised_to(self, cap: int) -> "TurnState":
        """The state in which the current model is asked for up to `cap` tokens, to the end of the session."""
        return replace(self, raises=MappingProxyType({**self.raises, self.model: cap}))

    @property
    def endpoint(self) -> Breaker:
        """The breaker of the current model."""
        return self.endpoints.of(self.model)

    def on_next_model(self, now: float, limits: RecoveryLimits) -> "TurnState":
        """The turn goes on with the first of the fallbacks. Raises ValueError when there is none."""
        to_model, *rest = self.fallbacks
        endpoints = self.endpoints.turned_to(to_model, now, limits.endpoint)
        return replace(self, model=to_model, fallbacks=tuple(rest), endpoints=endpoints)

    @property
    def nudge_gains(self) -> tuple[int, ...]:
        """Output tokens that each nudge brought, up to the next one or to now."""
        return tuple(after - before for before, after in pairwise((*self.nudged_at, self.output_tokens)))

    def after_reply(self, output_tokens: int) -> "TurnState":
        """A reply came back, whole or cut: the next request is another one, with retries of its own."""
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
        """A reply came back whole: a lowered cap is dropped as well, and continuations count anew (recovery §8)."""
        return replace(self.after_reply(output_tokens), lowered_cap=None, continuations=0)

    def trying(self, remedy: OneOff) -> "TurnState":
        """The state in which `remedy` is spent."""
        return replace(self, tried=self.tried | {remedy})


@dataclass(frozen=True, slots=True)
class Situation:
    """Facts about the moment of a decision. Token counts are our estimates unless said otherwise."""

    chance: float
    """A uniform random number in [0, 1)."""
    now: float
    """Unix time in seconds. Only the pauses of the breakers of models go by it."""
    window: int
    """Context window of the current model, in tokens."""
    max_output: int
    """The most the current model can answer, in tokens."""
    prompt_tokens: int
    """Size of the prompt that was, or is to be, sent."""
    thinks: bool = False
    """The current model thinks unless told otherwise, and thinking counts as output."""
    takes_effort: bool = False
    """The current model takes the lowest effort, which is not its own."""
    drainable_tokens: int = 0
    """What shortening old tool results would save at once. Only counted if a prompt is nearly full, or was refused."""
    cost_usd: float = 0.0
    """What the session has cost."""
    shared_retries: float = inf
    """Retries left in the budget that all agents of the program share; infinite while one works alone."""
    largest: str = ""
    """The largest message of the history, in words."""
    system_tokens: int = 0
    """Of the prompt, what the system prompt takes. This and what follows is only counted as `drainable_tokens` is."""
    tool_tokens: int = 0
    """Of the prompt, what the tools take."""
    answered: bool = True
    """The model has answered in this history, so that system prompt and tools fit its window."""

    @property
    def fixed_tokens(self) -> int:
        """What no shortening of the history takes from the prompt."""
        return self.system_tokens + self.tool_tokens
