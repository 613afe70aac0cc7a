"""The loops on the panel: the view after each prefix of events, compared with an oracle that recomputes it."""

from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.events import (
    Event,
    Intervened,
    LoopAnswered,
    LoopAsked,
    LoopChoice,
    LoopFound,
    LoopLeft,
    RolledBack,
    Rung,
    SessionResumed,
    SessionStarted,
    StepStarted,
    StuckReported,
    TransitionCode,
    TurnEnded,
    TurnStarted,
)
from harness.ui.folds.loops import KEPT_LOOPS, KEPT_RUNGS, LoopsView, LoopView, after
from harness.ui.folds.model import Phase
from harness.ui.panel.fold import PanelFold
from harness.ui.panel.state import Panel
from tests.ui.loops import BACK, CIRCLE, FAILING_CIRCLE, FOUND, LEFT, REPORT, took
from tests.ui.panel import situations as situation
from tests.ui.panel.situations import BEGINNING, MODEL, ended

LOOPS = (CIRCLE, FAILING_CIRCLE, replace(CIRCLE, signature="another", weak=True))
LOOP = st.sampled_from(LOOPS)
LONGER = replace(REPORT, loop=replace(FAILING_CIRCLE, copies=9))
RESUMED = SessionResumed("1", MODEL, "here", practice=False)
END = {code: ended(code, "why")[1] for code in (TransitionCode.COMPLETED, TransitionCode.LOOP_STOPPED)}
EVENTS: st.SearchStrategy[Event] = st.one_of(
    st.builds(LoopFound, LOOP, st.integers(1, 9), st.booleans()),
    st.builds(LoopFound, LOOP, st.integers(1, 9), st.booleans()),
    LOOP.map(lambda loop: LoopLeft(loop.signature, loop.projection, 9, Rung.NUDGE)),
    st.builds(took, st.sampled_from(Rung), st.just("x"), st.integers(1, 3), loop=LOOP, applied=st.booleans()),
    LOOP.map(lambda loop: LoopAsked(replace(loop, copies=7), tuple(LoopChoice))),
    st.builds(lambda loop, choice: LoopAnswered(loop.signature, choice), LOOP, st.sampled_from(LoopChoice)),
    st.sampled_from(
        [REPORT, LONGER, BACK, StepStarted(3), TurnStarted(2, "next"), TurnStarted(3, ""), RESUMED, *END.values()]
    ),
    st.just(BEGINNING[0]),
)


def looked_at_anew(events: Sequence[Event]) -> LoopsView:
    """The view after these events, computed by searching backwards for each field."""

    def since(*kinds: type[Event]) -> int:
        return max((place for place, event in enumerate(events) if isinstance(event, kinds)), default=-1)

    session = since(SessionStarted)
    turn = max(session, since(TurnStarted))
    well = max(
        place
        for place, event in [(-1, None), *enumerate(events)]
        if place < 0 or event == END[TransitionCode.COMPLETED]
    )
    over = since(TurnEnded, SessionResumed)
    circles = []
    for place, event in enumerate(events):
        if not isinstance(event, LoopFound) or place < max(turn, well):
            continue
        later = [(at, one) for at, one in enumerate(events) if at > place]
        signature = event.loop.signature
        if any(isinstance(one, LoopFound) and one.loop.signature == signature for _, one in later):
            continue
        left = [(at, one) for at, one in later if isinstance(one, LoopLeft) and one.signature == signature]
        if left and left[0][0] < over:
            continue
        said = [one.choice for _, one in later if isinstance(one, LoopAnswered) and one.signature == signature]
        told = [one.loop for _, one in later if isinstance(one, LoopAsked | StuckReported)]
        same = [loop for loop in told if loop.signature == signature]
        loop = same[-1] if same else event.loop
        circles.append(LoopView(loop, event.relapse, said[-1] if said else None, left[-1][1] if left else None))
    rungs: dict[tuple[str, Rung], Intervened] = {}
    for event in events[session + 1 :]:
        if isinstance(event, Intervened):
            rungs.pop((event.signature, event.rung), None)
            rungs[event.signature, event.rung] = event
    reports = [event for event in events[turn + 1 :] if isinstance(event, StuckReported)]
    return LoopsView(tuple(circles), tuple(rungs.values()), reports[-1] if reports else None)


@given(st.lists(EVENTS, max_size=25))
def test_every_prefix_leads_to_what_a_look_at_all_of_it_finds(events: list[Event]) -> None:
    known = LoopsView()
    fold = PanelFold()
    for number, event in enumerate(events, 1):
        known = after(known, event)
        fold.on_event(event, float(number))
        assert known == fold.now.loops == looked_at_anew(events[:number])


def panel(*events: Event) -> Panel:
    return situation.after(situation.REPLIED, *events)


def test_the_ladder_is_remembered_for_a_loop_that_comes_back_in_a_later_turn() -> None:
    again = (*END.values(), TurnStarted(2, "next"), replace(FOUND, relapse=True))
    known = panel(FOUND, took(Rung.NUDGE), took(Rung.SUBSTITUTE), *again).loops
    assert [one.rung for one in known.rungs(CIRCLE.signature)] == [Rung.NUDGE, Rung.SUBSTITUTE]
    assert [circle.relapse for circle in known.current] == [True]


def test_a_report_stays_until_the_next_prompt() -> None:
    longer = replace(REPORT, loop=replace(CIRCLE, copies=7))
    stopped = (FOUND, longer, END[TransitionCode.LOOP_STOPPED])
    assert panel(*stopped).loops.current[0].loop.copies == 7
    assert panel(*stopped).loops.stuck == longer
    assert panel(*stopped, RESUMED).loops.stuck == longer
    assert panel(*stopped, TurnStarted(2, "next")).loops == LoopsView()


def test_memory_is_bounded() -> None:
    known = LoopsView()
    for number in range(KEPT_RUNGS + 10):
        loop = replace(CIRCLE, signature=str(number))
        known = after(after(known, LoopFound(loop, number)), took(Rung.NUDGE, loop=loop))
    assert (len(known.loops), len(known.interventions)) == (KEPT_LOOPS, KEPT_RUNGS)
    assert known.rungs(str(KEPT_RUNGS + 9))


@pytest.mark.parametrize(
    ("events", "phase"),
    [
        ([], Phase.LOOP),
        ([LoopAnswered(CIRCLE.signature, LoopChoice.CONTINUE)], Phase.DECIDING),
        ([END[TransitionCode.LOOP_STOPPED]], Phase.IDLE),
    ],
)
def test_the_model_waits_as_long_as_the_question_is_open(events: list[Event], phase: Phase) -> None:
    model = panel(FOUND, LoopAsked(CIRCLE, tuple(LoopChoice)), *events).model
    assert (model.phase, model.loop is not None) == (phase, phase is Phase.LOOP)


def test_a_loop_is_an_incident_of_the_step_in_which_it_was_found() -> None:
    marks = panel(FOUND, LoopFound(FAILING_CIRCLE, 1), StepStarted(2), LEFT, RolledBack(1, 1)).marks
    assert [(mark.loops, mark.incident) for mark in marks] == [(2, True), (0, False)]
