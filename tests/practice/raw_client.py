"""A client that sees the bytes of a response and the end of its connection."""

import asyncio
import json
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

from harness.events import Json

REQUEST: Json = {
    "model": "practice-1",
    "max_tokens": 100,
    "stream": True,
    "messages": [{"role": "user", "content": "Hello"}],
}
HEADERS = {"authorization": "Bearer key", "anthropic-version": "2026-10-21", "content-type": "application/json"}
TOOL: Json = {"name": "bash", "input_schema": {"type": "object"}}


def request(**changes: Any) -> Json:
    """A valid request with some fields changed."""
    return REQUEST | changes


@dataclass(frozen=True, slots=True)
class Seen:
    """A response as received bytes."""

    raw: bytes
    ending: Literal["closed", "reset", "open"]
    """The final state of the connection: closed or reset by the server, or open."""

    @property
    def status(self) -> int:
        return int(self.raw.split(b" ", 2)[1])

    @property
    def headers(self) -> dict[str, str]:
        lines = self.raw.partition(b"\r\n\r\n")[0].decode().split("\r\n")[1:]
        return {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}

    @property
    def body(self) -> bytes:
        """The body, decoded from its chunks."""
        return self._unchunked()[0]

    @property
    def finished(self) -> bool:
        """A chunked body came to its proper end."""
        return self._unchunked()[1]

    @property
    def names(self) -> list[str]:
        """The names of the events."""
        return [line[7:] for line in self.body.decode("utf-8", "replace").splitlines() if line.startswith("event: ")]

    @property
    def data(self) -> list[Json]:
        """The data of the events."""
        return [json.loads(line[6:]) for line in self.body.decode().split("\n") if line.startswith("data: ")]

    @property
    def json(self) -> Json:
        value: Json = json.loads(self.body)
        return value

    def _unchunked(self) -> tuple[bytes, bool]:
        rest = self.raw.partition(b"\r\n\r\n")[2]
        if self.headers.get("transfer-encoding") != "chunked":
            return rest, False
        body = b""
        while rest:
            size, _, rest = rest.partition(b"\r\n")
            if int(size, 16) == 0:
                return body, True
            body += rest[: int(size, 16)]
            rest = rest[int(size, 16) + 2 :]
        return body, False


async def post(
    base_url: str,
    body: Json | bytes | None = None,
    *,
    path: str = "/v1/messages",
    method: str = "POST",
    headers: dict[str, str] = HEADERS,
    patience_s: float = 10.0,
) -> Seen:
    """Send one request on a connection of its own and read until it ends, at most for `patience_s`."""
    address = urlsplit(base_url)
    reader, writer = await asyncio.open_connection(address.hostname, address.port)
    content = body if isinstance(body, bytes) else json.dumps(REQUEST if body is None else body).encode()
    own = {"host": address.netloc, "connection": "close", "content-length": str(len(content))}
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in (own | headers).items())]
    raw = bytearray()
    try:
        writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + content)
        async with asyncio.timeout(patience_s):
            while piece := await reader.read(65536):
                raw += piece
        return Seen(bytes(raw), "closed")
    except ConnectionResetError:
        return Seen(bytes(raw), "reset")
    except TimeoutError:
        return Seen(bytes(raw), "open")
    finally:
        writer.close()
