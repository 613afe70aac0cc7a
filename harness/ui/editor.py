"""The editor of the user."""

import asyncio
import os
import shlex
import tempfile
from collections.abc import Mapping
from pathlib import Path

from harness.base.errors import HarnessError

FALLBACK = "vi"
"""The editor if neither VISUAL nor EDITOR is set, as for git."""


class EditorError(HarnessError):
    """The editor could not be run or failed."""


async def edited(text: str, environment: Mapping[str, str]) -> str:
    """Edit a text in the editor that the environment names; the terminal must be free. Raises EditorError."""
    editor = environment.get("VISUAL") or environment.get("EDITOR") or FALLBACK
    with tempfile.TemporaryDirectory(prefix="harness-") as folder:
        file = Path(folder) / "text.md"
        file.write_text(text, encoding="utf-8", errors="replace")
        file.chmod(0o600)
        await _run(editor, file)
        try:
            return file.read_bytes().decode("utf-8", "replace").removesuffix("\n")
        except OSError as error:
            raise EditorError(f"{editor} removed the file; the text is unchanged.") from error


async def _run(editor: str, file: Path) -> None:
    try:
        process = await asyncio.create_subprocess_exec(*shlex.split(editor), os.fspath(file))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise EditorError(f"{editor} cannot be run ({reason}); set $VISUAL or $EDITOR to an editor.") from error
    if code := await process.wait():
        raise EditorError(f"{editor} ended with code {code}; the text is unchanged.")
