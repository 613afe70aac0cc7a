"""What happens in a session becomes the panel: live, from a journal, now and at the end of each step."""

from collections.abc import Iterable, Sequence
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.events import (
    BreakerChanged,
    BreakerState,
    ChangeReason,
    CompactionEnded,
    CompactionStarted,
    Dispatch,
    Dispatched,
    DispatchLimits,
    DispatchLimitsSet,
    DispatchReason,
    Event,
    FailureCharged,
    Fault,
    FaultKind,
    FaultOccurred,
    HistoryReplaced,
    HoldReason,
    ItemStatus,
    Message,
    MessageAdded,
    ModelSwitched,
    Notice,
    Origin,
    PermissionAnswered,
    PermissionAsked,
    PlanChanged,
    PlanItem,
    QuestionAnswered,
    QuestionAsked,
    ReplyReceived,
    RequestHeld,
    RequestLimitSet,
    RequestSent,
    RetryBudgetSpent,
    RetryEnded,
    SessionResumed,
    SessionStarted,
    SettingChanged,
    SilenceEnded,
    SilenceHint,
    StepStarted,
    TaskChanged,
    TaskState,
    TextDelta,
    ThinkingDelta,
    ToolCallDelta,
    ToolEnded,
    ToolOutcome,
    ToolStarted,
    Transition,
    TransitionCode,
    TurnStarted,
    Usage,
    WaitAnswered,
    WaitOffered,
)
from harness.ui.folds.model import Phase, limit_in_words
from harness.ui.panel.fold import KEPT_STEPS, PanelFold
from harness.ui.panel.state import Panel
from harness.ui.panel.timeline import timeline
from tests.agent.stage import calls, fails, says, stage, summarises, too_long
from tests.agent.test_tool_rounds import call
from tests.engine.tools.test_dispatch import LATE, flaky, rounds
from tests.ui.folds.test_breakers import agree
from tests.ui.panel import situations as situation
from tests.ui.panel.drawn import panel_content
from tests.ui.panel.situations import BEGINNING, FAILED, KEPT, MODEL, OTHER, RETRY, after, ended
from tests.whole import WHOLE

Records = Sequence[tuple[Event, float]]


def folded(records: Iterable[tuple[Event, float]]) -> PanelFold:
    """These events, folded."""
    fold = PanelFold()
    for event, at in records:
        fold.on_event(event, at)
    return fold


def timed(events: Iterable[Event]) -> list[tuple[Event, float]]:
    """The events a second apart."""
    return [(event, 1000.0 + number) for number, event in enumerate(events)]


# ── live, from a journal, and step by step ──────────────────────────────────────────────────────


def at_ends(records: Records) -> dict[int, Panel]:
    """A naive oracle of `at_step`: for each step the panel of all events before the next step, turn or process."""
    ends = {}
    step, over = 0, True
    for number, (event, _) in enumerate(records):
        if isinstance(event, StepStarted | TurnStarted | SessionResumed) and not over:
            ends[step] = folded(records[:number]).now
            over = True
        if isinstance(event, StepStarted):
            step, over = event.step, False
    if step:
        ends[step] = folded(records).now
    return ends


def check(records: Records) -> None:
    """A journal gives the same panel as the live events, at the end of each step and in between."""
    kept = [(event, at) for event, at in records if not event.transient]
    live, journal = folded(records), folded(kept)
    assert live.steps == journal.steps
    for step, panel in at_ends(kept).items():
        assert journal.at_step(step)._replace(marks=()) == panel._replace(marks=())
        assert journal.at_step(step).marks == journal.now.marks
        if step != live.steps[-1]:
            assert live.at_step(step) == journal.at_step(step)


@pytest.mark.parametrize("begun", [(), (CompactionStarted("manual", 900),)], ids=["a reply", "a summary"])
def test_silence_is_shown_until_the_model_sends_again(begun: tuple[Event, ...]) -> None:
    hint = SilenceHint("streaming", 20.0, 60.0)
    records = [*begun, RequestSent(MODEL, 8_000, 900, 1, "summary" if begun else "turn"), hint]
    assert after(*records).model.silence == hint
    assert after(*records, SilenceEnded()).model.silence is None


def test_the_window_is_that_of_the_server_as_soon_as_a_refusal_names_it() -> None:
    refused = Fault(FaultKind.PROMPT_TOO_LONG, "prompt is too long: 26206 tokens > 24550 maximum", limit=24_550)
    records = [RequestSent(MODEL, 8_000, 26_112, 1, "turn", 200_000), FaultOccurred(refused, MODEL, 1)]
    assert after(*records).window == 24_550


