"""The breaker table of the panel is the breakers' own, at any moment of any session."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.events import (
    BreakerChanged,
    BreakerCommand,
    BreakerCommanded,
    BreakerState,
    CascadeChanged,
    CascadeMode,
    ChangeReason,
    Dispatched,
    DispatchLimits,
    DispatchLimitsSet,
    Event,
    Failure,
    FailureCategory,
    FailureCharged,
    LateResult,
    Score,
    SessionResumed,
    StepStarted,
    ToolEnded,
    ToolOutcome,
    ToolScored,
    TurnStarted,
)
from harness.journal import read
from harness.policies.breakers.dispatcher import BreakerReplay
from harness.policies.breakers.registry import BreakerRegistry
from harness.ui.panel.fold import PanelFold
from tests.whole import WHOLE

SESSIONS = Path(__file__).parents[2] / "policies" / "breakers" / "sessions"
TOLD = (BreakerChanged, CascadeChanged, FailureCharged, LateResult)
TOOLS = ("bash", "glob", "grep", "read_file")
PARTS = ("make", "npm")
"""Programs that each call of bash runs."""


def agree(records: Iterable[tuple[Event, float]], tools: Iterable[str]) -> int:
    """Compare both tables whenever all that the breakers had to say was said; returns how often."""
    fold, replay = PanelFold(), BreakerReplay(BreakerRegistry(tools))
    untold: list[Event] = []
    compared = 0
    for event, at in records:
        fold.on_event(event, at)
        if isinstance(event, TOLD) and not (isinstance(event, BreakerChanged) and event.key.startswith("model:")):
            assert event == untold.pop(0)
        else:
            untold += replay.on_event(event, at)
        if not untold and fold.now.rows:
            rows = tuple(replace(row, critical=False) for row in replay.registry.rows())
            assert fold.now.rows == rows, event
            assert fold.now.consumed == replay.registry.consumed, event
            compared += 1
    return compared


@pytest.mark.parametrize("name", ["grep-dies", "network-gone"])
def test_the_table_of_a_recorded_session_is_that_of_the_breakers_at_every_moment(name: str) -> None:
    records = read(SESSIONS / f"{name}.jsonl").records
    tools = next(record.event.tools for record in records if isinstance(record.event, DispatchLimitsSet))
    assert agree([(record.event, record.at) for record in records], tools) > 50


class Play:
    """A session of a board, with all that a journal would keep of it."""

    def __init__(self, limits: DispatchLimits) -> None:
        self.replay = BreakerReplay(BreakerRegistry(TOOLS))
        self.records: list[tuple[Event, float]] = []
        self.step = 0
        self.put(DispatchLimitsSet(limits, TOOLS))

    def put(self, event: Event) -> None:
        """Record an event, followed by the breaker events derived from it."""
        notices = self.replay.on_event(event, float(len(self.records)))
        self.records += [(one, float(len(self.records) + index)) for index, one in enumerate((event, *notices))]

    def round(self, calls: list[tuple[str, ToolOutcome, Failure | None]], order: list[int]) -> None:
        """One reply; its calls end in `order`, those that are not in it never."""
        self.step += 1
        self.put(StepStarted(self.step))
        let_through = []
        for place, (tool, _, _) in enumerate(calls):
            parts = PARTS if tool == "bash" else ()
            decision = self.replay.dispatcher.decide(f"{self.step}.{place}", tool, place, parts)
            permit = decision.permit
            key = permit.tool if permit.tool != tool else ""
            event = Dispatched(
                *(f"{self.step}.{place}", tool, decision.dispatch, decision.reason, permit.generation, place),
                parts=parts,
                key=key,
            )
            self.records.append((event, float(len(self.records))))
            self.records += [(one, float(len(self.records))) for one in self.replay.registry.drain_events()]
            let_through.append(decision.dispatch in ("call", "probe"))
        for place in order:
            if place < len(calls) and let_through[place]:
                tool, outcome, failure = calls[place]
                if failure and tool != "bash":
                    failure = replace(failure, part="")
                self.put(ToolEnded(f"{self.step}.{place}", tool, outcome, "", 0.0, failure=failure))


FAILURES = st.sampled_from(
    [
        *[None] * 3,
        Failure(FailureCategory.TIMEOUT, "timed out", "timeout"),
        Failure(FailureCategory.TRANSPORT, "refused", "network"),
        Failure(FailureCategory.CRASHED, "error"),
        *(Failure(FailureCategory.CANNOT_START, "not found", "cannot_start: not found", part) for part in PARTS),
    ]
)
CALLS = st.lists(
    st.tuples(st.sampled_from(TOOLS), st.sampled_from([ToolOutcome.OK, *ToolOutcome]), FAILURES),
    min_size=1,
    max_size=5,
)
ORDERS = st.permutations(range(5)).flatmap(
    lambda order: st.sampled_from([list(order), list(order), list(order), order[:3]])
)
OTHERS = st.one_of(
    st.builds(TurnStarted, st.just(1), st.sampled_from(["", "a prompt"])),
    st.builds(BreakerCommanded, st.sampled_from(BreakerCommand), st.sampled_from([*TOOLS, "bash:npm"])),
    st.builds(ToolScored, st.sampled_from(TOOLS), st.sampled_from(Score)),
    st.just(SessionResumed("1", "model", "here", practice=True)),
)
LIMITS = st.builds(
    DispatchLimits,
    threshold=st.integers(1, 3),
    budget=st.sampled_from([3, 100]),
    lease=st.integers(1, 3),
    cascade=st.sampled_from(CascadeMode),
)


@settings(max_examples=150 if WHOLE else 50)
@given(LIMITS, st.lists(st.tuples(CALLS, ORDERS) | OTHERS, max_size=25))
def test_the_table_of_any_session_is_that_of_the_breakers_at_every_moment(
    limits: DispatchLimits, rounds: list[tuple[list[tuple[str, ToolOutcome, Failure | None]], list[int]] | Event]
) -> None:
    play = Play(limits)
    for one in rounds:
        if isinstance(one, Event):
            play.put(one)
        else:
            play.round(*one)
    agree(play.records, TOOLS)


def changed(key: str, before: BreakerState, after: BreakerState, why: ChangeReason, failures: int) -> BreakerChanged:
    """A breaker moved in step 1."""
    return BreakerChanged(key, before, after, why, failures, 1, 1, detail="overloaded")


def test_a_model_is_listed_from_the_first_time_that_its_breaker_opens() -> None:
    fold = PanelFold()
    closed, opened = BreakerState.CLOSED, BreakerState.OPEN
    fold.on_event(changed("model:b", closed, closed, ChangeReason.FAILED, 1), 1.0)
    assert not fold.now.endpoints
    fold.on_event(changed("model:b", closed, opened, ChangeReason.THRESHOLD, 3), 2.0)
    fold.on_event(changed("model:b", BreakerState.HALF_OPEN, closed, ChangeReason.PROBE_SUCCEEDED, 0), 3.0)
    (row,) = fold.now.endpoints
    assert (row.tool, row.state, row.last_failure, row.last_success) == ("b", closed, 2.0, 3.0)
    assert fold.now.rows == ()
