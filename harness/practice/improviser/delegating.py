# ruff: noqa: E501 - a pattern reads best in one piece
"""Requests to give work to agents: how many, in the background or not, and what each is to do.

What is given away is not understood here: it becomes the prompt of an agent, who reads it like any other.
"""

import re
from itertools import pairwise

from harness.practice.improviser.goals import Delegate, DelegateEach, Goal, Task
from harness.practice.improviser.memory import Memory
from harness.practice.improviser.mentions import Sentence

MOST_AGENTS = 50
"""Agents that one sentence may ask for."""
LONGEST_TITLE = 60

_COUNTS = {
    "one": 1, "two": 2, "both": 2, "three": 3, "several": 3, "some": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8,
    "nine": 9, "ten": 10, "twenty": 20, "一": 1, "二": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9, "十": 10, "複数": 3,
}  # fmt: skip
_COUNT = r"(?:(?P<count>an?|the|another|a few|[a-z]+|\d{1,3})\s+)?"
_KIND = r"(?:(?:new|other|different|separate|background|parallel|single)\s+)*"
_AGENT = r"(?:sub[- ]?)?agents?\b(?![./])"
_MANNER = r"(?:\s+(?:each|in\s+(?:the\s+)?background|in\s+parallel|at\s+once|at\s+the\s+same\s+time|side\s+by\s+side))*"
_ENGLISH = tuple(
    re.compile(pattern, re.IGNORECASE | re.DOTALL)
    for pattern in (
        rf"^(?:use|start|launch|spawn|run|send|ask|tell|get|have|let|dispatch|assign)\s+(?:up\s+)?{_COUNT}{_KIND}{_AGENT}{_MANNER}\s*(?:\bto\b|\bthat\b|\bwho\b|\bwhich\b|[:,])(?:\s+each\b)?\s*(?P<task>.+)$",
        rf"^(?:have|let)\s+{_COUNT}{_KIND}{_AGENT}{_MANNER}\s+(?P<task>.+)$",
        rf"^delegate\b\s*(?:this|that|it|the following|this task)?\s*(?:\bto\s+{_COUNT}{_KIND}{_AGENT}{_MANNER})?\s*[:,]\s*(?P<task>.+)$",
        rf"^delegate\s+(?P<task>.+?)\s+to\s+{_COUNT}{_KIND}{_AGENT}{_MANNER}\W*$",
        rf"^(?P<task>.+?),?\s+(?:with|using|through|by)\s+(?:the\s+help\s+of\s+)?{_COUNT}{_KIND}{_AGENT}{_MANNER}\W*$",
    )
)
_GOES_ON = re.compile(
    r"^(?:ask|tell|let|have)\s+(?:the\s+)?(?:agent\s+)?(?P<agent>a\d+)\s+(?:to\s+)?(?P<task>.+)$"
    r"|^(?:エージェント\s*)?(?P<agent_ja>a\d+)\s*に、?(?P<task_ja>.+)$",
    re.IGNORECASE | re.DOTALL,
)
_EACH = tuple(
    re.compile(pattern, re.IGNORECASE | re.DOTALL)
    for pattern in (
        rf"^\w+\s+(?:(?:an?|one)\s+)?{_KIND}{_AGENT}\s+(?:for\s+(?:each|every)|per)\s+(?P<what>.+?)\s*(?:\bto\b|[:,])\s*(?P<task>.+)$",
        rf"^for\s+(?:each|every)\s+(?P<what>.+?),?\s+\w+\s+(?:(?:an?|one)\s+)?{_KIND}{_AGENT}\s*(?:\bto\b|[:,])?\s*(?P<task>.+)$",
        r"^(?:各|すべての|全ての)?\s*(?P<what>.+?)(?:ごとに|毎に|のそれぞれについて|について|に対して)、?(?:それぞれ|一つずつ|1つずつ)?、?(?:サブ)?エージェントに(?P<task>.+)$",
    )
)
_ANOTHER = re.compile(
    rf",?\s+(?:and\s+)?(?:use\s+|have\s+|ask\s+)?(?:another|a\s+(?:second|third|fourth)|the\s+other|one\s+more)(?:\s+one)?(?:\s+{_AGENT})?\s+to\s+",
    re.IGNORECASE,
)
_HOW_MANY = r"(?:(?P<count>\d{1,3}|[一二三四五六七八九十]|複数)\s*(?:つ|個|人|体|台|名)?\s*の?\s*)?(?:別の)?"
_HOW_MANY_AFTER = r"(?:(?P<after>\d{1,3}|[一二三四五六七八九十])\s*(?:つ|個|人|体|台|名))?"
_JAPANESE = tuple(
    re.compile(pattern, re.DOTALL)
    for pattern in (
        rf"^(?P<task>.+?)(?:の|こと|作業|仕事)?を、?{_HOW_MANY}(?:サブ)?エージェント{_HOW_MANY_AFTER}に(?:任せ|頼|依頼|委任|お願い|やらせ|させ).*$",
        rf"^(?:次の(?:作業|こと|仕事)を)?{_HOW_MANY}(?:サブ)?エージェント(?:を|に)?{_HOW_MANY_AFTER}(?:を?(?:使って|使い|起動して|立てて|動かして)|に(?:任せて|頼んで|依頼して|委任して)(?:ください)?(?=[、,:：。\s])|に|で)[、,:：。\s]*(?P<task>.+)$",
    )
)
_ASIDE = re.compile(r",?\s*\b(?:in|into)\s+(?:the\s+)?background\b|、?バックグラウンドで、?|\bbackground(?=\s+(?:sub[- ]?)?agents?)", re.IGNORECASE)  # fmt: skip
_SIDE_BY_SIDE = re.compile(r",?\s*\b(?:in parallel|at once|at the same time|side by side)\b|(?:並列で|同時に|並行して)、?", re.IGNORECASE)  # fmt: skip
_HANDED_ON = (
    (re.compile(r"(?:する)?(?:ように|よう、?|のを|ことを)?(?:と)?(?:頼ん|任せ|依頼し|お願いし|委任し|指示し|やらせ)(?:て|で)(?=\W|ください|下さい|ほしい|$)"), ""),
    (re.compile(r"て(?:もらって|もらい)"), "て"),
    (re.compile(r"([えけげせてねべめれ])させて"), r"\1て"),
    (re.compile(r"(?<!や)させて"), "して"),
    (re.compile(r"読ませて"), "読んで"),
    (re.compile(r"([書開聞])かせて"), r"\1いて"),
    (re.compile(r"([作取])らせて"), r"\1って"),
)  # fmt: skip
"""What somebody is to be made to do, as what they are asked to do: 数えさせて, 数えて."""
_POLITE_ENDING = re.compile(r"(?:ください|下さい|ほしい|欲しい)?[。.!！\s]*$")


