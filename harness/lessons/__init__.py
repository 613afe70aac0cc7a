"""The course: chapters as data, their runs, their code, their exercises.

A chapter is a folder of `chapters`. Its `demo.py` runs against a practice server of its own; everything that happens
is kept, and the sentences of its `lesson.toml` are matched to what happened. Front ends show it; nothing here draws.
"""

from harness.lessons.catalogue import before, lesson, lessons
from harness.lessons.demo_session import Stage
from harness.lessons.exchange import Exchanged
from harness.lessons.languages import LANGUAGES, Language, Text
from harness.lessons.lesson import Beat, Fact, Lesson, LessonError
from harness.lessons.progress import Progress
from harness.lessons.readme import Section, readme
from harness.lessons.recording import Take
from harness.lessons.sources import Source, difference, source
from harness.lessons.steps import BeatAt, Moment

__all__ = [
    "LANGUAGES",
    "Beat",
    "BeatAt",
    "Exchanged",
    "Fact",
    "Language",
    "Lesson",
    "LessonError",
    "Moment",
    "Progress",
    "Section",
    "Source",
    "Stage",
    "Take",
    "Text",
    "before",
    "difference",
    "lesson",
    "lessons",
    "readme",
    "source",
]
