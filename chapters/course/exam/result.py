"""The result of an exam, with its figures and the missing mechanisms. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass

from chapters.course.exam.judgement import NEEDED, Continued, Observed
from chapters.course.exam.mechanisms import Mechanism
from chapters.course.exam.player import PARTS, Played
from chapters.course.exam.rows import RowKind


@dataclass(frozen=True, slots=True)
class ExamResult:
    """The parts that were played."""

    parts: tuple[Played, ...]
    of: int
    """Parts that were to be played."""

    @property
    def started(self) -> bool:
        """The program answers as long as nothing fails."""
        return all(part.verdict.passed for part in self._of(RowKind.START))

    @property
    def is_whole(self) -> bool:
        """All parts of the exam were to be played."""
        return self.of == len(PARTS)

    @property
    def faults(self) -> tuple[Played, ...]:
        """The recoverable faults."""
        return self._of(RowKind.RECOVERABLE)

    @property
    def needed(self) -> int:
        """How many of them a program has to survive; all, where only some were played."""
        return NEEDED if self.is_whole else len(self.faults)

    @property
    def checks(self) -> tuple[Played, ...]:
        """The kill and the signals."""
        return self._of(None)

    @property
    def others(self) -> tuple[Played, ...]:
        """Hopeless faults and long work, which do not count."""
        return self._of(RowKind.HOPELESS) + self._of(RowKind.STEADY)

    @property
    def optional(self) -> Mapping[RowKind, tuple[Played, ...]]:
        """Parts for programs with MCP servers, members or worktrees, which do not count."""
        return {kind: self._of(kind) for kind in (RowKind.SERVER, RowKind.TEAM, RowKind.WORKTREE)}

    @property
    def violations(self) -> int:
        """Requests with an invalid history."""
        return sum(_violations(part) for part in self.parts)

    @property
    def passed(self) -> bool:
        """Enough faults survived, no invalid history, and all of the checks."""
        survived = sum(part.verdict.passed for part in self.faults)
        checked = all(part.verdict.passed for part in self.checks)
        return (
            len(self.parts) == self.of
            and self.started
            and survived >= self.needed
            and self.violations == 0
            and checked
            and (self.is_whole or all(part.verdict.passed for part in sum(self.optional.values(), self.others)))
        )

    @property
    def missing(self) -> Mapping[Mechanism, tuple[str, ...]]:
        """The missing mechanisms in the order of the course, each with the parts that show it."""
        shown = {(mechanism, part.name) for part in self.parts for mechanism in part.verdict.missing}
        order = [part for part in PARTS if any(name == part for _, name in shown)]
        by_mechanism = {one: tuple(name for name in order if (one, name) in shown) for one in Mechanism}
        return {one: names for one, names in by_mechanism.items() if names}

    def _of(self, kind: RowKind | None) -> tuple[Played, ...]:
        return tuple(part for part in self.parts if part.kind is kind)


def _violations(part: Played) -> int:
    match part.seen:
        case Observed(violations=found) | Continued(after=Observed(violations=found)):
            return len(found)
    return 0
