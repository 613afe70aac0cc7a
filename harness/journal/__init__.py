"""The append-only record of a session: write, read, repair, replay, list, fork.

A journal is one file of JSON lines, one event a line, oldest first:

    {"seq": 7, "at": 1763697912.4, "type": "turn_started", "turn": 1, "prompt": "hello"}

It is plain ASCII (everything else is escaped), has exactly one writer at a time, and every line is
handed to the operating system before the agent goes on, so that a killed process loses at most the
line it was writing (recovery K1). Reading never fails for what a file holds: what cannot be read is
skipped and counted. Whatever the program knows of an old session it knows from this file alone (K2).
"""

from harness.journal.compaction_count import Shortenings
from harness.journal.fork import fork
from harness.journal.lock import writer_of
from harness.journal.paths import (
    agents_folder,
    new_session_id,
    outputs_folder,
    session_folder,
    state_folder,
    workspace_slug,
)
from harness.journal.plans import Plans
from harness.journal.records import BadLine, LineReader, Reading, Record, read
from harness.journal.replay import Measured, SessionState, replay, title_of
from harness.journal.rewind_points import RewindPoint, rewind_point, surviving
from harness.journal.sessions import SessionSummary, find, sessions
from harness.journal.writer import Journal

__all__ = [
    "BadLine",
    "Journal",
    "LineReader",
    "Measured",
    "Plans",
    "Reading",
    "Record",
    "RewindPoint",
    "SessionState",
    "SessionSummary",
    "Shortenings",
    "agents_folder",
    "find",
    "fork",
    "new_session_id",
    "outputs_folder",
    "read",
    "replay",
    "rewind_point",
    "session_folder",
    "sessions",
    "state_folder",
    "surviving",
    "title_of",
    "workspace_slug",
    "writer_of",
]
