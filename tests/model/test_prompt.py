"""The system prompt and the facts of a turn."""

import json
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from harness.events import Block, Message
from harness.model.prompt import PromptSection, standard_sections, system_blocks, turn_facts, with_breakpoints


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


def text(words: str) -> Block:
    return {"type": "text", "text": words}


def step(number: int, calls: int = 1) -> tuple[Message, Message]:
    """An assistant message with `calls` tool calls, and the results."""
    ids = [f"t{number}_{call}" for call in range(calls)]
    return (
        Message("assistant", tuple({"type": "tool_use", "id": id, "name": "bash", "input": {}} for id in ids)),
        Message("user", tuple({"type": "tool_result", "tool_use_id": id, "content": "ok"} for id in ids)),
    )


def flat(messages: tuple[Message, ...]) -> list[Block]:
    return [block for message in messages for block in message.content]


def marks(messages: tuple[Message, ...]) -> list[int]:
    """Positions of the marked blocks, counted from the end: 0 is the last block."""
    blocks = flat(messages)
    return [len(blocks) - 1 - at for at, block in enumerate(blocks) if "cache_control" in block]


def test_a_short_conversation_gets_one_breakpoint_on_its_last_block() -> None:
    history = (Message("user", (text("hi"),)), Message("assistant", (text("hello"),)), Message("user", (text("go"),)))
    assert marks(with_breakpoints(history)) == [0]


def test_marking_copies_what_it_marks_and_shares_the_rest() -> None:
    history = (Message("user", (text("hi"),)), *step(1))
    marked = with_breakpoints(history)
    assert all("cache_control" not in block for block in flat(history))
    assert marked[0] is history[0]
    assert marked[1] is history[1]


def test_a_long_step_gets_a_breakpoint_in_reach_and_one_where_the_last_request_ended() -> None:
    history = (Message("user", (text("go"),)), *step(1, calls=2), *step(2, calls=30))
    assert marks(with_breakpoints(history)) == [60, 15, 0]


def test_thinking_and_blank_text_are_never_marked() -> None:
    thinking: Block = {"type": "thinking", "thinking": "hm", "signature": "s"}
    history = (Message("user", (text("go"), text(" "))), Message("assistant", (thinking,)))
    assert [("cache_control" in block) for block in flat(with_breakpoints(history))] == [True, False, False]


def test_nothing_to_mark_is_no_failure() -> None:
    assert with_breakpoints(()) == ()


@given(st.lists(st.integers(1, 40), max_size=12))
def test_breakpoints_are_few_repeatable_and_change_nothing_else(calls: list[int]) -> None:
    history = (Message("user", (text("go"),)), *(m for n, count in enumerate(calls) for m in step(n, count)))
    marked = with_breakpoints(history)
    assert with_breakpoints(marked) == marked
    assert 1 <= len(marks(marked)) <= 3
    assert marks(marked)[-1] == 0
    bare = [{key: value for key, value in block.items() if key != "cache_control"} for block in flat(marked)]
    assert bare == flat(history)
    if calls:
        before = 2 * calls[-1]  # where the request before this one ended, counted from the last block
        assert any(before - 20 < mark <= before for mark in marks(marked))
