# ruff: noqa: E501 - a pattern reads best in one piece
"""Requests to give work to agents: how many, in the background or not, and what each is to do.

What is given away is not understood here: it becomes the prompt of an agent, who reads it like any other.
"""

import re
from itertools import pairwise

from harness.practice.improviser.context import Context
from harness.practice.improviser.forms import KINDS, SLOTS, Found
from harness.practice.improviser.goals import Delegate, DelegateEach, Goal, Task

MOST_AGENTS = 50
"""Agents that one sentence may ask for."""
LONGEST_TITLE = 60

_ASIDE = re.compile(r"\bin +the +background\b|\bbackground +agents?\b|^バックグラウンドで", re.IGNORECASE)
_HANDED_ON = (
    (re.compile(r"(?:する)?(?:ように|よう、?|のを|ことを)?(?:と)?(?:頼ん|任せ|依頼し|お願いし|やらせ)(?:て|で)(?=\W|$)"), ""),
    (re.compile(r"て(?:もらって|もらい)"), "て"),
    (re.compile(r"([えけげせてねべめれ])させて"), r"\1て"),
    (re.compile(r"(?<!や)させて"), "して"),
    (re.compile(r"読ませて"), "読んで"),
    (re.compile(r"([書開聞])かせて"), r"\1いて"),
    (re.compile(r"([作取])らせて"), r"\1って"),
)  # fmt: skip
"""What somebody is to be made to do, as what they are asked to do: 数えさせて, 数えて."""
_LIST = re.compile(rf"{SLOTS['file']}(?:(?:,? +and +|, *|、 *| *と *){SLOTS['file']})+", re.IGNORECASE)
_CHANGES = re.compile(r"\b(?:not|but|except|without|unless|if|only)\b|n['’]t\b|ない|以外|だけ", re.IGNORECASE)


def delegated(found: Found, context: Context) -> tuple[Goal, ...]:
    """The tasks for agents that a sentence asks for."""
    head = found.sentence[: found.sentence.find(found.slots["task"] or "")] if found.slots["task"] else found.sentence
    background = _ASIDE.search(head) is not None
    task = _asked(found.slots["task"] or "")
    if not task:
        return ()
    if found.slots.get("kind") or found.slots.get("glob"):
        pattern = KINDS.get(found.bare("kind").lower()) or found.bare("glob")
        return (DelegateEach(pattern, found.bare("folder") or None, found.quotes.typed(task), background),)
    if found.slots.get("agent"):
        prompt = found.quotes.typed(task)
        return (Delegate((Task(_title(prompt), prompt, found.bare("agent").lower(), background),)),)
    count = min(found.number("count", default=1) or 1, MOST_AGENTS)
    return (Delegate(_tasks(found, task, count, background)),)


def _asked(task: str) -> str:
    """A task in the words in which the agent is asked."""
    for pattern, instead in _HANDED_ON:
        task = pattern.sub(instead, task)
    return re.sub(r"[\s、,:：.。]+$|を[\s、]*$", "", task.strip(" 、,:："))


def _tasks(found: Found, task: str, count: int, background: bool) -> tuple[Task, ...]:
    shares = _shares(task, count) if count > 1 else ()
    if shares:
        prompts = [found.quotes.typed(share) for share in shares]
        return tuple(Task(_title(prompt), prompt, background=background) for prompt in prompts)
    prompt = found.quotes.typed(task)
    titles = [_title(prompt, f" ({number} of {count})" if count > 1 else "") for number in range(1, count + 1)]
    return tuple(Task(title, prompt, background=background) for title in titles)


def _shares(task: str, count: int) -> tuple[str, ...]:
    """The task for some of the files that it lists, so that together they are all; empty when it lists none."""
    lists = list(_LIST.finditer(task))
    if len(lists) != 1 or _CHANGES.search(task):
        return ()
    whole = lists[0]
    spans = [match.span() for match in re.finditer(SLOTS["file"], whole[0], re.IGNORECASE)]
    between = "".join(whole[0][a:b] for (_, a), (b, _) in pairwise(spans))
    joint = "と" if "と" in between or "、" in between else " and "
    names = [whole[0][a:b] for a, b in spans]
    some = [names[number::count] for number in range(min(count, len(names)))]
    return tuple(f"{task[: whole.start()]}{joint.join(share)}{task[whole.end() :]}" for share in some)


def _title(prompt: str, suffix: str = "") -> str:
    line = " ".join(prompt.split())
    room = LONGEST_TITLE - len(suffix)
    return (line if len(line) <= room else f"{line[: room - 1].rstrip()}…") + suffix
