"""One entry of a script: what a request is answered with.

The TOML form is described in SCRIPTS.md; `entry_toml` reads it.
"""

from dataclasses import dataclass

from harness.practice.conditions import When
from harness.practice.faults import StatusFault, StreamFault
from harness.practice.replies import ScriptedReply


@dataclass(frozen=True, slots=True)
class Play:
    """Answer with a reply, whole or with a fault in it."""

    reply: ScriptedReply | None = None
    """None: the model behind answers, that is the improviser, or the upstream server of a proxy."""
    fault: StreamFault | None = None


@dataclass(frozen=True, slots=True)
class Step:
    """One entry of a script."""

    action: Play | StatusFault
    times: int | None = 1
    """How many requests it answers; None: any number."""
    when: When | None = None
    """None: the entry takes its turn in the list. Otherwise it waits aside for a request that fits."""
