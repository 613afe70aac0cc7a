"""The lines of standard input, while something else runs: from a pipe, a file or a terminal."""

import asyncio
import os
import threading
from collections.abc import AsyncIterator

from harness.base.errors import SettingsError

MOST_BYTES = 64_000_000
"""Of one line: images, written in base64."""


async def lines_of(descriptor: int) -> AsyncIterator[bytes]:
    """Yield the lines as they come, without the newline. Raises SettingsError for one of more than `MOST_BYTES`."""
    loop, chunks = asyncio.get_running_loop(), asyncio.Queue[bytes]()

    def read() -> None:
        while True:
            try:
                chunk = os.read(descriptor, 65_536)
            except OSError:  # closed
                chunk = b""
            if loop.is_closed():
                return
            loop.call_soon_threadsafe(chunks.put_nowait, chunk)
            if not chunk:
                return

    threading.Thread(target=read, name="standard input", daemon=True).start()
    begun: list[bytes] = []
    length = 0
    while chunk := await chunks.get():
        first, *more = chunk.split(b"\n")
        begun.append(first)
        length += len(first)
        if length > MOST_BYTES:
            raise SettingsError(
                f"A line of standard input has more than {MOST_BYTES:,} bytes; name a file in it instead."
            )
        if more:
            yield b"".join(begun)
            for line in more[:-1]:
                yield line
            begun, length = [more[-1]], len(more[-1])
    if rest := b"".join(begun):
        yield rest
