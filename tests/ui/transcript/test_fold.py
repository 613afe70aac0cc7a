"""What happens in a session becomes entries, live and from a journal alike."""

import time
from collections.abc import Iterable
from dataclasses import replace
from itertools import permutations

import pytest

from harness.events import (
    NOTHING_TO_REPORT,
    AgentEnd,
    Alternative,
    ArrivalKind,
    Arrived,
    BreakerChanged,
    BreakerState,
    ChangeReason,
    CheckpointMade,
    CommandCreated,
    CommandEnd,
    CommandEnded,
    CompactionEnded,
    CompactionStarted,
    Delivered,
    Dispatch,
    Dispatched,
    DispatchReason,
    Event,
    Failure,
    FailureCategory,
    FaultKind,
    FreshnessLabel,
    HistoryReplaced,
    ItemStatus,
    JobFired,
    Message,
    MessageAdded,
    Notice,
    Origin,
    OutputDelta,
    PartialDiscarded,
    PermissionAnswered,
    PermissionAsked,
    PlanChanged,
    PlanItem,
    Projection,
    ProposedPlan,
    QuestionAnswered,
    QuestionAsked,
    Rank,
    ReplyReceived,
    RequestSent,
    ResultLabelled,
    RetryScheduled,
    SessionResumed,
    SilenceHint,
    StepStarted,
    TextDelta,
    ThinkingDelta,
    ThinkingEnded,
    ToolEnded,
    ToolOutcome,
    ToolStarted,
    TransitionCode,
    TurnEnded,
    TurnStarted,
    Usage,
)
from harness.ui.transcript.entries import (
    AnswerEntry,
    CallEntry,
    ChecklistEntry,
    Entry,
    LiveLines,
    LoopReportEntry,
    NoteEntry,
    PlanEntry,
    PromptEntry,
    TextEntry,
    ThinkingEntry,
    TurnEndEntry,
)
from harness.ui.transcript.fold import Transcript, TranscriptChanges
from tests.ui import work
from tests.ui.loops import BACK, LEFT, REPORT

REQUEST = RequestSent("claude", 1000, 10, 1)
END = TurnEnded(1, TransitionCode.COMPLETED, "done", "", Usage(), 0.0, 1, 1, 2.0)


def folded(*events: Event) -> Transcript:
    """A transcript that has seen the events, one each second."""
    transcript = Transcript()
    for second, event in enumerate(events):
        transcript.on_event(event, float(second))
    return transcript


def texts(entries: Iterable[Entry]) -> list[str]:
    """The entries in short, to be compared at a glance."""
    return [f"{type(entry).__name__} {_text(entry)}".strip() for entry in entries]


def _text(entry: Entry) -> str:
    match entry:
        case PromptEntry(text=text) | AnswerEntry(text=text) | ThinkingEntry(text=text) | TextEntry(text=text):
            return text
        case CallEntry():
            return f"{entry.tool} {entry.summary}".strip()
        case NoteEntry(line):
            return line.text
        case _:
            return ""


def prompt(turn: int) -> tuple[Event, Event]:
    """A turn begins, and its prompt joins the history."""
    text = f"Prompt {turn}."
    return TurnStarted(turn, text), added(text, Origin.PROMPT)


def added(text: str, origin: Origin = Origin.REPLY) -> MessageAdded:
    """A message of one text block."""
    role = "assistant" if origin is Origin.REPLY else "user"
    return MessageAdded(Message(role, ({"type": "text", "text": text},)), origin)  # type: ignore[arg-type]


def started(call_id: str = "c1", tool: str = "grep") -> ToolStarted:
    return ToolStarted(call_id, tool, "timeout src/", {})


def ended(call_id: str = "c1", tool: str = "grep", outcome: ToolOutcome = ToolOutcome.OK) -> ToolEnded:
    failure = Failure(FailureCategory.TIMEOUT, "too slow") if outcome is ToolOutcome.BROKEN else None
    return ToolEnded(call_id, tool, outcome, "3 hits", 0.5, failure=failure)


def dispatched(call_id: str = "c1", dispatch: Dispatch = Dispatch.CALL, **more: object) -> Dispatched:
    plain = Dispatched(call_id, "grep", dispatch, DispatchReason.HEALTHY, 0, 0)
    return replace(plain, **more)  # type: ignore[arg-type]


