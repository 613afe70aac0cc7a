"""The app in a real browser: it is drawn, typing reaches it, and pages of other origins do not."""

import os
import socket
from collections.abc import AsyncIterator
from pathlib import Path

import psutil
import pytest
from aiohttp import web

from harness.ui.web.server import WebServer
from tests.ui.processes import apps_of, gone, until
from tests.ui.web.chromium import PROGRAM, Chromium, Tab, chromium
from tests.ui.web.conftest import APP
from tests.ui.web.page import origin_of, terminal_of

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.interop,
    pytest.mark.skipif(PROGRAM is None, reason="no Chromium is installed"),
]

MIDDLE = (400, 300)
BLUE, GREEN, RED, YELLOW = (0, 0, 255), (0, 255, 0), (255, 0, 0), (255, 255, 0)
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
async def elsewhere() -> AsyncIterator[str]:
    """A page at another port of this machine, to which the browser sends our cookie as well."""

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
    assert "token" not in await tab.evaluate("location.href")
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


async def test_a_reload_and_a_lost_connection_resume_the_session_and_keep_the_focus(
    browser: Chromium, server: WebServer
) -> None:
    tab = await browser.tab()
    await tab.go(server.link)
    await tab.becomes(BLUE, *MIDDLE)
    (first,) = apps_of(APP)
    address = await tab.evaluate("location.href")
    for _ in range(2):
        await tab.press("g")
        await tab.becomes(GREEN, *MIDDLE)
        await tab.reload()
        await tab.becomes(BLUE, *MIDDLE)
        await until(lambda: apps_of((*APP, "--reopen", f"s{first}")))
    drop_connections(server)
    await tab.until("document.querySelector('.closed').innerText.includes('Continue')")
    await until(lambda: not apps_of(APP))
    await tab.evaluate("document.querySelector('.closed a').click()")
    await until(lambda: apps_of((*APP, "--reopen", f"s{first}")))
    await tab.becomes(BLUE, *MIDDLE)
    await tab.press("h")
    await tab.becomes(RED, *MIDDLE)
    assert await tab.evaluate("location.href") == address
    assert tab.complaints == []


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
    terminal = terminal_of(await own.evaluate("location.href")).replace("http", "ws", 1)
    await own.close()
    await until(lambda: not apps_of(APP))
    other = await browser.tab()
    await other.go(elsewhere)
    assert await connects(other, terminal) == "refused"
    assert await reads(other, server) == "refused"
    assert not apps_of(APP)


async def connects(tab: Tab, address: str) -> object:
    return await tab.evaluate(
        f"new Promise(resolve => {{ const socket = new WebSocket('{address}');"
        "socket.onopen = () => resolve('open'); socket.onerror = () => resolve('refused') })"
    )


async def reads(tab: Tab, server: WebServer) -> object:
    address = origin_of(server.link)
    return await tab.evaluate(
        f"fetch('{address}/', {{credentials: 'include', mode: 'no-cors'}}).then(answer => 'read', () => 'refused')"
    )
