"""A chapter run by itself: `python -m chapters.s11_error_recovery`."""

import asyncio
import os
import sys

from harness.base.errors import HarnessError
from harness.lessons import Progress, lesson
from harness.settings import load
from harness.ui.lessons.command import language_of, play_through, telling_of
from harness.ui.lessons.input import TypedLines
from harness.ui.lessons.plain import play_and_talk
from harness.ui.plain.stop import until_stopped


def run_alone(id: str) -> int:
    """Play a chapter; at a terminal the learner may type afterwards. Returns the exit code."""
    try:
        chapter = lesson(id)
        language = language_of(Progress.of(load({}, os.environ).settings.state_dir), os.environ)
        if not sys.stdin.isatty():
            return play_through(chapter, language)
        talk = play_and_talk(telling_of(chapter, language), TypedLines(sys.stdin))
        return asyncio.run(until_stopped(talk, sys.stdout))
    except BrokenPipeError:  # whoever read it has gone, as `head` does
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # so that the flush at exit finds somebody
        return 141
    except HarnessError as error:
        print(f"{id}: {error}", file=sys.stderr)
        return error.exit_code
