"""Agents, commands and admission on the panel: every prefix of events, against an oracle that looks anew."""

from collections.abc import Sequence
from dataclasses import replace
from time import perf_counter

from hypothesis import given
from hypothesis import strategies as st

from harness.events import (
    AdmissionClosed,
    AdmissionEvent,
    AdmissionLimitsSet,
    AdmissionPool,
    AgentCreated,
    AgentEnd,
    AgentEnded,
    AgentMoved,
    BreakerState,
    ChangeReason,
    CommandBegun,
    CommandCreated,
    CommandEnd,
    CommandEnded,
    CommandHandedOver,
    CommandQuiet,
    ConversationBreakerChanged,
    ConversationRemoved,
    DropReason,
    Event,
    ItemStatus,
    MovedToBackground,
    MoveReason,
    PlanChanged,
    PlanItem,
    RejectionReason,
    RemovalReason,
    SessionResumed,
    SessionStarted,
    StepStarted,
    TurnStarted,
    WorkAdmitted,
    WorkDropped,
    WorkEnd,
    WorkQueued,
    WorkRejected,
    WorkReleased,
)
from harness.ui.folds.work import (
    AdmissionView,
    CommandActivity,
    CommandView,
    Plan,
    SubagentActivity,
    SubagentView,
    plan_after,
)
from harness.ui.panel.fold import PanelFold
from tests.ui import work
from tests.ui.panel.situations import BEGINNING, MODEL

AGENT, COMMAND = st.sampled_from(["a1", "a2", "a3"]), st.sampled_from(["b1", "b2"])
KEY, NUMBER, POOL = st.sampled_from(["a1", "a2", "b1"]), st.integers(1, 6), st.sampled_from(AdmissionPool)
RESUMED = SessionResumed("1", MODEL, "here", practice=False)
STATE = st.sampled_from(BreakerState)
EVENTS: st.SearchStrategy[Event] = st.one_of(
    st.builds(work.created, AGENT, st.sampled_from(["this", "that"]), background=st.booleans()),
    st.builds(work.moved, AGENT, st.sampled_from(["grep", "read_file"]), NUMBER, asks=st.booleans()),
    st.builds(work.ended, AGENT, st.sampled_from(AgentEnd)),
    st.builds(work.command, COMMAND),
    st.one_of(
        st.builds(work.begun, COMMAND), st.builds(work.quiet, COMMAND), st.builds(CommandHandedOver, COMMAND, NUMBER)
    ),
    st.builds(MovedToBackground, st.sampled_from(["call-a1", "call-b1"]), KEY, st.sampled_from(MoveReason)),
    st.builds(work.over, COMMAND, st.integers(0, 1), st.sampled_from(CommandEnd)),
    st.builds(AdmissionLimitsSet, NUMBER, NUMBER, NUMBER, POOL),
    st.builds(WorkAdmitted, KEY, NUMBER, NUMBER, POOL),
    st.builds(WorkQueued, KEY, NUMBER, NUMBER, st.none() | NUMBER, POOL),
    st.builds(WorkDropped, KEY, NUMBER, st.sampled_from(DropReason), st.booleans(), POOL),
    st.builds(WorkRejected, KEY, st.sampled_from(RejectionReason), POOL),
    st.builds(WorkReleased, KEY, NUMBER, st.sampled_from(WorkEnd), NUMBER, POOL),
    st.builds(ConversationBreakerChanged, KEY, STATE, STATE, st.just(ChangeReason.FAILED), NUMBER, st.none(), POOL),
    st.builds(ConversationRemoved, KEY, st.sampled_from(RemovalReason), st.booleans(), POOL),
    st.builds(AdmissionClosed, NUMBER, NUMBER, POOL),
    st.sampled_from([TurnStarted(2, "next"), TurnStarted(3, ""), RESUMED, BEGINNING[0]]),
)


