"""Plans that read skills. What a skill asks for is beyond rules; the answer shows what it says."""

from harness.practice.improviser import phrases as say
from harness.practice.improviser.errands import Errand
from harness.practice.improviser.goals import ReadSkill
from harness.practice.improviser.plan_context import Setting, fenced
from harness.practice.improviser.plan_recovery import Ask, Plan


def read_skill(setting: Setting, goal: ReadSkill) -> Plan:
    """Show what a skill says, or which there are."""
    call = setting.tools.errand(Errand.SKILL, skill=goal.name)
    words = setting.say(say.WILL_LIST_SKILLS) if goal.name is None else setting.say(say.WILL_READ_SKILL, name=goal.name)
    (result,) = yield Ask(words, (call,))
    if trouble := setting.trouble(result, call):
        return trouble
    head = setting.say(say.SKILLS) if goal.name is None else setting.say(say.SKILL_SAYS, name=goal.name)
    return f"{head}\n\n{fenced(result.text.strip())}"
