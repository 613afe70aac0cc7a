"""A moment of a recorded session: what its journal held by then."""

from collections.abc import Iterable, Iterator
from pathlib import Path

from harness.base.errors import JournalError
from harness.events import StepStarted
from harness.journal import Record, read


def moment_of(path: Path, *, step: int | None = None, seq: int | None = None) -> tuple[Record, ...]:
    """The records up to the end of a step, or up to a record; all of them when neither is named.

    Raises JournalError when the journal has no such step or record.
    """
    records = read(path).records
    if step is not None:
        require_step(path, records, step)
        return tuple(until(records, step))
    if seq is None:
        return records
    if not any(record.seq == seq for record in records):
        last = max((record.seq for record in records), default=0)
        raise JournalError(f"{path.name} has no record {seq}; its records are 1 to {last}.")
    return tuple(record for record in records if record.seq <= seq)


def require_step(path: Path, records: Iterable[Record], step: int) -> None:
    """Raise JournalError, with the steps there are, when the journal has no such step."""
    last = max((record.event.step for record in records if isinstance(record.event, StepStarted)), default=0)
    if not 0 < step <= last:
        raise JournalError(f"{path.name} has no step {step}; its steps are 1 to {last}.")


def until(records: Iterable[Record], at: int | None) -> Iterator[Record]:
    """The records up to the end of step `at`; None: all of them."""
    for record in records:
        if at is not None and isinstance(record.event, StepStarted) and record.event.step > at:
            return
        yield record
