"""remember, recall and forget against real folders."""

import asyncio
from pathlib import Path

import pytest

from harness.events import Json, ToolOutcome
from harness.memory import MemoryBook, MemoryOwner, MemoryStore, keeping_tools, recall_tool
from harness.memory.tools import MOST_RECALLED
from harness.tools.tool import Effect, ToolContext, ToolResult
from harness.tools.workspace import Workspace
from tests.memory.shelves import names, store

FACT: Json = {"name": "Indentation", "description": "They want tabs.", "type": "user", "text": "Tabs."}


def called(folder: Path, name: str, input: Json, shelf: MemoryStore | None = None) -> ToolResult:
    book = MemoryBook(shelf or store(folder))
    tool = {tool.name: tool for tool in (recall_tool(book), *keeping_tools(book))}[name]
    context = ToolContext(Workspace(folder), folder / "outputs", "c1")

    async def run() -> ToolResult:
        return await tool.run(context, tool.parse(input))

    return asyncio.run(run())


def test_they_keep_find_and_forget(tmp_path: Path) -> None:
    assert called(tmp_path, "remember", FACT).content == "Remembered as indentation, for the person."
    assert called(tmp_path, "recall", {}).content == "- indentation (user, person): They want tabs."
    assert called(tmp_path, "recall", {"name": "INDENTATION"}).content.endswith("They want tabs.\n\nTabs.")
    assert called(tmp_path, "recall", {"query": "tabs?"}).summary == "1 memory"
    assert called(tmp_path, "forget", {"name": "indentation"}).outcome is ToolOutcome.OK
    assert called(tmp_path, "recall", {"query": "tabs"}).content == "No memory contains these words."
    assert called(tmp_path, "recall", {}).content == "There are no memories."


def test_the_type_decides_about_the_place_unless_it_is_said(tmp_path: Path) -> None:
    assert "for the project" in called(tmp_path, "remember", {**FACT, "type": "reference"}).content
    assert "for the project" in called(tmp_path, "remember", {**FACT, "place": "project"}).content


def test_where_only_the_project_has_memories_every_type_is_kept_there(tmp_path: Path) -> None:
    shelf = MemoryStore({MemoryOwner.PROJECT: tmp_path / "memory"}, now=lambda: 0.0)
    assert "for the project" in called(tmp_path, "remember", FACT, shelf).content
    refused = called(tmp_path, "remember", {**FACT, "place": "person"}, shelf)
    assert refused.content == "Memories of the person are not kept here; use place = project."


def test_of_many_matches_the_best_are_shown_whole(tmp_path: Path) -> None:
    for number in range(MOST_RECALLED + 3):
        called(tmp_path, "remember", {**FACT, "name": f"tabs {number}"})
    text = called(tmp_path, "recall", {"query": "tabs"}).content
    assert text.count("The user memory") == MOST_RECALLED
    assert text.count("\n- tabs-") == 3


@pytest.mark.parametrize(
    ("name", "input", "words"),
    [
        ("recall", {"name": "none"}, "There is no memory 'none'"),
        ("forget", {"name": "../x"}, "There is no memory"),
        ("remember", {**FACT, "text": "x" * 5_000}, "the limit is 4,096"),
        ("remember", {**FACT, "text": "password=hunter2"}, "which is not written down"),
        ("remember", {**FACT, "name": "..."}, "needs a letter"),
    ],
)
def test_what_cannot_be_done_is_an_answer(tmp_path: Path, name: str, input: Json, words: str) -> None:
    result = called(tmp_path, name, input)
    assert result.outcome is ToolOutcome.ERROR
    assert words in result.content
    assert names(store(tmp_path)) == []


def test_their_effects_are_those_that_the_user_is_asked_about(tmp_path: Path) -> None:
    book = MemoryBook(store(tmp_path))
    assert recall_tool(book).effect is Effect.READ
    assert [tool.effect for tool in keeping_tools(book)] == [Effect.WRITE, Effect.WRITE]
    remember = keeping_tools(book)[0]
    assert remember.preview is not None
    context = ToolContext(Workspace(tmp_path), tmp_path / "outputs", "c1")
    assert remember.preview(context, remember.parse(FACT)) == "user memory for the person: They want tabs.\n\nTabs."
    assert remember.summarise({"name": "a\nb", "place": 3}) == "a …"
