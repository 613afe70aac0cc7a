"""A reply that needs more tokens than its words have: most of it is thinking, and `max_tokens` may cut it.

Current models write thousands of tokens of which little arrives: thinking counts as output, and by default its text is
left out. A script says how many tokens a reply needs; nothing so long is sent, only counted.
"""

from collections.abc import Iterator
from dataclasses import replace
from itertools import takewhile
from types import MappingProxyType

from harness.events import Json
from harness.practice.replies import Part, ScriptedReply, Text, Thinking
from harness.practice.reply_form import limited
from harness.practice.requests import Purpose, blocks, purpose
from harness.practice.rules import Profile
from harness.practice.token_count import Counter, part_tokens

EFFORT_SHARES = MappingProxyType({"low": 0.25, "medium": 0.5, "high": 1.0, "xhigh": 2.0, "max": 4.0})
"""What a reply needs with an effort, of what it needs without one."""
THOUGHT = "Many thoughts, which are counted and not sent."


def needed_tokens(reply: ScriptedReply, profile: Profile, body: Json) -> int | None:
    """Output tokens that the reply to a request needs; None: as many as its words have."""
    needed = reply.tokens
    if needed is None:
        needed = profile.summary_tokens if purpose(body) is Purpose.SUMMARY else profile.tokens
    config = body.get("output_config")
    share = EFFORT_SHARES.get(str(config.get("effort")), 1.0) if isinstance(config, dict) else 1.0
    return None if needed is None else int(needed * share)


def is_cut(reply: ScriptedReply, profile: Profile, body: Json) -> bool:
    """The reply needs more tokens than the request allows."""
    needed, cap = needed_tokens(rest_of(reply, body), profile, body), body.get("max_tokens")
    return needed is not None and isinstance(cap, int) and needed > cap


def sized(
    reply: ScriptedReply, profile: Profile, body: Json, counter: Counter, *, thinks: bool, shown: bool
) -> ScriptedReply:
    """The reply at the size that it needs: thinking before it if the model thinks, cut where `max_tokens` ends it.

    Args:
        thinks: the model thinks about this request.
        shown: the text of thinking is sent.
    """
    needed = needed_tokens(reply, profile, body)
    if needed is None:
        return reply
    thought = next((part for part in reply.parts if isinstance(part, Thinking)), Thinking(THOUGHT))
    thought = replace(thought, shown=thought.shown and shown)
    spoken = replace(reply, parts=tuple(part for part in reply.parts if not isinstance(part, Thinking)))
    said = sum(part_tokens(counter, part) for part in spoken.parts)
    needed = max(needed, said)
    lead: tuple[Part, ...] = (thought,) if thinks else ()
    cap = body.get("max_tokens")
    if not isinstance(cap, int) or cap >= needed:
        return _counted(replace(spoken, parts=(*lead, *spoken.parts)), needed)
    room = cap - (needed - said) if thinks else said * cap // needed
    if thinks and room <= 0:
        only = (replace(thought, signed=False),)
        return _counted(replace(spoken, parts=only, stop_reason="max_tokens"), cap)
    cut = limited(spoken, room, counter)
    return _counted(replace(cut, parts=(*lead, *cut.parts), stop_reason="max_tokens"), cap)


def rest_of(reply: ScriptedReply, body: Json) -> ScriptedReply:
    """The reply without the beginning of its text that stands at the end of the history, where a cut reply was kept and
    the model is asked to go on. Only a reply with `tokens` of its own goes on so."""
    texts = [part for part in reply.parts if isinstance(part, Text)]
    said = "".join(reversed(list(_last_words(body))))
    if reply.tokens is None or len(texts) != 1 or not said or not texts[0].text.startswith(said):
        return reply
    rest = Text(texts[0].text[len(said) :])
    tokens = reply.tokens * len(rest.text) // len(texts[0].text)
    return replace(reply, parts=tuple(rest if part is texts[0] else part for part in reply.parts), tokens=tokens)


def _last_words(body: Json) -> Iterator[str]:
    """The texts of the replies since the last tool result, newest first."""
    messages = [message for message in body.get("messages") or () if isinstance(message, dict)]
    for message in takewhile(_is_words, reversed(messages)):
        if message.get("role") == "assistant":
            yield "".join(block.get("text", "") for block in blocks(message.get("content")))


def _is_words(message: Json) -> bool:
    return not any(block.get("type") in ("tool_use", "tool_result") for block in blocks(message.get("content")))


def _counted(reply: ScriptedReply, tokens: int) -> ScriptedReply:
    given = reply.usage.output_tokens
    return replace(reply, usage=replace(reply.usage, output_tokens=tokens if given is None else given))
