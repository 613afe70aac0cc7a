"""What hooks may change about a permission: make it stricter always, milder only where a mode would have asked."""

from harness.hooks import Verdict
from harness.permissions.decision import Allow, Ask, Decision, Deny


def with_verdict(decision: Decision, verdict: Verdict | None, why: str) -> Decision:
    """The decision after the hooks have spoken. Their allow never beats a no, nor a rule that asks."""
    match decision, verdict:
        case Deny(), _:
            return decision
        case _, Verdict.DENY:
            return Deny(why, by="hook")
        case Ask(firm=True), _:
            return decision
        case _, Verdict.ASK:
            return Ask(why)
        case Ask(), Verdict.ALLOW:
            return Allow(why, by="hook")
        case _:
            return decision
