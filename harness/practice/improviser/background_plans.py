"""Plans that begin commands in the background, look at them and end them."""

from harness.practice.improviser import phrases as say
from harness.practice.improviser.errands import Errand
from harness.practice.improviser.goals import ListBackground, ShowBackground, StopBackground
from harness.practice.improviser.plan_context import Setting, excerpt, fenced
from harness.practice.improviser.plan_recovery import Ask, Plan
from harness.practice.improviser.turns import Call


def begin(setting: Setting, command: str) -> Plan:
    """Send a command to the background, and tell what the tool says of it."""
    call = setting.tools.start(command)
    (result,) = yield Ask(setting.say(say.WILL_START, command=command), (call,))
    if trouble := setting.trouble(result, call):
        return trouble
    return setting.say(say.STARTED, command=command, answer=excerpt(result.text.strip()))


def list_background(setting: Setting, goal: ListBackground) -> Plan:
    """Tell what runs in the background."""
    return (yield from _asked(setting, setting.tools.errand(Errand.LIST)))


def show_background(setting: Setting, goal: ShowBackground) -> Plan:
    """Show what a command wrote."""
    return (yield from _asked(setting, setting.tools.errand(Errand.SHOW, id=goal.id), say.OUTPUT_OF, id=goal.id))


def stop_background(setting: Setting, goal: StopBackground) -> Plan:
    """End a command."""
    call = setting.tools.errand(Errand.STOP, id=goal.id)
    (result,) = yield Ask(setting.say(say.WILL_STOP, id=goal.id), (call,))
    return setting.trouble(result, call) or excerpt(result.text.strip())


def _asked(setting: Setting, call: Call, head: say.Phrase = say.IN_BACKGROUND, **values: object) -> Plan:
    (result,) = yield Ask(setting.say(say.WILL_LOOK_AT_BACKGROUND), (call,))
    if trouble := setting.trouble(result, call):
        return trouble
    return f"{setting.say(head, **values)}\n\n{fenced(result.text.strip())}"
