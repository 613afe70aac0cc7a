"""The app in a real browser: it is drawn, typing reaches it, and pages of other origins do not."""

import asyncio
import os
import socket
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest

from tests.ui.program import ROOT

pytest.importorskip("textual_serve", reason="textual-serve is not installed (the extra `web`)")

from aiohttp import web

from harness.ui.web.server import WebServer
from tests.ui.chromium import LIMIT_S, PROGRAM, Chromium, Tab, chromium
from tests.ui.page import origin_of
from tests.ui.processes import apps_of, gone, until

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.interop,
    pytest.mark.skipif(PROGRAM is None, reason="no Chromium is installed"),
]

APP = (sys.executable, str(ROOT / "tests/ui/served_app.py"))
MIDDLE = (400, 300)
BLUE, GREEN, RED, YELLOW = (0, 0, 255), (0, 255, 0), (255, 0, 0), (255, 255, 0)
GRACE_S = 2.0
FITS = """(() => {
    const {clientWidth, clientHeight} = document.querySelector('.xterm-screen');
    const [right, below] = [innerWidth - clientWidth, innerHeight - clientHeight];
    return right >= 0 && right < 12 && below >= 0 && below < 24;
})()"""
"""Whether the terminal fills the window but for less than one cell."""


@pytest.fixture
async def browser(tmp_path: Path) -> AsyncIterator[Chromium]:
    async with chromium(tmp_path / "profile") as one:
        yield one


@pytest.fixture
async def server() -> AsyncIterator[WebServer]:
    async with WebServer(APP, grace_s=GRACE_S) as standing:
        yield standing


@pytest.fixture
async def elsewhere() -> AsyncIterator[str]:
    """A page at another port of the same machine, for which the browser sends our cookie as well."""

    async def page(request: web.Request) -> web.Response:
        return web.Response(text="<title>another page</title>", content_type="text/html")

    application = web.Application()
    application.router.add_get("/", page)
    runner = web.AppRunner(application)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    yield f"http://127.0.0.1:{runner.addresses[0][1]}/"
    await runner.cleanup()


async def test_the_app_is_drawn_typing_needs_no_click_and_closing_the_tab_ends_it(
    browser: Chromium, server: WebServer
) -> None:
    tab = await browser.tab()
    await tab.go(server.link)
    await tab.becomes(BLUE, *MIDDLE)
    await tab.press("g")
    await tab.becomes(GREEN, *MIDDLE)
    assert await tab.evaluate("location.href") == f"{origin_of(server.link)}/"
    assert await tab.evaluate("document.cookie") == ""
    loaded = await tab.evaluate("performance.getEntriesByType('resource').map(entry => entry.name)")
    assert len(loaded) >= 3
    assert all(name.startswith(origin_of(server.link)) for name in loaded)
    assert await tab.evaluate("document.fonts.check('16px \"Roboto Mono\"')")
    assert tab.complaints == []
    apps = apps_of(APP)
    assert apps
    await tab.close()
    await gone(*apps)


async def test_a_reload_keeps_the_app_its_screen_and_the_focus(browser: Chromium, server: WebServer) -> None:
    tab = await browser.tab()
    await tab.go(server.link)
    await tab.becomes(BLUE, *MIDDLE)
    apps = apps_of(APP)
    await tab.press("g")
    await tab.becomes(GREEN, *MIDDLE)
    for key, colour in (("h", RED), ("g", GREEN)):
        await tab.reload()
        await tab.press(key)
        await tab.becomes(colour, *MIDDLE)
    await tab.reload()
    await tab.becomes(GREEN, *MIDDLE)
    assert apps_of(APP) == apps
    assert tab.complaints == []


async def test_a_dropped_connection_is_made_again(browser: Chromium, server: WebServer) -> None:
    tab = await browser.tab()
    await tab.go(server.link)
    await tab.becomes(BLUE, *MIDDLE)
    apps = apps_of(APP)
    drop_connections(server)
    async with asyncio.timeout(LIMIT_S):
        while await tab.colour(*MIDDLE) != GREEN:  # a key is lost if the page does not know of the break yet
            await tab.press("g")
    assert apps_of(APP) == apps
    assert await tab.evaluate("document.body.classList.contains('-closed')") is False