# ── text ────────────────────────────────────────────────────────────────────────────────────────


def test_streamed_text_is_one_answer_that_its_message_settles() -> None:
    transcript = folded(*prompt(1), REQUEST, TextDelta("Forty-"), TextDelta("two"))
    assert transcript.entries[1:] == (AnswerEntry("Forty-two"),)
    transcript.on_event(added("Forty-two."), 9.0)
    assert transcript.entries[1:] == (AnswerEntry("Forty-two.", done=True),)


def test_a_text_for_the_running_turn_is_shown_where_it_joined() -> None:
    steered = Message("user", ({"type": "text", "text": "[attached: x]"}, {"type": "text", "text": "also x"}))
    transcript = folded(*prompt(1), started(), ended(), MessageAdded(steered, Origin.STEERING), added("Both."))
    shown = transcript.entries
    assert [type(entry).__name__ for entry in shown] == ["PromptEntry", "CallEntry", "PromptEntry", "AnswerEntry"]
    assert texts(shown)[2:] == ["PromptEntry also x", "AnswerEntry Both."]


def test_texts_that_an_earlier_turn_left_stand_before_the_prompt_and_a_rewind_to_it_keeps_them() -> None:
    left = [MessageAdded(Message("user", ({"type": "text", "text": text},)), Origin.STEERING) for text in ("a", "b")]
    begun, message = prompt(2)
    transcript = folded(*prompt(1), added("One."), begun, *left, message, added("Two."))
    kept = ["PromptEntry Prompt 1.", "AnswerEntry One.", "PromptEntry a", "PromptEntry b"]
    assert texts(transcript.entries) == [*kept, "PromptEntry Prompt 2.", "AnswerEntry Two."]
    history = (Message("user", ()), Message("assistant", ()), *(event.message for event in left))
    transcript.on_event(HistoryReplaced(history, "rewind"), 9.0)
    assert texts(transcript.entries) == kept


def test_an_answer_of_which_nothing_streamed_is_shown_all_the_same() -> None:
    assert folded(*prompt(1), added("Forty-two.")).entries[1:] == (AnswerEntry("Forty-two.", done=True),)


def test_what_is_taken_back_vanishes_and_a_note_says_why() -> None:
    transcript = folded(REQUEST, TextDelta("Forty-"), TextDelta("two"), PartialDiscarded(5, "the stream broke"))
    assert texts(transcript.entries) == [
        "NoteEntry 5 characters of the answer discarded",
        "AnswerEntry Fort",
    ]


def test_nothing_is_said_when_nothing_is_taken_back() -> None:
    assert texts(folded(TextDelta("a"), PartialDiscarded(0, "no")).entries) == ["AnswerEntry a"]


def test_thinking_is_done_when_the_answer_begins_and_goes_away_with_an_attempt_that_failed() -> None:
    assert folded(REQUEST, ThinkingDelta("Hm.")).entries == (ThinkingEntry("Hm."),)
    transcript = folded(REQUEST, ThinkingDelta("Hm."), TextDelta("So"))
    assert transcript.entries == (ThinkingEntry("Hm.", done=True), AnswerEntry("So"))
    transcript.on_event(PartialDiscarded(2, "broken"), 4.0)
    transcript.on_event(REQUEST, 5.0)
    assert texts(transcript.entries) == ["NoteEntry 2 characters of the answer discarded"]


def test_a_thought_has_its_time_as_soon_as_it_is_over_and_its_tokens_with_the_reply() -> None:
    transcript = folded(REQUEST, ThinkingDelta("Hm."), ThinkingEnded(2.5))
    assert list(transcript.entries) == [ThinkingEntry("Hm.", done=True, duration_s=2.5)]
    transcript.on_event(ReplyReceived("m", "end_turn", Usage(10, 900, thinking=800), None, 3.0), 0.0)
    block = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    transcript.on_event(MessageAdded(Message("assistant", (block, {"type": "text", "text": "So."})), Origin.REPLY), 0.0)
    shown = ThinkingEntry("Hm.", done=True, duration_s=2.5, tokens=800)
    assert list(transcript.entries) == [shown, AnswerEntry("So.", done=True)]


