"""The registry as a fold over events: live, replayed, saved in between, and with results in any order."""

from hypothesis import given
from hypothesis import strategies as st

from harness.events import (
    BreakerCommand,
    BreakerCommanded,
    Dispatch,
    Dispatched,
    DispatchLimits,
    DispatchLimitsSet,
    DispatchReason,
    Event,
    Failure,
    FailureCategory,
    ItemStatus,
    PlanChanged,
    PlanItem,
    Score,
    SessionResumed,
    StepStarted,
    ToolEnded,
    ToolOutcome,
    ToolScored,
    TurnStarted,
)
from harness.policies.breakers.decisions import DispatchDecision
from harness.policies.breakers.dispatcher import BreakerReplay, Dispatcher
from harness.policies.breakers.registry import BreakerRegistry

TOOLS = ("bash", "grep", "read_file")
FAILURES = (
    None,
    Failure(FailureCategory.TIMEOUT, "timed out", "timeout"),
    Failure(FailureCategory.CRASHED, "error"),
)


def ended(call_id: str, tool: str, failure: Failure | None = None) -> ToolEnded:
    """A call that came back."""
    return ToolEnded(call_id, tool, ToolOutcome.BROKEN if failure else ToolOutcome.OK, "", 0.0, failure=failure)


class Session:
    """Plays a session on a dispatcher and keeps its events, as a journal does."""

    def __init__(self, registry: BreakerRegistry) -> None:
        self.dispatcher = Dispatcher(registry)
        self.events: list[Event] = []
        self.step = 0

    def on_event(self, event: Event) -> None:
        self.dispatcher.on_event(event)
        self.events.append(event)

    def round(
        self, calls: list[tuple[str, Failure | None]], order: tuple[int, ...] | None = None
    ) -> list[DispatchDecision]:
        """One reply whose calls run side by side and end in `order`."""
        self.step += 1
        self.on_event(StepStarted(self.step))
        decisions = []
        for place, (tool, _) in enumerate(calls):
            decision = self.dispatcher.decide(f"{self.step}.{place}", tool, place)
            decisions.append(decision)
            generation = decision.permit.generation
            kind = decision.dispatch
            self.events.append(Dispatched(f"{self.step}.{place}", tool, kind, decision.reason, generation, place))
        for place in range(len(calls)) if order is None else order:
            if decisions[place].dispatch in (Dispatch.CALL, Dispatch.PROBE):
                self.on_event(ended(f"{self.step}.{place}", *calls[place]))
        return decisions


ROUNDS = st.lists(
    st.one_of(
        st.lists(st.tuples(st.sampled_from(TOOLS), st.sampled_from(FAILURES)), min_size=1, max_size=5),
        st.builds(TurnStarted, st.just(1), st.sampled_from(["", "a prompt"])),
        st.builds(BreakerCommanded, st.sampled_from(BreakerCommand), st.sampled_from(TOOLS)),
        st.builds(ToolScored, st.sampled_from(TOOLS), st.sampled_from(Score)),
        st.builds(
            PlanChanged,
            st.lists(
                st.builds(PlanItem, st.just("x"), st.sampled_from(ItemStatus), st.just(("bash",))), max_size=2
            ).map(tuple),
        ),
        st.builds(
            DispatchLimitsSet,
            st.builds(DispatchLimits, threshold=st.integers(1, 4), budget=st.integers(1, 9)),
            st.just(TOOLS),
        ),
        st.just(SessionResumed("1", "model", "here", practice=True)),
    ),
    max_size=25,
)


def played(rounds: list[Event | list[tuple[str, Failure | None]]]) -> Session:
    """A session of these."""
    session = Session(BreakerRegistry(TOOLS))
    for one in rounds:
        session.round(one) if isinstance(one, list) else session.on_event(one)
    return session


@given(ROUNDS)
def test_a_replay_decides_the_same_and_ends_in_the_same_state(
    rounds: list[Event | list[tuple[str, Failure | None]]],
) -> None:
    session = played(rounds)
    differing: list[tuple[Dispatched, DispatchDecision]] = []
    replay = BreakerReplay(BreakerRegistry(TOOLS), lambda *pair: differing.append(pair))
    for event in session.events:
        replay.on_event(event)
    assert differing == []
    assert replay.registry.saved() == session.dispatcher.registry.saved()


