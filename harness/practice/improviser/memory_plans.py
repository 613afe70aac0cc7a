"""Plans that keep, look up and forget. What is worth keeping is beyond rules; a person has to say it."""

import re

from harness.practice.improviser import phrases as say
from harness.practice.improviser.errands import Errand
from harness.practice.improviser.goals import Forget, Recall, Remember
from harness.practice.improviser.plan_context import Setting, fenced
from harness.practice.improviser.plan_recovery import Ask, Plan

LONGEST_SUMMARY = 160
NAME_WORDS = 5

_FOUND = re.compile(r"^The \w+ memory (?P<name>\S+) of the ", re.MULTILINE)
_SMALL = frozenset(
    ("i", "we", "you", "the", "a", "an", "to", "of", "is", "are", "am", "my", "our", "that", "and", "in")
)
_OF_PERSON = re.compile(r"\b(?:i|i'm|i'd|me|my|mine)\b|私|僕|俺|わたし", re.IGNORECASE)
_OF_WORK = re.compile(
    r"\b(?:always|never|don't|do not|please|instead|should|prefer)\b|必ず|いつも|してください", re.IGNORECASE
)


def remember(setting: Setting, goal: Remember) -> Plan:
    """Keep a sentence."""
    fact = goal.fact
    summary = fact.splitlines()[0][:LONGEST_SUMMARY]
    call = setting.tools.errand(Errand.REMEMBER, name=_name(fact), summary=summary, kind=_kind(fact), fact=fact)
    (result,) = yield Ask(setting.say(say.WILL_REMEMBER), (call,))
    return setting.trouble(result, call) or setting.say(say.REMEMBERED, fact=fact)


def recall(setting: Setting, goal: Recall) -> Plan:
    """Show what is remembered of something, or of everything."""
    call = setting.tools.errand(Errand.RECALL, query=goal.about)
    (result,) = yield Ask(setting.say(say.WILL_RECALL), (call,))
    return setting.trouble(result, call) or f"{setting.say(say.RECALLED)}\n\n{fenced(result.text.strip())}"


def forget(setting: Setting, goal: Forget) -> Plan:
    """Look up what is meant, and forget the memory that fits best."""
    look = setting.tools.errand(Errand.RECALL, query=goal.about)
    (found,) = yield Ask(setting.say(say.WILL_RECALL), (look,))
    if trouble := setting.trouble(found, look):
        return trouble
    if not (match := _FOUND.search(found.text)):
        return setting.say(say.NOT_REMEMBERED, about=goal.about)
    call = setting.tools.errand(Errand.FORGET, name=match["name"])
    (result,) = yield Ask(setting.say(say.WILL_FORGET, name=match["name"]), (call,))
    return setting.trouble(result, call) or setting.say(say.FORGOTTEN, name=match["name"])


def _name(fact: str) -> str:
    """The first words that say something; of writing without spaces its beginning."""
    words = [word for word in re.findall(r"[^\W_]+", fact) if word.lower() not in _SMALL]
    return " ".join(words[:NAME_WORDS])[:40]


def _kind(fact: str) -> str:
    if _OF_WORK.search(fact):
        return "feedback"
    return "user" if _OF_PERSON.search(fact) else "project"
