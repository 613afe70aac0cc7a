"""Messages on a pipe: one line each, which arrive in pieces of any size."""

from collections.abc import Iterator


class LineBuffer:
    """Cuts a stream of bytes into lines. No I/O; use one for each pipe."""

    def __init__(self, longest: int) -> None:
        """`longest`: bytes of a line; a longer one is dropped while it arrives."""
        self._longest = longest
        self._open = bytearray()
        self._skips = False

    def feed(self, data: bytes) -> Iterator[bytes | None]:
        """The lines that end in this piece, without their newline, blank ones left out; None: one that is too long."""
        *ended, rest = data.split(b"\n")
        for part in ended:
            if not self._skips:
                yield from self._add(part)
            line = bytes(self._open)
            self._open.clear()
            if line.strip():
                yield line
            self._skips = False
        if not self._skips:
            yield from self._add(rest)

    def _add(self, part: bytes) -> Iterator[None]:
        self._open += part
        if len(self._open) > self._longest:
            self._open.clear()
            self._skips = True
            yield None
