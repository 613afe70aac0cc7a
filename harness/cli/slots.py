"""`harness gate status`: who runs and who waits in all sessions of a person on this machine."""

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from harness.base.clock import time_of_day
from harness.base.terminal_text import visible
from harness.events import Json
from harness.journal import state_folder
from harness.settings import Settings
from harness.slots.sqlite import SqliteStore, slots_file
from harness.slots.store import Entry

HEADING = ("", "session", "agent", "pid", "since", "limit", "lease")


@dataclass(frozen=True, slots=True)
class SlotsStatus:
    """What stands in the file that sessions share, at one moment."""

    file: Path
    shared: bool
    """Whether sessions with these settings share at all."""
    limit: int
    """What sessions with these settings go by; others may go by another number."""
    at: float
    """Unix time in seconds."""
    entries: tuple[Entry, ...] = ()
    """In the order in which they came."""
    cells: tuple[tuple[str, str], ...] = ()
    """What sessions tell each other besides, by name: how the endpoints of models fare."""


def slots_status(settings: Settings) -> SlotsStatus:
    """Look into the file; nothing is made where there is none. Raises SlotsError when it cannot be used."""
    file, now = slots_file(state_folder(settings.state_dir)), time.time()
    status = (file, settings.shared_gate, settings.max_concurrent, now)
    if not file.exists():
        return SlotsStatus(*status)
    store = SqliteStore(file)
    try:
        return SlotsStatus(*status, store.entries(now), tuple(store.cells().items()))
    finally:
        store.close()


def status_lines(status: SlotsStatus) -> Iterator[str]:
    """The status for a person."""
    if not status.shared:
        yield "sessions with these settings count for themselves (shared_gate is off)"
    if not status.file.exists():
        yield f"No session has shared its agents' slots yet; they would stand in {status.file}"
        return
    run = sum(entry.started is not None for entry in status.entries)
    yield f"{run} of {status.limit} run, {len(status.entries) - run} wait"
    if status.entries:
        rows = [HEADING, *(_row(entry, status.at) for entry in status.entries)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
    for name, text in status.cells:
        yield f"{visible(name)}: {visible(text)}"


def as_json(status: SlotsStatus) -> Json:
    """The status for a program. Moments are Unix seconds."""
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


def _row(entry: Entry, now: float) -> tuple[str, ...]:
    owner = entry.claim.owner
    return (
        "waits" if entry.started is None else "runs",
        visible(owner.session),
        visible(entry.claim.label),
        str(owner.pid),
        time_of_day(entry.since if entry.started is None else entry.started),
        str(entry.limit),
        f"{max(0.0, entry.expires - now):.1f} s",
    )
