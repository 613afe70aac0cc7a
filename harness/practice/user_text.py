"""What kind of text stands in a user message.

Not everything with the role "user" was typed by a person. An agent's loop also speaks to the model
there: it asks to go on after a cut answer, asks for a summary before the history is replaced, hands
that summary back, notes an interruption. A model that took such a text for a new request would lose
its thread, so the kinds are told apart here, in one table, by what any agent's loop tends to say.
"""

import re
from enum import Enum

HEADING = "# Summary of the conversation so far"
"""The first line of a summary that the practice model writes."""


class UserText(Enum):
    """Who speaks, and to what end."""

    PROMPT = "a request of the person"
    CONTINUE = "the loop: your answer was cut, go on"
    NUDGE = "the loop: there is budget left, keep working"
    NOTE = "the loop: something to know, nothing to do"
    PAUSED = "the loop: the turn was ended here, and can be taken up again"
    SUMMARISE = "the loop: summarise the conversation so far"
    SUMMARY = "the summary that replaces earlier messages"
    RESTATED = "the loop: the request in progress, once more"
    ARRIVED = "the loop: what came of something in the background"


_REMINDER = re.compile(
    r"^[ \t]*<(system-reminder|reminder|note|context|environment|facts|hook|plan|skills?|memories)\b[^>]*>.*?</\1>"
    r"[ \t]*$",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
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
"""Loop texts that ask for something are short; a longer text is somebody's prompt, whatever words it holds."""
_OF_ANY_LENGTH = frozenset({UserText.SUMMARY, UserText.RESTATED, UserText.NOTE, UserText.ARRIVED})


def without_reminders(text: str) -> str:
    """The text without the tagged asides that some agents mix into it, on lines of their own."""
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
