"""Observations for tests: short ways to say what an agent did."""

from dataclasses import dataclass

from harness.escape.detectors import Detectors
from harness.escape.digests import action_of, digest, result_of
from harness.escape.observations import Call, Poll, Visit
from harness.events import ErrorClass, Loop, Projection


@dataclass(frozen=True, slots=True)
class Did:
    """One call of a stream."""

    tool: str
    arguments: str = ""
    result: str = ""
    ok: bool = True
    mutates: bool = False
    poll: Poll | None = None
    error: str | None = None
    """Signature of the failure; None: as the result says."""
    after: float = 1.0
    """Seconds since the step before."""


def call(did: Did, step: int = 1, at: float = 0.0, number: int = 1) -> Call:
    """The observation of one call."""
    failed = "" if did.ok else did.error if did.error is not None else digest(did.tool, did.result)
    return Call(
        number=number,
        step=step,
        at=at,
        wall=1.7e9 + at,
        call_id=f"call_{number}",
        tool=did.tool,
        action=action_of(did.tool, {"input": did.arguments}),
        result=result_of(did.result),
        ok=did.ok,
        error=failed,
        error_class=None if did.ok else ErrorClass.UNKNOWN,
        mutates=did.mutates,
        poll=did.poll,
        summary=f"{did.tool} {did.arguments}".strip(),
    )


def visit(node: str, state: str = "", number: int = 1) -> Visit:
    """The observation of one visit."""
    return Visit(number=number, step=number, at=float(number), wall=1.7e9 + number, node=node, state=state)


class Watch:
    """Detectors that are shown a stream, on a virtual clock."""

    def __init__(self, detectors: Detectors | None = None) -> None:
        self.detectors = detectors or Detectors()
        self.step = 0
        self.at = 0.0

    def see(self, *dids: Did) -> tuple[Loop, ...]:
        """One step; returns the verdicts after it."""
        self.step += 1
        self.at += max((did.after for did in dids), default=0.0)
        self.detectors.see_step([call(did, self.step, self.at, number) for number, did in enumerate(dids, 1)])
        return self.detectors.verdicts()

    def projections(self) -> list[Projection]:
        """Of the verdicts, strongest first."""
        return [loop.projection for loop in self.detectors.verdicts()]