USAGE = Usage(100, 10)
CALL = st.sampled_from(["c1", "c2", "shell-1"])
TOOL = st.sampled_from(["bash", "grep"])
EVENTS: st.SearchStrategy[Event] = st.one_of(
    st.sampled_from(
        [
            *[TextDelta("x"), ThinkingDelta("x"), ToolCallDelta("bash", 3), SilenceHint("streaming", 20.0, 60.0)] * 3,
            SilenceEnded(),
            *[RequestSent(MODEL, 8_000, 900, 1, "turn", 5_000)] * 3,
            RequestSent(OTHER, 8_000, 900, 2, "summary"),
            ReplyReceived(MODEL, "end_turn", USAGE, None, 1.0),
            FAILED,
            KEPT,
            RETRY,
            RetryEnded("due"),
            WaitOffered(100.0, 5.0, can_switch=False, detail="wait"),
            WaitAnswered("wait"),
            ModelSwitched(MODEL, OTHER, "overloaded"),
            SettingChanged("model", OTHER),
            CompactionStarted("auto", 900),
            CompactionEnded("summary", 900, 100, succeeded=True, detail=""),
            HistoryReplaced((), "clear"),
            Transition(1, TransitionCode.NEXT_TURN, "tools"),
            TurnStarted(1, "prompt"),
            TurnStarted(2, ""),
            *ended(TransitionCode.COMPLETED, "answered"),
            SessionResumed("1", MODEL, "here", practice=False),
            Notice("info", "hello"),
        ]
    ),
    st.builds(PermissionAsked, CALL, TOOL, st.just("x"), st.just("y")),
    st.builds(PermissionAnswered, CALL, TOOL, st.just("once"), st.just("user")),
    st.builds(QuestionAsked, CALL, st.just("Which?")),
    st.builds(QuestionAnswered, CALL, st.just("declined"), st.just("")),
    st.builds(ToolStarted, CALL, TOOL, st.just("x"), st.just({})),
    st.builds(ToolEnded, CALL, TOOL, st.sampled_from(ToolOutcome), st.just("x"), st.just(1.0)),
    st.builds(
        Dispatched, CALL, TOOL, st.sampled_from(Dispatch), st.just(DispatchReason.HEALTHY), st.just(0), st.just(0)
    ),
)


@settings(max_examples=150 if WHOLE else 50)
@given(st.lists(st.lists(EVENTS, max_size=8), max_size=6))
def test_any_journal_gives_the_same_panel_as_the_live_events_at_the_end_of_each_step(steps: list[list[Event]]) -> None:
    events = [event for number, step in enumerate(steps, 1) for event in (StepStarted(number), *step)]
    check(timed(events))


FAILING_TOOL = rounds("wobbly", 8) + says("Done.")


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("script", "steps"),
    [
        pytest.param(FAILING_TOOL, "✗ ✗ ⊘ ○ ○ ◌ · · ●", id="a tool that fails and is well again"),
        pytest.param(calls(call("steady"), times='"forever"'), "· · · ∞ · ⟳", id="a model that goes in circles"),
        pytest.param(fails(529) + fails(529) + says("Done."), "↻", id="an overloaded model"),
        pytest.param(too_long() + summarises() + says("Done."), "✂ ●", id="a history that is too long"),
    ],
)
async def test_a_real_session_gives_the_same_panel_live_and_from_its_journal(
    tmp_path: Path, script: str, steps: str
) -> None:
    wobbly = flaky("wobbly", LATE, LATE, LATE, "well again")
    steady = flaky("steady", "as before")
    async with stage(tmp_path, script, tools=[wobbly, steady]) as here:
        await here.turn()
        records = timed(here.recorded)
        check(records)
        board = here.agent.parts.breakers.registry
        assert agree([(event, at) for event, at in records if not event.transient], board.tools) > 10
        panel, conversation = folded(records).now, here.agent.conversation
        assert (panel.turn, panel.step, panel.spend) == (conversation.turn, conversation.step, conversation.spend)
        assert panel.model.phase is Phase.IDLE
        assert timeline(panel.marks, 40).plain == steps


