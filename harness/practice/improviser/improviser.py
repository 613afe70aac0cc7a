"""The practice model that improvises."""

from harness.events import Json
from harness.practice.improviser import phrases as say
from harness.practice.improviser.arrivals import told
from harness.practice.improviser.conversation import Conversation, read_request
from harness.practice.improviser.delegation_plans import report_of
from harness.practice.improviser.detours import calls_that_worked, named, with_detours
from harness.practice.improviser.errands import Errand
from harness.practice.improviser.goals import Delegate, DelegateEach, Goal, ReadFile, Talk, Topic
from harness.practice.improviser.intents import Understanding, understand
from harness.practice.improviser.plan_context import Setting, excerpt
from harness.practice.improviser.plan_recovery import Progress, replay
from harness.practice.improviser.plans import plan_for
from harness.practice.improviser.summary import summarise, title_of
from harness.practice.improviser.toolset import ToolSet, tool_set
from harness.practice.improviser.truncation import remaining, within_limit
from harness.practice.improviser.turns import Call, Exchange, Turn
from harness.practice.replies import ScriptedReply

_SAYS_WHO_IT_IS = frozenset({Topic.IDENTITY, Topic.HELP, Topic.NOT_UNDERSTOOD})
"""Topics whose answer introduces the model anyway."""
LONGEST_PART = 200
"""Characters of what was not understood that are quoted."""


class Improviser:
    """A rule-based "model": a pure function of the request, with no state and no network (issue 2, item 7a)."""

    def answer(self, request: Json) -> ScriptedReply:
        """The reply to a request body of the Messages API. Never raises for a body that is shaped like JSON."""
        conversation = read_request(request)
        if conversation.wants_summary:
            return within_limit(summarise(conversation), (), conversation.max_tokens)
        if conversation.titled is not None:
            return within_limit(
                title_of(conversation.titled, as_json=conversation.title_as_json), (), conversation.max_tokens
            )
        if conversation.nudged and not conversation.kept.strip():
            return within_limit(say.NOTHING_LEFT.in_(conversation.language), (), conversation.max_tokens)
        text, calls = _whole_answer(conversation)
        if conversation.continued or conversation.nudged:
            text = remaining(text, conversation.kept)
            if not text.strip() and not calls:
                text = say.NOTHING_LEFT.in_(conversation.language)
        return within_limit(text, calls, conversation.max_tokens)


def _whole_answer(conversation: Conversation) -> tuple[str, tuple[Call, ...]]:
    """The answer to the last turn as it would be without any limit."""
    tools = tool_set(conversation.tools)
    setting = Setting(conversation.language, tools)
    turn = conversation.turn
    understood = _without_media(understand(conversation.turns, tools), turn)
    if sent := _sent_by_another(tools, turn, understood):
        return _report(conversation, setting, Understanding(()), Progress(report_of(setting, sent))), ()
    progress = replay(with_detours(setting, plan_for(setting, understood.goals)), turn.standing)
    if progress.ask is not None:
        done = named(setting, calls_that_worked(turn.standing))
        again = setting.say(say.RESUMED, done=done) if turn.resumed else ""
        return f"{again} {progress.ask.words}".strip(), progress.ask.calls
    return _report(conversation, setting, understood, progress), ()


def _without_media(understood: Understanding, turn: Turn) -> Understanding:
    """What is left to do where images and documents came with the prompt: they are there, and need not be read.

    Words about them that are no documented sentence are answered by what they measure.
    """
    if not turn.media:
        return understood
    goals = tuple(goal for goal in understood.goals if not _is_about_media(goal))
    return Understanding(goals, understood.unclear if goals else "")


def _is_about_media(goal: Goal) -> bool:
    return goal == Talk(Topic.NOT_UNDERSTOOD) or (isinstance(goal, ReadFile) and goal.path.startswith("@"))


def _sent_by_another(tools: ToolSet, turn: Turn, understood: Understanding) -> tuple[Exchange, ...]:
    """Tasks of agents that were not asked for here but, in this turn, by whoever answered before: a script."""
    if any(isinstance(goal, Delegate | DelegateEach) for goal in understood.goals):
        return ()
    return tuple(one for one in turn.exchanges if tools.is_errand(one.call, Errand.DELEGATE))


def _report(conversation: Conversation, setting: Setting, understood: Understanding, progress: Progress) -> str:
    """The report, with what was not understood, and with who is speaking if that was not said before."""
    parts = [progress.report]
    if understood.unclear:
        parts.append(setting.say(say.UNCLEAR, part=excerpt(understood.unclear, LONGEST_PART)))
    parts.append(told(setting, conversation.turn.arrivals))
    if media := conversation.turn.media:
        parts.append(setting.say(say.MEDIA, list=setting.bullets(media)))
    introduced = any(phrase in conversation.said for phrase in (say.INTRODUCTION.english, say.INTRODUCTION.japanese))
    says_who = any(isinstance(goal, Talk) and goal.topic in _SAYS_WHO_IT_IS for goal in understood.goals)
    if not introduced and not says_who and not any(turn.answered for turn in conversation.earlier):
        parts.insert(0, setting.say(say.INTRODUCTION))
    return "\n\n".join(part for part in parts if part.strip()) or setting.say(say.NOTHING_LEFT)
