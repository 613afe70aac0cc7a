"""The course: chapters, recordings of their demos, code and exercises. Independent of the front ends.

A chapter is a folder of `chapters`. Its `demo.py` runs against a practice server and is recorded; the steps of its
`lesson.toml` are matched to the recorded events.
"""

from chapters.course.catalogue import ReadmeSection, before, lesson, lessons, readme
from chapters.course.checks.solution import with_solution
from chapters.course.demo_session import DemoSession
from chapters.course.facts import Fact
from chapters.course.lesson import Lesson, LessonError, LessonStep
from chapters.course.progress import Progress
from chapters.course.question import Option, Question
from chapters.course.real_model import with_model
from chapters.course.recording import LocatedStep, Moment, Recording
from chapters.course.sources import CodeExcerpt, difference, new_lines, source
from chapters.course.text import LANGUAGES, Language, LocalizedText
from chapters.course.wire import WireExchange

__all__ = [
    "LANGUAGES",
    "CodeExcerpt",
    "DemoSession",
    "Fact",
    "Language",
    "Lesson",
    "LessonError",
    "LessonStep",
    "LocalizedText",
    "LocatedStep",
    "Moment",
    "Option",
    "Progress",
    "Question",
    "ReadmeSection",
    "Recording",
    "WireExchange",
    "before",
    "difference",
    "lesson",
    "lessons",
    "new_lines",
    "readme",
    "source",
    "with_model",
    "with_solution",
]
