"""The app process behind a page: how it ends, and what it may ask of the browser."""

import sys
from contextlib import AsyncExitStack

import pytest
from aiohttp import ClientSession

from harness.ui.web.served_app import ShutdownLimits
from harness.ui.web.server import WebServer
from tests.ui.processes import alive, apps_of, gone
from tests.ui.program import ROOT
from tests.ui.web.conftest import APP
from tests.ui.web.page import entered, opened

pytestmark = pytest.mark.anyio

STUBBORN = (sys.executable, str(ROOT / "tests/ui/web/stubborn_app.py"))
SHORT = ShutdownLimits(quit_s=0.2, term_s=0.2)


async def test_an_app_that_ends_closes_its_page_after_its_last_words(server: WebServer, session: ClientSession) -> None:
    async with opened(session, server.link) as page:
        await page.sees("size 60 by 20")
        await page.type("x")
        await page.sees("the last\\x1b[31m words\r\n")
        await page.is_closed()
    assert not apps_of(APP)


@pytest.mark.parametrize(
    ("program", "words"),
    [
        ("import sys; sys.exit('That flag\x1b[2J cannot be used.')", "That flag\\x1b[2J cannot be used.\r\n"),
        ("import sys, time; print('__GANGLION__\\nnot a packet', flush=True); time.sleep(600)", ""),
        ("import time; print('__GANGLION__\\nM\\0\\0\\0\\1{', flush=True); time.sleep(600)", ""),
        ("print('x' * 200_000)", ""),
    ],
    ids=["refuses", "speaks otherwise", "sends half an object", "is no app"],
)
async def test_what_is_no_app_ends_with_its_complaint(program: str, words: str) -> None:
    command = (sys.executable, "-c", program)
    async with WebServer(command, limits=SHORT) as server, entered(server.link) as session:
        async with opened(session, server.link) as page:
            await page.sees(words)
            await page.is_closed()
        assert not apps_of(command)


async def test_the_last_words_that_no_page_has_shown_are_reported() -> None:
    reported: list[str] = []
    async with WebServer(APP, report=reported.append) as server, entered(server.link) as session:
        async with opened(session, server.link) as page:
            await page.sees("session s")
        (app,) = apps_of(APP)
        await gone(app)
    assert reported == [f"resume with: harness --resume s{app}\n"]


async def test_only_addresses_of_the_web_are_opened(server: WebServer, session: ClientSession) -> None:
    async with opened(session, server.link) as page:
        await page.sees("size 60 by 20")
        await page.type("ju")
        assert await page.is_told("open_url") == {"url": "https://example.org/", "new_tab": True}


async def test_when_the_server_ends_all_apps_have_ended() -> None:
    async with WebServer(APP) as server, entered(server.link) as session, AsyncExitStack() as pages:
        for _ in range(2):
            page = await pages.enter_async_context(opened(session, server.link))
            await page.sees("size 60 by 20")
        apps = apps_of(APP)
        assert len(apps) == 2
        await server.__aexit__(None, None, None)
        assert not any(map(alive, apps))


async def test_an_app_that_heeds_nothing_is_killed_with_its_children() -> None:
    async with (
        WebServer(STUBBORN, limits=SHORT) as server,
        entered(server.link) as session,
        opened(session, server.link) as page,
    ):
        await page.sees(".")
        child = int(page.screen.removeprefix("child ").removesuffix("."))
        apps = apps_of(STUBBORN)
        assert alive(child)
        await server.__aexit__(None, None, None)
        await gone(child, *apps)
