"""Whole streams against the SDK's own accumulator, broken and odd ones against the rules of api R17 and R18."""

import itertools
import json
from array import array
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.events import Json, Reply, TextDelta, ThinkingDelta, ToolCall, ToolCallDelta, Usage
from harness.model.accumulator import Accumulator, BrokenStream

Events = list[tuple[str, Json]]

USAGE = {"input_tokens": 10, "output_tokens": 1, "cache_creation_input_tokens": 2, "cache_read_input_tokens": 3}


def message_start(id: str | None = "msg_1") -> tuple[str, Json]:
    message: Json = {
        "id": id,
        "type": "message",
        "role": "assistant",
        "model": "practice-1",
        "content": [],
        "stop_reason": None,
        "stop_sequence": None,
        "usage": USAGE,
    }
    return "message_start", {"type": "message_start", "message": message}


def start(index: int, **block: Any) -> tuple[str, Json]:
    return "content_block_start", {"type": "content_block_start", "index": index, "content_block": block}


def delta(index: int, **delta: Any) -> tuple[str, Json]:
    return "content_block_delta", {"type": "content_block_delta", "index": index, "delta": delta}


def stop(index: int) -> tuple[str, Json]:
    return "content_block_stop", {"type": "content_block_stop", "index": index}


def end(reason: str | None, output_tokens: int = 7) -> Events:
    changed = {"stop_reason": reason, "stop_sequence": None}
    return [
        ("message_delta", {"type": "message_delta", "delta": changed, "usage": {"output_tokens": output_tokens}}),
        ("message_stop", {"type": "message_stop"}),
    ]


def tool(index: int, *pieces: str, id: str = "toolu_1", name: str = "bash", closed: bool = True) -> Events:
    events = [start(index, type="tool_use", id=id, name=name, input={})]
    events += [delta(index, type="input_json_delta", partial_json=piece) for piece in pieces]
    return [*events, stop(index)] if closed else events


def text(index: int, *pieces: str, closed: bool = True) -> Events:
    events = [start(index, type="text", text="")]
    events += [delta(index, type="text_delta", text=piece) for piece in pieces]
    return [*events, stop(index)] if closed else events


def thinking(index: int, thought: str, signature: str | None) -> Events:
    events = [start(index, type="thinking", thinking="", signature="")]
    events.append(delta(index, type="thinking_delta", thinking=thought))
    if signature is not None:
        events.append(delta(index, type="signature_delta", signature=signature))
    return [*events, stop(index)]


def accumulated(events: Sequence[tuple[str, Json]]) -> Accumulator:
    accumulator = Accumulator()
    for name, data in events:
        accumulator.feed(name, data)
    return accumulator


# --- whole streams -------------------------------------------------------------------------------

texts = st.text('ab "\\\n{}[]:,é漢😀', max_size=30)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**40), 2**40) | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)


@st.composite
def pieces(draw: st.DrawFn, whole: str) -> list[str]:
    cuts = sorted(draw(st.lists(st.integers(0, len(whole)), max_size=5)))
    edges = [0, *cuts, len(whole)]
    return [whole[left:right] for left, right in itertools.pairwise(edges)]


@st.composite
def whole_streams(draw: st.DrawFn) -> tuple[Events, str]:
    events, reasons = [message_start()], ["end_turn", "stop_sequence", "pause_turn"]
    for index in range(draw(st.integers(0, 4))):
        match draw(st.sampled_from(["text", "tool", "thinking"])):
            case "text":
                events += text(index, *draw(pieces(draw(texts))))
            case "tool":
                reasons = ["tool_use"]
                input_json = json.dumps(draw(st.dictionaries(texts, json_values, max_size=3)))
                events += tool(index, *draw(pieces(input_json)), id=f"toolu_{index}")
            case _:
                events += thinking(index, draw(texts), draw(st.text("abc=", min_size=1, max_size=6)))
        if draw(st.booleans()):
            events.append(("ping", {"type": "ping"}))
    reason = draw(st.sampled_from(reasons))
    return [*events, *end(reason, draw(st.integers(0, 10**6)))], reason


