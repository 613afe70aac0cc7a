"""The chapters that there are."""

import re
from difflib import get_close_matches
from functools import cache
from importlib import import_module
from pathlib import Path

from harness.lessons.lesson import Lesson, LessonError, load_lesson

FOLDER = re.compile(r"s\d\d_\w+")


class UnknownLesson(LessonError):  # noqa: N818 (reads better where it is raised)
    """No chapter answers to the given name."""

    exit_code = 2


def chapters_folder() -> Path:
    """Where the chapters are."""
    [folder] = import_module("chapters").__path__
    return Path(folder)


@cache
def lessons() -> tuple[Lesson, ...]:
    """All chapters in their order. Raises LessonError for one that cannot be used."""
    folders = (folder for folder in chapters_folder().iterdir() if FOLDER.fullmatch(folder.name))
    return tuple(load_lesson(folder) for folder in sorted(folders) if (folder / "lesson.toml").exists())


def lesson(name: str) -> Lesson:
    """The chapter called "s11", "11" or "s11_error_recovery". Raises UnknownLesson."""
    wanted = f"s{int(name):02}" if name.isdecimal() and len(name) < 4 else name.strip().lower()
    for one in lessons():
        if wanted in (one.id, one.name):
            return one
    ids = [one.id for one in lessons()]
    near = get_close_matches(wanted, [*ids, *(one.name for one in lessons())], n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(ids)}."
    raise UnknownLesson(f"There is no chapter {name!r}; {hint}")


def before(one: Lesson) -> Lesson | None:
    """The chapter before this one."""
    earlier = [other for other in lessons() if other.number < one.number]
    return earlier[-1] if earlier else None
