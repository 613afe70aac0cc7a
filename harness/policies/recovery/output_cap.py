"""The number of output tokens that a request asks for (docs/design/recovery.md#output-cap).

Thinking is part of the output. A model that thinks is asked for its maximum from the first request on: a cap is neither
in the key of the prompt cache nor in the rate limit. One that does not think starts at 8,000, and a cut reply raises
that for the rest of the session.
"""

from dataclasses import replace

from harness.policies.recovery.state import RecoveryLimits, Situation, TurnState

MARGIN = 1_000
"""Tokens kept free between prompt, answer and window, because the size of the prompt is an estimate."""
LOWERINGS = 2
"""A cap can exceed two limits, the model's maximum and the window; the request is not repaired a third time."""
FLOOR = 3_000
"""Below this an answer is not worth asking for; the history is shortened instead
(docs/design/recovery.md#output-cap-too-large)."""
SUMMARY_CAP = 16_000
"""First output cap of a summary, also if the user wants shorter replies."""


def cap_for(state: TurnState, limits: RecoveryLimits, situation: Situation) -> int:
    """The output cap of the next request, in tokens: the wanted cap, at most the model's maximum and the room in the
    window, at least 1."""
    wanted = state.lowered_cap or wanted_cap(state, limits, situation)
    return max(1, min(wanted, situation.max_output, max(room(situation), FLOOR)))


def wanted_cap(state: TurnState, limits: RecoveryLimits, situation: Situation) -> int:
    """The cap if the window had room: the user's own, else the maximum of a model that thinks, else a raised one, else
    the default."""
    if limits.user_cap is not None:
        return limits.user_cap
    if situation.thinks:
        return situation.max_output
    return state.raises.get(state.model, limits.default_cap)


def full_window(state: TurnState, limits: RecoveryLimits, situation: Situation) -> bool:
    """Whether the window sets the cap, and not the wanted cap or the model's maximum."""
    wanted = min(wanted_cap(state, limits, situation), situation.max_output)
    return cap_for(replace(state, lowered_cap=None), limits, situation) < wanted


def room(situation: Situation) -> int:
    """Tokens that the prompt leaves free in the window, less the margin."""
    return situation.window - situation.prompt_tokens - MARGIN


def raised(state: TurnState, limits: RecoveryLimits, situation: Situation, *, to_maximum: bool = False) -> int | None:
    """The larger cap after a cut reply; None: there is none.

    None if the user set the cap, the server refused a larger one, or the model's maximum or the window leaves no more
    room: the same cap is never requested twice for the same history.

    Args:
        to_maximum: nothing of the reply could be kept, so ask for the maximum.
    """
    if limits.user_cap is not None or state.lowered_cap is not None:
        return None
    larger = situation.max_output if to_maximum else min(limits.raised_cap, situation.max_output)
    current = cap_for(state, limits, situation)
    return larger if cap_for(state.raised_to(larger), limits, situation) > current else None


def summary_limits(limits: RecoveryLimits) -> RecoveryLimits:
    """The limits of a request for a summary: the same rules with a larger first cap."""
    if limits.user_cap is not None:
        return replace(limits, user_cap=max(SUMMARY_CAP, limits.user_cap))
    return replace(limits, default_cap=max(SUMMARY_CAP, limits.default_cap))


def summary_cap(state: TurnState, limits: RecoveryLimits, situation: Situation) -> int:
    """The output cap of the next request for a summary, in tokens."""
    return cap_for(replace(state, lowered_cap=None), summary_limits(limits), situation)


def lowered(current: int, input_tokens: int | None, limit: int | None) -> int | None:
    """The smaller cap after a 400 about max_tokens; None: shrinking cannot help.

    Args:
        current: the cap that was refused.
        input_tokens: the size of the prompt, if the error names it ("188059 + 20000 > 200000").
        limit: the window in that form, or the model's maximum ("128001 > 128000").
    """
    if limit is None:
        return None
    smaller = limit if input_tokens is None else limit - input_tokens - MARGIN
    return smaller if (FLOOR if input_tokens is not None else 1) <= smaller < current else None