def test_a_thought_that_is_not_shown_has_its_line_all_the_same() -> None:
    block = {"type": "thinking", "thinking": "", "signature": "s"}
    added = MessageAdded(Message("assistant", (block, {"type": "text", "text": "So."})), Origin.REPLY)
    transcript = folded(REQUEST, ThinkingEnded(4.0), added)
    assert transcript.entries == (ThinkingEntry("", done=True, duration_s=4.0), AnswerEntry("So.", done=True))


def test_the_time_of_an_attempt_that_failed_is_not_that_of_the_next_one() -> None:
    block = {"type": "thinking", "thinking": "Hm.", "signature": "s"}
    added = MessageAdded(Message("assistant", (block,)), Origin.REPLY)
    transcript = folded(REQUEST, ThinkingEnded(4.0), REQUEST, ThinkingEnded(1.0), added)
    assert transcript.entries == (ThinkingEntry("Hm.", done=True, duration_s=1.0),)


def test_a_hint_that_passes_leaves_nothing() -> None:
    assert folded(SilenceHint("headers", 20.0, 40.0)).entries == ()


def test_what_a_command_prints_while_an_answer_streams_in_is_below_it() -> None:
    transcript = folded(TextDelta("Forty-"))
    transcript.show(TextEntry("$0.01"))
    transcript.on_event(TextDelta("two"), 2.0)
    transcript.on_event(added("Forty-two"), 3.0)
    assert texts(transcript.entries) == ["AnswerEntry Forty-two", "TextEntry $0.01"]


# ── calls ───────────────────────────────────────────────────────────────────────────────────────


def test_a_question_about_a_command_of_the_user_is_no_call() -> None:
    assert not folded(PermissionAsked("offer-AGENTS.md", "init", "write AGENTS.md", "shown above")).entries


def test_a_call_is_one_entry_from_its_decision_to_its_end() -> None:
    transcript = folded(dispatched(), PermissionAsked("c1", "grep", "timeout src/", "asks"), started())
    assert transcript.entries == (CallEntry("c1", "grep", "timeout src/", 2.0, running=True),)
    transcript.on_event(ended(), 3.0)
    [call] = transcript.entries
    assert call == CallEntry("c1", "grep", "timeout src/", 2.0, outcome=ToolOutcome.OK, result="3 hits", duration_s=0.5)


def test_a_call_that_is_skipped_names_the_best_way_round() -> None:
    routes = (
        Alternative(Rank.LOW, "use rg", "grep's formatting", "bash"),
        Alternative(Rank.MANUAL, "look yourself", "time"),
    )
    [call] = folded(
        dispatched(dispatch=Dispatch.SKIP, detail="it failed 3 times", alternatives=routes),
        ended(outcome=ToolOutcome.SKIPPED),
    ).entries
    assert isinstance(call, CallEntry)
    assert (call.dispatch, call.why, call.route) == (Dispatch.SKIP, "it failed 3 times", routes[0])


def test_a_call_that_never_ran_is_known_by_what_the_reply_asked_for() -> None:
    block = {"type": "tool_use", "id": "c1", "name": "grep", "input": {"count": 1, "pattern": "timeout"}}
    reply = MessageAdded(Message("assistant", (block,)), Origin.REPLY)
    assert texts(folded(reply, ended(outcome=ToolOutcome.INVALID)).entries) == ["CallEntry grep timeout"]


def test_an_id_that_comes_again_is_a_new_call() -> None:
    transcript = folded(started(), ended(), started(), ended(outcome=ToolOutcome.ERROR))
    assert [entry.outcome for entry in transcript.entries if isinstance(entry, CallEntry)] == ["ok", "error"]


def test_a_failure_carries_its_number_in_a_row() -> None:
    third = BreakerChanged("grep", BreakerState.CLOSED, BreakerState.OPEN, ChangeReason.THRESHOLD, 3, 1, 9, 12)
    transcript = folded(StepStarted(9), started(), ended(outcome=ToolOutcome.BROKEN), third)
    call, note = transcript.entries
    assert isinstance(call, CallEntry)
    assert call.failures == 3
    assert isinstance(note, NoteEntry)


def test_a_label_is_at_its_call() -> None:
    label = ResultLabelled("c1", "grep", FreshnessLabel.CACHED, "read 5 minutes ago")
    [call] = folded(started(), label, ended()).entries
    assert isinstance(call, CallEntry)
    assert call.label == "cached: read 5 minutes ago"


