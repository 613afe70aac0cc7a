# ruff: noqa: E501 - a row of the table reads best as one row
"""Intents that give something away: work to agents, commands to the background."""

import re
from dataclasses import replace

from harness.practice.improviser.changing_rules import CHANGING
from harness.practice.improviser.delegating import delegated
from harness.practice.improviser.goals import (
    Goal,
    ListBackground,
    ReadSkill,
    RunCommand,
    RunTests,
    ShowBackground,
    StopBackground,
)
from harness.practice.improviser.memory import Memory
from harness.practice.improviser.mentions import Sentence
from harness.practice.improviser.rules import Rule, rule

_ID = re.compile(r"(?<![a-z0-9_./])b\d{1,6}(?![a-z0-9_/]|\.\w)")
_SKILL_NAMES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\bskill\s+(?:called\s+|named\s+)?[\"'`“]?([\w.-]*\w)",
        r"([\w-][\w.-]*)[\"'`”]?\s+skill\b",
        r"スキル\s*[「『\"`]?([A-Za-z0-9_.-]*[A-Za-z0-9])",
        r"([A-Za-z0-9_-]+)[」』\"`]?\s*(?:という|の)?\s*スキル",
    )
)
_NO_NAMES = frozenset(("the", "a", "an", "this", "that", "my", "your", "which", "what", "for", "to", "and", "please"))
_ASIDE = re.compile(
    r",?\s*\b(?:in|into|as)\s+(?:the\s+|a\s+)?background(?:\s+(?:job|task|command|process))?\b|^background:?\s+|、?バックグラウンドで、?|、?裏で、?",
    re.IGNORECASE,
)


def _started(clause: Sentence, memory: Memory) -> tuple[Goal, ...]:
    """What would be run, run in the background."""
    rest = clause.part(_ASIDE.sub("", clause.text))
    for row in CHANGING:
        match row.goals(rest, memory):
            case (RunCommand() | RunTests() as goal,):
                return (replace(goal, background=True),)
    return ()


def _listed(clause: Sentence, memory: Memory) -> tuple[Goal, ...]:
    return (ListBackground(),)


def _shown(clause: Sentence, memory: Memory) -> tuple[Goal, ...]:
    return tuple(ShowBackground(id) for id in dict.fromkeys(_ID.findall(clause.words)))


def _stopped(clause: Sentence, memory: Memory) -> tuple[Goal, ...]:
    return tuple(StopBackground(id) for id in dict.fromkeys(_ID.findall(clause.words)))


def _skill(clause: Sentence, memory: Memory) -> tuple[Goal, ...]:
    found = (match[1] for pattern in _SKILL_NAMES if (match := pattern.search(clause.plain)))
    name = next((name for name in found if name.lower() not in _NO_NAMES), None)
    return (ReadSkill(name),) if name else ()


def _skills(clause: Sentence, memory: Memory) -> tuple[Goal, ...]:
    return (ReadSkill(),)


GIVING: tuple[Rule, ...] = (
    rule(r"\b(?:sub)?agents?\b|^delegate\b|^(?:ask|tell|let|have) a\d+\b", r"エージェント|^a\d+\s*に", delegated),
    rule(rf"\b(?:kill|stop|end|cancel|abort|terminate|quit)\b.*{_ID.pattern}", rf"{_ID.pattern}.*(?:止め|停止|終了|終わらせ|中止|キル|kill)", _stopped),
    rule(rf"(?:\b(?:show|read|see|look|check|output|print|prints|says?|wrote|written|how|log|tail|open|what|status)\b.*{_ID.pattern}|^{_ID.pattern}\W*$)", rf"{_ID.pattern}.*(?:見せ|表示|出力|様子|どう|読|確認|教え|結果)", _shown),
    rule(r"^(?!run|start|execute|launch).*\b(?:what|which|list|show|anything|is|are)\b.*\bbackground\b|^(?:the )?background(?: (?:jobs|commands|tasks|processes))?\W*$", r"バックグラウンド.*(?:何|なに|一覧|リスト|動いて|走って|実行中|(?<!実)行われ)|(?:動いて|実行中|走って).*バックグラウンド", _listed),
    rule(r"\b(?:use|load|read|follow|apply|show|open|with)\b.*\bskill\b", r"スキル.*(?:使|読|適用|従)", _skill),
    rule(r"\b(?:what|which|list|show|any|are there)\b.*\bskills\b|^skills\W*$", r"スキル(?:は|が|を|の|一覧|リスト|$)", _skills),
    rule(r"\b(?:in|into|as) (?:the |a )?background\b|^background\b", r"バックグラウンドで|裏で", _started),
)  # fmt: skip
"""Tried before all others: what is given away may hold the words of any other row."""
