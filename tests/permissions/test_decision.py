"""What hooks may change about a permission."""

from itertools import product

import pytest

from harness.hooks import Verdict
from harness.permissions import Allow, Ask, Decision, Deny, Mode, PermissionRequest, Permissions, with_verdict
from harness.tools.tool import Effect

DECISIONS: tuple[Decision, ...] = (
    Allow("reading", by="default"),
    Allow("a rule", by="rule"),
    Allow("always", by="user"),
    Ask("the mode asks", firm=False),
    Ask("a rule asks"),
    Deny("a rule", by="rule"),
    Deny("read only", by="mode"),
)
STRICTNESS = {Allow: 0, Ask: 1, Deny: 2}


def test_a_hook_makes_a_decision_stricter_and_milder_only_where_a_mode_asked() -> None:
    for decision, verdict in product(DECISIONS, [None, *Verdict]):
        after = with_verdict(decision, verdict, "the hook")
        wanted = {Verdict.DENY: 2, Verdict.ASK: 1}.get(verdict, 0) if verdict else 0
        strictness = max(STRICTNESS[type(decision)], wanted)
        if verdict is Verdict.ALLOW and decision == Ask("the mode asks", firm=False):
            strictness = 0
        assert STRICTNESS[type(after)] == strictness, (decision, verdict)
        assert after == decision or after.why == "the hook", (decision, verdict)


@pytest.mark.parametrize("mode", Mode)
def test_no_mode_but_one_that_asks_is_answered_by_a_hook(mode: Mode) -> None:
    request = PermissionRequest("id", "bash", Effect.RUN, "ls", "ls", {"command": "ls"})
    after = with_verdict(Permissions(mode).decide(request), Verdict.ALLOW, "fine")
    assert isinstance(after, Deny if mode in (Mode.DENY, Mode.PLAN) else Allow)


def test_a_rule_that_asks_is_not_answered_by_a_hook() -> None:
    request = PermissionRequest("id", "bash", Effect.RUN, "ls", "ls", {"command": "ls"})
    asked = Permissions(Mode.YOLO, (lambda request: Ask("look at this"),)).decide(request)
    assert with_verdict(asked, Verdict.ALLOW, "fine") == asked


@pytest.mark.parametrize(
    ("reason", "shown"), [("use the test database", "use the test database"), ("", "no reason was given")]
)
def test_the_reason_of_a_user_goes_back_to_the_model(reason: str, shown: str) -> None:
    assert Deny(reason, by="user").message.startswith(f"The user did not allow this: {shown}. Do not")
    assert Deny("a rule", by="rule").message == "This was not allowed: a rule."
