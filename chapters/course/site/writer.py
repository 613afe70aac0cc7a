"""Records every chapter and writes the pages.

index.html              leads to both languages
en/index.html           the chapters
en/s11.html#step-7      a chapter at a step; the same in ja/
pictures/s11.en.svg     the run as an animation; the same for ja
.harness-course         names of the files written, so that they can be replaced
"""

import asyncio
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

from chapters.course import LANGUAGES, Language, Lesson, LessonError, Recording, lessons
from chapters.course.site.chapter_page import ChapterPage
from chapters.course.site.frame import chapter_links, index_html, page_html, start_html
from harness.base.errors import HarnessError
from harness.base.files import replace_atomically
from harness.journal.export import masked

LIST = ".harness-course"
OWN = re.compile(r"index\.html|(en|ja)/(index|s\d\d)\.html|pictures/s\d\d\.(en|ja)\.svg")
"""Names of files that this module may have written."""
AT_ONCE = 4
"""Chapters recorded at the same time; more would disturb their clocks on a small machine."""
HOME = "/home/you"
"""Shown instead of the temporary folders of the recordings."""
PICTURES: Mapping[Language, str] = MappingProxyType({"en": "run.svg", "ja": "run.ja.svg"})
"""The animations in the folder of a chapter."""


async def write_site(folder: Path, chapters: Iterable[Lesson] | None = None) -> tuple[str, ...]:
    """Record the chapters and write the site; returns the names of the files.

    Args:
        folder: new, empty, or with an earlier site; other files in it are kept.
        chapters: chapters to write; None: all.

    Raises HarnessError if the folder contains something else or cannot be written, or if a recorded step does not
    hold. Nothing is written then.
    """
    earlier = _earlier(folder)
    files = await site_files(tuple(lessons() if chapters is None else chapters))
    try:
        _save_list(folder, earlier | files.keys())  # first, so that a write that was cut off can be repeated
        for name, data in files.items():
            replace_atomically(folder / name, data)
        for name in earlier - files.keys():
            (folder / name).unlink(missing_ok=True)
        _save_list(folder, files.keys())
    except OSError as error:
        raise HarnessError(f"{folder} cannot be written: {error.strerror or error}; name another folder.") from error
    return tuple(files)


async def site_files(chapters: tuple[Lesson, ...]) -> Mapping[str, bytes]:
    """Record the chapters; returns the content of each file. Raises LessonError.

    Pages are drawn after the last recording, because drawing would hold up the clocks of the others.
    """
    slots = asyncio.Semaphore(AT_ONCE)
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(_recorded(one, slots)) for one in chapters]
    except* HarnessError as errors:
        raise errors.exceptions[0] from None
    files = {"index.html": page_html("en", "harness", start_html(), "").encode()}
    for language in LANGUAGES:
        index = page_html(language, "harness", index_html(language), "index.html")
        files[f"{language}/index.html"] = index.encode()
    for task in tasks:
        files |= _chapter_files(task.result())
    return files


async def _recorded(lesson: Lesson, slots: asyncio.Semaphore) -> Recording:
    async with slots, Recording(lesson, scripted_only=True) as recording:
        await recording.finished()
    if recording.failed:
        numbers = ", ".join(str(number) for number, _ in recording.failed)
        raise LessonError(f"{lesson.name}: these steps do not hold in this run: {numbers}.")
    return recording


def _chapter_files(recording: Recording) -> dict[str, bytes]:
    lesson = recording.lesson
    files: dict[str, bytes] = {}
    for language in LANGUAGES:
        picture, copy = lesson.folder / PICTURES[language], f"pictures/{lesson.id}.{language}.svg"
        if picture.exists():
            files[copy] = picture.read_bytes()
        page = ChapterPage(recording, language, picture=f"../{copy}" if copy in files else None)
        content = masked(neutral(page.html(), recording.workspace), ())
        name = f"{lesson.id}.html"
        links = chapter_links(lesson, language)
        files[f"{language}/{name}"] = page_html(language, page.title(), content, name, links).encode()
    return files


def neutral(text: str, workspace: Path) -> str:
    """The text without paths of this machine: the folder of a recording, Python's own, and the user's home."""
    places = {workspace: f"{HOME}/{workspace.name}", workspace.parent: HOME, Path.home(): HOME}
    places |= {Path(sys.prefix): "/usr", Path(sys.base_prefix): "/usr"}
    shown = {str(path): name for place, name in places.items() for path in (place, place.resolve()) if path.parts[1:]}
    for path in sorted(shown, key=len, reverse=True):
        text = re.sub(rf"(?<![\w.-]){re.escape(path)}(?![\w.-])", shown[path], text)
    cut = {str(folder / "harness-learn-") for folder in (workspace.parent.parent, workspace.parent.parent.resolve())}
    return re.sub(rf"(?:{'|'.join(map(re.escape, cut))})\w*", HOME, text)  # paths that were cut for a line


def _save_list(folder: Path, names: Iterable[str]) -> None:
    replace_atomically(folder / LIST, "".join(f"{name}\n" for name in sorted(names)).encode())


def _earlier(folder: Path) -> set[str]:
    """Names of the files of an earlier site. Raises HarnessError for a folder with something else."""
    try:
        if not folder.exists() or not any(folder.iterdir()):
            return set()
        names = (folder / LIST).read_text("utf-8").split("\n")
    except FileNotFoundError:
        raise HarnessError(
            f"{folder} is not empty and not written by `harness learn --html`; name an empty folder."
        ) from None
    except NotADirectoryError:
        raise HarnessError(f"{folder} is a file; name a folder.") from None
    except (OSError, ValueError) as error:
        raise HarnessError(f"{folder} cannot be read: {error}; name another folder.") from error
    return {name for name in names if OWN.fullmatch(name)}
