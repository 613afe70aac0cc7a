"""The call that reads an image or PDF which a user has named."""

from pathlib import Path

from harness.base.files import read_regular
from harness.media.formats import HEAD_BYTES, MOST_FILE_BYTES, media_type
from harness.tools.files import file_work, open_inside, path_of
from harness.tools.read_file import ReadFileArguments, media_result
from harness.tools.tool import Effect, Tool, ToolContext, ToolError, ToolResult
from harness.tools.workspace import PathError, require_file


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
    if any(real.is_relative_to(root) for root in (context.workspace.root, context.outputs.resolve())):
        with open_inside(context, real) as file:
            data = file.read(MOST_FILE_BYTES)
    else:
        data = read_regular(real, MOST_FILE_BYTES)
    if media_type(data[:HEAD_BYTES]) is None:
        raise ToolError(f"{path} is neither an image nor a PDF.")
    return media_result(data, path)
