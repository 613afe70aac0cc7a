"""The site: written files, and files that are never touched."""

import posixpath
import re
import sys
from html import unescape
from pathlib import Path

import pytest

from chapters.course import LessonError, lesson
from chapters.course.site.writer import LIST, neutral, site_files, write_site
from harness.base.errors import HarnessError
from tests.chapters.course.plain.chapter import with_a_step_that_never_comes
from tests.ui.program import Place, run

pytestmark = pytest.mark.anyio


@pytest.mark.stories
async def test_a_page_has_every_step_and_replaces_only_what_was_written_before(tmp_path: Path) -> None:
    chapter = lesson("s10")
    folder = tmp_path / "site"
    names = await write_site(folder, (chapter,))
    for name in names:
        text = (folder / name).read_text("utf-8")
        assert "harness-learn-" not in text
        for target in re.findall(r'(?:href|src)="([^"#]+)', text):
            place = posixpath.normpath(posixpath.join(posixpath.dirname(name), target))
            assert place in names or re.fullmatch(r"(en|ja)/s\d\d\.html", place), (name, target)
    for language, sentence in (("en", chapter.steps[-1].say.en), ("ja", chapter.steps[-1].say.ja)):
        page = (folder / language / "s10.html").read_text("utf-8")
        assert re.findall(r'class="step" id="step-(\d+)"', page) == [str(n + 1) for n in range(len(chapter.steps))]
        assert sentence.partition("{")[0].replace("`", "") in unescape(re.sub("</?code>", "", page))
        assert 'id="request-1"' in page
    (folder / "CNAME").write_text("mine")
    (folder / LIST).write_text((folder / LIST).read_text() + "en/s99.html\n../CNAME\nCNAME\n")
    (folder / "en" / "s99.html").write_text("of a chapter that is no more")
    assert await write_site(folder, (chapter,)) == names
    assert (folder / "CNAME").read_text() == "mine"
    assert not (folder / "en" / "s99.html").exists()


async def test_a_chapter_whose_run_differs_from_its_text_writes_nothing(tmp_path: Path) -> None:
    with pytest.raises(LessonError, match="step 11 did not happen"):
        await write_site(tmp_path / "site", (with_a_step_that_never_comes(),))
    assert not (tmp_path / "site").exists()


def test_paths_of_the_machine_are_neutral(tmp_path: Path) -> None:
    workspace = tmp_path / "harness-learn-x" / "s01_agent_loop"
    text = f"{workspace}/a {workspace.parent}/state {sys.base_prefix}/lib/x.py {Path.home()}/b {tmp_path}"
    shown = f"/home/you/s01_agent_loop/a /home/you/state /usr/lib/x.py /home/you/b {tmp_path}"
    assert neutral(text, workspace) == shown
    assert neutral(f"{tmp_path}/harness-learn-…", workspace) == "/home/you…"


async def test_no_chapters_still_make_an_index() -> None:
    assert sorted(await site_files(())) == ["en/index.html", "index.html", "ja/index.html"]


async def test_a_write_that_failed_halfway_can_be_repeated(tmp_path: Path) -> None:
    folder = tmp_path / "site"
    await write_site(folder, ())
    (folder / LIST).write_text("")
    (folder / "ja" / "index.html").unlink()
    (folder / "ja" / "index.html").mkdir()
    with pytest.raises(HarnessError, match="site cannot be written"):
        await write_site(folder, ())
    assert "en/index.html" in (folder / LIST).read_text()
    (folder / "ja" / "index.html").rmdir()
    assert await write_site(folder, ()) == ("index.html", "en/index.html", "ja/index.html")


async def test_a_folder_with_something_else_is_refused_before_anything_runs(tmp_path: Path) -> None:
    place = Place(tmp_path / "here")
    (place.folder / "mine").mkdir(parents=True)
    (place.folder / "mine" / "notes.txt").write_text("mine")
    refused = await run(place, "learn", "--html", "mine")
    assert refused.code == HarnessError("").exit_code
    assert "mine is not empty and not written by `harness learn --html`" in refused.err
    assert [file.name for file in (place.folder / "mine").iterdir()] == ["notes.txt"]
    assert (await run(place, "learn", "s01", "--html", "new")).code == 2
