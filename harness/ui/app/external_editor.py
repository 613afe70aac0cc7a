"""The person's own editor, for a prompt that outgrew its few rows."""

import asyncio
import os
import shlex
import tempfile
from collections.abc import Mapping
from pathlib import Path

from harness.base.errors import HarnessError

FALLBACK = "vi"
"""What is run where neither VISUAL nor EDITOR names an editor, as git does."""


class EditorError(HarnessError):
    """The editor could not be run or did not end well."""


async def edited(text: str, environment: Mapping[str, str]) -> str:
    """Let the person edit a text in the editor that the environment names. The terminal has to be the editor's.

    Raises EditorError (one sentence) when it cannot be run or fails; the text is then as it was.
    """
    editor = environment.get("VISUAL") or environment.get("EDITOR") or FALLBACK
    with tempfile.TemporaryDirectory(prefix="harness-") as folder:
        file = Path(folder) / "prompt.md"
        file.write_text(text, encoding="utf-8", errors="replace")
        file.chmod(0o600)
        await _run(editor, file)
        try:
            return file.read_bytes().decode("utf-8", "replace").removesuffix("\n")
        except OSError as error:
            raise EditorError(f"{editor} left no file behind; the prompt is as it was.") from error


async def _run(editor: str, file: Path) -> None:
    try:
        process = await asyncio.create_subprocess_exec(*shlex.split(editor), os.fspath(file))
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise EditorError(f"{editor} cannot be run ({reason}); $VISUAL or $EDITOR names the editor.") from error
    if code := await process.wait():
        raise EditorError(f"{editor} ended with code {code}; the prompt is as it was.")
