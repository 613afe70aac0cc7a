"""Every fault at every place of every kind of reply: the cells of a grid, and the model that is behind them.

A cell is one turn. One fault strikes in the reply to its first request; every later request
is answered whole, by a model that reads the history and continues from there.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import cycle

from harness.events import Json
from harness.practice.faults import model_faults
from harness.practice.faults.model_faults import At, StatusFault, StreamFault
from harness.practice.script import Script
from harness.practice.script.entries import PlayReply, ScriptEntry, When
from harness.practice.wire.prepared_reply import ByteCounter, prepare
from harness.practice.wire.replies import Part, ScriptedReply, TextPart, ThinkingPart, ToolUse, frames
from tests.whole import WHOLE

SHARE = 61
"""One cell in so many is played when the grid is not played whole, which still has every fault, every shape and every
place."""
SMALL = 6
"""Groups of so few cells are played whole."""

FIRST = "The first half of the answer lies in the morning."
SECOND = " The second half is what the evening makes of it."
AFTER_TOOLS = "Both notes are written, and that is the whole of it."
LONG = " ".join(f"Sentence number {number} of a long answer." for number in range(1, 16))


HARMLESS = {"byte_by_byte", "comments", "crlf", "missing_usage"}
"""Faults that spoil nothing: they may cost no request."""

NOTHING_ARRIVES = {"data_only", "html_body", "json_body"}
"""Faults that lose every word of the reply: continuing and starting over are the same."""


class Mode(StrEnum):
    """How the model continues a reply that broke off."""

    CONTINUES = "continues"
    """It says the missing part."""
    STARTS_OVER = "starts over"
    """It says all of it again."""


@dataclass(frozen=True, slots=True)
class Shape:
    """A reply as the model means it."""

    name: str
    parts: tuple[Part, ...]
    chunk: int = 40

    @property
    def calls(self) -> tuple[ToolUse, ...]:
        """Its tool calls."""
        return tuple(part for part in self.parts if isinstance(part, ToolUse))

    @property
    def answer(self) -> str:
        """The final answer."""
        return AFTER_TOOLS if self.calls else "".join(part.text for part in self.parts if isinstance(part, TextPart))

    @property
    def requests(self) -> int:
        """How many it takes when nothing goes wrong."""
        return 2 if self.calls else 1

    def reply(self, parts: tuple[Part, ...] | None = None) -> ScriptedReply:
        """The reply, or one of these `parts` of it."""
        return ScriptedReply(self.parts if parts is None else parts, chunk_size=self.chunk)

    def events(self) -> list[str | None]:
        """The names of its events, in order."""
        prepared = prepare(self.reply(), {"model": "practice-1", "messages": [{}]}, ByteCounter())
        return [event.name for event in frames(prepared.reply, prepared.envelope)]


def note(name: str) -> ToolUse:
    """A call of the test's tool; the number of the cell is inserted before the script is played."""
    return ToolUse("note", {"marker": name})


SHAPES = (
    Shape("one text", (TextPart(FIRST + SECOND),)),
    Shape("text and a call", (TextPart(FIRST), note("one"))),
    Shape("two calls", (note("one"), note("two"))),
    Shape("thinking and text", (ThinkingPart("Morning, then evening."), TextPart(FIRST + SECOND))),
    Shape("thinking, text and a call", (ThinkingPart("A note is due."), TextPart(FIRST), note("one"))),
    Shape("long text", (TextPart(LONG),)),
    Shape("two texts", (TextPart(FIRST), TextPart(SECOND))),
    Shape("text around a call", (TextPart(FIRST), note("one"), TextPart(SECOND))),
    Shape("text and two calls in small pieces", (TextPart(FIRST), note("one"), note("two")), chunk=7),
)


