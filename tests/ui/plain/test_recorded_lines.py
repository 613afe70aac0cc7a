"""What a journal tells in lines that the user at its keyboard knew."""

import io

import pytest

from harness.events import QuestionAnswered, QuestionAsked, QuestionOption
from harness.ui.plain.recorded_lines import RecordedLines


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (QuestionAnswered("c", "option", "red"), "? answered: red"),
        (QuestionAnswered("c", "text", "a dark green"), "? answered: a dark green"),
        (QuestionAnswered("c", "option", "red", "setting"), "? answered by the settings: red"),
        (QuestionAnswered("c", "declined", ""), "? declined"),
        (QuestionAnswered("c", "declined", "", "setting"), "? not answered: no user is present"),
    ],
)
def test_a_question_of_the_model_and_its_answer_are_told(answer: QuestionAnswered, told: str) -> None:
    out = io.StringIO()
    lines = RecordedLines(out)
    lines.show(QuestionAsked("c", "Which colour?", (QuestionOption("red"), QuestionOption("blue"))))
    lines.show(answer)
    assert out.getvalue().splitlines() == ["? Which colour? [red | blue]", told]
