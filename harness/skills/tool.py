"""skill: the text of a skill, or of a file that belongs to it."""

from typing import Annotated

from pydantic import Field
from pydantic.json_schema import SkipJsonSchema

from harness.base.external_text import counted
from harness.base.files import read_regular
from harness.events import Json
from harness.skills.book import FILE, Skill, SkillBook, list_text, skill_text
from harness.tools.files import file_work
from harness.tools.output import shorten
from harness.tools.tool import (
    RESULT_CHARACTERS,
    Effect,
    PathArgument,
    Tool,
    ToolArguments,
    ToolContext,
    ToolError,
    ToolResult,
    shorten_line,
)
from harness.tools.workspace import OutsideWorkspace, require_file, resolve_within

SKILL = "skill"
MOST_BYTES = 2_000_000
"""Of a file that belongs to a skill."""


class SkillArguments(ToolArguments):
    """Arguments of skill."""

    name: Annotated[str, Field(min_length=1)] | SkipJsonSchema[None] = Field(
        default=None, description="The skill to read; without it a list of all."
    )
    file: PathArgument | SkipJsonSchema[None] = Field(
        default=None, description="A file of the skill's folder to read instead of its text."
    )


def skill_tool(book: SkillBook, result_characters: int = RESULT_CHARACTERS) -> Tool:
    """The tool skill for the skills in this book."""

    def read(context: ToolContext, arguments: SkillArguments) -> ToolResult:
        if arguments.name is None:
            return ToolResult(list_text(book.skills), summary=counted(len(book.skills), "skill"))
        skill = book.get(arguments.name)
        if skill is None:
            raise ToolError(book.unknown(arguments.name))
        text = skill_text(skill) if arguments.file is None else _file(skill, arguments.file)
        content, full = shorten(text, result_characters, context.output_file)
        lines = text.count("\n") + 1
        return ToolResult(content, summary=counted(lines, "line"), full_output=full)

    def opens(input: Json) -> str | None:
        skill, file = book.get(str(input.get("name"))), input.get("file") or FILE
        return None if skill is None else str(skill.folder / str(file))

    return Tool(
        name=SKILL,
        description=(
            "Read a skill: a text that says how a kind of work is done here, with the files that belong to it. "
            "Read it before you begin such work."
        ),
        arguments=SkillArguments,
        effect=Effect.READ,
        run=file_work(read),
        summarise=_summary,
        parallel=True,
        opens=opens,
    )


def _file(skill: Skill, name: str) -> str:
    """Raises PathError or ToolError, with what to do instead."""
    try:
        path = resolve_within(name, skill.folder)
    except OutsideWorkspace as error:
        raise ToolError(
            f"{name} is not a file of the skill {skill.name}: it lies outside of {skill.folder}."
        ) from error
    if require_file(path, name) > MOST_BYTES:
        raise ToolError(f"{name} has more than {MOST_BYTES:,} bytes. Use bash with the path {path}.")
    data = read_regular(path, MOST_BYTES)
    if b"\0" in data:
        raise ToolError(f"{name} is no text. Use bash with a program that knows the format; it is {path}.")
    return data.decode("utf-8-sig", "replace") or "(the file is empty)"


def _summary(input: Json) -> str:
    return shorten_line(" ".join(str(input[key]) for key in ("name", "file") if input.get(key)) or "(which there are)")