def delegated(clause: Sentence, memory: Memory) -> tuple[Goal, ...]:
    """The tasks for agents that a clause asks for; empty when it asks for none."""
    text = _ASIDE.sub("", clause.text).strip()
    background = text != clause.text.strip()
    text = _SIDE_BY_SIDE.sub("", text).strip()
    if match := _GOES_ON.match(text):
        prompt = clause.retold(_asked(match["task"] or match["task_ja"]))
        agent = (match["agent"] or match["agent_ja"]).lower()
        return (Delegate((Task(_title(prompt), prompt, agent, background),)),)
    for pattern in _EACH:
        if (match := pattern.match(text)) and (glob := _files(what := clause.part(match["what"]))):
            prompt = clause.retold(_asked(match["task"]))
            return (DelegateEach(glob, what.folder, prompt, background),) if prompt else ()
    for pattern in (*_ENGLISH, *_JAPANESE):
        if match := pattern.match(text):
            found = match.groupdict()
            count = _count(found.get("count") or found.get("after"))
            if count is not None and (task := _asked(match["task"])):
                return (Delegate(_tasks(clause, task, count, background)),)
    return ()


def _files(what: Sentence) -> str | None:
    """The pattern for the files that are meant by "Python file", "*.md" or just "file"."""
    return what.glob or ("**/*" if re.search(r"\bfiles?\b|ファイル", what.words) else None)


def _count(word: str | None) -> int | None:
    """How many agents a word asks for; None where it is no number, so that the sentence is about something else."""
    if word is None or word.lower() in ("a", "an", "the", "another"):
        return 1
    if word.isdecimal():
        return min(int(word), MOST_AGENTS) or None
    return _COUNTS.get("some" if word.lower() == "a few" else word.lower())


def _asked(task: str) -> str:
    """A task in the words in which the agent is asked."""
    for pattern, instead in _HANDED_ON:
        task = pattern.sub(instead, task)
    task = re.sub(r"[\s、,:：.。]+$|を[\s、]*$", "", task.strip(" 、,:："))
    return task if _POLITE_ENDING.sub("", task) else ""


def _tasks(clause: Sentence, task: str, count: int, background: bool) -> tuple[Task, ...]:
    parts = [part.strip() for part in _ANOTHER.split(task) if part.strip()]
    if len(parts) > 1:
        prompts = [clause.retold(part) for part in parts]
    elif count > 1 and (shares := _shares(clause.part(task), count)):
        prompts = [clause.retold(share) for share in shares]
    else:
        prompt = clause.retold(task)
        titles = [_title(prompt, f" ({number} of {count})" if count > 1 else "") for number in range(1, count + 1)]
        return tuple(Task(title, prompt, background=background) for title in titles)
    return tuple(Task(_title(prompt), prompt, background=background) for prompt in prompts)


def _shares(task: Sentence, count: int) -> tuple[str, ...]:
    """The task for some of the files that it lists, so that together they are all; empty when it lists none."""
    spans = [(start, start + len(path)) for path in task.bare_paths if (start := task.text.find(path)) >= 0]
    if len(spans) < 2 or len(spans) < len(task.paths):
        return ()
    first, last = spans[0][0], max(end for _, end in spans)
    between = "".join(task.text[a:b] for (_, a), (b, _) in pairwise(spans))
    if re.fullmatch(r"(?:\s|,|、|&|and|と|や|および)*", between) is None:
        return ()
    count = min(count, len(spans))
    files = [[task.text[a:b] for a, b in spans[number::count]] for number in range(count)]
    joint = "と" if "と" in between or "、" in between else " and "
    return tuple(f"{task.text[:first]}{joint.join(some)}{task.text[last:]}" for some in files)


def _title(prompt: str, suffix: str = "") -> str:
    line = " ".join(prompt.split())
    room = LONGEST_TITLE - len(suffix)
    return (line if len(line) <= room else f"{line[: room - 1].rstrip()}…") + suffix
