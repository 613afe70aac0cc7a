"""The way of one command into the network: an HTTP proxy that reaches allowed hosts only.

    command ── HTTP_PROXY=127.0.0.1:PORT, in its own network ──▶ a socket that `network_entry` opened there
                                                                   │ accepted here, in the loop of the program
    allowed? ── no ──▶ 403 with a sentence                         ▼
        └─ open question: the connection waits        resolve the name here ──▶ connect ──▶ pass the bytes on

A name is looked up only after it was allowed, and an allowed name that leads to this machine or into a private network
is refused all the same, unless that address is allowed by itself. Nothing that passes through is kept or logged.
"""

import asyncio
import base64
import re
import socket
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote, urlsplit

from harness.sandbox.hosts import authority, is_near, named
from harness.sandbox.profile import SandboxDenial

PORT = 61_080
"""Of the proxy, in the network of the command: above the ports that systems give out by themselves."""
MOST_HEAD = 65_536
"""Bytes of a request line and its headers."""
MOST_CONNECTIONS = 128
_LISTENS = "0A"
"""A state in /proc/net/tcp."""
HEAD_S = 30.0
"""Seconds for a request to arrive, and for a connection to another host."""
IDLE_S = 600.0
"""Seconds without a byte after which a connection is closed."""
_REQUEST = re.compile(r"([A-Z]{1,20}) ([!-~]{1,16384}) HTTP/1\.[01]")
_PLAIN = re.compile(r"http://([^/?#@]+)((?:[/?][^#]*)?)", re.IGNORECASE)
_HEADER = re.compile(r"([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\0\r\n]*)")
_OF_ONE_HOP = ("host", "connection", "keep-alive", "te", "upgrade", "http2-settings", "proxy-authorization")

Streams = tuple[asyncio.StreamReader, asyncio.StreamWriter]
Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class HostAccess(Protocol):
    """Decides which hosts one command may reach."""

    @property
    def local_ports(self) -> Sequence[int]:
        """The ports of this machine that it may reach."""
        ...

    async def reach(self, host: str, port: int, *, near: bool) -> str:
        """Empty: it may; otherwise why not, in one clause. Returns when that is decided.

        Args:
            host: name or address, in lower case.
            near: it is this machine or in its own network, so that only an entry for exactly this host allows it.
        """
        ...


class ProxyRefusal(Exception):  # noqa: N818 (an answer)
    """The answer to a request that is not passed on."""

    def __init__(self, status: int, sentence: str) -> None:
        super().__init__(sentence)
        self.status = status


