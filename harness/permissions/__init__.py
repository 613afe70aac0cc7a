"""Who may do what: the question before anything that writes or runs."""

from harness.hooks import Verdict
from harness.permissions.book import RuleBook
from harness.permissions.hooked import with_verdict
from harness.permissions.permissions import Permissions, Rule
from harness.permissions.rules import PermissionRule, RuleError, Scope, parse_rule
from harness.permissions.shell.through import commands_of
from harness.permissions.surroundings import Surroundings
from harness.permissions.values import Allow, Answer, Ask, Decision, Deny, Mode, PermissionRequest

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