def test_a_command_of_the_user_shows_what_was_typed_and_how_it_went() -> None:
    transcript = folded(
        ToolStarted("shell-1", "bash", "ls", {"command": "ls -l"}),
        ended("shell-1", "bash"),
    )
    said, call = transcript.entries
    assert said == PromptEntry(0, "ls -l", 0.0, shell=True)
    assert isinstance(call, CallEntry)
    assert call.by_user


def test_a_call_that_never_ended_stops_with_its_turn() -> None:
    call, _ = folded(*prompt(1), started(), END).entries[1:]
    assert isinstance(call, CallEntry)
    assert not call.running


def test_a_lasting_permission_is_noted() -> None:
    answered = PermissionAnswered("c1", "bash", "always", "user")
    assert texts(folded(answered).entries) == ["NoteEntry bash will not ask for this again"]


# ── history ─────────────────────────────────────────────────────────────────────────────────────


def turns(number: int) -> list[Event]:
    """So many turns of a prompt and an answer each."""
    return [event for turn in range(1, number + 1) for event in (*prompt(turn), added(f"Answer {turn}."), END)]


def history(length: int) -> tuple[Message, ...]:
    return (Message("user", ({"type": "text", "text": "x"},)),) * length


def test_a_rewind_cuts_the_turns_whose_messages_it_cuts() -> None:
    transcript = folded(*turns(3), HistoryReplaced(history(2), "rewind"))
    assert texts(transcript.entries) == ["PromptEntry Prompt 1.", "AnswerEntry Answer 1.", "TurnEndEntry"]


def test_a_rewind_after_a_compaction_knows_only_the_turns_since() -> None:
    transcript = folded(*turns(2), HistoryReplaced(history(1), "compaction"), *prompt(3), added("AnswerEntry 3."), END)
    before = len(transcript.entries)
    transcript.on_event(HistoryReplaced(history(1), "rewind"), 99.0)
    assert len(transcript.entries) == before - 3


def test_after_a_rollback_everything_is_still_shown_and_a_note_says_what_the_model_does_not_see() -> None:
    told = (*turns(1), *prompt(2), added("One."), HistoryReplaced(history(3), "rollback"), BACK)
    transcript = folded(*told, added("Two."))
    said, one, note, two = transcript.entries[-4:]
    assert texts((said, one, two)) == ["PromptEntry Prompt 2.", "AnswerEntry One.", "AnswerEntry Two."]
    assert isinstance(note, NoteEntry)
    assert note.line.text.startswith("rolled back to the end of step 4: the model does not see later messages")
    transcript.on_event(HistoryReplaced(history(2), "rewind"), 99.0)
    assert texts(transcript.entries) == ["PromptEntry Prompt 1.", "AnswerEntry Answer 1.", "TurnEndEntry"]


def test_a_pause_of_the_model_between_retries_leaves_one_line_of_the_retries() -> None:
    first, second = (
        RetryScheduled("model", FaultKind.OVERLOADED, n, 10, 1.0, 0.0, 529, None, "Overloaded") for n in (1, 2)
    )
    pause = BreakerChanged("model:m", BreakerState.CLOSED, BreakerState.OPEN, ChangeReason.THRESHOLD, 3, 1, 1)
    works = BreakerChanged("model:m", BreakerState.OPEN, BreakerState.CLOSED, ChangeReason.PROBE_SUCCEEDED, 0, 1, 1)
    assert texts(folded(first, pause, second, works).entries) == [
        "NoteEntry m failed 3 times in a row",
        "NoteEntry retry 2 of 10 in 1.0 s: overloaded (529)",
        "NoteEntry m works again",
    ]


def test_a_compaction_that_ended_has_one_note_also_if_it_failed_or_was_stopped() -> None:
    started = CompactionStarted("manual", 9_000)
    retry = RetryScheduled("model", FaultKind.OVERLOADED, 1, 10, 1.0, 0.0, 529, None, "Overloaded")
    failed = CompactionEnded("summary", 9_000, 9_000, succeeded=False, detail="interrupted")
    running = "NoteEntry compacting a history of about 9,000 tokens"
    assert texts(folded(started).entries) == [running]
    assert texts(folded(started, failed).entries) == ["NoteEntry compaction failed: interrupted"]
    assert texts(folded(started, retry, failed).entries)[0] == "NoteEntry compaction failed: interrupted"
    assert texts(folded(failed).entries) == ["NoteEntry compaction failed: interrupted"]
    for last in (SessionResumed("1", "claude", "here", practice=False), END):
        assert texts(folded(started, retry, last).entries)[0] == "NoteEntry compaction stopped"


