"""The same small function behind four breakers from PyPI and behind ours: one call when all is well, one refusal."""

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import timedelta
from importlib import import_module

from harness.events import BreakerCommand
from harness.policies.breakers.decisions import Finish, Skip
from harness.policies.breakers.registry import BreakerRegistry

LONG_S = 3600
"""Seconds a peer stays open; nothing here waits that long."""


def work() -> int:
    """The call protected by the breaker."""
    return 1


def broken() -> int:
    """The same, failing."""
    raise ConnectionError("refused")


@dataclass(frozen=True, slots=True)
class Subject:
    """One breaker to measure."""

    name: str
    call: Callable[[], object]
    """The function through a closed breaker."""
    refuse: Callable[[], object]
    """The function before an open one; what a refusal raises is caught inside."""
    make: Callable[[int], object]
    """A breaker of its own for the tool of this number; what it returns has to be kept."""


def ours() -> Subject:
    """decide and record of our registry."""
    registry = BreakerRegistry(["grep", "bash"])
    registry.begin_step(1)
    registry.command(BreakerCommand.ISOLATE, "bash")
    ok = Finish.OK

    def call() -> object:
        decision = registry.decide("grep")
        result = work()
        registry.record(decision.permit, ok, 1.0)
        return result

    def refuse() -> object:
        decision = registry.decide("bash")
        return None if isinstance(decision, Skip) else work()

    return Subject("harness", call, refuse, lambda number: BreakerRegistry([f"tool_{number}"]))


def registry_of(tools: int) -> BreakerRegistry:
    """A registry that has decided about each of its tools once."""
    registry = BreakerRegistry([f"tool_{number}" for number in range(tools)])
    registry.begin_step(1)
    for tool in registry.tools:
        registry.record(registry.decide(tool).permit, Finish.OK)
    return registry


def peers() -> Iterator[Subject | str]:
    """The breakers from PyPI; a name alone for one that is not installed."""
    for load in (_pybreaker, _circuitbreaker, _aiobreaker, _purgatory):
        try:
            yield load()
        except ImportError:
            yield load.__name__.removeprefix("_")


def _refusing(call: Callable[[], object], refusal: type[BaseException]) -> Callable[[], object]:
    def refuse() -> object:
        try:
            return call()
        except refusal:
            return None

    return refuse


def _trip(call: Callable[[], object]) -> None:
    for _ in range(10):
        with suppress(Exception):  # each library raises its own refusal, once it is open
            call()


def _pybreaker() -> Subject:
    pybreaker = import_module("pybreaker")
    closed, opened = (pybreaker.CircuitBreaker(fail_max=3, reset_timeout=LONG_S) for _ in range(2))
    _trip(lambda: opened.call(broken))
    refuse = _refusing(lambda: opened.call(work), pybreaker.CircuitBreakerError)
    return Subject(
        "pybreaker", lambda: closed.call(work), refuse, lambda _: pybreaker.CircuitBreaker(3, reset_timeout=LONG_S)
    )


def _circuitbreaker() -> Subject:
    circuitbreaker = import_module("circuitbreaker")

    def breaker(number: int) -> object:
        return circuitbreaker.CircuitBreaker(3, recovery_timeout=LONG_S, name=f"breaker_{number}")

    closed, opened = circuitbreaker.circuit(3, LONG_S), circuitbreaker.circuit(3, LONG_S)
    failing = True

    def sometimes() -> int:
        return broken() if failing else work()

    through = opened(sometimes)
    _trip(through)
    failing = False
    return Subject("circuitbreaker", closed(work), _refusing(through, circuitbreaker.CircuitBreakerError), breaker)


def _aiobreaker() -> Subject:
    aiobreaker = import_module("aiobreaker")
    long = timedelta(seconds=LONG_S)
    closed, opened = (aiobreaker.CircuitBreaker(fail_max=3, timeout_duration=long) for _ in range(2))
    _trip(lambda: opened.call(broken))
    refuse = _refusing(lambda: opened.call(work), aiobreaker.CircuitBreakerError)
    return Subject(
        "aiobreaker", lambda: closed.call(work), refuse, lambda _: aiobreaker.CircuitBreaker(3, timeout_duration=long)
    )


def _purgatory() -> Subject:
    purgatory = import_module("purgatory")
    factory = purgatory.SyncCircuitBreakerFactory(default_threshold=3, default_ttl=LONG_S)
    closed, opened = factory.get_breaker("closed"), factory.get_breaker("opened")

    def call() -> object:
        with closed:
            return work()

    def fails() -> object:
        with opened:
            return broken()

    def refused() -> object:
        with opened:
            return work()

    _trip(fails)
    refuse = _refusing(refused, import_module("purgatory.domain.model").OpenedState)
    return Subject("purgatory", call, refuse, lambda number: factory.get_breaker(f"breaker_{number}"))
