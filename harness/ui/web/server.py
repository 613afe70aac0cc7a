"""The server of `harness serve`: a terminal in a page, and one app process behind each page.

Requests are checked by `harness.ui.web.access`. The terminal, and how it speaks with the app, come from textual-serve.
Its own server is not used: it checks no request, runs a shell, waits for an app that does not quit, lists folders, and
its page loads a font from another host.

A page has an address of its own. When it comes back, after a reload or a lost connection, its app is started again with
the session that it had.
"""

import asyncio
import json
import logging
import secrets
import socket
from collections.abc import Callable, Sequence
from pathlib import Path
from string import Template
from typing import Self

import textual_serve
from aiohttp import WSCloseCode, WSMsgType, web
from aiohttp.typedefs import Handler

from harness.ui.web.access import AccessDenied, AccessGrant, AccessPolicy, AccessRequest, security_headers
from harness.ui.web.served_app import ServedApp, ShutdownLimits

MOST_APPS = 4
"""Most app processes."""
MOST_CELLS = 1000
"""Most columns and rows."""
MOST_PASTED = 16 * 1024 * 1024
"""Most bytes of a message of the page, which is as long as what was pasted into it."""
HEARTBEAT_S = 15.0
"""Seconds between websocket pings."""
_ADMITTED = web.RequestKey("admitted", str)
_FILES = Path(__file__).parent
_TERMINAL = "/terminal/"
_log = logging.getLogger("harness.serving")


class WebServer:
    """Serves `command`, a Textual app, on 127.0.0.1, as an async context manager.

    `report` gets the last words of an app that no page has shown. An app that is started again gets `--reopen SESSION`.
    Ends all app processes on exit. Raises OSError if the port cannot be used.
    """

    def __init__(
        self,
        command: Sequence[str],
        port: int = 0,
        limits: ShutdownLimits | None = None,
        *,
        report: Callable[[str], object] = _log.info,
    ) -> None:
        self._command = tuple(command)
        self._limits = limits or ShutdownLimits()
        self._report = report
        self._port = port
        self._apps: dict[str, ServedApp] = {}
        self._sessions: dict[str, str | None] = {}
        """Session of each page; None: its app was never started."""
        self._starting = asyncio.Lock()
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
        try:
            async with self._starting:
                apps = dict(self._apps)
            await asyncio.gather(*(self._end(page, app) for page, app in apps.items()))
            await self._runner.cleanup()
        finally:
            for app in self._apps.values():
                app.kill()

    def _application(self) -> web.Application:
        application = web.Application(middlewares=[self._admit])
        application.on_response_prepare.append(_secure)
        application.router.add_get("/", self._new_page)
        application.router.add_get("/page/{page}", self._page)
        application.router.add_get("/page.js", self._script)
        application.router.add_get(_TERMINAL + "{page}", self._terminal)
        application.router.add_static("/static", Path(textual_serve.__file__).parent / "static", show_index=False)
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

    async def _new_page(self, _: web.Request) -> web.Response:
        page = secrets.token_urlsafe(16)
        self._sessions[page] = None
        return web.Response(status=303, headers={"Location": f"/page/{page}"})

    async def _page(self, request: web.Request) -> web.Response:
        if (page := request.match_info["page"]) not in self._sessions:
            return await self._new_page(request)
        template = Template((_FILES / "page.html").read_text(encoding="utf-8"))
        return web.Response(text=template.substitute(host=request[_ADMITTED], page=page), content_type="text/html")

    async def _script(self, _: web.Request) -> web.Response:
        return web.Response(text=(_FILES / "page.js").read_text(encoding="utf-8"), content_type="text/javascript")

    async def _terminal(self, request: web.Request) -> web.WebSocketResponse:
        page = request.match_info["page"]
        if page not in self._sessions:
            raise web.HTTPNotFound
        websocket = web.WebSocketResponse(heartbeat=HEARTBEAT_S, timeout=1.0, compress=False, max_msg_size=MOST_PASTED)
        await websocket.prepare(request)
        async with self._starting:
            app = await self._start(page, websocket, request)
        if app is None:
            await websocket.send_bytes(f"{MOST_APPS} apps are open; close one, then reload this page.\r\n".encode())
            await websocket.close()
            return websocket
        try:
            await _receive(websocket, app)
        finally:
            await self._end(page, app)
        return websocket

    async def _start(self, page: str, websocket: web.WebSocketResponse, request: web.Request) -> ServedApp | None:
        if self._closing or not await self._room_for(page):
            return None
        session = self._sessions[page]
        reopening = () if session is None else ("--reopen", session)
        app = ServedApp((*self._command, *reopening), websocket, request.transport, self._limits)
        await app.start(_cells(request.query.get("width"), 80), _cells(request.query.get("height"), 24))
        self._apps[page], self._sessions[page] = app, session or ""
        return app

    async def _room_for(self, page: str) -> bool:
        """Whether an app may start for a page. Ends the former app of the page; waits for those that are ending."""
        while page in self._apps or len(self._apps) >= MOST_APPS:
            ending = [name for name, app in self._apps.items() if name == page or app.ending]
            if not ending:
                return False
            await self._end(ending[0], self._apps[ending[0]])
        return True

    async def _end(self, page: str, app: ServedApp) -> None:
        await app.stop()
        if self._apps.get(page) is app:
            del self._apps[page]
            self._sessions[page] = app.session or self._sessions[page]
            if app.unseen_words:
                self._report(app.unseen_words)


async def _receive(page: web.WebSocketResponse, app: ServedApp) -> None:
    """Forward input of the page until the connection ends."""
    async for message in page:
        if message.type is not WSMsgType.TEXT:
            continue
        try:
            content = json.loads(message.data)
        except (ValueError, RecursionError):
            _log.warning("a page sent invalid JSON and was closed")
            await page.close(code=WSCloseCode.UNSUPPORTED_DATA, message=b"not JSON")
            return
        match content:
            case ["stdin", str(text)]:
                await app.send_bytes(text.encode("utf-8", "replace"))  # a lone surrogate would end the input of the app
            case ["resize", {"width": int(width), "height": int(height)}]:
                await app.set_terminal_size(cells(width), cells(height))
            case ["focus" | "blur" as kind]:
                await app.send_meta({"type": kind})
            case ["ping", str(moment)]:
                await page.send_json(["pong", moment])
            case other:
                _log.warning("a page sent an unknown message: %.200r", other)


def access_request(request: web.Request, cookie_name: str) -> AccessRequest:
    """The parts of a request for the access policy."""
    return AccessRequest(
        method=request.method,
        path=request.path,
        host=_single(request.headers.getall("Host", [])),
        origin=", ".join(request.headers.getall("Origin", [])) if "Origin" in request.headers else None,
        token=_single(request.query.getall("token", [])),
        cookie=request.cookies.get(cookie_name),
        websocket=request.path.startswith(_TERMINAL) or "Upgrade" in request.headers,
    )


async def _secure(request: web.Request, response: web.StreamResponse) -> None:
    response.headers.update(security_headers(request.get(_ADMITTED)))
    response.headers["Server"] = "harness"


def _single(values: Sequence[str]) -> str | None:
    return values[0] if len(values) == 1 else None


def _cells(number: str | None, usual: int) -> int:
    return cells(int(number)) if number is not None and number.isdecimal() and len(number) < 10 else usual


def cells(number: int) -> int:
    """A number of columns or rows within the allowed range."""
    return min(max(number, 1), MOST_CELLS)
