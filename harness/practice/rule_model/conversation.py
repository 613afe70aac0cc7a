# ruff: noqa: E501 - a pattern reads best in one piece
"""A request body as the rule-based model reads it: the turns of the conversation, their tool calls and results."""

import base64
import binascii
import html
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from typing import Any

from harness.events import Json
from harness.media.formats import pdf_pages
from harness.practice.checks.media import pixels
from harness.practice.requests import HEADING, UserText, blocks, kind_of, restated_request, without_reminders

DEFAULT_LIMIT = 8_000
"""Output tokens that are assumed when the request names no usable limit."""
_ALTERNATIVE = re.compile(r"^\d+\. (?P<tool>[\w.-]+): .* \(loses: (?P<loses>.*)\)$", re.MULTILINE)
_BY_HAND = re.compile(r"^\d+\. by hand: (.*)$", re.MULTILINE)
_ARRIVED = re.compile(r'<arrived what="([^"]*)" from="([^"]*)">\n(.*?)\n</arrived>', re.DOTALL)
_TITLE = re.compile(r"\btitle generator\b|\b(generate|write|create|come up with)\b.{0,60}?\btitle\b", re.I | re.DOTALL)
_JAPANESE = re.compile(r"[\u3041-\u30ff\uff66-\uff9f\u4e00-\u9fff]")
_CHANGES = re.compile(r"^<changes>\n(.*?)\n</changes>$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"\A<slash-command>\n(.*)\n</slash-command>\Z", re.DOTALL)
_QUOTED = re.compile(r"```.*?```|`[^`]*`|\"[^\"]*\"|「[^」]*」", re.DOTALL)


class CallOutcome(StrEnum):
    """What became of a tool call."""

    OK = "ok"
    FAILED = "failed"
    SKIPPED = "skipped"
    """Not run because the tool's breaker is open; the text names the alternatives."""
    PAUSED = "paused"
    """Not run because the turn pauses here."""
    DENIED = "denied"
    """Not allowed by the user or a rule."""
    CANCELLED = "cancelled"
    """Interrupted, or never started."""
    MISSING = "missing"
    """The named file does not exist."""


_WHO = r"(user|person)\b.{0,30}\b"
_FAILURES = (
    (CallOutcome.SKIPPED, r"\A(?P<tool>\S+) (?:was )?(?:not run|skipped): (?P<why>[^\n]*?)\.?(?:\n|\Z)"),
    (CallOutcome.PAUSED, r"\A\W*not run: the turn (pauses|is paused)\b"),
    (CallOutcome.DENIED, r"\A.{0,2000}\b(permission was (denied|refused)|not allowed|" + _WHO + r"(did not|didn't) (allow|permit|consent))\b"),
    (CallOutcome.DENIED, r"\A.{0,2000}\b" + _WHO + r"(denied|declined|refused|rejected|said no)\b"),
    (CallOutcome.DENIED, r"\A.{0,2000}\b(denied|declined|refused|rejected) by (the |a )?(user|person|mode|rule|default)"),
    (CallOutcome.CANCELLED, r"\A\W*(not run|interrupted|cancell?ed|no result was recorded)\b"),
    (CallOutcome.CANCELLED, r"\A.{0,300}\b(was|were) (cancell?ed|interrupted|aborted)\b"),
    (CallOutcome.MISSING, r"\A.{0,2000}(no such file|not found|does not exist|cannot find|there is no (file|folder|directory))"),
)  # fmt: skip
"""The texts of calls that failed; the first that fits decides."""
_PATTERNS = tuple((outcome, re.compile(text, re.IGNORECASE | re.DOTALL)) for outcome, text in _FAILURES)


@dataclass(frozen=True, slots=True)
class ModelCall:
    """A tool call of the model."""

    name: str
    input: Json

    @property
    def key(self) -> str:
        """Equal for calls with the same tool and input."""
        return f"{self.name} {json.dumps(self.input, sort_keys=True, ensure_ascii=False)}"

    def __str__(self) -> str:
        """The tool and the first line of its first argument."""
        first = next((value for value in self.input.values() if isinstance(value, str) and value.strip()), "")
        return f"{self.name} {first.strip().split(chr(10))[0][:80]}".strip()


@dataclass(frozen=True, slots=True)
class ReturnedResult:
    """The result of a tool call."""

    text: str
    failed: bool = False

    @property
    def outcome(self) -> CallOutcome:
        """What became of the call, by its text."""
        found = (outcome for outcome, pattern in _PATTERNS if pattern.search(self.text))
        return next(found, CallOutcome.FAILED) if self.failed else CallOutcome.OK

    @property
    def skip_reason(self) -> str:
        """Why a skipped call was not run."""
        found = _PATTERNS[0][1].search(self.text)
        return found["why"] if found else ""

    @property
    def alternatives(self) -> tuple[tuple[str, str], ...]:
        """The tools that may replace a skipped one, best first, each with its loss."""
        return tuple((found["tool"], found["loses"].rstrip(".")) for found in _ALTERNATIVE.finditer(self.text))

    @property
    def by_hand(self) -> str:
        """How the user can do by hand what a skipped call would have done."""
        found = _BY_HAND.search(self.text)
        return found[1] if found else ""


@dataclass(frozen=True, slots=True)
class AnsweredCall:
    """A call with its result."""

    call: ModelCall
    result: ReturnedResult


@dataclass(slots=True)
class PastTurn:
    """A prompt and everything after it."""

    prompt: str = ""
    """Empty in a turn that only arrivals started."""
    calls: list[AnsweredCall] = field(default_factory=list)
    said: str = ""
    answered: bool = False
    paused_after: int | None = None
    """How many calls there were when the turn was paused last."""
    arrivals: list[tuple[str, str, str]] = field(default_factory=list)
    """Results from the background: kind of arrival, id of the command or subagent, text."""
    media: list[str] = field(default_factory=list)
    """The attached images and documents, measured."""
    changes: str = ""
    """The diffs that a review is about."""

    @property
    def valid_calls(self) -> list[AnsweredCall]:
        """The calls to build on: failures from before a pause are tried again, denials are not."""
        pause = self.paused_after or 0
        kept = (CallOutcome.OK, CallOutcome.DENIED)
        return [one for one in self.calls[:pause] if one.result.outcome in kept] + self.calls[pause:]


@dataclass(slots=True)
class PastConversation:
    """What one request holds. The model knows nothing else."""

    turns: list[PastTurn] = field(default_factory=list)
    """Oldest first; the last one is to be answered."""
    kept: str = ""
    """Text of a cut answer that is to be continued."""
    asks_for_more: bool = False
    """The last message asks to continue, or to use more of the token budget."""
    wants_summary: bool = False
    wants_title: bool = False
    tools: tuple[Json, ...] = ()
    max_tokens: int = DEFAULT_LIMIT

    @property
    def turn(self) -> PastTurn:
        """The turn to be answered, or that is being read."""
        if not self.turns:
            self.turns.append(PastTurn())
        return self.turns[-1]

    @property
    def japanese(self) -> bool:
        """The last prompt with words in it has kana or kanji outside quotes."""
        prompts = (turn.prompt for turn in reversed(self.turns) if re.search(r"[^\W\d_]", turn.prompt))
        prompt = next(prompts, "")
        spoken = _QUOTED.sub(" ", prompt)
        return _JAPANESE.search(spoken if spoken.strip() else prompt) is not None


def read_request(request: Json) -> PastConversation:
    """The conversation in a body of the Messages API. Whatever is malformed is passed over."""
    reader = _RequestReader()
    messages = request.get("messages")
    for message in messages if isinstance(messages, list) else ():
        if isinstance(message, dict) and message.get("role") == "assistant":
            reader.assistant(message.get("content"))
        elif isinstance(message, dict) and message.get("role") != "system":
            reader.user(message.get("content"))
    read, kinds = reader.read, reader.last_kinds
    read.asks_for_more = UserText.PROMPT not in kinds and bool(kinds & {UserText.CONTINUE, UserText.NUDGE})
    if not read.asks_for_more:
        reader.settle()
    read.kept = "".join(reader.tail)
    tools, limit = request.get("tools"), request.get("max_tokens")
    read.tools = tuple(tool for tool in tools if isinstance(tool, dict)) if isinstance(tools, list) else ()
    system = "\n".join(_string(block.get("text")) for block in _blocks(request.get("system")))
    read.wants_summary = UserText.SUMMARISE in kinds or (not read.tools and kind_of(system) is UserText.SUMMARISE)
    read.wants_title = not read.tools and _TITLE.search(system) is not None
    if isinstance(limit, int) and not isinstance(limit, bool) and limit >= 1:
        read.max_tokens = limit
    return read


@dataclass(slots=True)
class _RequestReader:
    """Reads the messages once, from first to last."""

    read: PastConversation = field(default_factory=PastConversation)
    open_calls: dict[str, ModelCall] = field(default_factory=dict)
    tail: list[str] = field(default_factory=list)
    last_kinds: frozenset[UserText] = frozenset()

    def assistant(self, content: Any) -> None:
        parts = _blocks(content)
        self.read.turn.answered = not any(block.get("type") == "tool_use" for block in parts)
        for block in parts:
            if block.get("type") == "text":
                self.tail.append(_string(block.get("text")))
            elif block.get("type") == "tool_use" and isinstance(block.get("input"), dict):
                self.open_calls[_string(block.get("id"))] = ModelCall(_string(block.get("name")), block["input"])

    def user(self, content: Any) -> None:
        parts = _blocks(content)
        for block in parts:
            if block.get("type") == "tool_result":
                self._result(block)
        texts = [without_reminders(_string(block.get("text"))) for block in parts if block.get("type") == "text"]
        kinds = [(kind_of(text), text) for text in texts if text]
        self.last_kinds = frozenset(kind for kind, _ in kinds)
        for kind, text in kinds:
            self._notice(kind, text)
        if prompts := [text for kind, text in kinds if kind is UserText.PROMPT]:
            self.settle()
            self.read.turns.append(PastTurn(prompts[-1]))  # earlier ones belong to turns without an answer
        for text in (_string(block.get("text")) for block in parts if block.get("type") == "text"):
            if found := _CHANGES.search(text):
                self.read.turn.changes = found[1]
            if found := _COMMAND.match(text):
                self.read.turn.prompt = found[1]
        if media := list(_measured(content)):
            self.read.turn.media += media
        for kind, text in kinds:
            if kind is UserText.ARRIVED:
                self._arrived(text)

    def settle(self) -> None:
        """Close the text collected so far: it is not the beginning of the answer in progress."""
        if text := "".join(self.tail):
            self.read.turn.said = f"{self.read.turn.said}\n{text}".strip("\n")
        self.tail.clear()

    def _notice(self, kind: UserText, text: str) -> None:
        match kind:
            case UserText.SUMMARY:
                self.settle()
                self.read.turns = parse_summary(text) or [PastTurn(said=text, answered=True)]
            case UserText.RESTATED:
                request = restated_request(text)
                if request and (not self.read.turns or self.read.turn.prompt.strip() != request):
                    self.read.turns.append(PastTurn(request))
            case UserText.PAUSED:
                self.settle()
                self.read.turn.answered, self.read.turn.paused_after = False, len(self.read.turn.calls)

    def _result(self, block: Json) -> None:
        call = self.open_calls.pop(_string(block.get("tool_use_id")), None)
        if call is None:
            return
        self.settle()
        self.read.turn.answered = False
        parts = (part for part in _blocks(block.get("content")) if part.get("type") == "text")
        result = ReturnedResult("\n".join(_string(part.get("text")) for part in parts), block.get("is_error") is True)
        self.read.turn.calls.append(AnsweredCall(call, result))

    def _arrived(self, text: str) -> None:
        """Report arrivals at the end of the open turn, or start one."""
        self.settle()
        if not self.read.turns or self.read.turn.answered:
            self.read.turns.append(PastTurn())
        found = _ARRIVED.findall(text)
        self.read.turn.arrivals += [(kind, html.unescape(source), said.strip()) for kind, source, said in found]


def _blocks(content: Any) -> list[Json]:
    return blocks(content) if isinstance(content, str | list) else []


def _string(value: Any) -> str:
    """The text without lone surrogates, which cannot be encoded; "" for anything else."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def _measured(content: Any) -> Iterator[str]:
    """Type, size and beginning of the SHA-256 of each image and document, also of those in tool results."""
    for block in _blocks(content):
        if block.get("type") == "tool_result":
            yield from _measured(block.get("content"))
        elif block.get("type") in ("image", "document") and isinstance(source := block.get("source"), dict):
            kind = str(source.get("media_type") or source.get("type"))
            try:
                data = base64.b64decode(str(source.get("data") or ""))
            except (binascii.Error, ValueError):
                yield kind
                continue
            size = " × ".join(map(str, pixels(data))) or (f"{pages} p." if (pages := pdf_pages(data)) else "")
            digest = f"SHA-256 {sha256(data).hexdigest()[:8]}"
            yield ", ".join(filter(None, (kind, size, f"{len(data):,} bytes", digest)))


# ── summaries ───────────────────────────────────────────────────────────────────────────────────────

_CHARACTERS_A_TOKEN = 3
_EXCERPTS = (4_000, 1_000, 300, 80, 0)
"""Characters kept of each text; the largest that fits the output limit is used."""


def summarise(conversation: PastConversation) -> str:
    """The conversation as `parse_summary` reads it back: a line of JSON for each turn, prompts word for word.

    Texts are shortened, and in the end the oldest turns left out, until it fits into the output limit.
    """
    room = max(200, conversation.max_tokens * _CHARACTERS_A_TOKEN)
    turns = [turn for turn in conversation.turns if turn.prompt or turn.calls or turn.arrivals or turn.said]
    sizes = [(most, turns) for most in _EXCERPTS] + [(0, turns[left:]) for left in range(1, len(turns))]
    texts = ("\n\n".join((HEADING, *(_turn_line(turn, most) for turn in kept))) for most, kept in sizes)
    return next((text for text in texts if len(text) <= room), HEADING)


def _turn_line(turn: PastTurn, most: int) -> str:
    def excerpt(text: str) -> str:
        return text if len(text) <= most else f"{text[:most]} …"

    calls = [(one.call.name, one.call.input, one.result) for one in turn.valid_calls]
    line = {
        "request": turn.prompt,
        "state": "answered" if turn.answered else "in progress",
        "calls": [
            (name, given, "failed" if result.failed else "ok", excerpt(result.text)) for name, given, result in calls
        ],
        "arrived": [(kind, source, excerpt(text)) for kind, source, text in turn.arrivals],
        "answer": excerpt(turn.said),
    }
    return json.dumps({name: value for name, value in line.items() if value}, ensure_ascii=False)


def parse_summary(text: str) -> list[PastTurn]:
    """The turns in a summary that `summarise` wrote; none for any other summary."""
    turns: list[PastTurn] = []
    for line in text.split("\n") if HEADING in text else ():
        try:
            read = json.loads(line) if line.startswith('{"') else None
            if isinstance(read, dict):
                calls = [
                    AnsweredCall(ModelCall(name, given), ReturnedResult(said, outcome == "failed"))
                    for name, given, outcome, said in read.get("calls", ())
                ]
                arrivals = [(kind, source, said) for kind, source, said in read.get("arrived", ())]
                answered = read.get("state") == "answered"
                turns.append(PastTurn(read.get("request", ""), calls, read.get("answer", ""), answered, None, arrivals))
        except (ValueError, TypeError):
            continue
    return turns
