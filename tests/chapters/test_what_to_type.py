"""What the texts of the chapters say to type can be typed."""

import re
from collections.abc import Iterator

import pytest

from chapters.course import LANGUAGES, Lesson, lessons
from chapters.course.catalogue import FILES
from harness.practice.faults.model_orders import order_of
from harness.practice.faults.tool_orders import tool_order_of

CHAPTERS = pytest.mark.parametrize("chapter", lessons(), ids=lambda chapter: chapter.id)
COMMAND = re.compile(r"`(/[a-z]\w+[^`]*)`")
OF_A_CHAPTER = ("/fault", "/toolfault")
ELSEWHERE = ("sessionofyourown", "conversationofyourown", "自分のセッション", "自分の会話")
"""What a paragraph says about commands that a chapter does not have, without white space."""
TOOLS = ("bash", "grep", "read_file", "skill", "agent")


def paragraphs(chapter: Lesson) -> Iterator[str]:
    """Of the text and the sentences, in all languages, without code."""
    for file in FILES.values():
        text = re.sub(r"^```.*?^```$", "", (chapter.folder / file).read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
        yield from re.split(r"\n\n|\n(?=[|-])", text)
    for step in chapter.steps:
        yield from map(step.say.into, LANGUAGES)


@CHAPTERS
def test_a_command_is_one_of_a_chapter_or_said_to_be_of_a_session(chapter: Lesson) -> None:
    for paragraph in paragraphs(chapter):
        wrong = [typed for typed in COMMAND.findall(paragraph) if not typed.startswith(OF_A_CHAPTER)]
        assert not wrong or any(words in "".join(paragraph.split()) for words in ELSEWHERE), wrong


@CHAPTERS
def test_what_breaks_something_is_understood(chapter: Lesson) -> None:
    for paragraph in paragraphs(chapter):
        for typed in COMMAND.findall(paragraph):
            command, _, order = typed.partition(" ")
            match command:
                case "/fault" if order:
                    order_of(order)
                case "/toolfault" if order:
                    tool_order_of(order, TOOLS)


@CHAPTERS
def test_a_step_that_a_text_names_is_there(chapter: Lesson) -> None:
    for paragraph in paragraphs(chapter):
        for number in re.findall(r"\bstep (\d+)|場面 ?(\d+)", paragraph):
            assert 1 <= int("".join(number)) <= len(chapter.steps)