# ── what the events mean ────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("events", "phase"),
    [
        ([], Phase.ASKING),
        ([TextDelta("x")], Phase.ANSWERING),
        ([ThinkingDelta("x")], Phase.THINKING),
        ([ThinkingDelta("x"), TextDelta("x")], Phase.ANSWERING),
        ([ThinkingDelta("x"), FAILED], Phase.DECIDING),
        ([FAILED], Phase.DECIDING),
        ([FAILED, RETRY], Phase.WAITING),
        ([FAILED, RETRY, RetryEnded("asked")], Phase.DECIDING),
        ([WaitOffered(99.0, 0.0, can_switch=True, detail="")], Phase.OFFERED),
        ([CompactionStarted("auto", 1)], Phase.COMPACTING),
        ([CompactionStarted("auto", 1), RequestSent(MODEL, 1, 1, 1, "summary")], Phase.COMPACTING),
        ([CompactionStarted("auto", 1), RETRY, RetryEnded("due")], Phase.COMPACTING),
        ([situation.REPLIED, ToolStarted("a", "bash", "x", {})], Phase.TOOLS),
        ([PermissionAsked("a", "bash", "x", "y")], Phase.PERMISSION),
        ([ToolStarted("a", "bash", "x", {}), PermissionAsked("b", "bash", "x", "y")], Phase.PERMISSION),
        ([ToolStarted("a", "ask_user", "x", {}), QuestionAsked("a", "Which?")], Phase.QUESTION),
        ([QuestionAsked("a", "Which?"), QuestionAnswered("b", "declined", "")], Phase.QUESTION),
        ([QuestionAsked("a", "Which?"), QuestionAnswered("a", "option", "x")], Phase.DECIDING),
        ([QuestionAsked("a", "Which?"), ToolEnded("a", "ask_user", ToolOutcome.CANCELLED, "", 1.0)], Phase.DECIDING),
        (ended(TransitionCode.COMPLETED, "answered"), Phase.IDLE),
        ([*ended(TransitionCode.COMPLETED, "answered"), CompactionStarted("manual", 1)], Phase.COMPACTING),
        ([*ended(TransitionCode.COMPLETED, "x"), ToolStarted("shell-1", "bash", "ls", {})], Phase.TOOLS),
    ],
)
def test_each_event_leads_to_its_phase(events: Sequence[Event], phase: Phase) -> None:
    assert after(*events).model.phase is phase


def test_the_streamed_characters_count_text_thinking_and_every_tool_call_once() -> None:
    streamed = [ThinkingDelta("four"), TextDelta("fives"), ToolCallDelta("bash", 3), ToolCallDelta("bash", 30)]
    assert after(*streamed).model.streamed_characters == 4 + 5 + 30
    assert after(*streamed, ToolCallDelta("grep", 2)).model.streamed_characters == 4 + 5 + 30 + 2
    assert after(*streamed, FAILED).model.streamed_characters == 0
    assert (
        after(ThinkingDelta("x"), ThinkingDelta("x"), TextDelta("y")).model.since
        == after(ThinkingDelta("x"), ThinkingDelta("x"), TextDelta("y"), TextDelta("z")).model.since
    )


def test_where_no_session_has_named_a_model_the_first_one_asked_is_no_fallback() -> None:
    panel = folded(timed([TurnStarted(1, "hi"), RequestSent(MODEL, 8_000, 900, 1)])).now
    assert (panel.model.chosen, panel.model.active) == (MODEL, MODEL)


def test_after_work_outside_a_turn_nothing_is_under_way() -> None:
    over = ended(TransitionCode.COMPLETED, "answered")
    shell = ToolStarted("shell-1", "bash", "ls", {}), ToolEnded("shell-1", "bash", ToolOutcome.OK, "", 0.1)
    compaction = CompactionStarted("manual", 900), CompactionEnded("summary", 900, 90, succeeded=True, detail="")
    assert after(*over, *shell).model.phase is Phase.IDLE
    panel = after(*over, *compaction)
    assert (panel.model.phase, panel.context_tokens) == (Phase.IDLE, 90)


def test_what_was_kept_is_what_joined_the_history_after_a_fault() -> None:
    reply = MessageAdded(Message("assistant", ({"type": "text", "text": "whole"},)), Origin.REPLY)
    assert after(situation.REPLIED, reply).model.kept_characters == 0
    model = after(FAILED, KEPT).model
    assert (model.kept_characters, model.kept_calls) == (1204, 1)
    assert after(FAILED, KEPT, TurnStarted(2, "x")).model.kept_characters == 0


def test_a_cycle_begins_with_a_fresh_budget_and_a_turn_with_nothing_of_the_last_one() -> None:
    assert situation.PAUSED.consumed == 5
    resumed = after(*situation.CHARGES, SessionResumed("1", MODEL, "here", practice=False))
    assert (resumed.consumed, resumed.failures, resumed.budget) == (0, (), 5)
    fold = PanelFold()
    for event in (*BEGINNING, *situation.OPENED, *situation.CHARGES, TurnStarted(2, "next")):
        fold.on_event(event, 1.0)
    assert (fold.now.consumed, fold.now.failures, fold.now.paused) == (0, (), None)
    assert next(row for row in fold.now.rows if row.tool == "grep").state is BreakerState.OPEN


def test_to_be_interrupted_or_to_return_to_the_chosen_model_is_no_incident() -> None:
    cancelled = FaultOccurred(Fault(FaultKind.CANCELLED, "interrupted"), MODEL, 1)
    back = ModelSwitched(OTHER, MODEL, "a new turn begins")
    assert not after(cancelled, back).marks[0].incident
    assert after(ModelSwitched(MODEL, OTHER, "overloaded")).marks[0].switched


