"""Starting many subagents needs the user's approval; compared with a naive count of approved ones."""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, field
from math import ceil, log2

from hypothesis import given
from hypothesis import strategies as st

from harness.policies.admission.fan_out import FanOutConsent, FanOutDecision, Mode

MODES: tuple[Mode, ...] = ("ask", "allow", "refuse")
WANTED = (1, 2, 3, 5)
MOST = 8


@dataclass
class Ledger:
    """The naive count: the subagents that may start, by their numbers, and the totals that were declined."""

    free: int
    may: set[int] = field(default_factory=set)
    declined: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.may = set(range(1, self.free + 1))

    def ruling(self, mode: Mode, numbers: set[int]) -> FanOutDecision:
        """What becomes of the subagents with these numbers."""
        if mode == "allow" or numbers <= self.may:
            return FanOutDecision.START
        if mode == "refuse":
            return FanOutDecision.REFUSED
        return (
            FanOutDecision.REFUSED_BEFORE if any(max(numbers) >= one for one in self.declined) else FanOutDecision.ASK
        )

    def answer(self, numbers: set[int], *, yes: bool) -> None:
        """Note an answer of the user."""
        if yes:
            twice = min(2 * len(self.may), MOST)
            self.may = set(range(1, max(*numbers, len(self.may), twice) + 1))
        else:
            self.declined.append(max(numbers))


@dataclass(frozen=True)
class Reply:
    """The subagents requested in one reply, and the user's answer if asked."""

    wanted: int
    yes: bool
    after_a_prompt: bool


REPLIES = tuple(itertools.starmap(Reply, itertools.product(WANTED, (True, False), (True, False))))


def sessions() -> Iterator[tuple[Mode, int, tuple[Reply, ...]]]:
    """Every session of three replies."""
    for mode, free in itertools.product(MODES, range(5)):
        for replies in itertools.product(REPLIES, repeat=3):
            yield mode, free, replies


def test_every_session_of_three_replies_is_ruled_as_the_naive_count_says() -> None:
    rulings = set[FanOutDecision]()
    for mode, free, replies in sessions():
        agreement, ledger, started = FanOutConsent(free), Ledger(free), 0
        for reply in replies:
            if reply.after_a_prompt:
                agreement = agreement.at_a_prompt()
                ledger.declined.clear()
            wanted = min(reply.wanted, MOST - started)
            if wanted == 0:
                break
            numbers = set(range(started + 1, started + wanted + 1))
            ruling = agreement.ruling(mode, started, wanted)
            assert ruling is ledger.ruling(mode, numbers), (mode, free, replies)
            rulings.add(ruling)
            if ruling is FanOutDecision.ASK:
                agreement = (
                    agreement.after_yes(started, wanted, MOST) if reply.yes else agreement.after_no(started, wanted)
                )
                ledger.answer(numbers, yes=reply.yes)
            started += wanted * (ruling is FanOutDecision.START or (ruling is FanOutDecision.ASK and reply.yes))
            assert mode == "allow" or started <= agreement.agreed  # no subagent starts without approval
    assert rulings == set(FanOutDecision)


@given(free=st.integers(1, 10), most=st.integers(10, 1_000), wanted=st.integers(1, 40))
def test_a_session_that_starts_all_it_may_asks_few_questions(free: int, most: int, wanted: int) -> None:
    agreement, started, questions = FanOutConsent(free), 0, 0
    while started < most:
        now = min(wanted, most - started)
        if agreement.ruling("ask", started, now) is FanOutDecision.ASK:
            questions += 1
            agreement = agreement.after_yes(started, now, most)
        assert agreement.ruling("ask", started, now) is FanOutDecision.START
        started += now
    assert questions <= ceil(log2(most / free)) + 1
