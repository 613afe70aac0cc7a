"""What to do about a prompt that is too long: drain, compact, or say why neither can help
(docs/design/recovery.md#prompt-too-long).
"""

from dataclasses import replace

from harness.events import Fault, FaultKind, TransitionCode
from harness.policies.recovery.compaction import MIN_GAIN
from harness.policies.recovery.cut_replies import FLOOR, MARGIN
from harness.policies.recovery.decisions import Compact, Decision, Drain, Stop
from harness.policies.recovery.messages import advice, shorter, start_over
from harness.policies.recovery.state import RecoveryLimits, Situation, TurnState

ROOMY = 32_768
"""Tokens of a window that is large enough to work in; the advice if one is too small."""
CUTS = 4
"""Times that a history which is too long after its compaction is cut by half."""
UNLIKE = 4
"""An estimate and a size that a server names are of different prompts if they differ by this factor or more."""


def decide_too_long(state: TurnState, fault: Fault, limits: RecoveryLimits, situation: Situation) -> Decision:
    """Drain, then compact, then cut, then give up (docs/design/recovery.md#prompt-too-long)."""
    too_long = TransitionCode.PROMPT_TOO_LONG
    if misfit := _misfit(fault, situation):
        return Stop(state, misfit, too_long)
    if not limits.compaction:
        reason = f"{fault.message}; compaction is off: {shorter(state.attended)}"
        return Stop(state, reason, too_long)
    excess = _excess(state, fault)
    if excess is not None and not state.drained and not state.compacted and situation.drainable_tokens >= excess:
        reason = f"{fault.message}; shortening old tool results"
        return Drain(replace(state, drained=True), reason, excess, code=TransitionCode.COLLAPSE_DRAIN_RETRY)
    if state.compacted and state.cuts < CUTS:
        cut = replace(state, cuts=state.cuts + 1, retries=0, cut_at=0)
        sizes = (fault.input_tokens, fault.limit)
        return Compact(cut, fault.message, *sizes, only_cut=True, code=TransitionCode.REACTIVE_COMPACT_RETRY)
    if state.compacted:
        reason = f"still too long after compaction ({fault.message}); {advice(fault.kind, attended=state.attended)}"
        return Stop(state, reason, too_long)
    if state.overflows.thrashing(state.steps):
        reason = f"{fault.message}; compaction no longer helps: {situation.largest}; {start_over(state.attended)}"
        return Stop(state, reason, TransitionCode.COMPACTION_THRASH)
    overflows = state.overflows.compacting(state.steps)
    compacted = replace(state, compacted=True, cuts=0, drained=True, retries=0, cut_at=0, overflows=overflows)
    code = TransitionCode.REACTIVE_COMPACT_RETRY
    return Compact(compacted, fault.message, fault.input_tokens, fault.limit, code=code)


def _misfit(fault: Fault, situation: Situation) -> str:
    """Why no shortening can help: system prompt and tools alone do not fit. Empty: they may fit.

    If the server named both sizes, they decide, unless its count of the prompt and our estimate are unrelated.
    Otherwise the estimate decides, and only before the first answer, because a prompt that was answered did fit.
    """
    fixed, whole = situation.fixed_tokens, max(1, situation.prompt_tokens)
    scale = fault.input_tokens / whole if fault.input_tokens and fault.limit else 1.0
    known = fixed and fault.stop_reason is None and 1 / UNLIKE < scale < UNLIKE
    overflow = fault.kind is FaultKind.MAX_TOKENS_OVERFLOW
    if fault.kind is FaultKind.REQUEST_TOO_LARGE or not known or (overflow and fault.input_tokens is None):
        return ""  # the last is a limit of the answer, not of the window
    answer = FLOOR if overflow else 0
    if fault.limit is None:
        misfits = not situation.answered and whole - fixed < MIN_GAIN * whole
    else:
        misfits = fixed * scale + answer + MARGIN > fault.limit
        misfits = misfits and (fault.input_tokens is not None or not situation.answered)
    return no_room(situation, fault.limit, scale) if misfits else ""


def no_room(situation: Situation, window: int | None, scale: float = 1.0) -> str:
    """The advice if system prompt and tools alone fill the window.

    Args:
        window: its size in tokens, if it is known.
        scale: tokens of the server for one of our estimate.
    """
    parts = f"the system prompt (about {situation.system_tokens * scale:,.0f} tokens)"
    parts += f" and the tools (about {situation.tool_tokens * scale:,.0f})" if situation.tool_tokens else ""
    size = f" of {window:,} tokens" if window else ""
    return (
        f"{parts} leave no room for a conversation in the model's window{size}, which no shortening can change; "
        f"start the server with a larger window ({ROOMY:,} tokens or more), or use another model with --model"
    )


def _excess(state: TurnState, fault: Fault) -> int | None:
    """Tokens that must be removed from the prompt, if the server named the sizes."""
    if not fault.input_tokens or not fault.limit:
        return None
    answer = max(FLOOR, state.cut_at) if fault.kind is FaultKind.MAX_TOKENS_OVERFLOW else 0
    excess = fault.input_tokens + answer + MARGIN - fault.limit
    return excess if excess > 0 else None
