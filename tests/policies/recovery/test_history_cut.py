"""The last resort that needs no model."""

from collections.abc import Sequence
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from harness.events import Block, Message
from harness.model import history
from harness.policies.recovery.history_cut import Round, drainable, joined_end, middle_cut, shrink
from tests.policies.recovery.cases import text

FLOOR_CHARACTERS = 120
"""More than twenty characters, and the mark of the omission."""


def characters(message: Message) -> int:
    """A count of tokens that needs no vocabulary: characters of everything the model reads."""
    return sum(len(leaf) for block in message.content for leaf in leaves(block))


def leaves(value: Any) -> list[str]:
    match value:
        case dict():
            return [leaf for inner in value.values() for leaf in leaves(inner)]
        case list():
            return [leaf for inner in value for leaf in leaves(inner)]
    return [str(value)]


def total(rounds: Sequence[Round]) -> int:
    return sum(characters(message) for group in rounds for message in group)


def result(call_id: str, content: Any) -> Block:
    return {"type": "tool_result", "tool_use_id": call_id, "content": content}


def image(size: int) -> Block:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A" * size}}


lengths = st.sampled_from([1, 19, 60, 300, 1_900, 2_500, 9_000, 40_000])


@st.composite
def conversations(draw: st.DrawFn) -> tuple[Message, ...]:
    messages, serial = [], 0
    for number in range(draw(st.integers(1, 4))):
        messages.append(Message("user", (text(f"{number} " + "p" * draw(lengths)),)))
        for _ in range(draw(st.integers(0, 3))):
            uses, results = [], []
            for _ in range(draw(st.integers(1, 2))):
                serial += 1
                value = "i" * draw(lengths)
                given_input = draw(st.sampled_from([{"a": value}, {"a": {"b": [value, {"c": value}]}}]))
                uses.append({"type": "tool_use", "id": f"t{serial}", "name": "bash", "input": given_input})
                out = "r" * draw(lengths)
                results.append(result(f"t{serial}", draw(st.sampled_from([out, [text(out), image(5_000)]]))))
            messages += [Message("assistant", (text("s" * draw(lengths)), *uses)), Message("user", tuple(results))]
        messages.append(Message("assistant", (text("a" * draw(lengths)),)))
    messages.append(Message("user", (text("last " + "q" * draw(lengths)),)))
    return tuple(messages)


budgets = st.integers(0, 60_000)


def flat(rounds: Sequence[Round]) -> tuple[Message, ...]:
    return tuple(message for group in rounds for message in group)


def outline(message: Message) -> tuple[str, ...]:
    """What a message is made of, without its texts."""
    return (
        message.role,
        *(f"{block['type']} {block.get('id') or block.get('tool_use_id')}" for block in message.content),
    )


@given(messages=conversations(), budget=budgets)
def test_the_result_fits_or_only_short_texts_of_the_last_round_are_left(
    messages: tuple[Message, ...], budget: int
) -> None:
    shrunk = shrink(history.steps(messages), budget, characters)
    if total(shrunk.rounds) > budget:
        assert len(shrunk.rounds) == 1
        assert max(len(leaf) for m in flat(shrunk.rounds) for b in m.content for leaf in leaves(b)) <= FLOOR_CHARACTERS


@given(messages=conversations(), budget=budgets)
def test_every_call_keeps_its_result_and_every_result_its_call(messages: tuple[Message, ...], budget: int) -> None:
    shrunk = shrink(history.steps(messages), budget, characters)
    left = flat(shrunk.rounds)
    lead = (Message("user", (text("a summary"),)),) if left[0].role == "assistant" else ()
    assert history.violations((*lead, *left)) == ()


@given(messages=conversations(), budget=budgets)
def test_what_is_left_is_the_newest_part_in_its_order(messages: tuple[Message, ...], budget: int) -> None:
    rounds = history.steps(messages)
    shrunk = shrink(rounds, budget, characters)
    assert len(shrunk.rounds) + shrunk.dropped == len(rounds)
    expected = [outline(message) for message in flat(rounds[shrunk.dropped :])]
    assert [outline(message) for message in flat(shrunk.rounds)] == expected


@given(messages=conversations(), budget=budgets)
def test_a_conversation_that_fits_is_left_as_it_is_and_so_is_one_that_was_made_to_fit(
    messages: tuple[Message, ...], budget: int
) -> None:
    rounds = history.steps(messages)
    once = shrink(rounds, budget, characters)
    if total(rounds) <= budget:
        assert (once.rounds, once.dropped, once.cut) == (rounds, 0, 0)
    if total(once.rounds) <= budget:
        again = shrink(once.rounds, budget, characters)
        assert (again.rounds, again.dropped, again.cut) == (once.rounds, 0, 0)


