"""The text of a chapter, as its README tells it."""

import re
from dataclasses import dataclass

from harness.lessons.languages import Language
from harness.lessons.lesson import Lesson, LessonError

FILES: dict[Language, str] = {"en": "README.md", "ja": "README.ja.md"}
HEADINGS: dict[Language, tuple[str, ...]] = {
    "en": (
        "The problem",
        "The idea",
        "How it works",
        "Try it",
        "Break it",
        "What production systems add",
        "Next",
    ),
    "ja": ("課題", "考え方", "しくみ", "試す", "壊す", "実運用では", "次へ"),
}
"""What every README is divided into, in this order."""
_HEADING = re.compile(r"^## +(.*?)\s*$", re.MULTILINE)
_COMMENT = re.compile(r"^<!--(?:(?!-->).)*-->\n|<!--.*?-->", re.DOTALL | re.MULTILINE)
"""A mark of its own line goes with its line; one that stands in a sentence leaves the sentence as it is."""


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the text."""

    title: str
    text: str
    """Markdown, without the marks that only the program reads."""


def readme(lesson: Lesson, language: Language) -> tuple[Section, ...]:
    """The text in a language, part by part. Raises LessonError when it cannot be read."""
    file = lesson.folder / FILES[language]
    try:
        text = file.read_text("utf-8")
    except OSError as error:
        raise LessonError(f"{lesson.name}/{file.name} cannot be read: {error.strerror or error}.") from error
    parts = _HEADING.split(text)
    return tuple(
        Section(title, _COMMENT.sub("", body).strip()) for title, body in zip(parts[1::2], parts[2::2], strict=True)
    )
