"""`harness check`: checks what a learner wrote, or shows the next hint."""

import asyncio
import json
import sys
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from harness.lessons.catalogue import chapters_folder
from harness.lessons.checker import run_checks
from harness.lessons.copies import Copy, NoCopy, copies
from harness.lessons.exercises import every_exercise
from harness.lessons.languages import Language
from harness.lessons.progress import Progress, ProgressError
from harness.settings import Settings
from harness.ui.lessons.check_lines import as_json, check_lines, heading, hint_as_json, hint_lines


def check(settings: Settings, options: Namespace, out: TextIO) -> int:
    """Run the command; 0: everything passes. Raises HarnessError."""
    found = copies(Path.cwd() / (options.folder or ""), every_exercise(chapters_folder()))
    if options.hint:
        _hint(found, options, out)
        return 0
    passed = asyncio.run(_check_all(found, options, out))
    for copy in passed:
        _remember(settings, copy)
    return 0 if len(passed) == len(found) else 1


async def _check_all(found: Sequence[Copy], options: Namespace, out: TextIO) -> list[Copy]:
    """Those that pass."""
    passed, told = [], []
    for number, copy in enumerate(found):
        language = _language(copy, options)
        if not options.json:
            out.write("\n\n" * (number > 0) + heading(copy, language) + "\n")
            out.flush()  # the checks may take their time
        checked = await run_checks(copy.exercise, copy.file)
        told.append(as_json(copy, checked, language))
        if not options.json:
            out.writelines(f"{line}\n" for line in check_lines(copy, checked, language))
        if checked.passed:
            passed.append(copy)
    if options.json:
        out.write(json.dumps({"exercises": told}) + "\n")
    return passed


def _hint(found: Sequence[Copy], options: Namespace, out: TextIO) -> None:
    if len(found) > 1:
        names = ", ".join(copy.folder.name for copy in found)
        raise NoCopy(f"There are several exercises here; name one for a hint: {names}.")
    copy, hint = found[0].next_hint()
    language = _language(copy, options)
    if options.json:
        out.write(json.dumps(hint_as_json(copy, hint, language)) + "\n")
    else:
        out.writelines(f"{line}\n" for line in hint_lines(copy, hint, language))


def _language(copy: Copy, options: Namespace) -> Language:
    language: Language = options.language or copy.note.language
    return language


def _remember(settings: Settings, copy: Copy) -> None:
    try:
        Progress.of(settings.state_dir).passed(copy.exercise.id)
    except ProgressError as error:
        print(f"harness: {error} That it passed is not remembered.", file=sys.stderr)
