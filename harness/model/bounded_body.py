"""Decompress a response body in pieces of bounded size, up to a limit.

A few megabytes of gzip can become gigabytes, and the HTTP library decompresses each chunk of the wire as a whole.
"""

import asyncio
import zlib
from collections.abc import AsyncGenerator, AsyncIterator, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx2

PIECE = 64 * 1024
"""Bytes unpacked at a time."""
MOST_OF_ERROR = 256 * 1024
"""Limit in bytes for the body of an error."""
MOST_OF_BODY = 64 * 1024 * 1024
"""Limit in bytes for the body of a success: twice the events of the longest reply."""
ENCODINGS = frozenset({"gzip", "x-gzip", "deflate"})
_GZIP_OR_ZLIB = 32 + zlib.MAX_WBITS


class BodyTooLong(Exception):  # noqa: N818 (what happened, not a mistake of ours)
    """The body of a success exceeds the limit."""


class UnreadableBody(Exception):  # noqa: N818 (as above)
    """The body has an encoding that was not requested, or is damaged."""


async def bound(response: "httpx2.Response") -> None:
    """Response hook of an HTTP client: the response returns its body decompressed and bounded.

    The body of an error ends after `MOST_OF_ERROR`; that of a success raises BodyTooLong after `MOST_OF_BODY`. Any
    encoding not in `ENCODINGS`, or several, raise UnreadableBody.
    """
    from httpx2 import AsyncByteStream

    assert isinstance(response.stream, AsyncByteStream)
    wire: AsyncByteStream = response.stream
    encoding = response.headers.pop("content-encoding", "identity").strip().lower()
    whole = response.is_success

    class Bounded(AsyncByteStream):
        async def __aiter__(self) -> AsyncGenerator[bytes, None]:
            size, most = 0, MOST_OF_BODY if whole else MOST_OF_ERROR
            async for piece in _unpacked(encoding, aiter(wire)):
                size += len(piece)
                if size > most and whole:
                    raise BodyTooLong(f"the body is longer than {most // 1024 // 1024} MB")
                yield piece
                if size > most:
                    return

        async def aclose(self) -> None:
            await wire.aclose()

    response.stream = Bounded()


async def _unpacked(encoding: str, wire: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
    if encoding in ("", "identity"):
        async for data in wire:
            yield data
        return
    if encoding not in ENCODINGS:
        raise UnreadableBody(f"the body is encoded as {encoding!r}, which was not requested")
    unpacker = zlib.decompressobj(_GZIP_OR_ZLIB)
    begun = False
    async for data in wire:
        if not begun and encoding == "deflate" and not _has_zlib_head(data):
            unpacker = zlib.decompressobj(-zlib.MAX_WBITS)  # some servers send raw deflate
        begun = True
        try:
            for piece in _pieces(unpacker, data):
                yield piece
                await asyncio.sleep(0)  # a chunk can hold thousands of pieces
        except zlib.error as error:
            raise UnreadableBody(f"the body is not {encoding}: {error}") from error
        if unpacker.eof:
            return


def _pieces(unpacker: "zlib._Decompress", data: bytes) -> Iterator[bytes]:
    while data or not unpacker.eof:
        piece = unpacker.decompress(data, PIECE)
        data = unpacker.unconsumed_tail
        if piece:
            yield piece
        if not data and len(piece) < PIECE:
            return


def _has_zlib_head(data: bytes) -> bool:
    return len(data) > 1 and data[0] & 15 == 8 and (data[0] << 8 | data[1]) % 31 == 0