@given(ROUNDS, st.data())
def test_a_state_that_was_saved_between_two_steps_continues_as_if_it_never_had_been(
    rounds: list[Event | list[tuple[str, Failure | None]]], data: st.DataObject
) -> None:
    events = played(rounds).events
    steps = [at for at, event in enumerate(events) if isinstance(event, StepStarted)]
    cut = data.draw(st.sampled_from([0, *steps, len(events)]))
    whole, first = BreakerReplay(BreakerRegistry(TOOLS)), BreakerReplay(BreakerRegistry(TOOLS))
    for event in events:
        whole.on_event(event)
    for event in events[:cut]:
        first.on_event(event)
    second = BreakerReplay(BreakerRegistry.restored(first.registry.saved()))
    for event in events[cut:]:
        second.on_event(event)
    assert second.registry.saved() == whole.registry.saved()


@given(st.permutations(range(4)).map(tuple))
def test_the_order_in_which_a_batch_ends_changes_nothing(order: tuple[int, ...]) -> None:
    batch = [("grep", FAILURES[1]), ("grep", None), ("bash", FAILURES[2]), ("grep", FAILURES[1])]
    sessions = [Session(BreakerRegistry(TOOLS)) for _ in range(2)]
    for _ in range(4):
        sessions[0].round(batch)
        sessions[1].round(batch, order)
    assert sessions[0].dispatcher.registry.saved() == sessions[1].dispatcher.registry.saved()


def test_a_result_of_a_call_that_was_not_let_through_is_nothing_to_the_registry() -> None:
    session = Session(BreakerRegistry(TOOLS))
    before = session.dispatcher.registry.saved()
    session.on_event(ended("unheard", "grep", FAILURES[1]))
    assert session.dispatcher.registry.saved() == before


def test_a_decision_that_would_be_another_one_today_is_reported() -> None:
    reported: list[tuple[Dispatched, DispatchDecision]] = []
    replay = BreakerReplay(BreakerRegistry(TOOLS), lambda *pair: reported.append(pair))
    recorded = Dispatched("1", "grep", Dispatch.SKIP, DispatchReason.OPEN, 4, 0)
    for event in (recorded, Dispatched("2", "grep", Dispatch.CALL, DispatchReason.DEGRADED, 0, 1)):
        replay.on_event(event)
    assert [(event.call_id, decision.reason) for event, decision in reported] == [
        ("1", DispatchReason.HEALTHY),
        ("2", DispatchReason.HEALTHY),
    ]


def test_the_moment_of_a_result_is_kept_for_the_table() -> None:
    replay = BreakerReplay(BreakerRegistry(TOOLS))
    replay.on_event(Dispatched("1", "grep", Dispatch.CALL, DispatchReason.HEALTHY, 0, 0))
    replay.on_event(ended("1", "grep", FAILURES[1]), 12.5)
    assert replay.registry.seen("grep").last_failure == 12.5


def test_a_journal_of_an_agent_with_other_tools_can_be_resumed() -> None:
    registry = BreakerRegistry(["bash"])
    replay = BreakerReplay(registry)
    before = registry.saved()
    for event in (
        BreakerCommanded(BreakerCommand.TRIP, "weather"),
        Dispatched("1", "weather", Dispatch.CALL, DispatchReason.HEALTHY, 0, 0),
        ended("1", "weather", FAILURES[1]),
    ):
        replay.on_event(event)
    assert registry.saved() == before


def test_a_turn_without_a_prompt_keeps_the_plan_and_a_new_prompt_forgets_it() -> None:
    dispatcher = Dispatcher(BreakerRegistry(TOOLS))
    items = (PlanItem("look", ItemStatus.PENDING, ("bash",)),)
    dispatcher.on_event(PlanChanged(items))
    dispatcher.on_event(TurnStarted(2, ""))
    assert dispatcher.registry.items == items
    dispatcher.on_event(TurnStarted(3, "something else"))
    assert not dispatcher.registry.items
