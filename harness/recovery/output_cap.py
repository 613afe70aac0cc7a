"""How many output tokens a request asks for (recovery group D, §8)."""

from harness.recovery.state import RecoveryLimits, Situation, TurnState

MARGIN = 1_000
"""Tokens kept free between prompt, answer and window, because the prompt's size is an estimate."""
LOWERINGS = 2
"""A cap can pass two limits, the model's maximum and what the window leaves; the request is not mended a third time."""
FLOOR = 3_000
"""Below this an answer is not worth asking for; the history is shortened instead (recovery D5)."""


def cap_for(state: TurnState, limits: RecoveryLimits, situation: Situation) -> int:
    """The output cap of the next request, in tokens.

    The user's own cap or the default, or the raised one; clamped to the model's maximum and to what
    is left of the window, but never below 1.
    """
    wanted = state.raised_cap or limits.user_cap or limits.default_cap
    return max(1, min(wanted, situation.max_output, max(room(situation), FLOOR)))


def room(situation: Situation) -> int:
    """Tokens of the window that the prompt leaves free, less the margin."""
    return situation.window - situation.prompt_tokens - MARGIN


def raised(state: TurnState, limits: RecoveryLimits, situation: Situation) -> int | None:
    """The one larger cap to ask for after a cut reply, or None when there is none.

    None when the user set the cap, when it was raised before in this turn, or when the model's maximum
    or the window leaves no more room: the same cap is never asked twice for the same history.
    """
    if limits.user_cap is not None or state.escalated:
        return None
    larger = min(limits.raised_cap, situation.max_output, room(situation))
    return larger if larger > cap_for(state, limits, situation) else None


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
