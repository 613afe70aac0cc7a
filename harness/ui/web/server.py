"""The server of `harness serve`: a page with a terminal, and one app process per page (see `page_app`).

Requests are checked by `harness.ui.web.access`. Page and app communicate over a websocket: terminal output as binary
messages, input as JSON lists. The terminal in the page comes from textual-serve.
"""

import asyncio
import logging
import socket
from collections.abc import Callable, Sequence
from operator import itemgetter
from pathlib import Path
from string import Template
from typing import Self
from urllib.parse import quote

import textual_serve
from aiohttp import web
from aiohttp.typedefs import Handler

from harness.ui.web.access import AccessDenied, AccessGrant, AccessPolicy, AccessRequest, security_headers
from harness.ui.web.app_process import AppProcess, ShutdownLimits
from harness.ui.web.page_app import GRACE_S, Connection, PageApp, PageClosure, cells

MOST_APPS = 4
"""Most app processes."""
HEARTBEAT_S = 15.0
"""Seconds between websocket pings."""
_ADMITTED = web.RequestKey("admitted", str)
_STATIC = Path(textual_serve.__file__).parent / "static"
_PAGE = Path(__file__).with_name("page.html")
_SCRIPT = Path(__file__).with_name("page.js")
_CLOSE_S = 1.0
_log = logging.getLogger("harness.serving")


