"""However stubborn the agent, the ladder ends, and it ends in time."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from harness.events import ErrorClass, Intervened, Rung
from harness.policies.loops.ladder import Abilities
from harness.policies.loops.limits import QUOTAS, LoopLimits
from harness.policies.loops.monitor import LoopMonitor
from tests.policies.loops.ignoring import Driver, observed

abilities = st.builds(
    Abilities,
    retry=st.booleans(),
    explore=st.sampled_from([(), ("north",)]),
    substitute=st.sampled_from(["", "grep"]),
    rollback=st.booleans(),
    breaker=st.booleans(),
    human=st.booleans(),
)
policies = st.builds(LoopLimits, **{name: st.integers(0, 3) for name in QUOTAS.values()})


def promised(policy: LoopLimits, able: Abilities, error: ErrorClass | None) -> int:
    """The sum of the quotas of what can be done."""
    retries = (
        {ErrorClass.TRANSIENT: policy.retries, ErrorClass.UNKNOWN: min(1, policy.retries)}.get(error, 0) if error else 0
    )
    rest = [rung for rung in QUOTAS if rung is not Rung.RETRY and able.applies(rung)]
    return retries * able.retry + sum(policy.quota(rung) for rung in rest)


@given(
    policy=policies,
    able=abilities,
    period=st.integers(1, 5),
    error=st.none() | st.sampled_from(ErrorClass),
    data=st.data(),
)
def test_an_agent_that_ignores_everything_is_stopped_when_the_quotas_are_used_up(
    policy: LoopLimits, able: Abilities, period: int, error: ErrorClass | None, data: st.DataObject
) -> None:
    cycle = [f"tool{number}" for number in range(period)]
    veto = data.draw(st.sampled_from(cycle))
    driver = Driver(LoopMonitor(policy), able, ok=lambda _: error is None, error=error, veto=veto)
    driver.asks(*cycle, repeat=40)
    copies = 3 if period > 1 or error else 4
    expected = period * (copies + promised(policy, able, error))
    assert driver.stopped
    if veto == cycle[-1]:
        assert driver.step == expected
    else:  # it asks earlier for what it is kept from
        assert expected - period < driver.step <= expected


def test_from_every_state_of_the_ladder_a_stop_is_reached_and_nothing_comes_after_it() -> None:
    """All that can be reached with any abilities at any moment, for loops of every kind, each state visited once."""
    every = [
        Abilities(retry, ("north",) * explore, "grep" * substitute, rollback, breaker, human)
        for retry, explore, substitute, rollback, breaker, human in product([False, True], repeat=6)
    ]
    for error in (None, *ErrorClass):
        edges: dict[tuple[Rung, ...], set[tuple[Rung, ...]]] = {}
        reached: list[tuple[Rung, ...]] = [()]
        while reached:
            taken = reached.pop()
            monitor = stuck(taken, error)
            advice = [monitor.advise(able, 0.5) for able in every]
            if Rung.STOP in taken:
                assert advice == [None] * len(every)
                edges[taken] = set()
                continue
            ways = {action.rung for action in advice if action is not None}
            assert None not in advice
            edges[taken] = {tuple(sorted((*taken, rung), key=list(Rung).index)) for rung in ways}
            reached += [state for state in edges[taken] if state not in edges and state not in reached]
        ending = {state for state in edges if Rung.STOP in state}
        while more := {state for state, ways in edges.items() if state not in ending and ways & ending}:
            ending |= more
        assert ending == edges.keys()
        # 3 × 2 × 2 × 2 × 2 beyond the nudge, as many with a stop, and the beginning: for each number of retries
        assert (
            len(edges)
            == 97 * {None: 1, ErrorClass.TRANSIENT: 4, ErrorClass.UNKNOWN: 2, ErrorClass.PERSISTENT: 1}[error]
        )


def stuck(taken: tuple[Rung, ...], error: ErrorClass | None) -> LoopMonitor:
    """A loop under way against which all this was done, at the next copy of it."""
    monitor = LoopMonitor()
    for step in range(1, 5):
        monitor.step([observed("read", step, ok=error is None, error=error)])
    assert monitor.due is not None
    loop = monitor.due
    for rung in taken:
        monitor.on_event(Intervened(loop.signature, loop.projection, rung, 1, 1, 4, "done"))
    monitor.step([observed("read", 5, ok=error is None, error=error)])
    return monitor


def test_after_a_stop_nothing_is_advised_before_a_user_says_something() -> None:
    driver = Driver(abilities=Abilities(substitute="grep"))
    driver.asks("read", repeat=20)
    monitor = driver.monitor
    for step in range(50, 90):
        monitor.step([observed("read" if step % 7 else "write", step)])
        assert monitor.due is None
        assert monitor.advise(Abilities(rollback=True, human=True), 0.5) is None
    first = list(driver.taken)
    for step, by_user in ((100, False), (200, True)):
        monitor.new_prompt(by_user=by_user)
        driver.taken.clear()
        driver.step = step
        driver.asks("read", repeat=10)
        if not by_user:
            assert driver.taken == [(104, Rung.STOP)]  # found anew, and all that there is has been tried
    assert [rung for _, rung in driver.taken] == [rung for _, rung in first]
