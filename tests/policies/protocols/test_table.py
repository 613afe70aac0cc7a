"""The table of the protocols against a naive reading of the rules: every kind, state, message and role."""

from itertools import product
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.events import Address, RequestKind, RequestState
from harness.policies.protocols.requests import Request, RequestRefused, digest_of, move, role_of
from harness.policies.protocols.table import (
    EFFECTS,
    TABLE,
    WAITING,
    Deadlines,
    RequestEffect,
    RequestMessage,
    RequestMove,
    Role,
)
from harness.policies.protocols.tables import as_markdown

PAGE = Path(__file__).parents[3] / "docs" / "protocols.md"
LEAD, USER, ANN, BEN, EVE = (Address(name, 1) for name in ("lead", "user", "ann", "ben", "eve"))
WAITS = ("open", "reminded", "with_lead", "with_user")
K, S, M = RequestKind, RequestState, RequestMessage


def naive(kind: str, state: str, message: str, role: str) -> str | None:
    """The new state, read off the rules; None: nothing changes."""
    if state not in WAITS:
        return None
    if role == "program":
        return of_program(kind, state, message)
    if role == "other":
        return None
    if message == "withdraw":
        return "withdrawn" if role == "asker" else None
    if kind == "shutdown":
        if state not in ("open", "reminded"):
            return None
        if message == "force":
            return None if role == "recipient" else "forced"
        return {"agree": "agreed", "decline": "declined"}.get(message) if role == "recipient" else None
    fits = {"plan": ("agree", "decline"), "hand_over": ("agree", "decline"), "question": ("answer", "decline")}[kind]
    if message not in fits or role == "asker":
        return None
    to = {"agree": "agreed", "decline": "declined", "answer": "answered"}[message]
    if role == "user":
        return to
    if kind == "plan":
        return to if role == "recipient" and state in ("open", "reminded") else None
    if role == "recipient":
        return to
    escalated = state in ("with_lead", "with_user")
    return to if escalated and not (kind == "hand_over" and message == "agree") else None


def of_program(kind: str, state: str, message: str) -> str | None:
    if message == "asker_ended":
        return "withdrawn"
    if message == "recipient_ended":
        return "lapsed"
    if message == "idle":
        return "agreed" if kind == "shutdown" and state in ("open", "reminded") else None
    if message == "no_user":
        return "declined" if kind != "shutdown" and state == "with_user" else None
    if message in ("deadline", "deadline_of_lead"):
        if state == "open":
            return "reminded"
        if kind == "shutdown":
            return "forced" if state == "reminded" else None
        if message == "deadline":
            return {"reminded": "with_lead", "with_lead": "with_user"}.get(state)
        return {"reminded": "with_user"}.get(state)
    return None


def asked(kind: RequestKind, state: RequestState = S.OPEN) -> Request:
    return Request("r1", kind, ANN, BEN, "Text.", digest_of("Text."), state)


def test_every_message_from_everybody_in_every_state_does_what_the_rules_say() -> None:
    wrong = []
    for kind, state, message, role in product(K, S, M, Role):
        done = move(asked(kind, state), message, role, digest_of("Text."))
        to = done.to.value if isinstance(done, RequestMove) else None
        if to != naive(kind.value, state.value, message.value, role.value):
            wrong.append((kind, state, message, role, to))
        if isinstance(done, RequestRefused):
            assert done.reason.startswith("r1 is unchanged: ")
            assert done.reason.endswith(".")
    assert wrong == []


def test_every_move_that_ends_or_escalates_tells_somebody() -> None:
    for kind, state, message, role in product(K, S, M, Role):
        done = move(asked(kind, state), message, role, digest_of("Text."))
        if isinstance(done, RequestMove) and (kind, done.to) != (K.SHUTDOWN, S.LAPSED):
            assert done.effects
            assert (RequestEffect.END_RECIPIENT in done.effects) is (
                kind is K.SHUTDOWN and done.to in (S.AGREED, S.FORCED)
            )


def test_what_has_to_be_done_follows_from_the_state_alone() -> None:
    for (kind, _, _, _), done in TABLE.items():
        assert EFFECTS[kind, done.to] == done.effects


@pytest.mark.parametrize("kind", K)
def test_deadlines_alone_lead_every_request_to_the_user_or_to_its_end(kind: RequestKind) -> None:
    for of_lead in (False, True):
        state, states = S.OPEN, []
        while Deadlines().after(kind, state) is not None:
            done = move(asked(kind, state), M.DEADLINE_OF_LEAD if of_lead else M.DEADLINE, Role.PROGRAM)
            assert isinstance(done, RequestMove)
            states.append(state := done.to)
        assert states[0] is S.REMINDED
        assert states[-1] is (S.FORCED if kind is K.SHUTDOWN else S.WITH_USER)
        assert (S.WITH_LEAD in states) is (kind is not K.SHUTDOWN and not of_lead)


def test_an_approval_is_for_one_text() -> None:
    plan = asked(K.PLAN)
    for digest in ("", digest_of("Text"), digest_of("Text.").upper()):
        assert isinstance(refused := move(plan, M.AGREE, Role.RECIPIENT, digest), RequestRefused)
        assert plan.digest in refused.reason
    assert isinstance(move(plan, M.AGREE, Role.RECIPIENT, plan.digest), RequestMove)


@pytest.mark.parametrize(
    ("sender", "role"),
    [
        *((ANN, Role.ASKER), (BEN, Role.RECIPIENT), (EVE, Role.OTHER), (LEAD, Role.LEAD), (USER, Role.USER)),
        *((Address("ann", 2), Role.OTHER), (Address("ben", 2), Role.OTHER)),
    ],
)
def test_a_role_follows_from_the_address_with_its_generation(sender: Address, role: Role) -> None:
    assert role_of(asked(K.QUESTION), sender) is role


@given(st.lists(st.tuples(st.sampled_from(M), st.sampled_from(Role), st.booleans()), max_size=30), st.sampled_from(K))
def test_whatever_is_said_in_any_order_a_request_ends_once(
    said: list[tuple[RequestMessage, Role, bool]], kind: RequestKind
) -> None:
    request, ends = asked(kind), 0
    for message, role, right in said:
        done = move(request, message, role, request.digest if right else "forged")
        if isinstance(done, RequestMove):
            assert request.state in WAITING
            request = Request("r1", kind, ANN, BEN, "Text.", request.digest, done.to)
            ends += done.to not in WAITING
    assert ends == (request.state not in WAITING)


def test_the_page_in_the_documentation_is_the_one_of_the_table() -> None:
    remedy = "run: python -m harness.policies.protocols.tables > docs/protocols.md"
    assert PAGE.read_text(encoding="utf-8").rstrip() == as_markdown().rstrip(), remedy


@pytest.mark.parametrize("state", S)
def test_a_setting_moves_all_deadlines_of_its_kinds_and_no_other(state: RequestState) -> None:
    moved = Deadlines(request_s=60, shutdown_s=12)
    for kind in K:
        seconds, before = moved.after(kind, state), Deadlines().after(kind, state)
        assert seconds == (None if before is None else before / 10)
