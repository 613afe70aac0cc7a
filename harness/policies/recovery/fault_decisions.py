"""What to do about a fault: `REMEDIES` gives the first remedy, this module the rest
(docs/design/recovery.md#faults).
"""

from dataclasses import replace

from harness.events import ChangeReason, Fault, FaultKind, TransitionCode
from harness.policies.recovery.backoff import delay_s
from harness.policies.recovery.cut_replies import LOWERINGS, cap_for, lowered
from harness.policies.recovery.decisions import (
    Continue,
    Decision,
    Nudge,
    OfferWait,
    Repair,
    Resend,
    RetryWait,
    RunTools,
    Stop,
    SwitchModel,
    speakable,
)
from harness.policies.recovery.messages import address_advice, advice, continuations, retries
from harness.policies.recovery.prompt_too_long import decide_too_long
from harness.policies.recovery.state import RecoveryLimits, Situation, TurnState
from harness.policies.recovery.transitions import REMEDIES, RETRIED, Remedy

_NOT_AN_END = (None, "tool_use", "max_tokens", "model_context_window_exceeded", "pause_turn", "refusal")
"""Stop reasons of incomplete answers."""


def decide_fault(state: TurnState, fault: Fault, limits: RecoveryLimits, situation: Situation) -> Decision:
    """The decision about `fault`, which is already recorded in the breaker of the model."""
    if fault.kind is FaultKind.CANCELLED:
        return Stop(state, "interrupted", TransitionCode.ABORTED_STREAMING, speakable(fault.kept))
    if fault.unsent and fault.kind is FaultKind.OVERLOADED:
        if not state.fallbacks:
            return stop(state, fault, f"gave up after {limits.waiting_per_turn_s:.0f} s of waiting")
        switched = state.on_next_model(situation.now, limits)
        return SwitchModel(switched, fault.message, switched.model)
    remedy = remedy_for(fault)
    if fault.kept and remedy in RETRIED:
        return _keep_what_is_complete(state, fault, limits, situation)
    match remedy:
        case Remedy.STOP:
            return stop(state, fault)
        case _ if remedy in RETRIED:
            return try_again(state, fault, limits, situation)
        case Remedy.COMPACT:
            return decide_too_long(state, fault, limits, situation)
        case Remedy.LOWER_CAP:
            return _decide_lower_cap(state, fault, limits, situation)
        case Remedy.CUT_SHORT:
            return _cut_short(state, fault, limits)
        case Remedy.SWITCH_ONCE:
            return _decide_refusal(state, fault, limits, situation)
        case Remedy.STRIP_THINKING if remedy in state.tried:
            return _repair(state, fault, Remedy.OMIT_THINKING)
        case _:
            return _repair(state, fault, remedy)


def remedy_for(fault: Fault) -> Remedy:
    """The remedy for this fault; x-should-retry and the status may change it."""
    remedy = REMEDIES[fault.kind]
    if remedy in RETRIED and fault.should_retry is False:
        return Remedy.STOP
    if fault.status == 501 and not fault.should_retry:
        return Remedy.STOP
    if fault.kind is FaultKind.UNKNOWN and fault.status is not None and 400 <= fault.status < 500:
        final = fault.error_type == "invalid_request_error" or not fault.should_retry
        return Remedy.STOP if final else Remedy.RETRY
    return remedy


def _keep_what_is_complete(state: TurnState, fault: Fault, limits: RecoveryLimits, situation: Situation) -> Decision:
    """The stream broke after complete blocks: keep them, and run nothing twice."""
    if fault.stop_reason == "refusal":
        refused = replace(fault, kind=FaultKind.REFUSAL, message="the model declined to answer")
        return _decide_refusal(state, refused, limits, situation)
    if fault.calls:
        counted = replace(state.after_good_reply(fault.usage.output), malformed=0)
        reason = f"{fault.message}; the complete tool calls of the reply are run"
        return RunTools(counted, reason, fault.kept, fault.calls, (), code=TransitionCode.NEXT_TURN)
    if broke_behind_an_answer(fault):
        good = state.after_good_reply(fault.usage.output)
        return Stop(good, f"answered; then {fault.message}", TransitionCode.COMPLETED, fault.kept)
    retry = try_again(state, fault, limits, situation)
    if not isinstance(retry, Resend) or state.continuations >= limits.continuations:
        return retry
    again = replace(retry.state, continuations=state.continuations + 1, broke_off=True)
    reason = f"{fault.message}; complete text is kept, asking for the rest"
    code = TransitionCode.MAX_OUTPUT_TOKENS_RECOVERY
    return Continue(again, reason, fault.kept, Nudge.BROKEN_STREAM, retry.wait, code=code)


