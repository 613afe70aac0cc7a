"""`harness admission status`: the running and queued agents of all sessions of a user."""

import time
from collections.abc import Iterator
from dataclasses import dataclass

from harness.base.clock import time_of_day
from harness.base.external_text import visible
from harness.engine.store_places import Place, slots_place
from harness.events import Json
from harness.settings import Settings
from harness.slots.store import ClaimEntry, SqliteSlotStore

HEADING = ("", "session", "agent", "pid", "since", "limit", "lease")


@dataclass(frozen=True, slots=True)
class SlotsStatus:
    """A snapshot of the file that sessions share."""

    file: Place
    shared: bool
    """Sessions with these settings share their slots."""
    limit: int
    """Limit of sessions with these settings; others may have another."""
    at: float
    """Unix time in seconds."""
    entries: tuple[ClaimEntry, ...] = ()
    """Oldest first."""
    cells: tuple[tuple[str, str], ...] = ()
    """Other shared values by name: the health of model endpoints."""


def slots_status(settings: Settings) -> SlotsStatus:
    """Read the file; does not create one. Raises SlotsError if it cannot be used."""
    file, now = slots_place(settings), time.time()
    status = (file, settings.shared_admission, settings.max_concurrent, now)
    if not file.exists():
        return SlotsStatus(*status)
    store = SqliteSlotStore(file)
    try:
        return SlotsStatus(*status, store.entries(now), tuple(store.cells().items()))
    finally:
        store.close()


def status_lines(status: SlotsStatus) -> Iterator[str]:
    """The status as text."""
    if not status.shared:
        yield "sessions with these settings do not share slots (shared_admission is off)"
    if not status.file.exists():
        yield f"No session has shared slots yet ({status.file} does not exist)"
        return
    run = sum(entry.started is not None for entry in status.entries)
    yield f"{run} of {status.limit} running, {len(status.entries) - run} queued"
    if status.entries:
        rows = [HEADING, *(_row(entry, status.at) for entry in status.entries)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
    for name, text in status.cells:
        yield f"{visible(name)}: {visible(text)}"


def as_json(status: SlotsStatus) -> Json:
    """The status as JSON; times are Unix seconds."""
    entries = [
        {
            "session": entry.claim.owner.session,
            "agent": entry.claim.label,
            "pid": entry.claim.owner.pid,
            "state": "runs" if entry.started is not None else "waits",
            "since": entry.since,
            "started": entry.started,
            "expires": entry.expires,
            "limit": entry.limit,
        }
        for entry in status.entries
    ]
    return {
        "file": str(status.file),
        "shared": status.shared,
        "limit": status.limit,
        "at": status.at,
        "entries": entries,
        "cells": dict(status.cells),
    }


def _row(entry: ClaimEntry, now: float) -> tuple[str, ...]:
    owner = entry.claim.owner
    return (
        "queued" if entry.started is None else "running",
        visible(owner.session),
        visible(entry.claim.label),
        str(owner.pid),
        time_of_day(entry.since if entry.started is None else entry.started),
        str(entry.limit),
        f"{max(0.0, entry.expires - now):.1f} s",
    )
