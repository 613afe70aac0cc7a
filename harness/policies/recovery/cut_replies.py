"""Replies that were cut at their output cap: the cap of a request, a larger one, and the rest of the answer.

Thinking is part of the output. A model that thinks is asked for its maximum from the first request on: a cap is neither
in the key of the prompt cache nor in the rate limit. One that does not think starts at 8,000, and a cut reply raises
that for the rest of the session (docs/design/recovery.md#output-cap). Where no larger cap is possible the rest of the
answer is asked for; `joined_answers` joins the pieces.
"""

from dataclasses import replace

from harness.events import Reply, TransitionCode
from harness.events.messages import without_unanswered
from harness.policies.recovery.decisions import Continue, Decision, Nudge, Resend, RunTools, Stop, speakable
from harness.policies.recovery.messages import continuations, no_room_to_answer
from harness.policies.recovery.state import RecoveryLimits, Situation, TurnState
from harness.policies.recovery.transitions import Remedy

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


def decide_cut(state: TurnState, reply: Reply, limits: RecoveryLimits, situation: Situation) -> Decision:
    """The decision about a reply that was cut at its cap: the same request with a larger cap or less effort, else the
    rest of the answer, else the end of the turn."""
    if again := larger_or_easier(state, reply, limits, situation):
        return again
    if not leaves_something(reply):
        return nothing_left(state, reply, limits, situation)
    return _continued(state.after_reply(reply.usage.output), reply, limits)


def larger_or_easier(state: TurnState, reply: Reply, limits: RecoveryLimits, situation: Situation) -> Resend | None:
    """The same request with a larger cap or, if nothing of the reply is left, with less effort; None: neither is
    possible. Effort is lowered once in a turn, because the prompt cache and earlier thinking are lost with it."""
    cap, nothing = cap_for(state, limits, situation), not leaves_something(reply)
    cut = replace(state, cut_at=cap, retries=0)
    was = f"the answer was cut at {cap:,} tokens" + " before any text" * nothing
    if larger := raised(state, limits, situation, to_maximum=nothing):
        asked = cut.raised_to(larger)
        reason = f"{was}; asking for {cap_for(asked, limits, situation):,}"
        return Resend(asked, reason, code=TransitionCode.MAX_OUTPUT_TOKENS_ESCALATE)
    if nothing and situation.takes_effort and not state.low_effort:
        reason = f"{was}; asking for less thinking (effort low)"
        return Resend(cut.trying(Remedy.LOWER_EFFORT), reason, code=TransitionCode.MAX_OUTPUT_TOKENS_EFFORT)
    return None


def nothing_left(state: TurnState, reply: Reply, limits: RecoveryLimits, situation: Situation) -> Stop:
    """The end of a turn whose last reply was cut before any text, with no larger cap and no lower effort available."""
    cap = cap_for(state, limits, situation)
    reason = no_room_to_answer(
        cap,
        low_effort=state.low_effort and situation.takes_effort,
        user_cap=limits.user_cap is not None,
        full_window=full_window(state, limits, situation),
        attended=state.attended,
    )
    return Stop(state.after_reply(reply.usage.output), reason, TransitionCode.MAX_OUTPUT_TOKENS_EXHAUSTED)


def _continued(state: TurnState, reply: Reply, limits: RecoveryLimits) -> Decision:
    """A cut reply that can be continued: run its calls, or ask for the rest, up to the limit of continuations."""
    if state.continuations >= limits.continuations:
        reason = (
            f"the answer was still cut after {continuations(limits.continuations)}; "
            "the text so far is kept: ask for the rest in smaller parts"
        )
        return Stop(state, reason, TransitionCode.BUDGET_EXHAUSTED, speakable(reply.content))
    again = replace(state, continuations=state.continuations + 1)
    reason = f"the answer was cut; continuation {again.continuations} of {limits.continuations}"
    code = TransitionCode.MAX_OUTPUT_TOKENS_RECOVERY
    if reply.calls or reply.cut_calls:
        return RunTools(again, reason, reply.content, reply.calls, reply.cut_calls, code=code)
    return Continue(again, reason, without_unanswered(reply.content), Nudge.CUT_AT_CAP, code=code)


def leaves_something(reply: Reply) -> bool:
    """Whether a cut reply can be continued: it has text, a tool call, or a block of a server tool.

    A thinking block that was cut has no signature and is not in the reply; a complete one cannot end a message.
    """
    kept = any(str(block.get("text", "")).strip() or block.get("type") != "text" for block in speakable(reply.content))
    return kept or bool(reply.calls or reply.cut_calls)
