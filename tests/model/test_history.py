"""Histories that the API takes stay as they are; all others become such."""

import base64
import copy
import struct
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.events import Block, Message
from harness.model.history import Repaired, repaired, steps, violations, without_media, without_thinking
from harness.model.notices import BEGINNING_MISSING, CONTINUE, FAILED_WITHOUT_REASON, MISSING_RESULT
from tests.model.conversations import (
    acceptable,
    assistant,
    broken,
    call,
    chaos,
    conversations,
    good_pairs,
    good_texts,
    is_subsequence,
    result,
    text,
    thinking,
    user,
)
from tests.whole import WHOLE

many = settings(max_examples=120 if WHOLE else 60, deadline=None)


def image(width: int = 10, height: int = 10) -> Block:
    head = b"\x89PNG\r\n\x1a\n" + struct.pack(">I4sII", 13, b"IHDR", width, height)
    source = {"type": "base64", "media_type": "image/png", "data": base64.b64encode(head).decode()}
    return {"type": "image", "source": source}


def flat(messages: tuple[Message, ...]) -> list[Block]:
    return [block for message in messages for block in message.content]


def types(messages: tuple[Message, ...]) -> list[list[Any]]:
    return [[block["type"] for block in message.content] for message in messages]


# ---- Properties -----------------------------------------------------------------------------------------------------


@many
@given(conversations(), st.data())
def test_all_that_holds_for_a_whole_conversation(history: tuple[Message, ...], data: st.DataObject) -> None:
    # Drawing one takes longer than all that is said of it.
    has_no_violations_and_is_left_alone(history)
    has_rounds_of_which_any_number_may_be_left_out(history)
    is_still_whole_without_thinking(history)
    loses_nothing_that_was_there_before_an_interruption_anywhere(history, data)


@many
@given(chaos | broken())
def test_all_that_holds_whatever_comes_in(history: tuple[Message, ...]) -> None:
    the_check_finds_what_a_naive_judge_finds(history)
    what_goes_out_can_be_sent_and_keeps_every_good_text_and_every_good_pair_in_order(history)
    a_repair_changes_nothing_in_place_says_what_it_did_and_is_never_needed_twice(history)
    rounds_lose_no_message(history)
    no_change_ever_fails(history)


def has_no_violations_and_is_left_alone(history: tuple[Message, ...]) -> None:
    assert acceptable(history)
    assert violations(history) == ()
    result = repaired(history)
    assert result.repairs == ()
    assert all(kept is given for kept, given in zip(result.messages, history, strict=True))


def has_rounds_of_which_any_number_may_be_left_out(history: tuple[Message, ...]) -> None:
    found = steps(history)
    assert tuple(message for group in found for message in group) == history
    assert all(sum(message.role == "assistant" for message in group) <= 1 for group in found)
    for dropped in range(len(found)):
        rest = tuple(message for group in found[dropped:] for message in group)
        opening = () if rest[0].role == "user" else (user(text("marker")),)
        assert violations((*opening, *rest)) == ()


def is_still_whole_without_thinking(history: tuple[Message, ...]) -> None:
    bare = without_thinking(history)
    assert violations(bare) == ()
    assert flat(bare) == [block for block in flat(history) if block["type"] != "thinking"]
    assert without_thinking(bare) == bare


def loses_nothing_that_was_there_before_an_interruption_anywhere(
    history: tuple[Message, ...], data: st.DataObject
) -> None:
    at = data.draw(st.integers(0, len(history) - 1))
    cut = data.draw(st.integers(0, len(history[at].content)))
    torn = (*history[:at], Message(history[at].role, history[at].content[:cut]))
    mended = repaired(torn).messages
    assert violations(mended) == ()
    signed = [block["signature"] for block in flat(torn) if block["type"] == "thinking"]
    kept = [block["signature"] for block in flat(mended) if block["type"] == "thinking"]
    # Only thinking that ends the torn message may go: nothing before any other was changed.
    assert kept == signed[: len(kept)]
    assert len(signed) - len(kept) <= 1