def test_several_views_of_one_loop_leave_it_with_one_line() -> None:
    transcript = folded(LEFT, replace(LEFT, projection=Projection.ERROR))
    assert texts(transcript.entries) == ["NoteEntry out of the loop (same error) after: nudge"]


def test_the_report_of_a_loop_is_an_entry_and_what_no_checkpoint_holds_is_reported_once() -> None:
    kept = CheckpointMade("c", 1, 1, 3, ("a.bin: too big",))
    transcript = folded(kept, kept, REPORT)
    assert texts(transcript.entries[:1]) == ["NoteEntry a rollback cannot restore: a.bin: too big"]
    assert transcript.entries[1:] == (LoopReportEntry(REPORT),)


def test_clearing_forgets_everything() -> None:
    transcript = folded(*turns(2), HistoryReplaced((), "clear"))
    assert texts(transcript.entries) == ["NoteEntry conversation cleared; the journal keeps it"]


def test_resuming_is_noted_where_there_is_something_to_resume() -> None:
    resumed = SessionResumed("1", "claude", "here", practice=False)
    assert folded(resumed).entries == ()
    assert texts(folded(*turns(1), resumed).entries)[-1] == "NoteEntry resumed with claude"


def test_going_on_without_a_prompt_is_noted() -> None:
    assert texts(folded(TurnStarted(2, "")).entries) == ["NoteEntry continuing the last turn"]


def test_the_end_of_a_turn_is_an_entry() -> None:
    assert folded(END).entries == (TurnEndEntry(END),)


# ── what changed ────────────────────────────────────────────────────────────────────────────────


def test_the_first_change_since_the_last_look_is_reported_once() -> None:
    transcript = folded(*prompt(1), started(), Notice("info", "one"))
    assert transcript.changes() == TranscriptChanges(0)
    assert transcript.changes() is None
    transcript.on_event(ended(), 7.0)
    assert transcript.changes() == TranscriptChanges(1)
    transcript.on_event(TextDelta("a"), 8.0)
    transcript.on_event(Notice("info", "two"), 9.0)
    assert transcript.changes() == TranscriptChanges(3)


# ── cost ────────────────────────────────────────────────────────────────────────────────────────


def cpu_seconds(pieces: int, settled: int) -> float:
    """What it costs to see so many pieces of an answer below so many entries, with a look now and then."""
    transcript = folded(*[Notice("info", str(number)) for number in range(settled)], REQUEST)
    began = time.process_time()
    for number in range(pieces):
        transcript.on_event(TextDelta("ten chars "), 1.0)
        transcript.changes()
        if number % 1_000 == 0:
            assert len(transcript.entries) == settled + 1
    transcript.on_event(PartialDiscarded(pieces * 10, "broken"), 2.0)
    assert len(transcript.entries) == settled + 1
    return time.process_time() - began


@pytest.mark.stories
def test_a_piece_costs_the_same_however_long_the_transcript_is() -> None:
    cpu_seconds(1_000, 10)
    assert cpu_seconds(100_000, 10_000) < 5 * max(cpu_seconds(100_000, 10), 0.05)


# ── agents ──────────────────────────────────────────────────────────────────────────────────────


def doing(*events: Event) -> list[tuple[str, str, bool]]:
    """What the calls of two agents say of them, after these."""
    tasks = (started("call-a1", "agent"), started("call-a2", "agent"), work.created("a1"), work.created("a2"))
    calls = folded(*prompt(1), *tasks, *events).entries
    return [(call.agent, call.doing, call.asks) for call in calls if isinstance(call, CallEntry)]


def test_a_call_shows_what_its_agent_does() -> None:
    a2 = ("a2", "queued", False)
    assert doing() == [("a1", "queued", False), a2]
    assert doing(work.admitted("a1", 1, 1)) == [("a1", "started", False), a2]
    assert doing(work.moved("a1", "grep timeout")) == [("a1", "grep timeout", False), a2]
    assert doing(work.moved("a1", "may bash run?", asks=True)) == [("a1", "may bash run?", True), a2]
    assert doing(work.moved("a1", asks=True), work.ended("a1")) == [("a1", "answered", False), a2]
    assert doing(work.ended("a1", AgentEnd.STUCK), work.moved("a1")) == [("a1", "did not finish", False), a2]


