"""The policy: an outcome and a situation in, one decision out.

Read `decide` first; it splits by what came back. Replies go by their stop reason, faults by
`responses.RESPONSES`. `before_request` and `after_tools` are the two checks outside a model call.
"""

from dataclasses import replace

from harness.events import Block, Fault, FaultKind, Outcome, Reply, TransitionCode
from harness.recovery import output_cap
from harness.recovery.backoff import delay_s
from harness.recovery.compaction import CompactionHealth, thresholds
from harness.recovery.decisions import (
    Compact,
    Continue,
    Decision,
    Drain,
    Mend,
    Mending,
    Nudge,
    OfferWait,
    Resend,
    RunTools,
    Stop,
    SwitchModel,
    Wait,
)
from harness.recovery.responses import RESPONSES, RETRIED, Response
from harness.recovery.state import OneOff, RecoveryLimits, Situation, TurnState
from harness.recovery.wording import advice


def decide(state: TurnState, outcome: Outcome, limits: RecoveryLimits, situation: Situation) -> Decision:
    """What to do now that a model call came back."""
    match outcome:
        case Reply():
            return _decide_reply(state, outcome, limits, situation)
        case Fault():
            return _decide_fault(_in_a_row(state, outcome), outcome, limits, situation)


def _in_a_row(state: TurnState, fault: Fault) -> TurnState:
    """Only overloads that follow each other directly count for a switch of the model (recovery C1)."""
    return state if fault.kind is FaultKind.OVERLOADED else replace(state, overloads=0)


# ── replies ─────────────────────────────────────────────────────────────────────────────────────


def _decide_reply(state: TurnState, reply: Reply, limits: RecoveryLimits, situation: Situation) -> Decision:
    cut = reply.stop_reason == "max_tokens"
    if cut and (larger := output_cap.raised(state, limits, situation)):
        cap = output_cap.cap_for(state, limits, situation)
        raised = replace(state, raised_cap=larger, escalated=True, cut_at=cap, retries=0, overloads=0)
        reason = f"the answer was cut at {cap:,} tokens; asking for {larger:,}"
        return Resend(raised, reason, code=TransitionCode.MAX_OUTPUT_TOKENS_ESCALATE)
    if cut:
        return _continue_cut(state.after_reply(reply.usage.output), reply, limits)
    good = state.after_good_reply(reply.usage.output)
    if reply.calls or reply.cut_calls:
        return _run_tools(good, reply, limits)
    if reply.stop_reason == "pause_turn" and state.pauses < limits.pauses:
        paused = replace(good, pauses=good.pauses + 1)
        reason = "the server paused its tools; going on"
        return Continue(paused, reason, reply.content, Nudge.PAUSED, code=TransitionCode.NEXT_TURN)
    if not reply.text.strip() and OneOff.EMPTY_REPLY not in state.tried:
        asked = good.trying(OneOff.EMPTY_REPLY)
        reason = "the answer was empty; asking again"
        return Continue(asked, reason, (), Nudge.EMPTY_REPLY, code=TransitionCode.MAX_OUTPUT_TOKENS_RECOVERY)
    if _budget_left(good, limits):
        nudged = replace(good, nudged_at=(*good.nudged_at, good.output_tokens), compacted=False)
        reason = f"{good.output_tokens:,} of {limits.token_budget:,} tokens used; going on"
        return Continue(
            nudged, reason, reply.content, Nudge.TOKEN_BUDGET, code=TransitionCode.TOKEN_BUDGET_CONTINUATION
        )
    reason = "answered" if reply.text.strip() else "the model had nothing to add"
    return Stop(good, reason, TransitionCode.COMPLETED, reply.content)