class WebServer:
    """Serves `command`, a Textual app, on 127.0.0.1, as an async context manager.

    An app without a page ends after `grace_s`. `report` gets the last words of an app that no page has shown.
    Ends all app processes on exit. Raises OSError if the port cannot be used.
    """

    def __init__(
        self,
        command: Sequence[str],
        port: int = 0,
        patience: ShutdownLimits | None = None,
        *,
        grace_s: float = GRACE_S,
        report: Callable[[str], object] = _log.info,
    ) -> None:
        self._command = tuple(command)
        self._patience = patience or ShutdownLimits()
        self._grace_s = grace_s
        self._report = report
        self._port = port
        self._slots = asyncio.Semaphore(MOST_APPS)
        self._apps: dict[PageApp, asyncio.Task[None]] = {}
        self._closing = False
        self._policy: AccessPolicy
        self._runner: web.AppRunner

    @property
    def link(self) -> str:
        """The link to open, once."""
        return self._policy.link

    async def __aenter__(self) -> Self:
        listening = socket.create_server(("127.0.0.1", self._port))
        self._policy = AccessPolicy.fresh(listening.getsockname()[1])
        self._runner = web.AppRunner(self._application(), access_log=None, shutdown_timeout=1)
        await self._runner.setup()
        await web.SockSite(self._runner, listening).start()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._closing = True
        apps = dict(self._apps)
        try:
            for app in apps:
                app.abort()  # a stalled page must not block its app
            await asyncio.gather(*(app.process.end() for app in apps))
            await asyncio.gather(*apps.values(), return_exceptions=True)
            await self._runner.cleanup()
        finally:
            for app in {*apps, *self._apps}:
                app.process.kill()

    def _application(self) -> web.Application:
        application = web.Application(middlewares=[self._admit])
        application.on_response_prepare.append(_secure)
        application.router.add_get("/", self._page)
        application.router.add_get("/page.js", self._script)
        application.router.add_get("/ws", self._terminal)
        application.router.add_get("/download/{key}", self._download)
        application.router.add_static("/static", _STATIC, show_index=False)
        return application

    @web.middleware
    async def _admit(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        match self._policy.decide(access_request(request, self._policy.cookie_name)):
            case AccessDenied(sentence):
                return web.Response(status=403, text=f"{sentence}\n")
            case AccessGrant.EXCHANGE:
                self._policy = self._policy.used()
                response = web.Response(status=303, headers={"Location": "/"})
                response.set_cookie(
                    self._policy.cookie_name, self._policy.cookie, httponly=True, samesite="Strict", path="/"
                )
                return response
            case AccessGrant.ENTER:
                request[_ADMITTED] = request.headers["Host"].lower()
                return await handler(request)

    async def _page(self, request: web.Request) -> web.Response:
        page = Template(_PAGE.read_text(encoding="utf-8")).substitute(host=request[_ADMITTED])
        return web.Response(text=page, content_type="text/html")

    async def _script(self, _: web.Request) -> web.Response:
        return web.Response(text=_SCRIPT.read_text(encoding="utf-8"), content_type="text/javascript")

    async def _terminal(self, request: web.Request) -> web.WebSocketResponse:
        websocket = web.WebSocketResponse(heartbeat=HEARTBEAT_S, timeout=_CLOSE_S, compress=False)
        await websocket.prepare(request)
        width, height = _cells(request.query.get("width"), 80), _cells(request.query.get("height"), 24)
        page = Connection(websocket, request.transport, width, height)
        secret = request.query.get("page")
        app = await self._start(width, height) if secret is None else self._app_of(secret)
        if app is not None:
            await app.show(page, again=secret is not None)
        elif secret is not None:
            await websocket.close(code=PageClosure.UNKNOWN)
        else:
            await websocket.send_bytes(f"{MOST_APPS} apps are open; close one, then reload this page.\r\n".encode())
            await websocket.close()
        return websocket

    def _app_of(self, secret: str) -> PageApp | None:
        return next((app for app in self._apps if app.belongs_to(secret)), None)

    async def _start(self, width: int, height: int) -> PageApp | None:
        """Start an app. If there are too many, end the one that has waited longest for its page; None if none waits."""
        while self._slots.locked():
            waiting = [(since, app) for app in self._apps if (since := app.waits_since) is not None]
            if not waiting:
                return None
            _, oldest = min(waiting, key=itemgetter(0))
            running = self._apps[oldest]
            await oldest.process.end()
            await asyncio.wait({running})
        if self._closing:
            return None
        await self._slots.acquire()
        try:
            app = PageApp(await AppProcess.start(self._command, width, height, self._patience), self._grace_s)
        except BaseException:
            self._slots.release()
            raise
        self._apps[app] = asyncio.create_task(self._run(app))
        return app

    async def _run(self, app: PageApp) -> None:
        try:
            words = await app.run()
        finally:
            del self._apps[app]
            self._slots.release()
        if words:
            self._report(words)

    async def _download(self, request: web.Request) -> web.StreamResponse:
        key = request.match_info["key"]
        app = next((app for app in self._apps if key in app.offers), None)
        if app is None:
            return web.Response(status=404, text="This file does not exist or was downloaded already.\n")
        name = app.offers.pop(key)
        response = web.StreamResponse(headers={"Content-Type": "application/octet-stream"})
        response.headers["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(name)}"
        await response.prepare(request)
        try:
            async for piece in app.process.file(key):
                await response.write(piece)
        except (ConnectionError, TimeoutError) as error:
            _log.warning("a download failed: %s", error)
            if request.transport is not None:
                request.transport.abort()  # so that the browser notices
        return response


def access_request(request: web.Request, cookie_name: str) -> AccessRequest:
    """The parts of a request for the access policy."""
    return AccessRequest(
        method=request.method,
        path=request.path,
        host=_single(request.headers.getall("Host", [])),
        origin=_origin(request.headers.getall("Origin", [])),
        token=_single(request.query.getall("token", [])),
        cookie=request.cookies.get(cookie_name),
        websocket=request.path == "/ws" or "Upgrade" in request.headers,
    )


async def _secure(request: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(security_headers(request.get(_ADMITTED)))
    response.headers["Server"] = "harness"


def _single(values: Sequence[str]) -> str | None:
    return values[0] if len(values) == 1 else None


def _origin(values: Sequence[str]) -> str | None:
    return ", ".join(values) if values else None


def _cells(number: str | None, usual: int) -> int:
    return cells(int(number)) if number is not None and number.isdecimal() else usual
