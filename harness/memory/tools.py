"""remember, recall, forget: what a model can do with memories."""

from typing import Annotated

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from harness.base.terminal_text import visible
from harness.events import Json
from harness.memory.memory import LONGEST_DESCRIPTION, USUAL_PLACE, Draft, Memory, MemoryType, Place, StoreError
from harness.memory.prompt_texts import line_of, list_text, memory_text
from harness.memory.search import matching
from harness.memory.session_memories import MemoryBook
from harness.tools.arguments import Arguments
from harness.tools.files import on_disk
from harness.tools.output import shorten
from harness.tools.tool import RESULT_CHARACTERS, Effect, Tool, ToolContext, ToolError, ToolResult, shorten_line

REMEMBER, RECALL, FORGET = "remember", "recall", "forget"
MOST_RECALLED = 5
"""Memories whose text a query brings; of others their lines (facts/lessons.md, s09)."""


class RememberArguments(Arguments):
    """Arguments of remember."""

    name: Annotated[str, Field(min_length=1, max_length=200)] = Field(
        description="A few words to find it by; an existing name is written over."
    )
    description: Annotated[str, Field(min_length=1, max_length=LONGEST_DESCRIPTION)] = Field(
        description="One sentence that says what it is about; it stands in the prompt of every session."
    )
    type: MemoryType = Field(
        description="user: who the person is; feedback: how they want work done; "
        "project: what is so here and stands in no file; reference: where something is found."
    )
    text: Annotated[str, Field(min_length=1)] = Field(description="The fact itself, and why it holds.")
    place: Place | SkipJsonSchema[None] = Field(
        default=None,
        description="person: for all of their projects; project: for this one. Without it the type decides.",
    )


class RecallArguments(Arguments):
    """Arguments of recall."""

    name: Annotated[str, Field(min_length=1)] | SkipJsonSchema[None] = Field(
        default=None, description="The memory to read."
    )
    query: Annotated[str, Field(min_length=1)] | SkipJsonSchema[None] = Field(
        default=None, description="Words to look for; without name and query a list of all."
    )


class ForgetArguments(Arguments):
    """Arguments of forget."""

    name: Annotated[str, Field(min_length=1)] = Field(description="The memory to forget.")
    place: Place | SkipJsonSchema[None] = Field(default=None, description="Where it is, if both places have the name.")


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
                return ToolResult("Nothing that is remembered has these words.", summary="nothing")
        else:
            return ToolResult(list_text(found.memories), summary=_count(len(found.memories)))
        content, full = shorten(_recalled(chosen), result_characters, context.output_file)
        return ToolResult(content, summary=_count(len(chosen)), full_output=full)

    async def run(context: ToolContext, arguments: RecallArguments) -> ToolResult:
        return await on_disk(lambda: read(context, arguments))

    return Tool(
        name=RECALL,
        description="Read what earlier sessions have remembered: one memory by its name, or those with these words.",
        arguments=RecallArguments,
        effect=Effect.READ,
        run=run,
        summarise=_recall_summary,
        parallel=True,
    )


def keeping_tools(book: MemoryBook) -> tuple[Tool, ...]:
    """The tools remember and forget. They write nowhere but into the store, and like all that writes they ask."""

    def remember(arguments: RememberArguments) -> ToolResult:
        draft = Draft(arguments.name, arguments.description, arguments.type, arguments.text)
        try:
            memory = book.store.keep(draft, arguments.place or USUAL_PLACE[arguments.type])
        except StoreError as error:
            raise ToolError(str(error)) from error
        return ToolResult(f"Remembered as {memory.name}, for the {memory.place}.", summary=f"as {memory.name}")

    def forget(arguments: ForgetArguments) -> ToolResult:
        try:
            place = book.store.forget(arguments.name, arguments.place)
        except StoreError as error:
            raise ToolError(str(error)) from error
        return ToolResult(f"Forgotten; the person can bring it back with /memory undo. It was of the {place}.")

    async def run_remember(context: ToolContext, arguments: RememberArguments) -> ToolResult:
        return await on_disk(lambda: remember(arguments))

    async def run_forget(context: ToolContext, arguments: ForgetArguments) -> ToolResult:
        return await on_disk(lambda: forget(arguments))

    return (
        Tool(
            name=REMEMBER,
            description="Keep a fact for later sessions. Asks the person first, as all that writes.",
            arguments=RememberArguments,
            effect=Effect.WRITE,
            run=run_remember,
            summarise=_name,
            preview=_preview,
            idempotent=True,
        ),
        Tool(
            name=FORGET,
            description="Do not remember something any longer.",
            arguments=ForgetArguments,
            effect=Effect.WRITE,
            run=run_forget,
            summarise=_name,
            idempotent=False,
        ),
    )


def _recalled(chosen: tuple[Memory, ...]) -> str:
    texts = [memory_text(memory) for memory in chosen[:MOST_RECALLED]]
    if rest := chosen[MOST_RECALLED:]:
        texts.append("\n".join(("These have some of the words, too; read one by its name:", *map(line_of, rest))))
    return "\n\n---\n\n".join(texts)


def _preview(context: ToolContext, arguments: RememberArguments) -> str:
    place = arguments.place or USUAL_PLACE[arguments.type]
    return f"{arguments.type} memory for the {place}: {arguments.description}\n\n{arguments.text}"


def _count(number: int) -> str:
    return f"{number} {'memory' if number == 1 else 'memories'}"


def _name(input: Json) -> str:
    return shorten_line(visible(" ".join(str(input[key]) for key in ("name", "place") if input.get(key))))


def _recall_summary(input: Json) -> str:
    return shorten_line(" ".join(str(input[key]) for key in ("name", "query") if input.get(key)) or "(all)")
