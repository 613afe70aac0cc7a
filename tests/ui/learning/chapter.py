"""Chapters for tests: the first one of the course, as it is or with something wrong in it."""

import shutil
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from harness.lessons import Beat, Lesson, Text, lesson

NEVER = Beat("CompactionEnded", MappingProxyType({}), Text("never", "来ない"), None)
"""A beat for something that a loop by hand does not know of."""


def first() -> Lesson:
    """The first chapter."""
    return lesson("s01")


def with_a_beat_that_never_comes() -> Lesson:
    """One more beat, which nothing fits."""
    return replace(first(), beats=(*first().beats, NEVER))


def with_a_script(folder: Path, script: str) -> Lesson:
    """The demo of the first chapter, against a model that plays something else."""
    shutil.copytree(first().folder, folder / first().name)
    (folder / first().name / "script.toml").write_text(script, "utf-8")
    return replace(first(), folder=folder / first().name)


def with_a_failing_demo(folder: Path) -> Lesson:
    """The model asks for a command without saying which, and the loop by hand trips over that."""
    return with_a_script(folder, '[[reply]]\ntext = "I look."\ntools = [{ name = "bash", input = {} }]\n')
