"""A reply while it is streamed: its visible text and its outcome."""

import pytest

from harness.engine.model.streamed_reply import UNIT_CHARACTERS, StreamedReply
from harness.events import Block, Event, Fault, FaultKind, Outcome, Reply, SilenceEnded, TextDelta, Usage

KEPT = "The quick brown fox jumps over the lazy dog"
CALL: Block = {"type": "tool_use", "id": "toolu_1", "name": "bash", "input": {}}


def text(words: str) -> Block:
    return {"type": "text", "text": words}


def reply(*content: Block) -> Reply:
    return Reply(content=content, calls=(), cut_calls=(), stop_reason="end_turn", usage=Usage(), model="m")


def shown(seen: list[Event]) -> str:
    return "".join(event.text for event in seen if isinstance(event, TextDelta))


@pytest.mark.parametrize(
    ("outcome", "left"),
    [
        (reply(text(f"{KEPT}, and runs."), CALL), (text(", and runs."), CALL)),
        (reply(CALL, text(KEPT[:20]), text(f"{KEPT[20:]} Yes.")), (CALL, text(" Yes."))),
        (Fault(FaultKind.NETWORK, "gone", kept=(text(f"{KEPT}, and"),)), (text(", and"),)),
    ],
    ids=["one block", "two blocks", "a fault"],
)
def test_a_continuation_loses_what_the_answer_holds_in_events_and_outcome(
    outcome: Outcome, left: tuple[Block, ...]
) -> None:
    seen: list[Event] = []
    stream = StreamedReply(seen.append, watched=False, kept=KEPT)
    content = outcome.content if isinstance(outcome, Reply) else outcome.kept
    for block in content:
        for character in str(block.get("text", "")):
            stream.show(TextDelta(character))
    ended = stream.ended(outcome)
    assert (ended.content if isinstance(ended, Reply) else ended.kept) == left
    assert shown(seen) == "".join(str(block.get("text", "")) for block in left)
    assert stream.characters == len(shown(seen))


@pytest.mark.parametrize(("stop_reason", "rest"), [(None, ""), ("max_tokens", "The quick")])
def test_the_beginning_of_a_repetition_counts_only_in_a_reply_that_ended(stop_reason: str | None, rest: str) -> None:
    seen: list[Event] = []
    stream = StreamedReply(seen.append, watched=False, kept=KEPT)
    stream.show(TextDelta("The quick"))
    assert seen == []
    stream.ended(Fault(FaultKind.NETWORK, "gone", kept=(text("The quick"),), stop_reason=stop_reason))
    assert shown(seen) == rest


@pytest.mark.parametrize("watched", [True, False])
def test_only_a_watched_reply_that_repeats_itself_is_enough(watched: bool) -> None:
    seen: list[Event] = []
    stream = StreamedReply(seen.append, watched=watched)
    unit = "All work and no play makes Jack a dull boy, said the writer once more to himself.\n"
    told = ""
    while not stream.enough.is_set() and len(told) < 100_000:
        told += unit
        stream.show(TextDelta(unit))
    assert stream.enough.is_set() == watched
    assert shown(seen) == told
    fault = Fault(FaultKind.REPETITION, "cut", kept=(text(told), CALL))
    ended = stream.ended(fault)
    assert isinstance(ended, Fault)
    if not watched:
        assert ended == fault
        return
    kept, call = ended.kept
    assert call == CALL
    assert told.startswith(str(kept["text"]))
    assert 0 < len(str(kept["text"])) <= 2 * len(unit)
    assert ended.message.startswith("the reply repeated itself, ")
    assert len(ended.message.partition("times ")[2]) <= UNIT_CHARACTERS + 2
    assert "All work and no play" in ended.message or "makes Jack" in ended.message
    other = Fault(FaultKind.NETWORK, "gone", kept=(text(told),))
    assert stream.without_repeats(other) == other


def test_other_events_pass_at_once() -> None:
    seen: list[Event] = []
    StreamedReply(seen.append, watched=True, kept=KEPT).show(SilenceEnded())
    assert seen == [SilenceEnded()]
