"""Compares the learner's requests with the table and the fold of the program."""

from collections.abc import Iterator
from itertools import product
from random import Random
from types import ModuleType
from typing import Any

from harness.events import Address, RequestChanged, RequestKind, RequestMade, RequestState
from harness.policies.protocols.requests import RequestFold, RequestRefused, digest_of, move, role_of
from harness.policies.protocols.table import TABLE, RequestMessage, Role

HISTORIES = 600
PEOPLE = ("ann", "ben", "cleo", "lead", "user", "program")
MESSAGES = ("agree", "decline", "answer", "withdraw", "force", "deadline")
STATES = {"plan": ("open", "reminded", "with_user"), "shutdown": ("open", "reminded")}
"""The states without an answer that a kind can have; a question can have all."""
ENDS = ("agreed", "declined", "answered", "withdrawn", "forced")
PLANS = ("Bread costs 4.", "Bread costs 5.")


def message_of(kind: str, message: str) -> RequestMessage:
    """The message in the words of the program, which has two kinds of deadlines."""
    of_lead = message == "deadline" and kind != "question"
    return RequestMessage.DEADLINE_OF_LEAD if of_lead else RequestMessage(message)


def differences(work: ModuleType, ended: bool) -> Iterator[str]:
    """Entries that differ between the learner's table and the program's."""
    for kind, message, role in product(("plan", "question", "shutdown"), MESSAGES, map(str, Role)):
        for state in ENDS if ended else STATES.get(kind, work.WAITING):
            row = TABLE.get((RequestKind(kind), RequestState(state), message_of(kind, message), Role(role)))
            wanted = None if row is None else str(row.to)
            if (found := work.new_state(kind, state, message, role)) != wanted:
                yield f"new_state({kind!r}, {state!r}, {message!r}, {role!r}) -> {found!r}, wanted {wanted!r}"


def same_table(work: ModuleType, *, ended: bool) -> None:
    found = list(differences(work, ended))
    assert not found, f"{found[0]}\n{len(found)} entries of the table differ"


def check_the_sender_has_a_role(work: ModuleType) -> None:
    for asker, recipient, sender in product(PEOPLE[:4], PEOPLE[:4], PEOPLE):
        if asker != recipient:
            request = RequestMade("r1", RequestKind.QUESTION, Address(asker, 1), Address(recipient, 1), "Why?")
            wanted = str(_role(request, sender))
            found = work.role_of(work.Request("r1", "question", asker, recipient, "Why?"), sender)
            assert found == wanted, f"{asker} asks {recipient}: role_of {sender} -> {found!r}, wanted {wanted!r}"


def _role(made: RequestMade, sender: str) -> Role:
    fold = RequestFold()
    fold.on_event(made)
    request = fold.get(made.id)
    assert request is not None
    return Role.PROGRAM if sender == "program" else role_of(request, Address(sender, 1))


def check_the_table_has_all_rows_and_no_other(work: ModuleType) -> None:
    same_table(work, ended=False)


def check_an_end_is_an_end(work: ModuleType) -> None:
    same_table(work, ended=True)


def check_an_approval_is_for_one_text(work: ModuleType) -> None:
    for sender, before in (("lead", ()), ("user", ("deadline", "deadline"))):
        for digest in ("", digest_of(PLANS[1]), digest_of(PLANS[0])):
            requests = work.Requests([])
            id = requests.ask("plan", "ann", "lead", PLANS[0])
            for message in before:
                requests.say(id, message, "program")
            requests.say(id, "agree", sender, digest)
            right = digest == digest_of(PLANS[0])
            found = requests.known()[id].state == "agreed"
            assert found is right, f"{sender} agrees to {PLANS[0]!r} with the digest {digest!r}: agreed is {found}"
    requests = work.Requests([])
    id = requests.ask("plan", "ann", "lead", PLANS[0])
    requests.say(id, "decline", "lead")
    assert requests.known()[id].state == "declined", "the lead declines a plan, without a digest: nothing happened"


def check_the_newest_plan_opens_the_gate(work: ModuleType) -> None:
    requests = work.Requests([])
    assert not requests.may_write("ann"), "ann has no plan, and may write"
    for number, text in enumerate(PLANS):
        id = requests.ask("plan", "ann", "lead", text)
        assert not requests.may_write("ann"), f"plan {number + 1} of ann waits, and ann may write"
        requests.say(id, "agree", "lead", digest_of(text))
        assert requests.may_write("ann"), f"plan {number + 1} of ann is agreed, and ann may not write"
        assert not requests.may_write("ben"), "a plan of ann is agreed, and ben may write"
    requests.say(requests.ask("plan", "ann", "lead", "Bread costs 6."), "withdraw", "ann")
    assert requests.may_write("ann"), "ann withdraws a third plan; the second one is agreed, and ann may not write"
    requests = work.Requests([])
    first, second = (requests.ask("plan", "ann", "lead", text) for text in PLANS)
    states = [requests.known()[id].state for id in (first, second)]
    assert states == ["withdrawn", "open"], f"ann sends two plans, one after the other: {states}"


