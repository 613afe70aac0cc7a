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
from harness.practice.message_checks import pixels
from harness.practice.requests import HEADING, UserText, blocks, kind_of, restated_request, without_reminders

DEFAULT_LIMIT = 8_000
"""Output tokens that are assumed when the request names no usable limit."""
_DENIED = re.compile(
    r"\bpermission was (denied|refused)\b|\b(user|person)\b.{0,30}\b(did not|didn't) (allow|permit|consent)"
    r"|\bnot allowed\b|\b(user|person)\b.{0,30}\b(denied|declined|refused|rejected|said no)\b"
    r"|\b(denied|declined|refused|rejected) by (the |a )?(user|person|mode|rule|default)",
    re.IGNORECASE | re.DOTALL,
)
_CANCELLED = re.compile(
    r"\A\W*(not run|interrupted|cancell?ed|no result was recorded)\b|\b(was|were) (cancell?ed|interrupted|aborted)\b",
    re.IGNORECASE,
)
_MISSING = re.compile(
    r"no such file|not found|does not exist|cannot find|there is no (file|folder|directory)", re.IGNORECASE
)
_SKIPPED = re.compile(r"\A(?P<tool>\S+) (?:was )?(?:not run|skipped): (?P<why>[^\n]*?)\.?(?:\n|\Z)")
_ALTERNATIVE = re.compile(r"^\d+\. (?P<tool>[\w.-]+): .* \(loses: (?P<loses>.*)\)$", re.MULTILINE)
_BY_HAND = re.compile(r"^\d+\. by hand: (.*)$", re.MULTILINE)
_PAUSED = re.compile(r"\A\W*not run: the turn (pauses|is paused)\b", re.IGNORECASE)
_ARRIVED = re.compile(r'<arrived what="([^"]*)" from="([^"]*)">\n(.*?)\n</arrived>', re.DOTALL)
_TITLE = re.compile(r"\btitle generator\b|\b(generate|write|create|come up with)\b.{0,60}?\btitle\b", re.I | re.DOTALL)
_JAPANESE = re.compile(r"[\u3041-\u30ff\uff66-\uff9f\u4e00-\u9fff]")
_QUOTED = re.compile(r"```.*?```|`[^`]*`|\"[^\"]*\"|「[^」]*」", re.DOTALL)


class Language(StrEnum):
    """The language of an answer."""

    ENGLISH = "en"
    JAPANESE = "ja"


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
    def skipped(self) -> bool:
        """Not run because the tool's breaker is open; the text names the alternatives."""
        return self.failed and _SKIPPED.search(self.text) is not None

    @property
    def paused(self) -> bool:
        """Not run because the turn pauses here."""
        return self.failed and _PAUSED.search(self.text) is not None

    @property
    def denied(self) -> bool:
        """Not allowed by the user or a rule."""
        return self.failed and not self.skipped and _DENIED.search(self.text[:2_000]) is not None

    @property
    def cancelled(self) -> bool:
        """Interrupted, or never started."""
        other = self.denied or self.skipped or self.paused
        return self.failed and not other and _CANCELLED.search(self.text[:300]) is not None

    @property
    def not_run(self) -> bool:
        """The call did not run to its end."""
        return self.denied or self.skipped or self.paused or self.cancelled

    @property
    def missing(self) -> bool:
        """The named file does not exist."""
        return self.failed and not self.not_run and _MISSING.search(self.text[:2_000]) is not None

    @property
    def skip_reason(self) -> str:
        """Why a skipped call was not run."""
        found = _SKIPPED.search(self.text)
        return found["why"] if found else ""

    @property
    def alternatives(self) -> tuple[tuple[str, str], ...]:
        """The tools that may replace a skipped one, best first, each with its loss."""
        return tuple((found["tool"], found["loses"]) for found in _ALTERNATIVE.finditer(self.text))

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


@dataclass(frozen=True, slots=True)
class Arrival:
    """A result that arrived from the background."""

    kind: str
    """ "command_ended", "command_quiet" or "agent_ended"."""
    source: str
    """Id of the command or subagent."""
    text: str


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
    arrivals: list[Arrival] = field(default_factory=list)
    media: list[str] = field(default_factory=list)
    """The attached images and documents, measured."""

    @property
    def valid_calls(self) -> list[AnsweredCall]:
        """The calls to build on: failures from before a pause are tried again, denials are not."""
        pause = self.paused_after or 0
        before = [one for one in self.calls[:pause] if not one.result.failed or one.result.denied]
        return [*before, *self.calls[pause:]]

    @property
    def resumed(self) -> bool:
        """The turn was paused and now continues."""
        return self.paused_after == len(self.calls)


