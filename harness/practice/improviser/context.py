"""What a sentence may refer back to: "it", "the second one", "again"."""

from dataclasses import dataclass, field, replace

from harness.practice.improviser.forms import Found
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
from harness.practice.improviser.results import listed_paths, matching_files
from harness.practice.improviser.toolset import ToolSet
from harness.practice.improviser.turns import Turn


@dataclass(frozen=True, slots=True)
class Context:
    """What has been spoken of so far, and the tools there are."""

    tools: ToolSet
    path: str | None = None
    """The file spoken of last."""
    here: str | None = None
    """The same, if it was in this prompt. What changes something refers to no other."""
    choices: tuple[str, ...] = ()
    """The files of the last list, in the order shown, or those that were last spoken of together."""
    goals: tuple[Goal, ...] = field(default=())
    """What was wanted last."""

    def file(self, found: Found, slot: str = "one") -> str | None:
        """The file that is named in the slot, or referred to; None where there is no such file."""
        if found.is_file(slot):
            return found.file(slot)
        place = found.place()
        if place is None:
            return self.path
        return self.choices[place] if -1 <= place < len(self.choices) and self.choices else None

    def after(self, goals: tuple[Goal, ...]) -> "Context":
        """The context once these goals were named."""
        named = tuple(dict.fromkeys(path for goal in goals for path in _paths(goal)))
        if not named:
            return replace(self, goals=goals)
        choices = self.choices if set(named) <= set(self.choices) else named
        return replace(self, path=named[-1], here=named[-1], choices=choices, goals=goals)

    def having_seen(self, turn: Turn) -> "Context":
        """The context once the results of a turn were shown: a list offers its files."""
        seen = replace(self, here=None)
        if not any(isinstance(goal, ListFiles | FindFiles | SearchText) for goal in self.goals):
            return seen
        searched = any(isinstance(goal, SearchText) for goal in self.goals)
        for exchange in reversed(turn.exchanges):
            result = exchange.result
            if not result.failed and (paths := (matching_files if searched else listed_paths)(result)):
                return replace(seen, choices=paths, path=paths[0] if len(paths) == 1 else self.path)
        return seen


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
