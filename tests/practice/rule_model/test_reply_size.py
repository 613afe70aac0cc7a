"""Replies that need more tokens than their words have, whole and cut."""

from hypothesis import given
from hypothesis import strategies as st

from harness.events import Json
from harness.practice.checks.rules import Profile
from harness.practice.rule_model.reply_form import EFFORT_SHARES, is_cut, rest_of, sized
from harness.practice.script import Script
from harness.practice.script.entries import PlayReply, ScriptEntry
from harness.practice.script.playback import Playback
from harness.practice.wire.prepared_reply import ByteCounter
from harness.practice.wire.replies import ScriptedReply, TextPart, ThinkingPart, ToolUse

WORDS = "The note says forty-two, and there is nothing else in it at all."
COUNTER = ByteCounter()
SAID = COUNTER.count_text(WORDS)
NO_PROFILE = Profile()


def body(max_tokens: int, *messages: Json, **more: object) -> Json:
    prompt: Json = {"role": "user", "content": "Read the note."}
    return {"max_tokens": max_tokens, "messages": [prompt, *messages], **more}


def played(tokens: int | None, max_tokens: int, *, thinks: bool) -> ScriptedReply:
    reply = ScriptedReply((TextPart(WORDS),), tokens=tokens)
    return sized(reply, NO_PROFILE, body(max_tokens), COUNTER, thinks=thinks, shown=False)


@given(tokens=st.integers(1, 200_000), cap=st.integers(1, 200_000), thinks=st.booleans())
def test_a_reply_is_cut_exactly_when_it_needs_more_than_is_allowed(tokens: int, cap: int, *, thinks: bool) -> None:
    needed = max(tokens, SAID)
    reply = played(tokens, cap, thinks=thinks)
    assert (reply.ending == "max_tokens") is (needed > cap)
    assert reply.usage.output_tokens == min(needed, cap)
    text = "".join(part.text for part in reply.parts if isinstance(part, TextPart))
    assert WORDS.startswith(text)
    assert (text == WORDS) is (needed <= cap)
    thoughts = [part for part in reply.parts if isinstance(part, ThinkingPart)]
    assert len(thoughts) == thinks
    if thoughts and text:
        assert thoughts[0].signed, "text comes behind thinking that is whole"
    if thinks and cap <= needed - SAID:
        assert not thoughts[0].signed
        assert not text


def test_without_tokens_a_reply_is_played_as_it_is_written() -> None:
    assert played(None, 1, thinks=True) == ScriptedReply((TextPart(WORDS),))


def test_low_effort_needs_a_part_of_it() -> None:
    low = body(1_000, output_config={"effort": "low"})
    assert is_cut(ScriptedReply((TextPart(WORDS),), tokens=1_001), NO_PROFILE, body(1_000))
    assert not is_cut(ScriptedReply((TextPart(WORDS),), tokens=round(1_000 / EFFORT_SHARES["low"])), NO_PROFILE, low)


def test_the_profile_says_what_replies_need_that_do_not_say_it_and_what_summaries_need() -> None:
    profile, reply = Profile(tokens=5_000, summary_tokens=9_000), ScriptedReply((TextPart(WORDS),))
    assert is_cut(reply, profile, body(4_999))
    assert not is_cut(reply, profile, body(5_000))
    assert not is_cut(ScriptedReply((TextPart(WORDS),), tokens=10), profile, body(100))


def test_a_history_that_ends_with_the_beginning_of_a_reply_gets_the_rest() -> None:
    reply = ScriptedReply((TextPart("one two three four"), ToolUse("ls")), tokens=1_800)
    said: Json = {"role": "assistant", "content": [{"type": "text", "text": "one"}]}
    more: Json = {"role": "assistant", "content": [{"type": "text", "text": " two"}]}
    go_on: Json = {"role": "user", "content": "Go on."}
    rest = rest_of(reply, body(10, said, go_on, more, go_on))
    assert rest.parts == (TextPart(" three four"), ToolUse("ls"))
    assert rest.tokens == 1_100
    assert rest_of(reply, body(10)) == reply


def test_an_entry_that_was_cut_answers_again_until_it_is_whole() -> None:
    first = PlayReply(ScriptedReply((TextPart(WORDS),), tokens=10_000))
    second = PlayReply(ScriptedReply((TextPart("Next."),)))
    playback = Playback(Script((ScriptEntry(first), ScriptEntry(second))))
    assert [playback.next(body(cap)) for cap in (8_000, 8_000, 10_000, 8_000)] == [first, first, first, second]
