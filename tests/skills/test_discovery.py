"""Skills are found on the disk, and what is wrong with one does not harm the others."""

import os
from pathlib import Path

import pytest

from harness.skills import DefinitionOrigin, SkillBook
from harness.skills.discovery import MOST_BYTES, MOST_SKILLS
from tests.skills.folders import Folders, skill


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    """Empty."""
    return Folders(tmp_path)


def names(book: SkillBook) -> list[str]:
    return [skill.name for skill in book.skills]


def told(book: SkillBook) -> str:
    return "\n".join(f"{problem.file}: {problem.text}" for problem in book.problems)


def test_skills_of_the_person_and_of_the_project_are_found(folders: Folders) -> None:
    folders.write(folders.person, "review", skill("review"))
    folders.write(folders.project, "deploy", skill("deploy", "Brings it out.", "Step one."))
    (folders.person / "README.md").write_text("No skill.")
    (folders.person / ".git").mkdir()
    book = folders.book()
    assert names(book) == ["deploy", "review"]
    deploy = book.get("deploy")
    assert deploy is not None
    assert (deploy.description, deploy.text, deploy.origin) == ("Brings it out.", "Step one.", DefinitionOrigin.PROJECT)
    assert deploy.folder == folders.project / "deploy"
    assert book.problems == ()
    assert book.get("../review") is None


def test_of_two_with_one_name_that_of_the_project_counts_and_this_is_told(folders: Folders) -> None:
    folders.write(folders.person, "review", skill("review", body="Mine."))
    folders.write(folders.project, "a", skill("review", body="First."))
    folders.write(folders.project, "b", skill("review", body="Second."))
    book = folders.book()
    assert [skill.text for skill in book.skills] == ["First."]
    assert f"{folders.project / 'b' / 'SKILL.md'}: is left out" in told(book)
    assert f"{folders.person / 'review' / 'SKILL.md'}: is hidden by {folders.project / 'a'}" in told(book)


def test_a_name_or_description_that_is_missing_is_made_up_for_and_told(folders: Folders) -> None:
    folders.write(folders.person, "plain", "# How we test\n\nWith care.\n")
    folders.write(folders.person, "half", "---\ndescription: Of half.\n---\nText.\n")
    folders.write(folders.person, "odd", skill("../../odd"))
    book = folders.book()
    assert {one.name: one.description for one in book.skills} == {
        "half": "Of half.",
        "odd": "What it is for.",
        "plain": "How we test",
    }
    assert "'../../odd' is no name for a skill" in told(book)
    assert len(book.problems) == 3


def test_what_cannot_be_read_is_left_out_and_told(folders: Folders) -> None:
    (folders.person / "empty").mkdir()
    (folders.person / "loop").mkdir()
    (folders.person / "loop" / "SKILL.md").symlink_to("SKILL.md")
    (folders.person / "pipe").mkdir()
    os.mkfifo(folders.person / "pipe" / "SKILL.md")
    folders.write(folders.person, "folder", skill("x")).joinpath("SKILL.md").unlink()
    (folders.person / "folder" / "SKILL.md").mkdir()
    folders.write(folders.person, "large", skill("large", body="x" * MOST_BYTES))
    folders.write(folders.person, "binary", b"\x7fELF\0")
    folders.write(folders.person, "silent", skill("silent", body=""))
    folders.write(folders.person, "bad name", "Text.")
    folders.write(folders.person, "good", skill("good", body="Latin \xe9".encode("latin-1").decode("latin-1")))
    book = folders.book()
    assert names(book) == ["good"]
    for part in (
        *("missing", "not a regular file", "100,000 bytes", "no text in UTF-8", "it says nothing", "it has no name"),
    ):
        assert part in told(book)
    assert {problem.file.parent.name for problem in book.problems} == {
        *("empty", "loop", "pipe", "folder", "large", "binary", "silent", "bad name"),
    }


def test_no_link_leads_out_of_a_skill_and_none_of_a_project_out_of_it(folders: Folders, tmp_path: Path) -> None:
    elsewhere = folders.write(tmp_path.parent / f"{tmp_path.name}-elsewhere", "linked", skill("linked"))
    (folders.project / "linked").symlink_to(elsewhere)
    (folders.project / "secret").mkdir()
    (folders.project / "secret" / "SKILL.md").symlink_to(elsewhere / "SKILL.md")
    (folders.person / "secret").mkdir()
    (folders.person / "secret" / "SKILL.md").symlink_to(elsewhere / "SKILL.md")
    book = folders.book()
    assert names(book) == []
    assert told(book).count("outside of") == 3
    (folders.person / "linked").symlink_to(elsewhere)
    assert names(folders.book()) == ["linked"]


def test_more_folders_than_are_read_are_told(folders: Folders) -> None:
    for number in range(MOST_SKILLS + 1):
        folders.write(folders.person, f"s{number:03}", skill(f"s{number:03}"))
    book = folders.book()
    assert len(book.skills) == MOST_SKILLS
    assert "only the first 200 are read" in told(book)


def test_changes_are_seen_when_the_book_is_read_again(folders: Folders) -> None:
    book = folders.book()
    assert book.at_first == ()
    folders.write(folders.person, "late", skill("late"))
    assert names(book) == []
    book.reload()
    assert names(book) == ["late"]
    assert book.at_first == ()
    assert book.unknown("lat") == "There is no skill 'lat'; did you mean late?"
    assert SkillBook(()).unknown("x") == "There is no skill 'x'; there are none."