def the_check_finds_what_a_naive_judge_finds(history: tuple[Message, ...]) -> None:
    if not acceptable(history):
        assert violations(history) != ()


def what_goes_out_can_be_sent_and_keeps_every_good_text_and_every_good_pair_in_order(
    history: tuple[Message, ...],
) -> None:
    result = repaired(history).messages
    assert violations(result) == ()
    assert acceptable(result)
    assert is_subsequence(good_texts(history), good_texts(result))
    assert is_subsequence(good_pairs(history), good_pairs(result))


def a_repair_changes_nothing_in_place_says_what_it_did_and_is_never_needed_twice(
    history: tuple[Message, ...],
) -> None:
    before = copy.deepcopy(history)
    first = repaired(history)
    assert repr(history) == repr(before)  # by words, because NaN is not equal to itself
    assert bool(first.repairs) == bool(violations(history))
    assert all(line.strip() and "\n" not in line for line in first.repairs)
    second = repaired(first.messages)
    assert second.repairs == ()
    assert all(kept is given for kept, given in zip(second.messages, first.messages, strict=True))


def rounds_lose_no_message(history: tuple[Message, ...]) -> None:
    assert tuple(message for group in steps(history) for message in group) == history


def no_change_ever_fails(history: tuple[Message, ...]) -> None:
    assert not [block for block in flat(without_thinking(history)) if block.get("type") == "thinking"]
    assert not [block for block in flat(without_media(history)) if block.get("type") in ("image", "document")]
    assert violations(repaired(without_media(without_thinking(history))).messages) == ()


# ---- One by one -----------------------------------------------------------------------------------------------------


def test_an_interrupted_call_gets_an_error_for_a_result() -> None:
    mended = repaired([user(text("go")), assistant(call("t1"), call("t2")), user(result("t2"))])
    assert mended.messages[2].content == (result("t2"), result("t1", MISSING_RESULT, is_error=True))
    assert mended.repairs == ("message 3: added an error for the missing result of the call t1",)


def test_a_prompt_typed_over_a_running_call_stays_behind_the_result() -> None:
    mended = repaired([user(text("go")), assistant(call("t1")), user(text("stop that"))])
    assert types(mended.messages)[2] == ["tool_result", "text"]


def test_a_late_result_is_moved_to_its_call() -> None:
    history = [
        user(text("go")),
        assistant(call("t1")),
        user(text("and?")),
        assistant(text("wait")),
        user(result("t1", "late but true"), text("now")),
    ]
    mended = repaired(history)
    assert mended.messages[2].content == (result("t1", "late but true"), text("and?"))
    assert mended.messages[4].content == (text("now"),)
    assert mended.repairs[0] == "message 3: moved the late result of the call t1 here"


def test_an_earlier_call_does_not_take_the_result_of_a_later_one() -> None:
    history = [
        user(text("go")),
        assistant(call("t1", n=1)),
        user(text("and?")),
        assistant(call("t1", n=2)),
        user(result("t1", "of the second")),
    ]
    mended = repaired(history).messages
    assert mended[2].content[0]["content"] == MISSING_RESULT
    assert mended[4].content[0]["content"] == "of the second"
    assert mended[3].content[0]["id"] == mended[4].content[0]["tool_use_id"] != "t1"


def test_the_same_call_written_twice_counts_once() -> None:
    mended = repaired([user(text("go")), assistant(call("t1"), call("t1")), user(result("t1"), result("t1", "again"))])
    assert mended.messages[1:] == (assistant(call("t1")), user(result("t1")))


def test_an_orphan_result_is_dropped_and_named() -> None:
    mended = repaired([user(text("go")), assistant(text("ok")), user(result("gone"), text("next"))])
    assert mended.messages[2] == user(text("next"))
    assert mended.repairs == ("message 3: dropped a result without a call (gone)",)


