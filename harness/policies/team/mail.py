"""Rules of mailboxes: names, who may be written to, which messages begin work, and what comes back unread."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from harness.events import Address, MailKind

LEAD, ALL, USER, PROGRAM = "lead", "all", "user", "program"
_RESERVED: Final = frozenset({LEAD, ALL, USER, PROGRAM, "head"})
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_ID = re.compile(r"[ab][0-9]+")
"""Ids of subagents and background commands."""

OWES: Final = frozenset({MailKind.MESSAGE, MailKind.USER})
"""Kinds whose sender gets the last words of a recipient that ends its task without a message to it. No kind that the
program sends is among them, so last words are never answered with last words."""

LIMITED: Final = frozenset({MailKind.MESSAGE, MailKind.NOTE, MailKind.USER})
"""Kinds that a full mailbox refuses. The program sends the others, at most one for each task or request."""

QUIET: Final = frozenset({MailKind.NOTE})
"""Kinds that begin no work."""

_GRATITUDE = re.compile(
    r"thanks?|thx|ty|cheers|appreciated?|どうも|ありがとう(?:ございます|ございました)?|danke|merci|gracias|grazie"
)
_PRAISE = re.compile(
    r"you|u|so|very|much|a|lot|many|for|the|your|that|this|it|is|all|great|good|nice|well|excellent|wonderful|perfect|"
    r"done|work|job|help|update|info|again|really|i|everything"
)
"""A text of only such words, with at least one of gratitude, is a thank-you. Words that may answer a question ("OK",
"yes", "done") are no gratitude."""


@dataclass(frozen=True, slots=True)
class MailLimits:
    """How much may be sent. What exceeds it is refused to its sender at once."""

    characters: int = 20_000
    """Of one message."""
    waiting: int = 100
    """Unread messages of one mailbox."""
    recipients: int = 20
    """Of one message."""


@dataclass(frozen=True, slots=True)
class MailDraft:
    """A message as it is asked for."""

    sender: Address
    to: tuple[str, ...]
    """Names, or `ALL`."""
    body: str
    kind: MailKind = MailKind.MESSAGE
    key: str = ""
    """Sent again with the same key, it is the same message; empty: it is another one."""


@dataclass(frozen=True, slots=True)
class Mailbox:
    """The newest mailbox of a name."""

    address: Address
    unread: int = 0
    ended: str = ""
    """Why its owner has ended; empty: it has not."""


@dataclass(frozen=True, slots=True)
class MailRefused:
    """Nothing was sent."""

    reason: str
    """A sentence for the sender."""


def name_problem(name: str, taken: Collection[str]) -> str:
    """Why a member cannot have this name, as a sentence; empty: it can. `taken`: names of those that have not ended."""
    if not _NAME.fullmatch(name):
        return "A name is 1 to 64 letters of a to z, digits, - and _, and begins with a letter or a digit."
    folded = name.casefold()
    if folded in _RESERVED or _ID.fullmatch(folded):
        return f"The name {name} is reserved; choose another one."
    if folded in {other.casefold() for other in taken}:
        return f"There is a member {name} already; write to it with message, or choose another name."
    return ""


def recipients(
    draft: MailDraft, boxes: Mapping[str, Mailbox], limits: MailLimits | None = None
) -> tuple[Address, ...] | MailRefused:
    """The mailboxes that a message goes to, each once, or why it is not sent to any of them."""
    limits = limits or MailLimits()
    no_mail = {draft.sender.name} | ({LEAD} if draft.sender.name == USER else set())
    there = sorted(name for name, box in boxes.items() if not box.ended and name not in no_mail)
    names = there if ALL in draft.to else list(dict.fromkeys(draft.to))
    if not draft.body.strip():
        return MailRefused("The message is empty.")
    if len(draft.body) > limits.characters:
        size = f"{len(draft.body):,} characters, and {limits.characters:,} are allowed"
        return MailRefused(f"The message has {size}: write the rest to a file and name it.")
    if not names:
        return MailRefused("Nobody else is there." if ALL in draft.to else "Name a recipient.")
    if len(names) > limits.recipients:
        return MailRefused(f"{len(names)} recipients; one message may have {limits.recipients}.")
    for name in names:
        if problem := _problem(name, draft, boxes, there, limits):
            return MailRefused(problem)
    return tuple(boxes[name].address for name in names)


def _problem(
    name: str, draft: MailDraft, boxes: Mapping[str, Mailbox], there: Sequence[str], limits: MailLimits
) -> str:
    known = f"There are: {_listed(there)}." if there else "Nobody else is there."
    if name == draft.sender.name:
        return f"{name} is you. {known}"
    if name == LEAD and draft.sender.name == USER:
        return "To talk to the lead, type a prompt."
    if name == USER:
        return "Nobody writes to the user; the lead talks to the user, so write to lead."
    if (box := boxes.get(name)) is None:
        return f"There is no {name!r}. {known}"
    if box.ended:
        return f"{name} has ended: {box.ended}. {known}"
    if box.unread >= limits.waiting and draft.kind in LIMITED:
        return f"{name} has {box.unread} unread messages; wait until it has read some."
    return ""


def _listed(names: Sequence[str], most: int = 20) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more


def begins_work(kind: MailKind, body: str) -> bool:
    """Whether a message is a reason for a turn: a note is none, and neither is a thank-you."""
    return kind not in QUIET and not (kind is MailKind.MESSAGE and is_thanks(body))


def is_thanks(text: str) -> bool:
    """Whether a message says nothing but thanks."""
    words = re.findall(r"[^\W_]+", text.casefold())
    gratitude = [bool(_GRATITUDE.fullmatch(word)) for word in words]
    return any(gratitude) and all(
        thanks or _PRAISE.fullmatch(word) for word, thanks in zip(words, gratitude, strict=True)
    )


def owed_to(read: Iterable[tuple[Address, MailKind, str]], written_to: Collection[str]) -> tuple[Address, ...]:
    """Who gets the last words of a task: the senders of what it has `read` that it has not written to since."""
    senders = (sender for sender, kind, body in read if kind in OWES and begins_work(kind, body))
    return tuple(dict.fromkeys(one for one in senders if one.name not in (USER, *written_to)))


def waits_for(read: Iterable[tuple[Address, MailKind, str]], asked: Collection[str]) -> tuple[str, ...]:
    """Whose answer a member waits for at the end of a task: those whom it has `asked` on its own account. Each of them
    answers, if only with its last words, or its mail comes back."""
    senders = {sender.name for sender, _, _ in read}
    return tuple(sorted(name for name in asked if name not in senders))


def returned_text(id: int, recipient: Address, why: str, body: str) -> str:
    """What the sender of an unread message reads. The history of the sender has its words already."""
    line = " ".join(body.split())
    begins = line if len(line) <= 100 else f"{line[:100]}…"
    return f"Your message {id} to {recipient} was not read: {why}. It began: {begins}"


def returned_kind(kind: MailKind, body: str) -> MailKind | None:
    """As what an unread message comes back; None: it does not, because it came back itself."""
    if kind is MailKind.RETURNED:
        return None
    return MailKind.RETURNED if begins_work(kind, body) else MailKind.NOTE
