"""The plan after any events, against an oracle that reads it off the last event that says something about it."""

from hypothesis import given
from hypothesis import strategies as st

from harness.events import Event, ItemStatus, PlanChanged, PlanItem, SessionStarted, StepStarted, TurnStarted
from harness.ui.folds.plan import Plan, after
from harness.ui.panel.fold import PanelFold
from tests.ui.panel.situations import MODEL

PLANS = st.lists(st.builds(PlanItem, st.just("read"), st.sampled_from(ItemStatus)), max_size=3).map(tuple)
EVENTS = st.lists(
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


@given(EVENTS)
def test_the_plan_after_any_events(events: list[Event]) -> None:
    plan, panel = Plan(), PanelFold()
    for event in events:
        plan = after(plan, event)
        panel.on_event(event, 0.0)
    assert plan == oracle(events) == panel.now.plan