class Anew:
    """Looks at all events for each thing that is asked; the moment of an event is its place, from 1."""

    def __init__(self, events: Sequence[Event]) -> None:
        self._events = list(enumerate(events, 1))
        self._program = self._last(lambda event: event == RESUMED or event == BEGINNING[0])
        self._session = self._last(lambda event: event == BEGINNING[0])
        self._turn = max(self._program, self._last(lambda event: isinstance(event, TurnStarted)))

    def _last(self, found: object, after: int = 0) -> int:
        assert callable(found)
        return max((place for place, event in self._events if place > after and found(event)), default=0)

    @property
    def agents(self) -> list[SubagentView]:
        own = [(at, one) for at, one in self._events if at > self._program and self._agent_of(one)]
        places = {self._agent_of(one): at for at, one in own if isinstance(one, AgentCreated)}
        views = (self._agent([(at, one) for at, one in own if self._agent_of(one) == agent]) for agent in places)
        order = sorted(places, key=lambda agent: places[agent])
        known = {view.agent: view for view in views if view is not None}
        return [known[agent] for agent in order if agent in known]

    @staticmethod
    def _agent_of(event: Event) -> str:
        match event:
            case AgentCreated(agent=agent) | AgentMoved(agent=agent) | AgentEnded(agent=agent):
                return agent
            case MovedToBackground(work=agent):
                return agent
            case WorkAdmitted(key=key, pool=AdmissionPool.AGENTS) | WorkReleased(key=key, pool=AdmissionPool.AGENTS):
                return key
        return ""

    def _agent(self, own: list[tuple[int, Event]]) -> SubagentView | None:
        """Yield the events of one agent; `tasks` are those that it has not ended."""
        view, tasks, at_end, calls = None, 0, 0, ""
        for at, event in own:
            match event:
                case AgentCreated(agent=agent, task=task, background=background):
                    tasks, calls = tasks + 1, event.call_id
                    view = SubagentView(agent, task, float(at), background=background, tasks=tasks)
                case _ if view is None or not tasks:
                    pass
                case MovedToBackground(call_id=call_id):
                    view = replace(view, background=view.background or call_id == calls)
                case WorkAdmitted():
                    view = replace(view, state=SubagentActivity.RUNNING, since=float(at))
                case WorkReleased():
                    view = replace(view, state=SubagentActivity.ENDING)
                case AgentMoved(waits_for_user=asks):
                    view = replace(
                        view, state=SubagentActivity.ASKING if asks else SubagentActivity.RUNNING, moved=event
                    )
                case AgentEnded():
                    tasks, at_end = tasks - 1, at
                    state = SubagentActivity.QUEUED if tasks else SubagentActivity.ENDED
                    moved = None if tasks else view.moved
                    view = replace(view, state=state, tasks=tasks, moved=moved, ended=None if tasks else event)
        return None if view is None or (not tasks and at_end < self._turn) else view

    @property
    def commands(self) -> set[CommandView]:
        places = {event.command: place for place, event in self._events if isinstance(event, CommandCreated)}
        alive = (place for place in places.values() if place > self._session)
        return {view for place in alive if (view := self._command(place)) is not None}

    def _command(self, place: int) -> CommandView | None:
        asked = dict(self._events)[place]
        assert isinstance(asked, CommandCreated)
        view = CommandView(asked.command, asked.line, float(place))
        state, since, quiet, ended, moved = view.state, view.since, None, None, False
        for at, event in self._events[place:]:
            if event == RESUMED and state in (CommandActivity.HANDED_OVER, CommandActivity.ENDED):
                return None
            if isinstance(event, TurnStarted) and ended:
                return None
            if ended or asked.command not in (getattr(event, "command", ""), getattr(event, "work", "")):
                continue
            match event:
                case MovedToBackground():
                    moved = True
                case CommandBegun():
                    state, since = CommandActivity.RUNNING, float(at)
                case CommandQuiet():
                    state, quiet = CommandActivity.SILENT, event
                case CommandHandedOver():
                    state = CommandActivity.HANDED_OVER
                case CommandEnded():
                    state, ended = CommandActivity.ENDED, event
        return CommandView(asked.command, asked.line, since, state, quiet, ended, moved)

    @property
    def admission(self) -> set[AdmissionView]:
        return {self._view(pool) for pool in AdmissionPool if self._of(pool)}

    def _of(self, pool: AdmissionPool) -> list[tuple[int, AdmissionEvent]]:
        return [
            (at, one)
            for at, one in self._events
            if at > self._program and isinstance(one, AdmissionEvent) and one.pool is pool
        ]

    def _view(self, pool: AdmissionPool) -> AdmissionView:
        own = self._of(pool)
        limits = [one for _, one in own if isinstance(one, AdmissionLimitsSet)]
        counts = [one.running for _, one in own if isinstance(one, WorkAdmitted | WorkReleased)]
        return AdmissionView(
            pool,
            limits[-1].max_concurrent if limits else 0,
            limits[-1].max_queue_size if limits else 0,
            counts[-1] if counts else 0,
            sum(self._waits(own, number) for number in range(1, 7)),
            sum(self._is_put_off(own, key) for key in ("a1", "a2", "b1")),
            sum(isinstance(one, WorkDropped) and not one.deferred and at > self._turn for at, one in own),
            sum(isinstance(one, WorkRejected) and at > self._turn for at, one in own),
            sum(self._rests(own, key) for key in ("a1", "a2", "b1")),
        )

    @staticmethod
    def _waits(own: list[tuple[int, AdmissionEvent]], number: int) -> bool:
        for _, event in reversed(own):
            match event:
                case WorkQueued(number=asked) if asked == number:
                    return True
                case WorkAdmitted(number=other) | WorkDropped(number=other) | WorkQueued(replaced=other) if (
                    other == number
                ):
                    return False
                case AdmissionClosed():
                    return False
        return False

    @staticmethod
    def _is_put_off(own: list[tuple[int, AdmissionEvent]], key: str) -> bool:
        for _, event in reversed(own):
            match event:
                case WorkDropped(key=dropped, deferred=True) if dropped == key:
                    return True
                case WorkQueued(key=other) | WorkAdmitted(key=other) | ConversationRemoved(key=other) if other == key:
                    return False
                case AdmissionClosed():
                    return False
        return False

    @staticmethod
    def _rests(own: list[tuple[int, AdmissionEvent]], key: str) -> bool:
        for _, event in reversed(own):
            match event:
                case ConversationBreakerChanged(key=moved, after=after) if moved == key:
                    return after is not BreakerState.CLOSED
                case ConversationRemoved(key=removed) if removed == key:
                    return False
        return False