def refused(call_id: str, why: str = "max_subagents is 100") -> ToolEnded:
    """An agent call that ended without starting a subagent."""
    return ToolEnded(call_id, "agent", ToolOutcome.ERROR, why, 0.5)


def calls(*events: Event) -> list[tuple[str, tuple[str, ...]]]:
    """The agents' calls: each summary with the calls it represents."""
    begun = [ToolStarted(f"c{number}", "agent", f"part {number}", {}) for number in range(1, 6)]
    entries = folded(*prompt(1), *begun, *events).entries
    return [(entry.summary, entry.joined) for entry in entries if isinstance(entry, CallEntry)]


def test_calls_that_started_no_agent_for_one_reason_are_one_entry_in_whatever_order_they_end() -> None:
    running = ("part 1", ())
    for order in permutations(("c2", "c3", "c4", "c5")):
        assert calls(*map(refused, order)) == [running, ("part 2", ("part 3", "part 4", "part 5"))]
    assert calls(refused("c2"), refused("c3", "declined")) == [(f"part {number}", ()) for number in range(1, 6)]
    assert calls(*[ToolEnded(f"c{number}", "agent", ToolOutcome.OK, "done", 0.5) for number in (2, 3)])[1:3] == [
        ("part 2", ()),
        ("part 3", ()),
    ]
    tasks = [work.created(f"a{number}", call_id=f"c{number}") for number in (2, 3)]
    assert calls(*tasks, refused("c2"), refused("c3")) == [(f"part {number}", ()) for number in range(1, 6)]


def test_where_a_call_joins_the_one_above_that_one_has_changed() -> None:
    transcript = folded(*[ToolStarted(id, "agent", id, {}) for id in ("c1", "c2")], refused("c1"))
    assert transcript.changes() == TranscriptChanges(0)
    transcript.on_event(refused("c2"), 9.0)
    assert transcript.changes() == TranscriptChanges(0)


def test_calls_behind_joined_ones_are_still_known_by_their_ids() -> None:
    task = work.created("a1", call_id="c4")
    failed = ToolEnded("c5", "agent", ToolOutcome.BROKEN, "lost", 0.5, failure=Failure(FailureCategory.TIMEOUT, "lost"))
    counted = BreakerChanged("agent", BreakerState.CLOSED, BreakerState.CLOSED, ChangeReason.FAILED, 2, 1, 1)
    transcript = folded(
        *prompt(1),
        *[ToolStarted(f"c{number}", "agent", f"part {number}", {}) for number in range(1, 6)],
        *(task, failed, refused("c2"), refused("c3"), counted, END),
    )
    _, _, joined, working, broken, _ = transcript.entries
    assert isinstance(joined, CallEntry)
    assert joined.joined == ("part 3",)
    assert isinstance(working, CallEntry)
    assert (working.agent, working.running) == ("a1", False)
    assert isinstance(broken, CallEntry)
    assert (broken.summary, broken.failures) == ("part 5", 2)


def test_newer_work_for_an_agent_that_waits_is_shown_at_its_own_call() -> None:
    newer = (started("newer", "agent"), work.created("a1", call_id="newer"))
    old, a2 = ("a1", "did not finish", False), ("a2", "queued", False)
    assert doing(*newer, work.ended("a1", AgentEnd.NOT_STARTED)) == [old, a2, ("a1", "queued", False)]
    replaced = (*newer, work.ended("a1", AgentEnd.NOT_STARTED), work.admitted("a1", 1, 1))
    assert doing(*replaced, work.moved("a1", "make")) == [old, a2, ("a1", "make", False)]
    assert doing(*replaced, work.moved("a1", "make"), work.ended("a1")) == [old, a2, ("a1", "answered", False)]
    busy = (work.admitted("a1", 1, 1), work.moved("a1", "grep"), *newer)
    assert doing(*busy) == [("a1", "grep", False), a2, ("a1", "queued", False)]


def test_the_question_of_an_agent_begins_no_call_of_ours() -> None:
    assert len(doing(PermissionAsked("x", "bash", "make", "it runs", "a1"))) == 2


