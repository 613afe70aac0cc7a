"""Which entries of the transcript will not change any more, so that they can be printed."""

from collections.abc import Sequence

from harness.ui.transcript.entries import (
    AnswerEntry,
    CallEntry,
    Entry,
    NoteEntry,
    PromptEntry,
    ThinkingEntry,
    TurnEndEntry,
)


def finished_count(entries: Sequence[Entry]) -> int:
    """How many entries, from the first on, are finished."""
    settled = _settled_count(entries)
    for index, entry in enumerate(entries):
        if not _is_finished(entry, settled=index < settled, last=index == len(entries) - 1):
            return index
    return len(entries)


def _settled_count(entries: Sequence[Entry]) -> int:
    """Entries before this index precede a later reply, call or turn, and so belong to the history."""
    for index in range(len(entries) - 1, -1, -1):
        match entries[index]:
            case AnswerEntry(done=True) | CallEntry() | PromptEntry() | TurnEndEntry():
                return index
    return 0


def _is_finished(entry: Entry, *, settled: bool, last: bool) -> bool:
    match entry:
        case AnswerEntry(done=done):
            return done
        case ThinkingEntry(done=done):
            return done and settled  # the same reply may fail, and is then removed
        case CallEntry(outcome=None, running=running):
            return settled and not running
        case NoteEntry(replaces=replaces):
            return not (last and replaces)
        case _:
            return True


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
        case _:
            return before is now or before == now
