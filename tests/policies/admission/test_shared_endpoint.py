"""One endpoint shared by all sessions: random interleavings beside a naive oracle, and the rules one by one."""

from dataclasses import dataclass, field, replace
from math import inf

from hypothesis import given, settings
from hypothesis import strategies as st

from harness.events import HoldReason
from harness.policies.admission.shared_endpoint import (
    BELIEVED_S,
    LEASE_S,
    Hold,
    RequestAsk,
    SharedEndpoint,
    asked,
    believed,
    ended,
    renewed,
)
from harness.policies.breakers.breaker import CLOSED, HALF_OPEN, OPEN, Breaker, BreakerLimits
from tests.whole import WHOLE

LIMITS = BreakerLimits(threshold=1, pauses=(60.0, 120.0), lease=inf)
SOON = BreakerLimits(threshold=1, pauses=(5.0, 8.0), lease=inf)
OPENED = Breaker().failed(1000.0, LIMITS)


def ask(id: str, machine: str = "m", *, session: str = "", limit: int = 8, early: bool = False) -> RequestAsk:
    return RequestAsk(id, session or id, machine, limit, early)


# ── the oracle ──────────────────────────────────────────────────────────────────────────────────


@dataclass
class Naive:
    """The same rules over one list of everything that ever asked."""

    now: float = 1000.0
    most: int | None = None
    burst: int = 0
    good: int = 0
    """Replies since the limit changed."""
    rose: bool = False
    lowered_at: float = -inf
    refused_at: float = -inf
    until: float = 0.0
    line: list[dict[str, object]] = field(default_factory=list)

    def believe(self) -> None:
        if self.most is not None and self.now - self.refused_at > BELIEVED_S:
            self.most, self.good, self.rose = None, 0, False
        self.line = [one for one in self.line if one["ends"] > self.now]  # type: ignore[operator]

    def out(self, machine: str | None = None) -> int:
        return sum(one["out"] is not None and machine in (None, one["machine"]) for one in self.line)

    def ask(self, one: RequestAsk) -> HoldReason | None:
        """Who waits goes out when it would be chosen if all free places were handed out one after the other."""
        self.believe()
        own = next((entry for entry in self.line if entry["id"] == one.id), None)
        if self.most is None and self.now >= self.until:
            self.line = [entry for entry in self.line if entry is not own]
            return None
        if own is None:
            own = {"id": one.id, "machine": one.machine, "out": None}
            self.line.append(own)
        own["ends"] = self.now + LEASE_S
        if own["out"] is not None:
            return None
        if self.now < self.until and not one.early:
            return HoldReason.RETRY_AFTER
        free, given = (self.most or one.limit) - self.out(), list[dict[str, object]]()
        for _ in range(free):
            waiting = [entry for entry in self.line if entry["out"] is None and entry not in given]
            if waiting:
                shares = [
                    self.out(str(entry["machine"])) + sum(g["machine"] == entry["machine"] for g in given)
                    for entry in waiting
                ]
                given.append(waiting[shares.index(min(shares))])
        if own not in given:
            return HoldReason.LIMIT
        own["out"] = self.burst
        return None

    def end(self, one: RequestAsk, how: str, retry_after: float) -> None:
        self.believe()
        own = next((entry for entry in self.line if entry["id"] == one.id), None)
        if how == "refused":
            if self.most is None:
                self.lower(one.limit // 2)
            elif (
                own is not None
                and own["out"] == self.burst
                and (self.good or self.rose or self.now - self.lowered_at >= 5)
            ):
                tried = min(self.most, self.out())
                calm = self.rose or self.good >= self.most
                self.lower(tried * 4 // 5 if calm else tried // 2)
            self.refused_at = self.now
            self.until = max(self.until, self.now + retry_after if retry_after else 0.0)
        if how == "served" and own is not None and self.most is not None and self.most < one.limit:
            self.good += 1
            if self.good >= 4 * self.most:
                self.most, self.good, self.rose = self.most + 1, 0, True
        self.line = [entry for entry in self.line if entry is not own]

    def lower(self, most: int) -> None:
        self.most, self.burst, self.good, self.rose = max(1, most), self.burst + 1, 0, False
        self.lowered_at = self.now


STEPS = st.tuples(
    st.sampled_from(("ask", "ask", "ask", "served", "served", "refused", "other", "later", "renew")),
    st.integers(0, 7),
    st.sampled_from((0.0, 0.0, 0.0, 0.0, 0.0, 7.0)),
)


@settings(max_examples=400 if WHOLE else 150, deadline=None)
@given(st.lists(STEPS, min_size=40, max_size=200), st.integers(2, 12))
def test_any_order_of_requests_leads_where_the_oracle_says(steps: list[tuple[str, int, float]], limit: int) -> None:
    record, naive, out = SharedEndpoint(), Naive(), set[str]()
    for what, number, seconds in steps:
        one, now = ask(f"r{number}", f"m{number % 3}", limit=limit), naive.now
        record = believed(record, now)
        match what:
            case "ask":
                record, hold = asked(record, one, now, LIMITS)
                assert (hold and hold.why) == naive.ask(one)
            case "later":
                naive.now += seconds or 0.3
            case "renew":
                naive.believe()
                record = renewed(record, [one.id], now)
                for entry in naive.line:
                    if entry["id"] == one.id:
                        entry["ends"] = now + LEASE_S
            case _:
                how = "served" if what == "served" else "refused" if what == "refused" else "other"
                record = ended(record, one, how, now, seconds)  # type: ignore[arg-type]
                naive.end(one, how, seconds)
        naive.believe()
        shown = believed(record, naive.now)
        assert (shown.most, shown.in_flight) == (naive.most, naive.out())
        assert shown.most is None or 1 <= shown.most <= limit
        assert [one.id for one in shown.requests] == [entry["id"] for entry in naive.line]
        out = {one.id for one in shown.requests if one.burst is not None}
        assert len(out) == shown.in_flight


# ── one probe ───────────────────────────────────────────────────────────────────────────────────


@settings(max_examples=300 if WHOLE else 100, deadline=None)
@given(
    st.lists(
        st.tuples(st.sampled_from(("ask", "ask", "later", "much later", "fails", "works", "dies")), st.integers(0, 5)),
        min_size=5,
        max_size=80,
    )
)
def test_at_most_one_probe_is_out_and_none_before_it_is_due(steps: list[tuple[str, int]]) -> None:
    """The oracle knows nothing of leases but who holds the only permission, and until when."""
    record, now = SharedEndpoint(at=1000.0, breaker=Breaker().failed(1000.0, SOON), holder="nobody"), 1000.0
    due, holder, until = 1005.0, "", -inf
    for what, number in steps:
        id = f"r{number}"
        if now >= until:
            holder = holder if now < until else ""
        record = believed(record, now)
        match what:
            case "ask":
                record, hold = asked(record, ask(id), now, SOON)
                half_open = due == inf
                free = now >= until and (half_open or now >= due or record.holder == id)
                may = id == holder or free
                assert (hold is None) == may
                if may:
                    holder, until, due = id, now + LEASE_S, inf
                elif half_open:
                    assert hold == Hold(HoldReason.PROBE)
                else:
                    assert hold == Hold(HoldReason.OPEN, due)
            case "later":
                now += 2.0
            case "much later":
                now += LEASE_S + 1.0
            case "fails" if holder == id:
                failed = record.breaker.failed(now, SOON)
                record = ended(replace(record, at=now, breaker=failed), ask(id), "other", now)
                assert failed.state is OPEN
                assert failed.due is not None
                due, holder, until = failed.due, "", -inf
            case "works" if holder == id:
                record = ended(replace(record, breaker=record.breaker.succeeded()), ask(id), "served", now)
                assert record.breaker.state is CLOSED
                return
            case "dies" if holder == id:
                now += LEASE_S  # nobody renews it
        probes = [one for one in believed(record, now).requests if one.probe]
        assert len(probes) <= 1
        if record.breaker.state is HALF_OPEN and probes:
            assert probes[0].id == holder


def test_a_session_without_a_fallback_that_opened_a_breaker_and_a_user_who_asks_may_try_before_it_is_due() -> None:
    record = SharedEndpoint(at=1000.0, breaker=OPENED, holder="s1")
    assert asked(record, ask("a", session="s2"), 1001.0, LIMITS)[1] == Hold(HoldReason.OPEN, 1060.0)
    assert asked(record, ask("a", session="s1"), 1001.0, LIMITS)[1] is None
    elsewhere = replace(ask("a", session="s1"), fallback=True)
    assert asked(record, elsewhere, 1001.0, LIMITS)[1] == Hold(HoldReason.OPEN, 1060.0)
    after, hold = asked(record, ask("a", session="s2", early=True), 1001.0, LIMITS)
    assert (hold, after.breaker.state) == (None, HALF_OPEN)


# ── rules ───────────────────────────────────────────────────────────────────────────────────────


def test_nothing_is_counted_before_something_was_refused() -> None:
    record = SharedEndpoint()
    for number in range(100):
        record, hold = asked(record, ask(f"r{number}"), 1000.0, LIMITS)
        assert (record, hold) == (SharedEndpoint(), None)
    assert ended(record, ask("r1"), "served", 1000.0) == SharedEndpoint()


def test_a_burst_lowers_the_limit_once_and_replies_raise_it_slowly() -> None:
    record = SharedEndpoint()
    for number in range(20):
        record = ended(record, ask(f"r{number}", limit=20), "refused", 1000.0)
    assert record.most == 10
    replies = list[int]()
    while record.most is not None and record.most < 20:
        number, before = 0, record.most
        while record.most == before:
            record, hold = asked(record, ask("r", limit=20), 1000.0, LIMITS)
            assert hold is None
            record, number = ended(record, ask("r", limit=20), "served", 1000.0), number + 1
        replies.append(number)
    assert replies == [4 * most for most in range(10, 20)]
    for _ in range(1000):
        record, _ = asked(record, ask("r", limit=20), 1000.0, LIMITS)
        record = ended(record, ask("r", limit=20), "served", 1000.0)
    assert record.most == 20


def test_after_a_calm_time_a_refusal_lowers_by_a_fifth_of_what_was_in_flight_and_once() -> None:
    record, last = SharedEndpoint(most=10, burst=1, served=10, lowered_at=900.0, refused_at=900.0), ask("r9", limit=20)
    for number in range(10):
        record, hold = asked(record, ask(f"r{number}", limit=20), 1000.0, LIMITS)
        assert hold is None
    after = ended(record, last, "refused", 1000.0)
    assert after.most == 8
    served = ended(after, ask("r0", limit=20), "served", 1001.0)
    for number in range(1, 9):
        served = ended(served, ask(f"r{number}", limit=20), "refused", 1020.0)
        assert served.most == 8  # they went out before the limit was lowered
    fresh, hold = asked(served, ask("new", limit=20), 1021.0, LIMITS)
    assert hold is None
    assert ended(fresh, ask("new", limit=20), "refused", 1021.0).most == 1  # alone, and not calm yet


def test_a_machine_that_waits_gets_the_next_place_however_many_others_ask() -> None:
    record = SharedEndpoint(at=0.0, most=4, refused_at=1000.0)
    for number in range(12):
        record, _ = asked(record, ask(f"big{number}", "big"), 1000.0, LIMITS)
    record, hold = asked(record, ask("small", "small"), 1000.0, LIMITS)
    assert hold == Hold(HoldReason.LIMIT, None, 0)
    record = ended(record, ask("big0", "big"), "other", 1000.0)
    record, hold = asked(record, ask("big4", "big"), 1000.0, LIMITS)
    assert hold == Hold(HoldReason.LIMIT, None, 1)
    record, hold = asked(record, ask("small", "small"), 1000.0, LIMITS)
    assert hold is None


def test_one_retry_after_holds_all_and_the_longest_counts() -> None:
    record = ended(SharedEndpoint(), ask("a"), "refused", 1000.0, 30.0)
    record = ended(record, ask("b"), "refused", 1001.0, 5.0)
    assert asked(record, ask("c"), 1029.9, LIMITS)[1] == Hold(HoldReason.RETRY_AFTER, 1030.0)
    assert asked(believed(record, 1030.0), ask("c"), 1030.0, LIMITS)[1] is None
    assert asked(record, ask("c", early=True), 1002.0, LIMITS)[1] is None


def test_what_is_old_or_of_a_clock_that_was_set_back_is_forgotten() -> None:
    record = ended(SharedEndpoint(at=1000.0, breaker=OPENED, holder="s"), ask("a"), "refused", 1000.0, 5.0)
    record, _ = asked(record, ask("b"), 1000.0, LIMITS)
    for now in (1000.0 + BELIEVED_S + 1, 1000.0 - BELIEVED_S - 1):
        old = believed(record, now)
        assert (old.breaker, old.most, old.holder) == (Breaker(), None, "")
    assert believed(record, 999.0).requests[0].expires == 999.0 + LEASE_S
