"""The server over real sockets: access, answers, and pages that come back."""

import asyncio
import json
import re
import socket
import sys
from contextlib import AsyncExitStack, suppress

import psutil
import pytest
from aiohttp import ClientSession, WSServerHandshakeError

from harness.ui.web.server import MOST_APPS, MOST_PASTED, WebServer
from tests.ui.processes import alive, apps_of, gone, until
from tests.ui.web.conftest import APP
from tests.ui.web.page import browser, entered, opened, origin_of, terminal_of

pytestmark = pytest.mark.anyio

CAT = (sys.executable, "-c", "import sys; sys.stdout.buffer.write(b'__GANGLION__\\n'); sys.stdout.flush(); input()")
SENTENCE = re.compile(r"[A-Z][^\n]+\.\n")


# ── who is let in ───────────────────────────────────────────────────────────────────────────────


async def test_the_link_is_exchanged_once_for_a_cookie_and_does_not_stay_in_the_address(server: WebServer) -> None:
    async with browser() as one, one.get(server.link, allow_redirects=False) as answer:
        assert (answer.status, answer.headers["Location"]) == (303, "/")
        cookie = answer.headers["Set-Cookie"]
        assert all(part in cookie for part in ("HttpOnly", "SameSite=Strict", "Path=/"))
        assert "Domain" not in cookie
        assert server.link.partition("token=")[2] not in cookie
        async with browser() as other:
            for late in (one, other):
                async with late.get(server.link) as refused:
                    assert refused.status == 403
                    assert "was used" in await refused.text()


async def test_without_the_cookie_nothing_is_served(server: WebServer, session: ClientSession) -> None:
    async with session.get(origin_of(server.link)) as answer:
        page = answer.url.path
    for path in ("/", "/?token=guessed", "/page.js", "/static/js/textual.js", "/static/", page, "/no/such/page"):
        async with browser() as one, one.get(origin_of(server.link) + path) as refused:
            assert refused.status == 403
            assert SENTENCE.fullmatch(await refused.text())
            assert "'self'" not in refused.headers["Content-Security-Policy"]
    address = origin_of(server.link)
    async with browser() as one:
        with pytest.raises(WSServerHandshakeError) as outside:
            await one.ws_connect(terminal_of(address + page), origin=address)
    assert outside.value.status == 403
    assert not apps_of(APP)


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
async def test_a_host_that_is_not_ours_is_refused(server: WebServer, session: ClientSession, method: str) -> None:
    address = origin_of(server.link)
    async with session.request(method, address, headers={"Host": "evil.example", "Origin": address}) as answer:
        assert answer.status == 403


async def test_a_post_of_another_origin_is_refused(server: WebServer, session: ClientSession) -> None:
    address = origin_of(server.link)
    async with session.post(address, headers={"Origin": "http://127.0.0.1:1"}) as answer:
        assert answer.status == 403
    async with session.post(address, headers={"Origin": address}) as answer:
        assert answer.status == 405


async def test_a_websocket_of_another_origin_or_an_unknown_page_starts_no_app(
    server: WebServer, session: ClientSession
) -> None:
    own = origin_of(server.link)
    async with session.get(own) as answer:
        terminal = terminal_of(str(answer.url))
    unknown = (f"{own}/terminal/{'x' * 22}", f"{own}/terminal/%2e%2e%2fpage", f"{own}/terminal/")
    refused = [(terminal, origin, 403) for origin in (None, "null", "https://evil.example", "http://127.0.0.1:1")]
    for address, origin, status in [*refused, *((one, own, 404) for one in unknown)]:
        with pytest.raises(WSServerHandshakeError) as problem:
            await session.ws_connect(address, origin=origin)
        assert problem.value.status == status
    assert not apps_of(APP)


async def test_it_listens_on_loopback_only(server: WebServer) -> None:
    listening = {
        connection.laddr.ip
        for connection in psutil.Process().net_connections(kind="inet")
        if connection.status == psutil.CONN_LISTEN and f":{connection.laddr.port}/" in server.link
    }
    assert listening == {"127.0.0.1"}


# ── what is served ──────────────────────────────────────────────────────────────────────────────