def _continue_cut(state: TurnState, reply: Reply, limits: RecoveryLimits) -> Decision:
    if state.continuations >= limits.continuations:
        reason = (
            f"the answer was still cut after {limits.continuations} continuations; "
            "the text so far is kept: ask for the rest in smaller parts"
        )
        return Stop(state, reason, TransitionCode.BUDGET_EXHAUSTED, _speakable(reply.content))
    again = replace(state, continuations=state.continuations + 1)
    reason = f"the answer was cut; continuation {again.continuations} of {limits.continuations}"
    code = TransitionCode.MAX_OUTPUT_TOKENS_RECOVERY
    if reply.calls or reply.cut_calls:
        return RunTools(again, reason, reply.content, reply.calls, reply.cut_calls, code=code)
    return Continue(again, reason, reply.content, Nudge.CUT_AT_CAP, code=code)


def _run_tools(good: TurnState, reply: Reply, limits: RecoveryLimits) -> Decision:
    malformed = 0 if reply.calls else good.malformed + 1
    counted = replace(good, malformed=malformed)
    if malformed >= limits.malformed_calls:
        reason = (
            f"{malformed} replies in a row asked for tools in a form that cannot be run "
            f"({reply.cut_calls[-1].name}: {reply.cut_calls[-1].why}); "
            "try again, or use another model with /model"
        )
        return Stop(counted, reason, TransitionCode.MALFORMED_TOOL_USE, _speakable(reply.content))
    names = ", ".join([call.name for call in reply.calls] + [f"{call.name} (cut)" for call in reply.cut_calls])
    return RunTools(counted, names, reply.content, reply.calls, reply.cut_calls, code=TransitionCode.NEXT_TURN)


def _speakable(content: tuple[Block, ...]) -> tuple[Block, ...]:
    """The blocks that may end a turn: nobody will answer a tool call in them."""
    return tuple(block for block in content if block.get("type") != "tool_use")


def _budget_left(state: TurnState, limits: RecoveryLimits) -> bool:
    """True when the model should be nudged to go on (recovery H2)."""
    if limits.token_budget is None or state.output_tokens >= 0.9 * limits.token_budget:
        return False
    gains = state.nudge_gains
    return len(gains) < 3 or any(gain >= limits.diminishing_tokens for gain in gains[-2:])


# ── faults ──────────────────────────────────────────────────────────────────────────────────────


def _decide_fault(state: TurnState, fault: Fault, limits: RecoveryLimits, situation: Situation) -> Decision:
    if fault.kind is FaultKind.CANCELLED:
        return Stop(state, "interrupted", TransitionCode.ABORTED_STREAMING, _speakable(fault.kept))
    response = _response_to(fault)
    if fault.kept and response in RETRIED:
        return _keep_what_is_complete(state, fault, limits, situation)
    match response:
        case Response.COMPACT:
            return _decide_too_long(state, fault, limits, situation)
        case Response.LOWER_CAP:
            return _decide_lower_cap(state, fault, limits, situation)
        case Response.REPAIR:
            return _mend(state, fault, OneOff.REPAIR, Mending.REPAIR)
        case Response.STRIP_THINKING:
            return _mend(state, fault, OneOff.STRIP_THINKING, Mending.STRIP_THINKING)
        case Response.STRIP_MEDIA:
            return _mend(state, fault, OneOff.STRIP_MEDIA, Mending.STRIP_MEDIA, TransitionCode.IMAGE_ERROR)
        case Response.RELOAD_KEY:
            return _mend(state, fault, OneOff.RELOAD_KEY, Mending.RELOAD_KEY)
        case Response.STOP:
            return _stop(state, fault)
        case Response.RETRY | Response.RETRY_FRESH | Response.RETRY_ONCE | Response.RETRY_THEN_SWITCH:
            return _try_again(state, fault, limits, situation)


def _response_to(fault: Fault) -> Response:
    response = RESPONSES[fault.kind]
    if response in RETRIED and fault.should_retry is False:
        return Response.STOP
    if fault.status == 501 and not fault.should_retry:
        return Response.STOP
    if fault.kind is FaultKind.UNKNOWN and fault.status is not None and 400 <= fault.status < 500:
        final = fault.error_type == "invalid_request_error" or not fault.should_retry
        return Response.STOP if final else Response.RETRY
    return response