def accumulated_by_the_sdk(events: Events) -> Json:
    from anthropic.lib.streaming._messages import accumulate_event

    snapshot: Any = None
    buffers: dict[int, bytes] = {}
    for name, data in events:
        if name not in ("ping", "message_stop"):
            event: Any = data
            if snapshot is None:
                from anthropic.types import RawMessageStartEvent

                event = RawMessageStartEvent.model_validate(data)
            snapshot = accumulate_event(event=event, current_snapshot=snapshot, json_bufs=buffers)
    result: Json = snapshot.to_dict()
    return result


@settings(deadline=None)
@given(whole_streams())
def test_a_whole_stream_gives_what_the_sdk_makes_of_it(stream: tuple[Events, str]) -> None:
    events, reason = stream
    theirs, ours = accumulated_by_the_sdk(events), accumulated(events).reply("req_1")
    assert list(ours.content) == theirs["content"]
    assert ours.stop_reason == theirs["stop_reason"] == reason
    assert ours.model == theirs["model"]
    assert ours.usage == Usage(10, theirs["usage"]["output_tokens"], 2, 3)
    assert [(call.id, call.input) for call in ours.calls] == [
        (block["id"], block["input"]) for block in theirs["content"] if block["type"] == "tool_use"
    ]
    assert ours.cut_calls == ()


@given(whole_streams(), st.data())
def test_a_prefix_of_a_stream_keeps_only_blocks_of_the_whole_and_runs_none_that_was_cut(
    stream: tuple[Events, str], data: st.DataObject
) -> None:
    events, _ = stream
    whole = accumulated(events).reply()
    cut = accumulated(events[: data.draw(st.integers(0, len(events) - 1))])
    assert not cut.complete
    kept, calls = cut.kept()
    remaining = iter(whole.content)
    assert all(block in remaining for block in kept)
    assert set(map(repr, calls)) <= set(map(repr, whole.calls))
    assert [block["id"] for block in kept if block["type"] == "tool_use"] == [call.id for call in calls]


def test_pieces_are_shown_as_they_arrive() -> None:
    accumulator = Accumulator()
    events = [message_start(), *text(0, "he", "", "llo"), *thinking(1, "hm", "s"), *tool(2, "", '{"a":', "1}")]
    shown = [event for name, data in events if (event := accumulator.feed(name, data)) is not None]
    assert shown == [
        TextDelta("he"),
        TextDelta("llo"),
        ThinkingDelta("hm"),
        ToolCallDelta("bash", 0),
        ToolCallDelta("bash", 0),
        ToolCallDelta("bash", 5),
        ToolCallDelta("bash", 7),
    ]
    assert accumulator.shown_characters == 5


def test_the_phase_follows_the_open_block() -> None:
    accumulator = Accumulator()
    phases = []
    for name, data in [message_start(), *thinking(0, "hm", "s"), *text(1, "x"), *tool(2, "{}")]:
        accumulator.feed(name, data)
        phases.append(accumulator.phase)
    in_thinking, in_block = ["thinking"] * 3, ["content"] * 2
    assert phases == ["waiting", *in_thinking, "waiting", *in_block, "waiting", *in_block, "waiting"]


def test_ten_thousand_pieces_make_one_input() -> None:
    accumulator = accumulated([message_start(), *tool(0, *(['{"a":"'] + ["x"] * 10_000 + ['"}'])), *end("tool_use")])
    assert accumulator.reply().calls == (ToolCall("toolu_1", "bash", {"a": "x" * 10_000}),)


def test_unknown_fields_and_the_order_of_keys_survive() -> None:
    block = {"id": "toolu_1", "caller": {"type": "direct"}, "type": "tool_use", "input": {}, "name": "bash"}
    events = [message_start(), start(0, **block), delta(0, type="input_json_delta", partial_json="{}"), stop(0)]
    (received,) = accumulated([*events, *end("tool_use")]).reply().content
    assert list(received.items()) == list(block.items())


def test_unknown_events_deltas_and_blocks_are_no_error() -> None:
    strange = {"type": "hologram", "depth": 3}
    events = [
        message_start(),
        ("weather", {"sunny": True}),
        start(0, **strange),
        delta(0, type="hologram_delta", photons=1),
        stop(0),
        *text(1, "hi"),
        *end("brand_new_reason"),
    ]
    reply = accumulated(events).reply()
    assert reply.content == (strange, {"type": "text", "text": "hi"})
    assert reply.stop_reason == "brand_new_reason"


