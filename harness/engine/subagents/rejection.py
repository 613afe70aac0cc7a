"""What whoever asked is told when a gate did not let a piece of work begin."""

from typing import Any, Literal

from harness.base.clock import time_of_day
from harness.base.errors import HarnessError
from harness.events import DropReason, GateName, RefusalReason
from harness.policies.admission.gate import Gate

Reason = DropReason | RefusalReason | Literal["replaced", "none_allowed"]
"""Why. "replaced": newer work of its key took its place; "none_allowed": there are no slots at all."""


class NotAdmitted(HarnessError):  # noqa: N818 (an answer of the gate)
    """The gate did not let a piece of work begin."""

    def __init__(self, sentence: str, reason: Reason, until: float | None = None) -> None:
        """
        Args:
            sentence: the whole of it for a person.
            reason: the same for a program.
            until: Unix time from which on it may be tried again, where that is known.
        """
        super().__init__(sentence)
        self.reason = reason
        self.until = until


def not_admitted(key: str, reason: Reason, gate: Gate[Any]) -> NotAdmitted:
    """The answer for work of `key`; for one that rests with the end of its pause."""
    breaker = gate.breaker(key)
    until = breaker.due if reason is DropReason.PAUSED else None
    return NotAdmitted(_sentence(key, reason, until, breaker.failures, gate.name), reason, until)


def _sentence(key: str, reason: Reason, until: float | None, failures: int, gate: GateName) -> str:
    match reason:
        case "none_allowed" if gate is GateName.AGENTS:
            return f"{key} did not start: no agent may run; --max-concurrent allows some."
        case "none_allowed":
            return f"{key} did not start: nothing may run in the background; the setting max_background allows some."
        case "replaced":
            return f"{key} did not start with this: newer work for it took its place."
        case DropReason.PAUSED:
            when = "" if until is None else f" until {time_of_day(until)}"
            return f"{key} rests{when}: it failed {failures} times in a row; after that it may try again."
        case DropReason.QUEUE_FULL:
            return f"{key} did not start: as many run as may, and none may wait; --max-queue-size allows some."
        case DropReason.ENDED | RefusalReason.NOT_KNOWN:
            return f"{key} did not start: it has been ended."
        case DropReason.WITHDRAWN:
            return f"{key} did not start: it is not wanted any more."
        case DropReason.SHUTTING_DOWN | RefusalReason.SHUTTING_DOWN:
            return f"{key} did not start: the session is closing."