def _keep_what_is_complete(state: TurnState, fault: Fault, limits: RecoveryLimits, situation: Situation) -> Decision:
    """The stream broke after complete blocks: they count, and nothing is run twice (recovery G2, api R20)."""
    if fault.stop_reason == "refusal":
        return _stop(state, replace(fault, kind=FaultKind.REFUSAL, message="the model declined to answer"))
    if fault.calls:
        overloads = state.overloads + (fault.kind is FaultKind.OVERLOADED)
        good = state.after_good_reply(fault.usage.output)
        counted = replace(good, overloads=overloads, malformed=0)
        reason = f"{fault.message}; the complete tool calls of the reply are run"
        return RunTools(counted, reason, fault.kept, fault.calls, (), code=TransitionCode.NEXT_TURN)
    if fault.stop_reason in ("end_turn", "stop_sequence"):
        good = state.after_good_reply(fault.usage.output)
        return Stop(good, f"answered; then {fault.message}", TransitionCode.COMPLETED, fault.kept)
    retry = _try_again(state, fault, limits, situation)
    if not isinstance(retry, Resend) or state.continuations >= limits.continuations:
        return retry
    again = replace(retry.state, continuations=state.continuations + 1)
    reason = f"{fault.message}; complete text is kept, asking for the rest"
    code = TransitionCode.MAX_OUTPUT_TOKENS_RECOVERY
    return Continue(again, reason, fault.kept, Nudge.BROKEN_STREAM, retry.wait, code=code)


def _try_again(state: TurnState, fault: Fault, limits: RecoveryLimits, situation: Situation) -> Decision:
    """The same request once more, for a fault that may pass."""
    match fault.kind:
        case FaultKind.OVERLOADED:
            return _decide_overloaded(state, fault, limits, situation)
        case FaultKind.UNKNOWN if not fault.should_retry:
            if OneOff.UNKNOWN_FAULT in state.tried:
                return _stop(state, fault)
            state = state.trying(OneOff.UNKNOWN_FAULT)
    return _retry(state, fault, limits, situation)


def _decide_overloaded(state: TurnState, fault: Fault, limits: RecoveryLimits, situation: Situation) -> Decision:
    overloads = state.overloads + 1
    counted = replace(state, overloads=overloads)
    if overloads < limits.overloads_before_switch or not state.fallbacks:
        return _retry(counted, fault, limits, situation)
    to_model, *rest = state.fallbacks
    switched = replace(counted, model=to_model, fallbacks=tuple(rest), overloads=0)
    return SwitchModel(switched, f"{state.model} was overloaded {overloads} times in a row", to_model)


def _retry(state: TurnState, fault: Fault, limits: RecoveryLimits, situation: Situation) -> Decision:
    """Wait and send again, unless a budget is used up. Nothing is slept before giving up."""
    if state.retries >= limits.retries_per_request:
        return _stop(state, fault, f"gave up after {state.retries} retries")
    if state.turn_retries >= limits.retries_per_turn:
        return _stop(state, fault, f"gave up: {state.turn_retries} retries in this turn")
    retry = state.retries + 1
    seconds = delay_s(retry, fault.retry_after_s, situation.chance)
    wait = Wait(seconds, retry, fault.kind)
    counted = replace(state, retries=retry, turn_retries=state.turn_retries + 1)
    if seconds > limits.long_wait_s:
        return _decide_long_wait(counted, fault, wait, limits)
    if state.waited_s + seconds > limits.waiting_per_turn_s:
        return _stop(state, fault, f"gave up after {state.waited_s:.0f} s of waiting in this turn")
    waiting = replace(counted, waited_s=state.waited_s + seconds)
    fresh = RESPONSES[fault.kind] is Response.RETRY_FRESH
    return Resend(waiting, fault.message, wait, fresh_connection=fresh)