def test_usage_counts_are_totals() -> None:
    events = [message_start(), *end("end_turn", 5)]
    events[1][1]["usage"]["input_tokens"] = 11
    assert accumulated(events).usage == Usage(11, 5, 2, 3)


def test_words_and_counts_of_a_server_that_went_wrong_stay_short() -> None:
    long = "x" * 5_000_000
    name, begun = message_start()
    counts = {"input_tokens": 10**4_000, "cache_read_input_tokens": -1, "output_tokens": 3, "speed": long}
    begun["message"] |= {"id": long, "model": long, "usage": counts}
    reply = accumulated([(name, begun), *tool(0, "{}", id=long, name=long), *end(long)]).reply()
    assert reply.calls[0].name == long[:128]
    assert len(repr(reply)) < 50_000
    assert reply.usage == Usage(output=7, speed=long[:128])


def test_the_reason_of_a_refusal_travels_with_the_reply() -> None:
    events = [message_start(), *end("refusal")]
    events[1][1]["delta"]["stop_details"] = {"category": "bio", "explanation": "no"}
    assert accumulated(events).reply().stop_details == {"category": "bio", "explanation": "no"}


# --- contradictions ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "events",
    [
        [message_start(), message_start("msg_2")],
        [message_start(), *text(0, "x"), message_start(), *text(0, "x")],
        [message_start(), *tool(0, "{}", closed=False), start(0, type="tool_use", id="toolu_2", name="bash", input={})],
        [message_start(), start(0, type="text", text=""), start(0, type="tool_use", id="t", name="bash", input={})],
        [message_start(), *text(0, "x", closed=False), start(0, type="text", text="")],
        [message_start(), delta(0, type="text_delta", text="x")],
        [message_start(), *text(0, "x"), delta(0, type="text_delta", text="y")],
        [message_start(), *tool(0, "{", closed=False), start(0, type="text", text="")],
        [message_start(), ("content_block_start", {"index": "0", "content_block": {"type": "text"}})],
        [message_start(), ("content_block_start", {"index": 0, "content_block": None})],
    ],
)
def test_events_that_contradict_each_other_break_the_stream(events: Events) -> None:
    with pytest.raises(BrokenStream):
        accumulated(events)


def test_a_stream_is_complete_with_message_stop_and_only_then() -> None:
    assert accumulated([message_start(), *text(0, "x"), *end("end_turn")]).complete
    assert not accumulated([message_start(), *text(0, "x"), *end("end_turn")[:1]]).complete
    assert not accumulated(end("end_turn")).complete
    with pytest.raises(ValueError, match="not complete"):
        accumulated([message_start()]).reply()


@pytest.mark.parametrize("reason", [None, ""])
def test_a_message_without_a_stop_reason_has_the_one_that_it_amounts_to(reason: str | None) -> None:
    assert accumulated([message_start(), *text(0, "x"), *end(reason)]).reply().stop_reason == "end_turn"
    assert accumulated([message_start(), *tool(0, "{}"), *end(reason)]).reply().stop_reason == "tool_use"


def test_a_block_without_a_message_and_the_index_of_a_closed_block_are_taken() -> None:
    reply = accumulated([*text(0, "x"), *text(0, "y"), *end("end_turn")]).reply()
    assert reply.text == "xy"


@given(st.data())
def test_the_end_of_a_block_that_is_not_open_changes_nothing(data: st.DataObject) -> None:
    events = [message_start(), *text(0, "a", "b"), *tool(1, '{"n":', "1}"), *text(2, "c"), *end("tool_use")]
    stray = list(events)
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(1, len(stray)))
        closed = set(range(10)) - _open(stray[:at])
        stray.insert(at, stop(data.draw(st.sampled_from(sorted(closed)))))
    assert accumulated(stray).reply() == accumulated(events).reply()


