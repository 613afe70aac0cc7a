"""read_file: a range of lines of a text file, numbered; an image or a PDF as it is, also one that a user has named."""

import io
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import BinaryIO, TextIO

from pydantic import Field

from harness.base.external_text import counted
from harness.base.files import read_regular
from harness.events import Json
from harness.media.attachment import MediaError, attachment
from harness.media.formats import MOST_FILE_BYTES, media_type
from harness.tools.files import file_work, on_disk, open_inside, path_of, readable_path, revision
from harness.tools.seen_files import COMPARED_BYTES, version_of
from harness.tools.text_encoding import BYTE_ORDER_MARKS, TextEncoding, encoding_of
from harness.tools.tool import (
    RESULT_CHARACTERS,
    Effect,
    PathArgument,
    Tool,
    ToolArguments,
    ToolContext,
    ToolError,
    ToolResult,
)
from harness.tools.workspace import PathError, require_file

LINE_CHARACTERS = 2_000
"""Longer lines are cut when shown."""
LONGEST_LINE = 20_000_000
"""Characters; a longer line has no end that is worth waiting for."""
PIECE_CHARACTERS = 65_536
"""How much of a long line is skipped at once."""
HEAD_BYTES = 8_192
"""Bytes of a file that are checked to distinguish text from binary."""
MAGIC = (
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "gzip data"),
    (b"\x7fELF", "an ELF program"),
    (b"SQLite format 3", "an SQLite database"),
)


class ReadFileArguments(ToolArguments):
    """Arguments of read_file."""

    path: PathArgument = Field(description="The file, relative to the workspace or absolute inside it.")
    offset: int = Field(default=1, ge=1, description="First line to read, counted from 1.")
    limit: int = Field(default=2_000, ge=1, description="Most lines to read.")


def read_file_tool(result_characters: int = RESULT_CHARACTERS) -> Tool:
    """The tool read_file."""

    async def read_file(context: ToolContext, arguments: ReadFileArguments) -> ToolResult:
        stop = threading.Event()
        return await on_disk(lambda: _read(context, arguments, result_characters, stop), on_cancel=stop.set)

    return Tool(
        name="read_file",
        description=(
            "Read a text file. Every line comes with its number and a tab before it, which are not part of the file. "
            "Of a long file, read the part you need with offset and limit; a note says where to continue. "
            "Images and PDF files are shown to you whole."
        ),
        arguments=ReadFileArguments,
        effect=Effect.READ,
        run=read_file,
        summarise=_summary,
        parallel=True,
        resource=lambda input: path_of(input) if input.keys() <= {"path"} else None,
        stays_inside=True,
        caches=False,
    )


@dataclass(slots=True)
class _Numbered:
    """The lines that go into a result."""

    room: int
    lines: list[str]
    cut: int = 0
    damaged: int = 0

    def add(self, number: int, line: str) -> bool:
        """Take one line; False when there is no room for it."""
        clean = line.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        shown = f"{number:>6}\t{clean[:LINE_CHARACTERS]}"
        if len(clean) > LINE_CHARACTERS:
            shown += f" … (line cut; it has {len(clean):,} characters or more)"
        if self.lines and len(shown) >= self.room:
            return False
        self.room -= len(shown) + 1
        self.cut += len(clean) > LINE_CHARACTERS
        self.damaged += clean != line
        self.lines.append(shown)
        return True


def is_binary(head: bytes) -> bool:
    """Whether a file that begins with `head` is no text: it has a null byte and no mark of UTF-16 or UTF-32."""
    return b"\0" in head and not any(head.startswith(mark) for mark, _ in BYTE_ORDER_MARKS)


def _read(context: ToolContext, arguments: ReadFileArguments, room: int, stop: threading.Event) -> ToolResult:
    path = readable_path(context, arguments.path)
    size = require_file(path, arguments.path)
    as_of = _kept_at(context, path)
    numbered = _Numbered(room - 400, [])
    next_line = None
    with open_inside(context, path) as file:
        if media_type(file.read(HEAD_BYTES)) is not None:
            data = _media_file(file, arguments.path, size)
            context.seen.saw(path, version_of(os.fstat(file.fileno()), data))
            return replace(media_result(data, arguments.path), as_of=as_of, revision=revision(context, path, data))
        _require_text(file, arguments.path, size)
        status, data = os.fstat(file.fileno()), file.read(COMPARED_BYTES + 1)
        context.seen.saw(path, version_of(status, data))
        whole = arguments.model_fields_set <= {"path"} and len(data) <= COMPARED_BYTES
        read = revision(context, path, data) if whole else None
        if not data:
            return ToolResult("(the file is empty)", summary="empty", as_of=as_of, revision=read)
        encoding = encoding_of(data)
        file.seek(len(encoding.mark))
        # Lines end at \n alone, so that their numbers agree with grep and with editors.
        errors = "replace" if encoding.codec.startswith(("utf-16", "utf-32")) else "surrogateescape"
        lines = _lines(io.TextIOWrapper(file, encoding.codec, errors, newline="\n"), arguments.path, stop)
        skipped = sum(1 for _ in islice(lines, arguments.offset - 1))
        for number, line in enumerate(lines, arguments.offset):
            if len(numbered.lines) == arguments.limit or not numbered.add(number, line):
                next_line = number
                break
    if not numbered.lines:
        raise ToolError(
            f"{arguments.path} has only {counted(skipped, 'line')}; offset {arguments.offset} is past its end."
        )
    notes = _notes(numbered, encoding, next_line)
    count = len(numbered.lines)
    text = "\n".join([*numbered.lines, *notes])
    return ToolResult(text, summary=counted(count, "line"), as_of=as_of, revision=read)