@dataclass(slots=True)
class PastConversation:
    """What one request holds. The model knows nothing else."""

    turns: list[PastTurn] = field(default_factory=list)
    """Oldest first; the last one is to be answered."""
    kept: str = ""
    """Text of a cut answer that is to be continued."""
    asked_again: UserText | None = None
    """CONTINUE or NUDGE, where the last message asks for more."""
    wants_summary: bool = False
    wants_title: bool = False
    said: str = ""
    """The model's texts before the answer in progress."""
    background: str = ""
    """A summary of earlier messages that another model wrote."""
    tools: tuple[Json, ...] = ()
    max_tokens: int = DEFAULT_LIMIT

    @property
    def turn(self) -> PastTurn:
        """The turn to be answered."""
        return self.turns[-1]

    @property
    def language(self) -> Language:
        """The language of the last prompt with words in it."""
        prompts = (turn.prompt for turn in reversed(self.turns) if re.search(r"[^\W\d_]", turn.prompt))
        return language_of(next(prompts, ""))


def language_of(text: str) -> Language:
    """Japanese where the text outside quotes has kana or kanji, else English."""
    spoken = _QUOTED.sub(" ", text)
    return Language.JAPANESE if _JAPANESE.search(spoken if spoken.strip() else text) else Language.ENGLISH


def read_request(request: Json) -> PastConversation:
    """The conversation in a body of the Messages API. Whatever is malformed is passed over."""
    reader = _RequestReader()
    messages = request.get("messages")
    for message in messages if isinstance(messages, list) else ():
        if isinstance(message, dict) and message.get("role") == "assistant":
            reader.assistant(message.get("content"))
        elif isinstance(message, dict) and message.get("role") != "system":
            reader.user(message.get("content"))
    read = reader.read
    kinds = reader.last_kinds
    if UserText.PROMPT not in kinds:
        read.asked_again = next((kind for kind in (UserText.CONTINUE, UserText.NUDGE) if kind in kinds), None)
    if read.asked_again is None:
        reader.settle()
    read.kept = "".join(reader.tail)
    read.turns = read.turns or [PastTurn()]
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
        self._turn().answered = not any(block.get("type") == "tool_use" for block in parts)
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
        if media := list(_measured(content)):
            self._turn().media += media
        for kind, text in kinds:
            if kind is UserText.ARRIVED:
                self._arrived(text)

    def settle(self) -> None:
        """Close the text collected so far: it is not the beginning of the answer in progress."""
        text = "".join(self.tail)
        self.tail.clear()
        if text:
            self.read.said = f"{self.read.said}\n{text}".strip("\n")
            self._turn().said = f"{self._turn().said}\n{text}".strip("\n")

    def _notice(self, kind: UserText, text: str) -> None:
        match kind:
            case UserText.SUMMARY:
                self.settle()
                self.read.turns = parse_summary(text)
                self.read.background = "" if self.read.turns else text
            case UserText.RESTATED:
                request = restated_request(text)
                if request and (not self.read.turns or self.read.turn.prompt.strip() != request):
                    self.read.turns.append(PastTurn(request))
            case UserText.PAUSED:
                self.settle()
                self._turn().answered, self._turn().paused_after = False, len(self._turn().calls)

    def _result(self, block: Json) -> None:
        call = self.open_calls.pop(_string(block.get("tool_use_id")), None)
        if call is None:
            return
        self.settle()
        self._turn().answered = False
        parts = (part for part in _blocks(block.get("content")) if part.get("type") == "text")
        result = ReturnedResult("\n".join(_string(part.get("text")) for part in parts), block.get("is_error") is True)
        self._turn().calls.append(AnsweredCall(call, result))

    def _arrived(self, text: str) -> None:
        """Report arrivals at the end of the open turn, or start one."""
        self.settle()
        if not self.read.turns or self.read.turn.answered:
            self.read.turns.append(PastTurn())
        found = _ARRIVED.findall(text)
        self.read.turn.arrivals += [Arrival(kind, html.unescape(source), said.strip()) for kind, source, said in found]

    def _turn(self) -> PastTurn:
        if not self.read.turns:
            self.read.turns.append(PastTurn())
        return self.read.turn


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
_REQUEST_LINE = re.compile(r"^### Request \d+ \((answered|in progress)\)$")
_CALL_LINE = re.compile(r"^- `(?P<name>[^`]+)` (?P<input>\{.*\}) (?P<outcome>ok|failed): (?P<text>\".*\")$")
_ARRIVED_LINE = re.compile(r"^Arrived, `([^`]*)` from `([^`]*)`: (\".*\")$")


