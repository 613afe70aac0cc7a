"""What a conversation keeps when its history is replaced."""

import sys
from typing import Literal

import pytest

from harness.engine.conversation import Conversation, ignore
from harness.events import Block, Event, Message, Origin, ThinkingOmitted, TurnStarted
from harness.journal import Record, replay

THINKS: Block = {"type": "thinking", "thinking": "Hm.", "signature": "s"}


def conversation() -> Conversation:
    """One with thinking in its only reply."""
    question = Message("user", ({"type": "text", "text": "Why?"},))
    return Conversation(ignore, messages=(question, Message("assistant", (THINKS, {"type": "text", "text": "So."}))))


def test_thinking_that_is_left_out_for_good_stays_out_when_the_history_is_replaced() -> None:
    talk = conversation()
    talk.omit_thinking("the server rejected it", always=True)
    talk.replace(talk.messages[:1], "rewind")
    assert talk.plain_until == sys.maxsize


def test_after_a_replacement_the_border_of_left_out_thinking_moves_with_the_history() -> None:
    talk = conversation()
    talk.omit_thinking("another model")
    assert talk.plain_until == 2
    talk.replace(talk.messages[:1], "rewind")
    assert talk.plain_until == 1


def test_without_thinking_to_leave_out_only_what_follows_is_kept_plain() -> None:
    seen: list[Event] = []
    talk = Conversation(seen.append, messages=conversation().messages[:1])
    talk.omit_thinking("another model")
    assert (talk.plain_until, seen) == (0, [])
    talk.omit_thinking("the server rejected it", always=True)
    assert (talk.plain_until, seen) == (sys.maxsize, [ThinkingOmitted(None, "the server rejected it")])


def spoken() -> tuple[Conversation, list[Event]]:
    """Two turns with an answer each, and what was recorded."""
    seen: list[Event] = []
    talk = Conversation(seen.append)
    for turn, (prompt, answer) in enumerate([("first", "One."), ("second", "Two.")], start=1):
        talk.turn = turn
        talk.emit(TurnStarted(turn, prompt))
        talk.add("user", ({"type": "text", "text": prompt},), Origin.PROMPT)
        talk.add("assistant", ({"type": "text", "text": answer},), Origin.REPLY)
    return talk, seen


@pytest.mark.parametrize(
    ("messages", "reason", "left"),
    [
        (3, "rollback", ["first", "second"]),
        (2, "rewind", ["first"]),
        (1, "rollback", ["first"]),
        (0, "clear", []),
    ],
)
def test_a_prompt_can_be_rewound_to_exactly_as_long_as_it_is_in_the_history(
    messages: int, reason: Literal["rollback", "rewind", "clear"], left: list[str]
) -> None:
    talk, seen = spoken()
    talk.replace(talk.messages[:messages], reason)
    assert [point.prompt for point in talk.rewind_points] == left
    replayed = replay([Record(number, 0.0, event) for number, event in enumerate(seen, start=1)])
    assert replayed.rewind_points == talk.rewind_points
