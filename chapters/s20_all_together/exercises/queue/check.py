"""Puts, takes and kills, compared with the inbox of the program, which has what the user types apart."""

from collections.abc import Sequence
from random import Random
from types import ModuleType
from typing import Any

from harness.engine.inbox import Inbox
from harness.events import ArrivalKind, Arrived, Event

HISTORIES = 400
KINDS = {
    "result": ArrivalKind.AGENT_ENDED,
    "end": ArrivalKind.COMMAND_ENDED,
    "mail": ArrivalKind.MAIL,
    "note": ArrivalKind.NOTE,
    "clock": ArrivalKind.SCHEDULED,
}
"""Kinds that the inbox knows, too."""
FIRST = ("user", "answer")
"""Kinds that come before it: a program takes them in other ways."""
ACTS = (*FIRST, *KINDS, "take", "take", "take in a turn", "kill")
"""A kind is put."""


class Reference:
    """The answers of the program: what is typed or answered first, then its inbox, live and recalled."""

    def __init__(self) -> None:
        self._journal: list[Event] = []
        self._typed: dict[str, list[int]] = {kind: [] for kind in FIRST}
        self._numbers: dict[int, int] = {}
        """Of this exercise, by number of the inbox."""
        self._count = 0
        self.kill()

    def kill(self) -> None:
        self._inbox = Inbox(self._journal.append)
        self._inbox.recall(tuple(self._journal))

    def put(self, kind: str) -> int:
        self._count += 1
        if kind in FIRST:
            self._typed[kind].append(self._count)
        else:
            self._inbox.arrive(KINDS[kind], "x", "x")
            self._numbers[sum(isinstance(event, Arrived) for event in self._journal)] = self._count
        return self._count

    def take(self, *, in_turn: bool) -> list[int]:
        typed = [number for kind in FIRST for number in self._typed[kind]]
        self._typed = {kind: [] for kind in FIRST}
        taken = self._inbox.next(scheduled=not in_turn)
        self._inbox.deliver(taken)
        return [*typed, *(self._numbers[one.number] for one in taken)]

    def wakes(self) -> bool:
        return any(self._typed.values()) or bool(self._inbox.waking)


def fault(work: ModuleType, acts: Sequence[str]) -> str:
    """The first wrong answer of a history; empty: all are right."""
    journal: list[Any] = []
    queue, right = work.OneQueue(journal), Reference()
    for at, act in enumerate(acts, 1):
        shown = f"done: {', '.join(acts[:at])}\n"
        if act == "kill":
            queue = work.OneQueue(journal)
            right.kill()
        elif act.startswith("take"):
            in_turn = act != "take"
            got, wanted = [one.number for one in queue.take(in_turn=in_turn)], right.take(in_turn=in_turn)
            if got != wanted:
                return f"{shown}taken: {got}, right: {wanted}"
        else:
            one, number = queue.put(act), right.put(act)
            if (one.number, one.kind) != (number, act):
                return f"{shown}put: {one}, right: number {number}"
        if queue.wakes() is not (wakes := right.wakes()):
            return f"{shown}wakes() -> {queue.wakes()}, right: {wakes}"
    return ""


def right(work: ModuleType, *histories: Sequence[str]) -> None:
    for acts in histories:
        assert not (found := fault(work, acts)), found


def check_the_user_comes_first_and_the_clock_last(work: ModuleType) -> None:
    order = [kind for kind in work.ORDER if kind != "note"]
    right(
        work, ("clock", "mail", "user", "take"), (*reversed(order), "take"), ("end", "result", "end", "result", "take")
    )


def check_a_note_keeps_its_place_before_mail(work: ModuleType) -> None:
    right(work, ("note", "mail", "take"), ("mail", "note", "mail", "take in a turn"))


def check_the_clock_waits_for_the_end_of_the_turn(work: ModuleType) -> None:
    right(work, ("clock", "mail", "take in a turn", "take"), ("clock", "clock", "take", "take", "take"))


def check_notes_wake_nobody(work: ModuleType) -> None:
    right(work, ("note",), *((kind, "take in a turn") for kind in work.ORDER), ("note", "clock", "take"))


def check_a_killed_queue_loses_nothing(work: ModuleType) -> None:
    right(
        work,
        ("mail", "kill", "take"),
        ("mail", "take", "kill", "take", "mail"),
        ("clock", "end", "take in a turn", "kill", "user", "take"),
        ("kill", "kill", "note", "kill", "take"),
    )


def check_random_histories(work: ModuleType) -> None:
    histories = (Random(seed).choices(ACTS, k=Random(seed).randint(2, 14)) for seed in range(HISTORIES))
    shortest = min(filter(None, (fault(work, acts) for acts in histories)), key=len, default="")
    assert not shortest, shortest
