# ruff: noqa: E501 - a pattern reads best in one piece
"""From a prompt to goals: each of its steps has to be one of the documented sentences, as a whole.

A prompt is one sentence of the table, or several that are joined: by "then" or "and", on lines of their own, or as
sentences. Courtesy is left out ("please", ください). Whatever else is left over means that nothing is done: what cannot
be followed to the letter is refused, with examples of what can be.
"""

import re
from dataclasses import dataclass, field, replace

from harness.practice.improviser.context import Context
from harness.practice.improviser.forms import SLOTS, fitted
from harness.practice.improviser.goals import Aspect, Goal, ReadFile, SaveReport, Talk, Topic
from harness.practice.improviser.quotes import LONGEST_SENTENCE, Quotes, set_apart
from harness.practice.improviser.table import INTENTS
from harness.practice.improviser.toolset import ToolSet
from harness.practice.improviser.turns import Turn

REMEMBERED_TURNS = 30
"""How far back "it" may reach."""
MOST_STEPS = 12
MOST_JOINTS = 60
"""Places at which a prompt is tried to be taken apart; one with more of them is none of the documented ones."""

_POLITE = r"(?:please|now|then|and|also|ok|okay|(?:first|next|finally)(?=,))"
_BEFORE = re.compile(
    rf"(?:{_POLITE}\b,? +|(?P<asked>(?:can|could|would|will) you +)|(?:hello|hi)[,!.] +|(?:では|まず|次に|それから|そして|最後に|(?:その後|あと)(?![でに]))、? *)",
    re.IGNORECASE,
)  # fmt: skip
_AFTER = re.compile(
    r"(?:,? +(?:please|now|for me)|(?<=[てで]) *(?:ください|下さい|お願いします|お願い|ね|よ)|(?<=[てで]) *(?P<asked>(?:くれ|もらえ|いただけ)(?:ます|ません)か))$",
    re.IGNORECASE,
)  # fmt: skip
_END = re.compile(r"[\s.!。．！]*(?P<asked>[?？]?)[\s.!?。．！？]*$")
_BULLET = re.compile(r"(?m)^[ \t]*(?:[-*•]|\d{1,2}[.)])[ \t]+")
_JOINT = re.compile(
    r"\s*\n\s*(?!\ue000)|\s*;\s*|(?<=[.!?])\s+|(?<=[。！？])\s*|,?\s+and\s+then\s+|,?\s+then\s+|,?\s+and\s+|,\s+|(?<=[てで])(?:から)?[、,]?\s*",
    re.IGNORECASE,
)
_ABOUT = re.compile(rf"(?P<file>{SLOTS['file']}): +(?P<rest>\S.*)", re.IGNORECASE | re.DOTALL)
"""What an agent is asked that was given one of many files: "README.md: count its lines"."""


@dataclass(frozen=True, slots=True)
class Understanding:
    """What a request was taken to mean."""

    goals: tuple[Goal, ...]
    unclear: str = ""
    """The part of the prompt that is no documented sentence, beside others that are. Nothing of it is done."""


def understand(turns: tuple[Turn, ...], tools: ToolSet) -> Understanding:
    """What the last of the turns asks for, in the light of those before it."""
    context = Context(tools)
    for turn in turns[-1 - REMEMBERED_TURNS : -1]:
        if turn.prompt or not turn.arrivals:
            context = context.after(_read(turn.prompt, context).goals).having_seen(turn)
    if not turns[-1].prompt and turns[-1].arrivals:
        return Understanding(())
    return _read(turns[-1].prompt, context)


