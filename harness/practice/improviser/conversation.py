"""A request body, read: who asked what, which tools ran, what came back.

The practice model has no memory. Like every model behind the Messages API it is handed the whole
conversation with each request and must find its place in it again. This module does that reading.
It accepts anything that is shaped like JSON; what it cannot make sense of, it passes over.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from harness.events import Json
from harness.practice.improviser.arrivals import arrivals_in
from harness.practice.improviser.language import Language, language_of
from harness.practice.improviser.media import measured
from harness.practice.improviser.results import unwrapped
from harness.practice.improviser.summary_form import parse_summary
from harness.practice.improviser.turns import Arrival, Call, Exchange, Result, Turn
from harness.practice.user_text import UserText, kind_of, restated_request, without_reminders

SHORTEST_LIMIT = 1
_TITLE = re.compile(
    r"\btitle generator\b|\b(?:generate|write|create|give|extract|come up with)\b.{0,60}?\btitle\b",
    re.IGNORECASE | re.DOTALL,
)
"""What clients ask for beside a conversation, to give it a name."""
_AS_JSON = re.compile(
    r"\bJSON (?:object )?with\b|\bas (?:a )?JSON\b|\breturn (?:only )?JSON\b|\"title\" field", re.IGNORECASE
)
DEFAULT_LIMIT = 8_000
"""Output tokens that are assumed when the request names no usable limit."""


@dataclass(frozen=True, slots=True)
class Conversation:
    """What the practice model knows when a request arrives: this, and nothing else."""

    turns: tuple[Turn, ...]
    """Oldest first. The last one is to be answered; it has the results that are there already."""
    kept: str = ""
    """Text of the answer in progress that was cut and is asked to be continued."""
    continued: bool = False
    nudged: bool = False
    wants_summary: bool = False
    titled: str | None = None
    """What a title is wanted for; None where none is."""
    title_as_json: bool = False
    said: str = ""
    """All that the assistant said before the answer in progress."""
    background: str = ""
    """A summary of earlier messages that somebody else wrote."""
    tools: tuple[Json, ...] = ()
    max_tokens: int = DEFAULT_LIMIT

    @property
    def turn(self) -> Turn:
        """The turn that is to be answered."""
        return self.turns[-1]

    @property
    def earlier(self) -> tuple[Turn, ...]:
        """The turns before it."""
        return self.turns[:-1]

    @property
    def language(self) -> Language:
        """The language of the last prompt; where that has no words, of the one before."""
        for turn in reversed(self.turns):
            if re.search(r"[^\W\d_]", turn.prompt):
                return language_of(turn.prompt)
        return Language.ENGLISH


@dataclass(slots=True)
class _Draft:
    prompt: str
    exchanges: list[Exchange] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    answered: bool = False
    paused_after: int | None = None
    arrivals: list[Arrival] = field(default_factory=list)
    media: list[str] = field(default_factory=list)

    def done(self) -> Turn:
        said = "\n".join(self.said)
        return Turn(
            *(self.prompt, tuple(self.exchanges), said, self.answered, self.paused_after, tuple(self.arrivals)),
            media=tuple(self.media),
        )


@dataclass(slots=True)
class _Reader:
    """Goes through the messages once, from the first to the last."""

    drafts: list[_Draft] = field(default_factory=list)
    open_calls: dict[str, Call] = field(default_factory=dict)
    tail: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    background: str = ""
    last_kinds: frozenset[UserText] = frozenset()

    def assistant(self, content: Any) -> None:
        self._draft().answered = not any(block.get("type") == "tool_use" for block in _blocks(content))
        for block in _blocks(content):
            if block.get("type") == "text":
                self.tail.append(_string(block.get("text")))
            elif block.get("type") == "tool_use" and isinstance(block.get("input"), dict):
                call = Call(_string(block.get("name")), block["input"])
                self.open_calls[_string(block.get("id"))] = call

    def user(self, content: Any) -> None:
        texts: list[str] = []
        for block in _blocks(content):
            if block.get("type") == "tool_result":
                self._result(block)
            elif block.get("type") == "text":
                texts.append(without_reminders(_string(block.get("text"))))
        kinds = [(kind_of(text), text) for text in texts if text]
        self.last_kinds = frozenset(kind for kind, _ in kinds)
        prompts = [text for kind, text in kinds if kind is UserText.PROMPT]
        for kind, text in kinds:
            if kind is UserText.SUMMARY:
                self._summary(text)
            elif kind is UserText.RESTATED:
                self._restate(restated_request(text))
            elif kind is UserText.PAUSED:
                self._pause()
        if prompts:
            self.settle()
            self.drafts.append(_Draft(prompts[-1]))  # those before are of turns that came to nothing
        if media := list(measured(content)):
            self._draft().media += media
        for kind, text in kinds:
            if kind is UserText.ARRIVED:
                self._arrived(arrivals_in(text))

    def _result(self, block: Json) -> None:
        call = self.open_calls.pop(_string(block.get("tool_use_id")), None)
        if call is None:
            return
        self.settle()
        self._draft().answered = False
        text = "\n".join(
            _string(part.get("text")) for part in _blocks(block.get("content")) if part.get("type") == "text"
        )
        self._draft().exchanges.append(Exchange(call, Result(unwrapped(text), failed=block.get("is_error") is True)))

    def _arrived(self, arrivals: tuple[Arrival, ...]) -> None:
        """Told at the end of the turn in progress; where there is none, they begin one."""
        self.settle()
        if not self.drafts or self.drafts[-1].answered:
            self.drafts.append(_Draft(""))
        self.drafts[-1].arrivals += arrivals

    def _pause(self) -> None:
        """What failed up to here is tried again when the turn is taken up."""
        self.settle()
        draft = self._draft()
        draft.answered, draft.paused_after = False, len(draft.exchanges)

    def _summary(self, text: str) -> None:
        self.settle()
        past = parse_summary(text)
        if not past:
            self.background = text
        self.drafts = [_of(turn) for turn in past]

    def _restate(self, request: str) -> None:
        """The request in progress, whose results may stand in the summary before it."""
        if request and (not self.drafts or self.drafts[-1].prompt.strip() != request):
            self.drafts.append(_Draft(request))

    def settle(self) -> None:
        """What was said so far is a finished part of the conversation."""
        text = "".join(self.tail)
        self.tail.clear()
        if text:
            self.said.append(text)
            self._draft().said.append(text)

    def _draft(self) -> _Draft:
        if not self.drafts:
            self.drafts.append(_Draft(""))
        return self.drafts[-1]


def read_request(request: Json) -> Conversation:
    """The conversation that a request body of the Messages API holds. Never raises for JSON-shaped input."""
    reader = _Reader()
    messages = request.get("messages")
    for message in messages if isinstance(messages, list) else []:
        if isinstance(message, dict) and message.get("role") == "assistant":
            reader.assistant(message.get("content"))
        elif isinstance(message, dict) and message.get("role") != "system":
            reader.user(message.get("content"))
    kinds = reader.last_kinds
    asked_again = bool(kinds & {UserText.CONTINUE, UserText.NUDGE}) and UserText.PROMPT not in kinds
    if not asked_again:
        reader.settle()
    raw_tools = request.get("tools")
    tools = tuple(tool for tool in raw_tools if isinstance(tool, dict)) if isinstance(raw_tools, list) else ()
    return Conversation(
        turns=tuple(draft.done() for draft in reader.drafts) or (Turn(""),),
        kept="".join(reader.tail),
        continued=asked_again and UserText.CONTINUE in kinds,
        nudged=asked_again and UserText.NUDGE in kinds,
        wants_summary=UserText.SUMMARISE in kinds or (not tools and _summarises(request)),
        titled=None if tools else _titled(request, reader.drafts),
        title_as_json=_AS_JSON.search(_system_text(request)) is not None,
        said="\n".join(reader.said),
        background=reader.background,
        tools=tools,
        max_tokens=_limit(request.get("max_tokens")),
    )


def _of(past: Turn) -> _Draft:
    said = [past.said] if past.said else []
    return _Draft(past.prompt, list(past.exchanges), said, past.answered, past.paused_after, list(past.arrivals))


def _summarises(request: Json) -> bool:
    return kind_of(_system_text(request)) is UserText.SUMMARISE


def _titled(request: Json, drafts: list[_Draft]) -> str | None:
    """The prompt for which a client wants a title: it says so in the system prompt or in a prompt before."""
    prompts = [draft.prompt for draft in drafts if draft.prompt]
    asked = _TITLE.search(_system_text(request)) is not None or any(_TITLE.match(prompt) for prompt in prompts[:-1])
    return prompts[-1] if asked and prompts else None


def _system_text(request: Json) -> str:
    return "\n".join(_string(block.get("text")) for block in _blocks(request.get("system")))


def _blocks(content: Any) -> Iterator[Json]:
    if isinstance(content, str):
        yield {"type": "text", "text": content}
    elif isinstance(content, list):
        for block in content:
            if isinstance(block, dict):
                yield block
            elif isinstance(block, str):
                yield {"type": "text", "text": block}


def _string(value: Any) -> str:
    """The text, without halves of characters, which could not be sent back; "" for what is no text."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def _limit(value: Any) -> int:
    usable = isinstance(value, int) and not isinstance(value, bool) and value >= SHORTEST_LIMIT
    return value if usable else DEFAULT_LIMIT
