"""Pages that come and go while their app runs on, over real sockets and with real processes."""

import asyncio
import socket
import sys
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from tests.ui.processes import alive, apps_of, gone, until
from tests.ui.program import ROOT

pytest.importorskip("textual_serve", reason="textual-serve is not installed (the extra `web`)")

from aiohttp import ClientSession

from harness.ui.web.app_process import ShutdownLimits
from harness.ui.web.page_app import PageClosure
from harness.ui.web.server import WebServer
from tests.ui.page import Page, browser, opened

pytestmark = pytest.mark.anyio

APP = (sys.executable, str(ROOT / "tests/ui/served_app.py"))
LAST_WORDS = (
    sys.executable,
    "-c",
    "import sys; print('__GANGLION__', flush=True); sys.stdin.buffer.read(); sys.exit('resume with: this')",
)
OFFERING = """
import sys
print("__GANGLION__", flush=True)
sys.stdin.buffer.read(5 + len('{"type": "blur"}'))
offer = b'{"type": "deliver_file_start", "key": "1", "path": "notes.txt"}'
sys.stdout.buffer.write(b"M" + len(offer).to_bytes(4, "big") + offer)
sys.stdout.flush()
sys.stdin.buffer.read()
"""
ENDLESS = """
import sys
print("__GANGLION__", flush=True)
while True:
    sys.stdout.buffer.write(b"D" + (65536).to_bytes(4, "big") + b"." * 65536)
"""


@pytest.fixture
async def server() -> AsyncIterator[WebServer]:
    async with WebServer(APP) as standing:
        yield standing


@pytest.fixture
async def session(server: WebServer) -> AsyncIterator[ClientSession]:
    """A browser that was let in."""
    async with entered(server) as one:
        yield one


@asynccontextmanager
async def entered(server: WebServer) -> AsyncIterator[ClientSession]:
    """A browser that has exchanged the link for the cookie."""
    async with browser() as one:
        await (await one.get(server.link)).read()
        yield one


async def secret_of(page: Page) -> str:
    return str(await page.is_told("page"))


def again(secret: str, width: int = 60) -> str:
    return f"?width={width}&height=20&page={secret}"


# ── a page that comes back ──────────────────────────────────────────────────────────────────────


async def test_a_reload_shows_the_present_screen_of_the_same_app(server: WebServer, session: ClientSession) -> None:
    async with opened(session, server.link) as page:
        await page.sees("size 60 by 20")
        secret = await secret_of(page)
        apps = apps_of(APP)
        await page.type("g")
        await page.sees("typed g")
    await asyncio.sleep(0.5)  # until nothing of the loss of the focus is left to be drawn
    async with opened(session, server.link, again(secret)) as page:
        await page.sees("typed g")
        assert "\x1b[?1049h" in page.screen
        assert "\x1b[?1003h" in page.screen  # the mouse
        assert "\x1b[?2004h" in page.screen  # pasting
        assert await secret_of(page) == secret
        await page.type("h")
        await page.sees("typed h")
        assert apps_of(APP) == apps


async def test_a_page_comes_back_with_another_size(server: WebServer, session: ClientSession) -> None:
    async with opened(session, server.link) as page:
        await page.sees("size 60 by 20")
        secret = await secret_of(page)
    async with opened(session, server.link, again(secret, width=73)) as page:
        await page.sees("size 73 by 20")


async def test_a_dropped_connection_ends_nothing(server: WebServer, session: ClientSession) -> None:
    async with opened(session, server.link) as page:
        await page.sees("size 60 by 20")
        secret = await secret_of(page)
        apps = apps_of(APP)
        page.websocket.get_extra_info("socket").shutdown(socket.SHUT_RDWR)
        await page.is_closed()
    async with opened(session, server.link, again(secret)) as page:
        await page.sees("size 60 by 20")
        assert apps_of(APP) == apps


async def test_two_pages_of_one_link_do_not_mix(server: WebServer, session: ClientSession) -> None:
    async with opened(session, server.link) as one, opened(session, server.link) as other:
        await one.sees("size 60 by 20")
        await other.sees("size 60 by 20")
        secrets = await secret_of(one), await secret_of(other)
        await one.type("a")
        await one.sees("typed a")
        await other.type("b")
        await other.sees("typed b")
        assert "typed b" not in one.screen
    async with (
        opened(session, server.link, again(secrets[1])) as other,
        opened(session, server.link, again(secrets[0])) as one,
    ):
        await one.sees("typed a")
        await other.sees("typed b")
        assert "typed a" not in other.screen


async def test_without_its_secret_a_page_gets_a_new_app(server: WebServer, session: ClientSession) -> None:
    async with opened(session, server.link) as page:
        await page.sees("size 60 by 20")
        await page.type("g")
        await page.sees("typed g")
        secret = await secret_of(page)
    async with opened(session, server.link) as page:
        await page.sees("size 60 by 20")
        assert await secret_of(page) != secret
        assert len(apps_of(APP)) == 2


