"""The proxy of one command, used from inside a network of its own, with servers on this machine behind it."""

import asyncio
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from harness.sandbox.hosts import allows, local_ports, named
from harness.sandbox.proxy import (
    MOST_CONNECTIONS,
    MOST_HEAD,
    PORT,
    CommandNetwork,
    ProxyRefusal,
    _head,
    _is_own,
    _words_of,
    listens,
    proxy_for,
)

BWRAP = shutil.which("bwrap") or ""
pytestmark = [pytest.mark.anyio, pytest.mark.skipif(not BWRAP, reason="needs bubblewrap")]

TALK = f"""
import socket, sys
def ask(text, port={PORT}):
    with socket.create_connection(("127.0.0.1", port), 60) as link:
        link.sendall(text.encode("latin-1"))
        link.settimeout(60)
        answer = b""
        while data := link.recv(65536):
            answer += data
    return answer.decode("latin-1")
"""


@dataclass
class Gate:
    """Allows a list, and remembers what it was asked; `open_question` decides the rest."""

    hosts: list[str]
    open_question: asyncio.Event | None = None
    asked: list[str] = field(default_factory=list)
    was_asked: asyncio.Event = field(default_factory=asyncio.Event)
    withdrawn: bool = False

    @property
    def local_ports(self) -> tuple[int, ...]:
        """As the list says."""
        return local_ports(self.hosts)

    async def reach(self, host: str, port: int, *, near: bool) -> str:
        """Decide by the list."""
        self.asked.append(named(host, port))
        self.was_asked.set()
        if self.open_question is not None:
            try:
                await self.open_question.wait()
            except asyncio.CancelledError:
                self.withdrawn = True
                raise
        return "" if allows(self.hosts, host, port) else "not listed"


async def inside(gate: Gate, program: str, outside: Mapping[str, str] | None = None, args: tuple[str, ...] = ()) -> str:
    """What a Python program prints that runs in a network of its own."""
    network = CommandNetwork(gate, outside or {})
    bubblewrap = (BWRAP, "--unshare-net", "--unshare-pid", "--dev-bind", "/", "/", "--proc", "/proc", "--")
    environment = {**os.environ, **network.environment}
    try:
        running = await asyncio.create_subprocess_exec(
            *bubblewrap,
            *network.command((sys.executable, "-c", TALK + program, *args)),
            env=environment,
            pass_fds=network.pass_fds,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
        )
        network.begin()
        output, _ = await asyncio.wait_for(running.communicate(), 60)
    finally:
        network.close()
    return output.decode()


@asynccontextmanager
async def server(answer: Callable[[str], str]) -> AsyncIterator[tuple[int, list[str]]]:
    """A server on this machine that answers what it is sent in one piece; yields its port and what it got."""
    got: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        got.append((await reader.read(MOST_HEAD)).decode("latin-1"))
        writer.write(answer(got[-1]).encode())
        writer.close()

    running = await asyncio.start_server(serve, "127.0.0.1", 0)
    async with running:
        yield running.sockets[0].getsockname()[1], got


def ok(_: str) -> str:
    """An answer."""
    return "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nhello"


async def test_an_allowed_port_of_this_machine_is_reached_by_both_kinds_of_requests() -> None:
    async with server(ok) as (port, got):
        gate = Gate([f"localhost:{port}"])
        plain = (
            f"ask('GET http://localhost:{port}/a?b HTTP/1.1\\r\\nHost: evil\\r\\nUpgrade: h2c\\r\\nX: 1\\r\\n\\r\\n')"
        )
        tunnel = f"ask('CONNECT localhost:{port} HTTP/1.1\\r\\n\\r\\nraw')"
        assert "hello" in await inside(gate, f"print({plain})")
        assert got == [f"GET /a?b HTTP/1.1\r\nHost: localhost:{port}\r\nConnection: close\r\nX: 1\r\n\r\n"]
        assert "Connection established" in await inside(gate, f"print({tunnel})")
        assert got[1:] == ["raw"]
        assert "hello" in await inside(gate, f"print(ask('x', {port}))"), "by its own port, without the proxy"


async def test_a_port_of_this_machine_that_is_not_listed_is_not_reached() -> None:
    async with server(ok) as (port, got):
        gate = Gate(["localhost:1"])
        told = await inside(gate, f"print(ask('CONNECT 127.0.0.1:{port} HTTP/1.1\\r\\n\\r\\n'))")
        assert told.startswith(f"HTTP/1.1 403 The sandbox refused 127.0.0.1:{port}: not listed.")
        assert told.rstrip().endswith(f"\nThe sandbox refused 127.0.0.1:{port}: not listed.")
        assert "refused" in (await inside(gate, f"ask('x', {port})")).lower()
        assert got == []


