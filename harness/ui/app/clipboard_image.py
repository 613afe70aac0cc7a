"""An image from the system clipboard, read with wl-paste, xclip, pngpaste or osascript."""

import asyncio
import re
import shutil
import sys
from collections.abc import Mapping, Sequence

from harness.media.formats import MOST_FILE_BYTES, media_type

LONGEST_S = 5.0
"""Seconds that such a program may run."""
NO_PROGRAM = (
    "No program for images in the clipboard found; install wl-clipboard, xclip or pngpaste, "
    "or drag the file into the prompt."
)
NO_IMAGE = "The clipboard contains no image; copy one, or drag the file into the prompt."
_APPLE = ("osascript", "-e", "get the clipboard as «class PNGf»")
_APPLE_DATA = re.compile(rb"PNGf([0-9A-F]+)")


class ClipboardError(Exception):
    """There is no image; the text says why."""


async def clipboard_image(environment: Mapping[str, str], platform: str = sys.platform) -> bytes:
    """The bytes of an image file in the clipboard. Raises ClipboardError."""
    path = environment.get("PATH")
    commands = [command for command in _commands(environment, platform) if shutil.which(command[0], path=path)]
    if not commands:
        raise ClipboardError(NO_PROGRAM)
    for command in commands:
        data = await _output(command, environment)
        if command is _APPLE and (found := _APPLE_DATA.search(data)):
            data = bytes.fromhex(found[1].decode())
        if media_type(data) is not None:
            return data
    raise ClipboardError(NO_IMAGE)


def _commands(environment: Mapping[str, str], platform: str) -> Sequence[Sequence[str]]:
    if platform == "darwin":
        return (("pngpaste", "-"), _APPLE)
    wayland = ("wl-paste", "--no-newline", "--type", "image/png") if environment.get("WAYLAND_DISPLAY") else None
    x11 = ("xclip", "-selection", "clipboard", "-target", "image/png", "-out") if environment.get("DISPLAY") else None
    return tuple(filter(None, (wayland, x11)))


async def _output(command: Sequence[str], environment: Mapping[str, str]) -> bytes:
    """The output of a program; empty if it fails, hangs or prints too much."""
    pipe, nothing = asyncio.subprocess.PIPE, asyncio.subprocess.DEVNULL
    try:
        process = await asyncio.create_subprocess_exec(
            *command, stdin=nothing, stdout=pipe, stderr=nothing, env=dict(environment)
        )
    except OSError:
        return b""
    assert process.stdout is not None
    try:
        async with asyncio.timeout(LONGEST_S):
            data = bytearray()
            while (block := await process.stdout.read(1 << 20)) and len(data) <= MOST_FILE_BYTES:
                data += block
            whole = len(data) <= MOST_FILE_BYTES and await process.wait() == 0
            return bytes(data) if whole else b""
    except TimeoutError:
        return b""
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
