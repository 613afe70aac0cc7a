"""A server with a small app behind it, and a browser that was let in."""

import sys
from collections.abc import AsyncIterator

import pytest

from tests.ui.program import ROOT

pytest.importorskip("textual_serve", reason="textual-serve is not installed (the extra `web`)")

from aiohttp import ClientSession

from harness.ui.web.server import WebServer
from tests.ui.web.page import entered

APP = (sys.executable, str(ROOT / "tests/ui/web/served_app.py"))


@pytest.fixture
async def server() -> AsyncIterator[WebServer]:
    async with WebServer(APP) as standing:
        yield standing


@pytest.fixture
async def session(server: WebServer) -> AsyncIterator[ClientSession]:
    async with entered(server.link) as one:
        yield one
