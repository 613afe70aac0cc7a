"""Questions about hosts on the screen."""

import pytest

from harness.events import QuestionAsked, QuestionOption
from harness.session import UserAnswer
from harness.ui.app.asker import ScreenAsker
from harness.ui.app.question import Question

pytestmark = pytest.mark.anyio

LABELS = ("yes, for this command", "yes, in this session", "yes, always in this folder", "no")
ASKED = QuestionAsked(
    "c", "May this command reach pypi.org?\n`x`", tuple(map(QuestionOption, LABELS)), hosts=("pypi.org",)
)


@pytest.mark.parametrize(
    ("value", "text", "answer"),
    [
        *((str(at), "", UserAnswer("option", label)) for at, label in enumerate(LABELS[:3])),
        ("text", "not now", UserAnswer("text", "not now")),
        ("text", "", UserAnswer("declined")),
        ("declined", "", UserAnswer("declined")),
    ],
)
async def test_a_host_is_allowed_by_a_choice_and_refused_with_a_reason(
    value: str, text: str, answer: UserAnswer
) -> None:
    shown: list[Question] = []

    async def ask(question: Question) -> tuple[str, str]:
        shown.append(question)
        return value, text

    assert await ScreenAsker(ask).question(ASKED) == answer
    choices = [(choice.key, choice.label, choice.value) for choice in shown[0]._choices]
    assert choices == [
        ("y", LABELS[0], "0"),
        ("s", LABELS[1], "1"),
        ("a", LABELS[2], "2"),
        ("n", "no, and say why", "text"),
    ]
