"""The fold, beside a naive reading of the same events."""

import dataclasses
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.events import (
    Address,
    CompactionEnded,
    Event,
    HistoryReplaced,
    MailDelivered,
    MemberStarted,
    Message,
    MessageAdded,
    ModelSwitched,
    Notice,
    Origin,
    OutputCapChanged,
    PlanChanged,
    PlanItem,
    PromptListsRead,
    RequestSent,
    SessionResumed,
    SettingChanged,
    SpendChanged,
    StepStarted,
    ThinkingOmitted,
    ToolStarted,
    TransitionCode,
    TurnEnded,
    TurnStarted,
    Usage,
)
from harness.journal import CompactionCounts, PlanHistory, Record, RewindPoint, SessionState, replay, title_of
from tests.journal.samples import session, session_started, text


def records(events: list[Event]) -> list[Record]:
    return [Record(number, 1000.0 + number, event) for number, event in enumerate(events, start=1)]


def turn_ended(turn: int) -> TurnEnded:
    return TurnEnded(turn, TransitionCode.COMPLETED, "done", "", Usage(), 0.0, 1, 1, 1.0)


def last(events: list[Event], *kinds: type[Event]) -> Event | None:
    return next((event for event in reversed(events) if isinstance(event, kinds)), None)


def history_after(events: list[Event]) -> list[Message]:
    after = max((number for number, event in enumerate(events) if isinstance(event, HistoryReplaced)), default=-1)
    messages: list[Message] = []
    if after >= 0:
        replaced = events[after]
        assert isinstance(replaced, HistoryReplaced)
        messages.extend(replaced.messages)
    return messages + [event.message for event in events[after + 1 :] if isinstance(event, MessageAdded)]


def still_there(index: int, turn: int, added: int, events: list[Event]) -> bool:
    """A rewind can go back to the prompt at `index`, which event `added` brought: it stayed in the history through
    every replacement since, or left it with a compaction and no rewind or clear has gone behind it."""
    behind: list[Message] | None = None
    for number in range(added + 1, len(events)):
        before, after, event = history_after(events[:number]), history_after(events[: number + 1]), events[number]
        if not isinstance(event, HistoryReplaced):
            continue
        if behind is not None:
            if event.reason == "clear" or (event.reason == "rewind" and 0 < event.turn <= turn):
                return False
            if event.reason == "rewind" and event.turn and index < len(after) and behind[: len(after)] == after:
                behind = None
            continue
        prefix = before[: index + 1] == after[: index + 1]
        in_place = len(before) == len(after) and before[index] == after[index]
        if not prefix and not in_place:
            if event.reason != "compaction":
                return False
            behind = before
    return True


def naive_plan(events: list[Event]) -> tuple[PlanItem, ...]:
    """Follow each plan through every later change of the history; the last remaining one."""
    found: tuple[PlanItem, ...] = ()
    for number, event in enumerate(events):
        if isinstance(event, PlanChanged) and plan_is_left(len(history_after(events[:number])), number, events):
            found = event.items
    return found


def plan_is_left(place: int, declared: int, events: list[Event]) -> bool:
    """A plan that event `declared` brought, with its result at that place, was never cut off."""
    for number in range(declared + 1, len(events)):
        event = events[number]
        if not isinstance(event, HistoryReplaced):
            continue
        before = history_after(events[:number])
        if event.reason in ("clear", "rewind", "rollback"):
            if place >= len(event.messages):
                return False
        elif len(before) != len(event.messages):
            while before[:place] != list(event.messages[:place]):
                place -= 1
    return True


def naive_plain(events: list[Event]) -> int:
    """Every message, once thinking is left out for good; else what the last event says that speaks of it."""
    if any(isinstance(event, ThinkingOmitted) and event.before is None for event in events):
        return sys.maxsize
    match last(events, ThinkingOmitted, HistoryReplaced):
        case ThinkingOmitted(before=int(before)):
            return before
        case HistoryReplaced(messages=messages, plain_until=plain):
            return len(messages) if plain is None else plain
        case _:
            return 0


