"""Sixty streams of tool calls, as plain data: thirty loops, and thirty pieces of legitimate work that look like loops.

They stand beside the first fixture and were written before any threshold was tuned. `FIRST` may be looked
at while tuning; `SECOND` is run at the end, and its figures say how far those of the first half can be believed.
"""

from tests.policies.loops import scenarios_first, scenarios_second

FIRST = (*scenarios_first.LOOPS, *scenarios_first.WORK)
"""Fifteen loops and fifteen pieces of work to tune with."""
SECOND = (*scenarios_second.LOOPS, *scenarios_second.WORK)
"""As many again, for the end."""
