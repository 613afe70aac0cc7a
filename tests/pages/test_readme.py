"""Parts that only the READMEs have: the command that CI runs, rows of the fault table, the list of chapters."""

import re

import pytest

from chapters.course import Lesson, lessons
from chapters.course.exam.rows import ROWS
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


def test_the_fault_table_has_the_rows_of_the_benchmark_with_what_is_wanted_of_each() -> None:
    found = rows("docs/survival.md", "faults")
    assert [(row[0], row[3]) for row in found] == [(row.name, str(row.exit_code)) for row in ROWS]
    for row, (_, requests, *_) in zip(ROWS, found, strict=True):
        least, most = row.requests
        assert least <= int(requests) <= most, row.name


def test_the_readme_shows_rows_of_the_fault_table() -> None:
    whole = {row[0]: [*row[1:5], row[-1]] for row in rows("docs/survival.md", "faults")}
    shown = rows("README.md", "faults")
    assert len(shown) == 5
    assert {row[0]: row[1:] for row in shown}.items() <= whole.items()
    assert f"plays {len(ROWS)} faults" in text("README.md")


@pytest.mark.parametrize("page", ["chapters/README.md", "chapters/README.ja.md"])
def test_the_course_lists_the_chapters_in_their_order(page: str) -> None:
    listed = re.findall(r"^\| \[s(\d\d)\b", text(page), re.MULTILINE)
    assert [f"s{number}" for number in listed] == [one.id for one in lessons()]


@pytest.mark.parametrize("one", lessons(), ids=lambda one: one.id)
def test_the_course_leads_to_a_chapter_by_its_title(one: Lesson) -> None:
    assert f"| [{one.id}]({one.name}/README.md) | {one.title.en} |" in text("chapters/README.md")
    assert f"| [{one.id}]({one.name}/README.ja.md) | {one.title.ja} |" in text("chapters/README.ja.md")


@pytest.mark.parametrize("readme", READMES)
def test_a_readme_is_short(readme: str) -> None:
    assert len(text(readme)) <= 8000
