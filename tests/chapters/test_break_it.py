"""What the tables "Break it" promise happens: typed lines and changed files."""

import io
import os
import subprocess
import sys
import tomllib
from pathlib import Path
from shutil import copytree, ignore_patterns

import pytest

from chapters.course import LANGUAGES, lesson
from chapters.course.catalogue import FILES, chapters_folder
from chapters.course.plain.narration import write_moment
from chapters.course.recording import Moment
from harness.ui.plain.printer import RecordedPrinter
from tests.chapters.live import live, typed

pytestmark = [pytest.mark.anyio, pytest.mark.stories]

ROWS = tomllib.loads(Path(__file__).with_name("break_it.toml").read_text("utf-8"))


@pytest.mark.parametrize(("chapter", "lines", "words"), ROWS["typed"])
async def test_what_is_typed_has_the_effect_that_the_table_names(
    chapter: str, lines: list[str], words: list[str]
) -> None:
    for language in LANGUAGES:
        text = (lesson(chapter).folder / FILES[language]).read_text("utf-8")
        assert [line for line in lines if line.startswith("/") and f"`{line}`" not in text] == []
    written = io.StringIO()
    printer = RecordedPrinter(written)
    async with live(chapter) as recording:
        for line in lines:
            if line.startswith("/fault "):
                recording.break_model(line.removeprefix("/fault "))
            elif line.startswith("/toolfault "):
                recording.break_tool(line.removeprefix("/toolfault "))
            else:
                for number, fact in enumerate(await typed(recording, line)):
                    write_moment(printer, Moment(number, 0.0, fact))
    printer.end_line()
    assert [one for one in words if one not in written.getvalue()] == []


@pytest.mark.parametrize(("chapter", "file", "old", "new", "said"), ROWS["changed"])
def test_a_change_is_noticed_where_the_table_says(
    tmp_path: Path, chapter: str, file: str, old: str, new: str, said: str
) -> None:
    copytree(chapters_folder(), tmp_path / "chapters", ignore=ignore_patterns("*.svg", "__pycache__"))
    changed = tmp_path / "chapters" / lesson(chapter).name / file
    text = changed.read_text("utf-8")
    assert old in text
    changed.write_text(text.replace(old, new), "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "harness", "learn", chapter, "--auto", "--language", "en"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(tmp_path), "HOME": str(tmp_path), "HARNESS_STATE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert (done.returncode == 1) is bool(said)
    assert said in done.stderr
