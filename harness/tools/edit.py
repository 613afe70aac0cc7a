"""write_file and edit_file: whole files and exact replacements, written atomically, with a diff."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from hashlib import sha256
from itertools import islice
from pathlib import Path

from pydantic import Field

from harness.base.external_text import counted
from harness.events import Json
from harness.tools.diff import Diff, unified_diff
from harness.tools.files import file_work, path_of, revision
from harness.tools.read_file import is_binary
from harness.tools.seen_files import COMPARED_BYTES, version_of
from harness.tools.text_encoding import UTF8, TextEncoding, encoding_of
from harness.tools.tool import Effect, PathArgument, Tool, ToolArguments, ToolContext, ToolError, ToolResult
from harness.tools.tree import FolderTree
from harness.tools.workspace import PathError, require_file

HINT_LINES = 20_000
"""In longer files the nearest line is not looked for."""
HINT_CHARACTERS = 400
"""Longer lines are not compared: that takes the square of their length."""
CHANGED = "{path} has changed since you last read or wrote it. Read it again before you change it."
MOST_OCCURRENCES = 100
"""That are counted before an edit is refused because there are several."""


class WriteFileArguments(ToolArguments):
    """Arguments of write_file."""

    path: PathArgument = Field(description="The file, relative to the workspace or absolute inside it.")
    content: str = Field(description="The whole new content.")


class EditFileArguments(ToolArguments):
    """Arguments of edit_file."""

    path: PathArgument = Field(description="The file, relative to the workspace or absolute inside it.")
    old_string: str = Field(
        description="The text to replace, exactly as in the file, without line numbers.", min_length=1
    )
    new_string: str = Field(description="The text that takes its place.")
    replace_all: bool = Field(default=False, description="Replace every occurrence instead of the only one.")


@dataclass(frozen=True, slots=True)
class PlannedEdit:
    """What a call will write, worked out before anybody is asked and again before it is done."""

    path: Path
    shown: str
    before: bytes | None
    """None: the file does not exist yet."""
    after: bytes
    encoding: TextEncoding = UTF8
    version: str = ""
    """Of the content before; empty: the file does not exist yet."""
    replaced: int = 0

    @property
    def diff(self) -> Diff:
        """The change, for display."""
        return unified_diff(self._text(self.before or b""), self._text(self.after), self.shown)

    def _text(self, data: bytes) -> str:
        return data.removeprefix(self.encoding.mark).decode(self.encoding.codec, "replace")


def write_file_tool() -> Tool:
    """The tool write_file."""
    return Tool(
        name="write_file",
        description=(
            "Write a whole file: a new one, with the folders it needs, or in place of an old one that you have read "
            "and that has not changed since. To change a part of a file, edit_file is the better tool."
        ),
        arguments=WriteFileArguments,
        effect=Effect.WRITE,
        run=file_work(_write_file),
        summarise=_summary,
        resource=path_of,
        stays_inside=True,
        preview=lambda context, arguments: _preview(lambda: plan_write(context, arguments)),
    )


def edit_file_tool() -> Tool:
    """The tool edit_file."""
    return Tool(
        name="edit_file",
        description=(
            "Replace an exact piece of text in a file. It must occur exactly once, so give enough lines around it, or "
            "set replace_all. Read the file first."
        ),
        arguments=EditFileArguments,
        effect=Effect.WRITE,
        run=file_work(_edit_file),
        summarise=_summary,
        resource=path_of,
        stays_inside=True,
        preview=lambda context, arguments: _preview(lambda: plan_edit(context, arguments)),
    )


def plan_write(context: ToolContext, arguments: WriteFileArguments) -> PlannedEdit:
    """The change that a write_file call means. Raises `PathError`, `ToolError` or OSError."""
    path, shown = context.workspace.resolve(arguments.path), context.workspace.relative
    if not path.exists():
        return PlannedEdit(path, shown(path), None, arguments.content.encode())
    _require_writable(path, arguments.path)
    before, version = _content(context, path)
    encoding = UTF8
    if len(before) > COMPARED_BYTES or is_binary(before):
        after = arguments.content.encode()
    else:
        encoding = encoding_of(before)
        crlf = _has_crlf(before.decode(encoding.codec, "replace"))
        after = _encoded(encoding, _with_crlf(arguments.content) if crlf else arguments.content, arguments.path)
    if before not in (b"", after) and not context.seen.has_seen(path, version):
        if not context.seen.knows(path):
            raise ToolError(
                f"{arguments.path} exists, and you have not read it. Read it first, so that nothing in it is lost."
            )
        raise ToolError(CHANGED.format(path=arguments.path))
    before = before if len(before) <= COMPARED_BYTES else b""
    return PlannedEdit(path, shown(path), before, after, encoding, version)


def plan_edit(context: ToolContext, arguments: EditFileArguments) -> PlannedEdit:
    """The change that an edit_file call means. Raises `PathError`, `ToolError` or OSError."""
    path = context.workspace.resolve(arguments.path)
    _require_writable(path, arguments.path)
    before, version = _content(context, path)
    if len(before) > COMPARED_BYTES:
        raise ToolError(f"{arguments.path} is larger than {COMPARED_BYTES:,} bytes; change it with bash.")
    if context.seen.knows(path) and not context.seen.has_seen(path, version):
        raise ToolError(CHANGED.format(path=arguments.path))
    encoding = encoding_of(before)
    try:
        text = encoding.decode(before)
    except UnicodeDecodeError:
        text = "\0"
    if "\0" in text:
        raise ToolError(f"{arguments.path} is a binary file; change it with a program that knows the format.")
    old, new = arguments.old_string, arguments.new_string
    if _has_crlf(text):
        old, new = _with_crlf(old), _with_crlf(new)
    if old == new:
        raise ToolError("old_string and new_string are the same, so there is nothing to change.")
    starts = tuple(islice(_occurrences(text, old), MOST_OCCURRENCES))
    if not starts:
        raise ToolError(f"old_string does not occur in {arguments.path}. {_nearest(text, old)}".rstrip())
    if len(starts) > 1 and not arguments.replace_all:
        times = f"{len(starts)} times{' or more' * (len(starts) == MOST_OCCURRENCES)}"
        raise ToolError(
            f"old_string occurs {times} in {arguments.path}, from lines {_line_numbers(text, starts)}. "
            "Give more of the text around the one you mean, or set replace_all."
        )
    after = _encoded(encoding, text.replace(old, new), arguments.path)
    return PlannedEdit(path, context.workspace.relative(path), before, after, encoding, version, text.count(old))


def _write_file(context: ToolContext, arguments: WriteFileArguments) -> ToolResult:
    change = plan_write(context, arguments)
    carry_out(context, change)
    context.seen.wrote(change.path, _version(change.after))
    lines = _count_lines(arguments.content)
    done = "Wrote" if change.before is None else "Overwrote"
    return ToolResult(
        f"{done} {change.shown}: {len(change.after):,} bytes, {lines}.",
        summary=f"{lines}, {'new' if change.before is None else 'overwritten'}",
        detail=change.diff.text,
        detail_of=change.diff.lines,
        revision=revision(context, change.path, change.after),
    )


def _edit_file(context: ToolContext, arguments: EditFileArguments) -> ToolResult:
    change = plan_edit(context, arguments)
    known = context.seen.knows(change.path)
    carry_out(context, change)
    if known:  # one edit shows nothing of the rest of the file
        context.seen.wrote(change.path, _version(change.after))
    times = counted(change.replaced, "replacement")
    after = revision(context, change.path, change.after)
    diff, done = change.diff, f"Edited {change.shown}: {times}."
    return ToolResult(done, summary=times, detail=diff.text, revision=after, detail_of=diff.lines)


def _require_writable(path: Path, shown: str) -> int:
    """The size of a regular file that its owner may write. Raises `PathError` or `ToolError`."""
    size = require_file(path, shown)
    if not path.stat().st_mode & 0o222:  # root may write it all the same
        raise ToolError(f"{shown} is read-only. Ask the user before you change it.")
    return size


def _content(context: ToolContext, path: Path) -> tuple[bytes, str]:
    """The content of the file, cut after `COMPARED_BYTES` + 1, and its version."""
    root = context.workspace.root_of(path)
    with FolderTree(root) as tree:
        status, data = tree.read(path.relative_to(root).as_posix(), COMPARED_BYTES + 1)
    return data, version_of(status, data)


def _version(content: bytes) -> str:
    return sha256(content).hexdigest()


def carry_out(context: ToolContext, change: PlannedEdit) -> None:
    """Carry out a planned change. Raises `ToolError` where the file has changed since then, or OSError."""
    root = context.workspace.root_of(change.path)

    def check() -> None:
        if change.version and _content(context, change.path)[1] != change.version:
            raise ToolError(CHANGED.format(path=change.shown))

    with FolderTree(root) as tree:
        path = str(change.path.relative_to(root))
        try:
            tree.write(path, change.after, durable=True, new=not change.version, check=check)
        except FileExistsError as error:
            raise ToolError(CHANGED.format(path=change.shown)) from error


def _encoded(encoding: TextEncoding, text: str, shown: str) -> bytes:
    """Raises ToolError for a text that the encoding cannot hold."""
    try:
        return encoding.encode(text)
    except UnicodeEncodeError as error:
        raise ToolError(
            f"{shown} is {encoding.name}, which has no {text[error.start]!r} (in the new text). Write it without that "
            "character, or convert the file to UTF-8 first, with bash and iconv."
        ) from error


def _has_crlf(text: str) -> bool:
    """Whether all lines end as on Windows."""
    return "\r\n" in text and "\n" not in text.replace("\r\n", "")


def _preview(plan: Callable[[], PlannedEdit]) -> str:
    """The diff, or the sentence with which the call would be refused."""
    try:
        return str(plan().diff) or "(no change)"
    except (PathError, ToolError, OSError) as error:
        return str(error)


def _occurrences(text: str, part: str) -> Iterator[int]:
    """Where `part` begins, overlapping places included: none of them may be chosen by chance."""
    start = text.find(part)
    while start >= 0:
        yield start
        start = text.find(part, start + 1)


def _line_numbers(text: str, starts: tuple[int, ...]) -> str:
    numbers = ", ".join(str(text.count("\n", 0, start) + 1) for start in starts[:10])
    return numbers + (", …" if len(starts) > 10 else "")


def _nearest(text: str, old: str) -> str:
    """Where the text nearly is: the same but for white space, or the line most like its first."""
    lines = [line.strip() for line in text.split("\n")]
    wanted = [line.strip() for line in old.strip().split("\n")]
    if len(lines) > HINT_LINES or not wanted[0]:
        return ""
    for number in range(len(lines) - len(wanted) + 1):
        if lines[number : number + len(wanted)] == wanted:
            return f"Line {number + 1} matches but for white space; copy its indentation and line ends exactly."
    short = {line for line in lines if 0 < len(line) <= HINT_CHARACTERS}
    near = get_close_matches(wanted[0], short, n=1, cutoff=0.7) if len(wanted[0]) <= HINT_CHARACTERS else []
    if not near:
        return ""
    number = lines.index(near[0])
    return f"The nearest is line {number + 1}: {_printable(text.split(chr(10))[number])[:200]}"


def _with_crlf(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\n", "\r\n")


def _printable(text: str) -> str:
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace").rstrip("\r")


def _count_lines(text: str) -> str:
    count = text.count("\n") + (not text.endswith("\n") and text != "")
    return counted(count, "line")


def _summary(input: Json) -> str:
    return str(input.get("path", ""))
