"""Requests between agents. Their parts have mistakes; TASK.md has the rules."""

import hashlib
from dataclasses import dataclass, replace

WAITING = ("open", "reminded", "with_lead", "with_user")


@dataclass(frozen=True)
class Request:
    """A request as it stands after a move."""

    id: str
    kind: str
    """"plan", "question" or "shutdown"."""
    asker: str
    recipient: str
    text: str
    state: str = "open"
    """One of WAITING, or an end: agreed, declined, answered, withdrawn, forced."""


def digest_of(text: str) -> str:
    """What an approval of this plan is for."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def role_of(request: Request, sender: str) -> str:
    """Who a sender is in a request: asker, recipient, lead, user, program or other."""
    # ── your part begins ─────────────────────────────────────────────
    return "recipient"
    # ── your part ends ───────────────────────────────────────────────


ROWS = [
    # kinds, states, message, roles of its sender: the new state
    # ── your part begins ─────────────────────────────────────────────
    ("plan shutdown", WAITING, "agree", "recipient", "agreed"),
    ("plan question shutdown", WAITING, "decline", "recipient", "declined"),
    ("question", WAITING, "answer", "recipient", "answered"),
    # ── your part ends ───────────────────────────────────────────────
]


def new_state(kind: str, state: str, message: str, role: str) -> str | None:
    """What a message makes of a request; None: there is no row, so it changes nothing. This part is right."""
    for kinds, states, said, roles, to in ROWS:
        if kind in kinds.split() and state in states and message == said and role in roles.split():
            return to
    return None


class Requests:
    """The requests of a session. `journal` outlives the program; a record in it is on disk."""

    def __init__(self, journal: list[Request]) -> None:
        self.journal = journal
        self.asked = 0

    def known(self) -> dict[str, Request]:
        """All requests by their id, oldest first. This part is right: the last record of an id counts."""
        return {request.id: request for request in self.journal}

    def ask(self, kind: str, asker: str, recipient: str, text: str) -> str:
        """Make a request; returns its id."""
        # ── your part begins ─────────────────────────────────────────────
        self.asked += 1
        id = f"r{self.asked}"
        self.journal.append(Request(id, kind, asker, recipient, text))
        return id
        # ── your part ends ───────────────────────────────────────────────

    def say(self, id: str, message: str, sender: str, digest: str = "") -> None:
        """Say something about a request. What may not be said changes nothing."""
        # ── your part begins ─────────────────────────────────────────────
        request = self.known()[id]
        state = new_state(request.kind, request.state, message, role_of(request, sender))
        self.journal.append(replace(request, state=state or request.state))
        # ── your part ends ───────────────────────────────────────────────

    def may_write(self, member: str) -> bool:
        """Whether a member that plans first may write and run something now."""
        # ── your part begins ─────────────────────────────────────────────
        return any(one.kind == "plan" and one.state == "agreed" for one in self.known().values())
        # ── your part ends ───────────────────────────────────────────────