@dataclass(frozen=True, slots=True)
class Cell:
    """One turn of the grid."""

    number: int
    shape: Shape
    fault: StreamFault | StatusFault
    mode: Mode

    @property
    def key(self) -> str:
        """Part of its prompt, and of no other cell's."""
        return f"[cell {self.number}]"

    @property
    def prompt(self) -> str:
        """The prompt."""
        return f"What is the answer? {self.key}"

    def marker(self, call: ToolUse) -> str:
        """What the call leaves behind in this cell."""
        return f"{self.number}-{call.input['marker']}"

    @property
    def most_requests(self) -> int:
        """The allowed number of requests: the fault costs at most one."""
        harmless = not isinstance(self.fault, StatusFault) and self.fault.kind in HARMLESS
        return self.shape.requests if harmless else self.shape.requests + 1

    def parts(self) -> tuple[Part, ...]:
        """The shape's parts, with calls that are this cell's own."""
        return tuple(
            ToolUse(part.name, {"marker": self.marker(part)}) if isinstance(part, ToolUse) else part
            for part in self.shape.parts
        )

    def step(self) -> ScriptEntry:
        """The entry of a script that answers its first request."""
        when = When(text=self.key)
        if isinstance(self.fault, StatusFault):
            return ScriptEntry(self.fault, when=when)
        return ScriptEntry(PlayReply(self.shape.reply(self.parts()), self.fault), when=when)

    def __str__(self) -> str:
        return f"{self.shape.name}, {self.fault}, the model {self.mode}"


