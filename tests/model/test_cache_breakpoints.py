"""Where requests carry cache breakpoints."""

from hypothesis import given
from hypothesis import strategies as st

from harness.events import Block, Message
from harness.model.cache_breakpoints import with_breakpoints


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