@pytest.mark.parametrize("secret", ["", "1", "ä", "%ED%A0%80", "x" * 43])
async def test_an_unknown_secret_gets_no_app(server: WebServer, session: ClientSession, secret: str) -> None:
    async with opened(session, server.link) as kept:
        await kept.sees("size 60 by 20")
        async with opened(session, server.link, again(secret)) as page:
            await page.is_closed()
            assert page.websocket.close_code == PageClosure.UNKNOWN
            assert page.screen == ""
        assert len(apps_of(APP)) == 1


async def test_the_secret_of_an_app_that_has_ended_gets_no_app(server: WebServer, session: ClientSession) -> None:
    async with opened(session, server.link) as page:
        await page.sees("size 60 by 20")
        secret = await secret_of(page)
        await page.type("x")
        await page.is_closed()
    async with opened(session, server.link, again(secret)) as page:
        await page.is_closed()
        assert page.websocket.close_code == PageClosure.UNKNOWN


async def test_a_page_with_the_secret_takes_the_app_over(server: WebServer, session: ClientSession) -> None:
    async with opened(session, server.link) as former:
        await former.sees("size 60 by 20")
        apps = apps_of(APP)
        async with opened(session, server.link, again(await secret_of(former))) as page:
            await former.is_closed()
            assert former.websocket.close_code == PageClosure.TAKEN
            await page.sees("size 60 by 20")
            await page.type("g")
            await page.sees("typed g")
            assert apps_of(APP) == apps


async def test_a_page_that_reads_nothing_does_not_hold_up_the_next_one() -> None:
    async with WebServer((sys.executable, "-c", ENDLESS)) as server, AsyncExitStack() as pages:
        session = await pages.enter_async_context(entered(server))
        stalled = await pages.enter_async_context(opened(session, server.link))
        secret = await secret_of(stalled)
        await asyncio.sleep(0.5)  # until the buffers are full
        page = await pages.enter_async_context(opened(session, server.link, again(secret)))
        await page.sees("..........")


async def test_a_file_that_was_offered_meanwhile_is_announced() -> None:
    async with WebServer((sys.executable, "-c", OFFERING)) as server, entered(server) as session:
        async with opened(session, server.link) as page:
            secret = await secret_of(page)
        await asyncio.sleep(0.5)  # until it has been offered
        async with opened(session, server.link, again(secret)) as page:
            assert await page.is_told("deliver_file_start") == "1"


# ── the focus ───────────────────────────────────────────────────────────────────────────────────


async def test_the_focus_that_a_page_reports_before_its_app_runs_is_not_lost(
    server: WebServer, session: ClientSession
) -> None:
    async with opened(session, server.link) as page:
        await page.say("focus")
        await page.sees("the focus is here")
        await page.type("g")
        await page.sees("typed g")
        assert page.screen.rindex("the focus is here") > page.screen.rfind("the focus is elsewhere")


async def test_without_a_page_the_app_has_no_focus(server: WebServer, session: ClientSession) -> None:
    async with opened(session, server.link) as page:
        await page.say("focus")
        await page.sees("the focus is here")
        secret = await secret_of(page)
    async with opened(session, server.link, again(secret)) as page:
        await page.sees("the focus is elsewhere")


# ── a page that does not come back ──────────────────────────────────────────────────────────────


async def test_without_a_page_the_app_ends_after_the_grace_time_and_its_last_words_are_reported() -> None:
    reported: list[str] = []
    async with WebServer(LAST_WORDS, grace_s=0.5, report=reported.append) as server, entered(server) as session:
        async with opened(session, server.link) as page:
            secret = await secret_of(page)
            apps = apps_of(LAST_WORDS)
        await asyncio.sleep(0.1)
        assert all(map(alive, apps))
        await until(lambda: reported)
        assert reported == ["resume with: this\n"]
        await gone(*apps)
        async with opened(session, server.link, again(secret)) as page:
            await page.is_closed()
            assert page.websocket.close_code == PageClosure.UNKNOWN


async def test_an_app_that_is_ending_gets_no_page() -> None:
    slow = (sys.executable, "-c", "import time; print('__GANGLION__', flush=True); time.sleep(600)")
    patience = ShutdownLimits(quit_s=1, term_s=0.2)
    async with WebServer(slow, patience=patience, grace_s=0) as server, entered(server) as session:
        async with opened(session, server.link) as page:
            secret = await secret_of(page)
            apps = apps_of(slow)
        await asyncio.sleep(0.2)
        assert all(map(alive, apps))
        async with opened(session, server.link, again(secret)) as page:
            await page.is_closed()
            assert page.websocket.close_code == PageClosure.UNKNOWN


async def test_a_page_that_comes_back_in_time_ends_the_grace_time() -> None:
    async with WebServer(APP, grace_s=1) as server, entered(server) as session:
        async with opened(session, server.link) as page:
            await page.sees("size 60 by 20")
            secret = await secret_of(page)
        async with opened(session, server.link, again(secret)) as page:
            await asyncio.sleep(1.2)
            await page.type("g")
            await page.sees("typed g")


async def test_an_app_without_a_page_ends_with_the_server() -> None:
    reported: list[str] = []
    async with WebServer(LAST_WORDS, report=reported.append) as server, entered(server) as session:
        async with opened(session, server.link) as page:
            await secret_of(page)
        apps = apps_of(LAST_WORDS)
    assert len(apps) == 1
    assert not any(map(alive, apps))
    assert reported == ["resume with: this\n"]