@settings(deadline=None)
@given(whole_streams(), st.data())
def test_a_repeated_event_changes_nothing_or_breaks_the_stream(stream: tuple[Events, str], data: st.DataObject) -> None:
    events = stream[0]
    once, repeated = accumulated(events).reply(), list(events)
    marks = [event for event in events if event[0] != "content_block_delta"]
    for event in data.draw(st.lists(st.sampled_from(marks), min_size=1, max_size=6)):
        repeated.insert(data.draw(st.integers(repeated.index(event) + 1, len(repeated))), event)
    assert _reply_or_broken(repeated) in (once, None)


@settings(deadline=None)
@given(whole_streams(), st.data())
def test_a_part_that_is_sent_again_is_no_second_text_or_call(stream: tuple[Events, str], data: st.DataObject) -> None:
    """A part begins with the start of a block or of the message. Two equal pieces of one block are no repetition."""
    events = stream[0]
    begins = [at for at, event in enumerate(events) if event[0].endswith("_start")]
    begin = data.draw(st.sampled_from(begins))
    end_at = data.draw(st.integers(begin + 1, len(events)))
    repeated = [*events[:end_at], *events[begin:end_at], *events[end_at:]]
    once, reply = accumulated(events).reply(), _reply_or_broken(repeated)
    assert reply in (once, None)


def _reply_or_broken(events: Events) -> Reply | None:
    accumulator = Accumulator()
    try:
        for event in events:
            if not accumulator.complete:  # nothing after the end is read
                accumulator.feed(*event)
    except BrokenStream:
        return None
    return accumulator.reply()


@pytest.mark.parametrize("id", ["msg_1", None])
def test_each_event_but_a_piece_may_come_twice(id: str | None) -> None:
    parts = [*thinking(0, "hm", "sig"), *text(1, "hel", "lo"), *tool(2, '{"n":', "1}")]
    events = [message_start(id), *parts, *end("tool_use")]
    twice = [again for event in events for again in [event] * (1 if event[0] == "content_block_delta" else 2)]
    shown = [accumulator.feed(*event) for accumulator in [Accumulator()] for event in twice]
    assert "".join(event.text for event in shown if isinstance(event, TextDelta)) == "hello"
    assert _reply_or_broken(twice) == accumulated(events).reply()


def test_a_call_that_comes_twice_with_its_id_is_one_call() -> None:
    call = tool(0, '{"n":1}')
    for again in (call, tool(1, '{"n": 1}')):
        reply = accumulated([message_start(), *call, *again, *end("tool_use")]).reply()
        assert reply.calls == (ToolCall("toolu_1", "bash", {"n": 1}),)
        assert len(reply.content) == 1


def _open(events: Events) -> set[int]:
    """The indices of the blocks that are open after these events."""
    indices: set[int] = set()
    for name, event in events:
        if name == "content_block_start":
            indices.add(event["index"])
        elif name == "content_block_stop":
            indices.discard(event["index"])
    return indices


@given(words=st.text(st.sampled_from("ab😀漢"), max_size=8), cuts=st.sets(st.integers(0, 16)))
def test_a_surrogate_pair_is_one_character_wherever_it_is_cut(words: str, cuts: set[int]) -> None:
    halves = [chr(unit) for unit in array("H", words.encode("utf-16-le"))]
    pieces = ["".join(halves[a:b]) for a, b in pairwise([0, *sorted(cut for cut in cuts if cut < len(halves)), 99])]
    accumulator = Accumulator()
    shown = [accumulator.feed(*event) for event in [message_start(), *text(0, *pieces), *end("end_turn")]]
    assert "".join(event.text for event in shown if isinstance(event, TextDelta)) == words
    assert accumulator.reply().text == words


def test_half_a_surrogate_pair_is_shown_and_kept_as_a_mark() -> None:
    pieces = ["a\ud83d", "b\ude00", "c\ud83d"]
    accumulator = Accumulator()
    shown = [accumulator.feed(*event) for event in [message_start(), *text(0, *pieces), *end("end_turn")]]
    assert "".join(event.text for event in shown if isinstance(event, TextDelta)) == "a�b�c�"
    assert accumulator.reply().text == "a�b�c�"
    assert accumulator.shown_characters == 6


# --- which calls may run -------------------------------------------------------------------------