class Model:
    """Answers whatever is asked after a fault. A pure function of the request, as models are."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        self._cells = {cell.key: cell for cell in cells}

    def answer(self, request: Json) -> ScriptedReply:
        """Say the missing part or everything again, as the cell demands."""
        messages = request["messages"]
        cell = next(cell for key, cell in self._cells.items() if key in str(messages[0]["content"]))
        blocks = [block for message in messages for block in message["content"]]
        noted = {str(block["content"]) for block in blocks if block["type"] == "tool_result"}
        said = {block["text"] for block in blocks if block["type"] == "text"}
        if cell.shape.calls and all(f"noted {cell.marker(call)}" in noted for call in cell.shape.calls):
            return cell.shape.reply((TextPart(AFTER_TOOLS),))
        return cell.shape.reply(tuple(part for part in cell.parts() if self._due(part, cell.mode, said, noted)))

    def _due(self, part: Part, mode: Mode, said: set[str], noted: set[str]) -> bool:
        match part:
            case ToolUse(input=given):
                return f"noted {given['marker']}" not in noted
            case TextPart(text):
                return mode is Mode.STARTS_OVER or text not in said
            case _:
                return mode is Mode.STARTS_OVER or not said & {FIRST, SECOND, FIRST + SECOND}


def script(cells: Sequence[Cell]) -> Script:
    """The script that plays all of them, in any order."""
    return Script([cell.step() for cell in cells])


def faults_of(kind: str, shape: Shape) -> Iterator[StreamFault]:
    """Every fault of a kind, at every place of a reply where it can strike."""
    tools = range(1, len(shape.calls) + 1)
    match model_faults.KINDS[kind]:
        case model_faults.ErrorEvent:
            for at in places(shape):
                yield from (model_faults.ErrorEvent(at, type) for type in PASSING)
                yield model_faults.ErrorEvent(at, raw="upstream went away")
        case model_faults.Stall:
            yield from (model_faults.Stall(at) for at in ("headers", *places(shape)))
            yield from (model_faults.Stall(at, seconds=0.02) for at in ("headers", *places(shape)))
        case model_faults.PingsOnly:
            yield from (model_faults.PingsOnly(at, every_s=0.05) for at in places(shape))
            yield from (model_faults.PingsOnly(at, every_s=0.01, count=2) for at in places(shape))
        case model_faults.Omit:
            yield from (model_faults.Omit((name,)) for name in sorted({name for name in shape.events() if name}))
            yield model_faults.Omit(("content_block_stop", "message_stop"))
            yield model_faults.Omit(("message_delta", "message_stop"))
        case model_faults.CutTool:
            for ending in ("max_tokens", "end", "reset", "silent"):
                yield from (model_faults.CutTool(room, ending, tool) for tool in tools for room in (0, 1, 10, 18))
        case model_faults.ToolJson:
            yield from (model_faults.ToolJson(text, tool) for tool in tools for text in WRONG_INPUTS)
        case model_faults.StopReason:
            yield from (model_faults.StopReason(value) for value in ("out_of_ink", "stop_sequence"))
        case model_faults.Reset | model_faults.CutChunk | model_faults.CleanEnd as cut:
            yield from (cut(at) for at in ("headers", *places(shape)))
        case type_ if "at" in type_.__dataclass_fields__:
            yield from (type_(at=at) for at in places(shape))  # type: ignore[call-arg]
        case type_:
            yield type_()


PASSING = ("overloaded_error", "api_error", "rate_limit_error", "timeout_error", "weather_error")
"""Types of an error event after which the same request may succeed."""
WRONG_INPUTS = (
    '{"marker": }',
    '["marker"]',
    '{"marker":"a","marker":"b"}',
    '{"marker":NaN}',
    '{"marker":7}',
    "null",
    '"',
    "",
    '{"marker":"\\ud800',
    '{"marker":' + "[" * 3000,
)


PASSING_STATUSES = (408, 409, 429, 500, 502, 503, 504, 520, 529)
WITH_BODIES = {429, 500, 502, 503, 529}
"""Those that something between us and the API answers with a body of its own."""


def places(shape: Shape) -> list[At]:
    """Before each event of the reply, and after the last."""
    return [*range(len(shape.events())), "end"]


def failures(status: int) -> Iterator[StatusFault]:
    """An HTTP error that passes, with every header and every body that may come with it."""
    headers: tuple[dict[str, str], ...] = (
        {},
        {"retry-after": "1"},
        {"retry-after": "0"},
        {"retry-after": "-5"},
        {"retry-after": "soon"},
        {"retry-after": "nan"},
        {"retry-after": "1e400"},
        {"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"},
        {"retry-after-ms": "1500"},
        {"retry-after-ms": "inf", "retry-after": "2"},
        {"x-should-retry": "true"},
        {"x-should-retry": "perhaps", "retry-after": ""},
    )
    yield from (StatusFault(status, headers=header) for header in headers)
    if status in WITH_BODIES:
        bodies = ("<html><h1>Bad Gateway</h1></html>", "upstream connect error", "", "{", '{"error": null}', "[1, 2]")
        yield from (StatusFault(status, body=body) for body in bodies)


def cells_of_status(status: int) -> list[Cell]:
    """The cells for one status. A reply comes only after it, so in part of the grid they take turns in its shape."""
    shapes = SHAPES[:2]
    faults = tuple(failures(status))
    every = [(fault, shape) for fault in faults for shape in shapes]
    chosen = every if WHOLE else list(zip(faults, cycle(shapes)))
    return [Cell(number, shape, fault, Mode.CONTINUES) for number, (fault, shape) in enumerate(chosen, 1)]


def cells_of(kind: str, shapes: Sequence[Shape]) -> list[Cell]:
    """The cells for one kind of fault in these shapes of reply."""
    modes = (Mode.CONTINUES,) if kind in HARMLESS | NOTHING_ARRIVES else tuple(Mode)
    cells: list[Cell] = []
    for shape in shapes:
        every = [(fault, mode) for fault in faults_of(kind, shape) for mode in modes]
        # Another beginning for each group, so that a place left out in one is played in the next.
        begin = (len(kind) + len(shape.name)) % min(SHARE, len(every) or 1)
        chosen = every if WHOLE or len(every) <= SMALL else every[begin::SHARE]
        cells += [Cell(number, shape, fault, mode) for number, (fault, mode) in enumerate(chosen, len(cells) + 1)]
    return cells
