"""Faults as acts, without a socket."""

import dataclasses
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.practice.faults import model_faults
from harness.practice.faults.model_faults import KINDS, StreamFault
from harness.practice.faults.player import FaultPlayer, ReplyEnd, Send, Silence
from harness.practice.wire.replies import Envelope, Frame, FrameReader, ScriptedReply, TextPart, ToolUse, frames

ENVELOPE = Envelope("msg_1", "practice-1", 10, 5, signatures=("", ""))
PLACED: dict[str, Any] = {
    kind: fault
    for kind, fault in KINDS.items()
    if "at" in {field.name for field in dataclasses.fields(fault)} and kind != "pings_only"
}
REPLY = ScriptedReply((TextPart("abcdefgh"), ToolUse("bash", {"command": "ls -l"}, "toolu_1")), chunk_size=4)


def events() -> list[Frame]:
    return list(frames(REPLY, ENVELOPE))


def played(fault: StreamFault | None, limit: int = 200) -> list[Send | Silence | ReplyEnd]:
    player = FaultPlayer(fault, "req_1")
    acts: list[Send | Silence | ReplyEnd] = []
    for event in events():
        for act in player.feed(event):
            acts.append(act)
            if len(acts) == limit:
                return acts
    return [*acts, *player.finish()]


def sent(fault: StreamFault | None) -> list[Frame]:
    reader = FrameReader()
    return [frame for act in played(fault) if isinstance(act, Send) for frame in reader.feed(act.data)]


def names(fault: StreamFault | None) -> list[str | None]:
    return [frame.name for frame in sent(fault)]


def test_without_a_fault_every_event_goes_out_and_the_body_ends() -> None:
    assert [frame.data for frame in sent(None)] == [frame.data for frame in events()]
    assert played(None)[-1] is ReplyEnd.FINISH


@pytest.mark.parametrize(
    ("fault", "last"),
    [
        (model_faults.Reset(3), ReplyEnd.RESET),
        (model_faults.CutChunk(3), ReplyEnd.CUT),
        (model_faults.ShortLength(3), ReplyEnd.CLOSE),
        (model_faults.CleanEnd(3), ReplyEnd.FINISH),
        (model_faults.CloseDelimited(3), ReplyEnd.FINISH),
    ],
)
def test_an_ending_comes_after_the_chosen_number_of_events(fault: StreamFault, last: ReplyEnd) -> None:
    assert played(fault)[-1] is last
    assert len(sent(fault)) == 3


def test_a_place_may_be_the_name_of_an_event() -> None:
    assert names(model_faults.CleanEnd("message_delta"))[-1] == "content_block_stop"
    assert names(model_faults.CleanEnd("message_stop"))[-1] == "message_delta"


def test_a_place_beyond_the_reply_is_just_before_message_stop() -> None:
    assert names(model_faults.Reset(500))[-1] == "message_delta"
    assert names(model_faults.ErrorEvent(500))[-2:] == ["message_delta", "error"]


def test_pings_continue_endlessly_or_end_after_a_count() -> None:
    assert len(played(model_faults.PingsOnly(1), limit=50)) == 50
    assert names(model_faults.PingsOnly(0, count=2)) == ["ping", "ping"]


def test_a_tool_call_is_cut_at_the_chosen_character() -> None:
    for ending, last in (("end", ReplyEnd.FINISH), ("reset", ReplyEnd.RESET), ("max_tokens", ReplyEnd.FINISH)):
        fault = model_faults.CutTool(7, ending)  # type: ignore[arg-type]
        pieces = [frame.data for frame in sent(fault) if "input_json_delta" in frame.data]
        assert "".join(piece.split('"partial_json":"')[1].split('"}}')[0] for piece in pieces) == '{\\"comma'
        assert played(fault)[-1] is last
    assert '"stop_reason":"max_tokens"' in sent(model_faults.CutTool(7))[-2].data
    assert '"stop_reason":"tool_use"' in sent(model_faults.CutTool(7, "silent"))[-2].data


def test_the_input_of_a_tool_call_can_be_any_text() -> None:
    pieces = [frame.data for frame in sent(model_faults.ToolJson("[1]")) if "input_json_delta" in frame.data]
    assert len(pieces) == 1
    assert '"partial_json":"[1]"' in pieces[0]


def test_every_fault_changes_what_goes_out() -> None:
    outside = {"json_body", "html_body", "close_delimited", "short_length"}
    usual = played(None, limit=50)
    assert [kind for kind in KINDS.keys() - outside if played(KINDS[kind](), limit=50) == usual] == []


@given(at=st.integers(0, 30), kind=st.sampled_from(sorted(PLACED)))
def test_a_fault_with_a_place_never_touches_what_came_before_it(at: int, kind: str) -> None:
    before = [frame.data for frame in sent(PLACED[kind](at=at))][:at]
    whole = [frame.data for frame in events()][:-1]
    assert before[: len(whole)] == whole[: len(before)]


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_strange_upstream_stream_does_not_break_a_fault(kind: str) -> None:
    player = FaultPlayer(KINDS[kind](), "req_1")
    for name in ("message_start", "content_block_start", "content_block_delta", None, "message_delta", "message_stop"):
        for data in ("{", "[]", "{}"):
            for count, _ in enumerate(player.feed(Frame(name, data))):
                if count > 3:
                    break
    assert player.ended or list(player.finish())[-1] is ReplyEnd.FINISH


@given(cuts=st.sets(st.integers(1, 1200), max_size=20), newline=st.sampled_from(["\n", "\r\n"]))
def test_events_are_read_back_however_the_bytes_are_cut(cuts: set[int], newline: str) -> None:
    stream = b"".join(event.encode(newline) for event in events())
    places = [0, *sorted(cuts), len(stream)]
    reader = FrameReader()
    read = [frame for start, end in pairwise(places) for frame in reader.feed(stream[start:end])]
    assert [(frame.name, frame.data) for frame in read] == [(frame.name, frame.data) for frame in events()]
    assert b"".join(frame.raw or b"" for frame in read) == stream