CUT_INPUTS = {
    "cut in a value": ['{"path":"a.py","content":"def f('],
    "cut after a key": ['{"path"'],
    "cut number": ['{"n": 12'],
    "invalid": ['{"path": }'],
    "array": ["[1, 2]"],
    "string": ['"rm -rf /"'],
    "two objects": ["{}{}"],
    "repeated key": ['{"command": "ls", "command": "rm"}'],
    "repeated key inside": ['{"edits": [{"a": 1, "a": 2}]}'],
    "not a number": ['{"n": NaN}'],
    "too deep": ["[" * 100_000],
}


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("null", "its input is null, not a JSON object"),
        ('""', "its input is an empty text, not a JSON object"),
        ("[]", "its input is an empty list, not a JSON object"),
        ("[1]", "its input is a list, not a JSON object"),
        ("7", "its input is a number, not a JSON object"),
        ("false", "its input is true or false, not a JSON object"),
        ('"{}"', "its input is a text, not a JSON object"),
        ('{"path": }', "its input is not valid JSON: Expecting value: line 1 column 10 (char 9)"),
        ("{'path': 1}", "Expecting property name enclosed in double quotes"),
        ("{}{}", "Extra data"),
        ('{"n": ' + "9" * 5_000 + "}", "a number that is too long"),
    ],
)
def test_an_input_of_another_form_is_named_and_not_taken_for_one_that_was_cut(given: str, why: str) -> None:
    replies = [accumulated([message_start(), *tool(0, given), *end("tool_use")]).reply()]
    if given[0] not in "{'":
        whole_input = start(0, type="tool_use", id="toolu_1", name="bash", input=json.loads(given))
        replies.append(accumulated([message_start(), whole_input, stop(0), *end("tool_use")]).reply())
    for reply in replies:
        (call,) = reply.cut_calls
        assert why in call.why
        assert call.whole


@pytest.mark.parametrize("name", ["cut in a value", "cut after a key", "cut number"])
def test_an_input_that_ends_too_early_was_cut(name: str) -> None:
    (call,) = accumulated([message_start(), *tool(0, *CUT_INPUTS[name]), *end("tool_use")]).reply().cut_calls
    assert not call.whole


@pytest.mark.parametrize("name", CUT_INPUTS)
def test_a_call_whose_input_is_not_a_strict_object_never_runs(name: str) -> None:
    reply = accumulated([message_start(), *tool(0, *CUT_INPUTS[name]), *end("tool_use")]).reply()
    assert reply.calls == ()
    assert reply.content == ()
    assert [(call.id, call.name) for call in reply.cut_calls] == [("toolu_1", "bash")]
    assert accumulated([message_start(), *tool(0, *CUT_INPUTS[name])]).kept() == ((), ())


def test_a_call_that_was_not_closed_runs_if_its_message_ends_and_its_input_is_whole() -> None:
    open_call = [message_start(), *tool(0, '{"a": 1}', closed=False)]
    assert accumulated([*open_call, *end("tool_use")]).reply().calls == (ToolCall("toolu_1", "bash", {"a": 1}),)
    assert accumulated(open_call).kept() == ((), ())
    assert accumulated([*open_call, *end("max_tokens")]).reply().calls == ()
    reply = accumulated([message_start(), *tool(0, closed=False), *end("tool_use")]).reply()
    assert (reply.calls, reply.content) == ((), ())
    assert "broke off" in reply.cut_calls[0].why


def test_a_call_without_name_never_runs() -> None:
    reply = accumulated([message_start(), *tool(0, "{}", name=""), *end("tool_use")]).reply()
    assert (reply.calls, len(reply.cut_calls)) == ((), 1)


@pytest.mark.parametrize("given_id", ["", None, 7, "not:valid", "toolu_0", "toolu_1"])
def test_a_call_without_an_id_of_its_own_gets_one_of_ours(given_id: object) -> None:
    accumulator = Accumulator(taken=["toolu_0"], new_id=lambda: "ours")
    second = [(name, _with_id(event, given_id)) for name, event in tool(1, '{"n":2}')]
    for event in [message_start(), *tool(0, '{"n":1}'), *second, *end("tool_use")]:
        accumulator.feed(*event)
    reply = accumulator.reply()
    assert reply.calls == (ToolCall("toolu_1", "bash", {"n": 1}), ToolCall("ours", "bash", {"n": 2}))
    assert [block["id"] for block in reply.content] == ["toolu_1", "ours"]