async def test_a_listed_name_that_leads_to_this_machine_is_refused() -> None:
    """DNS rebinding: /etc/hosts names this machine as any DNS server can."""
    name = os.uname().nodename
    try:
        found = await asyncio.get_running_loop().getaddrinfo(name, 80)
    except OSError:
        pytest.skip("the name of this machine leads nowhere")
    address = str(found[0][4][0])
    gate = Gate([f"{name}:80"])
    told = await inside(gate, f"print(ask('CONNECT {name}:80 HTTP/1.1\\r\\n\\r\\n'))")
    assert f"403 The sandbox refused {named(address, 80)}, where {name.lower()} leads: not listed." in told
    assert gate.asked[:2] == [named(name.lower(), 80), named(address, 80)]


async def test_connections_to_one_host_ask_once_and_wait_for_the_answer() -> None:
    gate = Gate([], open_question=asyncio.Event())
    program = """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(5) as threads:
    print(*threads.map(ask, 5 * ["CONNECT a.example:443 HTTP/1.1\\r\\n\\r\\n"]))
"""
    running = asyncio.create_task(inside(gate, program))
    await gate.was_asked.wait()
    assert gate.open_question
    gate.open_question.set()
    assert (await running).count("403 The sandbox refused a.example:443: not listed.") == 5
    assert gate.asked == ["a.example:443"]


async def test_a_question_is_withdrawn_when_its_command_ends(caplog: pytest.LogCaptureFixture) -> None:
    gate = Gate([], open_question=asyncio.Event())
    program = f"""
link = socket.create_connection(("127.0.0.1", {PORT}))
link.sendall(b"CONNECT a.example:443 HTTP/1.1\\r\\n\\r\\n")
sys.stdin = open(sys.argv[1])
"""
    reading, writing = os.pipe()
    running = asyncio.create_task(inside(gate, program, args=(f"/proc/{os.getpid()}/fd/{reading}",)))
    await gate.was_asked.wait()
    os.close(writing)
    await running
    for _ in range(5):  # its task is cancelled, and then what waits for that
        await asyncio.sleep(0)
    os.close(reading)
    assert gate.withdrawn
    assert caplog.messages == [], "asyncio prints an error that nobody takes"


@pytest.mark.parametrize(
    ("request_text", "status"),
    [
        ("GET / HTTP/1.1", 400),
        ("GET ftp://a.example/ HTTP/1.1", 400),
        ("GET http://a@b.example/ HTTP/1.1", 400),
        ("GET http://a..example/ HTTP/1.1", 400),
        ("CONNECT a.example HTTP/1.1", 400),
        ("CONNECT 2130706433:80 HTTP/1.1", 400),
        ("CONNECT a.example:443 HTTP/1.1\r\nBad Name: 1", 400),
        ("CONNECT a.example:443 HTTP/1.1\r\nX: a\nY: b", 400),
        pytest.param("CONNECT a.example:443 HTTP/1.1\r\nX: " + "a" * MOST_HEAD, 431, id="long"),
        ("CONNECT nothing.invalid:443 HTTP/1.1", 502),
    ],
)
async def test_what_is_not_passed_on(request_text: str, status: int) -> None:
    told = await inside(Gate(["nothing.invalid"]), f"print(ask({request_text!r} + '\\r\\n\\r\\n'))")
    assert told.startswith(f"HTTP/1.1 {status} ")


async def test_a_crowd_of_connections_is_sent_away() -> None:
    program = f"""
links = [socket.create_connection(("127.0.0.1", {PORT})) for _ in range({MOST_CONNECTIONS + 4})]
print(links[-1].recv(100))
"""
    assert "503 Too many connections" in await inside(Gate([]), program)


@pytest.mark.parametrize(
    ("sent", "head"),
    [
        (
            b"GET / HTTP/1.1\r\nA: 1\r\nB-c:\t two words \r\n\r\nbody",
            ("GET / HTTP/1.1", [("A", "1"), ("B-c", "two words ")]),
        ),
        (b"GET / HTTP/1.1\r\n\r\n", ("GET / HTTP/1.1", [])),
        (b"GET / HTTP/1.1\r\nA: 1\r\n", ("", [])),
        (b"", ("", [])),
        (b"GET / HTTP/1.1\r\nA: 1\r\n B\r\n\r\n", 400),
        (b"GET / HTTP/1.1\r\nA: 1\r\n: 2\r\nB: 3\r\n\r\n", 400),
        (b"a" * (MOST_HEAD + 9), 431),
    ],
    ids=lambda value: repr(value)[:40],
)
async def test_the_head_of_a_request(sent: bytes, head: object) -> None:
    reader = asyncio.StreamReader(limit=MOST_HEAD)
    reader.feed_data(sent)
    reader.feed_eof()
    try:
        found: object = await _head(reader)
    except ProxyRefusal as refusal:
        found = refusal.status
    assert found == head