def _kept_at(context: ToolContext, path: Path) -> float | None:
    """Unix time of a result of an earlier call that is read again from where it was kept; None for any other file.

    The file of a command in the background may still be written to, and is like any other.
    """
    kept = path.is_relative_to(context.outputs.resolve()) and path.suffix == ".txt"
    return path.stat().st_mtime if kept else None


def _notes(numbered: _Numbered, encoding: TextEncoding, next_line: int | None) -> Iterator[str]:
    if not encoding.is_utf8:
        yield f"[The file is {encoding.name}; shown as text. write_file and edit_file keep the encoding.]"
    if numbered.damaged:
        lines = counted(numbered.damaged, "line")
        yield f"[Not valid UTF-8: bad bytes, on {lines}, are shown as \N{REPLACEMENT CHARACTER}.]"
    if next_line is not None:
        yield f"[More lines follow: continue with offset={next_line}.]"


def _media_file(file: BinaryIO, shown: str, size: int) -> bytes:
    if size > MOST_FILE_BYTES:
        raise ToolError(f"{shown} has {size:,} bytes, and an image or PDF may have {MOST_FILE_BYTES:,}.")
    file.seek(0)
    return file.read(MOST_FILE_BYTES)


def media_result(data: bytes, name: str) -> ToolResult:
    """The result of reading an image or PDF. Raises ToolError, one sentence, for one that cannot be sent."""
    try:
        made = attachment(data, name)
    except MediaError as error:
        raise ToolError(str(error)) from error
    return ToolResult(made.words, summary=made.size, media=(made.block,))


def _require_text(file: BinaryIO, shown: str, size: int) -> None:
    """Raises ToolError for a binary file."""
    file.seek(0)
    head = file.read(HEAD_BYTES)
    file.seek(0)
    if is_binary(head) or any(head.startswith(magic) for magic, _ in MAGIC):
        named = next((name for magic, name in MAGIC if head.startswith(magic)), "a binary file")
        raise ToolError(
            f"{shown} is {named} of {size:,} bytes, not text. Use bash with a program that knows the format."
        )


def _lines(file: TextIO, shown: str, stop: threading.Event) -> Iterator[str]:
    """Lines without their end, of a long one only the head. Ends early once `stop` is set.

    Raises `ToolError` for a line of more than `LONGEST_LINE` characters.
    """
    while not stop.is_set() and (line := file.readline(LINE_CHARACTERS * 2)):
        rest, length = line, len(line)
        while not stop.is_set() and not rest.endswith("\n") and (rest := file.readline(PIECE_CHARACTERS)):
            length += len(rest)
            if length > LONGEST_LINE:
                raise ToolError(
                    f"{shown} has a line of more than {LONGEST_LINE:,} characters; use bash with head -c or cut."
                )
        yield line.removesuffix("\n").removesuffix("\r")


def _summary(input: Json) -> str:
    path, offset = input.get("path", ""), input.get("offset", 1)
    return f"{path} from line {offset}" if offset != 1 else f"{path}"


# ── files that a user has named ─────────────────────────────────────────────────────────────────────


def attachment_tool() -> Tool:
    """`read_file` for a file that the user has named: images and PDF files only, also outside the workspace.

    Permissions and hooks see a call of read_file. Whether a file outside the workspace may be read is asked before.
    """
    return Tool(
        name="read_file",
        description="Read an image or PDF that the user has named.",
        arguments=ReadFileArguments,
        effect=Effect.READ,
        run=file_work(_attach),
        summarise=lambda input: str(input.get("path", "")),
        resource=path_of,
        caches=False,
    )


def real_path(root: Path, path: str) -> Path:
    """Where a path leads that a user has written: from `root` on, with `~` for the home folder. Raises PathError."""
    try:
        return (root / Path(path).expanduser()).resolve()
    except (ValueError, OSError, RuntimeError) as error:
        raise PathError(f"{path!r} is not a usable path: {error}.") from error


def _attach(context: ToolContext, arguments: ReadFileArguments) -> ToolResult:
    path = arguments.path
    real = real_path(context.workspace.root, path)
    size = require_file(real, path)
    if size > MOST_FILE_BYTES:
        raise ToolError(f"{path} has {size:,} bytes; an attachment may have {MOST_FILE_BYTES:,}.")
    if any(real.is_relative_to(root) for root in (*context.workspace.roots, context.outputs.resolve())):
        with open_inside(context, real) as file:
            data = file.read(MOST_FILE_BYTES)
    else:
        data = read_regular(real, MOST_FILE_BYTES)
    if media_type(data[:HEAD_BYTES]) is None:
        raise ToolError(f"{path} is neither an image nor a PDF.")
    return media_result(data, path)
