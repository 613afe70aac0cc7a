"""The server of `harness serve`: a page with a terminal, and one app process per open page.

Requests are checked by `harness.ui.web.access`. Page and app communicate over a websocket: terminal output as binary
messages, input as JSON lists. The terminal in the page comes from textual-serve.
"""

import asyncio
import json
import logging
import socket
from collections.abc import Sequence
from pathlib import Path
from string import Template
from typing import Self
from urllib.parse import quote

import textual_serve
from aiohttp import WSCloseCode, WSMsgType, web
from aiohttp.typedefs import Handler

from harness.ui.web.access import AccessDenied, AccessGrant, AccessPolicy, AccessRequest, security_headers
from harness.ui.web.app_process import AppProcess, Drawn, FileOffered, OpenUrl, ShutdownLimits

MOST_APPS = 4
"""Most app processes."""
HEARTBEAT_S = 15.0
"""Seconds between websocket pings."""
_ADMITTED = web.RequestKey("admitted", str)
_STATIC = Path(textual_serve.__file__).parent / "static"
_PAGE = Path(__file__).with_name("page.html")
_LEAVE_SCREEN = b"\x1b[?1049l\x1b[?25h\x1b[0m"
_log = logging.getLogger("harness.serving")


class WebServer:
    """Serves `command`, a Textual app, on 127.0.0.1, as an async context manager.

    Ends all app processes on exit. Raises OSError if the port cannot be used.
    """

    def __init__(self, command: Sequence[str], port: int = 0, patience: ShutdownLimits | None = None) -> None:
        self._command = tuple(command)
        self._patience = patience or ShutdownLimits()
        self._port = port
        self._slots = asyncio.Semaphore(MOST_APPS)
        self._apps: dict[AppProcess, web.Request] = {}
        self._closing = False
        self._offers: dict[str, tuple[AppProcess, str]] = {}
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
            for request in apps.values():
                if request.transport is not None:
                    request.transport.abort()  # a stalled page must not block its app
            await asyncio.gather(*(app.end() for app in apps))
            await self._runner.cleanup()
        finally:
            for app in {*apps, *self._apps}:
                app.kill()

    def _application(self) -> web.Application:
        application = web.Application(middlewares=[self._admit])
        application.on_response_prepare.append(_secure)
        application.router.add_get("/", self._page)
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

    async def _terminal(self, request: web.Request) -> web.WebSocketResponse:
        websocket = web.WebSocketResponse(heartbeat=HEARTBEAT_S, compress=False)
        await websocket.prepare(request)
        if self._closing or self._slots.locked():
            await websocket.send_bytes(f"{MOST_APPS} apps are open; close one, then reload this page.\r\n".encode())
            await websocket.close()
            return websocket
        async with self._slots:
            await self._run(request, websocket)
        return websocket

    async def _run(self, request: web.Request, websocket: web.WebSocketResponse) -> None:
        """Run the app of a page until one of them ends, then end both."""
        width, height = _cells(request.query.get("width"), 80), _cells(request.query.get("height"), 24)
        app = await AppProcess.start(self._command, width, height, self._patience)
        self._apps[app] = request
        try:
            async with asyncio.TaskGroup() as both:
                showing = both.create_task(self._show(websocket, app))
                await self._receive(websocket, app)
                await app.end()
                showing.cancel()
        finally:
            await app.end()
            del self._apps[app]
            self._offers = {key: offer for key, offer in self._offers.items() if offer[0] is not app}

    async def _show(self, websocket: web.WebSocketResponse, app: AppProcess) -> None:
        """Forward packets of the app, then close the page."""
        async for packet in app.packets():
            try:
                match packet:
                    case Drawn(data):
                        await websocket.send_bytes(data)
                    case OpenUrl(url, new_tab):
                        await websocket.send_json(["open_url", {"url": url, "new_tab": new_tab}])
                    case FileOffered(key, name):
                        self._offers[key] = app, name
                        await websocket.send_json(["deliver_file_start", key])
            except ConnectionError:
                continue
        await app.end()
        if not websocket.closed and (text := await app.stderr_text()):
            await websocket.send_bytes(_LEAVE_SCREEN + text.replace("\n", "\r\n").encode())
        await websocket.close()

    async def _receive(self, websocket: web.WebSocketResponse, app: AppProcess) -> None:
        """Forward input of the page until it is closed. Invalid JSON closes it."""
        async for message in websocket:
            if message.type is not WSMsgType.TEXT:
                continue
            try:
                content = json.loads(message.data)
            except (ValueError, RecursionError):
                _log.warning("a page sent invalid JSON and was closed")
                await websocket.close(code=WSCloseCode.UNSUPPORTED_DATA, message=b"not JSON")
                return
            match content:
                case ["stdin", str(text)]:
                    await app.type(text)
                case ["resize", {"width": int(width), "height": int(height)}]:
                    await app.send("resize", width=_within(width), height=_within(height))
                case ["focus" | "blur" as kind]:
                    await app.send(kind)
                case ["ping", str(moment)]:
                    await websocket.send_json(["pong", moment])
                case other:
                    _log.warning("a page sent an unknown message: %.200r", other)

    async def _download(self, request: web.Request) -> web.StreamResponse:
        offer = self._offers.pop(request.match_info["key"], None)
        if offer is None:
            return web.Response(status=404, text="This file does not exist or was downloaded already.\n")
        app, name = offer
        response = web.StreamResponse(headers={"Content-Type": "application/octet-stream"})
        response.headers["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(name)}"
        await response.prepare(request)
        try:
            async for piece in app.file(request.match_info["key"]):
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
    return _within(int(number)) if number is not None and number.isdecimal() else usual


def _within(cells: int) -> int:
    return min(max(cells, 1), 1000)
