"""Recovery: what to do when a model call did not come back whole, and when it did (docs/design/recovery.md).

Pure: time, random numbers and sizes come in as a `Situation`, the turn so far as an immutable `TurnState`, and every
decision carries the next state. The engine carries decisions out.

For a reply read `policy` and `cut_replies`; for a fault `fault_decisions`, then `transitions`, the table of codes. A
retry of the same request is not a step and has no code; everything else that continues the loop has one. Each
continuation has a counter that only grows within its scope, so that no path is endless. Nothing is decided by the text
of an error.
"""

from harness.policies.recovery.decisions import (
    Compact,
    Continue,
    Decision,
    Drain,
    Nudge,
    OfferWait,
    Repair,
    Resend,
    RetryWait,
    RunTools,
    Stop,
    SwitchModel,
)
from harness.policies.recovery.policy import (
    after_tools,
    at_answer,
    at_turn_end,
    before_request,
    before_turn,
    counted,
    decide,
    decide_summary,
    nearly_full,
    over_budget,
)
from harness.policies.recovery.state import RecoveryLimits, Situation, TurnState
from harness.policies.recovery.transitions import Remedy

__all__ = [
    "Compact",
    "Continue",
    "Decision",
    "Drain",
    "Nudge",
    "OfferWait",
    "RecoveryLimits",
    "Remedy",
    "Repair",
    "Resend",
    "RetryWait",
    "RunTools",
    "Situation",
    "Stop",
    "SwitchModel",
    "TurnState",
    "after_tools",
    "at_answer",
    "at_turn_end",
    "before_request",
    "before_turn",
    "counted",
    "decide",
    "decide_summary",
    "nearly_full",
    "over_budget",
]