def test_results_come_first_in_their_order() -> None:
    mended = repaired(
        [user(text("go")), assistant(call("t1"), call("t2")), user(text("x"), result("t2"), result("t1"))]
    )
    assert mended.messages[2] == user(result("t2"), result("t1"), text("x"))


def test_a_history_opens_and_closes_with_the_user() -> None:
    mended = repaired([assistant(text("hello"))])
    assert [message.text for message in mended.messages] == [BEGINNING_MISSING, "hello", CONTINUE]
    assert repaired(()).messages == (user(text(BEGINNING_MISSING)),)


def test_an_empty_reply_leaves_no_message() -> None:
    mended = repaired([user(text("go")), assistant(), user(text("again"))])
    assert mended.messages == (user(text("go"), text("again")),)
    assert repaired([user(text("go")), assistant(text("  "))]).messages == (user(text("go")),)


def test_thinking_bound_to_something_that_changed_goes_with_all_that_follows() -> None:
    history = [
        user(text("a")),
        assistant(thinking("1", "s1"), call("t1")),
        user(text("the result got lost")),
        assistant(thinking("2", "s2"), text("b")),
        user(text("c")),
        assistant(thinking("3", "s3"), text("d")),
        user(text("e")),
    ]
    mended = repaired(history)
    assert [block["signature"] for block in flat(mended.messages) if block["type"] == "thinking"] == ["s1"]
    assert mended.repairs[-1] == "dropped 2 thinking blocks after a changed block"


def test_joining_messages_does_not_cost_any_thinking() -> None:
    history = [user(text("a")), user(text("b")), assistant(thinking(), text("c")), user(text("d"))]
    assert thinking() in flat(repaired(history).messages)


@pytest.mark.parametrize(
    "bad", [thinking(signature=""), {"type": "thinking"}, {"type": "redacted_thinking", "data": ""}]
)
def test_thinking_without_a_signature_is_dropped(bad: Block) -> None:
    mended = repaired([user(text("a")), assistant(bad, text("b")), user(text("c"))])
    assert mended.messages[1] == assistant(text("b"))


def test_a_reply_of_nothing_but_thinking_leaves_no_message() -> None:
    assert repaired([user(text("a")), assistant(thinking()), user(text("b"))]).messages == (user(text("a"), text("b")),)


def test_half_a_surrogate_pair_is_replaced_and_a_whole_one_becomes_its_letter() -> None:
    mended = repaired([user(text("half \ud83d, whole \ud83d\ude00"))])
    assert mended.messages[0].text == "half \ufffd, whole 😀"
    assert mended.repairs == ("message 1: replaced values that are not valid JSON in a text block",)


def test_numbers_that_json_lacks_become_their_names() -> None:
    mended = repaired([user(text("a")), assistant(call("t1", x=float("nan"), y=[float("-inf")])), user(result("t1"))])
    assert mended.messages[1].content[0]["input"] == {"x": "nan", "y": ["-inf"]}


def test_nesting_without_end_is_cut() -> None:
    deep: Any = "bottom"
    for _ in range(50_000):
        deep = [deep]
    mended = repaired([user(text("a")), assistant(call("t1", deep=deep)), user(result("t1"))])
    assert violations(mended.messages) == ()
    assert "levels deep" in str(mended.messages[1].content[0]["input"])


def test_the_input_of_a_call_becomes_an_object_and_its_name_a_valid_one() -> None:
    history = [
        user(text("a")),
        assistant(
            {"type": "tool_use", "id": "t1", "name": "two words", "input": None},
            {"type": "tool_use", "id": "t 2", "name": "bash", "input": [1]},
        ),
        user(result("t1"), result("t 2", "second")),
    ]
    mended = repaired(history).messages
    assert [(block["name"], block["input"]) for block in mended[1].content] == [
        ("two_words", {}),
        ("bash", {"value": [1]}),
    ]
    assert mended[2].content[1] == result(mended[1].content[1]["id"], "second")