def _decide_refusal(state: TurnState, fault: Fault, limits: RecoveryLimits, situation: Situation) -> Decision:
    """Ask another model, once in a turn and for the rest of it. A request that two models decline is not offered to a
    third."""
    if Remedy.SWITCH_ONCE in state.tried:
        return stop(state, fault, "so did the model before it")
    if not state.fallbacks:
        return stop(state, fault)
    switched = state.trying(Remedy.SWITCH_ONCE).on_next_model(situation.now, limits)
    return SwitchModel(switched, fault.message, switched.model, code=TransitionCode.REFUSAL_FALLBACK)


def _cut_short(state: TurnState, fault: Fault, limits: RecoveryLimits) -> Decision:
    """The reply repeated itself. Keep the text before, and continue from there
    (docs/design/recovery.md#repeated-replies)."""
    good = state.after_reply(fault.usage.output)
    if fault.calls:
        return RunTools(good, fault.message, fault.kept, fault.calls, (), code=TransitionCode.NEXT_TURN)
    if state.continuations >= limits.continuations:
        reason = f"{fault.message}, also after {continuations(limits.continuations)}; the text before is kept"
        return Stop(state, reason, TransitionCode.LOOP_STOPPED, speakable(fault.kept))
    again = replace(good, continuations=state.continuations + 1)
    reason = "the reply repeated itself; asking to continue without repeating"
    return Continue(again, reason, fault.kept, Nudge.REPEATED, code=TransitionCode.MAX_OUTPUT_TOKENS_RECOVERY)


def try_again(state: TurnState, fault: Fault, limits: RecoveryLimits, situation: Situation) -> Decision:
    """Send the same request again, for a transient fault."""
    match fault.kind:
        case FaultKind.OVERLOADED:
            return _decide_overloaded(state, fault, limits, situation)
        case FaultKind.UNKNOWN if not fault.should_retry:
            if Remedy.RETRY_ONCE in state.tried:
                return stop(state, fault)
            state = state.trying(Remedy.RETRY_ONCE)
        case FaultKind.MALFORMED_RESPONSE:
            state = replace(state, unreadable=state.unreadable + 1)
            if state.unreadable >= limits.unreadable_answers:
                return stop(state, fault, f"the same {state.unreadable} times")
    return _retry(state, fault, limits, situation)


def _decide_overloaded(state: TurnState, fault: Fault, limits: RecoveryLimits, situation: Situation) -> Decision:
    """Ask a fallback model, if there is one, when the breaker opens (docs/design/recovery.md#fallback)."""
    endpoint = state.endpoint
    still = endpoint.why is ChangeReason.PROBE_FAILED
    if not state.fallbacks or not (still or endpoint.failures >= limits.overloads_before_switch):
        return _retry(state, fault, limits, situation)
    times = "once" if endpoint.failures == 1 else f"{endpoint.failures} times in a row"
    how = "is still overloaded" if still else f"was overloaded {times}"
    switched = state.on_next_model(situation.now, limits)
    return SwitchModel(switched, f"{state.model} {how}", switched.model)