def _decide_long_wait(state: TurnState, fault: Fault, wait: Wait, limits: RecoveryLimits) -> Decision:
    asked = f"the server asks to wait {wait.seconds:,.0f} s"
    if limits.interactive:
        otherwise = _stop(state, fault, asked)
        return OfferWait(
            state, f"{fault.message}; {asked}", wait, can_switch=bool(state.fallbacks), otherwise=otherwise
        )
    if wait.seconds <= limits.max_wait_s:
        return Resend(state, f"{fault.message}; {asked}", wait)
    return _stop(state, fault, f"{asked}; allow it with --max-wait {wait.seconds:.0f}")


def _mend(
    state: TurnState,
    fault: Fault,
    remedy: OneOff,
    mending: Mending,
    code: TransitionCode = TransitionCode.API_ERROR,
) -> Decision:
    stop = replace(_stop(state, fault), code=code)
    return stop if remedy in state.tried else Mend(state.trying(remedy), fault.message, mending, stop)


def _decide_lower_cap(state: TurnState, fault: Fault, limits: RecoveryLimits, situation: Situation) -> Decision:
    current = output_cap.cap_for(state, limits, situation)
    smaller = output_cap.lowered(current, fault.input_tokens, fault.limit)
    if smaller is None or smaller <= state.cut_at or state.lowered >= output_cap.LOWERINGS:
        return _decide_too_long(state, fault, limits, situation)
    lowered = replace(state, raised_cap=smaller, escalated=True, lowered=state.lowered + 1)
    return Mend(lowered, fault.message, Mending.LOWER_CAP, _stop(state, fault))


def _decide_too_long(state: TurnState, fault: Fault, limits: RecoveryLimits, situation: Situation) -> Decision:
    """Drain, then compact, then give up (recovery E1)."""
    too_long = TransitionCode.PROMPT_TOO_LONG
    if not limits.compaction:
        reason = f"{fault.message}; compaction is off: shorten the conversation with /compact or /clear"
        return Stop(state, reason, too_long)
    excess = _excess(state, fault)
    if excess is not None and not state.drained and not state.compacted and situation.drainable_tokens >= excess:
        reason = f"{fault.message}; shortening old tool results"
        return Drain(replace(state, drained=True), reason, excess, code=TransitionCode.COLLAPSE_DRAIN_RETRY)
    if state.compacted:
        reason = f"still too long after compaction ({fault.message}); {advice(fault.kind)}"
        return Stop(state, reason, too_long)
    if state.overflows.thrashing(state.steps):
        reason = f"{fault.message}; compaction does not help any more: {situation.largest}; start over with /clear"
        return Stop(state, reason, TransitionCode.COMPACTION_THRASH)
    overflows = state.overflows.compacting(state.steps)
    compacted = replace(state, compacted=True, drained=True, retries=0, cut_at=0, overflows=overflows)
    code = TransitionCode.REACTIVE_COMPACT_RETRY
    return Compact(compacted, fault.message, fault.input_tokens, fault.limit, code=code)


def _excess(state: TurnState, fault: Fault) -> int | None:
    """Tokens that have to go from the prompt, where the server named the sizes and they say so."""
    if not fault.input_tokens or not fault.limit:
        return None
    answer = max(output_cap.FLOOR, state.cut_at) if fault.kind is FaultKind.MAX_TOKENS_OVERFLOW else 0
    excess = fault.input_tokens + answer + output_cap.MARGIN - fault.limit
    return excess if excess > 0 else None


def _stop(state: TurnState, fault: Fault, why: str = "") -> Stop:
    code = TransitionCode.MODEL_ERROR if fault.kind is FaultKind.REFUSAL else TransitionCode.API_ERROR
    reason = "; ".join(part for part in (fault.message, why, advice(fault.kind)) if part)
    keep = () if fault.kind is FaultKind.REFUSAL else _speakable(fault.kept)
    return Stop(state, reason, code, keep)


