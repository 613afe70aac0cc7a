"""The recovery policy: an outcome and a situation in, one decision out.

`decide` splits by outcome: `decide_reply` by the stop reason (`cut_replies` for one that was cut), `fault_decisions` by
the kind of fault. `before_turn`, `before_request`, `over_budget`, `after_tools` and `at_turn_end` are the checks
outside a model call; `decide_summary` is for the one call that is not part of the conversation.
"""

from dataclasses import replace

from harness.events import Fault, FaultKind, Outcome, Reply, TransitionCode
from harness.policies.recovery.compaction import CompactionHealth, thresholds
from harness.policies.recovery.cut_replies import (
    decide_cut,
    larger_or_easier,
    leaves_something,
    nothing_left,
    summary_limits,
)
from harness.policies.recovery.decisions import (
    Compact,
    Continue,
    Decision,
    Drain,
    Nudge,
    OfferWait,
    RunTools,
    Stop,
    speakable,
)
from harness.policies.recovery.fault_decisions import (
    broke_behind_an_answer,
    decide_fault,
    remedy_for,
    stop,
    try_again,
)
from harness.policies.recovery.messages import shorter, start_over
from harness.policies.recovery.prompt_too_long import no_room
from harness.policies.recovery.state import RecoveryLimits, Situation, TurnState
from harness.policies.recovery.transitions import RETRIED, Remedy


def decide(state: TurnState, outcome: Outcome, limits: RecoveryLimits, situation: Situation) -> Decision:
    """The decision after a model call."""
    state = noted(state, outcome, limits, situation)
    match outcome:
        case Reply():
            return with_said(decide_reply(state, outcome, limits, situation))
        case Fault():
            return with_said(decide_fault(state, outcome, limits, situation))


def with_said(decision: Decision) -> Decision:
    """The decision with a state that knows whether text was kept."""
    match decision:
        case RunTools():
            said = False
        case Continue() | Stop():
            said = decision.state.said or any(str(block.get("text", "")).strip() for block in decision.keep)
        case _:
            return decision
    return replace(decision, state=replace(decision.state, said=said))


def noted(state: TurnState, outcome: Outcome, limits: RecoveryLimits, situation: Situation) -> TurnState:
    """The state with the outcome recorded in the breaker of the model."""
    now, endpoints = situation.now, state.endpoints
    match outcome:
        case Fault(unsent=True):
            return state
        case Fault(kind=FaultKind.OVERLOADED) if not broke_behind_an_answer(outcome):
            endpoints = endpoints.overloaded(state.model, now, limits.endpoint)
        case Fault() if not (broke_behind_an_answer(outcome) or outcome.kind is FaultKind.REPETITION):
            endpoints = endpoints.disturbed(state.model, now)
        case _:
            endpoints = endpoints.answered(state.model, now, limits.endpoint)
    return replace(state, endpoints=endpoints)


def before_request(
    state: TurnState, health: CompactionHealth, step: int, limits: RecoveryLimits, situation: Situation
) -> Decision | None:
    """The decision before the next request; None: it may be sent.

    Old tool results are drained if that alone is enough (docs/design/recovery.md#draining). Otherwise they stay whole
    for the summary. While the window has room, a history is shortened only to save money, so nothing ends the turn
    then.
    """
    if spent := over_budget(state, limits, situation.cost_usd):
        return spent
    full = thresholds(situation.window, situation.max_output)
    levels = limits.compact_at.applied(full, situation.window)
    if not nearly_full(situation, limits):
        return None
    has_room = situation.prompt_tokens < full.compact
    if situation.fixed_tokens >= (levels if has_room else full).compact and limits.compaction:
        return None  # no shortening can help; the server may count otherwise, and else says so
    if has_room and (health.off or health.thrashing(step)):
        return None
    surplus = situation.prompt_tokens - levels.drained
    if limits.compaction and situation.drainable_tokens >= surplus:
        used = f"about {situation.prompt_tokens:,} of {situation.window:,} tokens are used"
        return Drain(state, f"{used}; shortening old tool results", surplus)
    if limits.compaction and not health.off:
        if health.thrashing(step):
            reason = f"compaction no longer helps: {situation.largest}; {start_over(state.attended)}"
            return Stop(state, reason, TransitionCode.COMPACTION_THRASH)
        reason = f"about {situation.prompt_tokens:,} of {situation.window:,} tokens are used"
        return Compact(state, reason, None, None)
    if situation.prompt_tokens >= levels.block and not limits.compaction:
        reason = (
            f"about {situation.prompt_tokens:,} of {situation.window:,} tokens are used and compaction is off; "
            f"{shorter(state.attended)}"
        )
        if situation.fixed_tokens >= levels.block:
            reason = no_room(situation, situation.window)
        return Stop(state, reason, TransitionCode.BLOCKING_LIMIT)
    return None


