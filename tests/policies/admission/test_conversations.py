"""The breaker of a conversation: the one breaker there is, with seconds for its distances."""

from harness.events import BreakerState, ChangeReason, ConversationBreakerChanged, Event, WorkEnd
from harness.policies.admission.conversations import ConversationBreakers
from harness.policies.admission.limits import AdmissionLimits

OK, FAILED, CANCELLED = WorkEnd.SUCCEEDED, WorkEnd.FAILED, WorkEnd.CANCELLED
TALK = "a talk"


class Told:
    """One conversation and another, and what was told of them."""

    def __init__(self) -> None:
        self.events: list[Event] = []
        self.all = ConversationBreakers(AdmissionLimits().breaker, 60.0, self.events.append)
        self.all.add(TALK, 0.0)
        self.all.add("another", 0.0)

    def ends(self, *endings: WorkEnd, now: float = 0.0) -> "Told":
        for ending in endings:
            self.all.started(TALK, now)
            self.all.ended(TALK, ending, now)
        return self


def test_five_failures_in_a_row_pause_it_for_a_minute_and_nobody_else() -> None:
    told = Told().ends(*[FAILED] * 4)
    assert not told.all.is_paused(TALK, 0.0)
    told.ends(FAILED, now=100.0)
    assert told.all.paused_until(TALK) == 160.0
    assert told.all.is_paused(TALK, 159.9)
    assert not told.all.is_paused(TALK, 160.0)
    assert not told.all.is_paused("another", 100.0)
    assert told.all.paused == (TALK,)
    assert told.events[-1] == ConversationBreakerChanged(
        TALK, BreakerState.CLOSED, BreakerState.OPEN, ChangeReason.THRESHOLD, 5, 160.0
    )


def test_the_pauses_double_up_to_five_minutes() -> None:
    told, now, pauses = Told().ends(*[FAILED] * 5), 0.0, []
    for _ in range(5):
        until = told.all.paused_until(TALK)
        assert until is not None
        pauses.append(until - now)
        now = until
        told.ends(FAILED, now=now)
    assert pauses == [60, 120, 240, 300, 300]


def test_an_attempt_that_was_cancelled_said_nothing_and_the_next_work_is_one() -> None:
    told = Told().ends(*[FAILED] * 5).ends(CANCELLED, now=60.0)
    assert not told.all.is_paused(TALK, 60.0)
    assert told.all.paused == (TALK,)  # open again, and not half-open for ever
    told.ends(FAILED, now=61.0)
    assert told.all.paused_until(TALK) == 181.0


def test_those_that_do_not_exist_any_more_are_named_by_the_sweep() -> None:
    told = Told()
    assert told.all.sweep_at == 60.0
    assert told.all.gone({"another", "a third"}, 60.0) == (TALK,)
    assert told.all.sweep_at == 120.0


def test_where_nothing_is_known_no_sweep_is_due() -> None:
    told = Told()
    told.all.remove(TALK)
    told.all.remove("another")
    assert told.all.sweep_at is None
    told.all.add(TALK, 500.0)
    assert told.all.sweep_at == 560.0
