"""Requests folded from events: ids, what waits for a plan, rejections, and who waits for whom in a cycle."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.events import (
    Address,
    Event,
    MailKind,
    MailSent,
    MemberStarted,
    RequestChanged,
    RequestKind,
    RequestMade,
    RequestState,
    SessionStarted,
)
from harness.policies.protocols.requests import RequestFold

LEAD, ANN, BEN = Address("lead", 1), Address("ann", 1), Address("ben", 1)


def folded(*events: Event) -> RequestFold:
    fold = RequestFold()
    for event in events:
        fold.on_event(event)
    return fold


def plan(id: str) -> RequestMade:
    return RequestMade(id, RequestKind.PLAN, ANN, LEAD, "Do it.", "d")


def changed(id: str, state: RequestState, why: str = "") -> RequestChanged:
    return RequestChanged(id, state, "lead", why)


def question(id: str, asker: str, recipient: str) -> RequestMade:
    return RequestMade(id, RequestKind.QUESTION, Address(asker, 1), Address(recipient, 1), "Why?")


def test_ids_count_on_and_a_new_session_begins_anew() -> None:
    fold = folded(plan("r1"), plan("r9"), changed("r9", RequestState.WITHDRAWN))
    assert fold.next_id == "r10"
    fold.on_event(SessionStarted("s", "1", "/", "m", "", practice=True))
    assert (fold.next_id, fold.waiting) == ("r1", ())


def test_the_newest_plan_allows_work_or_blocks_it() -> None:
    fold = folded()
    assert fold.blocked(ANN, plans_first=False) == ""
    assert "propose a plan first" in fold.blocked(ANN, plans_first=True)
    fold.on_event(plan("r1"))
    assert "r1 waits for lead" in fold.blocked(ANN, plans_first=False)
    fold.on_event(changed("r1", RequestState.DECLINED, "too wide"))
    assert "not approved (too wide)" in fold.blocked(ANN, plans_first=False)
    for event in (plan("r2"), changed("r2", RequestState.WITHDRAWN)):
        fold.on_event(event)
    assert "not approved (too wide)" in fold.blocked(ANN, plans_first=False)
    for event in (plan("r3"), changed("r3", RequestState.AGREED)):
        fold.on_event(event)
    assert fold.blocked(ANN, plans_first=True) == ""
    assert fold.blocked(BEN, plans_first=True)
    fold.on_event(plan("r4"))
    assert fold.blocked(ANN, plans_first=True)


def test_a_new_life_inherits_no_approval() -> None:
    fold = folded(plan("r1"), changed("r1", RequestState.AGREED), MemberStarted(ANN, "a2"))
    assert fold.blocked(ANN, plans_first=True)
    assert fold.next_id == "r2"


def test_after_three_rejections_in_a_row_the_next_plan_is_for_the_user() -> None:
    fold = folded()
    for number in range(1, 4):
        assert not fold.to_user(ANN)
        fold.on_event(plan(f"r{number}"))
        fold.on_event(changed(f"r{number}", RequestState.DECLINED))
    assert fold.to_user(ANN)
    assert not fold.to_user(BEN)
    for event in (plan("r4"), changed("r4", RequestState.AGREED)):
        fold.on_event(event)
    assert not fold.to_user(ANN)


@pytest.mark.parametrize(
    ("kind", "state", "mail", "unreported"),
    [
        *(
            (RequestKind.QUESTION, RequestState.ANSWERED, mail, mail != "r1 answered")
            for mail in ("", "r1 answered", "r1")
        ),
        (RequestKind.QUESTION, RequestState.REMINDED, "", False),
        (RequestKind.PLAN, RequestState.WITHDRAWN, "r1 open", True),
        (RequestKind.PLAN, RequestState.WITHDRAWN, "", False),
        *((RequestKind.SHUTDOWN, end, "", False) for end in (RequestState.FORCED, RequestState.LAPSED)),
        (RequestKind.SHUTDOWN, RequestState.DECLINED, "r1 open", True),
    ],
)
def test_an_end_is_reported_when_a_message_with_its_key_was_sent(
    kind: RequestKind, state: RequestState, mail: str, unreported: bool
) -> None:
    fold = folded(RequestMade("r1", kind, ANN, BEN, "Text."))
    fold.on_event(MailSent(1, BEN, ANN, MailKind.ANSWER, "…", mail))
    fold.on_event(changed("r1", state))
    assert bool(fold.unreported) is unreported


def test_a_member_whose_end_was_decided_ends_also_after_a_crash() -> None:
    fold = folded(RequestMade("r1", RequestKind.SHUTDOWN, LEAD, ANN, "enough"))
    assert fold.ending(ANN) == ""
    fold.on_event(changed("r1", RequestState.FORCED))
    assert (fold.ending(ANN), fold.ending(BEN)) == ("enough", "")


NAMES = st.sampled_from("abcd")


@given(st.lists(st.tuples(NAMES, NAMES).filter(lambda one: one[0] != one[1]), max_size=8), NAMES, NAMES)
def test_a_cycle_is_found_exactly_where_the_recipient_waits_for_the_asker(
    edges: list[tuple[str, str]], asker: str, recipient: str
) -> None:
    fold = folded(*(question(f"r{number}", *edge) for number, edge in enumerate(edges, 1)))
    reached = {recipient}
    for _ in edges:
        reached |= {to for begin, to in edges if begin in reached}
    waits = any(begin in reached and to == asker for begin, to in edges)
    cycle = fold.cycle(asker, recipient)
    assert bool(cycle) is waits
    if cycle:
        names = [recipient, *(one.recipient.name for one in cycle)]
        assert names[-1] == asker
        assert [one.asker.name for one in cycle] == names[:-1]


def test_answered_requests_make_no_cycle() -> None:
    fold = folded(question("r1", "ben", "ann"))
    assert [one.id for one in fold.cycle("ann", "ben")] == ["r1"]
    fold.on_event(changed("r1", RequestState.ANSWERED))
    assert fold.cycle("ann", "ben") == ()
