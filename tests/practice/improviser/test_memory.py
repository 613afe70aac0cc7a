"""What is to be remembered, recalled and forgotten is taken from a sentence."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from harness.memory import MemoryBook, keeping_tools, recall_tool
from harness.memory.prompt_texts import news
from harness.practice.improviser.goals import Forget, Goal, ListFiles, Recall, Remember
from harness.practice.improviser.intents import understand
from harness.practice.improviser.toolset import tool_set
from harness.practice.improviser.turns import Turn
from harness.tools.tool import Tool
from harness.tools.toolbox import Toolbox, standard_tools
from tests.memory.shelves import store
from tests.practice.improviser.driver import Conversation

SENTENCES: tuple[tuple[str, tuple[Goal, ...]], ...] = (
    ("Remember that I prefer tabs.", (Remember("I prefer tabs"),)),
    ("please remember: the tests run with make test", (Remember("the tests run with make test"),)),
    ("Keep in mind that we release on Fridays", (Remember("we release on Fridays"),)),
    ("Don't forget that I use tabs and read the docs first", (Remember("I use tabs and read the docs first"),)),
    ("Remember that I prefer tabs. List the files.", (Remember("I prefer tabs"), ListFiles())),
    ("What do you remember?", (Recall(),)),
    ("what do you remember about tabs?", (Recall("tabs"),)),
    ("Do you remember how we release?", (Recall("how we release"),)),
    ("What did I tell you about indentation?", (Recall("indentation"),)),
    ("forget what I said about tabs", (Forget("tabs"),)),
    ("Forget about the release day.", (Forget("the release day"),)),
    ("インデントはタブが好きだと覚えておいて", (Remember("インデントはタブが好きだ"),)),
    ("覚えておいてください: リリースは金曜日", (Remember("リリースは金曜日"),)),
    ("タブについて何を覚えていますか？", (Recall("タブ"),)),
    ("何を覚えている？", (Recall(),)),
    ("タブのことは忘れて", (Forget("タブ"),)),
)  # fmt: skip


def tools(folder: Path) -> Sequence[Tool]:
    book = MemoryBook(store(folder))
    return (*standard_tools(), recall_tool(book), *keeping_tools(book))


@pytest.mark.parametrize(("said", "goals"), SENTENCES, ids=[said for said, _ in SENTENCES])
def test_a_sentence_about_memory_is_understood(tmp_path: Path, said: str, goals: tuple[Goal, ...]) -> None:
    assert understand((Turn(said),), tool_set(Toolbox(tools(tmp_path)).specs())).goals == goals


@pytest.mark.parametrize(
    ("fact", "about"),
    [("Remember that I prefer tabs.", "tabs"), ("インデントはタブが好きだと覚えておいて", "タブ")],
)
def test_it_is_kept_found_and_forgotten_with_the_tools(tmp_path: Path, fact: str, about: str) -> None:
    here = Conversation(tmp_path, tools(tmp_path))
    here.ask(fact)
    japanese = about == "タブ"
    asked = f"{about}について何を覚えていますか" if japanese else f"What do you remember about {about}?"
    assert about in here.ask(asked).split("```")[1]
    here.ask(f"{about}のことは忘れて" if japanese else f"Forget about {about}.")
    assert "Nothing that is remembered" in here.ask(asked)
    assert [call.name for call in here.calls] == ["remember", "recall", "recall", "forget", "recall"]


def test_without_the_tools_it_says_that_it_cannot(tmp_path: Path) -> None:
    assert "remember something" in Conversation(tmp_path).ask("Remember that I prefer tabs.")


def test_news_of_memories_beside_a_prompt_are_no_prompt(tmp_path: Path) -> None:
    here = Conversation(tmp_path, tools(tmp_path))
    here.ask("Remember that I prefer tabs.")
    told = news((), store(tmp_path).find().memories)
    here.messages.append(
        {"role": "user", "content": [{"type": "text", "text": text} for text in (told, "list the files")]}
    )
    here.step()
    assert here.calls[-1].name == "glob"
