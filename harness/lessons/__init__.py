"""The course: chapters, recordings of their demos, code and exercises. Independent of the front ends.

A chapter is a folder of `chapters`. Its `demo.py` runs against a practice server and is recorded; the steps of its
`lesson.toml` are matched to the recorded events.
"""

from harness.lessons.catalogue import ReadmeSection, before, lesson, lessons, readme
from harness.lessons.demo_session import DemoSession
from harness.lessons.facts import Fact
from harness.lessons.lesson import Lesson, LessonError, LessonStep
from harness.lessons.prediction import Past, Prediction
from harness.lessons.progress import Progress
from harness.lessons.question import Option, Question
from harness.lessons.real_model import with_model
from harness.lessons.recording import LocatedStep, Moment, Recording
from harness.lessons.solution import with_solution
from harness.lessons.sources import CodeExcerpt, difference, new_lines, source
from harness.lessons.text import LANGUAGES, Language, LocalizedText
from harness.lessons.wire import WireExchange

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
    "Past",
    "Prediction",
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