def naive_state(events: list[Event]) -> SessionState:
    """Look up each field separately, from the end of the list."""
    messages = history_after(events)
    models = [
        getattr(event, "to_model", None) or getattr(event, "model", None) or getattr(event, "value", None)
        for event in events
        if isinstance(event, type(session_started()) | SessionResumed)
        or (isinstance(event, SettingChanged) and event.name == "model")
        or (isinstance(event, ModelSwitched) and event.lasting)
    ]
    points = []
    for number, event in enumerate(events):
        begun = last(events[: number + 1], TurnStarted)
        turn = begun.turn if isinstance(begun, TurnStarted) else 0
        index = len(history_after(events[:number]))
        if (
            isinstance(event, MessageAdded)
            and event.origin is Origin.PROMPT
            and still_there(index, turn, number, events)
        ):
            points.append(RewindPoint(turn, event.message.text, index))
    prompts = [event for event in events if isinstance(event, TurnStarted)]
    step = last(events, StepStarted)
    spend = last(events, SpendChanged)
    lists = last(events, PromptListsRead)
    requested = last(events, RequestSent)
    asked = [event for event in events if isinstance(event, RequestSent) and event.purpose == "turn"]
    compactions = [event for event in events if isinstance(event, CompactionEnded)]
    drains = [event for event in compactions if event.drained]
    marks = [number for number, event in enumerate(events) if isinstance(event, MailDelivered)]
    mail = [event for event in events[marks[-1] + 1 if marks else 0 :] if isinstance(event, MessageAdded)]
    delivered = last(events, MailDelivered)
    return SessionState(
        session_id="20261121-0345-7f3a9c",
        workspace="/home/ko/project",
        title=next((title_of(event.prompt) for event in prompts if title_of(event.prompt)), ""),
        model=models[-1] or "",
        messages=tuple(messages),
        rewind_points=tuple(points),
        steered=tuple(
            event.message.text
            for event in events
            if isinstance(event, MessageAdded) and event.origin is Origin.STEERING
        ),
        turn=prompts[-1].turn if prompts else 0,
        step=step.step if isinstance(step, StepStarted) else 0,
        own_commands=sum(isinstance(event, ToolStarted) and "shell-" in event.call_id for event in events),
        interrupted=isinstance(last(events, TurnStarted, TurnEnded), TurnStarted),
        last_prompt=prompts[-1].prompt if prompts else "",
        shortenings=CompactionCounts(
            drains=len(drains),
            summaries=sum(event.method == "summary" and event.succeeded for event in compactions),
            cuts=sum(event.method == "truncation" and not event.drained for event in compactions),
            drained=frozenset(id for event in drains for id in event.drained),
        ),
        raised_caps={
            event.model: event.session_cap
            for event in events
            if isinstance(event, OutputCapChanged) and event.session_cap is not None
        },
        spend=spend if isinstance(spend, SpendChanged) else None,
        asked=asked[-1] if asked else None,
        plain_until=naive_plain(events),
        lists=lists if isinstance(lists, PromptListsRead) else None,
        team=any(isinstance(event, MemberStarted) for event in events),
        mail_read=max(delivered.ids) if isinstance(delivered, MailDelivered) else 0,
        mail_unmarked=sum(len(one.message.content) for one in mail if one.origin is Origin.MAIL),
        last_model=requested.model if isinstance(requested, RequestSent) else "",
    )