def nearly_full(situation: Situation, limits: RecoveryLimits) -> bool:
    """Whether the prompt has the size at which the history is shortened before a request."""
    levels = thresholds(situation.window, situation.max_output)
    if limits.compaction:
        levels = limits.compact_at.applied(levels, situation.window)
    return situation.prompt_tokens >= levels.compact


def over_budget(state: TurnState, limits: RecoveryLimits, cost_usd: float) -> Stop | None:
    """The end of the turn once the cost budget is spent, also before a retry; None: some is left."""
    if limits.max_cost_usd is None or cost_usd < limits.max_cost_usd:
        return None
    reason = f"the budget of ${limits.max_cost_usd:.2f} is spent (${cost_usd:.2f})"
    return Stop(state, reason, TransitionCode.BUDGET_EXHAUSTED)


def before_turn(state: TurnState, *, interrupted: bool, refused: str = "") -> Stop | None:
    """The end of a turn before its first request: interrupted, or refused by a hook, which says why."""
    if interrupted:
        return Stop(state, "interrupted", TransitionCode.ABORTED_STREAMING)
    return Stop(state, f"not sent: {refused}", TransitionCode.HOOK_STOPPED) if refused else None


def after_tools(
    state: TurnState,
    limits: RecoveryLimits,
    interrupted: bool,
    *,
    hooked: str = "",
    paused: str = "",
    stuck: str = "",
    waited: str = "",
    planned: str = "",
) -> Stop | None:
    """The end of the turn after a tool step; None: the loop continues (docs/design/recovery.md#stop-checks).

    `hooked`, `paused`, `stuck`, `waited` and `planned` are the reasons of a tool hook, the breakers, the loop policy,
    the wait limit and plan mode; empty: they have none.
    """
    if interrupted:
        return Stop(state, "interrupted", TransitionCode.ABORTED_TOOLS)
    if hooked:
        return Stop(state, f"a hook ended the turn: {hooked}", TransitionCode.HOOK_STOPPED)
    if paused:
        reason = f"paused: {paused}" + ("; continue with /retry, or with a prompt" if state.attended else "")
        return Stop(state, reason, TransitionCode.FAILURE_BUDGET_PAUSED)
    if stuck:
        return Stop(state, stuck, TransitionCode.LOOP_STOPPED)
    if waited:
        return Stop(state, waited, TransitionCode.WAIT_LIMIT)
    if planned:
        return Stop(state, planned, TransitionCode.COMPLETED)
    steps = state.steps - state.steps_before
    if limits.max_steps is not None and steps >= limits.max_steps:
        calls = "1 model call" if steps == 1 else f"{steps} model calls"
        reason = f"stopped after {calls} with tools (--max-steps {limits.max_steps})"
        return Stop(state, reason, TransitionCode.MAX_TURNS)
    return None


def at_turn_end(stop: Stop, limits: RecoveryLimits, *, objection: str = "", prevented: str = "") -> Stop | Continue:
    """The decision for a turn that would end as completed, after its stop hooks.

    `objection` names the work to do first, `prevented` the reason to end at once; empty: neither. A spent compaction
    stays spent (docs/design/recovery.md#reactive-compaction).
    """
    state, code = stop.state, TransitionCode.STOP_HOOK_PREVENTED
    in_short = " ".join(objection.split())
    if prevented:
        return replace(stop, reason=f"a stop hook ended the turn: {prevented}", code=code)
    if not objection:
        return stop
    if state.objections >= limits.objections:
        rounds = "1 more round" if state.objections == 1 else f"{state.objections} more rounds"
        reason = f"a stop hook still objects after {rounds}: {in_short}"
        return replace(stop, reason=reason, code=code)
    again = replace(state, objections=state.objections + 1)
    return Continue(again, in_short, (), Nudge.OBJECTION, objection=objection, code=TransitionCode.STOP_HOOK_BLOCKING)


def at_answer(stop: Stop, *, steered: bool) -> Stop | Continue:
    """The decision for a turn that would end with an answer; `steered`: the user has added a text meanwhile."""
    if not steered:
        return stop
    return Continue(stop.state.steered(), "the user added a text", (), Nudge.STEERED, code=TransitionCode.NEXT_TURN)


def counted(decision: Decision, limits: RecoveryLimits) -> tuple[int, int]:
    """Number and limit of a continuation in a row; (0, 0) for decisions that are not counted."""
    if decision.code is TransitionCode.MAX_OUTPUT_TOKENS_RECOVERY and decision.state.continuations:
        return decision.state.continuations, limits.continuations
    if decision.code is TransitionCode.STOP_HOOK_BLOCKING:
        return decision.state.objections, limits.objections
    return 0, 0