def _read(prompt: str, context: Context) -> Understanding:
    text, quotes = set_apart(prompt)
    text = _BULLET.sub("", re.sub(r"[ \t\u3000]+|\n(?=\ue000)", " ", text)).strip()
    if not text or len(text) > LONGEST_SENTENCE:
        return Understanding((Talk(Topic.NOT_UNDERSTOOD),))
    if about := _ABOUT.fullmatch(text):
        context, text = context.after((ReadFile(quotes.bare(about["file"])),)), about["rest"]
    reader = _Reader(quotes, asked=_without_courtesy(text)[1])
    steps = reader.steps(text, replace(context, here=None) if not about else context, MOST_STEPS, first=True)
    if steps is None:
        return Understanding((Talk(Topic.NOT_UNDERSTOOD),), reader.left_over(text))
    return Understanding(_joined(steps) or (Talk(Topic.NOT_UNDERSTOOD),))


@dataclass(slots=True)
class _Reader:
    """Takes one prompt apart."""

    quotes: Quotes
    asked: bool
    """The whole of it is a question, and so is each step."""
    failed: set[str] = field(default_factory=set)
    """Ends of the prompt that cannot be taken apart."""
    rest: str | None = None
    """The shortest end of the prompt before which everything was understood."""

    def steps(self, text: str, context: Context, most: int, *, first: bool = False) -> tuple[Goal, ...] | None:
        """The goals of a text whose every step is documented; None where one is not."""
        if goals := self._goals(text, context, whole=first):
            return goals
        joints = list(_JOINT.finditer(text))
        if most <= 1 or len(joints) > MOST_JOINTS or text in self.failed:
            return None
        for joint in joints:
            before, after = text[: joint.start()], text[joint.end() :]
            if not before.strip() or not after.strip():
                continue
            goals = self._goals(before, context)
            if not goals:
                continue
            if self.rest is None or len(after) < len(self.rest):
                self.rest = after
            left = self.steps(after, context.after(goals), most - 1)
            if left is not None:
                return (*goals, *left)
        self.failed.add(text)
        return None

    def _goals(self, text: str, context: Context, *, whole: bool = False) -> tuple[Goal, ...]:
        """The goals of one step; empty where it fits no form as a whole."""
        sentence, asked = _without_courtesy(text)
        asked = asked or self.asked
        for intent in INTENTS:
            if (asked and intent.only_order) or ((intent.alone or intent.raw) and not whole):
                continue
            for form in (*intent.english, *intent.japanese):
                found = fitted(form, text if intent.raw else sentence, self.quotes)
                if found and (goals := intent.meaning(found, context)):
                    return goals
        return ()

    def left_over(self, text: str) -> str:
        """What of the prompt was not understood, as typed; "" where that is all of it."""
        return "" if self.rest is None else self.quotes.typed(self.rest)


def _without_courtesy(text: str) -> tuple[str, bool]:
    """A sentence without the words of courtesy around it, and whether it is a question."""
    end = _END.search(text)
    asked = end is not None and bool(end["asked"])
    text = text[: end.start()] if end else text
    while match := _BEFORE.match(text):
        asked = asked or bool(match["asked"])
        text = text[match.end() :]
    while match := _AFTER.search(text):
        asked = asked or bool(match["asked"])
        text = text[: match.start()]
    return text.strip(" 、,"), asked


def _joined(goals: tuple[Goal, ...]) -> tuple[Goal, ...]:
    """Goals that belong together as one: "read X and tell me its headings", "read A, then save a summary"."""
    kept: list[Goal] = []
    for goal in goals:
        match goal:
            case Talk(topic=Topic.GREETING | Topic.THANKS) if len(goals) > 1:
                continue
            case ReadFile(path=path, aspect=aspect) if aspect is not Aspect.SHOW:
                kept = [other for other in kept if other != ReadFile(path)]
            case SaveReport(path=path, goals=()) if kept:
                inner = tuple(_summarised(other) for other in kept if not other.changes)
                kept = [other for other in kept if other.changes]
                kept.append(SaveReport(path, inner))
                continue
        if goal not in kept:
            kept.append(goal)
    return tuple(kept)


def _summarised(goal: Goal) -> Goal:
    return ReadFile(goal.path, Aspect.SUMMARY) if isinstance(goal, ReadFile) and goal.aspect is Aspect.SHOW else goal