def check_a_restart_loses_and_repeats_nothing(work: ModuleType) -> None:
    journal: list[Any] = []
    first = work.Requests(journal).ask("plan", "ann", "lead", PLANS[0])
    work.Requests(journal).say(first, "agree", "lead", digest_of(PLANS[0]))
    assert work.Requests(journal).may_write("ann"), "a plan is agreed; after a restart ann may not write"
    records = len(journal)
    work.Requests(journal).say(first, "decline", "lead")
    assert len(journal) == records, "a message that changes nothing is in the journal"
    second = work.Requests(journal).ask("question", "ann", "ben", "Why?")
    assert second != first, f"after a restart {second} is given away again"


def check_random_histories_agree_with_the_program(work: ModuleType) -> None:
    found = (_difference(work, Random(seed)) for seed in range(HISTORIES))
    shortest = min(filter(None, found), key=len, default="")
    assert not shortest, shortest


class _Room:
    """Requests as the program has them."""

    def __init__(self) -> None:
        self.fold = RequestFold()
        self.made: list[RequestMade] = []

    def ask(self, kind: str, asker: str, recipient: str, text: str) -> None:
        for earlier in self.fold.plans(Address(asker, 1)) if kind == "plan" else ():
            if earlier.waits:
                self.fold.on_event(RequestChanged(earlier.id, RequestState.WITHDRAWN, asker))
        addresses = Address(asker, 1), Address(recipient, 1)
        digest = digest_of(text) if kind == "plan" else ""
        made = RequestMade(self.fold.next_id, RequestKind(kind), *addresses, text, digest)
        self.made.append(made)
        self.fold.on_event(made)

    def say(self, number: int, message: str, sender: str, digest: str) -> None:
        made = self.made[number]
        request = self.fold.get(made.id)
        assert request is not None
        done = move(request, message_of(made.kind, message), _role(made, sender), digest)
        if not isinstance(done, RequestRefused):
            self.fold.on_event(RequestChanged(made.id, done.to, sender))

    def shown(self) -> list[str]:
        """The state of each request, and who may write."""
        states = [str(request.state) for made in self.made if (request := self.fold.get(made.id)) is not None]
        may = [name for name in PEOPLE[:3] if not self.fold.blocked(Address(name, 1), plans_first=True)]
        return [*states, f"may write: {', '.join(may) or 'nobody'}"]


def _difference(work: ModuleType, chance: Random) -> str:
    """What differs from the program in a random history; empty: nothing."""
    room, steps, journal = _Room(), list[str](), list[Any]()
    ids: list[str] = []
    requests = work.Requests(journal)
    for _ in range(chance.randint(1, 14)):
        if chance.random() < 0.15:
            requests = work.Requests(journal)
            steps.append("restart")
        elif not ids or chance.random() < 0.3:
            kind = chance.choice(("plan", "plan", "question", "shutdown"))
            asker, other = chance.sample(PEOPLE[:3], 2)
            if kind != "question":
                asker, other = (asker, "lead") if kind == "plan" else ("lead", other)
            text = chance.choice(PLANS)
            ids.append(requests.ask(kind, asker, other, text))
            room.ask(kind, asker, other, text)
            steps.append(f"{asker} asks {other}, {kind}: {text} -> {ids[-1]}")
        else:
            number = chance.randrange(len(ids))
            request = room.made[number]
            likely = (request.recipient.name, request.asker.name, "program", "lead")
            sender = chance.choice((*likely, chance.choice(PEOPLE)))
            message = "deadline" if sender == "program" else chance.choice(MESSAGES[:5])
            digest = chance.choice(("", digest_of(PLANS[0]), digest_of(PLANS[1])))
            requests.say(ids[number], message, sender, digest)
            room.say(number, message, sender, digest)
            steps.append(f"{sender} says {message} to {ids[number]} with the digest {digest or 'of nothing'}")
        if len(set(ids)) < len(ids):
            return "\n".join([*steps, f"{ids[-1]} is given away twice"])
        may = [name for name in PEOPLE[:3] if requests.may_write(name)]
        found = [*(requests.known()[id].state for id in ids), f"may write: {', '.join(may) or 'nobody'}"]
        if found != (wanted := room.shown()):
            return "\n".join([*steps, f"found  {found}", f"wanted {wanted}"])
    return ""
