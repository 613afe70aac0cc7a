"""The fold of members against a naive look at the events, and what a member does next."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.events import (
    Address,
    AgentCreated,
    AgentEnd,
    AgentEnded,
    AgentMoved,
    Event,
    MailDelivered,
    MailKind,
    MailReturned,
    MailSent,
    MemberChanged,
    MemberClaimed,
    MemberStarted,
    MemberState,
    Usage,
    WorkAdmitted,
)
from harness.policies.team.members import (
    WATCHED,
    Begin,
    MemberRow,
    Stay,
    TeamFold,
    WaitUntil,
    full,
    lane,
    next_step,
    roster_lines,
    spent,
    watched,
)

NAMES = ("ann", "ben")
AGENTS = {Address(name, generation): f"a{n}{generation}" for n, name in enumerate(NAMES) for generation in (1, 2)}
addresses = st.sampled_from(list(AGENTS))
agents = st.sampled_from(list(AGENTS.values()))
events = st.one_of(
    addresses.map(lambda one: MemberStarted(one, AGENTS[one])),
    st.builds(MemberChanged, addresses, st.sampled_from(MemberState), st.sampled_from(["", "why"])),
    agents.map(lambda agent: AgentCreated(agent, "c", "look", "Look.", "m", ())),
    agents.map(lambda agent: WorkAdmitted(agent, 1, 1)),
    agents.map(lambda agent: AgentMoved(agent, 1, "grep", 1, 100, 0.5)),
    agents.map(lambda agent: AgentEnded(agent, AgentEnd.ANSWERED, "", 1, 1, Usage(200, 50), 1.0, 1.0)),
    addresses.map(lambda one: MailSent(1, Address("lead", 1), one, MailKind.MESSAGE, "Hi.")),
    addresses.map(lambda one: MailDelivered(one, (1,))),
    addresses.map(lambda one: MailReturned(one, (1, 2), "gone")),
    addresses.map(lambda one: MemberClaimed(one, "t1", "look")),
)


def of(address: Address, happened: list[Event]) -> list[Event]:
    """What is about one member, from its beginning on."""
    begins = [n for n, event in enumerate(happened) if isinstance(event, MemberStarted) and event.member == address]
    if not begins:
        return []
    keys = {address, AGENTS[address]}
    named = ("member", "agent", "key", "recipient")
    return [one for one in happened[begins[-1] :] if keys & {getattr(one, name, None) for name in named}]


@given(st.lists(events, max_size=40))
def test_the_fold_says_what_a_naive_look_says(happened: list[Event]) -> None:
    fold = TeamFold()
    for at, event in enumerate(happened):
        fold.on_event(event, float(at))
    rows = {row.address: row for row in fold.rows}
    assert set(rows) == {event.member for event in happened if isinstance(event, MemberStarted)}
    for address, row in rows.items():
        mine = of(address, happened)
        ended = [n for n, event in enumerate(mine) if isinstance(event, AgentEnded)]
        moves = [event for event in mine if isinstance(event, AgentMoved)]
        assert row.tasks == sum(isinstance(event, AgentCreated) for event in mine)
        assert row.tokens_before == 250 * len(ended)
        assert row.cost_usd == len(ended) + (0.5 if row.moved else 0.0)
        assert row.moved is None or row.moved in moves
        assert row.claimed == sum(isinstance(event, MemberClaimed) for event in mine)
        unread = 0
        for event in mine:
            match event:
                case MailSent():
                    unread += 1
                case MailDelivered(ids=ids) | MailReturned(ids=ids):
                    unread = max(0, unread - len(ids))
        assert row.unread == unread
        last = next(
            (one for one in reversed(mine) if isinstance(one, MemberChanged | WorkAdmitted | AgentCreated)), None
        )
        match last:
            case MemberChanged(state=state, why=why) if AgentEnded not in map(type, mine[mine.index(last) :]):
                assert (row.state, row.why) == (state, why)
            case WorkAdmitted() if AgentEnded not in map(type, mine):
                assert row.state is MemberState.WORKING
        assert [row] == [one for one in fold.rows if fold.of_agent(row.agent) is one and one.address == address]
    assert spent(fold.rows).cost_usd == sum(row.cost_usd for row in rows.values())


STEPS = [
    (MemberState.IDLE, True, None, Begin()),
    (MemberState.IDLE, False, None, Stay()),
    (MemberState.FAILED, True, None, Begin()),
    (MemberState.FAILED, True, 11.0, WaitUntil(11.0)),
    (MemberState.PAUSED, True, 11.0, WaitUntil(11.0)),
    (MemberState.PAUSED, True, 10.0, Begin()),
    (MemberState.PAUSED, False, 11.0, Stay()),
    (MemberState.QUEUED, True, None, Stay()),
    (MemberState.WORKING, True, None, Stay()),
    (MemberState.ENDED, True, None, Stay()),
]


@pytest.mark.parametrize(("state", "begins", "until", "expected"), STEPS)
def test_what_a_member_does_next(state: MemberState, begins: bool, until: float | None, expected: object) -> None:
    assert next_step(state, begins_work=begins, paused_until=until, now=10.0) == expected


def test_a_team_is_full_at_its_limit() -> None:
    assert full(19, 20) == ""
    assert full(20, 20).startswith("There are 20 members, and team_members allows no more.")


def test_fifty_are_listed_and_the_others_counted() -> None:
    rows = [MemberRow(Address(f"m{n}", 1), f"a{n}", active=float(n), since=1.0) for n in range(60)]
    assert [row.agent for row in watched(rows)] == [f"a{n}" for n in range(59, 9, -1)]
    lines = list(roster_lines(rows, 61.0))
    assert len(lines) == WATCHED + 2
    assert lines[0] == "m59 (a59) idle for 60 s:  (0 tokens)"
    assert lines[-2:] == ["and 10 more", "together: 0 tokens"]


def test_a_lane_shows_failures_over_what_they_followed() -> None:
    states = (
        (1.0, MemberState.QUEUED),
        (2.0, MemberState.WORKING),
        (5.0, MemberState.FAILED),
        (5.1, MemberState.QUEUED),
    )
    row = MemberRow(Address("ann", 1), "a1", lane=states)
    assert lane(row, 0.0, 10.0, 10) == "░▇▇▇✗░░░░░"
    assert lane(row, 0.0, 10.0, 2) == "✗░"
    assert lane(row, 3.0, 3.0, 1) == "▇"