def _retry(state: TurnState, fault: Fault, limits: RecoveryLimits, situation: Situation) -> Decision:
    """Wait and send again, unless a limit is reached; there is no wait before giving up
    (docs/design/recovery.md#retry-limits)."""
    if state.retries >= limits.retries_per_request:
        return stop(state, fault, f"gave up after {retries(state.retries)}")
    if _misaddressed(fault, situation) and state.retries + 1 >= limits.unreachable_tries:
        remedy = address_advice(attended=state.attended)
        return stop(state, fault, f"tried {state.retries + 1} times", remedy=remedy)
    if state.turn_retries >= limits.retries_per_turn:
        return stop(state, fault, f"gave up: {retries(state.turn_retries)} in this turn")
    if situation.shared_retries < 1:
        spent = stop(state, fault, "gave up: the retries that all agents share are used up")
        return replace(spent, retries_spent=True)
    retry = state.retries + 1
    seconds = delay_s(retry, fault.retry_after_s, situation.chance)
    wait = RetryWait(
        seconds,
        retry,
        fault.kind,
        min(limits.retries_per_request, state.retries + _left(state, fault, limits, situation)),
    )
    counted = replace(state, retries=retry, turn_retries=state.turn_retries + 1)
    if seconds > limits.long_wait_s:
        return _decide_long_wait(counted, fault, wait, limits)
    if state.waited_s + seconds > limits.waiting_per_turn_s:
        return stop(state, fault, f"gave up after {state.waited_s:.0f} s of waiting in this turn")
    waiting = replace(counted, waited_s=state.waited_s + seconds)
    fresh = REMEDIES[fault.kind] is Remedy.RETRY_FRESH
    return Resend(waiting, fault.message, wait, fresh_connection=fresh)


def _misaddressed(fault: Fault, situation: Situation) -> bool:
    """No server was found at an address that has never answered."""
    return fault.unreachable and not situation.reached


def _left(state: TurnState, fault: Fault, limits: RecoveryLimits, situation: Situation) -> int:
    """Retries left if the same fault repeats."""
    match fault.kind:
        case _ if _misaddressed(fault, situation):
            return limits.unreachable_tries - 1 - state.retries
        case FaultKind.MALFORMED_RESPONSE:
            return limits.unreadable_answers - state.unreadable
        case FaultKind.UNKNOWN if not fault.should_retry:
            return 1
        case _:
            return limits.retries_per_request - state.retries


def _decide_long_wait(state: TurnState, fault: Fault, wait: RetryWait, limits: RecoveryLimits) -> Decision:
    asked = f"the server asks to wait {wait.seconds:,.0f} s"
    if limits.interactive:
        otherwise = stop(state, fault, asked)
        return OfferWait(
            state, f"{fault.message}; {asked}", wait, can_switch=bool(state.fallbacks), otherwise=otherwise
        )
    if wait.seconds <= limits.max_wait_s:
        return Resend(state, f"{fault.message}; {asked}", wait)
    return stop(state, fault, f"{asked}; allow it with --max-wait {wait.seconds:.0f}")


def _repair(state: TurnState, fault: Fault, remedy: Remedy) -> Decision:
    """Change one thing about the request, once in a turn."""
    otherwise = stop(state, fault)
    if remedy is Remedy.STRIP_MEDIA:
        otherwise = replace(otherwise, code=TransitionCode.IMAGE_ERROR)
    return otherwise if remedy in state.tried else Repair(state.trying(remedy), fault.message, remedy, otherwise)


def _decide_lower_cap(state: TurnState, fault: Fault, limits: RecoveryLimits, situation: Situation) -> Decision:
    current = cap_for(state, limits, situation)
    smaller = lowered(current, fault.input_tokens, fault.limit)
    if smaller is None or smaller <= state.cut_at or state.lowered >= LOWERINGS:
        return decide_too_long(state, fault, limits, situation)
    fewer = replace(state, lowered_cap=smaller, lowered=state.lowered + 1)
    return Repair(fewer, fault.message, Remedy.LOWER_CAP, stop(state, fault))


def stop(state: TurnState, fault: Fault, why: str = "", *, remedy: str | None = None) -> Stop:
    """The end of the turn, with the fault, the reason and advice. `remedy`: None: that for the kind of fault."""
    code = TransitionCode.MODEL_ERROR if fault.kind is FaultKind.REFUSAL else TransitionCode.API_ERROR
    remedy = advice(fault.kind, attended=state.attended) if remedy is None else remedy
    reason = "; ".join(part for part in (fault.message, why, remedy) if part)
    keep = () if fault.kind is FaultKind.REFUSAL else speakable(fault.kept)
    return Stop(state, reason, code, keep)


def broke_behind_an_answer(fault: Fault) -> bool:
    """The answer was whole; only the end of the stream is missing."""
    return bool(fault.kept) and not fault.calls and fault.stop_reason not in _NOT_AN_END
