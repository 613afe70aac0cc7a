"""Who may do what: the question before anything that writes or runs."""

from harness.hooks import Verdict
from harness.permissions.argument_set import rule_in_words
from harness.permissions.decision import (
    Allow,
    Ask,
    Decision,
    Deny,
    Mode,
    PermissionAnswer,
    PermissionRequest,
    with_verdict,
)
from harness.permissions.policy import Permissions, Rule, RuleBook
from harness.permissions.protected_places import Surroundings
from harness.permissions.rules import PermissionRule, RuleError, RuleScope, parse_rule
from harness.permissions.shell.resolution import commands_of

__all__ = [
    "Allow",
    "Ask",
    "Decision",
    "Deny",
    "Mode",
    "PermissionAnswer",
    "PermissionRequest",
    "PermissionRule",
    "Permissions",
    "Rule",
    "RuleBook",
    "RuleError",
    "RuleScope",
    "Surroundings",
    "Verdict",
    "commands_of",
    "parse_rule",
    "rule_in_words",
    "with_verdict",
]
