"""The system prompt and the facts of a turn."""

import json
from pathlib import Path

from harness.model.prompt import PromptSection, standard_sections, system_blocks, turn_facts


def test_the_system_prompt_has_the_same_bytes_for_the_same_inputs() -> None:
    first, second = (system_blocks(standard_sections(Path("/home/ada/engine"), "linux")) for _ in range(2))
    assert json.dumps(first) == json.dumps(second)


def test_the_system_prompt_names_the_workspace_and_carries_one_breakpoint_at_its_end() -> None:
    blocks = system_blocks(standard_sections(Path("/home/ada/engine"), "linux", instructions="Use tabs."))
    assert any("/home/ada/engine" in block["text"] for block in blocks)
    assert "Use tabs." in blocks[-1]["text"]
    assert ["cache_control" in block for block in blocks] == [False] * (len(blocks) - 1) + [True]


def test_the_system_prompt_is_short_enough_to_be_read() -> None:
    blocks = system_blocks(standard_sections(Path("/w"), "linux"))
    assert sum(len(block["text"].split()) for block in blocks) < 500


def test_a_section_that_says_nothing_leaves_no_block() -> None:
    assert system_blocks([PromptSection("empty", " \n")]) == ()
    (block,) = system_blocks([PromptSection("only", "Words."), PromptSection("empty", "")])
    assert block == {"type": "text", "text": "# Only\n\nWords.", "cache_control": {"type": "ephemeral"}}


def test_facts_of_the_moment_are_text_for_the_turn_and_never_part_of_the_system_prompt() -> None:
    assert turn_facts() == ""
    facts = turn_facts(today="2026-11-21", branch="main", others=["The last test run failed."])
    assert facts == (
        "<facts>\nToday is 2026-11-21. The current git branch is main. The last test run failed.\n</facts>"
    )
