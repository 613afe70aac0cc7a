"""The server of `harness serve`: a page with a terminal in it, and behind each open page one app process.

A request goes through `harness.ui.web.access` first; here is only what is served to those it lets in. Page and app
talk over a websocket: what the app draws goes out as binary messages, what the person does comes in as small lists
in JSON. The terminal in the page is the one that textual-serve ships.
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

from harness.ui.web.access import Admission, Door, Knock, Refusal, security_headers
from harness.ui.web.app_process import AppProcess, Drawn, FileOffered, OpenUrl, Patience

MOST_APPS = 4
"""App processes at the same time."""
HEARTBEAT_S = 15.0
"""Seconds between questions to a page whether it is still there."""
_ADMITTED = web.RequestKey("admitted", str)
_STATIC = Path(textual_serve.__file__).parent / "static"
_PAGE = Path(__file__).with_name("page.html")
_LEAVE_SCREEN = b"\x1b[?1049l\x1b[?25h\x1b[0m"
_log = logging.getLogger("harness.serving")


class WebServer:
    """Serves `command`, an app of Textual, on 127.0.0.1 while it is open as an async context manager.

    On exit all its app processes have ended. Raises OSError when the port cannot be had.
    """

    def __init__(self, command: Sequence[str], port: int = 0, patience: Patience | None = None) -> None:
        self._command = tuple(command)
        self._patience = patience or Patience()
        self._port = port
        self._seats = asyncio.Semaphore(MOST_APPS)
        self._apps: dict[AppProcess, web.Request] = {}
        self._closing = False
        self._offers: dict[str, tuple[AppProcess, str]] = {}
        self._door: Door
        self._runner: web.AppRunner

    @property
    def link(self) -> str:
        """What the person opens, once."""
        return self._door.link

    async def __aenter__(self) -> Self:
        listening = socket.create_server(("127.0.0.1", self._port))
        self._door = Door.fresh(listening.getsockname()[1])
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
                    request.transport.abort()  # a page that no longer reads must not keep its app from leaving
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
        match self._door.decide(knock_of(request, self._door.cookie_name)):
            case Refusal(sentence):
                return web.Response(status=403, text=f"{sentence}\n")
            case Admission.EXCHANGE:
                self._door = self._door.used()
                response = web.Response(status=303, headers={"Location": "/"})
                response.set_cookie(
                    self._door.cookie_name, self._door.cookie, httponly=True, samesite="Strict", path="/"
                )
                return response
            case Admission.ENTER:
                request[_ADMITTED] = request.headers["Host"].lower()
                return await handler(request)

    async def _page(self, request: web.Request) -> web.Response:
        page = Template(_PAGE.read_text(encoding="utf-8")).substitute(host=request[_ADMITTED])
        return web.Response(text=page, content_type="text/html")

    async def _terminal(self, request: web.Request) -> web.WebSocketResponse:
        websocket = web.WebSocketResponse(heartbeat=HEARTBEAT_S, compress=False)
        await websocket.prepare(request)
        if self._closing or self._seats.locked():
            await websocket.send_bytes(f"{MOST_APPS} apps are open; close one, then start again here.\r\n".encode())
            await websocket.close()
            return websocket
        async with self._seats:
            await self._run(request, websocket)
        return websocket

    async def _run(self, request: web.Request, websocket: web.WebSocketResponse) -> None:
        """Run one app for one page, until one of them ends; then both have ended."""
        width, height = _cells(request.query.get("width"), 80), _cells(request.query.get("height"), 24)
        app = await AppProcess.start(self._command, width, height, self._patience)
        self._apps[app] = request
        try:
            async with asyncio.TaskGroup() as both:
                showing = both.create_task(self._show(websocket, app))
                await self._hear(websocket, app)
                await app.end()
                showing.cancel()
        finally:
            await app.end()
            del self._apps[app]
            self._offers = {key: offer for key, offer in self._offers.items() if offer[0] is not app}

    async def _show(self, websocket: web.WebSocketResponse, app: AppProcess) -> None:
        """Pass on what the app sends, to its end; then close the page. What comes after it was closed is dropped."""
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
        if not websocket.closed and (complaint := await app.complaint()):
            await websocket.send_bytes(_LEAVE_SCREEN + complaint.replace("\n", "\r\n").encode())
        await websocket.close()

    async def _hear(self, websocket: web.WebSocketResponse, app: AppProcess) -> None:
        """Pass on what the person does, until the page is closed. One that sends no JSON is closed: it is not ours."""
        async for message in websocket:
            if message.type is not WSMsgType.TEXT:
                continue
            try:
                said = json.loads(message.data)
            except (ValueError, RecursionError):
                _log.warning("a page sent what is not JSON, so it was closed")
                await websocket.close(code=WSCloseCode.UNSUPPORTED_DATA, message=b"not JSON")
                return
            match said:
                case ["stdin", str(text)]:
                    await app.type(text)
                case ["resize", {"width": int(width), "height": int(height)}]:
                    await app.tell("resize", width=_within(width), height=_within(height))
                case ["focus" | "blur" as kind]:
                    await app.tell(kind)
                case ["ping", str(moment)]:
                    await websocket.send_json(["pong", moment])
                case other:
                    _log.warning("a page sent what no page sends: %.200r", other)

    async def _download(self, request: web.Request) -> web.StreamResponse:
        offer = self._offers.pop(request.match_info["key"], None)
        if offer is None:
            return web.Response(status=404, text="There is no such file, or it was fetched already.\n")
        app, name = offer
        response = web.StreamResponse(headers={"Content-Type": "application/octet-stream"})
        response.headers["Content-Disposition"] = f"attachment; filename*=UTF-8''{quote(name)}"
        await response.prepare(request)
        try:
            async for piece in app.file(request.match_info["key"]):
                await response.write(piece)
        except (ConnectionError, TimeoutError) as error:
            _log.warning("a file was not fetched to its end: %s", error)
            if request.transport is not None:
                request.transport.abort()  # so that the browser does not take the half for the whole
        return response


def knock_of(request: web.Request, cookie_name: str) -> Knock:
    """What the decision needs of a request."""
    return Knock(
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
    """Several are another one's, not none."""
    return ", ".join(values) if values else None


def _cells(number: str | None, usual: int) -> int:
    return _within(int(number)) if number is not None and number.isdecimal() else usual


def _within(cells: int) -> int:
    return min(max(cells, 1), 1000)