numbers = st.integers(1, 9)
words = st.text(max_size=100)
messages = st.builds(text, st.sampled_from(["user", "assistant"]), words)
events = st.one_of(
    st.builds(TurnStarted, numbers, words),
    st.builds(turn_ended, numbers),
    st.builds(StepStarted, numbers),
    st.builds(MessageAdded, messages, st.sampled_from(Origin)),
    st.builds(MailDelivered, st.just(Address("ann", 1)), st.sets(numbers, min_size=1).map(tuple)),
    st.builds(MemberStarted, st.just(Address("ann", 1)), st.just("a1")),
    st.builds(
        HistoryReplaced,
        st.lists(messages, max_size=3).map(tuple),
        st.sampled_from(["compaction", "rewind", "rollback", "clear"]),
        st.none(),
        st.sampled_from([0, 0, 1, 5]),
    ),
    st.builds(PlanChanged, st.lists(st.builds(PlanItem, st.sampled_from("abc")), max_size=2).map(tuple)),
    st.builds(ModelSwitched, st.just("a"), st.sampled_from(["b", "c"]), st.just("why"), st.booleans()),
    st.builds(SettingChanged, st.sampled_from(["model", "plain"]), st.sampled_from(["d", "e"])),
    st.builds(SessionResumed, st.just("0.1.0"), st.just("f"), st.just("https://api.example"), st.just(value=False)),
    st.builds(*(OutputCapChanged, st.just(1), st.just(2), st.just("cut"), st.sampled_from("mn")), st.none() | numbers),
    st.builds(SpendChanged, numbers, st.builds(Usage, numbers), st.just(0.1), st.just(Usage()), st.just(0.0)),
    st.builds(ToolStarted, st.sampled_from(["shell-1", "toolu_1"]), st.just("bash"), st.just("ls"), st.just({})),
    st.builds(CompactionEnded, st.just("summary"), st.just(9), st.just(3), st.booleans(), st.just("so")),
    st.builds(CompactionEnded, st.just("truncation"), st.just(9), st.just(3), st.just(value=False), st.just("cut")),
    st.builds(
        CompactionEnded,
        *(st.just("truncation"), st.just(9), st.just(3), st.just(value=True), st.just("kept")),
        st.sets(st.sampled_from("abc"), min_size=1).map(tuple),
    ),
    st.builds(HistoryReplaced, st.just(()), st.just("repair"), numbers),
    st.builds(ThinkingOmitted, st.none() | numbers, st.just("why")),
    st.builds(
        *(RequestSent, st.sampled_from("mn"), st.just(1), st.just(1), st.just(1), st.sampled_from(["turn", "summary"])),
        *(st.just(9), st.sampled_from("ab"), st.sampled_from("cd")),
    ),
    st.builds(PromptListsRead, words, words),
    st.just(Notice("info", "nothing that matters")),
)


@given(st.lists(events, max_size=40))
def test_the_fold_says_what_a_naive_look_at_the_events_says(happened: list[Event]) -> None:
    everything = [session_started(), *happened]
    state = replay(records(everything))
    assert dataclasses.replace(state, plans=PlanHistory()) == naive_state(everything)
    assert state.plans.current == naive_plan(everything)


def test_the_sample_session_ends_in_its_second_turn() -> None:
    state = replay(records(list(session())))
    assert (state.turn, state.step, state.interrupted) == (2, 3, True)
    assert state.title == "設定はどこで 読まれますか？ 🙂"
    assert state.last_prompt == "And now?"
    assert state.model == "claude-opus-5-5"
    assert [message.role for message in state.messages] == ["user", "assistant", "user"]


def test_an_empty_journal_is_an_empty_session() -> None:
    assert replay([]) == SessionState()


def test_a_fork_knows_where_it_came_from() -> None:
    forked = dataclasses.replace(session_started("new"), forked_from="old")
    assert replay(records([forked])).forked_from == "old"


def test_ten_thousand_messages_are_replayed_in_well_under_a_second() -> None:
    many: list[Event] = [MessageAdded(text("user", "x"), Origin.PROMPT)] * 10_000
    assert len(replay(records(many)).messages) == 10_000


@pytest.mark.parametrize(
    ("prompt", "title"),
    [("hello", "hello"), ("  two\n\nlines\t", "two lines"), ("x" * 81, "x" * 79 + "…"), ("x" * 80, "x" * 80), ("", "")],
)
def test_a_title_is_one_short_line(prompt: str, title: str) -> None:
    assert title_of(prompt) == title
