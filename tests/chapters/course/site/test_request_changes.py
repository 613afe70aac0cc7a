"""What a page shows of a request: only the additions."""

from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from chapters.course import WireExchange
from chapters.course.site.request_changes import request_changes


def exchange(number: int, *texts: str, cached: bool = False, **fields: Any) -> WireExchange:
    """A request with a message for each text, the last one with a cache mark if `cached`."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": [{"type": "text", "text": text}]} for text in texts]
    if cached:
        messages[-1]["content"][0]["cache_control"] = {"type": "ephemeral"}
    sent = {"model": "practice-1", **fields, "messages": messages}
    empty = WireExchange(number, "", 0, len(messages), 0, "200", "", "", "", sent, ())
    return replace(empty, sent=sent)


def test_new_messages_and_changed_fields_are_reported_and_moved_cache_marks_are_not() -> None:
    first = exchange(1, "a", "b", cached=True, max_tokens=8, system="s")
    changes = request_changes(exchange(2, "a", "b", "c", cached=True, max_tokens=64, system="s"), [first])
    assert changes.before == first
    assert changes.same == ("model", "system")
    assert (changes.kept, changes.gone) == (2, 0)
    assert changes.new["max_tokens"] == 64
    assert [message["content"][0]["text"] for message in changes.new["messages"]] == ["c"]


def test_a_conversation_is_compared_with_itself() -> None:
    mine, other = exchange(1, "a"), exchange(2, "z")
    assert request_changes(exchange(3, "a", "b"), [mine, other]).before == mine
    fresh = exchange(3, "q")
    assert request_changes(fresh, [mine, other]).new == fresh.sent


@given(st.lists(st.sampled_from("ab"), max_size=5), st.lists(st.sampled_from("ab"), max_size=5))
def test_kept_and_new_messages_make_up_the_request(old: list[str], new: list[str]) -> None:
    changes = request_changes(exchange(2, "start", *new), [exchange(1, "start", *old)])
    shown = [message["content"][0]["text"] for message in changes.new.get("messages", [])]
    assert ["start", *old][: changes.kept] + shown == ["start", *new]
    assert changes.kept + changes.gone == len(old) + 1
    if changes.gone and shown:
        assert shown[0] != ["start", *old][changes.kept]
