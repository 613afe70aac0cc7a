"""The app in a real browser: it is drawn, typing reaches it, and pages of other origins do not."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.ui.program import ROOT

pytest.importorskip("textual_serve", reason="textual-serve is not installed (the extra `web`)")

from aiohttp import web

from harness.ui.web.server import WebServer
from tests.ui.chromium import PROGRAM, Chromium, Tab, chromium
from tests.ui.page import origin_of
from tests.ui.processes import apps_of, gone, until

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.interop,
    pytest.mark.skipif(PROGRAM is None, reason="no Chromium is installed"),
]

APP = (sys.executable, str(ROOT / "tests/ui/served_app.py"))
MIDDLE = (400, 300)
BLUE, GREEN = (0, 0, 255), (0, 255, 0)


@pytest.fixture
async def browser(tmp_path: Path) -> AsyncIterator[Chromium]:
    async with chromium(tmp_path / "profile") as one:
        yield one


@pytest.fixture
async def server() -> AsyncIterator[WebServer]:
    async with WebServer(APP) as standing:
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


async def test_the_app_is_drawn_typing_reaches_it_and_closing_the_tab_ends_it(
    browser: Chromium, server: WebServer
) -> None:
    tab = await browser.tab()
    await tab.go(server.link)
    await tab.becomes(BLUE, *MIDDLE)
    await tab.click(*MIDDLE)
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
