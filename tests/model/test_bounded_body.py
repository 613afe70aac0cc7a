"""No response body, compressed or not, uses unbounded memory or time."""

import gzip
import json
import os
import random
import threading
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psutil
import pytest

from harness.events import Fault, FaultKind, Reply
from tests.model.byte_server import END, ENDING, MESSAGE_START, MESSAGE_STOP, TEXT, TEXT_START, TEXT_STOP, chunk
from tests.model.test_client import outcome_of

pytestmark = pytest.mark.anyio
MEGABYTE = 1024 * 1024
STREAM = b"".join(
    piece.split(b"\r\n", 1)[1].removesuffix(b"\r\n")
    for piece in (MESSAGE_START, TEXT_START, TEXT, TEXT_STOP, ENDING, MESSAGE_STOP)
)
OPENED = STREAM[: STREAM.index(b"event: content_block_delta")]
_WORDS = json.dumps({"index": 0, "delta": {"type": "text_delta", "text": "x" * 900}}).encode()
DELTA = b"event: content_block_delta\ndata: " + _WORDS + b"\n\n"


def answer(body: bytes, encoding: str, kind: str = "text/event-stream", status: int = 200) -> bytes:
    head = f"HTTP/1.1 {status} Said\r\ncontent-type: {kind}\r\ncontent-encoding: {encoding}\r\n"
    return head.encode() + b"transfer-encoding: chunked\r\n\r\n" + chunk(body) + END


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(data) + packer.flush()


def bomb(begin: bytes, block: bytes, gigabytes: float = 1.0) -> bytes:
    """A gzip that holds `begin` and then `block` again and again, and has no end."""
    packer = zlib.compressobj(9, wbits=16 + zlib.MAX_WBITS)
    packed = packer.compress(begin) + packer.flush(zlib.Z_FULL_FLUSH)
    large = block * (4 * MEGABYTE // len(block))
    packer.compress(large)
    packer.flush(zlib.Z_FULL_FLUSH)
    once = packer.compress(large) + packer.flush(zlib.Z_FULL_FLUSH)  # the same bytes at any place
    return packed + once * int(gigabytes * 1024 // 4)


@contextmanager
def watched_memory() -> Iterator[list[int]]:
    """The most memory that this process takes meanwhile, in bytes more than before."""
    process, over, most = psutil.Process(os.getpid()), threading.Event(), [0]
    before = process.memory_info().rss

    def look() -> None:
        while not over.wait(0.005):
            most[0] = max(most[0], process.memory_info().rss - before)

    looking = threading.Thread(target=look)
    looking.start()
    try:
        yield most
    finally:
        over.set()
        looking.join()


PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "X-GZIP": gzip.compress,
    "deflate": zlib.compress,
    "Deflate": raw_deflate,
    "identity": bytes,
    "": bytes,
}


@pytest.mark.parametrize("encoding", PACKERS)
async def test_a_gateway_may_pack_a_stream_unasked(encoding: str) -> None:
    reply = await outcome_of(answer(PACKERS[encoding](STREAM), encoding))
    assert isinstance(reply, Reply)
    assert reply.text == "hello"


@pytest.mark.parametrize("size", [0, 1, 1_000, 65_535, 65_536, 65_537, 3 * MEGABYTE])
async def test_any_error_is_unpacked_up_to_the_part_that_is_read(size: int) -> None:
    body = json.dumps(
        {"error": {"type": "api_error", "message": "It is broken.", "data": random.Random(size).randbytes(size).hex()}}
    ).encode()
    fault = await outcome_of(answer(gzip.compress(body), "gzip", "application/json", 500))
    assert isinstance(fault, Fault)
    assert (fault.kind, fault.status) == (FaultKind.SERVER, 500)
    assert "It is broken." in fault.message


@pytest.mark.parametrize("encoding", ["br", "zstd", "gzip, gzip", "nonsense"])
async def test_an_encoding_that_was_not_requested_is_named(encoding: str) -> None:
    fault = await outcome_of(answer(STREAM, encoding))
    assert isinstance(fault, Fault)
    assert fault.kind is FaultKind.MALFORMED_RESPONSE
    assert f"encoded as '{encoding}', which was not requested" in fault.message


async def test_what_is_not_packed_as_it_says_is_named() -> None:
    fault = await outcome_of(answer(STREAM, "gzip"))
    assert isinstance(fault, Fault)
    assert "the body is not gzip" in fault.message


BOMBS = {
    "an error": (b'{"error": {"message": "', b"0" * 1024, "application/json", 500),
    "a redirect": (b"", b"0" * 1024, "text/html", 300),
    "one endless line": (OPENED + b"data: ", b"0" * 1024, "text/event-stream", 200),
    "endless lines of one event": (OPENED, b"data: x\n", "text/event-stream", 200),
    "endless carriage returns": (OPENED, b"data: x\r", "text/event-stream", 200),
    "endless comments": (OPENED, b":\n", "text/event-stream", 200),
    "endless events": (OPENED, DELTA, "text/event-stream", 200),
    "a message": (b'{"type": "message", "x": "', b"0" * 1024, "application/json", 200),
    "a page": (b"<html>", b"0" * 1024, "text/html", 200),
    "blanks": (b"", b" " * 1024, "text/event-stream", 200),
    "blank lines": (b"", b"\n", "text/event-stream", 200),
}


@pytest.mark.grid(1)
@pytest.mark.parametrize("name", BOMBS)
async def test_a_few_megabytes_that_unpack_to_gigabytes_are_one_fault(name: str) -> None:
    begin, block, kind, status = BOMBS[name]
    packed = bomb(begin, block)
    assert len(packed) < 20 * MEGABYTE
    data = answer(packed, "gzip", kind, status)
    began = time.process_time()
    with watched_memory() as most:
        fault = await outcome_of(data)
    assert isinstance(fault, Fault)
    assert len(fault.message) < 700
    assert most[0] < 200 * MEGABYTE, f"{most[0] / MEGABYTE:.0f} MB"
    assert time.process_time() - began < 15
    print(name, f"{most[0] / MEGABYTE:.0f} MB", f"{time.process_time() - began:.1f} s", fault.kind, fault.message[:120])
