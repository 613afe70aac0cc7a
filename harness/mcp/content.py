"""What a tool of a server answered, as a tool result: text, images, files, links, structured content.

Everything is bounded. Content that the model cannot see goes to a file, and the text names it.
"""

import base64
import binascii
import json
import mimetypes
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from harness.base.external_text import counted, sendable
from harness.base.files import replace_atomically
from harness.events import Block, ToolOutcome
from harness.media.attachment import MediaError, attachment
from harness.tools.output import shorten
from harness.tools.tool import ToolContext, ToolResult, shorten_line

MOST_IMAGES = 20
"""Of one result; more go to files."""
MOST_FILES = 50


class ResultContent:
    """Collects the content of one result. Blocks while images are decoded, and writes files: use it in a thread."""

    def __init__(self, context: ToolContext, characters: int, *, most_images: int = MOST_IMAGES) -> None:
        """
        Args:
            characters: most of the text that enters the history.
            most_images: that the model sees; more go to files.
        """
        self._most_images = most_images
        self._context = context
        self._characters = characters
        self._texts: list[str] = []
        self._media: list[Block] = []
        self._files = 0

    def result(self, answer: Any) -> ToolResult:
        """The result for an `mcp.types.CallToolResult`."""
        for part in answer.content:
            self._add(part)
        self._texts += _structured(answer.structured_content, self._texts)
        made = self._made()
        if not answer.is_error:
            return made
        said = made.content if self._texts else "It says nothing about why."
        return ToolResult(said, ToolOutcome.ERROR, shorten_line(said), full_output=made.full_output)

    def _made(self) -> ToolResult:
        text = sendable("\n\n".join(filter(None, self._texts)))
        content, whole = shorten(text, self._characters, self._context.output_file)
        shown = shorten_line(text) or counted(len(self._media), "image")
        nothing = "" if self._media else "(nothing returned)"
        return ToolResult(
            content or nothing, summary=shown, full_output=whole, detail=content, media=tuple(self._media)
        )

    def parts(self, content: Iterable[Any]) -> ToolResult:
        """The result for content blocks alone."""
        for part in content:
            self._add(part)
        return self._made()

    def resources(self, contents: Any) -> ToolResult:
        """The result for the contents of a resource."""
        for one in contents:
            self._resource(one)
        return self._made()

    def _add(self, part: Any) -> None:
        match part.type:
            case "text":
                self._texts.append(part.text)
            case "image" | "audio":
                self._binary(part.data, part.mime_type, f"an {part.type}")
            case "resource_link":
                about = ", ".join(filter(None, (part.mime_type, f"{part.size:,} bytes" if part.size else "")))
                words = ": ".join(filter(None, (part.title or part.name, part.description)))
                self._texts.append(f"[Resource {part.uri}{f' ({about})' if about else ''}: {words}]")
            case "resource":
                self._resource(part.resource)
            case other:
                self._texts.append(f"[Content of the type {other}, which cannot be shown here]")

    def _resource(self, resource: Any) -> None:
        if (text := getattr(resource, "text", None)) is not None:
            self._texts.append(f"[Resource {resource.uri}]\n{text}")
        else:
            self._binary(resource.blob, resource.mime_type or "", f"the resource {resource.uri}")

    def _binary(self, encoded: str, kind: str, what: str) -> None:
        try:
            data = base64.b64decode(encoded, validate=False)
        except (binascii.Error, ValueError):
            self._texts.append(f"[{what} that cannot be decoded: its base64 is damaged]")
            return
        if kind.startswith("image/") and kind != "image/svg+xml" and len(self._media) < self._most_images:
            try:
                self._media.append(attachment(data, what).block)
            except MediaError as error:
                self._texts.append(f"[{error}]")
            return
        if self._files >= MOST_FILES:
            self._texts.append(f"[{what} of {len(data):,} bytes, left out: there are more than {MOST_FILES} files]")
            return
        self._files += 1
        path = self._path(kind)
        try:
            replace_atomically(path, data, private=True)
        except OSError as error:
            self._texts.append(f"[{what} of {len(data):,} bytes, which could not be kept: {error.strerror}]")
        else:
            self._texts.append(f"[{what} ({kind or 'type unknown'}, {len(data):,} bytes) is in the file {path}]")

    def _path(self, kind: str) -> Path:
        suffix = mimetypes.guess_extension(kind) or ".bin"
        return self._context.output_file.with_suffix(f".{self._files}{re.sub(r'[^.a-z0-9]', '', suffix)}")


def _structured(value: Any, texts: list[str]) -> Iterator[str]:
    """Structured content as JSON, unless a text says the same, as the specification wants it."""
    if value is None:
        return
    for text in texts:
        try:
            if json.loads(text) == value:
                return
        except (ValueError, RecursionError):
            continue
    result = value.get("result") if isinstance(value, dict) and len(value) == 1 else None
    if isinstance(result, str) and result in texts:
        return  # a plain text, wrapped
    yield json.dumps(value, ensure_ascii=False, indent=1)
