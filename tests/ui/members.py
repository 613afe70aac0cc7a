"""Members for tests: factories for their events."""

from dataclasses import replace

from harness.events import Address, Event, MailKind, MailSent, MemberChanged, MemberStarted, MemberState
from tests.ui import work

LEAD = Address("lead", 1)


def address(name: str) -> Address:
    return Address(name, 1)


def joined(name: str, agent: str, role: str = "reader", task: str = "find the tests") -> tuple[Event, ...]:
    """A member has its first task."""
    created = replace(work.created(agent, task, background=True), member=name)
    return MemberStarted(Address(name, 1), agent, role), created


def changed(name: str, state: MemberState, why: str = "", *owes: Address) -> MemberChanged:
    """A member does something else."""
    return MemberChanged(Address(name, 1), state, why, owes)


def sent(sender: str, recipient: str, text: str = "Look.", kind: MailKind = MailKind.MESSAGE, id: int = 1) -> MailSent:
    """A message."""
    return MailSent(id, Address(sender, 1), Address(recipient, 1), kind, text)
