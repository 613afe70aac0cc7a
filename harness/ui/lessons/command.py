"""`harness learn`: which chapter is meant, in which language, and whether it is shown on a screen or in lines."""

import asyncio
import os
import sys
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path

from harness.base.errors import SettingsError
from harness.lessons import Language, Lesson, Progress, lesson, lessons
from harness.settings import Settings
from harness.ui.lessons import texts
from harness.ui.lessons.exercises import copied
from harness.ui.lessons.input import TypedLines
from harness.ui.lessons.narration import Telling
from harness.ui.lessons.plain import play, step
from harness.ui.lessons.progress import standings, to_go_on_with
from harness.ui.plain.plain import has_colours
from harness.ui.plain.stop import until_stopped
from harness.ui.screen_choice import screen_wanted


def learn(settings: Settings, options: Namespace) -> int:
    """Open the course as asked for; returns the exit code. Raises HarnessError."""
    progress = Progress.of(settings.state_dir)
    if options.language:
        progress.speak(options.language)
    language = language_of(progress, os.environ)
    if progress.set_aside is not None:
        print(f"the progress could not be read; it was put aside as {progress.set_aside}", file=sys.stderr)
    if options.exercise is not None:
        return copy(options, language)
    streams = (sys.stdin, sys.stdout, sys.stderr)
    on_screen = not (options.list or options.auto) and screen_wanted(settings.plain, os.environ, streams)
    if options.list:
        return tell_all(progress, language)
    chapter = None if options.lesson is None else lesson(options.lesson)
    if chapter is not None and options.restart:
        progress.restart(chapter.id)
    if on_screen:
        from harness.ui.lessons.screen.app import learn_on_screen

        return learn_on_screen(chapter, language, progress, Path.cwd())
    if chapter is None:
        return tell_all(progress, language)
    if options.auto:
        return play_through(chapter, language)
    return _step_in_lines(chapter, language, progress)


def language_of(progress: Progress, environ: Mapping[str, str]) -> Language:
    """The language chosen last, else that of the environment."""
    if progress.language is not None:
        return progress.language
    spoken = next((value for name in ("LC_ALL", "LC_MESSAGES", "LANG") if (value := environ.get(name))), "")
    return "ja" if spoken.startswith("ja") else "en"


def tell_all(progress: Progress, language: Language) -> int:
    """Print the chapters with their state, and which one is next."""
    found = standings(lessons(), progress)
    wide = max((len(one.words(language)) for one in found), default=0)
    for one in found:
        print(f"{one.lesson.id}  {one.words(language):<{wide}}  {one.lesson.title.into(language)}")
    if not found:
        print(texts.NO_CHAPTER.into(language))
    elif following := to_go_on_with(found):
        print(texts.GO_ON.into(language).format(id=following.lesson.id))
    else:
        print(texts.ALL_DONE.into(language))
    return 0


def copy(options: Namespace, language: Language) -> int:
    """Copy exercises of a chapter to where the learner is; returns the exit code."""
    if options.lesson is None:
        raise SettingsError("Which chapter's exercise? Type `harness learn s11 --exercise`, for example.")
    for line in copied(lesson(options.lesson), options.exercise, Path.cwd(), language):
        print(line)
    return 0


def play_through(chapter: Lesson, language: Language) -> int:
    """Go through a chapter without waiting; returns the exit code."""
    return asyncio.run(until_stopped(play(telling_of(chapter, language)), sys.stdout))


def _step_in_lines(chapter: Lesson, language: Language, progress: Progress) -> int:
    walk = step(telling_of(chapter, language), TypedLines(sys.stdin), progress)
    return asyncio.run(until_stopped(walk, sys.stdout))


def telling_of(chapter: Lesson, language: Language) -> Telling:
    """A chapter told to standard output."""
    return Telling(chapter, language, sys.stdout, colours=has_colours(sys.stdout, os.environ))