async def test_a_page_that_was_away_too_long_says_how_to_continue(browser: Chromium) -> None:
    async with WebServer(APP, grace_s=0) as server:
        tab = await browser.tab()
        await tab.go(server.link)
        await tab.becomes(BLUE, *MIDDLE)
        drop_connections(server)
        await tab.until("document.querySelector('.closed').innerText.includes('`harness -c` continues')")
        await until(lambda: not apps_of(APP))
        await tab.go(origin_of(server.link))
        await tab.becomes(BLUE, *MIDDLE)


async def test_a_copy_of_a_tab_gets_an_app_of_its_own(browser: Chromium, server: WebServer) -> None:
    tab = await browser.tab()
    await tab.go(server.link)
    await tab.becomes(BLUE, *MIDDLE)
    await tab.press("g")
    await tab.becomes(GREEN, *MIDDLE)
    (first,) = apps_of(APP)
    copied = "open('/').sessionStorage.getItem('harness-page') === sessionStorage.getItem('harness-page')"
    assert await tab.evaluate(copied) is True
    await until(lambda: len(apps_of(APP)) == 2)
    await tab.call("Page.bringToFront")
    await tab.press("h")
    await tab.becomes(RED, *MIDDLE)
    assert first in apps_of(APP)


async def test_the_terminal_fits_the_window_and_the_zoom_at_once(browser: Chromium, server: WebServer) -> None:
    tab = await browser.tab()
    await tab.go(server.link)
    await tab.becomes(BLUE, *MIDDLE)
    await tab.resize(1200, 600)
    await tab.becomes(YELLOW, 1100, 300)
    await tab.until(FITS)
    await tab.resize(800, 600)
    await tab.becomes(BLUE, *MIDDLE)
    await tab.until(FITS)
    settings = await browser.tab()
    await settings.call("Page.navigate", url="chrome://settings/")
    await settings.until("typeof chrome.settingsPrivate === 'object'")
    await settings.evaluate("new Promise(done => chrome.settingsPrivate.setDefaultZoom(0.5, done))")
    await settings.close()
    await tab.until("devicePixelRatio === 0.5")
    await tab.becomes(YELLOW, *MIDDLE)
    await tab.until(FITS)


def drop_connections(server: WebServer) -> None:
    """Break every open connection to the server, as a network does."""
    port = int(origin_of(server.link).rpartition(":")[2])
    for connection in psutil.Process().net_connections(kind="tcp"):
        if connection.status == psutil.CONN_ESTABLISHED and connection.laddr.port == port:
            with socket.socket(fileno=os.dup(connection.fd)) as broken:
                broken.shutdown(socket.SHUT_RDWR)


async def test_a_page_of_another_origin_cannot_connect_though_the_cookie_is_sent(
    browser: Chromium, server: WebServer, elsewhere: str
) -> None:
    own = await browser.tab()
    await own.go(server.link)
    await own.becomes(BLUE, *MIDDLE)
    await own.close()
    await until(lambda: not apps_of(APP))
    other = await browser.tab()
    await other.go(elsewhere)
    assert await connects(other, server) == "refused"
    assert await reads(other, server) == "refused"
    assert not apps_of(APP)


async def connects(tab: Tab, server: WebServer) -> object:
    address = origin_of(server.link).replace("http", "ws") + "/ws"
    return await tab.evaluate(
        f"new Promise(tell => {{ const socket = new WebSocket('{address}');"
        "socket.onopen = () => tell('open'); socket.onerror = () => tell('refused') })"
    )


async def reads(tab: Tab, server: WebServer) -> object:
    address = origin_of(server.link)
    return await tab.evaluate(
        f"fetch('{address}/', {{credentials: 'include', mode: 'no-cors'}}).then(answer => 'read', () => 'refused')"
    )
