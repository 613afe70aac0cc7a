"""The retries that several agents share: whatever fails, attempts ≤ (1 + share) · requests + burst."""

from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from harness.events import Fault, FaultKind
from harness.policies.recovery import RecoveryLimits, Resend, Situation, Stop, TurnState, decide
from harness.policies.recovery.backoff import RetryBudget

FAULTS = (
    Fault(FaultKind.SERVER, "Internal server error", status=500),
    Fault(FaultKind.RATE_LIMIT, "slow down", status=429, retry_after_s=2.0),
    Fault(FaultKind.NETWORK, "connection reset"),
    Fault(FaultKind.AUTH, "no", status=401),
    None,
)
"""What a request can come back with; None: a reply."""
SHARES = ("0", "0.1", "0.25", "1")


def naive_left(moves: list[str], share: Fraction, burst: int) -> int:
    """The remaining retries, counted from the beginning in whole fractions."""
    left = Fraction(burst)
    for move in moves:
        left = min(Fraction(burst), left + share) if move == "request" else left - 1
    return max(0, int(left))


@given(st.data(), st.sampled_from(SHARES), st.integers(0, 12), st.integers(1, 20))
def test_no_pattern_of_failures_makes_more_attempts_than_the_bound(
    data: st.DataObject, share: str, burst: int, agents: int
) -> None:
    budget, limits, moves = RetryBudget(float(share), burst), RecoveryLimits(), list[str]()
    fresh = TurnState("claude-sonnet-5-5")
    waiting: dict[int, TurnState] = {}
    for agent, outcome in data.draw(
        st.lists(st.tuples(st.integers(1, agents), st.sampled_from(FAULTS)), max_size=120), label="what happens"
    ):
        if agent not in waiting:
            budget = budget.after_request()
            moves.append("request")
        state = waiting.pop(agent, fresh)
        if outcome is not None:
            moment = Situation(0.5, 0.0, 200_000, 64_000, 1_000, shared_retries=budget.left)
            decision = decide(state, outcome, limits, moment)
            match decision:
                case Resend():
                    assert budget.left >= 1
                    budget = budget.after_retry()
                    moves.append("retry")
                    waiting[agent] = decision.state
                case Stop(retries_spent=True):
                    assert budget.left == 0
                    assert "all agents share" in decision.reason
                    assert outcome.message in decision.reason
                case _:
                    pass
        assert budget.left == naive_left(moves, Fraction(share), burst)
        requests, retries = moves.count("request"), moves.count("retry")
        assert (budget.requests, budget.retries) == (requests, retries)
        assert requests + retries <= (1 + Fraction(share)) * requests + burst


def test_ten_requests_add_a_whole_retry_although_a_tenth_is_none_in_binary() -> None:
    budget = RetryBudget(burst=1).after_retry()
    for _ in range(9):
        budget = budget.after_request()
    assert (budget.left, budget.after_request().left) == (0, 1)
