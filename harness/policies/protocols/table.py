"""The table of the protocols: `(kind, state, message, role of its sender) → state, effects`.

    open ──deadline──▶ reminded ──deadline──▶ with the lead ──deadline──▶ with the user
      └────────────────────┴──── an answer of whoever may give it ────────────┴──▶ agreed, declined, answered

What the table does not list changes nothing. `refusal` says why, for the sender: it came late, has the wrong type, or
is not the sender's to say.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from itertools import product
from types import MappingProxyType
from typing import Final

from harness.events import RequestKind, RequestState


class Role(StrEnum):
    """Who a sender is in a request. The program finds it out; no text can claim it."""

    ASKER = "asker"
    RECIPIENT = "recipient"
    LEAD = "lead"
    """The lead, where it neither asks nor is asked."""
    USER = "user"
    OTHER = "other"
    """A member that the request is not about, or an earlier life of one."""
    PROGRAM = "program"


class RequestMessage(StrEnum):
    """What can be said about a request."""

    AGREE = "agree"
    DECLINE = "decline"
    ANSWER = "answer"
    """The text that a question asks for."""
    WITHDRAW = "withdraw"
    FORCE = "force"
    """End the member without waiting for it."""
    DEADLINE = "deadline"
    DEADLINE_OF_LEAD = "deadline_of_lead"
    """As `DEADLINE`, where the lead asks or is asked, so that only the user is left."""
    ASKER_ENDED = "asker_ended"
    RECIPIENT_ENDED = "recipient_ended"
    NO_USER = "no_user"
    """It would be the user's, and no user is present."""
    IDLE = "idle"
    """The recipient has nothing to finish, so the program agrees in its place."""


class RequestEffect(StrEnum):
    """What the engine does after a move."""

    TELL_ASKER = "tell_asker"
    TELL_RECIPIENT = "tell_recipient"
    REMIND = "remind"
    TELL_LEAD = "tell_lead"
    ASK_USER = "ask_user"
    END_RECIPIENT = "end_recipient"


@dataclass(frozen=True, slots=True)
class RequestRow:
    """Rows of the table that differ in kind, state or role only."""

    kinds: tuple[RequestKind, ...]
    states: tuple[RequestState, ...]
    message: RequestMessage
    roles: tuple[Role, ...]
    to: RequestState
    effects: tuple[RequestEffect, ...] = ()


@dataclass(frozen=True, slots=True)
class RequestMove:
    """What follows from a message."""

    to: RequestState
    effects: tuple[RequestEffect, ...]


_OPEN, _REMINDED, _LEAD, _USER = (
    RequestState.OPEN,
    RequestState.REMINDED,
    RequestState.WITH_LEAD,
    RequestState.WITH_USER,
)
WAITING: Final = (_OPEN, _REMINDED, _LEAD, _USER)
"""States in which an answer is possible."""
_FIRST, _ESCALATED = (_OPEN, _REMINDED), (_LEAD, _USER)
_PLAN, _SHUTDOWN, _HAND_OVER, _QUESTION = (
    (RequestKind.PLAN,),
    (RequestKind.SHUTDOWN,),
    (RequestKind.HAND_OVER,),
    (RequestKind.QUESTION,),
)
_ANSWERED = (*_PLAN, *_HAND_OVER, *_QUESTION)
"""All kinds but shutdown: they wait for an answer until there is one."""
_PROGRAM = (Role.PROGRAM,)
_TELL_ASKER = (RequestEffect.TELL_ASKER,)
_ASK_USER, _END = (RequestEffect.ASK_USER,), (RequestEffect.END_RECIPIENT,)
_AGREED, _DECLINED = RequestState.AGREED, RequestState.DECLINED
_ANY_DEADLINE = (RequestMessage.DEADLINE, RequestMessage.DEADLINE_OF_LEAD)

