"""What may be printed for good, and what may still change."""

from harness.events import ToolOutcome
from harness.ui.inline.finished import finished_count, same_until
from harness.ui.lines.line import Line
from harness.ui.transcript.entries import (
    AnswerEntry,
    CallEntry,
    Entry,
    NoteEntry,
    PromptEntry,
    TextEntry,
    ThinkingEntry,
)

PROMPT = PromptEntry(1, "hello", 0.0)
DONE = CallEntry("c1", "bash", "ls", 0.0, outcome=ToolOutcome.OK)
RUNS = CallEntry("c2", "bash", "ls", 0.0, running=True)


def finished(*entries: Entry) -> int:
    return finished_count(entries)


def test_an_answer_is_printed_when_it_has_joined_the_history() -> None:
    assert finished(PROMPT, AnswerEntry("He")) == 1
    assert finished(PROMPT, AnswerEntry("Hello.", done=True)) == 2


def test_nothing_is_printed_past_what_still_runs() -> None:
    assert finished(PROMPT, RUNS, DONE) == 1
    assert finished(PROMPT, DONE, RUNS, TextEntry("output of a command")) == 2


def test_a_call_without_an_end_is_printed_when_something_follows_it() -> None:
    skipped = CallEntry("c3", "grep", "x", 0.0)
    assert finished(PROMPT, skipped) == 1
    assert finished(PROMPT, skipped, AnswerEntry("Done.", done=True)) == 3


def test_a_call_waits_for_its_turn_as_long_as_only_calls_follow_it() -> None:
    waiting = CallEntry("c3", "bash", "x", 0.0)
    assert finished(PROMPT, waiting, RUNS, DONE) == 1
    assert finished(PROMPT, waiting, DONE) == 1


def test_a_call_that_started_no_agent_waits_for_those_that_may_join_it() -> None:
    refused = CallEntry("c3", "agent", "x", 0.0, outcome=ToolOutcome.ERROR)
    assert finished(PROMPT, refused) == 1
    assert finished(PROMPT, refused, CallEntry("c4", "agent", "y", 0.0)) == 1
    assert finished(PROMPT, refused, DONE) == 3


def test_thinking_waits_for_its_reply_because_a_failed_one_is_removed() -> None:
    thought = ThinkingEntry("hm", done=True)
    assert finished(PROMPT, thought, AnswerEntry("He")) == 1
    assert finished(PROMPT, thought, AnswerEntry("Hello.", done=True)) == 3


def test_a_note_that_the_next_one_may_replace_waits() -> None:
    retry = NoteEntry(Line("↻", "next try in 2 s"), "retry")
    assert finished(PROMPT, retry) == 1
    assert finished(PROMPT, retry, AnswerEntry("Hello.", done=True)) == 3


def test_the_note_of_a_compaction_waits_for_its_end() -> None:
    note = NoteEntry(Line("◌", "compacting"), "compaction")
    assert finished(PROMPT, note, NoteEntry(Line("↻", "next try in 2 s"))) == 1
    assert finished(PROMPT, note, AnswerEntry("Hello.", done=True)) == 3


def test_a_late_change_of_a_call_is_no_rewind_but_a_missing_entry_is() -> None:
    labelled = CallEntry("c1", "bash", "ls", 0.0, outcome=ToolOutcome.OK, label="outdated")
    assert same_until((PROMPT, DONE), (PROMPT, labelled, RUNS)) == 2
    assert same_until((PROMPT, DONE), (PROMPT,)) == 1
    assert same_until((PROMPT, DONE), (TextEntry("cleared"),)) == 0