def test_what_is_on_this_machine_is_known() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert listens(port)
        with socket.create_connection(("127.0.0.1", port)) as link:
            assert not listens(link.getsockname()[1]), "a connection is no listener"
    assert not listens(port)
    assert _is_own("127.0.0.1")
    assert not _is_own("192.0.2.1")  # RFC 5737: of nobody
    assert not _is_own("2001:db8::1")
    assert not _is_own("255.255.255.255")  # which nobody may ask without a right to it


def ignored_signals() -> str:
    """Those of a command outside; under nohup it is one."""
    return subprocess.check_output(("grep", "SigIgn", "/proc/self/status"), text=True)


async def test_the_command_inherits_nothing_and_sees_no_trace_of_the_entry() -> None:
    environment = {name: value for name, value in os.environ.items() if name not in ("LC_CTYPE", "LC_ALL", "LANG")}
    network = CommandNetwork(Gate([]), environment)
    running = await asyncio.create_subprocess_exec(
        *(BWRAP, "--unshare-net", "--unshare-pid", "--dev-bind", "/", "/", "--proc", "/proc", "--"),
        *network.command(("/bin/sh", "-c", "ls /proc/self/fd; env | grep LC_CTYPE; grep SigIgn /proc/self/status")),
        env={**environment, **network.environment},
        pass_fds=network.pass_fds,
        stdout=asyncio.subprocess.PIPE,
    )
    network.begin()
    output, _ = await running.communicate()
    network.close()
    assert output.decode().split() == ["0", "1", "2", "3", *ignored_signals().split()]


async def test_the_users_own_proxy_is_used_with_its_password_which_the_command_does_not_see() -> None:
    def answer(request: str) -> str:
        return "HTTP/1.1 200 OK\r\n\r\n" + ("" if request.startswith("CONNECT") else "Connection: close")

    async with server(answer) as (port, got):
        outside = {"HTTPS_PROXY": f"http://ada:pa%20ss@127.0.0.1:{port}", "http_proxy": f"127.0.0.1:{port}"}
        gate = Gate(["a.example"])
        tunnel = await inside(gate, "print(ask('CONNECT a.example:443 HTTP/1.1\\r\\n\\r\\n'), sys.argv)", outside)
        assert "Connection established" in tunnel
        assert got == [
            "CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\nProxy-Authorization: Basic YWRhOnBhIHNz\r\n\r\n"
        ]
        body = "POST http://a.example/x HTTP/1.1\\r\\nContent-Length: 2\\r\\n\\r\\nab"
        more = "GET http://b.example/ HTTP/1.1\\r\\n\\r\\n"
        await inside(gate, f"ask('{body}{more}')", outside)
        assert got[1].startswith("POST http://a.example/x HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n")
        assert "b.example" not in "".join(got)
        for given, refused in (("Content-Length: 0", True), ("Accept: b", False)):
            twice = f"GET http://a.example/ HTTP/1.1\\r\\n{given}\\r\\n{given}\\r\\n\\r\\n"
            assert ("411" in await inside(gate, f"print(ask('{twice}'))", outside)) is refused
        async with server(ok) as (near, reached):
            line = f"ask('CONNECT localhost:{near} HTTP/1.1\\r\\n\\r\\nraw')"
            await inside(Gate([f"localhost:{near}"]), line, outside)
            assert reached == ["raw"], "this machine is reached without it"
        assert "403" in await inside(gate, "print(ask('CONNECT b.example:443 HTTP/1.1\\r\\n\\r\\n'))", outside)
        assert len(got) <= 4


@pytest.mark.parametrize(
    ("environment", "scheme", "host", "proxy"),
    [
        ({}, "https", "a.example", ""),
        ({"HTTPS_PROXY": "http://p:1"}, "https", "a.example", "http://p:1"),
        ({"HTTPS_PROXY": "http://p:1"}, "http", "a.example", ""),
        ({"all_proxy": "p:1"}, "http", "a.example", "http://p:1"),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "b.example, .a.example"}, "https", "x.a.example", ""),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "a.example:443"}, "https", "a.example", ""),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "*"}, "https", "a.example", ""),
        ({"HTTPS_PROXY": "http://p:1", "NO_PROXY": "a.example"}, "https", "ba.example", "http://p:1"),
    ],
)
def test_which_proxy_the_user_has_for_a_host(environment: dict[str, str], scheme: str, host: str, proxy: str) -> None:
    assert proxy_for(environment, scheme, host) == proxy


def descriptors() -> int:
    """How many this program has open."""
    return len([*Path("/proc/self/fd").iterdir()])


async def test_a_way_that_is_closed_keeps_no_descriptor() -> None:
    before = descriptors()
    network = CommandNetwork(Gate([]), {})
    network.close()
    assert descriptors() == before
    network.close()


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (OSError("x"), "no connection"),
        (ConnectionRefusedError(111, "Connection refused"), "Connection refused"),
        (TimeoutError(110, "x"), "no answer in time"),
    ],
)
def test_why_a_host_was_not_reached(error: OSError, words: str) -> None:
    assert _words_of(error) == words
