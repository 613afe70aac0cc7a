"""Plans that survive a model without memory.

A plan is written like a small program: ask for tool calls, get their results, go on, return the
report. In Python that is a generator. But the practice model forgets everything between two requests,
so no plan is ever kept. Instead it is started from the beginning each time and fed the results that
stand in the conversation already, until it asks for something that does not: that is what the reply
asks for. (Engines for durable workflows do the same and call it replay.)

So a plan must depend on nothing but its goal and the results it is given.
"""

from collections.abc import Generator, Sequence
from dataclasses import dataclass

from harness.practice.improviser.turns import Call, Exchange, Result


@dataclass(frozen=True, slots=True)
class Ask:
    """A plan waits for the results of these calls. They are independent and may run at once."""

    words: str
    """What is said before the calls, in a short sentence."""
    calls: tuple[Call, ...]


Plan = Generator[Ask, tuple[Result, ...], str]
"""Yields what it needs, is sent the results in the same order, returns its report."""

MOST_ROUNDS = 64
"""A plan that asks more often than this is wrong."""


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a plan gets with the results there are."""

    report: str = ""
    """What it has to say, if it is done."""
    ask: Ask | None = None
    """What it needs, if it is not."""


def replay(plan: Plan, exchanges: Sequence[Exchange]) -> Progress:
    """Run a plan from its beginning on recorded results, as far as they go.

    Results are found by their call and each is used once, so it does not matter that other calls stand
    between them, or that some were lost.
    """
    recorded: dict[str, list[Result]] = {}
    for exchange in exchanges:
        recorded.setdefault(exchange.call.key, []).append(exchange.result)
    try:
        ask = next(plan)
        for _ in range(MOST_ROUNDS):
            results = [_take(recorded, call) for call in ask.calls]
            missing = tuple(call for call, result in zip(ask.calls, results, strict=True) if result is None)
            if missing:
                return Progress(ask=Ask(ask.words, missing))
            ask = plan.send(tuple(result for result in results if result is not None))
    except StopIteration as end:
        return Progress(report=str(end.value))
    finally:
        plan.close()
    raise RuntimeError(f"a plan asked more than {MOST_ROUNDS} times")


def together(plans: Sequence[Plan]) -> Plan:
    """Plans that do not depend on one another, side by side: what they ask is asked at once."""
    reports = [""] * len(plans)
    asks: dict[int, Ask] = {}

    def advance(index: int, results: tuple[Result, ...] | None) -> None:
        try:
            asks[index] = next(plans[index]) if results is None else plans[index].send(results)
        except StopIteration as end:
            reports[index] = str(end.value)

    for index in range(len(plans)):
        advance(index, None)
    while asks:
        waiting, asks = asks, {}
        words = " ".join(dict.fromkeys(ask.words for ask in waiting.values() if ask.words))
        calls = tuple(dict.fromkeys(_Keyed(call) for ask in waiting.values() for call in ask.calls))
        results = dict(zip(calls, (yield Ask(words, tuple(keyed.call for keyed in calls))), strict=True))
        for index, ask in waiting.items():
            advance(index, tuple(results[_Keyed(call)] for call in ask.calls))
    return joined_reports(reports)


def one_after_another(plans: Sequence[Plan]) -> Plan:
    """Plans whose order matters: each begins when the one before has reported."""
    reports = []
    for plan in plans:
        reports.append((yield from plan))
    return joined_reports(reports)


def joined_reports(reports: Sequence[str]) -> str:
    """Reports under one another, each once."""
    return "\n\n".join(dict.fromkeys(report for report in reports if report))


@dataclass(frozen=True, slots=True, eq=False)
class _Keyed:
    """A call that equals another which asks for the same."""

    call: Call

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Keyed) and self.call.key == other.call.key

    def __hash__(self) -> int:
        return hash(self.call.key)


def _take(recorded: dict[str, list[Result]], call: Call) -> Result | None:
    results = recorded.get(call.key)
    return results.pop(0) if results else None