@given(st.lists(EVENTS, max_size=30))
def test_every_prefix_leads_to_what_a_look_at_all_of_it_finds(events: list[Event]) -> None:
    fold = PanelFold()
    for number, event in enumerate(events, 1):
        fold.on_event(event, float(number))
        anew = Anew(events[:number])
        assert list(fold.now.work.agents) == anew.agents
        assert set(fold.now.work.commands) == anew.commands
        assert set(fold.now.work.admission) == anew.admission


def test_agents_in_a_crowd_are_distinguished_by_what_each_agent_does() -> None:
    fold = PanelFold()
    for event in (*BEGINNING, *work.crowd(agents=60, done=20)):
        fold.on_event(event, 1.0)
    states = [one.state for one in fold.now.work.agents]
    assert [states.count(state) for state in SubagentActivity] == [35, 5, 0, 0, 20]
    (view,) = fold.now.work.admission
    assert (view.running, view.queued, view.deferred) == (5, 20, 15)


def test_an_agent_whose_place_is_taken_does_not_count_as_running() -> None:
    fold = PanelFold()
    for event in (*BEGINNING, work.created("a1"), work.admitted("a1", 1, 1), work.released("a1", 1, 0)):
        fold.on_event(event, 1.0)
    assert [one.state for one in fold.now.work.agents] == [SubagentActivity.ENDING]


def test_what_is_over_goes_with_the_next_turn_and_what_runs_stays() -> None:
    fold = PanelFold()
    for event in (
        *(*BEGINNING, work.created("a1"), work.created("a2", background=True), work.ended("a1")),
        *(work.command("b1"), work.command("b2"), work.over("b2")),
    ):
        fold.on_event(event, 1.0)
    assert [one.agent for one in fold.now.work.agents] == ["a1", "a2"]
    assert [one.command for one in fold.now.work.commands] == ["b1", "b2"]
    fold.on_event(TurnStarted(2, "next"), 2.0)
    assert [one.agent for one in fold.now.work.agents] == ["a2"]
    assert [one.command for one in fold.now.work.commands] == ["b1"]


def test_an_event_costs_the_same_however_many_agents_there_are() -> None:
    def time_of(agents: int) -> float:
        fold = PanelFold()
        for event in (*BEGINNING, *(work.created(f"a{number}") for number in range(agents))):
            fold.on_event(event, 1.0)
        began = perf_counter()
        for number in range(2_000):
            fold.on_event(work.moved(f"a{number % 10}"), 1.0)
        return perf_counter() - began

    assert min(time_of(2_000) for _ in range(3)) < 3 * min(time_of(10) for _ in range(3))


PLANS = st.lists(st.builds(PlanItem, st.just("read"), st.sampled_from(ItemStatus)), max_size=3).map(tuple)
PLAN_EVENTS = st.lists(
    PLANS.map(PlanChanged)
    | st.sampled_from(("again", "")).map(lambda prompt: TurnStarted(2, prompt))
    | st.just(SessionStarted("s", "1", "/w", MODEL, "x", practice=False))
    | st.just(StepStarted(1)),
    max_size=8,
)


def oracle(events: list[Event]) -> Plan:
    for at, event in reversed([*enumerate(events)]):
        if isinstance(event, SessionStarted):
            return ()
        if isinstance(event, PlanChanged):
            ended = any(isinstance(later, TurnStarted) and later.prompt for later in events[at:])
            return () if ended and all(item.status is ItemStatus.DONE for item in event.items) else event.items
    return ()


@given(PLAN_EVENTS)
def test_the_plan_after_any_events(events: list[Event]) -> None:
    plan, panel = Plan(), PanelFold()
    for event in events:
        plan = plan_after(plan, event)
        panel.on_event(event, 0.0)
    assert plan == oracle(events) == panel.now.plan
