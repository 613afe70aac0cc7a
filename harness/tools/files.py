"""The border between the file tools and the disk: threads, errors, atomic writes."""

import errno
import os
from collections.abc import Awaitable, Callable
from hashlib import sha256
from pathlib import Path
from typing import BinaryIO, TypeVar

from harness.base.concurrency import in_thread
from harness.events import FailureCategory, Json, Revision, ToolOutcome
from harness.tools.tool import ToolContext, ToolError, ToolResult, category_of, shorten_line
from harness.tools.tree import FolderTree
from harness.tools.workspace import PathError, resolve_within

A = TypeVar("A")

ANSWERS = frozenset(
    {
        errno.ENOENT,
        errno.EEXIST,
        errno.EACCES,
        errno.EPERM,
        errno.EISDIR,
        errno.ELOOP,
        errno.ENOTDIR,
        errno.ENAMETOOLONG,
        errno.EROFS,
    }
)
"""Errors that are an answer about the path; all others say that the disk failed."""
GRACE_S = 0.8
"""Seconds that a cancelled call waits for the disk."""


async def on_disk(work: Callable[[], ToolResult], on_cancel: Callable[[], None] | None = None) -> ToolResult:
    """Do file work in a thread; a refusal or an error of the disk becomes the result that says so.

    A cancellation is passed on when the thread is done, so that a write has happened or has not; `on_cancel` may stop
    long work. Waits at most `GRACE_S` for a disk that does not answer.
    """
    try:
        return await in_thread(work, on_cancel=on_cancel, grace_s=GRACE_S)
    except (ToolError, PathError) as refusal:
        return refused(str(refusal))
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        text = f"{where}{error.strerror or error}"
        return refused(text) if error.errno in ANSWERS else broken(text, category_of(error))


def file_work(work: Callable[[ToolContext, A], ToolResult]) -> Callable[[ToolContext, A], Awaitable[ToolResult]]:
    """`work` as a tool runs it: `on_disk`."""

    async def run(context: ToolContext, arguments: A) -> ToolResult:
        return await on_disk(lambda: work(context, arguments))

    return run


def path_of(input: Json) -> str | None:
    """The file that a call is about, as one name for all ways of writing it; None for odd input."""
    path = input.get("path")
    return os.path.normpath(path) if isinstance(path, str) and path else None


def revision(context: ToolContext, path: Path, content: bytes) -> Revision:
    """That the file at this resolved path holds `content`."""
    return Revision(context.workspace.relative(path), sha256(content).hexdigest())


def refused(text: str) -> ToolResult:
    """The result of a call that was refused, with the reason."""
    return ToolResult(text, ToolOutcome.ERROR, shorten_line(text))


def broken(text: str, category: FailureCategory) -> ToolResult:
    """The result of a call that failed in the tool itself."""
    return ToolResult(text, ToolOutcome.BROKEN, shorten_line(text), category=category)


def readable_path(context: ToolContext, path: str) -> Path:
    """Where `path` leads; reading may also open the kept outputs of this session. Raises `PathError`."""
    return resolve_within(path, *context.workspace.roots, context.outputs.resolve())


def without_link(path: str) -> str:
    """Where a link to a file leads; its folders are no links, because a search enters none of those."""
    return os.path.realpath(path) if os.path.islink(path) else path  # noqa: PTH114  quicker for thousands of strings


def open_inside(context: ToolContext, path: Path) -> BinaryIO:
    """A regular file of the workspace or of the kept outputs, at a resolved path. Raises OSError.

    No link that has taken the place of a folder on the way since the path was resolved is followed.
    """
    roots = (*context.workspace.roots, context.outputs.resolve())
    root = next(root for root in roots if path.is_relative_to(root))
    with FolderTree(root) as tree:
        return os.fdopen(tree.open(path.relative_to(root).as_posix()), "rb")
