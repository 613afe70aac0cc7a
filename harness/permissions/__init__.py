"""Who may do what: the question before anything that writes or runs."""

from harness.hooks import Verdict
from harness.permissions.decision import Allow, Answer, Ask, Decision, Deny, Mode, PermissionRequest
from harness.permissions.hook_decisions import with_verdict
from harness.permissions.policy import Permissions, Rule
from harness.permissions.protected_places import Surroundings
from harness.permissions.rulebook import RuleBook
from harness.permissions.rules import PermissionRule, RuleError, Scope, parse_rule
from harness.permissions.shell.runs import commands_of

__all__ = [
    "Allow",
    "Answer",
    "Ask",
    "Decision",
    "Deny",
    "Mode",
    "PermissionRequest",
    "PermissionRule",
    "Permissions",
    "Rule",
    "RuleBook",
    "RuleError",
    "Scope",
    "Surroundings",
    "Verdict",
    "commands_of",
    "parse_rule",
    "with_verdict",
]
