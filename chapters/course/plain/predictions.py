"""The question before a step, on the screen and in lines: when it is asked, and what became of the answer."""

from dataclasses import dataclass

from chapters.course import Language, LocalizedText, Progress, Question
from chapters.course.plain.position import LessonPosition

PREDICT = LocalizedText("What happens next?", "予想:")
HOW = LocalizedText("1-{count} answers · Enter skips", "1〜{count} で答える · Enter で飛ばす")
RIGHT = LocalizedText("Right: {answer}.", "正解です: {answer}。")
WRONG = LocalizedText("Not quite: {answer}.", "違います。正解は: {answer}。")
RULE = LocalizedText("Rule: {reason} ({place})", "規則: {reason} ({place})")
SCORE = LocalizedText("predictions: {right} of {asked} right", "予想 {asked} 問中 {right} 問正解")


@dataclass(frozen=True, slots=True)
class Outcome:
    """An answer to a question."""

    question: Question
    chosen: int
    """Index of the option."""

    @property
    def right(self) -> bool:
        """Whether the chosen option is the answer."""
        return self.question.options[self.chosen] == self.question.answer

    def text(self, language: Language) -> str:
        """Right or wrong, and the rule."""
        answer = self.question.answer.text.into(language)
        verdict = (RIGHT if self.right else WRONG).into(language).format(answer=answer)
        rule = RULE.into(language).format(reason=self.question.because.into(language), place=self.question.rule)
        return f"{'✓' if self.right else '✗'} {verdict}\n{rule}"


class Predictions:
    """The questions of one run of a chapter. Each step is asked about once, before it is shown for the first time."""

    def __init__(self, position: LessonPosition, *, enabled: bool = True) -> None:
        self._position = position
        self._enabled = enabled and position.lesson.connection is None and position.lesson.solution is None
        self._revealed = 0
        self._chosen: dict[int, int] = {}
        self._outcomes: dict[int, Outcome] = {}
        self._score = (0, 0)
        self.asked: int | None = None
        """The step whose question is open."""

    def question(self, step: int) -> Question | None:
        """The question before a step, from 1."""
        steps = self._position.lesson.steps
        return steps[step - 1].question if 1 <= step <= len(steps) else None

    def asks(self, step: int) -> bool:
        """Open the question before a step; False: there is none, or the step was shown before."""
        if not self._enabled or step <= self._revealed or self.asked == step or self.question(step) is None:
            return False
        self.asked = step
        return True

    def close(self) -> None:
        """Close the open question without an answer."""
        self.asked = None

    def answer(self, number: int) -> bool:
        """Choose an option of the open question, from 1; False: there is no such option."""
        question = None if self.asked is None else self.question(self.asked)
        if self.asked is None or question is None or not 1 <= number <= len(question.options):
            return False
        self._chosen[self.asked] = number - 1
        return True

    def arrive(self, place: int, progress: Progress | None) -> None:
        """A place is shown; an answer to its question is recorded. Raises HarnessError."""
        self.close()
        self._revealed = max(self._revealed, place)
        chosen, question = self._chosen.pop(place, None), self.question(place)
        if chosen is None or question is None:
            return
        self._outcomes[place] = outcome = Outcome(question, chosen)
        if progress is not None:
            progress.predict(self._position.lesson.id, place, right=outcome.right)
            self._score = progress.predictions(self._position.lesson.id)

    def asking(self, language: Language) -> str:
        """The open question with its options; empty: none is open."""
        question = None if self.asked is None else self.question(self.asked)
        if question is None:
            return ""
        options = (f"{number}  {option.text.into(language)}" for number, option in enumerate(question.options, 1))
        how = HOW.into(language).format(count=len(question.options))
        return "\n".join((f"{PREDICT.into(language)} {question.text.into(language)}", *options, how))

    def outcome(self, place: int, language: Language) -> str:
        """What became of the answer before this step; empty: there was none."""
        outcome = self._outcomes.get(place)
        return "" if outcome is None else outcome.text(language)

    def score(self, language: Language) -> str:
        """The score of the chapter once a question was answered in this run; else empty."""
        return score_text(self._score, language)


def score_text(score: tuple[int, int], language: Language) -> str:
    """Right answers and all answers, such as "predictions: 2 of 3 right"; empty: nothing was answered."""
    right, asked = score
    return SCORE.into(language).format(right=right, asked=asked) if asked else ""