ROWS: Final = (
    # A plan. Once it is with the user, the lead decides no longer.
    RequestRow(_PLAN, _FIRST, RequestMessage.AGREE, (Role.RECIPIENT,), _AGREED, _TELL_ASKER),
    RequestRow(_PLAN, _FIRST, RequestMessage.DECLINE, (Role.RECIPIENT,), _DECLINED, _TELL_ASKER),
    RequestRow(_PLAN, WAITING, RequestMessage.AGREE, (Role.USER,), _AGREED, _TELL_ASKER),
    # Work that is handed over: nobody but the user can take it in the place of the recipient.
    RequestRow(_HAND_OVER, WAITING, RequestMessage.AGREE, (Role.RECIPIENT, Role.USER), _AGREED, _TELL_ASKER),
    # A question.
    RequestRow(
        *(_QUESTION, WAITING, RequestMessage.ANSWER, (Role.RECIPIENT, Role.USER), RequestState.ANSWERED, _TELL_ASKER)
    ),
    RequestRow(_QUESTION, _ESCALATED, RequestMessage.ANSWER, (Role.LEAD,), RequestState.ANSWERED, _TELL_ASKER),
    RequestRow((*_HAND_OVER, *_QUESTION), WAITING, RequestMessage.DECLINE, (Role.RECIPIENT,), _DECLINED, _TELL_ASKER),
    RequestRow((*_HAND_OVER, *_QUESTION), _ESCALATED, RequestMessage.DECLINE, (Role.LEAD,), _DECLINED, _TELL_ASKER),
    RequestRow(_ANSWERED, WAITING, RequestMessage.DECLINE, (Role.USER,), _DECLINED, _TELL_ASKER),
    # The end of a member: asked, then by force.
    RequestRow(_SHUTDOWN, _FIRST, RequestMessage.AGREE, (Role.RECIPIENT,), _AGREED, _END),
    RequestRow(_SHUTDOWN, _FIRST, RequestMessage.IDLE, _PROGRAM, _AGREED, _END),
    RequestRow(_SHUTDOWN, _FIRST, RequestMessage.DECLINE, (Role.RECIPIENT,), _DECLINED, _TELL_ASKER),
    RequestRow(
        *(_SHUTDOWN, _FIRST, RequestMessage.FORCE, (Role.ASKER, Role.LEAD, Role.USER), RequestState.FORCED, _END)
    ),
    # Time.
    *(
        RequestRow(tuple(RequestKind), (_OPEN,), late, _PROGRAM, _REMINDED, (RequestEffect.REMIND,))
        for late in _ANY_DEADLINE
    ),
    *(RequestRow(_SHUTDOWN, (_REMINDED,), late, _PROGRAM, RequestState.FORCED, _END) for late in _ANY_DEADLINE),
    RequestRow(_ANSWERED, (_REMINDED,), RequestMessage.DEADLINE, _PROGRAM, _LEAD, (RequestEffect.TELL_LEAD,)),
    RequestRow(_ANSWERED, (_REMINDED,), RequestMessage.DEADLINE_OF_LEAD, _PROGRAM, _USER, _ASK_USER),
    RequestRow(_ANSWERED, (_LEAD,), RequestMessage.DEADLINE, _PROGRAM, _USER, _ASK_USER),
    RequestRow(_ANSWERED, (_USER,), RequestMessage.NO_USER, _PROGRAM, _DECLINED, _TELL_ASKER),
    # Ends of those who take part.
    RequestRow(
        *(tuple(RequestKind), WAITING, RequestMessage.WITHDRAW, (Role.ASKER,), RequestState.WITHDRAWN),
        (RequestEffect.TELL_RECIPIENT,),
    ),
    RequestRow(
        *(tuple(RequestKind), WAITING, RequestMessage.ASKER_ENDED, _PROGRAM, RequestState.WITHDRAWN),
        (RequestEffect.TELL_RECIPIENT,),
    ),
    RequestRow(_ANSWERED, WAITING, RequestMessage.RECIPIENT_ENDED, _PROGRAM, RequestState.LAPSED, _TELL_ASKER),
    RequestRow(_SHUTDOWN, WAITING, RequestMessage.RECIPIENT_ENDED, _PROGRAM, RequestState.LAPSED),
)

Key = tuple[RequestKind, RequestState, RequestMessage, Role]


def _listed() -> Iterator[tuple[Key, RequestMove]]:
    for row in ROWS:
        for kind, state, role in product(row.kinds, row.states, row.roles):
            yield (kind, state, row.message, role), RequestMove(row.to, row.effects)


TABLE: Final[Mapping[Key, RequestMove]] = MappingProxyType(dict(_listed()))

EFFECTS: Final[Mapping[tuple[RequestKind, RequestState], tuple[RequestEffect, ...]]] = MappingProxyType(
    {(key[0], done.to): done.effects for key, done in TABLE.items()}
)
"""The effects of each state, whichever row led there. After a crash they follow from the state in the journal."""

_SHARES: Final[Mapping[tuple[bool, RequestState], float]] = MappingProxyType(
    {(False, _OPEN): 1.0, (False, _REMINDED): 0.5, (False, _LEAD): 0.5, (True, _OPEN): 1.0, (True, _REMINDED): 0.5}
)
"""Of the setting, until the next deadline, by whether it is a shutdown."""


@dataclass(frozen=True, slots=True)
class Deadlines:
    """Seconds until whoever was asked is reminded; each deadline after that comes after half of them."""

    request_s: float = 600.0
    shutdown_s: float = 120.0

    def after(self, kind: RequestKind, state: RequestState) -> float | None:
        """Seconds until the next deadline of a request in this state; None: there is none. With the user the question
        stays."""
        end = kind is RequestKind.SHUTDOWN
        share = _SHARES.get((end, state))
        return None if share is None else share * (self.shutdown_s if end else self.request_s)


MOST_REJECTIONS: Final = 3
"""Plans of one member that the lead may decline; the next one is put to the user."""


def refusal(kind: RequestKind, state: RequestState, message: RequestMessage, role: Role) -> str:
    """Why a message changes nothing, as a sentence without the id of the request; empty: it is in the table."""
    if (kind, state, message, role) in TABLE:
        return ""
    if state not in WAITING:
        return f"it has ended already: {state.value}"
    fitting = {key[2] for key in TABLE if key[0] is kind}
    if message not in fitting:
        return f"a {word(kind)} cannot get {message.value}"
    if not any((kind, one, message, role) in TABLE for one in WAITING):
        who = sorted({key[3].value for key in TABLE if key[0] is kind and key[2] is message})
        return f"{message.value} is not yours to say; who may: {', '.join(who)}"
    return f"it is {word(state)} now"


def word(value: RequestKind | RequestState | RequestMessage | RequestEffect) -> str:
    """A name as words."""
    return value.value.replace("_", " ")