def test_a_probe_and_an_opening_are_incidents_of_their_step() -> None:
    opened, probed = after(*situation.OPENED, *situation.PROBED).marks
    assert (opened.opened, opened.incident, probed.probes, probed.incident) == (1, True, 1, True)
    closed = BreakerState.CLOSED
    failed = BreakerChanged("grep", closed, closed, ChangeReason.FAILED, 1, 0, 1)
    assert not after(failed, situation.MODEL_OPENED).marks[0].incident


def test_memory_is_bounded_by_the_last_steps() -> None:
    fold = PanelFold()
    fold.on_event(SessionStarted("s", "1", "/w", MODEL, "x", practice=False), 0.0)
    fold.on_event(DispatchLimitsSet(DispatchLimits(), ("bash",)), 0.0)
    for step in range(1, KEPT_STEPS + 40):
        fold.on_event(StepStarted(step), float(step))
    assert len(fold.steps) == KEPT_STEPS
    assert fold.at_step(fold.steps[0]).step == 40
    assert fold.at_step(fold.steps[0]).marks is fold.now.marks
    with pytest.raises(KeyError):
        fold.at_step(39)


def test_a_turn_that_was_killed_is_over_when_the_session_is_resumed() -> None:
    panel = after(
        ToolStarted("a", "bash", "x", {}), SessionResumed("1", MODEL, "here", practice=False, interrupted=True)
    )
    assert (panel.model.phase, panel.running, panel.session_id) == (Phase.IDLE, (), "20261121-0806-d4eb95")


def test_that_no_retry_is_left_for_all_agents_is_shown_until_the_next_turn() -> None:
    spent = after(RetryBudgetSpent(20, 12))
    assert "no retries left: 12 for 20 requests of all agents" in panel_content(spent, 80, 60, situation.NOW).plain
    next_turn = after(RetryBudgetSpent(20, 12), TurnStarted(2, "again"))
    assert "no retries left" not in panel_content(next_turn, 80, 60, situation.NOW).plain


def test_a_request_that_waits_for_others_and_the_limit_are_shown_live_and_in_replay() -> None:
    limit, gone = (
        RequestLimitSet("claude-large", 6, 24, refused_at=situation.NOW),
        RequestLimitSet("claude-large", None, 24),
    )
    chosen, held = (
        ModelSwitched("", "claude-large", "chosen", lasting=True),
        RequestHeld("claude-large", HoldReason.PROBE),
    )
    waiting = after(chosen, limit, held)
    assert waiting.model.phase is Phase.WAITING
    shown = panel_content(waiting, 80, 60, situation.NOW).plain
    assert "waits for other sessions" in shown
    assert "another request tests whether it has recovered" in shown
    assert "▼ at most 6 of 24 requests at a time" in shown
    told = RequestLimitSet("claude-large", 6, 24, refused_at=1.0, wait_until=31.0)
    assert "; the server asked to wait until " in limit_in_words(told)
    assert limit_in_words(gone) == "the limit of requests has ended"
    asking = after(chosen, limit, held, RequestSent("claude-large", 1, 1, 1))
    assert (asking.model.phase, asking.model.held) == (Phase.ASKING, None)
    assert "requests at a time" not in panel_content(after(chosen, limit, gone), 80, 60, situation.NOW).plain


def test_a_plan_stays_for_the_next_prompt_while_a_part_of_it_is_open() -> None:
    open_plan = (PlanItem("read it", ItemStatus.DONE), PlanItem("mend it"))
    done = (PlanItem("read it", ItemStatus.DONE),)
    assert after(PlanChanged(open_plan), TurnStarted(2, "next")).plan == open_plan
    assert after(PlanChanged(done), TurnStarted(2, "next")).plan == ()
    assert after(PlanChanged(done), TurnStarted(2, "")).plan == done


def test_a_task_that_is_over_leaves_the_others_that_this_session_works_on() -> None:
    fold = PanelFold()
    for number, state in ((1, TaskState.IN_PROGRESS), (2, TaskState.IN_PROGRESS), (1, TaskState.COMPLETED)):
        fold.on_event(TaskChanged(f"t{number}", f"part {number}", state, "claim", "s1"), 1.0)
    assert fold.now.held == (("t2", "part 2"),)


def test_a_failure_of_before_a_session_was_resumed_is_not_one_of_the_next_turn() -> None:
    failure = FailureCharged("grep", situation.TIMED_OUT, 1, 1, 1, 5)
    resumed = SessionResumed("1", situation.MODEL, "https://api", practice=False)
    assert situation.after(resumed, failure).consumed == 0
    assert situation.after(resumed, StepStarted(2), failure).consumed == 1
