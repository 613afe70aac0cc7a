"""What a conversation keeps when its history is replaced."""

import sys

from harness.engine.conversation import Conversation, ignore
from harness.events import Block, Event, Message, ThinkingOmitted

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