def _with_id(event: Json, given_id: object) -> Json:
    block = event.get("content_block")
    return event if block is None else {**event, "content_block": {**block, "id": given_id}}


def test_a_call_without_arguments_runs_only_in_a_complete_message() -> None:
    whole = [message_start(), *tool(0), *end("tool_use")]
    assert accumulated(whole).reply().calls == (ToolCall("toolu_1", "bash", {}),)
    assert accumulated(whole[:-1]).kept() == ((), ())
    assert accumulated(whole[:-2]).kept() == ((), ())


@pytest.mark.parametrize("reason", ["max_tokens", "model_context_window_exceeded"])
@pytest.mark.parametrize("last", [[], ['{"n":2}']])
def test_at_a_limit_the_last_call_never_runs_and_earlier_ones_may(
    reason: Literal["max_tokens"], last: list[str]
) -> None:
    events = [message_start(), *tool(0, '{"n":1}', id="a"), *tool(1, *last, id="b"), *text(2, "x"), *end(reason)]
    reply = accumulated(events).reply()
    assert [call.id for call in reply.calls] == ["a"]
    assert [call.id for call in reply.cut_calls] == ["b"]
    assert [block.get("id") for block in reply.content] == ["a", None]


@pytest.mark.parametrize("reason", ["end_turn", "stop_sequence", "pause_turn", "tool_calls", "something_new", "", None])
def test_after_any_other_reason_every_whole_call_runs(reason: str | None) -> None:
    events = [message_start(), *tool(0, "{}", id="a"), *tool(1, "{", id="b"), *tool(2, id="c"), *end(reason)]
    reply = accumulated(events).reply()
    assert [call.id for call in reply.calls] == ["a", "c"]
    assert [call.id for call in reply.cut_calls] == ["b"]


@pytest.mark.parametrize("reason", ["refusal", "content_filter"])
def test_after_a_refusal_no_call_runs(reason: str) -> None:
    reply = accumulated([message_start(), *tool(0, "{}", id="a"), *tool(1, "{}", id="b"), *end(reason)]).reply()
    assert (reply.stop_reason, reply.calls, reply.content) == ("refusal", (), ())
    assert len(reply.cut_calls) == 2


# --- what is kept --------------------------------------------------------------------------------


def test_thinking_without_a_signature_is_left_out() -> None:
    events = [message_start(), *thinking(0, "hm", None), *text(1, "x"), *end("end_turn")]
    assert accumulated(events).reply().content == ({"type": "text", "text": "x"},)


def test_of_a_broken_stream_whole_text_calls_and_signed_thinking_are_kept() -> None:
    events = [
        message_start(),
        *thinking(0, "signed", "sig"),
        *thinking(1, "unsigned", None),
        *text(2, "said"),
        *text(3, " \n"),
        *tool(4, '{"a": 1}', id="whole"),
        *thinking(5, "after", "sig"),
        *tool(6, '{"a": ', id="cut", closed=False),
    ]
    kept, calls = accumulated(events).kept()
    assert [block["type"] for block in kept] == ["thinking", "text", "tool_use"]
    assert calls == (ToolCall("whole", "bash", {"a": 1}),)


def test_thinking_alone_is_not_kept() -> None:
    assert accumulated([message_start(), *thinking(0, "signed", "sig")]).kept() == ((), ())


def test_an_interrupt_keeps_the_text_that_was_being_written() -> None:
    events = [message_start(), *text(0, "half a sen", closed=False)]
    assert accumulated(events).kept() == ((), ())
    assert accumulated(events).kept(open_text=True) == (({"type": "text", "text": "half a sen"},), ())


def test_text_that_was_never_closed_is_whole_when_another_block_begins() -> None:
    events = [message_start(), *text(0, "first, ", closed=False), *text(1, "second", closed=False), *end("end_turn")]
    assert accumulated(events).reply().text == "first, second"


def test_text_that_was_never_closed_is_whole_when_the_reason_of_the_end_is_known() -> None:
    events = [message_start(), *text(0, "first, ", closed=False), *text(1, "second", closed=False), *end("end_turn")]
    (first, second), _ = accumulated(events[:-1]).kept()
    assert (first["text"], second["text"]) == ("first, ", "second")
