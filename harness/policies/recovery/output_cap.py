"""How many output tokens a request asks for (recovery group D, §8).

Thinking is part of the output, so the cap has to fit both. A model that thinks is asked for all it can give from the
first request on: a cap is neither in the key of the prompt cache nor in the rate limit. One that does not think begins
at 8,000, and a cut reply raises that for the rest of the session.
"""

from dataclasses import replace

from harness.policies.recovery.state import RecoveryLimits, Situation, TurnState

MARGIN = 1_000
"""Tokens kept free between prompt, answer and window, because the prompt's size is an estimate."""
LOWERINGS = 2
"""A cap can pass two limits, the model's maximum and what the window leaves; the request is not mended a third time."""
FLOOR = 3_000
"""Below this an answer is not worth asking for; the history is shortened instead (recovery D5)."""
SUMMARY_CAP = 16_000
"""Output tokens that a summary of the conversation is asked for at first, also where the user wants shorter replies."""


def cap_for(state: TurnState, limits: RecoveryLimits, situation: Situation) -> int:
    """The output cap of the next request, in tokens.

    The wanted cap, clamped to the model's maximum and to what is left of the window, but never below 1.
    """
    wanted = state.lowered_cap or wanted_cap(state, limits, situation)
    return max(1, min(wanted, situation.max_output, max(room(situation), FLOOR)))


def wanted_cap(state: TurnState, limits: RecoveryLimits, situation: Situation) -> int:
    """The cap that would be asked for if the window left room: the user's own, else the maximum of a model that thinks,
    else what it was raised to, else the default."""
    if limits.user_cap is not None:
        return limits.user_cap
    if situation.thinks:
        return situation.max_output
    return state.raises.get(state.model, limits.default_cap)


def full_window(state: TurnState, limits: RecoveryLimits, situation: Situation) -> bool:
    """The window, and neither the wanted cap nor the model's maximum, sets the cap."""
    wanted = min(wanted_cap(state, limits, situation), situation.max_output)
    return cap_for(replace(state, lowered_cap=None), limits, situation) < wanted


def room(situation: Situation) -> int:
    """Tokens of the window that the prompt leaves free, less the margin."""
    return situation.window - situation.prompt_tokens - MARGIN


def raised(state: TurnState, limits: RecoveryLimits, situation: Situation, *, to_maximum: bool = False) -> int | None:
    """The larger cap to ask for after a cut reply, or None when there is none.

    None when the user set the cap, when the server refused a larger one, or when the model's maximum or the window
    leaves no more room: the same cap is never asked for twice for the same history.

    Args:
        to_maximum: nothing of the reply could be kept, so that a part of what the model can give may not be enough.
    """
    if limits.user_cap is not None or state.lowered_cap is not None:
        return None
    larger = situation.max_output if to_maximum else min(limits.raised_cap, situation.max_output)
    current = cap_for(state, limits, situation)
    return larger if cap_for(state.raised_to(larger), limits, situation) > current else None


def summary_limits(limits: RecoveryLimits) -> RecoveryLimits:
    """The limits of a request for a summary, which follows the same rules from a larger cap on."""
    if limits.user_cap is not None:
        return replace(limits, user_cap=max(SUMMARY_CAP, limits.user_cap))
    return replace(limits, default_cap=max(SUMMARY_CAP, limits.default_cap))


def summary_cap(state: TurnState, limits: RecoveryLimits, situation: Situation) -> int:
    """The output cap of the next request for a summary, in tokens."""
    return cap_for(replace(state, lowered_cap=None), summary_limits(limits), situation)


def lowered(current: int, input_tokens: int | None, limit: int | None) -> int | None:
    """The smaller cap that a 400 about max_tokens leaves room for, or None when shrinking cannot help.

    Args:
        current: the cap that was refused.
        input_tokens: the prompt's size where the error names it ("188059 + 20000 > 200000"), else None.
        limit: the window in that form, or the model's own maximum ("128001 > 128000").
    """
    if limit is None:
        return None
    smaller = limit if input_tokens is None else limit - input_tokens - MARGIN
    return smaller if (FLOOR if input_tokens is not None else 1) <= smaller < current else None
