"""The tools that recall, remember and forget, and the search that recall uses."""

import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import Annotated

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from harness.base.external_text import visible
from harness.events import Json
from harness.memory.memory import (
    LONGEST_DESCRIPTION,
    Memory,
    MemoryDraft,
    MemoryOwner,
    MemoryType,
    StoreError,
)
from harness.memory.prompt_section import MemoryBook, line_of, list_text, memory_text
from harness.tools.files import file_work
from harness.tools.output import shorten
from harness.tools.tool import (
    RESULT_CHARACTERS,
    Effect,
    Tool,
    ToolArguments,
    ToolContext,
    ToolError,
    ToolResult,
    shorten_line,
)

REMEMBER, RECALL, FORGET = "remember", "recall", "forget"
MOST_RECALLED = 5
"""Memories that a query returns in full; others are listed in one line."""


class RememberArguments(ToolArguments):
    """Arguments of remember."""

    name: Annotated[str, Field(min_length=1, max_length=200)] = Field(
        description="A few words to find it by; an existing memory of that name is replaced."
    )
    description: Annotated[str, Field(min_length=1, max_length=LONGEST_DESCRIPTION)] = Field(
        description="One sentence that says what it is about; every session's prompt contains it."
    )
    type: MemoryType = Field(
        description="user: who the user is; feedback: how they want work done; "
        "project: facts about this project that no file contains; reference: where something is found."
    )
    text: Annotated[str, Field(min_length=1)] = Field(description="The fact itself, and why it holds.")
    place: MemoryOwner | SkipJsonSchema[None] = Field(
        default=None,
        description="person: for all of their projects; project: for this one. Default: by type.",
    )


class RecallArguments(ToolArguments):
    """Arguments of recall."""

    name: Annotated[str, Field(min_length=1)] | SkipJsonSchema[None] = Field(
        default=None, description="The memory to read."
    )
    query: Annotated[str, Field(min_length=1)] | SkipJsonSchema[None] = Field(
        default=None, description="Words to look for; without name and query a list of all."
    )


class ForgetArguments(ToolArguments):
    """Arguments of forget."""

    name: Annotated[str, Field(min_length=1)] = Field(description="The memory to forget.")
    place: MemoryOwner | SkipJsonSchema[None] = Field(
        default=None, description="Where it is, if both places have the name."
    )


def recall_tool(book: MemoryBook, result_characters: int = RESULT_CHARACTERS) -> Tool:
    """The tool recall."""

    def read(context: ToolContext, arguments: RecallArguments) -> ToolResult:
        found = book.store.find()
        if arguments.name is not None:
            chosen = found.named(arguments.name)
            if not chosen:
                raise ToolError(book.store.unknown(arguments.name))
        elif arguments.query is not None:
            chosen = matching(arguments.query, found.memories)
            if not chosen:
                return ToolResult("No memory contains these words.", summary="nothing")
        else:
            return ToolResult(list_text(found.memories), summary=_count(len(found.memories)))
        content, full = shorten(_recalled(chosen), result_characters, context.output_file)
        return ToolResult(content, summary=_count(len(chosen)), full_output=full)

    return Tool(
        name=RECALL,
        description="Read memories of earlier sessions: one by its name, or those that contain given words.",
        arguments=RecallArguments,
        effect=Effect.READ,
        run=file_work(read),
        summarise=_recall_summary,
        parallel=True,
    )


def keeping_tools(book: MemoryBook) -> tuple[Tool, ...]:
    """The tools remember and forget. They write only to the store, and like every write they need permission."""

    def remember(_: ToolContext, arguments: RememberArguments) -> ToolResult:
        draft = MemoryDraft(arguments.name, arguments.description, arguments.type, arguments.text)
        try:
            memory = book.store.keep(draft, arguments.place or book.store.usual_place(arguments.type))
        except StoreError as error:
            raise ToolError(str(error)) from error
        return ToolResult(f"Remembered as {memory.name}, for the {memory.place}.", summary=f"as {memory.name}")

    def forget(_: ToolContext, arguments: ForgetArguments) -> ToolResult:
        try:
            place = book.store.forget(arguments.name, arguments.place)
        except StoreError as error:
            raise ToolError(str(error)) from error
        return ToolResult(f"Forgotten; the user can restore it with /memory undo. It belonged to the {place}.")

    return (
        Tool(
            name=REMEMBER,
            description="Store a fact for later sessions. The user is asked first, as before any write.",
            arguments=RememberArguments,
            effect=Effect.WRITE,
            run=file_work(remember),
            summarise=_name,
            preview=partial(_preview, book),
            idempotent=True,
        ),
        Tool(
            name=FORGET,
            description="Delete a memory.",
            arguments=ForgetArguments,
            effect=Effect.WRITE,
            run=file_work(forget),
            summarise=_name,
            idempotent=False,
        ),
    )


def _recalled(chosen: tuple[Memory, ...]) -> str:
    texts = [memory_text(memory) for memory in chosen[:MOST_RECALLED]]
    if rest := chosen[MOST_RECALLED:]:
        texts.append("\n".join(("These also contain some of the words; read one by its name:", *map(line_of, rest))))
    return "\n\n---\n\n".join(texts)


def _preview(book: MemoryBook, context: ToolContext, arguments: RememberArguments) -> str:
    place = arguments.place or book.store.usual_place(arguments.type)
    return f"{arguments.type} memory for the {place}: {arguments.description}\n\n{arguments.text}"


def _count(number: int) -> str:
    return f"{number} {'memory' if number == 1 else 'memories'}"


def _name(input: Json) -> str:
    return shorten_line(visible(" ".join(str(input[key]) for key in ("name", "place") if input.get(key))))


def _recall_summary(input: Json) -> str:
    return shorten_line(" ".join(str(input[key]) for key in ("name", "query") if input.get(key)) or "(all)")


WEIGHTS = (4, 2, 1)
"""Weights of a word found in the name, the description and the text."""

STEM = 6
"""Letters of a word that are compared, so that "indented" finds "indentation"."""

_WORD = re.compile(r"[^\W_]+")
_WITHOUT_SPACES = re.compile(r"([\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]+)")
"""Kana and kanji, which are written without spaces between words."""
_SMALL = frozenset(
    _WORD.findall(
        "a an and are as at be by do does did for from had has have how i in is it me my of on or our that the there "
        "this to us was we what when where which who why will with you your about know remember"
    )
)
"""Words that every text has."""


def matching(query: str, memories: Sequence[Memory]) -> tuple[Memory, ...]:
    """The memories that share a word with the query, best first, then newest first."""
    wanted = words_of(query)
    scored = [(_score(wanted, memory), memory) for memory in memories]
    best = sorted(scored, key=lambda one: (-one[0], -one[1].updated, one[1].place, one[1].name))
    return tuple(memory for score, memory in best if score)


def words_of(text: str) -> frozenset[str]:
    """The stems of the significant words; in scripts without spaces, each pair of neighbouring characters."""
    return frozenset(_words(text))


def _words(text: str) -> Iterable[str]:
    for run in _WORD.findall(text.casefold()):
        for part in _WITHOUT_SPACES.split(run):
            if _WITHOUT_SPACES.fullmatch(part):
                yield from (part[at : at + 2] for at in range(max(1, len(part) - 1)))
            elif part not in _SMALL:
                yield (part.removesuffix("s") if len(part) > 3 else part)[:STEM]


def _score(wanted: frozenset[str], memory: Memory) -> int:
    parts = (memory.name, memory.description, memory.text)
    return sum(weight * len(wanted & words_of(part)) for weight, part in zip(WEIGHTS, parts, strict=True))
