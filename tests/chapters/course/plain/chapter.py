"""Chapters for tests: the first one of the course, as it is or with something wrong in it."""

import shutil
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType

from chapters.course import Lesson, LessonStep, LocalizedText, lesson

NEVER = LessonStep("CompactionEnded", MappingProxyType({}), LocalizedText("never", "来ない"), "harness/agent.py")
"""A step for something that a loop by hand does not know of."""


def first() -> Lesson:
    """The first chapter."""
    return lesson("s01")


def with_a_step_that_never_comes() -> Lesson:
    """One more step, which nothing fits."""
    return replace(first(), steps=(*first().steps, NEVER))


def with_a_script(folder: Path, script: str) -> Lesson:
    """The demo of the first chapter, against a model that plays something else."""
    shutil.copytree(first().folder, folder / first().name, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / first().name / "script.toml").write_text(script, "utf-8")
    return replace(first(), folder=folder / first().name)


def with_its_mistake_corrected(folder: Path) -> Lesson:
    """The first chapter, in a workspace without the mistake that it is about."""
    shutil.copytree(first().folder, folder / first().name, ignore=shutil.ignore_patterns("__pycache__"))
    program = folder / first().name / "workspace" / "count.py"
    program.write_text(program.read_text("utf-8").replace("note.txt", "notes.txt"), "utf-8")
    return replace(first(), folder=folder / first().name)


def with_a_failing_demo(folder: Path) -> Lesson:
    """The model asks for a command without saying which, and the loop by hand trips over that."""
    return with_a_script(folder, '[[reply]]\ntext = "I look."\ntools = [{ name = "bash", input = {} }]\n')


SCRIPT = """
[[reply]]
text = "I look into the folder."
tools = [{ name = "bash", input = { command = "echo one two" } }]

[[reply]]
text = "There is *one*, and there is *two*."
"""
FIGURE = "```text\n  prompt ──▶ model ──▶ answer\n```"
ENGLISH = ("The problem", "The idea", "How it works", "Try it", "Break it", "What production systems add", "Next")
JAPANESE = ("課題", "考え方", "しくみ", "試す", "壊す", "実運用では", "次へ")


def small(folder: Path) -> Lesson:
    """A chapter with its own text, so that its snapshots change only with the screen."""
    lesson = with_a_script(folder, SCRIPT)
    for name, titles, said in (
        ("README.md", ENGLISH, "Some words about it, with `code` in them."),
        ("README.ja.md", JAPANESE, "ここに説明が入ります。`code` も混ざります。"),
    ):
        parts = (f"## {title}\n\n{said}\n\n{FIGURE if number == 1 else said}" for number, title in enumerate(titles))
        (lesson.folder / name).write_text("# A small chapter\n\n" + "\n\n".join(parts), "utf-8")
    return replace(
        lesson,
        title=LocalizedText("A small chapter", "小さな章"),
        idea=LocalizedText("One call, and one answer.", "呼び出しが一つ、答えが一つ。"),
        prompts=("What is there?",),
        code=(),
        steps=(
            _step("TurnStarted", "You typed: {prompt}", "入力したのは「{prompt}」です。"),
            _step("ToolStarted", "The model asks for {tool} {summary}.", "モデルは {tool} {summary} を頼みました。"),
            _step("ToolEnded", "{summary} came of it, and goes back.", "結果は {summary} で、これを返します。"),
        ),
    )


def _step(on: str, english: str, japanese: str) -> LessonStep:
    return LessonStep(
        on, MappingProxyType({}), LocalizedText(english, japanese), "harness/base/external_text.py:visible"
    )
