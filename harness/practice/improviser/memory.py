# ruff: noqa: E501 - a pattern reads best in one piece
"""What a request may refer back to: "it", "the second one", "again"."""

import re
from dataclasses import dataclass, field, replace

from harness.practice.improviser.goals import (
    AppendText,
    CompareFiles,
    CreateFile,
    FindFiles,
    Goal,
    ListFiles,
    ReadFile,
    ReplaceText,
    SaveReport,
    SearchText,
)
from harness.practice.improviser.mentions import Sentence
from harness.practice.improviser.results import listed_paths, matching_files
from harness.practice.improviser.values import Turn

_PRONOUN = re.compile(
    r"\b(it|its|that|this|them|these|those|the file|same)\b|それ|その|これ|この|あれ|同じ|そちら|同ファイル",
    re.IGNORECASE,
)
_ORDINALS: tuple[tuple[re.Pattern[str], int], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), index)
    for pattern, index in (
        (
            r"\b(first|1st)( one| file)\b|\b(the )?first\W*$|[1１一]\s*(番目|つ目|つめ)|最初の(?!\s*[\d一二三四五六七八九十]+\s*行)(もの|ファイル)",
            0,
        ),
        (r"\b(second|2nd|other)( one| file)?\b|[2２二]\s*(番目|つ目|つめ)|もう一方|もうひとつ", 1),
        (r"\b(third|3rd)( one| file)?\b|[3３三]\s*(番目|つ目|つめ)", 2),
        (r"\b(fourth|4th)( one| file)?\b|[4４四]\s*(番目|つ目|つめ)", 3),
        (r"\b(fifth|5th)( one| file)?\b|[5５五]\s*(番目|つ目|つめ)", 4),
        (r"\blast (one|file)\b|最後の(もの|ファイル)", -1),
    )
)


@dataclass(frozen=True, slots=True)
class Memory:
    """What has been spoken of so far."""

    path: str | None = None
    """The file spoken of last."""
    choices: tuple[str, ...] = ()
    """The files of the last list, in the order shown, or those that were last spoken of together."""
    goals: tuple[Goal, ...] = field(default=())
    """What was wanted last."""

    def paths_for(self, clause: Sentence, *, default: bool = False) -> tuple[str, ...]:
        """The files a clause means: named, numbered, or referred to; with `default` also the last one spoken of."""
        if clause.paths:
            return clause.paths
        for pattern, index in _ORDINALS:
            if pattern.search(clause.words) and len(self.choices) > (index if index >= 0 else 0):
                return (self.choices[index],)
        if re.search(r"\b(both|them)\b|両方|全部", clause.words) and 1 < len(self.choices) <= 5:
            return self.choices
        if self.path and (default or _PRONOUN.search(clause.words)):
            return (self.path,)
        return ()

    def after(self, goals: tuple[Goal, ...]) -> "Memory":
        """What is remembered once these goals were named."""
        named = tuple(dict.fromkeys(path for goal in goals for path in _paths(goal)))
        if not named:
            return replace(self, goals=goals)
        choices = self.choices if set(named) <= set(self.choices) else named
        return Memory(named[-1], choices, goals)

    def having_seen(self, turn: Turn) -> "Memory":
        """What is remembered once the results of a turn were shown: a list offers its files."""
        if not any(isinstance(goal, ListFiles | FindFiles | SearchText) for goal in self.goals):
            return self
        searched = any(isinstance(goal, SearchText) for goal in self.goals)
        for exchange in reversed(turn.exchanges):
            result = exchange.result
            if not result.failed and (paths := (matching_files if searched else listed_paths)(result)):
                return replace(self, choices=paths, path=paths[0] if len(paths) == 1 else self.path)
        return self


def _paths(goal: Goal) -> tuple[str, ...]:
    match goal:
        case ReadFile(path=path) | CreateFile(path=path) | AppendText(path=path) | ReplaceText(path=path):
            return (path,)
        case SaveReport(path=path):
            return (path,)
        case CompareFiles(first=first, second=second):
            return (first, second)
        case _:
            return ()
