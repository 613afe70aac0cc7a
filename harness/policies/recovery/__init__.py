"""What to do when a model call does not come back whole, and when it does.

A policy with no I/O, no clock and no randomness: facts go in, a decision comes out. `agent.py` carries
decisions out; this room never does. Time, chance and sizes are handed in as a `Situation`, what has
happened in the turn as a frozen `TurnState`, and every decision carries the state that follows from it.

Where to read on:

* `transitions`  the codes: why the loop goes round or ends, as a table that is printed and tested
* `responses`    the other table: what each kind of fault is answered with
* `policy`       `decide(state, outcome, situation)`, and the checks before a request and after tools
* `replies`      what to do with a whole reply
* `faults`       what to do about a fault
* `decisions`    everything that can be decided
* `endpoints`    which models are overloaded: the breaker of `harness.policies.breakers`, one for each
* `backoff`      how long to wait
* `retry_budget` how many retries all agents of a program have together
* `output_cap`   how many tokens to ask for, and what to do when they were not enough
* `compaction`   when and how to make a history shorter, and when to stop trying
* `shrinking`    the deterministic last resort that always works
* `joining`      one text out of an answer that came in pieces
* `printed`      the two tables as pages, for a terminal and for the documentation

The machine keeps itself honest by three rules. A retry of the same request is no step and has no
code; everything else that makes the loop go round has exactly one. Every way round has a counter in
`TurnState` that only grows within its scope, so no path is endless. And what was decided is never
worked out from the text of an error, only from its classified kind.
"""

from harness.policies.recovery.decisions import (
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
from harness.policies.recovery.policy import (
    after_tools,
    at_the_end,
    before_request,
    before_turn,
    counted,
    decide,
    decide_summary,
    nearly_full,
    over_budget,
)
from harness.policies.recovery.state import RecoveryLimits, Situation, TurnState

__all__ = [
    "Compact",
    "Continue",
    "Decision",
    "Drain",
    "Mend",
    "Mending",
    "Nudge",
    "OfferWait",
    "RecoveryLimits",
    "Resend",
    "RunTools",
    "Situation",
    "Stop",
    "SwitchModel",
    "TurnState",
    "Wait",
    "after_tools",
    "at_the_end",
    "before_request",
    "before_turn",
    "counted",
    "decide",
    "decide_summary",
    "nearly_full",
    "over_budget",
]
