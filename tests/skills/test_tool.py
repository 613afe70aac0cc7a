"""The tool skill against real folders."""

import asyncio
from pathlib import Path

import pytest

from harness.events import Json, ToolOutcome
from harness.skills import skill_tool
from harness.tools.tool import ToolContext, ToolResult
from harness.tools.workspace import Workspace
from tests.skills.folders import Folders, skill


@pytest.fixture
def folders(tmp_path: Path) -> Folders:
    """A skill with files beside it."""
    made = Folders(tmp_path)
    here = made.write(made.user, "review", skill("review", "Reads code.", "Go by list.md."))
    (here / "list.md").write_text("\ufeff1. Look.\n")
    (here / "logo.png").write_bytes(b"\x89PNG\0")
    (here / "empty").touch()
    (here / "out").symlink_to(tmp_path)
    (tmp_path / "secret").write_text("secret")
    return made


def called(folders: Folders, input: Json, characters: int = 50_000) -> ToolResult:
    tool = skill_tool(folders.book(), characters)
    context = ToolContext(Workspace(folders.project), folders.project / "outputs", "c1")

    async def run() -> ToolResult:
        return await tool.run(context, tool.parse(input))

    return asyncio.run(run())


def test_it_lists_reads_and_reads_the_files_of_a_skill(folders: Folders) -> None:
    assert called(folders, {}).content == "- review (user): Reads code."
    read = called(folders, {"name": "review"})
    assert "Go by list.md." in read.content
    assert str(folders.user / "review") in read.content
    assert "- list.md" in read.content
    assert called(folders, {"name": "review", "file": "list.md"}).content == "1. Look.\n"
    assert called(folders, {"name": "review", "file": "./empty"}).content == "(the file is empty)"


@pytest.mark.parametrize(
    ("input", "words"),
    [
        ({"name": "revew"}, "did you mean review?"),
        ({"name": "../review"}, "There is no skill"),
        ({"name": "review", "file": "lst.md"}, "does not exist"),
        ({"name": "review", "file": "logo.png"}, "is no text"),
        ({"name": "review", "file": "../../secret"}, "is not a file of the skill review"),
        ({"name": "review", "file": "out/secret"}, "is not a file of the skill review"),
        ({"name": "review", "file": "/etc/passwd"}, "outside"),
        ({"name": "review", "file": "."}, "is a directory"),
        ({"name": "review", "file": "a\0b"}, "not a usable path"),
    ],
)
def test_what_cannot_be_read_is_an_answer(folders: Folders, input: Json, words: str) -> None:
    result = called(folders, input)
    assert result.outcome is ToolOutcome.ERROR
    assert words in result.content


def test_a_long_text_is_shortened_and_kept_whole(folders: Folders) -> None:
    (folders.user / "review" / "list.md").write_text("line\n" * 10_000)
    result = called(folders, {"name": "review", "file": "list.md"}, 2_000)
    assert len(result.content) <= 2_000
    assert result.full_output is not None
    assert result.full_output.read_text() == "line\n" * 10_000


def test_a_call_is_one_line_whatever_it_holds(folders: Folders) -> None:
    tool = skill_tool(folders.book())
    assert tool.summarise({"name": "a\nb", "file": 3}) == "a …"
    assert tool.summarise({}) == "(which there are)"
