"""Sends text to the clipboard: by a local program, tmux, the terminal (OSC 52), or else into a file."""

import asyncio
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path

from harness.base.errors import HarnessError
from harness.base.external_text import counted
from harness.base.files import replace_atomically

LONGEST_S = 5.0
"""Seconds that a program may take."""
MOST_TERMINAL_BYTES = 74_000
"""Bytes that terminals take by OSC 52; many ignore longer texts."""


async def send_to_clipboard(
    text: str, environment: Mapping[str, str], to_terminal: Callable[[str], bool], file: Path
) -> str:
    """Send the text the first way that works, and return a sentence that says which.

    Args:
        environment: variables that name display and tmux.
        to_terminal: writes the text as OSC 52; False: there is no terminal. A terminal never confirms it.
        file: written where nothing else works.

    Raises HarnessError where the file cannot be written either.
    """
    size = counted(len(text), "character")
    for command in _commands(environment, sys.platform):
        if await _run(command, text, environment):
            return f"sent {size} to {command[0]}"
    if len(text.encode("utf-8", "replace")) <= MOST_TERMINAL_BYTES and to_terminal(text):
        return f"sent {size} to the terminal (OSC 52), which does not confirm it"
    try:
        replace_atomically(file, text.encode("utf-8", "replace"), private=True)
    except OSError as error:
        raise HarnessError(f"There is no clipboard, and {file} cannot be written: {error.strerror}.") from error
    return f"no clipboard takes it here; {size} written to {file}"


def _commands(environment: Mapping[str, str], platform: str) -> Iterator[Sequence[str]]:
    local: list[tuple[str, ...]] = [("pbcopy",)] if platform == "darwin" else []
    if environment.get("WAYLAND_DISPLAY"):
        local.append(("wl-copy",))
    if environment.get("DISPLAY"):
        local += [("xclip", "-selection", "clipboard"), ("xsel", "--clipboard", "--input")]
    if environment.get("WSL_DISTRO_NAME"):
        local.append(("clip.exe",))
    if environment.get("TMUX"):
        local.append(("tmux", "load-buffer", "-w", "-"))
    yield from (command for command in local if shutil.which(command[0], path=environment.get("PATH")))


async def _run(command: Sequence[str], text: str, environment: Mapping[str, str]) -> bool:
    """Whether the program took the text. Some stay in the background to serve it, so its output is not waited for."""
    nothing = asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=asyncio.subprocess.PIPE, stdout=nothing, stderr=nothing, env=dict(environment)
        )
        async with asyncio.timeout(LONGEST_S):
            await process.communicate(text.encode("utf-8", "replace"))
        return process.returncode == 0
    except (OSError, TimeoutError):
        return False