def test_an_agent_in_the_background_has_lines_and_leaves_the_call_as_it_ended() -> None:
    agent = work.created("a1", background=True, call_id="c1")
    transcript = folded(*prompt(1), started(), agent, ended(), work.moved("a1"), work.ended("a1"))
    call, note = transcript.entries[-2:]
    assert isinstance(call, CallEntry)
    assert (call.agent, call.doing) == ("", "")
    assert isinstance(note, NoteEntry)
    assert note.line.text.startswith('a1 "find the tests" answered')


def test_a_turn_that_begins_with_what_arrived_says_so() -> None:
    transcript = folded(*prompt(1), work.arrived(1, "b1"), TurnStarted(2, ""), work.delivered(1))
    assert texts(transcript.entries[1:]) == ["NoteEntry results of b1 delivered to the model"]


def test_what_the_model_was_given_is_the_detail_of_a_call() -> None:
    def result(call_id: str, content: object) -> MessageAdded:
        block = {"type": "tool_result", "tool_use_id": call_id, "content": content}
        return MessageAdded(Message("user", (block,)), Origin.TOOL_RESULTS)

    command = replace(ended("c2", "bash", ToolOutcome.ERROR), detail="1\n2\n", detail_of=9_000)
    transcript = folded(*prompt(1), started(), ended(), started("c2", "bash"), command)
    transcript.changes()
    transcript.on_event(result("c1", [{"type": "text", "text": "a.py:1:timeout\nb.py:2:timeout"}]), 9.0)
    transcript.on_event(result("c2", f"1\n{'x' * 3_000}\n8999\n9000\n\n[exit 1]"), 9.0)
    assert transcript.changes() == TranscriptChanges(1)
    _, search, shell = transcript.entries
    assert isinstance(search, CallEntry)
    assert (search.detail, search.detail_of) == ("a.py:1:timeout\nb.py:2:timeout", 2)
    assert isinstance(shell, CallEntry)
    assert (shell.detail, shell.detail_end) == ("1\n2\n", "8999\n9000")


def fired(number: int, job: str, *entries: Event, answer: str) -> list[Event]:
    """A fire of a job, and the turn that it began."""
    id = f"{job}@{number}"
    return [
        JobFired(job, id, "look", 0.0),
        Arrived(number, ArrivalKind.SCHEDULED, id, "look"),
        TurnStarted(number, ""),
        Delivered((number,)),
        *entries,
        TurnEnded(number, TransitionCode.COMPLETED, "answered", answer, Usage(), 0.0, 1, 1, 0.1),
    ]


def test_turns_of_a_schedule_with_nothing_to_report_are_one_line() -> None:
    said = added(NOTHING_TO_REPORT)
    quiet = [event for number in (1, 2, 3) for event in fired(number, "c1", said, answer=NOTHING_TO_REPORT)]
    other = fired(4, "c2", said, answer=NOTHING_TO_REPORT)
    assert texts(folded(*quiet, *other).entries) == [
        "NoteEntry c1: nothing to report, 3 times",
        "NoteEntry c2: nothing to report",
    ]
    fires = fired(5, "c1", added("The build is red."), answer="The build is red.")
    shown = texts(folded(*quiet, *fires, *quiet).entries)
    assert (shown[0], shown[-1]) == ("NoteEntry c1: nothing to report, 3 times",) * 2
    assert "AnswerEntry The build is red." in shown


def test_a_turn_of_a_schedule_that_the_user_joined_is_never_folded() -> None:
    joined = MessageAdded(Message("user", ({"type": "text", "text": "any news?"},)), Origin.STEERING)
    shown = texts(folded(*fired(1, "c1", joined, added(NOTHING_TO_REPORT), answer=NOTHING_TO_REPORT)).entries)
    assert "PromptEntry any news?" in shown


def test_a_typed_prompt_is_never_folded() -> None:
    end = TurnEnded(1, TransitionCode.COMPLETED, "answered", NOTHING_TO_REPORT, Usage(), 0.0, 1, 1, 0.1)
    shown = folded(TurnStarted(1, "any news?"), added(NOTHING_TO_REPORT), end).entries
    assert [type(entry) for entry in shown] == [PromptEntry, AnswerEntry, TurnEndEntry]