async def test_the_page_loads_nothing_from_elsewhere_and_everything_it_names_is_there(
    server: WebServer, session: ClientSession
) -> None:
    async with session.get(origin_of(server.link)) as answer:
        page = await answer.text()
        assert answer.content_type == "text/html"
    assert not re.findall(r"https?://", page)
    named = re.findall(r'(?:href|src)="(/[^"]+)"|url\("([^"]+)"\)', page)
    assert len(named) >= 3
    for path in ("".join(pair) for pair in named):
        async with session.get(origin_of(server.link) + path) as answer:
            assert answer.status == 200


@pytest.mark.parametrize("path", ["/", "/static/js/textual.js", "/no/such/page"])
async def test_every_answer_keeps_to_itself(server: WebServer, session: ClientSession, path: str) -> None:
    async with session.get(origin_of(server.link) + path) as answer:
        headers = answer.headers
    assert headers["Cache-Control"] == "no-store"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert "Python" not in headers["Server"]


async def test_no_folder_is_listed_and_none_is_left(server: WebServer, session: ClientSession) -> None:
    port = int(origin_of(server.link).rpartition(":")[2])
    cookie = "; ".join(f"{one.key}={one.value}" for one in session.cookie_jar)
    for path in ("/static", "/static/js/", "/static/../server.py", "/static/%2e%2e/server.py", "/static//etc/passwd"):
        reading, writing = await asyncio.open_connection("127.0.0.1", port)  # a client would tidy the path
        writing.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nCookie: {cookie}\r\n\r\n".encode())
        assert (await reading.readline()).split()[1] in (b"403", b"404")
        writing.close()


# ── a page and its app ──────────────────────────────────────────────────────────────────────────


async def test_a_page_shows_the_app_and_what_is_typed_reaches_it(server: WebServer, session: ClientSession) -> None:
    async with opened(session, server.link) as page:
        await page.sees("size 60 by 20")
        await page.type("g")
        await page.sees("typed g")
        await page.say("resize", {"width": 70, "height": 30})
        await page.sees("size 70 by 30")
        await page.say("ping", "12")
        assert await page.is_told("pong") == "12"


async def test_a_large_paste_ends_neither_the_page_nor_its_app(server: WebServer, session: ClientSession) -> None:
    async with opened(session, server.link) as page:
        await page.sees("size 60 by 20")
        before = apps_of(APP)
        await page.say("stdin", f"\x1b[200~{'x' * 5_000_000}\x1b[201~")
        await page.say("ping", "12")
        assert await page.is_told("pong") == "12"
        assert apps_of(APP) == before


async def test_what_no_page_sends_changes_nothing(server: WebServer, session: ClientSession) -> None:
    async with opened(session, server.link, f"?width=many&height={'9' * 5_000}") as page:
        await page.sees("size 80 by 24")
        await page.say("stdin", "\ud800")  # half a character
        await page.say("no such thing", 1)
        await page.websocket.send_bytes(b"bytes")
        await page.say("resize", {"width": -5, "height": 10**9})
        await page.say("resize", {"width": 50, "height": 20})
        await page.type("g")
        await page.sees("typed g")


ODD_FRAMES = ("{", "", "[" * 100_000, "[" + "9" * 100_000 + "]", json.dumps(["stdin", "x" * MOST_PASTED]))


async def test_what_is_no_json_or_too_large_ends_the_page_and_its_app_without_a_traceback(
    server: WebServer, session: ClientSession, caplog: pytest.LogCaptureFixture
) -> None:
    for frame in ODD_FRAMES:
        async with opened(session, server.link) as page:
            await until(lambda: apps_of(APP))
            with suppress(ConnectionError):  # the server does not read an oversized body to its end
                await page.websocket.send_str(frame)
            await page.is_closed()
        await gone(*apps_of(APP))
    assert not [record for record in caplog.records if record.exc_info or "\n" in record.getMessage()]


