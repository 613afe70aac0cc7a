"""What the page about memory says is so."""

import re
from pathlib import Path

from harness.memory import FORGET, RECALL, REMEMBER, MemoryOwner, MemoryStore, MemoryType
from harness.memory.memory import MOST_BYTES, MOST_FORGOTTEN, MOST_MEMORIES
from harness.memory.prompt_section import INDEX_BYTES, INDEX_LINES
from harness.memory.store import FORGOTTEN
from harness.memory.tools import ForgetArguments, RecallArguments, RememberArguments
from harness.practice.rule_model import RuleModel
from harness.practice.wire.replies import ToolUse
from harness.settings import Settings
from harness.ui.commands.commands import COMMANDS
from tests.pages.blocks import block, text

TEXT = text("docs/memory.md")


def test_the_memory_on_the_page_is_one(tmp_path: Path) -> None:
    (tmp_path / "indentation.md").write_text(block("docs/memory.md", "memory"))
    found = MemoryStore({MemoryOwner.PERSON: tmp_path}, now=lambda: 0.0).find()
    [memory] = found.memories
    assert found.problems == ()
    assert (memory.name, memory.type, memory.session) == ("indentation", MemoryType.USER, "20261121-0959-7f3a9c")
    assert memory.text == "Tabs everywhere. A screen reader says each space aloud."


def test_names_and_numbers_on_the_page_are_those_of_the_program() -> None:
    assert f"{INDEX_LINES} lines and {INDEX_BYTES:,} bytes" in TEXT
    assert f"at most {MOST_MEMORIES} memories of at most {MOST_BYTES:,} bytes" in " ".join(TEXT.split())
    assert f"copied to the folder `{FORGOTTEN}`, which keeps the last {MOST_FORGOTTEN}." in " ".join(TEXT.split())
    for name, arguments in ((REMEMBER, RememberArguments), (RECALL, RecallArguments), (FORGET, ForgetArguments)):
        assert f"`{name}({', '.join(arguments.model_fields)})`" in TEXT
    assert all(f"`{kind}` (" in TEXT for kind in MemoryType)
    assert {"memory", "user_dir"} <= set(Settings.model_fields)
    assert set(re.findall(r"`/(\w+)[^`]*`", TEXT)) <= set(COMMANDS)


def test_the_practice_model_understands_the_sentences_of_the_page() -> None:
    said = re.findall(r"^\| `([a-z][^`]*)` \| (?:the model|it looks)", TEXT, re.MULTILINE)
    assert said == ["remember that I want tabs", "what do you remember about tabs?"]
    schema = {"type": "object", "properties": {"name": {}, "text": {}, "query": {}}}
    tools = [{"name": name, "input_schema": schema} for name in (REMEMBER, RECALL)]
    for sentence, tool in zip(said, (REMEMBER, RECALL), strict=True):
        reply = RuleModel().answer({"messages": [{"role": "user", "content": sentence}], "tools": tools})
        assert [part.name for part in reply.parts if isinstance(part, ToolUse)] == [tool]
