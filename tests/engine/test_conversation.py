"""A conversation: its state, its events, and the replacement of its history."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Literal

import pytest

from harness.engine.conversation import Conversation, ignore
from harness.events import (
    Block,
    BoardOpened,
    Effort,
    Event,
    HistoryReplaced,
    Message,
    MessageAdded,
    Origin,
    OutputCapChanged,
    PlanChanged,
    PlanItem,
    SpendChanged,
    StepStarted,
    ThinkingOmitted,
    Usage,
)
from harness.journal import Record, RewindPoint, read, replay
from harness.session import Opening, Session
from tests.agent.stage import MODEL, calls, fails, played, run, says, sessions, summarises, too_long

OTHER_MODEL = "claude-opus-4-6"
THINKS: Block = {"type": "thinking", "thinking": "Hm.", "signature": "s"}


def conversation() -> Conversation:
    """One with thinking in its only reply."""
    question = Message("user", ({"type": "text", "text": "Why?"},))
    return Conversation(ignore, messages=(question, Message("assistant", (THINKS, {"type": "text", "text": "So."}))))


def test_thinking_that_is_left_out_for_good_stays_out_when_the_history_is_replaced() -> None:
    talk = conversation()
    talk.omit_thinking("the server rejected it", always=True)
    talk.replace(talk.messages[:1], "rewind")
    assert talk.state.plain_until == sys.maxsize


def test_after_a_replacement_the_border_of_left_out_thinking_moves_with_the_history() -> None:
    talk = conversation()
    talk.omit_thinking("another model")
    assert talk.state.plain_until == 2
    talk.replace(talk.messages[:1], "rewind")
    assert talk.state.plain_until == 1


def test_without_thinking_to_leave_out_only_what_follows_is_kept_plain() -> None:
    seen: list[Event] = []
    talk = Conversation(seen.append, messages=conversation().messages[:1])
    talk.omit_thinking("another model")
    assert (talk.state.plain_until, seen) == (0, [])
    talk.omit_thinking("the server rejected it", always=True)
    assert (talk.state.plain_until, seen) == (sys.maxsize, [ThinkingOmitted(None, "the server rejected it")])


def spoken() -> tuple[Conversation, list[Event]]:
    """Two turns with an answer each, and their events."""
    seen: list[Event] = []
    talk = Conversation(seen.append)
    for prompt, answer in [("first", "One."), ("second", "Two.")]:
        talk.begin_turn(prompt)
        talk.add("user", ({"type": "text", "text": prompt},), Origin.PROMPT)
        talk.add("assistant", ({"type": "text", "text": answer},), Origin.REPLY)
    return talk, seen


@pytest.mark.parametrize(
    ("messages", "reason", "left"),
    [
        (3, "rollback", ["first", "second"]),
        (2, "rewind", ["first"]),
        (1, "rollback", ["first"]),
        (0, "clear", []),
    ],
)
def test_a_prompt_can_be_rewound_to_exactly_as_long_as_it_is_in_the_history(
    messages: int, reason: Literal["rollback", "rewind", "clear"], left: list[str]
) -> None:
    talk, seen = spoken()
    talk.replace(talk.messages[:messages], reason)
    assert [point.prompt for point in talk.rewind_points] == left
    replayed = replay([Record(number, 0.0, event) for number, event in enumerate(seen, start=1)])
    assert replayed.rewind_points == talk.rewind_points


def test_a_rewind_reaches_behind_a_compaction_and_forgets_what_came_after() -> None:
    talk, seen = spoken()
    earlier = talk.messages
    talk.replace((Message("user", ({"type": "text", "text": "A summary."},)),), "compaction")
    talk.begin_turn("third")
    talk.add("user", ({"type": "text", "text": "third"},), Origin.PROMPT)
    assert [(point.prompt, point.history) for point in talk.rewind_points] == [
        *(("first", earlier), ("second", earlier), ("third", None))
    ]
    talk.replace(earlier[:2], "rewind", turn=2)
    replayed = replay([Record(number, 0.0, event) for number, event in enumerate(seen, start=1)])
    assert talk.rewind_points == replayed.rewind_points == (RewindPoint(1, "first", 0),)
    assert talk.rewind_points[0].history is None


def test_each_step_has_the_next_number_and_is_recorded() -> None:
    seen: list[Event] = []
    talk = Conversation(seen.append)
    assert [talk.begin_step(), talk.begin_step()] == [1, 2]
    assert seen == [StepStarted(1), StepStarted(2)]
    assert talk.step == 2


def test_spend_adds_up_and_what_was_wasted_or_has_no_price_is_counted_apart() -> None:
    seen: list[Event] = []
    talk = Conversation(seen.append)
    talk.add_spend(Usage(10, 5), 0.1, wasted=False)
    assert talk.spend == SpendChanged(1, Usage(10, 5), 0.1, Usage(), 0.0)
    talk.add_spend(Usage(20, 1), 0.2, wasted=True)
    talk.add_spend(Usage(1, 1), None, wasted=False)
    assert (talk.spend.requests, talk.spend.usage, talk.spend.unpriced) == (3, Usage(31, 7), 1)
    assert (talk.spend.retry_usage, talk.spend.retry_cost_usd) == (Usage(20, 1), 0.2)
    talk.add_waste(Usage(2, 3), 0.4)
    assert (talk.spend.requests, talk.spend.retry_usage) == (3, Usage(22, 4))
    assert talk.spend.retry_cost_usd == pytest.approx(0.6)
    assert talk.spend.cost_usd == pytest.approx(0.3)
    before = SpendChanged(5, Usage(100, 10), 1.0, Usage(), 0.0)
    talk.add_spend_of_subagent(before, SpendChanged(6, Usage(109, 13), 1.5, Usage(), 0.0))
    assert (talk.spend.requests, talk.spend.usage) == (4, Usage(40, 10))
    assert seen[-1] == talk.spend
    assert len(seen) == 5


def test_observers_see_an_event_after_it_was_recorded_and_subscribers_last() -> None:
    order: list[str] = []
    talk = Conversation(lambda event: order.append("recorded"))
    talk.listen(lambda event: order.append("shown"))
    talk.subscribe(lambda event: order.append("subscriber"))
    talk.emit(StepStarted(1))
    assert order == ["recorded", "shown", "subscriber"]
    talk.show(StepStarted(1))
    assert order[3:] == ["shown"]
    talk.listen(None)
    talk.emit(StepStarted(1))
    assert order[4:] == ["recorded", "subscriber"]


def test_a_message_without_content_is_not_added() -> None:
    seen: list[Event] = []
    talk = Conversation(seen.append)
    talk.add("assistant", (), Origin.REPLY)
    assert (talk.messages, seen) == ((), [])
    talk.add("assistant", ({"type": "text", "text": "So."},), Origin.REPLY)
    assert seen == [MessageAdded(talk.messages[0], Origin.REPLY)]
    assert talk.rewind_points == ()


def test_what_events_say_of_the_session_is_known_at_once() -> None:
    talk = Conversation(ignore)
    talk.emit(BoardOpened("shared"))
    talk.emit(OutputCapChanged(8_000, 32_000, "it was cut", "m", 32_000))
    assert (talk.state.board, talk.state.raised_caps) == ("shared", {"m": 32_000})


def test_a_plan_that_a_replacement_reverts_is_reported_as_it_is_now() -> None:
    seen: list[Event] = []
    talk = Conversation(seen.append)
    for prompt in ("first", "second"):
        talk.add("user", ({"type": "text", "text": prompt},), Origin.PROMPT)
        talk.emit(PlanChanged((PlanItem(prompt),)))
        talk.add("assistant", ({"type": "text", "text": "So."},), Origin.REPLY)
    talk.replace(talk.messages[:2], "rewind")
    assert [item.text for item in talk.plan] == ["first"]
    assert seen[-1] == PlanChanged(talk.plan)
    told = len(seen)
    talk.replace(talk.messages, "repair")
    assert len(seen) == told + 1


# ── the state of a session and its journal ──────────────────────────────────────────────────────────

TODO = '{ name = "todo_write", input = { items = [ { text = "look", status = "pending" } ] } }'
AGENT = '{ name = "agent", input = { description = "look", prompt = "Look." } }'
OF_SUBAGENT = {"when": '{ lacks = "agent" }'}
WALK = (
    fails(529),
    calls(TODO, run("one")),
    says("cut", stop_reason='"max_tokens"'),
    says("So."),
    calls(AGENT),
    says("Looked.", **OF_SUBAGENT),
    too_long(),
    says("Good."),
    says("Other."),
    says("Once more."),
    says("The end."),
    summarises(),
)


def compared(session: Session) -> list[str]:
    """Compare the state with a replay of the journal after every event; returns the names of the events."""
    names: list[str] = []

    def compare(event: Event) -> None:
        names.append(type(event).__name__)
        if not event.transient:
            assert session.conversation.state == replay(read(session.path).records)

    session.conversation.subscribe(compare)
    return names


@pytest.mark.anyio
async def test_the_state_of_a_session_is_a_replay_of_its_journal_after_every_event(tmp_path: Path) -> None:
    async with sessions(tmp_path, "".join(WALK), fallback_models=(OTHER_MODEL,)) as here:
        async with await here.open() as session:
            names = compared(session)
            await played(session.run("Look."))
            await played(session.run("Let an agent look."))
            session.models.select(OTHER_MODEL)
            session.models.set_effort(Effort.LOW)
            await played(session.run("And this model?"))
            await played(session.user_commands.shell("true"))
            await played(session.user_commands.compact())
            session.rewind.to_turn(3)
            session.conversation.omit_thinking("for good", always=True)
        async with await here.open(Opening("latest")) as session:
            names += compared(session)
            session.models.select(MODEL)
            await played(session.run("Once more."))
            session.user_commands.clear()
            await played(session.run("From the beginning."))
            state = session.conversation.state
    assert {"AgentCreated", "CompactionEnded", "FaultOccurred", "OutputCapChanged", "PlanChanged"} < {*names}
    assert (state.turn, state.own_commands, state.title, len(state.messages)) == (5, 1, "Look.", 2)


@pytest.mark.parametrize("recorded", sorted(Path("docs/sessions").glob("*.jsonl")), ids=lambda path: path.stem)
def test_a_recorded_session_continues_from_its_last_state(recorded: Path) -> None:
    records = read(recorded).records
    talk = Conversation(ignore, replay(records[: len(records) // 2]))
    for record in records[len(records) // 2 :]:
        talk.emit(record.event)
    assert talk.state == replay(records)
    assert talk.messages == history_of(record.event for record in records)


def history_of(events: Iterable[Event]) -> tuple[Message, ...]:
    """The history in the plainest way."""
    messages: tuple[Message, ...] = ()
    for event in events:
        if isinstance(event, HistoryReplaced):
            messages = event.messages
        elif isinstance(event, MessageAdded):
            messages += (event.message,)
    return messages