async def test_another_version_of_the_protocol_is_refused_before_an_app_begins(
    server: WebServer, session: ClientSession
) -> None:
    async with session.get(origin_of(server.link)) as answer:
        terminal = terminal_of(str(answer.url))
    own = {"Origin": origin_of(server.link), "Upgrade": "websocket", "Connection": "Upgrade"}
    own["Sec-WebSocket-Key"] = "x" * 22 + "=="
    for headers in ({"Sec-WebSocket-Version": "99"}, {"Sec-WebSocket-Version": ""}, {"Upgrade": "h2c"}):
        async with session.get(terminal, headers=own | headers) as answer:
            assert answer.status == 400
    assert not apps_of(APP)


async def test_closing_the_page_ends_its_app_and_no_other(server: WebServer, session: ClientSession) -> None:
    async with opened(session, server.link) as kept:
        await kept.sees("size 60 by 20")
        (first,) = apps_of(APP)
        async with opened(session, server.link) as closed:
            await closed.sees("size 60 by 20")
            (second,) = set(apps_of(APP)) - {first}
        await gone(second)
        assert alive(first)
        await kept.type("g")
        await kept.sees("typed g")


async def test_one_app_too_many_gets_a_sentence_and_a_closed_page_makes_room() -> None:
    async with WebServer(CAT) as server, entered(server.link) as session, AsyncExitStack() as pages:
        first = await pages.enter_async_context(opened(session, server.link))
        for _ in range(MOST_APPS - 1):
            await pages.enter_async_context(opened(session, server.link))
        async with opened(session, server.link) as refused:
            await refused.sees("4 apps are open; close one")
            await refused.is_closed()
        await until(lambda: len(apps_of(CAT)) == MOST_APPS)
        apps = set(apps_of(CAT))
        await first.websocket.close()
        await pages.enter_async_context(opened(session, server.link))
        await until(lambda: len(apps_of(CAT)) == MOST_APPS and len(apps & set(apps_of(CAT))) == MOST_APPS - 1)


# ── a page that comes back ──────────────────────────────────────────────────────────────────────


async def test_a_page_that_comes_back_resumes_its_own_session_and_no_other(
    server: WebServer, session: ClientSession
) -> None:
    """After a reload, after a lost connection and after the end of the app."""
    async with opened(session, server.link) as one, opened(session, server.link) as other:
        await one.sees("size 60 by 20")
        await other.sees("session s")
        (kept,) = {f"session s{pid}" for pid in apps_of(APP) if f"session s{pid}" in one.screen}
        assert kept not in other.screen
        await one.websocket.close()
        async with opened(session, one.address) as again:
            await again.sees(kept)
            again.websocket.get_extra_info("socket").shutdown(socket.SHUT_RDWR)
            await again.is_closed()
        async with opened(session, one.address, "?width=73&height=20") as again:
            await again.sees(kept)
            await again.sees("size 73 by 20")
            await again.type("x")
            await again.is_closed()
        async with opened(session, one.address) as again:
            await again.sees(kept)
        await other.type("g")
        await other.sees("typed g")


async def test_a_copy_of_a_tab_takes_the_session_over(server: WebServer, session: ClientSession) -> None:
    async with opened(session, server.link) as one:
        await one.sees("session s")
        (first,) = apps_of(APP)
        async with opened(session, one.address) as copy:
            await copy.sees(f"session s{first}")
            assert not alive(first)
            await one.is_closed()


async def test_an_address_of_no_page_leads_to_a_new_one(server: WebServer, session: ClientSession) -> None:
    async with session.get(f"{origin_of(server.link)}/page/{'x' * 22}") as answer:
        assert answer.status == 200
        assert re.fullmatch(r"/page/[\w-]{22}", answer.url.path)
        assert "xxx" not in answer.url.path


@pytest.mark.stories
async def test_a_page_that_reads_no_more_does_not_keep_its_app() -> None:
    endless = """
import sys
print("__GANGLION__", flush=True)
while True:
    sys.stdout.buffer.write(b"D" + (65536).to_bytes(4, "big") + b"." * 65536)
"""
    command = (sys.executable, "-c", endless)
    async with WebServer(command) as server, entered(server.link) as session, AsyncExitStack() as pages:
        await pages.enter_async_context(opened(session, server.link))
        await until(lambda: apps_of(command))
        apps = apps_of(command)
        await server.__aexit__(None, None, None)
        assert not any(map(alive, apps))