def summarise(conversation: PastConversation) -> str:
    """The conversation in a form that `parse_summary` reads back: prompts word for word, calls with their outcome.

    Texts are shortened, and in the end the oldest turns left out, until it fits into the output limit.
    """
    room = max(200, conversation.max_tokens * _CHARACTERS_A_TOKEN)
    turns = [turn for turn in conversation.turns if turn.prompt or turn.calls or turn.arrivals]
    sizes = [(excerpt, turns) for excerpt in _EXCERPTS]
    sizes += [(0, turns[left:]) for left in range(1, len(turns))]
    texts = (_summary(conversation.background, kept, excerpt) for excerpt, kept in sizes)
    return next((text for text in texts if len(text) <= room), _summary("", turns[-1:], 0)[:room])


def _summary(background: str, turns: list[PastTurn], excerpt: int) -> str:
    parts = [HEADING, f"## Before that\n{background[: excerpt or 80]}" if background else ""]
    parts.append("## Requests of the user, word for word, and the calls for each")
    parts += [_turn_lines(number, turn, number == len(turns), excerpt) for number, turn in enumerate(turns, 1)]
    is_open = bool(turns) and not turns[-1].answered
    parts.append(f"## Next\n{f'Finish request {len(turns)}.' if is_open else 'Wait for the next request.'}")
    return "\n\n".join(filter(None, parts))


def _turn_lines(number: int, turn: PastTurn, last: bool, excerpt: int) -> str:
    is_open = last and not turn.answered
    lines = [f"### Request {number} ({'in progress' if is_open else 'answered'})"]
    lines += [f"> {line}" for line in turn.prompt.split("\n")]
    for arrival in turn.arrivals if is_open else ():
        lines.append(f"Arrived, `{arrival.kind}` from `{arrival.source}`: {_quoted(arrival.text, excerpt)}")
    for one in turn.valid_calls if is_open else turn.calls:
        outcome, given = "failed" if one.result.failed else "ok", json.dumps(one.call.input, ensure_ascii=False)
        lines.append(f"- `{one.call.name}` {given} {outcome}: {_quoted(one.result.text, excerpt)}")
    return "\n".join([*lines, f"Answer: {_quoted(turn.said, excerpt)}"] if turn.said else lines)


def _quoted(text: str, excerpt: int) -> str:
    return json.dumps(text if len(text) <= excerpt else f"{text[:excerpt]} …", ensure_ascii=False)


def parse_summary(text: str) -> list[PastTurn]:
    """The turns in a summary that `summarise` wrote; none for any other summary."""
    turns: list[PastTurn] = []
    for line in text.split("\n") if HEADING in text else ():
        if _REQUEST_LINE.match(line):
            turns.append(PastTurn(answered="(answered)" in line))
        elif turns:
            _read_line(turns[-1], line)
    return turns


def _read_line(turn: PastTurn, line: str) -> None:
    try:
        if line.startswith("> ") and not turn.calls:
            turn.prompt = f"{turn.prompt}\n{line[2:]}" if turn.prompt else line[2:]
        elif found := _CALL_LINE.match(line):
            result = ReturnedResult(json.loads(found["text"]), found["outcome"] == "failed")
            turn.calls.append(AnsweredCall(ModelCall(found["name"], json.loads(found["input"])), result))
        elif found := _ARRIVED_LINE.match(line):
            turn.arrivals.append(Arrival(found[1], found[2], json.loads(found[3])))
        elif line.startswith('Answer: "'):
            turn.said = json.loads(line.removeprefix("Answer: "))
    except ValueError:
        return
