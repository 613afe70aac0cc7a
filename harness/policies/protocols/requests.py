"""Requests folded from events, and what a message means for one of them."""

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace

from harness.events import (
    Address,
    Event,
    MailSent,
    MemberStarted,
    RequestChanged,
    RequestKind,
    RequestMade,
    RequestState,
    SessionStarted,
)
from harness.policies.protocols.table import (
    EFFECTS,
    MOST_REJECTIONS,
    TABLE,
    WAITING,
    RequestEffect,
    RequestMessage,
    RequestMove,
    Role,
    refusal,
    word,
)
from harness.policies.team.mail import LEAD, USER

SHOWN_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class Request:
    """A request as it stands."""

    id: str
    kind: RequestKind
    asker: Address
    recipient: Address
    text: str
    digest: str = ""
    state: RequestState = RequestState.OPEN
    by: str = ""
    """Who moved it last."""
    why: str = ""
    reported: tuple[str, ...] = ()
    """States that were reported by mail."""

    @property
    def key(self) -> str:
        """Key of the mail that reports its present state."""
        return f"{self.id} {self.state.value}"

    @property
    def unreported(self) -> bool:
        """Its end is due by mail and was not sent: the program was killed in between."""
        if self.waits or self.state.value in self.reported:
            return False
        effects = EFFECTS[self.kind, self.state]
        return RequestEffect.TELL_ASKER in effects or (RequestEffect.TELL_RECIPIENT in effects and bool(self.reported))

    @property
    def waits(self) -> bool:
        """It has no answer yet."""
        return self.state in WAITING

    @property
    def with_(self) -> str:
        """Name of whoever can answer now; empty: it has ended."""
        places = {RequestState.WITH_LEAD: LEAD, RequestState.WITH_USER: USER}
        return places.get(self.state, self.recipient.name) if self.waits else ""

    @property
    def of_lead(self) -> bool:
        """The lead asks or is asked."""
        return LEAD in (self.asker.name, self.recipient.name)

    def __str__(self) -> str:
        line = " ".join(self.text.split())
        text = line if len(line) <= SHOWN_CHARACTERS else f"{line[:SHOWN_CHARACTERS]}…"
        return f"{self.id} {word(self.kind)} from {self.asker} to {self.recipient}, {word(self.state)}: {text}"


@dataclass(frozen=True, slots=True)
class RequestRefused:
    """A message changed nothing."""

    reason: str
    """A sentence for its sender."""


