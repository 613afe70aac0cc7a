"""A real browser without a window, driven by the DevTools protocol over a websocket."""

import asyncio
import base64
import itertools
import shutil
import zlib
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from aiohttp import ClientSession, ClientWebSocketResponse

LIMIT_S = 60.0
PROGRAM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = (
    "--headless",
    "--remote-debugging-port=0",
    "--no-sandbox",  # it is not to be had everywhere, and only pages of the tests are opened
    "--no-first-run",
    "--disable-gpu",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-dev-shm-usage",
    "--window-size=800,600",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",  # nothing outside this machine is asked
)


class Tab:
    """An open tab."""

    def __init__(self, browser: "Chromium", target: str, session: str) -> None:
        self._browser = browser
        self._target = target
        self._session = session

    async def call(self, method: str, **parameters: object) -> dict[str, Any]:
        return await self._browser.call(method, self._session, **parameters)

    async def go(self, address: str) -> None:
        await self.call("Page.navigate", url=address)
        await self.until("document.readyState === 'complete' && location.href !== 'about:blank'")

    async def reload(self) -> None:
        await self.evaluate("window.formerPage = true")
        await self.call("Page.reload")
        await self.until("document.readyState === 'complete' && !window.formerPage")

    async def resize(self, width: int, height: int) -> None:
        """Give the window another size, at the scale it has."""
        await self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=0, mobile=False
        )

    async def evaluate(self, expression: str) -> Any:
        """What this JavaScript gives; promises are awaited."""
        answer = await self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        return answer["result"].get("value")

    async def until(self, expression: str) -> None:
        """Wait until this JavaScript is true."""
        async with asyncio.timeout(LIMIT_S):
            while await self.evaluate(expression) is not True:  # noqa: ASYNC110 (the page sends no event)
                await asyncio.sleep(0.05)

    async def press(self, character: str) -> None:
        for kind in ("keyDown", "keyUp"):
            await self.call("Input.dispatchKeyEvent", type=kind, text=character, key=character)

    async def colour(self, x: int, y: int) -> tuple[int, ...]:
        """Red, green and blue of a pixel as it is shown."""
        clip = {"x": x, "y": y, "width": 1, "height": 1, "scale": 1}
        image = base64.b64decode((await self.call("Page.captureScreenshot", format="png", clip=clip))["data"])
        return only_pixel(image)

    async def becomes(self, colour: tuple[int, ...], x: int, y: int) -> None:
        """Wait until a pixel has this colour."""
        async with asyncio.timeout(LIMIT_S):
            while await self.colour(x, y) != colour:  # noqa: ASYNC110 (the page sends no event)
                await asyncio.sleep(0.05)

    @property
    def complaints(self) -> list[str]:
        """Errors that the browser wrote to its console, such as what its security policy refused."""
        return [
            event["params"]["entry"]["text"]
            for event in self._browser.events
            if event["method"] == "Log.entryAdded" and event["params"]["entry"]["level"] == "error"
        ]

    async def close(self) -> None:
        await self._browser.call("Target.closeTarget", None, targetId=self._target)


class Chromium:
    """The browser; `chromium` starts one."""

    def __init__(self, websocket: ClientWebSocketResponse) -> None:
        self._websocket = websocket
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self.events: list[dict[str, Any]] = []

    async def tab(self) -> Tab:
        target = (await self.call("Target.createTarget", None, url="about:blank"))["targetId"]
        attached = await self.call("Target.attachToTarget", None, targetId=target, flatten=True)
        tab = Tab(self, target, attached["sessionId"])
        for domain in ("Page", "Runtime", "Log"):
            await tab.call(f"{domain}.enable")
        return tab

    async def call(self, method: str, session: str | None, **parameters: object) -> dict[str, Any]:
        number = next(self._numbers)
        self._waiting[number] = asyncio.get_running_loop().create_future()
        call = {"id": number, "method": method, "params": parameters}
        await self._websocket.send_json(call | ({"sessionId": session} if session else {}))
        async with asyncio.timeout(LIMIT_S):
            answer = await self._waiting[number]
        del self._waiting[number]
        assert "error" not in answer, answer
        result: dict[str, Any] = answer["result"]
        return result

    async def listen(self) -> None:
        """Dispatch answers and events until the browser ends."""
        async for message in self._websocket:
            heard = message.json()
            if "id" in heard:
                self._waiting[heard["id"]].set_result(heard)
            else:
                self.events.append(heard)


@asynccontextmanager
async def chromium(folder: Path) -> AsyncIterator[Chromium]:
    """A browser that keeps its files in `folder`."""
    assert PROGRAM is not None
    process = await asyncio.create_subprocess_exec(
        PROGRAM, *FLAGS, f"--user-data-dir={folder}", "about:blank", stdout=DEVNULL, stderr=PIPE
    )
    try:
        address = await _address(process)
        async with ClientSession() as session, session.ws_connect(address, max_msg_size=0) as websocket:
            browser = Chromium(websocket)
            listening = asyncio.create_task(browser.listen())
            yield browser
            await browser.call("Browser.close", None)
            await listening
    finally:
        if process.returncode is None:
            process.terminate()
        await process.communicate()


async def _address(process: Process) -> str:
    assert process.stderr is not None
    async with asyncio.timeout(LIMIT_S):
        while line := await process.stderr.readline():
            _, found, address = line.decode("utf-8", "replace").partition("DevTools listening on ")
            if found:
                return address.strip()
    raise AssertionError("the browser did not start")


def only_pixel(png: bytes) -> tuple[int, ...]:
    """Red, green and blue of an image of one pixel. A single pixel has no neighbours, so no filter changes it."""
    place, packed = 8, b""
    while place < len(png):
        size = int.from_bytes(png[place : place + 4], "big")
        if png[place + 4 : place + 8] == b"IDAT":
            packed += png[place + 8 : place + 8 + size]
        place += size + 12
    return tuple(zlib.decompress(packed)[1:4])
