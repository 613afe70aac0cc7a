"""The append-only record of a session: write, read, repair, replay, list, fork.

A journal is one file of JSON lines, one event per line, oldest first:

    {"seq": 7, "at": 1763697912.4, "type": "turn_started", "turn": 1, "prompt": "hello"}

It is plain ASCII (everything else is escaped) and has exactly one writer at a time. Every line is handed to the
operating system before the agent continues, so a killed process loses at most the line it was writing. Reading never
fails because of the contents: unreadable lines are skipped and counted. A session is restored from this file alone.
"""

from harness.base.errors import JournalError
from harness.journal.records import JournalContents, LineReader, Record, SkippedLine, read
from harness.journal.session_state import (
    CompactionCounts,
    PlanHistory,
    RewindPoint,
    SessionState,
    TokenMeasurement,
    after,
    replay,
    title_of,
)
from harness.journal.sessions import (
    WORKTREES,
    SessionSummary,
    agents_folder,
    close_to_others,
    find,
    fork,
    name_of_session,
    new_session_id,
    outputs_folder,
    rename,
    search,
    session_folder,
    sessions,
    slug_of_tree,
    state_folder,
    workspace_slug,
)
from harness.journal.writer import Journal, Recorder, unobserved, writer_of

__all__ = [
    "WORKTREES",
    "CompactionCounts",
    "Journal",
    "JournalContents",
    "JournalError",
    "LineReader",
    "PlanHistory",
    "Record",
    "Recorder",
    "RewindPoint",
    "SessionState",
    "SessionSummary",
    "SkippedLine",
    "TokenMeasurement",
    "after",
    "agents_folder",
    "close_to_others",
    "find",
    "fork",
    "name_of_session",
    "new_session_id",
    "outputs_folder",
    "read",
    "rename",
    "replay",
    "search",
    "session_folder",
    "sessions",
    "slug_of_tree",
    "state_folder",
    "title_of",
    "unobserved",
    "workspace_slug",
    "writer_of",
]