class CommandNetwork:
    """What one command needs to reach allowed hosts, and the proxy that serves it until `close`."""

    def __init__(self, access: HostAccess, environment: Mapping[str, str]) -> None:
        """`environment`: what the command would inherit outside; the user's own proxy in it is used."""
        self._access = access
        self._outside = environment
        # Only where something listens now: a server that the command starts itself finds its port free.
        self._ports = (PORT, *(port for port in access.local_ports if port != PORT and listens(port)))
        self._ours, self._theirs = socket.socketpair()
        self.pass_fds = (self._theirs.fileno(),)
        """Descriptors that the command has to inherit."""
        self.denials: list[SandboxDenial] = []
        """What it was refused until now."""
        self._deciding, self._held_s = 0, 0.0
        self._loop = asyncio.get_running_loop()
        self._servers: list[asyncio.Server] = []
        self._tasks: set[asyncio.Task[object]] = set()
        self._decided: dict[tuple[str, int, bool], asyncio.Task[str]] = {}

    def command(self, command: Sequence[str]) -> tuple[str, ...]:
        """`command` behind its entry, to be started in a network of its own."""
        unset = "" if "LC_CTYPE" in self._outside else "LC_CTYPE"
        python, ports = str(Path(sys.executable).resolve()), ",".join(map(str, self._ports))
        return (python, "-I", "-S", "-c", _entry(), str(self._theirs.fileno()), ports, unset, "--", *command)

    @property
    def environment(self) -> dict[str, str]:
        """The variables by which programs find the proxy."""
        address = f"http://127.0.0.1:{PORT}"
        names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")
        java = " ".join(f"-D{one}.proxyHost=127.0.0.1 -D{one}.proxyPort={PORT}" for one in ("http", "https"))
        return {
            **dict.fromkeys((*names, "YARN_HTTP_PROXY", "YARN_HTTPS_PROXY"), address),
            **dict.fromkeys(("NO_PROXY", "no_proxy"), "localhost,127.0.0.1,::1"),
            **{name: f"{self._outside.get(name, '')} {java}".strip() for name in ("MAVEN_OPTS", "GRADLE_OPTS")},
            "NODE_USE_ENV_PROXY": "1",
        }

    @property
    def held_s(self) -> float:
        """Seconds that its connections have waited for decisions so far, those at the same time counted once."""
        return self._held_s + (self._loop.time() if self._deciding else 0.0)

    def begin(self) -> None:
        """The command has started."""
        self._theirs.close()
        self._loop.add_reader(self._ours, self._arrived)

    def close(self) -> None:
        """Serve it no longer, and withdraw open questions. Calling it again does nothing."""
        if self._ours.fileno() >= 0:
            self._loop.remove_reader(self._ours)
        self._ours.close()
        self._theirs.close()
        for server in self._servers:
            server.close()
        for task in (*self._tasks, *self._decided.values()):
            task.cancel()

    def _arrived(self) -> None:
        """The listening sockets have come from inside, or the command ended before it was ready."""
        self._loop.remove_reader(self._ours)
        _, handles, _, _ = socket.recv_fds(self._ours, 1, len(self._ports))
        self._ours.close()
        for port, handle in zip(self._ports, handles, strict=False):
            self._tasks.add(self._loop.create_task(self._serve(socket.socket(fileno=handle), port)))

    async def _serve(self, listening: socket.socket, port: int) -> None:
        serve = partial(self._connection, self._proxied if port == PORT else partial(_forwarded, port))
        self._servers.append(await asyncio.start_server(serve, sock=listening, limit=MOST_HEAD))

    async def _connection(self, serve: Serve, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            with suppress(OSError, asyncio.CancelledError):  # `close` cancels it; asyncio would print that as an error
                if len(self._tasks) > MOST_CONNECTIONS:
                    await _answer(ProxyRefusal(503, "Too many connections at once."), reader, writer)
                else:
                    await serve(reader, writer)
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _proxied(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """One request. With plain HTTP, the connection ends after it on both sides."""
        try:
            first, headers = await _head(reader)
            request = _REQUEST.fullmatch(first)
            method, target = request.groups() if request else ("", "")
            if method == "CONNECT":
                far, sent, most = await self._reached(authority(target), "https"), b"", None
                writer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
            else:
                far, sent, most = await self._plain(method, _PLAIN.fullmatch(target), first[-8:], headers)
        except ProxyRefusal as refusal:
            await _answer(refusal, reader, writer)
            return
        try:
            far[1].write(sent)
            await _tunnel((reader, writer), far, most)
        finally:
            far[1].close()

    async def _plain(
        self, method: str, url: re.Match[str] | None, version: str, headers: Sequence[tuple[str, str]]
    ) -> tuple[Streams, bytes, int | None]:
        """A connection for a plain request, its head for there, and how many bytes may follow; None: any number."""
        where = authority(url[1], 80) if url else None
        if url is None or where is None:
            raise ProxyRefusal(
                400, "This is the proxy of the sandbox; it takes CONNECT, and requests for http://HOST/."
            )
        passed, target, most = [("Host", url[1]), ("Connection", "close")], f"/{url[2].removeprefix('/')}", None
        if proxy := self._proxy_for("http", where[0]):
            # It must not take what follows the body for a request to another host.
            lengths = [value.strip() for name, value in headers if name.lower() == "content-length"]
            if any(name.lower() == "transfer-encoding" for name, _ in headers) or len(lengths) > 1:
                raise ProxyRefusal(411, "Your proxy gets requests from the sandbox only with their length.")
            target, most = url[0], int(lengths[0]) if lengths and lengths[0].isdecimal() else 0
            passed += _authorization(proxy)
        far = await self._reached(where, "http")
        passed += [(name, value) for name, value in headers if name.lower() not in _OF_ONE_HOP]
        lines = (f"{method} {target} {version}", *(f"{name}: {value}" for name, value in passed), "", "")
        return far, "\r\n".join(lines).encode("latin-1"), most

    async def _reached(self, where: tuple[str, int] | None, scheme: str) -> Streams:
        """A connection to a host, if it is allowed. Raises ProxyRefusal."""
        if where is None:
            raise ProxyRefusal(400, "CONNECT takes the name of a host and a port.")
        host, port = where
        await self._decide(host, port, near=is_near(host))
        proxy = self._proxy_for(scheme, host)
        if not proxy:
            return await self._connected(host, port)
        return await (_tunnelled(proxy, named(host, port)) if scheme == "https" else _opened(proxy))

    def _proxy_for(self, scheme: str, host: str) -> str:
        """The user's own proxy, where it leads to the host."""
        return "" if is_near(host) else proxy_for(self._outside, scheme, host)

    async def _decide(self, host: str, port: int, *, near: bool, of: str = "") -> None:
        """Return if it may be reached; each host is asked about once. Raises ProxyRefusal.

        `of`: the name that leads there, where that is another.
        """
        key = (host, port, near)
        if key not in self._decided:
            self._decided[key] = self._loop.create_task(self._decision(*key))
        # A client that gives up and tries again finds the question as it left it.
        if why := await asyncio.shield(self._decided[key]):
            leads = f", where {of} leads" if of and of != host else ""
            raise ProxyRefusal(403, f"The sandbox refused {named(host, port)}{leads}: {why}.")

    async def _decision(self, host: str, port: int, near: bool) -> str:
        if not self._deciding:
            self._held_s -= self._loop.time()
        self._deciding += 1
        try:
            why = await self._access.reach(host, port, near=near)
        finally:
            self._deciding -= 1
            if not self._deciding:
                self._held_s += self._loop.time()
        if why:
            self.denials.append(SandboxDenial("host", named(host, port), why))
        return why

    async def _connected(self, host: str, port: int) -> Streams:
        """A connection to an address of an allowed host. Raises ProxyRefusal."""
        try:
            async with asyncio.timeout(HEAD_S):
                found = await self._loop.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise ProxyRefusal(502, f"{host} was not found.") from error
        addresses = list(dict.fromkeys(str(one[4][0]) for one in found))
        if not (public := [one for one in addresses if not is_near(one) and not _is_own(one)]):
            for address in addresses:
                await self._decide(address.partition("%")[0], port, near=True, of=host)
        problem = ""
        for address in public or addresses:
            try:
                return await _open(address, port)
            except OSError as error:
                problem = _words_of(error)
        raise ProxyRefusal(502, f"{named(host, port)} could not be reached: {problem}.")


# ── the user's own proxy ────────────────────────────────────────────────────────────────────────


def proxy_for(environment: Mapping[str, str], scheme: str, host: str) -> str:
    """The address of the user's own proxy for a host; empty: it is reached directly."""

    def value(name: str) -> str:
        return environment.get(name) or environment.get(name.upper(), "")

    address = value(f"{scheme}_proxy") or value("all_proxy")
    spared = [one.strip().lower() for one in value("no_proxy").split(",")]
    ends = [f".{one.partition(':')[0].lstrip('*.')}" for one in spared if one.strip("*.")]
    if "*" in spared or any(f".{host}".endswith(end) for end in ends):
        return ""
    return address if not address or "://" in address else f"http://{address}"


async def _opened(proxy: str) -> Streams:
    """A connection to the user's own proxy. Raises ProxyRefusal."""
    parts = urlsplit(proxy)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ProxyRefusal(502, "The sandbox can use an HTTP proxy only; HTTPS_PROXY or ALL_PROXY names another kind.")
    secure = parts.scheme == "https"
    try:
        return await _open(parts.hostname, parts.port or (443 if secure else 80), secure=secure)
    except OSError as error:
        raise ProxyRefusal(502, f"Your proxy {parts.hostname} could not be reached: {_words_of(error)}.") from error


async def _tunnelled(proxy: str, where: str) -> Streams:
    """A connection to `name:port` through the user's own proxy. Raises ProxyRefusal."""
    reader, writer = await _opened(proxy)
    lines = (f"CONNECT {where} HTTP/1.1", f"Host: {where}", *map(": ".join, _authorization(proxy)), "", "")
    writer.write("\r\n".join(lines).encode("latin-1"))
    first, _ = await _head(reader)
    if not re.match(r"HTTP/1\.[01] 200\b", first):
        writer.close()
        raise ProxyRefusal(502, f"Your proxy {urlsplit(proxy).hostname} answered: {first or 'nothing'}")
    return reader, writer


def _authorization(proxy: str) -> list[tuple[str, str]]:
    parts = urlsplit(proxy)
    if parts.username is None:
        return []
    known = f"{unquote(parts.username)}:{unquote(parts.password or '')}".encode()
    return [("Proxy-Authorization", f"Basic {base64.b64encode(known).decode()}")]


# ── connections ─────────────────────────────────────────────────────────────────────────────────


async def _open(host: str, port: int, *, secure: bool = False) -> Streams:
    async with asyncio.timeout(HEAD_S):
        return await asyncio.open_connection(host, port, ssl=secure or None, limit=MOST_HEAD)


async def _forwarded(port: int, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """To an allowed port of this machine."""
    far = await _open("localhost", port)
    try:
        await _tunnel((reader, writer), far)
    finally:
        far[1].close()


async def _tunnel(near: Streams, far: Streams, most: int | None = None) -> None:
    """Pass the bytes on in both directions until both have ended, or nothing has moved for long.

    `most`: of those from near to far; None: any number.
    """

    async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, left: int | None) -> None:
        with suppress(ConnectionError):
            while left != 0 and (data := await reader.read(MOST_HEAD if left is None else left)):
                idle.reschedule(asyncio.get_running_loop().time() + IDLE_S)
                left = None if left is None else left - len(data)
                writer.write(data)
                await writer.drain()
        with suppress(OSError):
            if left is None:
                writer.write_eof() if writer.can_write_eof() else writer.close()

    async with asyncio.timeout(IDLE_S) as idle:
        await asyncio.gather(copy(*near[:1], far[1], most), copy(far[0], near[1], None))


async def _head(reader: asyncio.StreamReader) -> tuple[str, list[tuple[str, str]]]:
    """First line and headers; nothing where the connection ended. Raises ProxyRefusal."""
    try:
        async with asyncio.timeout(HEAD_S):
            data = await reader.readuntil(b"\r\n\r\n")
    except asyncio.LimitOverrunError:
        raise ProxyRefusal(431, f"The headers are longer than {MOST_HEAD:,} bytes.") from None
    except asyncio.IncompleteReadError:
        return "", []
    first, *lines = data[:-4].decode("latin-1").split("\r\n")
    found = [_HEADER.fullmatch(line) for line in lines]
    if not all(found):
        raise ProxyRefusal(400, "A header is malformed.")
    return first, [(one[1], one[2]) for one in found if one]


async def _answer(refusal: ProxyRefusal, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """The answer of the proxy itself. Many programs show only the first line, so that has the sentence, too."""
    body = f"{refusal}\n".encode()
    words = re.sub(r"[^ -~]", "?", str(refusal))
    headers = f"Content-Type: text/plain; charset=utf-8\r\nContent-Length: {len(body)}\r\nConnection: close"
    writer.write(f"HTTP/1.1 {refusal.status} {words}\r\n{headers}\r\n\r\n".encode() + body)
    writer.write_eof()
    async with asyncio.timeout(1.0):  # a body that is on its way must not reset the connection before this is read
        while await reader.read(MOST_HEAD):
            pass


def listens(port: int) -> bool:
    """Whether something on this machine listens on a TCP port."""
    with suppress(OSError):
        rows = [row.split() for name in ("tcp", "tcp6") for row in Path(f"/proc/net/{name}").read_text().splitlines()]
        return any(row[3] == _LISTENS and row[1].endswith(f":{port:04X}") for row in rows)
    return False


def _is_own(address: str) -> bool:
    """An address of this machine: what it would send there would come from there."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with suppress(OSError), socket.socket(family, socket.SOCK_DGRAM) as probe:
        probe.connect((address, 9))
        return str(probe.getsockname()[0]) == address
    return False


def _words_of(error: OSError) -> str:
    return "no answer in time" if isinstance(error, TimeoutError) else error.strerror or "no connection"


@cache
def _entry() -> str:
    """The program of `network_entry`, as text: its file may not be there for the command."""
    return Path(__file__).with_name("network_entry.py").read_text(encoding="utf-8")