def test_an_error_result_says_something_and_says_it_in_text() -> None:
    history = [
        user(text("a")),
        assistant(call("t1"), call("t2")),
        user(result("t1", "", is_error=True), result("t2", [image(), text("seen")], is_error=True)),
    ]
    first, second = repaired(history).messages[2].content
    assert first["content"] == FAILED_WITHOUT_REASON
    assert second["content"] == [text("(image left out: image/png)"), text("seen")]


def test_images_may_be_many_or_large_but_not_both() -> None:
    small = user(*(image() for _ in range(30)))
    assert violations([small]) == ()
    few = user(*(image(5_000, 10) for _ in range(20)))
    assert violations([few]) == ()
    both = repaired([user(*(image() for _ in range(15)), *(image(5_000, 10) for _ in range(10)))])
    kept = [block for block in flat(both.messages) if block["type"] == "image"]
    assert len(kept) == 20
    assert flat(both.messages)[-1]["type"] == "image", "the oldest of the large ones go"


def test_an_image_that_no_model_takes_is_replaced_by_words() -> None:
    mended = repaired([user(image(9_000, 10), text("look"))])
    assert mended.messages[0] == user(text("(image left out: image/png)"), text("look"))


def test_only_the_last_four_breakpoints_stay() -> None:
    marked = [{**text(f"n{number}"), "cache_control": {"type": "ephemeral"}} for number in range(6)]
    mended = repaired([user(*marked)]).messages[0].content
    assert ["cache_control" in block for block in mended] == [False, False, True, True, True, True]
    assert [block["text"] for block in mended] == [f"n{number}" for number in range(6)]


def test_a_server_tool_may_answer_in_the_next_message_when_only_results_are_between() -> None:
    asked: Block = {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}}
    answer: Block = {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []}
    waiting = [user(text("a")), assistant(asked, call("t1")), user(result("t1"))]
    assert violations(waiting) == ()
    answered = [*waiting, assistant(answer, text("b")), user(text("c"))]
    assert violations(answered) == ()
    assert len(steps(answered)[0]) == 4, "a round is not divided while a server tool is at work"
    interrupted = [*waiting[:2], user(result("t1"), text("other words"))]
    assert repaired(interrupted).messages[1] == assistant(call("t1"))


def test_an_unknown_block_passes_unchanged() -> None:
    strange: Block = {"type": "of_the_future", "payload": {"a": [1, None]}}
    history = (user(text("a")), assistant(strange, text("b")), user(text("c")))
    assert repaired(history) == Repaired(history, ())


def test_what_is_well_in_a_broken_history_stays_the_same_object() -> None:
    history = [user(text("a")), assistant(call("t1")), user(result("t1")), assistant(text(" ")), user(text("b"))]
    mended = repaired(history).messages
    assert mended[0] is history[0]
    assert mended[1] is history[1]


def test_media_become_words_also_inside_results_and_thinking_behind_them_goes() -> None:
    history = (
        user(text("a")),
        assistant(thinking("1", "s1"), call("t1")),
        user(result("t1", [image(), text("a picture")])),
        assistant(thinking("2", "s2"), text("seen")),
        user({"type": "document", "title": "Plan", "source": {"type": "base64", "media_type": "application/pdf"}}),
    )
    bare = without_media(history)
    assert bare[2].content[0]["content"] == [text("(image left out: image/png)"), text("a picture")]
    assert bare[4] == user(text("(document left out: Plan, application/pdf)"))
    assert [block["signature"] for block in flat(bare) if block["type"] == "thinking"] == ["s1"]
    assert bare[0] is history[0]
    assert without_media(bare) == bare


def test_a_prompt_opens_a_round_and_so_does_each_further_reply() -> None:
    history = (
        user(text("a")),
        assistant(call("t1")),
        user(result("t1")),
        assistant(text("b")),
        user(text("c")),
        assistant(text("d")),
    )
    assert [len(group) for group in steps(history)] == [3, 1, 2]
    assert steps(()) == ()
