"""What to do with a complete reply, by its stop reason."""

from dataclasses import replace

from harness.events import Reply, TransitionCode
from harness.events.messages import without_unanswered
from harness.policies.recovery import output_cap
from harness.policies.recovery.decisions import Continue, Decision, Nudge, Resend, RunTools, Stop, speakable
from harness.policies.recovery.messages import continuations, no_room_to_answer
from harness.policies.recovery.state import OneTimeRemedy, RecoveryLimits, Situation, TurnState


def decide_reply(state: TurnState, reply: Reply, limits: RecoveryLimits, situation: Situation) -> Decision:
    """The decision about `reply`."""
    if reply.stop_reason == "max_tokens":
        if again := larger_or_easier(state, reply, limits, situation):
            return again
        if not leaves_something(reply):
            return nothing_left(state, reply, limits, situation)
        return _continue_cut(state.after_reply(reply.usage.output), reply, limits)
    good = state.after_good_reply(reply.usage.output)
    if reply.calls or reply.cut_calls:
        return _run_tools(good, reply, limits)
    if reply.stop_reason == "pause_turn":
        return _after_pause(good, reply, limits)
    if not reply.text.strip() and not state.said and OneTimeRemedy.EMPTY_REPLY not in state.tried:
        asked = good.trying(OneTimeRemedy.EMPTY_REPLY)
        reason = "the answer was empty; asking again"
        return Continue(asked, reason, (), Nudge.EMPTY_REPLY, code=TransitionCode.MAX_OUTPUT_TOKENS_RECOVERY)
    if _budget_left(good, limits):
        nudged = replace(good, nudged_at=(*good.nudged_at, good.output_tokens), compacted=False)
        reason = f"{good.output_tokens:,} of {limits.token_budget:,} tokens used; going on"
        return Continue(
            nudged, reason, reply.content, Nudge.TOKEN_BUDGET, code=TransitionCode.TOKEN_BUDGET_CONTINUATION
        )
    if not reply.text.strip() and not state.said:
        reason = "the answer was empty, also when asked again; try again, or use another model with --model"
        return Stop(good, reason, TransitionCode.EMPTY_ANSWER)
    reason = "answered" if reply.text.strip() else "the model had nothing to add"
    return Stop(good, reason, TransitionCode.COMPLETED, reply.content)


def _after_pause(good: TurnState, reply: Reply, limits: RecoveryLimits) -> Decision:
    """The server paused its own tools; send its reply back so that it continues."""
    if good.pauses >= limits.pauses:
        reason = (
            f"the server paused its tools {good.pauses + 1} times in this turn; what there is of the answer is kept: "
            "ask for less at once"
        )
        return Stop(good, reason, TransitionCode.BUDGET_EXHAUSTED, speakable(reply.content))
    again = replace(good, pauses=good.pauses + 1)
    reason = f"the server paused its tools; going on, {again.pauses} of {limits.pauses}"
    return Continue(again, reason, reply.content, Nudge.PAUSED, code=TransitionCode.NEXT_TURN)


def leaves_something(reply: Reply) -> bool:
    """Whether a cut reply can be continued: it has text, a tool call, or a block of a server tool.

    A thinking block that was cut has no signature and is not in the reply; a complete one cannot end a message.
    """
    kept = any(str(block.get("text", "")).strip() or block.get("type") != "text" for block in speakable(reply.content))
    return kept or bool(reply.calls or reply.cut_calls)


def larger_or_easier(state: TurnState, reply: Reply, limits: RecoveryLimits, situation: Situation) -> Resend | None:
    """The same request with a larger cap or, if nothing of the reply is left, with less effort; None: neither is
    possible. Effort is lowered once in a turn, because the prompt cache and earlier thinking are lost with it."""
    cap, nothing = output_cap.cap_for(state, limits, situation), not leaves_something(reply)
    cut = replace(state, cut_at=cap, retries=0)
    was = f"the answer was cut at {cap:,} tokens" + " before any text" * nothing
    if larger := output_cap.raised(state, limits, situation, to_maximum=nothing):
        raised = cut.raised_to(larger)
        reason = f"{was}; asking for {output_cap.cap_for(raised, limits, situation):,}"
        return Resend(raised, reason, code=TransitionCode.MAX_OUTPUT_TOKENS_ESCALATE)
    if nothing and situation.takes_effort and not state.low_effort:
        reason = f"{was}; asking for less thinking (effort low)"
        return Resend(cut.trying(OneTimeRemedy.LOWER_EFFORT), reason, code=TransitionCode.MAX_OUTPUT_TOKENS_EFFORT)
    return None


def nothing_left(state: TurnState, reply: Reply, limits: RecoveryLimits, situation: Situation) -> Stop:
    """The end of a turn whose last reply was cut before any text, with no larger cap and no lower effort available."""
    cap = output_cap.cap_for(state, limits, situation)
    reason = no_room_to_answer(
        cap,
        low_effort=state.low_effort and situation.takes_effort,
        user_cap=limits.user_cap is not None,
        full_window=output_cap.full_window(state, limits, situation),
        attended=state.attended,
    )
    return Stop(state.after_reply(reply.usage.output), reason, TransitionCode.MAX_OUTPUT_TOKENS_EXHAUSTED)


def _continue_cut(state: TurnState, reply: Reply, limits: RecoveryLimits) -> Decision:
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


def _run_tools(good: TurnState, reply: Reply, limits: RecoveryLimits) -> Decision:
    malformed = 0 if reply.calls else good.malformed + 1
    counted = replace(good, malformed=malformed)
    if malformed >= limits.malformed_calls:
        reason = (
            f"{malformed} replies in a row asked for tools in a form that cannot be run "
            f"({reply.cut_calls[-1].name}: {reply.cut_calls[-1].why}); "
            f"try again, or use another model{' with /model' * good.attended}"
        )
        return Stop(counted, reason, TransitionCode.MALFORMED_TOOL_USE, speakable(reply.content))
    names = ", ".join([call.name for call in reply.calls] + [f"{call.name} (cut)" for call in reply.cut_calls])
    return RunTools(counted, names, reply.content, reply.calls, reply.cut_calls, code=TransitionCode.NEXT_TURN)


def _budget_left(state: TurnState, limits: RecoveryLimits) -> bool:
    """Whether to ask the model to continue its work."""
    if limits.token_budget is None or state.output_tokens >= 0.9 * limits.token_budget:
        return False
    gains = state.nudge_gains
    return len(gains) < 3 or any(gain >= limits.diminishing_tokens for gain in gains[-2:])
