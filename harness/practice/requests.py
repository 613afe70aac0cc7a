"""Facts of a request body: its last words, its purpose, its tools."""

import re
from enum import Enum, StrEnum
from typing import Any

from harness.events import Block, Json, Message

HEADING = "# Summary of the conversation so far"
"""The first line of a summary that the practice model writes."""


class UserText(Enum):
    """Who speaks, and to what end."""

    PROMPT = "a request of the user"
    CONTINUE = "the loop: your answer was cut, continue"
    NUDGE = "the loop: there is budget left, keep working"
    NOTE = "the loop: something to know, nothing to do"
    PAUSED = "the loop: the turn was ended here, and can be taken up again"
    SUMMARISE = "the loop: summarise the conversation so far"
    SUMMARY = "the summary that replaces earlier messages"
    RESTATED = "the loop: the request in progress, once more"
    ARRIVED = "the loop: a result from the background"


_REMINDER = re.compile(
    r"^[ \t]*<(system-reminder|reminder|note|context|environment|facts|hook|plan-mode|plan|skills?|memories"
    r"|changes|slash-command|folders|instructions(?= from=))\b[^>]*>.*?</\1>[ \t]*$",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
_SCHEDULED = re.compile(
    r"\A[^<]{0,800}^<scheduled fire=[^>]*>\n(?P<prompt>.*)^</scheduled>\s*\Z", re.DOTALL | re.MULTILINE
)
_RESTATED = re.compile(r"\blatest request, word for word:\s*(?P<request>.*)\Z", re.DOTALL | re.IGNORECASE)

_CONVERSATION = r"\b(conversation|session|chat|message history|dialog(ue)?|transcript)\b(?![\w-]*\.\w)"
_CUT = (
    r"\byou(r|\b).{0,80}"
    r"\b(cut (off|short)|was cut|broke|broke off|truncated|empty|(output|token|length) (token )?(limit|cap))\b"
)

_KINDS: tuple[tuple[UserText, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern, re.IGNORECASE | re.DOTALL))
    for kind, pattern in (
        (UserText.ARRIVED, r"\A[^<]{0,600}<arrived what="),
        (UserText.SUMMARY, re.escape(HEADING)),
        (UserText.SUMMARY, r"\A.{0,120}\b(earlier|previous|older|preceding)\b.{0,60}conversation.{0,80}\bsummar"),
        (UserText.RESTATED, _RESTATED.pattern),
        (
            UserText.SUMMARISE,
            r"\b(summari[sz]e|summary of|write (down )?(a|the) (\w+ )?summary)\b.{0,60}" + _CONVERSATION,
        ),
        (UserText.SUMMARISE, _CONVERSATION + r".{0,160}\bsummar(y|i[sz]e)\b"),
        (UserText.SUMMARISE, r"(会話|やりとり|やり取り).{0,20}(要約|まとめ)"),
        (UserText.PAUSED, r"\A\W*the turn (was|is) paused\b"),
        (UserText.CONTINUE, _CUT + r".*\b(continue|go on|carry on|pick up|resume|smaller pieces)\b"),
        (UserText.CONTINUE, r"\A.{0,40}\b(broke|cut off)\b.{0,40}\byou\b.*\b(continue|go on|carry on|resume)\b"),
        (
            UserText.CONTINUE,
            r"\A\W*(please )?(continue|go on|carry on|resume)\b.{0,60}\b(where you|left off|stopped|broke off)\b",
        ),
        (UserText.CONTINUE, r"\A\W*(please )?(continue|go on|carry on|resume)( please)?\W*\Z"),
        (UserText.CONTINUE, r"\A\W*(続けて|続きを|再開して)(ください|下さい|お願い(します)?|どうぞ)?\W*\Z"),
        (UserText.NUDGE, r"\A.{0,100}\byou have used\b.{0,80}\btokens\b"),
        (
            UserText.NUDGE,
            r"\A.{0,200}\b(token budget|tokens left)\b.{0,200}\b(keep (working|going)|continue|carry on)\b",
        ),
        (UserText.NOTE, r"\A\S.{0,300} as it is now:\n"),
        (UserText.NOTE, r"\A\((?=.{0,400}\bconversation\b).{0,400}\)\s*\Z"),
        (UserText.NOTE, r"\A\s*[\[(<].{0,300}\b(interrupted|aborted|stopped|cancell?ed)\b.{0,300}[\])>]\s*\Z"),
        (UserText.NOTE, r"\A\s*\[[^\]\n]{0,300}\]\s*\Z"),
    )
)
"""The first pattern that is found decides; a text that fits none is a prompt."""

_LONGEST_NOTICE = 6_000
"""Loop texts that ask for something are short; a longer text is a prompt, whatever its words."""
_OF_ANY_LENGTH = frozenset({UserText.SUMMARY, UserText.RESTATED, UserText.NOTE, UserText.ARRIVED})


def without_reminders(text: str) -> str:
    """The text without the tagged asides that some agents mix into it, on lines of their own.

    Of a scheduled prompt only the prompt is left.
    """
    if scheduled := _SCHEDULED.search(text):
        return scheduled["prompt"].strip()
    return _REMINDER.sub("", text).strip()


def kind_of(text: str) -> UserText:
    """Which of the kinds `text` is. Reminders should be removed before."""
    for kind, pattern in _KINDS:
        if (kind in _OF_ANY_LENGTH or len(text) <= _LONGEST_NOTICE) and pattern.search(text):
            return kind
    return UserText.PROMPT


def restated_request(text: str) -> str:
    """The request that a text of the kind RESTATED repeats."""
    match = _RESTATED.search(text)
    return match["request"].strip() if match else ""


class Purpose(StrEnum):
    """Why a request was made."""

    TURN = "turn"
    """Somebody waits for the next words of the conversation."""
    SUMMARY = "summary"
    """The client compacts its history and wants the conversation summarised."""


def purpose(body: Json) -> Purpose:
    """Why a request was made, by the last text block in it, as the rule-based model reads it."""
    texts = [block.get("text", "") for block in last_blocks(body) if block.get("type") == "text"]
    asked = bool(texts) and kind_of(without_reminders(texts[-1])) is UserText.SUMMARISE
    return Purpose.SUMMARY if asked else Purpose.TURN


def last_text(body: Json) -> str:
    """The text of the last user message: its text blocks, or its tool results where it has no text."""
    blocks = last_blocks(body)
    texts = [block.get("text", "") for block in blocks if block.get("type") == "text"]
    return "\n".join(texts or [result_text(block) for block in blocks if block.get("type") == "tool_result"])


def last_blocks(body: Json) -> list[Block]:
    """The content blocks of the last user message."""
    for message in reversed(body.get("messages") or []):
        if isinstance(message, dict) and message.get("role") == "user":
            return blocks(message.get("content"))
    return []


def blocks(content: Any) -> list[Block]:
    """Content as blocks: a string is one text block."""
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return [block for block in content or [] if isinstance(block, dict)]


def result_text(block: Block) -> str:
    """The text of a tool result."""
    return "\n".join(part.get("text", "") for part in blocks(block.get("content")))


def tool_names(body: Json) -> frozenset[str]:
    """The names of the tools that a request offers."""
    return frozenset(str(tool.get("name")) for tool in body.get("tools") or () if isinstance(tool, dict))


def messages(body: Json) -> tuple[Message, ...]:
    """The messages of a body as values, without malformed ones."""
    return tuple(
        Message("assistant" if message.get("role") == "assistant" else "user", tuple(blocks(message.get("content"))))
        for message in body.get("messages") or ()
        if isinstance(message, dict)
    )
