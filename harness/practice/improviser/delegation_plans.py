"""Plans that give work to agents, and what is told of it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from harness.practice.improviser import phrases as say
from harness.practice.improviser.delegation import LONGEST_TITLE, MOST_AGENTS
from harness.practice.improviser.errands import Errand
from harness.practice.improviser.goals import Delegate, DelegateEach, Task
from harness.practice.improviser.plan_context import Setting, excerpt
from harness.practice.improviser.plan_recovery import Ask, Plan
from harness.practice.improviser.results import listed_paths, output_of
from harness.practice.improviser.turns import Call, Exchange, Result

_UNFINISHED = re.compile(
    r"\AThe agent did not finish: (?P<reason>.*?)(?:\. (?=This is no answer|Nothing was done)(?P<rest>.*))?\Z",
    re.DOTALL,
)
_SAID = re.compile(r"\A.*?may be incomplete or wrong:\n\n(?P<said>.*)\Z", re.DOTALL)
LONGEST_ANSWER = 2_000
"""Characters of an answer where few agents answered; where many did, of its first line `LONGEST_LINE`."""
LONGEST_LINE = 160
FEW = 6


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of the task of one agent."""

    title: str
    answer: str = ""
    failure: str = ""
    """Why there is no answer, as a sentence; empty where there is one."""
    said: str = ""
    """What it had said before it failed."""


def delegate(setting: Setting, goal: Delegate) -> Plan:
    """Give work to agents side by side, and tell of each what came of it."""
    calls = tuple(_call(setting, task) for task in goal.tasks)
    words = setting.say(say.WILL_DELEGATE_ALL, count=len(calls)) if len(calls) > 1 else setting.say(say.WILL_DELEGATE)
    results = yield Ask(words, calls)
    return report_of(setting, tuple(map(Exchange, calls, results)))


def delegate_each(setting: Setting, goal: DelegateEach) -> Plan:
    """Find the files, and give each to an agent of its own."""
    look = setting.tools.find(goal.pattern, goal.folder)
    (found,) = yield Ask(setting.say(say.WILL_FIND, pattern=goal.pattern), (look,))
    if trouble := setting.trouble(found, look):
        return trouble
    paths = listed_paths(found)
    if not paths:
        return setting.say(say.NO_FILES, pattern=goal.pattern)
    prompts = [f"{path}: {goal.prompt}" for path in paths[:MOST_AGENTS]]
    tasks = tuple(Task(excerpt(prompt, LONGEST_TITLE), prompt, background=goal.background) for prompt in prompts)
    report = yield from delegate(setting, Delegate(tasks))
    left = len(paths) - len(tasks)
    return f"{report}\n\n{setting.say(say.FILES_LEFT, count=left)}" if left else report


def report_of(setting: Setting, exchanges: Sequence[Exchange]) -> str:
    """What came of tasks. Only an answer is told as an answer; every failure is counted, and named while few."""
    aside = setting.tools.errands[Errand.DELEGATE].field_for("background") or ""
    later = [one for one in exchanges if one.call.input.get(aside) is True and not one.result.failed]
    outcomes = [outcome_of(setting, one.call, one.result) for one in exchanges if one not in later]
    begun = [setting.bullets([f"{title_of(setting, one.call)}: {excerpt(one.result.text)}" for one in later])]
    parts = [setting.say(say.DELEGATED_ASIDE), *begun] if later else []
    return "\n\n".join([*parts, *_told(setting, outcomes)])


def outcome_of(setting: Setting, call: Call, result: Result) -> Outcome:
    """What a result of a task says."""
    title = title_of(setting, call)
    if match := _UNFINISHED.search(result.text) if result.failed else None:
        return failed(title, match)
    if result.failed:
        return Outcome(title, failure=setting.trouble(result, call))
    return Outcome(title, answer=answer_in(result.text))


def unfinished(text: str) -> re.Match[str] | None:
    """Whether a text says that an agent did not finish."""
    return _UNFINISHED.search(text)


def failed(title: str, match: re.Match[str]) -> Outcome:
    """The outcome that a text of the form `unfinished` tells."""
    said = _SAID.search(match["rest"] or "")
    return Outcome(title, failure=match["reason"], said=answer_in(said["said"]) if said else "")


def answer_in(text: str) -> str:
    """What an agent said, without what the program adds and without its introduction of itself."""
    answer = output_of(Result(text))
    for phrase in (say.INTRODUCTION.english, say.INTRODUCTION.japanese):
        answer = answer.replace(phrase, "")
    return answer.strip()


def title_of(setting: Setting, call: Call) -> str:
    """What a task is called."""
    tool = setting.tools.errands[Errand.DELEGATE]
    given = (call.input.get(tool.field_for(role) or "") for role in ("title", "prompt"))
    return excerpt(" ".join(next((text for text in given if isinstance(text, str) and text), call.name).split()), 80)


def _call(setting: Setting, task: Task) -> Call:
    return setting.tools.errand(
        Errand.DELEGATE, prompt=task.prompt, title=task.title, agent=task.agent, background=task.background or None
    )


def _told(setting: Setting, outcomes: Sequence[Outcome]) -> list[str]:
    answered = [outcome for outcome in outcomes if not outcome.failure]
    bad = [outcome for outcome in outcomes if outcome.failure]
    match outcomes:
        case []:
            return []
        case [Outcome(answer=answer, failure="")]:
            return [setting.say(say.AGENT_ANSWERED), excerpt(answer, LONGEST_ANSWER)]
        case [only]:
            return _failure(setting, only)
    parts = [setting.say(say.AGENTS_ANSWERED, answered=len(answered), count=len(outcomes))]
    if len(outcomes) <= FEW:
        parts += [f"**{one.title}**\n\n{excerpt(one.answer, LONGEST_ANSWER)}" for one in answered]
        return parts + [part for one in bad for part in _failure(setting, one)]
    if bad:
        parts += [setting.say(say.AGENTS_FAILED, count=len(bad))]
        parts += [setting.bullets([f"{one.title}: {excerpt(one.failure, LONGEST_LINE)}" for one in bad])]
    if answered:
        parts += [setting.say(say.THEIR_ANSWERS)]
        parts += [setting.bullets([f"{one.title}: {_line(one.answer)}" for one in answered])]
    return parts


def _failure(setting: Setting, outcome: Outcome) -> list[str]:
    told = [setting.say(say.AGENT_FAILED, task=outcome.title, reason=excerpt(outcome.failure))]
    return [*told, setting.say(say.AGENT_HAD_SAID), excerpt(outcome.said, LONGEST_ANSWER)] if outcome.said else told


def _line(answer: str) -> str:
    return excerpt(" ".join(answer.split()), LONGEST_LINE)
