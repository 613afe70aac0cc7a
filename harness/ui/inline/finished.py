"""Finds the entries of the transcript that are final and can be printed."""

from collections.abc import Sequence

from harness.ui.transcript.calls import started_nothing
from harness.ui.transcript.entries import (
    AnswerEntry,
    CallEntry,
    ChecklistEntry,
    Entry,
    NoteEntry,
    PromptEntry,
    ThinkingEntry,
    TurnEndEntry,
)
from harness.ui.transcript.fold import COMPACTS


def finished_count(entries: Sequence[Entry]) -> int:
    """How many entries, from the first on, are finished."""
    settled = _settled_count(entries, calls=True)
    over = _settled_count(entries, calls=False)
    for index, entry in enumerate(entries):
        below = entries[index + 1] if index + 1 < len(entries) else None
        if not _is_finished(entry, below, settled=index < settled, over=index < over):
            return index
    return len(entries)


def _settled_count(entries: Sequence[Entry], *, calls: bool) -> int:
    """Entries before this index precede a later reply, turn or, with `calls`, call, and so belong to the history."""
    for index in range(len(entries) - 1, -1, -1):
        match entries[index]:
            case AnswerEntry(done=True) | PromptEntry() | TurnEndEntry():
                return index
            case CallEntry() if calls:
                return index
    return 0


def _is_finished(entry: Entry, below: Entry | None, *, settled: bool, over: bool) -> bool:
    match entry:
        case AnswerEntry(done=done):
            return done
        case ThinkingEntry(done=done):
            return done and settled  # the same reply may fail, and is then removed
        case CallEntry(outcome=None, running=running):
            return over and not running  # a call that follows it may be one of the same reply
        case CallEntry() if started_nothing(entry):
            return below is not None and not _is_open(below)  # the next call may join it
        case NoteEntry(replaces=kind) if kind == COMPACTS:
            return over
        case NoteEntry(replaces=replaces):
            return not (below is None and replaces)
        case _:
            return True


def _is_open(entry: Entry | None) -> bool:
    return isinstance(entry, CallEntry) and entry.outcome is None


def same_until(before: Sequence[Entry], now: Sequence[Entry]) -> int:
    """The index from which `now` no longer continues `before`, such as after a rewind; else the length of `before`.

    A call is the same after a late change, such as a label on its result.
    """
    for index, entry in enumerate(before):
        if index >= len(now) or not _same(entry, now[index]):
            return index
    return len(before)


def _same(before: Entry, now: Entry) -> bool:
    match before, now:
        case CallEntry(call_id=first), CallEntry(call_id=second):
            return first == second
        case ChecklistEntry(), ChecklistEntry():
            return True  # the lines of the calls show what has changed since
        case _:
            return before is now or before == now
