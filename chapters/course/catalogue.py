"""The chapters and their texts."""

import re
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pathlib import Path

from chapters.course.lesson import Lesson, LessonError, load_lesson
from chapters.course.text import Language

FOLDER = re.compile(r"s\d\d_\w+")


class UnknownLesson(LessonError):  # noqa: N818 (reads better where it is raised)
    """There is no such chapter."""

    exit_code = 2


def chapters_folder() -> Path:
    """The folder of the chapters."""
    [folder] = import_module("chapters").__path__
    return Path(folder)


@cache
def lessons() -> tuple[Lesson, ...]:
    """All chapters in order. Raises LessonError for one that cannot be used."""
    folders = (folder for folder in chapters_folder().iterdir() if FOLDER.fullmatch(folder.name))
    return tuple(load_lesson(folder) for folder in sorted(folders) if (folder / "lesson.toml").exists())


def lesson(name: str) -> Lesson:
    """The chapter called "s11", "11" or "s11_error_recovery". Raises UnknownLesson."""
    wanted = f"s{int(name):02}" if name.isdecimal() and len(name) < 4 else name.strip().lower()
    for one in lessons():
        if wanted in (one.id, one.name):
            return one
    ids = [one.id for one in lessons()]
    moved = [one.name for one in lessons() if wanted.startswith(f"{one.id}_")]
    near = moved or get_close_matches(wanted, [*ids, *(one.name for one in lessons())], n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(ids)}."
    raise UnknownLesson(f"There is no chapter {name!r}; {hint}")


def before(one: Lesson) -> Lesson | None:
    """The chapter before this one."""
    earlier = [other for other in lessons() if other.number < one.number]
    return earlier[-1] if earlier else None


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
"""The sections of every README, in order."""
_HEADING = re.compile(r"^## +(.*?)\s*$", re.MULTILINE)
_COMMENT = re.compile(r"^<!--(?:(?!-->).)*-->\n|<!--.*?-->", re.DOTALL | re.MULTILINE)
"""Comments; one on a line of its own is removed with the line."""


@dataclass(frozen=True, slots=True)
class ReadmeSection:
    """A section of a README."""

    title: str
    text: str
    """Markdown without comments."""


def readme(lesson: Lesson, language: Language) -> tuple[ReadmeSection, ...]:
    """The sections of a README. Raises LessonError if it cannot be read."""
    file = lesson.folder / FILES[language]
    try:
        text = file.read_text("utf-8")
    except OSError as error:
        raise LessonError(f"{lesson.name}/{file.name} cannot be read: {error.strerror or error}.") from error
    parts = _HEADING.split(text)
    return tuple(
        ReadmeSection(title, _COMMENT.sub("", body).strip())
        for title, body in zip(parts[1::2], parts[2::2], strict=True)
    )
