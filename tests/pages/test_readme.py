"""What only the READMEs have: the command that CI runs, the fault table, the map."""

import re

import pytest

from benchmarks.fault_rows import ROWS
from harness.lessons import Lesson, lessons
from tests.pages.blocks import READMES, ROOT, block, text


@pytest.mark.parametrize("readme", READMES)
def test_ci_runs_exactly_the_test_command_of_the_readme(readme: str) -> None:
    command = block(readme, "test").strip()
    assert command.startswith("python3 -m venv .venv && ")
    assert command.count("\n") == 0
    assert "README.md" in (ROOT / ".ci/run").read_text(encoding="utf-8")


def rows(page: str, marker: str) -> list[list[str]]:
    """The cells of the table below a marker, without its head."""
    below = text(page).partition(f"<!-- {marker} -->\n\n")[2].partition("\n\n")[0]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in below.splitlines()[2:]]


@pytest.mark.parametrize("readme", READMES)
def test_the_fault_table_has_the_rows_of_the_benchmark_with_what_is_wanted_of_each(readme: str) -> None:
    found = rows(readme, "faults")
    assert [exit_code for _, _, _, exit_code, *_ in found] == [str(row.exit_code) for row in ROWS]
    for row, (_, requests, *_) in zip(ROWS, found, strict=True):
        least, most = row.requests
        assert least <= int(requests) <= most, row.name


def test_the_english_fault_table_names_them_as_the_benchmark_does() -> None:
    assert [name for name, *_ in rows("README.md", "faults")] == [row.name for row in ROWS]


def test_what_it_says_of_others_is_what_the_page_about_them_says() -> None:
    of_others = dict[str, str]()
    for line in text("docs/survival.md").splitlines():
        if line.startswith("| ") and not line.startswith("| what"):
            name, *_, clean = (cell.strip() for cell in line.strip("|").split("|"))
            of_others |= dict.fromkeys(ALIKE.get(name, (name,)), clean)
    assert {name: clean for name, *_, clean in rows("README.md", "faults")} == of_others | dict.fromkeys(
        OURS_ALONE, "–"
    )


ALIKE = {
    "429, retry-after 1 and 8": ("429, retry-after 1", "429, retry-after 8"),
    "500; 503 with a plain-text proxy body": ("500", "503 with a plain-text proxy body"),
}
"""Rows of that page that are two of ours."""
OURS_ALONE = ("the same call 50 times, news each time", "50 pages, one call each")


@pytest.mark.parametrize("readme", READMES)
def test_the_course_names_the_chapters_in_their_order(readme: str) -> None:
    told = re.findall(r"^\| \[?s(\d\d)\b", text(readme), re.MULTILINE)
    assert [int(number) for number in told] == [*range(1, 12), 21, 22, 23]


@pytest.mark.parametrize("one", lessons(), ids=lambda one: one.id)
def test_the_course_leads_to_a_chapter_by_its_title(one: Lesson) -> None:
    assert f"| [{one.id}](chapters/{one.name}/README.md) | {one.title.en} |" in text("README.md")
    assert f"| [{one.id}](chapters/{one.name}/README.ja.md) | {one.title.ja} |" in text("README.ja.md")


def test_the_map_names_every_room_that_is_a_folder() -> None:
    part = text("README.md").partition("## How it is built")[2]
    rooms = {path.parent.name for path in (ROOT / "harness").glob("*/__init__.py")}
    assert rooms <= set(re.findall(r"`harness/(\w+)`", part))
