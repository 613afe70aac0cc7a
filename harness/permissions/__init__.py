"""Who may do what: the question before anything that writes or runs."""

from harness.permissions.hooked import with_verdict
from harness.permissions.permissions import Permissions, Rule
from harness.permissions.values import Allow, Answer, Ask, Decision, Deny, Mode, PermissionRequest

__all__ = [
    "Allow",
    "Answer",
    "Ask",
    "Decision",
    "Deny",
    "Mode",
    "PermissionRequest",
    "Permissions",
    "Rule",
    "with_verdict",
]
