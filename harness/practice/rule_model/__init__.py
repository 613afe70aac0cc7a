"""The rule-based model: a closed list of sentences behind a real Messages API.

It follows the documented sentences in English and Japanese to the letter and refuses everything else. Its reports are
real: it calls the tools it is offered and reads their results. A request goes this way:

    conversation ─▶ intents (matched by patterns) ─▶ plans (calls made by tools) ─▶ model
    turns, results    which sentences               what to call, what to report     alternatives, output limit
"""

from harness.practice.rule_model.model import RuleModel

__all__ = ["RuleModel"]
