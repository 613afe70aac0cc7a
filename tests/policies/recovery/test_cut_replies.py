"""Turns of small models, all of them: what each step needs, what the model gives, and how much of that is known.

The model of the test knows nothing of the policy. A step needs a number of tokens, nine tenths of them for thinking
where it thinks; a reply is cut where the cap of its request ends, and a thinking block that was cut leaves nothing.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from itertools import product

import pytest

from harness.events import Block, Fault, FaultKind, Message, Reply, ToolCall, TransitionCode, Usage
from harness.policies.recovery import (
    Continue,
    RecoveryLimits,
    Repair,
    Resend,
    RunTools,
    Situation,
    Stop,
    TurnState,
    decide,
)
from harness.policies.recovery.cut_replies import cap_for
from tests.policies.recovery.cases import text
from tests.whole import WHOLE

Code = TransitionCode
NEEDS = (500, 8_500, 10_000, 17_000, 70_000, 130_000, 200_000)
"""Output tokens of a step."""
SHORT, LONG = 2, 4 if WHOLE else 3
FIRST, RAISED = 8_000, 64_000
GRAIN = 100
"""Tokens of text for one character of it."""


@dataclass(frozen=True)
class Model:
    """A model, and what its card says."""

    gives: int
    """Output tokens at most."""
    said_to_give: int
    thinks: bool
    said_to_think: bool
    takes_effort: bool = False

    @property
    def most(self) -> int:
        """What can be had of it."""
        return min(self.gives, self.said_to_give)


MODELS = [
    Model(gives, said_to_give, thinks, said_to_think, takes_effort)
    for gives, said_to_give in [(128_000, 128_000), (128_000, 32_000), (16_000, 32_000), (4_000, 128_000)]
    for thinks, said_to_think in [(True, True), (True, False), (False, False)]
    for takes_effort in ([True, False] if thinks else [False])
]


@dataclass
class Played:
    """A turn that was played through."""

    model: Model
    needs: tuple[int, ...]
    user_cap: int | None
    requests: int = 0
    refused: int = 0
    wasted: int = 0
    """Output tokens that were paid for and discarded."""
    kept: str = ""
    end: Code | None = None
    reason: str = ""
    asked: list[int] = field(default_factory=list)

    @property
    def whole(self) -> str:
        """All that the model has to say."""
        return "".join(words(step, need, thinks=self.model.thinks) for step, need in enumerate(self.needs))

    def __str__(self) -> str:
        return f"{self.model} {self.needs} user_cap={self.user_cap}: asked {self.asked}, {self.end} ({self.reason})"


def words(step: int, need: int, *, thinks: bool) -> str:
    """The text of a step; no character of it comes twice in a turn."""
    tokens = need // 10 if thinks else need
    return "".join(chr(0x4E00 + step * 4_000 + place) for place in range(max(1, tokens // GRAIN)))


def reply(model: Model, step: int, need: int, said: int, cap: int, *, last: bool, low_effort: bool) -> Reply:
    """The outcome of a request with this cap, after so many characters of the step."""
    thinking = need * 9 // 10 if model.thinks else 0
    thinking = thinking // 4 if low_effort else thinking
    rest = words(step, need, thinks=model.thinks)[said:]
    fits = (cap - thinking) // GRAIN
    if len(rest) <= fits or thinking + len(rest) * GRAIN <= cap or (len(rest) == 1 and thinking < cap):
        content: tuple[Block, ...] = (text(rest),)
        call = ToolCall(f"call_{step}", "bash", {})
        if not last:
            content += ({"type": "tool_use", "id": call.id, "name": call.name, "input": {}},)
        usage = Usage(0, thinking + len(rest) * GRAIN)
        return Reply("m", "end_turn" if last else "tool_use", content, () if last else (call,), usage=usage)
    content = (text(rest[:fits]),) if fits > 0 else ()
    return Reply("m", "max_tokens", content, usage=Usage(0, cap))


def play(model: Model, needs: tuple[int, ...], user_cap: int | None = None) -> Played:
    """A turn of these steps."""
    played = Played(model, needs, user_cap)
    limits, state = RecoveryLimits(user_cap=user_cap), TurnState("m")
    situation = Situation(
        *(0.0, 0.0, 1_000_000, model.said_to_give, 10_000),
        thinks=model.said_to_think,
        takes_effort=model.takes_effort,
    )
    step = said = 0
    while played.end is None:
        cap = cap_for(state, limits, situation)
        played.asked.append(cap)
        played.requests += 1
        assert played.requests < 100, f"no end: {played}"
        if cap > model.gives:
            played.refused += 1
            refused = Fault(FaultKind.MAX_TOKENS_OVERFLOW, "max_tokens: too many", status=400, limit=model.gives)
            decision = decide(state, refused, limits, situation)
            assert isinstance(decision, Repair)
            state, situation = decision.state, replace(situation, max_output=model.gives)
            continue
        came = reply(*(model, step, needs[step], said, cap), last=step == len(needs) - 1, low_effort=state.low_effort)
        decision = decide(state, came, limits, situation)
        state, kept = decision.state, ""
        match decision:
            case RunTools(keep=keep):
                kept, step, said = text_of(keep), step + 1, 0
            case Continue(keep=keep):
                kept = text_of(keep)
                assert kept, f"continued after nothing: {played}"
                said += len(kept)
            case Stop(keep=keep, code=code):
                kept, played.end, played.reason = text_of(keep), code, decision.reason
            case Resend():
                assert decision.wait is None
            case _:
                raise AssertionError(f"not expected: {decision}")
        played.kept += kept
        played.wasted += 0 if kept else came.usage.output
    return played


def text_of(keep: tuple[Block, ...]) -> str:
    return Message("assistant", keep).text


def turns(*user_caps: int | None) -> Iterator[Played]:
    """Every turn of one to four steps, the longer ones of the needs that differ most."""
    for model, user_cap in product(MODELS, user_caps):
        for steps in range(1, SHORT + 1):
            for needs in product(NEEDS, repeat=steps):
                yield play(model, needs, user_cap)
        for steps in range(SHORT + 1, LONG + 1):
            for needs in product((500, 10_000, 70_000, 200_000), repeat=steps):
                yield play(model, needs, user_cap)


def no_text_is_lost_or_said_twice_and_a_turn_that_completes_has_said_all(played: Played) -> None:
    assert played.whole.startswith(played.kept), played
    assert (played.kept == played.whole) is (played.end is Code.COMPLETED), played
    assert played.end in (Code.COMPLETED, Code.BUDGET_EXHAUSTED, Code.MAX_OUTPUT_TOKENS_EXHAUSTED), played


def requests_and_wasted_tokens_have_a_bound(played: Played) -> None:
    model, steps = played.model, len(played.needs)
    raises = 0 if played.user_cap or model.said_to_think else 2
    assert played.requests <= steps * (1 + 3) + raises + 1 + 1, played
    assert played.refused <= 1, played
    most = min(model.most, played.user_cap or model.most)
    raised_from = FIRST + RAISED if raises else 0
    assert played.wasted <= min(raised_from, 2 * most) + 2 * most * model.thinks, played


def a_model_that_is_known_to_think_and_can_give_what_a_step_needs_wastes_nothing(played: Played) -> None:
    if played.model.said_to_think and max(played.needs) <= played.model.most:
        assert (played.end, played.wasted) == (Code.COMPLETED, 0), played
        assert played.requests - played.refused == len(played.needs), played


def a_model_that_does_not_think_is_asked_once_in_vain_however_many_steps_are_long(played: Played) -> None:
    if not played.model.thinks:
        assert played.wasted <= FIRST, played
        assert played.asked.count(FIRST) <= 1 + sum(need <= FIRST for need in played.needs), played


def a_step_ends_the_turn_exactly_when_the_model_cannot_give_what_it_needs(played: Played) -> None:
    if not played.model.thinks:
        most = min(played.model.most, played.user_cap or RAISED)
        fits = all(need <= 4 * most // GRAIN * GRAIN for need in played.needs)
        assert (played.end is Code.COMPLETED) is fits, played


def low_effort_is_what_completes_a_turn_that_thinks_beyond_the_maximum(played: Played) -> None:
    model = played.model
    if model.thinks and model.takes_effort and model.most >= 32_000 and max(played.needs) == 200_000:
        assert (played.end is Code.COMPLETED) is (model.most == 128_000), played


@pytest.mark.stories
def test_turns_of_small_models() -> None:
    """All in one walk, because playing them takes longer than looking at them."""
    for played in turns(None, 1_000, 20_000):
        no_text_is_lost_or_said_twice_and_a_turn_that_completes_has_said_all(played)
        requests_and_wasted_tokens_have_a_bound(played)
        if played.user_cap != 1_000:
            a_step_ends_the_turn_exactly_when_the_model_cannot_give_what_it_needs(played)
        if played.user_cap is None:
            a_model_that_is_known_to_think_and_can_give_what_a_step_needs_wastes_nothing(played)
            a_model_that_does_not_think_is_asked_once_in_vain_however_many_steps_are_long(played)
            low_effort_is_what_completes_a_turn_that_thinks_beyond_the_maximum(played)
