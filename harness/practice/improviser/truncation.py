"""Answers that do not fit into the output limit, and how they go on."""

import json

from harness.practice.improviser.turns import Call
from harness.practice.replies import Part, ScriptedReply, Text, ToolUse

CHARACTERS_A_TOKEN = 4
"""Roughly; the server counts exactly, this only decides where an answer is cut."""


def remaining(answer: str, kept: str) -> str:
    """What is left of an answer of which `kept` has been given, however the joints were trimmed.

    An answer that has come out otherwise this time goes on from where the two part.
    """
    if answer.startswith(kept):
        return answer[len(kept) :]
    bare = kept.strip()
    if not bare:
        return answer
    lead = len(answer) - len(answer.lstrip())
    if answer[lead:].startswith(bare):
        return answer[lead + len(bare) :]
    compact = "".join(bare.split())
    seen = 0
    for index, char in enumerate(answer):
        if seen == len(compact):
            return answer[index:]
        if not char.isspace():
            if char != compact[seen]:
                break
            seen += 1
    if seen == len(compact):
        return ""
    agreed = next(
        (at for at, (a, b) in enumerate(zip(answer, kept, strict=False)) if a != b), min(len(answer), len(kept))
    )
    return answer[agreed:]


def within_limit(text: str, calls: tuple[Call, ...], max_tokens: int) -> ScriptedReply:
    """The reply, cut where it reaches the output limit: in the text, or in the midst of a call's input."""
    room = max_tokens * CHARACTERS_A_TOKEN
    if len(text) > room:
        lead = len(text) - len(text.lstrip())
        piece = text[: max(room, lead + 1)]
        return ScriptedReply((Text(piece.rstrip()),), stop_reason="max_tokens")
    room -= len(text)
    parts: list[Part] = [Text(text)] if text.strip() else []
    for call in calls:
        size = len(call.name) + len(json.dumps(call.input, ensure_ascii=False))
        if size > room:
            raw = json.dumps(call.input, ensure_ascii=False)[: max(1, room - len(call.name))]
            return ScriptedReply((*parts, ToolUse(call.name, {}, raw_input=raw)), stop_reason="max_tokens")
        parts.append(ToolUse(call.name, dict(call.input)))
        room -= size
    return ScriptedReply(tuple(parts))
