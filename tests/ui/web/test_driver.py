"""The driver of the app in a browser: whole packets, and an app that ends with its server."""

import os
import signal
import subprocess
import sys
from collections import Counter

import pytest
from aiohttp import WSMsgType

from harness.ui.web.server import WebServer
from tests.ui.program import LIMIT_S, ROOT
from tests.ui.web.crowded_app import ROUNDS, SIZES
from tests.ui.web.page import entered, opened

HOLDING = """
import asyncio, signal, sys, time
from textual.app import App
from harness.ui.web import driver

driver.PATIENCE_S = 0.1

class Holding(App):
    def on_mount(self):
        {heeding}

Holding(driver_class=driver.ServedDriver).run()
"""


@pytest.mark.anyio
async def test_packets_of_several_threads_stay_whole() -> None:
    command = (sys.executable, str(ROOT / "tests/ui/web/crowded_app.py"))
    async with WebServer(command) as server, entered(server.link) as session, opened(session, server.link) as page:
        drawn = [one.data async for one in page.websocket if one.type is WSMsgType.BINARY]
    assert Counter(drawn) == {letter.encode() * size: ROUNDS for letter, size in zip("abcd", SIZES, strict=True)}


@pytest.mark.parametrize(
    ("heeding", "code"),
    [("pass", 0), ("asyncio.get_running_loop().call_soon(time.sleep, 600)", -signal.SIGKILL)],
    ids=["obedient", "stuck"],
)
def test_it_ends_with_its_server(heeding: str, code: int) -> None:
    app = subprocess.Popen(
        [sys.executable, "-c", HOLDING.format(heeding=heeding)],
        cwd=ROOT,
        env=os.environ | {"TERM": "xterm"},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        start_new_session=True,
    )
    assert app.stdin is not None
    assert app.stdout is not None
    with app.stdin, app.stdout as said:
        assert said.readline() == b"__GANGLION__\n"
        assert app.poll() is None
        app.stdin.close()
        said.read()
        assert app.wait(LIMIT_S) == code