def decide_summary(state: TurnState, outcome: Outcome, limits: RecoveryLimits, situation: Situation) -> Decision:
    """The decision after a request for a summary.

    Either a `Resend` (a retry, a larger cap or less effort), or a `Stop`: with COMPLETED the reply is the summary, with
    any other code there is none. See docs/design/recovery.md#summary-request.
    """
    if isinstance(outcome, Fault):
        outcome = replace(outcome, kept=(), calls=())
    asked = replace(noted(state, outcome, limits, situation), lowered_cap=None)
    decision = _decide_summary(asked, outcome, limits, situation)
    retries = 0 if isinstance(decision, Stop) else decision.state.retries
    after = replace(decision.state, fallbacks=state.fallbacks, lowered_cap=state.lowered_cap, cut_at=state.cut_at)
    return replace(decision, state=replace(after, retries=retries))


def _decide_summary(state: TurnState, outcome: Outcome, limits: RecoveryLimits, situation: Situation) -> Decision:
    own = summary_limits(limits)
    match outcome:
        case Reply(stop_reason="max_tokens") if again := larger_or_easier(state, outcome, own, situation):
            return again
        case Reply(stop_reason="max_tokens") if not leaves_something(outcome):
            return nothing_left(state, outcome, own, situation)
        case Reply() if outcome.stop_reason != "end_turn" or outcome.calls or outcome.cut_calls:
            return Stop(state, f"the summary ended with {outcome.stop_reason}", TransitionCode.MODEL_ERROR)
        case Reply() if not outcome.text.strip():
            return Stop(state, "the summary was empty", TransitionCode.MODEL_ERROR)
        case Reply():
            return Stop(state, "summarised", TransitionCode.COMPLETED, outcome.content)
        case Fault(kind=FaultKind.CANCELLED):
            return Stop(state, "interrupted", TransitionCode.ABORTED_STREAMING)
        case Fault() if remedy_for(outcome) in RETRIED:
            alone = replace(state, fallbacks=())
            decision = try_again(alone, outcome, limits, situation)
            return decision.otherwise if isinstance(decision, OfferWait) else decision
        case Fault():
            return stop(state, outcome)


def decide_reply(state: TurnState, reply: Reply, limits: RecoveryLimits, situation: Situation) -> Decision:
    """The decision about `reply`."""
    if reply.stop_reason == "max_tokens":
        return decide_cut(state, reply, limits, situation)
    good = state.after_good_reply(reply.usage.output)
    if reply.calls or reply.cut_calls:
        return _run_tools(good, reply, limits)
    if reply.stop_reason == "tool_use":
        return _without_its_call(good, reply)
    if reply.stop_reason == "pause_turn" and reply.content:
        return _after_pause(good, reply, limits)
    nothing = not reply.text.strip() and (not state.said or reply.stop_reason == "pause_turn")
    if nothing and Remedy.ASK_AGAIN not in state.tried:
        asked = good.trying(Remedy.ASK_AGAIN)
        reason = "the answer was empty; asking again"
        return Continue(asked, reason, (), Nudge.EMPTY_REPLY, code=TransitionCode.MAX_OUTPUT_TOKENS_RECOVERY)
    if _budget_left(good, limits):
        nudged = replace(good, nudged_at=(*good.nudged_at, good.output_tokens), compacted=False)
        reason = f"{good.output_tokens:,} of {limits.token_budget:,} tokens used; going on"
        return Continue(
            nudged, reason, reply.content, Nudge.TOKEN_BUDGET, code=TransitionCode.TOKEN_BUDGET_CONTINUATION
        )
    if nothing:
        reason = "the answer was empty, also when asked again; try again, or use another model with --model"
        return Stop(good, reason, TransitionCode.EMPTY_ANSWER)
    reason = "answered" if reply.text.strip() else "the model had nothing to add"
    return Stop(good, reason, TransitionCode.COMPLETED, reply.content)


def _without_its_call(good: TurnState, reply: Reply) -> Decision:
    """The reply announces a tool call that is not there, as from a gateway that lost it: its text is no answer."""
    if good.malformed:
        reason = (
            "the reply ended as one that calls a tool, but held no call, also when asked again; the server or a "
            f"gateway loses calls: use another server, or another model{' with /model' * good.attended}"
        )
        return Stop(good, reason, TransitionCode.MALFORMED_TOOL_USE, speakable(reply.content))
    asked = replace(good, malformed=1)
    reason = "the reply announced a tool call and held none; asking again"
    return Continue(asked, reason, (), Nudge.NO_CALL, code=TransitionCode.MAX_OUTPUT_TOKENS_RECOVERY)


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