def digest_of(text: str) -> str:
    """What an approval of this plan is for: 12 hexadecimal digits. Another text has another digest."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def role_of(request: Request, sender: Address) -> Role:
    """Who a sender is; an earlier or later life of a member is somebody else."""
    known = {request.asker: Role.ASKER, request.recipient: Role.RECIPIENT}
    return known.get(sender) or {LEAD: Role.LEAD, USER: Role.USER}.get(sender.name, Role.OTHER)


def move(request: Request, message: RequestMessage, role: Role, digest: str = "") -> RequestMove | RequestRefused:
    """What follows from a message. `digest`: of the plan that an approval is for."""
    if why := refusal(request.kind, request.state, message, role):
        return RequestRefused(f"{request.id} is unchanged: {why}.")
    if request.kind is RequestKind.PLAN and message is RequestMessage.AGREE and digest != request.digest:
        given = f"{digest!r}" if digest else "none was given"
        return RequestRefused(f"{request.id} is unchanged: its plan has the digest {request.digest} ({given}).")
    return TABLE[request.kind, request.state, message, role]


class RequestFold:
    """The requests of a session."""

    def __init__(self) -> None:
        self._requests: dict[str, Request] = {}
        self._last = 0

    def on_event(self, event: Event) -> None:
        """Process an event."""
        match event:
            case SessionStarted():
                self._requests.clear()
                self._last = 0
            case RequestMade(id=id):
                made = (event.kind, event.asker, event.recipient, event.text, event.digest, event.state)
                self._requests[id] = Request(id, *made)
                self._last = max(self._last, int(id[1:]) if id[1:].isdecimal() else 0)
            case RequestChanged(id=id) if (request := self._requests.get(id)) is not None:
                digest = event.digest or request.digest
                changed = replace(request, state=event.state, by=event.by, why=event.why, digest=digest)
                says = changed.waits or changed.kind is RequestKind.SHUTDOWN
                self._requests[id] = changed if says else replace(changed, text="")
            case MailSent(key=key) if (request := self._requests.get(key.partition(" ")[0])) is not None:
                self._requests[request.id] = replace(request, reported=(*request.reported, key.partition(" ")[2]))
            case MemberStarted(member=address):  # nobody inherits an approval, also in a copy of the session
                kept = (one for one in self._requests.values() if address not in (one.asker, one.recipient))
                self._requests = {one.id: one for one in kept}

    @property
    def next_id(self) -> str:
        """The id of the next request; none is used twice, also after a restart."""
        return f"r{self._last + 1}"

    def get(self, id: str) -> Request | None:
        """The request of an id."""
        return self._requests.get(id.strip().lower())

    @property
    def waiting(self) -> tuple[Request, ...]:
        """Those without an answer, oldest first."""
        return tuple(one for one in self._requests.values() if one.waits)

    def asked_by(self, asker: Address) -> tuple[Request, ...]:
        """Those without an answer of one asker, oldest first."""
        return tuple(one for one in self.waiting if one.asker == asker)

    @property
    def unreported(self) -> tuple[Request, ...]:
        """Those whose end was not reported, oldest first."""
        return tuple(one for one in self._requests.values() if one.unreported)

    def ending(self, member: Address) -> str:
        """The reason for which a member has to end, by a decision that is in the journal; empty: it does not."""
        ends = (RequestState.AGREED, RequestState.FORCED)
        of_it = (one for one in self._requests.values() if one.kind is RequestKind.SHUTDOWN and one.state in ends)
        return next((one.text for one in of_it if one.recipient == member), "")

    def plans(self, member: Address) -> tuple[Request, ...]:
        """The plans of a member that count, oldest first."""
        of_it = (one for one in self._requests.values() if one.kind is RequestKind.PLAN and one.asker == member)
        return tuple(one for one in of_it if one.state is not RequestState.WITHDRAWN)

    def blocked(self, member: Address, *, plans_first: bool) -> str:
        """Why a member may write and run nothing now, as a sentence; empty: it may.

        Its newest plan counts, so a changed one blocks again.
        """
        if not (plans := self.plans(member)):
            return "you propose a plan first, with request" if plans_first else ""
        newest = plans[-1]
        if newest.waits:
            return f"your plan {newest.id} waits for {newest.with_}; end your turn, the answer begins the next one"
        if newest.state is RequestState.AGREED:
            return ""
        return f"your plan {newest.id} was not approved ({newest.why or word(newest.state)}); propose another one"

    def to_user(self, member: Address) -> bool:
        """Whether the next plan of a member goes to the user: the lead has declined its last ones."""
        last = self.plans(member)[-MOST_REJECTIONS:]
        return len(last) == MOST_REJECTIONS and all(one.state is RequestState.DECLINED for one in last)

    def cycle(self, asker: str, recipient: str) -> tuple[Request, ...]:
        """The open requests through which a recipient waits for an asker already; empty: it does not.

        A plan and a shutdown are left out: who waits for them can say what else it needs.
        """
        kinds = (RequestKind.QUESTION, RequestKind.HAND_OVER)
        edges = [one for one in self.waiting if one.kind in kinds]

        def paths(name: str, seen: frozenset[str]) -> Iterator[tuple[Request, ...]]:
            for one in edges:
                if one.asker.name == name and one.with_ == asker:
                    yield (one,)
                elif one.asker.name == name and one.with_ not in seen:
                    yield from ((one, *rest) for rest in paths(one.with_, seen | {one.with_}))

        return next(paths(recipient, frozenset({recipient})), ())
