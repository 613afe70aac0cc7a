"""How far a learner is in each chapter."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.lessons import Language, Lesson, Progress
from harness.ui.learning import words


@dataclass(frozen=True, slots=True)
class Standing:
    """One chapter and how far it was seen."""

    lesson: Lesson
    beat: int
    """The last one that was seen, from 1; 0: none."""
    done: bool

    def words(self, language: Language) -> str:
        """Such as "beat 4 of 9"."""
        if self.done:
            return words.DONE.into(language)
        if not self.beat:
            return words.NEW.into(language)
        return words.BEAT_OF.into(language).format(number=self.beat, count=len(self.lesson.beats))


def standings(lessons: Sequence[Lesson], progress: Progress) -> tuple[Standing, ...]:
    """All chapters, in their order."""
    return tuple(Standing(one, min(progress.beat(one.id), len(one.beats)), progress.done(one.id)) for one in lessons)


def to_go_on_with(standings: Sequence[Standing]) -> Standing | None:
    """The chapter that was begun and not ended, else the first one that is new; None: all are done."""
    open_ones = [one for one in standings if not one.done]
    return next((one for one in open_ones if one.beat), open_ones[0] if open_ones else None)
