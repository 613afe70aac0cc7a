"""The images and PDF files that a prompt names with `@`, as content blocks beside it."""

from functools import partial
from pathlib import Path

from harness.base.concurrency import in_thread, unless
from harness.base.external_text import sendable
from harness.base.files import open_regular, read_regular
from harness.engine.parts import AgentParts
from harness.events import ATTACHMENT, Block, Notice, ToolOutcome
from harness.media.attachment import MediaError, attachment
from harness.media.formats import HEAD_BYTES, MOST_FILE_BYTES, media_type
from harness.media.mentions import looks_like_media, mentions
from harness.tools.read_file import real_path
from harness.tools.tool import ToolResult
from harness.tools.workspace import PathError


async def attached(parts: AgentParts, named: tuple[str, ...], key: str) -> tuple[Block, ...]:
    """A line of text and a content block for each file; of one that cannot be attached, a line that says why.

    Each file is read as a call of read_file, so that permissions, hooks and time limits hold for it. A name that is no
    image or PDF is left to the model. Nothing is read once the turn is interrupted. `key` makes the ids of these
    calls unique.
    """
    interrupt, conversation = parts.core.signals.interrupt, parts.core.conversation
    looking = in_thread(partial(_media_among, named, parts.core.settings.workspace))
    blocks: list[Block] = []
    for number, (path, missing) in enumerate(await unless(interrupt, looking) or (), 1):
        if interrupt.is_set():
            break
        call_id = f"{ATTACHMENT}{key}-{number}"
        result = _missing(path) if missing else await parts.tools.attached(path, call_id, interrupt)
        if result.outcome is ToolOutcome.OK and result.media:
            blocks += (_note(f"attached: {result.content}"), *result.media)
        elif result.outcome is not ToolOutcome.CANCELLED:
            why = result.summary or result.content
            conversation.emit(Notice("warning", f"@{path} was not attached: {why}"))
            blocks.append(_note(f"not attached: @{path}: {result.content}"))
    return tuple(blocks)


def attachment_problem(prompt: str, workspace: Path) -> str:
    """Why a file cannot be attached that a prompt names, in one sentence; empty where all of them can.

    Whether it may be read is not asked here. Reads and decodes the files; for a thread.
    """
    for path, missing in _media_among(mentions(prompt), workspace):
        try:
            if missing:
                return f"{path} does not exist; name an image or PDF behind the @."
            attachment(read_regular(real_path(workspace, path), MOST_FILE_BYTES), path)
        except (MediaError, PathError) as error:
            return str(error)
        except OSError as error:
            return f"{path} cannot be read: {error.strerror or error}."
    return ""


def _missing(path: str) -> ToolResult:
    return ToolResult(f"{path} does not exist.", ToolOutcome.ERROR, "there is no such file")


def _note(text: str) -> Block:
    return {"type": "text", "text": f"[{' '.join(sendable(text).split())}]"}


def _media_among(named: tuple[str, ...], workspace: Path) -> list[tuple[str, bool]]:
    """The paths that lead to an image or PDF, and those that would by their name; with each whether it is missing."""
    found = []
    for path in named:
        missing, media = False, looks_like_media(path)
        try:
            with open_regular(real_path(workspace, path)) as file:
                media = media or media_type(file.read(HEAD_BYTES)) is not None
        except FileNotFoundError:
            missing = True
        except (OSError, PathError):  # reading it says what is wrong
            missing = False
        if media:
            found.append((path, missing))
    return found
