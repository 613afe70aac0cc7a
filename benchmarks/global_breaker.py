"""What one breaker over everything would have done in recorded sessions (docs/design/admission.md#global-breaker).

    python -m benchmarks.global_breaker docs/sessions/*.jsonl

Two keys are tried with the limits that single keys have: "tools", all tool calls of a session (distances in steps), and
"agents", all its subagents (distances in seconds). For each key: calls, failures, how often it opened, and how
many calls it would have blocked that succeeded and that failed.
"""

import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.events import AgentEnd, AgentEnded, BreakerState, Dispatch, Dispatched, StepStarted, ToolEnded, ToolOutcome
from harness.journal import Record, read
from harness.policies.breakers.breaker import Breaker, BreakerLimits

LIMITS = {"tools": BreakerLimits(), "agents": BreakerLimits(5, (60.0, 120.0, 240.0, 300.0))}
COUNTED = (ToolOutcome.OK, ToolOutcome.ERROR, ToolOutcome.BROKEN)


@dataclass(slots=True)
class Tally:
    """What became of the calls of one key."""

    calls: int = 0
    failed: int = 0
    opened: int = 0
    good_blocked: int = 0
    bad_blocked: int = 0

    def __str__(self) -> str:
        blocked = f"blocked {self.good_blocked} that succeeded, {self.bad_blocked} that failed"
        return f"{self.calls} calls, {self.failed} failed, opened {self.opened}; {blocked}"


def results(records: Iterable[Record]) -> Iterator[tuple[str, float, bool]]:
    """Key, moment and success of everything that ran."""
    ran: set[str] = set()
    step = 0
    for record in records:
        match record.event:
            case StepStarted(step=step):
                pass
            case Dispatched(call_id=call, dispatch=Dispatch.CALL | Dispatch.PROBE):
                ran.add(call)
            case ToolEnded(call_id=call, outcome=outcome, failure=failure) if call in ran and outcome in COUNTED:
                yield "tools", step, failure is None
            case AgentEnded(end=end) if end is not AgentEnd.CANCELLED:
                yield "agents", record.at, end is AgentEnd.ANSWERED


def tallies(records: Iterable[Record]) -> dict[str, Tally]:
    """What a global breaker would have done. A call that it would have blocked teaches it nothing."""
    breakers, found = dict.fromkeys(LIMITS, Breaker()), {key: Tally() for key in LIMITS}
    for key, now, good in results(records):
        breaker, limits, tally = breakers[key], LIMITS[key], found[key]
        tally.calls += 1
        tally.failed += not good
        if breaker.state is BreakerState.OPEN and not breaker.probe_due(now):
            tally.good_blocked += good
            tally.bad_blocked += not good
            continue
        if breaker.state is BreakerState.OPEN:
            breaker = breaker.probing(now, limits)
        before = breaker.state
        breakers[key] = breaker = breaker.succeeded() if good else breaker.failed(now, limits)
        tally.opened += breaker.state is BreakerState.OPEN and before is not BreakerState.OPEN
    return found


def main(paths: list[str]) -> None:
    """Print a line for each session and key."""
    for path in map(Path, paths):
        for key, tally in tallies(read(path).records).items():
            if tally.calls:
                print(f"{path.stem[:24]:<24}  {key:<6}  {tally}")


if __name__ == "__main__":
    main(sys.argv[1:])
