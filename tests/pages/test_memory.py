"""What the page about memory says is so."""

import re
from pathlib import Path

from harness.memory import FORGET, RECALL, REMEMBER, MemoryStore, MemoryType, Place
from harness.memory.memory import MOST_BYTES, MOST_FORGOTTEN, MOST_MEMORIES
from harness.memory.prompt_texts import INDEX_BYTES, INDEX_LINES
from harness.memory.store import FORGOTTEN
from harness.memory.tools import ForgetArguments, RecallArguments, RememberArguments
from harness.practice.improviser.goals import Recall, Remember
from harness.practice.improviser.intents import understand
from harness.practice.improviser.toolset import tool_set
from harness.practice.improviser.turns import Turn
from harness.settings import Settings
from harness.ui.commands.commands import COMMANDS
from tests.pages.blocks import block, text

TEXT = text("docs/memory.md")


def test_the_memory_on_the_page_is_one(tmp_path: Path) -> None:
    (tmp_path / "indentation.md").write_text(block("docs/memory.md", "memory"))
    found = MemoryStore({Place.PERSON: tmp_path}, now=lambda: 0.0).find()
    [memory] = found.memories
    assert found.problems == ()
    assert (memory.name, memory.type, memory.session) == ("indentation", MemoryType.USER, "20261121-0959-7f3a9c")
    assert memory.text == "Tabs everywhere. A screen reader says each space aloud."


def test_names_and_numbers_on_the_page_are_those_of_the_program() -> None:
    assert f"{INDEX_LINES} lines and {INDEX_BYTES:,} bytes" in TEXT
    assert f"holds {MOST_MEMORIES} memories, and a memory {MOST_BYTES:,} bytes" in TEXT
    assert f"`{FORGOTTEN}` before" in TEXT
    assert f"the last\n{MOST_FORGOTTEN} are kept" in TEXT
    for name, arguments in ((REMEMBER, RememberArguments), (RECALL, RecallArguments), (FORGET, ForgetArguments)):
        assert f"`{name}({', '.join(arguments.model_fields)})`" in TEXT
    assert all(f"`{kind}` (" in TEXT for kind in MemoryType)
    assert {"memory", "user_dir"} <= set(Settings.model_fields)
    assert set(re.findall(r"`/(\w+)[^`]*`", TEXT)) <= set(COMMANDS)


def test_the_practice_model_understands_the_sentences_of_the_page() -> None:
    said = re.findall(r"^\| `([a-z][^`]*)` \| (?:the model|it looks)", TEXT, re.MULTILINE)
    goals = [understand((Turn(sentence),), tool_set(())).goals for sentence in said]
    assert goals == [(Remember("I want tabs"),), (Recall("tabs"),)]