# ── outside a model call ────────────────────────────────────────────────────────────────────────


def before_request(
    state: TurnState, health: CompactionHealth, step: int, limits: RecoveryLimits, situation: Situation
) -> Decision | None:
    """What has to happen before the next request may go out; None when it may (recovery E4, E5, E10, H3)."""
    if limits.max_cost_usd is not None and situation.cost_usd >= limits.max_cost_usd:
        reason = f"the budget of ${limits.max_cost_usd:.2f} is spent (${situation.cost_usd:.2f})"
        return Stop(state, reason, TransitionCode.BUDGET_EXHAUSTED)
    levels = thresholds(situation.window, situation.max_output)
    if situation.prompt_tokens < levels.compact:
        return None
    if limits.compaction and not health.off:
        if health.thrashing(step):
            reason = f"compaction does not help any more: {situation.largest}; start over with /clear"
            return Stop(state, reason, TransitionCode.COMPACTION_THRASH)
        reason = f"about {situation.prompt_tokens:,} of {situation.window:,} tokens are used"
        return Compact(state, reason, None, None)
    if situation.prompt_tokens >= levels.block and not limits.compaction:
        reason = (
            f"about {situation.prompt_tokens:,} of {situation.window:,} tokens are used and compaction is off; "
            "shorten the conversation with /compact or /clear"
        )
        return Stop(state, reason, TransitionCode.BLOCKING_LIMIT)
    return None


def after_tools(state: TurnState, limits: RecoveryLimits, *, interrupted: bool) -> Stop | None:
    """What ends the turn after a tool round; None when the loop goes on (recovery §1.1 rows 11, 17)."""
    if interrupted:
        return Stop(state, "interrupted", TransitionCode.ABORTED_TOOLS)
    if limits.max_steps is not None and state.steps >= limits.max_steps:
        reason = f"stopped after {state.steps} model calls with tools (--max-turns {limits.max_steps})"
        return Stop(state, reason, TransitionCode.MAX_TURNS)
    return None


def decide_summary(state: TurnState, outcome: Outcome, limits: RecoveryLimits, situation: Situation) -> Decision:
    """What to do when the call for a summary came back.

    Either a `Resend` (the summary call is retried like any other that a person waits for, B6), or a
    `Stop`: with COMPLETED the reply is the summary, with any other code there is none (recovery E7). No other
    model is asked for a summary, and the request after it has retries of its own.
    """
    decision = _decide_summary(state, outcome, limits, situation)
    ended = isinstance(decision, Stop)
    retries = 0 if ended else decision.state.retries
    return replace(decision, state=replace(decision.state, retries=retries, fallbacks=state.fallbacks))


def _decide_summary(state: TurnState, outcome: Outcome, limits: RecoveryLimits, situation: Situation) -> Decision:
    match outcome:
        case Reply() if outcome.stop_reason != "end_turn" or outcome.calls or outcome.cut_calls:
            return Stop(state, f"the summary ended with {outcome.stop_reason}", TransitionCode.MODEL_ERROR)
        case Reply() if not outcome.text.strip():
            return Stop(state, "the summary was empty", TransitionCode.MODEL_ERROR)
        case Reply():
            return Stop(replace(state, overloads=0), "summarised", TransitionCode.COMPLETED, outcome.content)
        case Fault(kind=FaultKind.CANCELLED):
            return Stop(state, "interrupted", TransitionCode.ABORTED_STREAMING)
        case Fault() if _response_to(outcome) in RETRIED:
            alone = replace(_in_a_row(state, outcome), fallbacks=())
            decision = _try_again(alone, replace(outcome, kept=(), calls=()), limits, situation)
            return decision.otherwise if isinstance(decision, OfferWait) else decision
        case Fault():
            return _stop(state, outcome)