def test_the_output_of_a_running_command_is_kept_until_its_end() -> None:
    deltas = (OutputDelta("c1", ("1", "2"), "half"), OutputDelta("c1", ("half a line",)))
    transcript = folded(ToolStarted("c1", "bash", "make", {}), *deltas)
    assert transcript.entries == (
        CallEntry("c1", "bash", "make", 0.0, running=True, live=LiveLines(("1", "2", "half a line"), "", 3, 3)),
    )
    assert transcript.live_calls == 1
    assert transcript.changes() is not None
    transcript.on_event(OutputDelta("c1", ()), 4.0)
    assert transcript.changes() is None
    transcript.on_event(ToolEnded("c1", "bash", ToolOutcome.OK, "exit 0", 4.0, "1\n2\nhalf a line\n"), 5.0)
    (entry,) = transcript.entries
    assert isinstance(entry, CallEntry)
    assert (entry.live, transcript.live_calls) == (None, 0)
    transcript.on_event(OutputDelta("c1", ("late",)), 6.0)
    assert transcript.entries == (entry,)


def test_a_command_of_a_turn_that_ended_without_its_result_shows_no_output() -> None:
    (entry, _) = folded(ToolStarted("c1", "bash", "make", {}), OutputDelta("c1", ("1",)), END).entries
    assert entry == CallEntry("c1", "bash", "make", 0.0)


def test_a_followed_background_command_has_an_entry_until_its_end_or_the_next_turn() -> None:
    begun = CommandCreated("b1", "c0", "make watch", "b1.out", 60.0)
    shown = CallEntry("b1", "bash", "b1 make watch", 1.0, running=True, live=LiveLines(("1",), "", 1, 1))
    transcript = folded(begun, OutputDelta("b1", ("1",)), END)
    assert transcript.entries[0] == shown
    ended = folded(begun, OutputDelta("b1", ("1",)), CommandEnded("b1", CommandEnd.EXITED, 1, 3.0, 2, "1\n"))
    entry, note = ended.entries
    assert isinstance(entry, CallEntry)
    assert (entry.outcome, entry.result, entry.detail, entry.running) == (ToolOutcome.ERROR, "exit 1", "1\n", False)
    assert isinstance(note, NoteEntry), "its end is said at the end of the conversation as well"
    transcript.on_event(TurnStarted(2, "Next."), 5.0)
    assert transcript.entries[0] == replace(shown, running=False, live=None, detail="1")


# ── checklists and plans ────────────────────────────────────────────────────────────────────────────


def test_a_checklist_is_drawn_once_in_a_turn_and_changes_in_place() -> None:
    first = (PlanItem("read", ItemStatus.IN_PROGRESS), PlanItem("write"))
    second = (PlanItem("read", ItemStatus.DONE), PlanItem("write", ItemStatus.IN_PROGRESS))
    turn = (*prompt(1), PlanChanged(first), dispatched(), started(), ended())
    transcript = folded(*turn)
    transcript.changes()
    before = list(transcript.entries)
    transcript.on_event(PlanChanged(second), 2.0)
    change = transcript.changes()
    assert change is not None
    assert list(transcript.entries) == [
        entry if entry != ChecklistEntry(first) else ChecklistEntry(second) for entry in before
    ]
    assert transcript.entries[change.first] == ChecklistEntry(second)
    for event in (*prompt(2), PlanChanged(first)):
        transcript.on_event(event, 3.0)
    assert transcript.entries[-1] == ChecklistEntry(first)
    assert ChecklistEntry(second) in transcript.entries, "the list of an earlier turn stays as it was"


def test_a_checklist_that_was_never_filled_has_no_entry() -> None:
    assert not any(isinstance(entry, ChecklistEntry) for entry in folded(*prompt(1), PlanChanged(())).entries)


def test_a_proposed_plan_and_what_the_user_made_of_it_are_entries() -> None:
    plan, edited = ProposedPlan("# One", ("a",)), ProposedPlan("# Two", ("b",))
    asked = QuestionAsked("c1", "Carry out this plan?", plan=plan)
    answered = QuestionAnswered("c1", "option", "yes", plan=edited)
    shown = [entry for entry in folded(*prompt(1), asked, answered).entries if isinstance(entry, PlanEntry)]
    assert shown == [PlanEntry(plan), PlanEntry(edited, edited=True)]
