"""From a sentence to goals: the table, and how it is used.

A request is cut into clauses. Each clause is held against the rows of the table from the top; the
first row whose words are in it, and which can make sense of it, says what is wanted. What was said
before is read the same way, so that "it" and "the second one" have a meaning. That is all the
understanding there is, and the answers say so.
"""

import re
from dataclasses import dataclass

from harness.practice.improviser.changing_rules import CHANGING
from harness.practice.improviser.clauses import clauses_of
from harness.practice.improviser.giving_rules import GIVING
from harness.practice.improviser.goals import (
    Aspect,
    Delegate,
    DelegateEach,
    Forget,
    Goal,
    ReadFile,
    Remember,
    RunCommand,
    SaveReport,
    StopBackground,
    Talk,
    Topic,
)
from harness.practice.improviser.memory import Memory
from harness.practice.improviser.memory_rules import KEEPING
from harness.practice.improviser.mentions import Sentence, sentence
from harness.practice.improviser.own_tools import goal_for_own_tool
from harness.practice.improviser.reading_rules import LOOKING
from harness.practice.improviser.rules import Rule
from harness.practice.improviser.talk_rules import FIRST, LAST
from harness.practice.improviser.toolset import ToolSet
from harness.practice.improviser.values import Turn

TABLE: tuple[Rule, ...] = (*FIRST, *CHANGING, *LOOKING, *LAST)
"""All that it understands but what is kept or given away, in the order in which it is tried."""

_RESERVED = re.compile(
    r"(?:\b(?:not|never|without|except|but|unless|if|should|why|undo|instead|said|says|nor|neither|only|docstrings?|last|first|lines?|functions?)\b|n['’]t\b"
    r"|ない|なく|せん|ずに|以外|だけ|もし|場合|べき|なぜ|元に|取り消|関数|行[をのだ])"
)
"""Words with which nothing is changed: the rest of the sentence cannot be followed literally."""
REMEMBERED_TURNS = 30
"""How far back "it" may reach."""
MOST_GOALS = 12


@dataclass(frozen=True, slots=True)
class Understanding:
    """What a request was taken to mean."""

    goals: tuple[Goal, ...]
    unclear: tuple[str, ...] = ()
    """Clauses that no row of the table fits, beside others that were understood."""


def understand(turns: tuple[Turn, ...], tools: ToolSet) -> Understanding:
    """What the last of the turns asks for, in the light of those before it."""
    memory = Memory()
    for turn in turns[-1 - REMEMBERED_TURNS : -1]:
        if not turn.prompt and turn.arrivals:
            continue
        memory = memory.after(_read(turn.prompt, memory, tools).goals).having_seen(turn)
    if not turns[-1].prompt and turns[-1].arrivals:
        return Understanding(())
    return _read(turns[-1].prompt, memory, tools)


def _read(prompt: str, memory: Memory, tools: ToolSet) -> Understanding:
    whole = sentence(prompt)
    goals: list[Goal] = []
    unclear: list[str] = []
    for clause in clauses_of(whole)[:MOST_GOALS]:
        found = _goals_of(clause, memory, tools)
        if not found:
            unclear.append(clause.plain)
            continue
        if found != memory.goals:
            memory = memory.after((*goals, *found))
        goals.extend(found)
    chosen = _joined(goals)
    if not chosen:
        chosen = _goals_of(whole, memory, tools) or (Talk(Topic.NOT_UNDERSTOOD),)
        unclear = []
    told = (Remember, Forget, Delegate, DelegateEach, StopBackground)
    changing = [goal for goal in chosen if goal.changes and not isinstance(goal, told)]
    changing = [goal for goal in changing if not (isinstance(goal, RunCommand) and goal.command.startswith("git log"))]
    if changing and _RESERVED.search(whole.words):
        return Understanding((Talk(Topic.BEYOND),))
    return Understanding(chosen[:MOST_GOALS], tuple(unclear))


def _goals_of(clause: Sentence, memory: Memory, tools: ToolSet) -> tuple[Goal, ...]:
    for rule in (*KEEPING, *GIVING):
        if goals := rule.goals(clause, memory):
            return goals
    if own := goal_for_own_tool(clause, tools, by_name=True):
        return (own,)
    for rule in TABLE:
        if rule in LAST and (own := goal_for_own_tool(clause, tools, by_name=False)):
            return (own,)
        if goals := rule.goals(clause, memory):
            return goals
    return ()


def _joined(goals: list[Goal]) -> tuple[Goal, ...]:
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
