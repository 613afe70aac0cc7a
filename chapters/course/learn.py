"""`harness learn`: choose the chapter, the language and the front end."""

import asyncio
import os
import sys
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path

from rich.cells import cell_len, set_cell_size

from chapters.course import Language, Lesson, Progress, lesson, lessons, with_model, with_solution
from chapters.course.plain import messages
from chapters.course.plain.course import TypedLines, play, play_and_talk, play_live, play_stepwise
from chapters.course.plain.narration import Narration
from chapters.course.plain.progress import chapter_progress, copied, next_chapter
from harness.base.errors import HarnessError, SettingsError
from harness.settings import Settings, load
from harness.ui.plain.printer import has_colours
from harness.ui.plain.streams import until_stopped
from harness.ui.screen_choice import screen_wanted


def learn(settings: Settings, options: Namespace) -> int:
    """Run the command; returns the exit code. Raises HarnessError."""
    if options.html is not None:
        return write_pages(options)
    progress = Progress.of(settings.state_dir)
    if options.language:
        progress.set_language(options.language)
    language = language_of(progress, os.environ)
    if progress.set_aside is not None:
        print(f"the progress file was damaged; it was moved to {progress.set_aside}", file=sys.stderr)
    if options.exercise is not None:
        return copy(options, language)
    streams = (sys.stdin, sys.stdout, sys.stderr)
    on_screen = not (options.list or options.auto) and screen_wanted(settings.plain, os.environ, streams)
    if options.list:
        return list_chapters(progress, language)
    chapter = None if options.lesson is None else lesson(options.lesson)
    if options.model is not None:
        if chapter is None:
            raise SettingsError("--model needs a chapter; for example `harness learn s09 --model NAME`.")
        chapter = with_model(chapter, settings)
    if options.with_ is not None:
        if chapter is None:
            raise SettingsError("--with needs a chapter; for example `harness learn s11 --with backoff.py`.")
        if chapter.connection is not None:
            raise SettingsError("--with and --model cannot be combined; --with runs the script of the chapter.")
        chapter = with_solution(chapter, Path.cwd() / options.with_)
    elif chapter is not None and options.restart:
        progress.restart(chapter.id)
    if on_screen:
        from chapters.course.screen.app import learn_on_screen

        return learn_on_screen(chapter, language, progress, Path.cwd(), questions=not options.no_questions)
    if chapter is None:
        return list_chapters(progress, language)
    if chapter.connection is not None:
        live = play_live(narration_of(chapter, language), TypedLines(sys.stdin))
        return asyncio.run(until_stopped(live, sys.stdout))
    if options.auto:
        return play_through(chapter, language)
    narration, typed = narration_of(chapter, language), TypedLines(sys.stdin)
    stepwise = play_stepwise(narration, typed, progress, questions=not options.no_questions)
    return asyncio.run(until_stopped(stepwise, sys.stdout))


def language_of(progress: Progress, environ: Mapping[str, str]) -> Language:
    """The language chosen last, else from the environment."""
    if progress.language is not None:
        return progress.language
    spoken = next((value for name in ("LC_ALL", "LC_MESSAGES", "LANG") if (value := environ.get(name))), "")
    return "ja" if spoken.startswith("ja") else "en"


def list_chapters(progress: Progress, language: Language) -> int:
    """Print the chapters with their progress, and the next one."""
    found = chapter_progress(lessons(), progress)
    wide = max((cell_len(one.label(language)) for one in found), default=0)
    for one in found:
        print(f"{one.lesson.id}  {set_cell_size(one.label(language), wide)}  {one.lesson.title.into(language)}")
    if not found:
        print(messages.NO_CHAPTER.into(language))
    elif following := next_chapter(found):
        print(messages.GO_ON.into(language).format(id=following.lesson.id))
    else:
        print(messages.ALL_DONE.into(language))
    return 0


def copy(options: Namespace, language: Language) -> int:
    """Copy exercises of a chapter, or of the course, to the current folder; returns the exit code."""
    chapter = None if options.lesson is None else lesson(options.lesson)
    for line in copied(chapter, options.exercise, Path.cwd(), language):
        print(line)
    return 0


def write_pages(options: Namespace) -> int:
    """Write the course as static pages; returns the exit code."""
    from chapters.course.site.writer import write_site

    if options.lesson is not None:
        raise SettingsError("--html writes the whole course; leave out the chapter.")
    folder = Path(options.html)

    async def write() -> None:
        print("recording the chapters …", file=sys.stderr)
        names = await write_site(folder)
        print(f"{len(names)} files written; open {folder / 'index.html'}")

    return asyncio.run(until_stopped(write(), sys.stdout))


def play_through(chapter: Lesson, language: Language) -> int:
    """Print a whole chapter; returns the exit code."""
    return asyncio.run(until_stopped(play(narration_of(chapter, language)), sys.stdout))


def narration_of(chapter: Lesson, language: Language) -> Narration:
    """A narration to standard output."""
    return Narration(chapter, language, sys.stdout, colours=has_colours(sys.stdout, os.environ))


def run_alone(id: str) -> int:
    """`python -m chapters.sNN_name`: print a chapter; in a terminal, then read prompts. Returns the exit code."""
    try:
        chapter = lesson(id)
        language = language_of(Progress.of(load({}, os.environ).settings.state_dir), os.environ)
        if not sys.stdin.isatty():
            return play_through(chapter, language)
        talk = play_and_talk(narration_of(chapter, language), TypedLines(sys.stdin))
        return asyncio.run(until_stopped(talk, sys.stdout))
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at exit
        return 141
    except HarnessError as error:
        print(f"{id}: {error}", file=sys.stderr)
        return error.exit_code