@given(messages=conversations(), budget=budgets)
def test_it_is_the_same_every_time_never_longer_and_changes_nothing_in_place(
    messages: tuple[Message, ...], budget: int
) -> None:
    before, rounds = repr(messages), history.steps(messages)
    assert shrink(rounds, budget, characters) == shrink(rounds, budget, characters)
    assert total(shrink(rounds, budget, characters).rounds) <= total(rounds)
    assert repr(messages) == before


@given(messages=conversations())
def test_the_last_round_stays_whole_as_long_as_leaving_out_others_is_enough(messages: tuple[Message, ...]) -> None:
    rounds = history.steps(messages)
    shrunk = shrink(rounds, total(rounds[-1:]), characters)
    assert shrunk.rounds[-1] == rounds[-1]


def test_long_results_lose_their_middle_before_any_round_is_left_out() -> None:
    call = {"type": "tool_use", "id": "t1", "name": "bash", "input": {}}
    messages = (
        Message("user", (text("look"),)),
        Message("assistant", (call,)),
        Message("user", (result("t1", "x" * 50_000),)),
        Message("assistant", (text("done"),)),
        Message("user", (text("and now?"),)),
    )
    shrunk = shrink(history.steps(messages), 10_000, characters)
    assert (shrunk.dropped, shrunk.cut) == (0, 8_000)


@given(words=st.text(max_size=400), length=st.integers(1, 300))
def test_a_cut_text_keeps_both_ends_says_how_much_is_gone_and_is_never_longer(words: str, length: int) -> None:
    cut = middle_cut(words, length)
    assert len(cut) <= len(words)
    if cut != words:
        head, tail = int(length * 0.6), length - int(length * 0.6)
        assert cut.startswith(words[:head])
        assert cut.endswith(words[len(words) - tail :])
        assert f"{len(words) - length:,} characters left out" in cut


# ── draining ────────────────────────────────────────────────────────────────────────────────────


def tool_rounds(lengths: Sequence[int]) -> tuple[Round, ...]:
    """One round for each result of such a length."""
    messages = [Message("user", (text("begin"),))]
    for number, length in enumerate(lengths):
        use = {"type": "tool_use", "id": f"t{number}", "name": "bash", "input": {}}
        messages += [Message("assistant", (use,)), Message("user", (result(f"t{number}", "x" * length),))]
    return history.steps(messages)


@given(lengths=st.lists(st.sampled_from([10, 2_000, 2_001, 50_000]), max_size=15), keep_last=st.integers(0, 6))
def test_old_long_results_can_be_drained_oldest_first_and_the_newest_stay(lengths: list[int], keep_last: int) -> None:
    long = [f"t{number}" for number, length in enumerate(lengths) if length > 2_000]
    old = long[: max(0, len(long) - keep_last)]
    assert drainable(tool_rounds(lengths), keep_last) == tuple(name for name in old if name != f"t{len(lengths) - 1}")


@given(
    kinds=st.lists(st.sampled_from(["prompt", "calls", "answer", "news"]), min_size=1, max_size=12),
    keep_last=st.integers(0, 3),
)
def test_an_unanswered_call_is_never_drained_whatever_follows_it(kinds: list[str], keep_last: int) -> None:
    messages: list[Message] = [Message("user", (text("begin"),))]
    for number, kind in enumerate(kinds):
        if kind == "calls":
            ids = [f"t{number}{letter}" for letter in "abcd"]
            uses = [{"type": "tool_use", "id": name, "name": "bash", "input": {}} for name in ids]
            messages.append(Message("assistant", tuple(uses)))
            messages.append(Message("user", tuple(result(name, "x" * 9_000) for name in ids)))
        else:
            messages.append(Message("assistant" if kind == "answer" else "user", (text(kind),)))
    read = max((at for at, message in enumerate(messages) if message.role == "assistant"), default=0)
    unread = {block.get("tool_use_id") for message in messages[read:] for block in message.content} - {None}
    assert not unread & set(drainable(history.steps(messages), keep_last))
    joined = joined_end(history.steps(messages))
    assert flat(joined) == tuple(messages)
    assert unread <= {block.get("tool_use_id") for message in joined[-1] for block in message.content}
    cut = shrink(joined, 0, characters)
    assert unread <= {block.get("tool_use_id") for message in flat(cut.rounds) for block in message.content}
