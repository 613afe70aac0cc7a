"""How far a learner is in each chapter."""

from collections.abc import Sequence
from dataclasses import dataclass

from harness.lessons import Language, Lesson, Progress
from harness.lessons.exercises import exercises_of
from harness.ui.lessons import texts as words


@dataclass(frozen=True, slots=True)
class Standing:
    """One chapter and how far it was seen."""

    lesson: Lesson
    beat: int
    """The last one that was seen, from 1; 0: none."""
    done: bool
    exercises: int = 0
    """How many there are."""
    passed: int = 0
    """How many of them were solved."""

    def words(self, language: Language) -> str:
        """Such as "beat 4 of 9"."""
        if self.done:
            seen = words.DONE.into(language)
        elif not self.beat:
            seen = words.NEW.into(language)
        else:
            seen = words.BEAT_OF.into(language).format(number=self.beat, count=len(self.lesson.beats))
        if not self.passed:
            return seen
        solved = words.PASSED.into(language).format(passed=self.passed, count=self.exercises)
        return f"{seen}, {solved}"


def standings(lessons: Sequence[Lesson], progress: Progress) -> tuple[Standing, ...]:
    """All chapters, in their order."""
    return tuple(_standing(one, progress) for one in lessons)


def _standing(lesson: Lesson, progress: Progress) -> Standing:
    exercises = exercises_of(lesson.folder)
    return Standing(
        lesson,
        min(progress.beat(lesson.id), len(lesson.beats)),
        progress.done(lesson.id),
        len(exercises),
        sum(progress.has_passed(one.id) for one in exercises),
    )


def to_go_on_with(standings: Sequence[Standing]) -> Standing | None:
    """The chapter that was begun and not ended, else the first one that is new; None: all are done."""
    open_ones = [one for one in standings if not one.done]
    return next((one for one in open_ones if one.beat), open_ones[0] if open_ones else None)


def where_to_begin(lesson: Lesson, progress: Progress) -> int:
    """The beat at which a learner left a chapter; 0 for one that is new or done."""
    return 0 if progress.done(lesson.id) else min(progress.beat(lesson.id), len(lesson.beats) - 1)
