"""A plan that asks the user, and tells of the answer."""

import re

from harness.practice.improviser import phrases as say
from harness.practice.improviser.errands import Errand
from harness.practice.improviser.goals import AskUser
from harness.practice.improviser.plan_context import Setting, excerpt
from harness.practice.improviser.plan_recovery import Ask, Plan

_ANSWER = re.compile(r"\A[^:\n]+: (?P<answer>.+)\Z", re.DOTALL)


def ask_user(setting: Setting, goal: AskUser) -> Plan:
    """Ask one question."""
    options = [{"label": label} for label in goal.options] or None
    call = setting.tools.errand(Errand.ASK, question=goal.question, options=options)
    (result,) = yield Ask(setting.say(say.WILL_ASK), (call,))
    if not result.failed and (match := _ANSWER.search(result.text)):
        return setting.say(say.ANSWERED, answer=excerpt(match["answer"]))
    return setting.say(say.NOT_ANSWERED, reason=excerpt(result.text))
