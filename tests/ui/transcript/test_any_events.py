"""Any events in any order: nothing raises, and the reported changes are complete."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from harness import events
from harness.ui.transcript.content import entry_content
from harness.ui.transcript.entries import AnswerEntry, Entry, TextEntry, ThinkingEntry
from harness.ui.transcript.fold import Transcript
from tests.ui import work
from tests.ui.loops import BACK, FOUND, LEFT, REPORT, took

TEXT = st.text(st.sampled_from("ab *`\n|-\x1b[天"), max_size=8)
ID = st.sampled_from(["c1", "c2", "c3", "shell-1"])
AGENT = st.sampled_from(["a1", "a2"])
TOOL = st.sampled_from(["grep", "bash", "agent"])
OTHER_TOOL = events.Alternative(events.Rank.LOW, "rg", "format", "bash")
BY_HAND = events.Alternative(events.Rank.MANUAL, "look", "time")
ROUTES = st.sampled_from([(), (OTHER_TOOL,), (BY_HAND,)])
BLOCKS = st.lists(
    st.one_of(
        st.builds(lambda text: {"type": "text", "text": text}, TEXT),
        st.builds(lambda text: {"type": "thinking", "thinking": text}, TEXT),
        st.just({"type": "redacted_thinking", "data": "x"}),
    ),
    max_size=3,
).map(tuple)
MESSAGES: st.SearchStrategy[Any] = st.builds(events.Message, st.just("assistant"), BLOCKS)
FAILURES = st.one_of(st.none(), st.just(events.Failure(events.FailureCategory.TIMEOUT, "slow")))
REASONS: st.SearchStrategy[Any] = st.sampled_from(["compaction", "clear", "rewind", "rollback", "thinking", "repair"])
END = events.TurnEnded(1, events.TransitionCode.MODEL_ERROR, "no", "", events.Usage(), 0.0, 1, 1, 2.0)

EVENTS: st.SearchStrategy[events.Event] = st.one_of(
    st.builds(events.TextDelta, TEXT),
    st.builds(events.ThinkingDelta, TEXT),
    st.builds(events.PartialDiscarded, st.integers(-1, 20), TEXT),
    st.just(events.RequestSent("claude", 1, 1, 1)),
    st.builds(events.MessageAdded, MESSAGES, st.sampled_from(events.Origin)),
    st.builds(events.HistoryReplaced, st.lists(MESSAGES, max_size=4).map(tuple), REASONS),
    st.builds(events.TurnStarted, st.integers(1, 3), TEXT),
    st.just(END),
    st.builds(events.SessionResumed, TEXT, TEXT, TEXT, st.booleans()),
    st.builds(events.StepStarted, st.integers(1, 9)),
    st.builds(events.Notice, st.just("info"), TEXT),
    st.builds(
        events.Dispatched,
        ID,
        TOOL,
        st.sampled_from(events.Dispatch),
        st.just(events.DispatchReason.HEALTHY),
        st.just(0),
        st.just(0),
        TEXT,
        ROUTES,
    ),
    st.builds(events.PermissionAsked, ID, TOOL, TEXT, TEXT),
    st.builds(events.OutputDelta, ID, st.lists(TEXT, max_size=3).map(tuple), TEXT, st.integers(0, 2)),
    st.builds(events.ToolStarted, ID, TOOL, TEXT, st.sampled_from([{}, {"command": "ls"}, {"command": 1}])),
    st.builds(
        events.ToolEnded,
        ID,
        TOOL,
        st.sampled_from(events.ToolOutcome),
        TEXT,
        st.floats(0, 1e6),
        TEXT,
        st.none() | TEXT,
        FAILURES,
    ),
    st.sampled_from([FOUND, LEFT, BACK, REPORT, took(events.Rung.NUDGE)]),
    st.builds(events.CheckpointMade, ID, st.just(1), st.just(1), st.just(1), st.lists(TEXT).map(tuple)),
    st.builds(work.created, AGENT, TEXT, background=st.booleans(), call_id=ID),
    st.builds(work.moved, AGENT, TEXT, asks=st.booleans()),
    st.builds(work.ended, AGENT, st.sampled_from(events.AgentEnd), TEXT),
    st.builds(work.admitted, AGENT, st.just(1), st.just(1)),
    st.builds(events.PermissionAsked, ID, TOOL, TEXT, TEXT, AGENT),
    st.sampled_from([work.command("b1"), work.quiet("b1"), work.over("b1", 1), work.RESTS, work.CLOSED]),
    st.builds(events.ResultLabelled, ID, TOOL, st.sampled_from(events.FreshnessLabel), TEXT),
)


@given(st.lists(EVENTS | TEXT, max_size=40))
def test_what_is_said_to_have_changed_is_all_that_did(happened: list[events.Event | str]) -> None:
    transcript = Transcript()
    drawn: list[Entry] = []
    for second, event in enumerate(happened):
        if isinstance(event, str):
            transcript.show(TextEntry(event))
        else:
            transcript.on_event(event, float(second))
        changes = transcript.changes()
        if changes is not None:
            drawn[changes.first :] = transcript.entries[changes.first :]
        assert drawn == list(transcript.entries)


@given(st.lists(EVENTS, max_size=40))
def test_when_a_turn_ends_no_piece_has_left_a_trace_of_its_own(happened: list[events.Event]) -> None:
    live, journal = Transcript(), Transcript()
    for second, event in enumerate([*happened, END]):
        live.on_event(event, float(second))
        if not event.transient:
            journal.on_event(event, float(second))
    assert list(live.entries) == list(journal.entries)
    assert all(entry.done for entry in live.entries if isinstance(entry, AnswerEntry | ThinkingEntry))


@settings(max_examples=60)
@given(st.lists(EVENTS, max_size=25), st.integers(20, 100), st.booleans())
def test_no_line_is_wider_than_the_screen(happened: list[events.Event], width: int, expanded: bool) -> None:
    transcript = Transcript()
    for second, event in enumerate(happened):
        transcript.on_event(event, float(second))
    for entry in transcript.entries:
        content = entry_content(entry, width, expanded=expanded, now=99.0)
        assert all(line.cell_length <= width for line in content.split("\n", allow_blank=True))
        assert "\x1b" not in content.plain
