"""Whatever events come, and in whatever order: nothing raises, and what is said to have changed is all that did."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.events import (
    CheckpointMade,
    Dispatch,
    Dispatched,
    DispatchReason,
    Event,
    Failure,
    FailureCategory,
    FreshnessLabel,
    HistoryReplaced,
    Message,
    MessageAdded,
    Notice,
    Origin,
    PartialDiscarded,
    PermissionAsked,
    Rank,
    RequestSent,
    ResultLabelled,
    Route,
    Rung,
    SessionResumed,
    StepStarted,
    TextDelta,
    ThinkingDelta,
    ToolEnded,
    ToolOutcome,
    ToolStarted,
    TransitionCode,
    TurnEnded,
    TurnStarted,
    Usage,
)
from harness.ui.transcript.entries import Answer, Entry, Shown, Thinking
from harness.ui.transcript.folding import Transcript
from harness.ui.transcript.look import entry_content
from tests.ui.loops import BACK, FOUND, LEFT, REPORT, took

TEXT = st.text(st.sampled_from("ab *`\n|-\x1b[天"), max_size=8)
ID = st.sampled_from(["c1", "c2", "shell-1"])
TOOL = st.sampled_from(["grep", "bash"])
ROUTES = st.sampled_from([(), (Route(Rank.LOW, "rg", "format", "bash"),), (Route(Rank.MANUAL, "look", "time"),)])
BLOCKS = st.lists(
    st.one_of(
        st.builds(lambda text: {"type": "text", "text": text}, TEXT),
        st.builds(lambda text: {"type": "thinking", "thinking": text}, TEXT),
        st.just({"type": "redacted_thinking", "data": "x"}),
    ),
    max_size=3,
).map(tuple)
MESSAGES: st.SearchStrategy[Any] = st.builds(Message, st.just("assistant"), BLOCKS)
FAILURES = st.one_of(st.none(), st.just(Failure(FailureCategory.TIMEOUT, "slow")))
REASONS: st.SearchStrategy[Any] = st.sampled_from(["compaction", "clear", "rewind", "rollback", "thinking", "repair"])
END = TurnEnded(1, TransitionCode.MODEL_ERROR, "no", "", Usage(), 0.0, 1, 1, 2.0)

EVENTS: st.SearchStrategy[Event] = st.one_of(
    st.builds(TextDelta, TEXT),
    st.builds(ThinkingDelta, TEXT),
    st.builds(PartialDiscarded, st.integers(-1, 20), TEXT),
    st.just(RequestSent("claude", 1, 1, 1)),
    st.builds(MessageAdded, MESSAGES, st.sampled_from(Origin)),
    st.builds(HistoryReplaced, st.lists(MESSAGES, max_size=4).map(tuple), REASONS),
    st.builds(TurnStarted, st.integers(1, 3), TEXT),
    st.just(END),
    st.builds(SessionResumed, TEXT, TEXT, TEXT, st.booleans()),
    st.builds(StepStarted, st.integers(1, 9)),
    st.builds(Notice, st.just("info"), TEXT),
    st.builds(
        Dispatched,
        ID,
        TOOL,
        st.sampled_from(Dispatch),
        st.just(DispatchReason.HEALTHY),
        st.just(0),
        st.just(0),
        TEXT,
        ROUTES,
    ),
    st.builds(PermissionAsked, ID, TOOL, TEXT, TEXT),
    st.builds(ToolStarted, ID, TOOL, TEXT, st.sampled_from([{}, {"command": "ls"}, {"command": 1}])),
    st.builds(
        ToolEnded, ID, TOOL, st.sampled_from(ToolOutcome), TEXT, st.floats(0, 1e6), TEXT, st.none() | TEXT, FAILURES
    ),
    st.sampled_from([FOUND, LEFT, BACK, REPORT, took(Rung.NUDGE)]),
    st.builds(CheckpointMade, ID, st.just(1), st.just(1), st.just("git"), st.just(1), st.lists(TEXT).map(tuple)),
    st.builds(ResultLabelled, ID, TOOL, st.sampled_from(FreshnessLabel), TEXT),
)


@given(st.lists(EVENTS | TEXT, max_size=40))
def test_what_is_said_to_have_changed_is_all_that_did(events: list[Event | str]) -> None:
    transcript = Transcript()
    drawn: list[Entry] = []
    for second, event in enumerate(events):
        if isinstance(event, str):
            transcript.show(Shown(event))
        else:
            transcript.see(event, float(second))
        changes = transcript.take()
        if changes is not None:
            drawn[changes.first :] = transcript.entries[changes.first :]
        assert drawn == list(transcript.entries)


@given(st.lists(EVENTS, max_size=40))
def test_when_a_turn_ends_no_piece_has_left_a_trace_of_its_own(events: list[Event]) -> None:
    live, journal = Transcript(), Transcript()
    for second, event in enumerate([*events, END]):
        live.see(event, float(second))
        if not event.transient:
            journal.see(event, float(second))
    assert list(live.entries) == list(journal.entries)
    assert all(entry.done for entry in live.entries if isinstance(entry, Answer | Thinking))


@settings(max_examples=60)
@given(st.lists(EVENTS, max_size=25), st.integers(20, 100), st.booleans())
def test_no_line_is_wider_than_the_screen(events: list[Event], width: int, expanded: bool) -> None:
    transcript = Transcript()
    for second, event in enumerate(events):
        transcript.see(event, float(second))
    for entry in transcript.entries:
        content = entry_content(entry, width, expanded=expanded, now=99.0)
        assert all(line.cell_length <= width for line in content.split("\n", allow_blank=True))
        assert "\x1b" not in content.plain
