"""The app in a browser, over real sockets and with real processes. The browser itself: test_serve_browser.py."""

import json
import re
import signal
import sys
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress

import psutil
import pytest

from tests.ui.processes import alive, apps_of, gone, until
from tests.ui.program import ROOT, Place, end_of, run, start
from tests.ui.warm import Piped

pytest.importorskip("textual_serve", reason="textual-serve is not installed (the extra `web`)")

from aiohttp import ClientPayloadError, ClientSession, WSServerHandshakeError

from harness.ui.web.app_process import AppProcess, Drawn, ShutdownLimits, app_command
from harness.ui.web.page_app import GRACE_S
from harness.ui.web.server import MOST_APPS, WebServer
from tests.ui.crowded_app import ROUNDS, SIZES
from tests.ui.page import browser, opened, origin_of

pytestmark = pytest.mark.anyio

APP = (sys.executable, str(ROOT / "tests/ui/served_app.py"))
STUBBORN = (sys.executable, str(ROOT / "tests/ui/stubborn_app.py"))
CAT = (sys.executable, "-c", "import sys; sys.stdout.buffer.write(b'__GANGLION__\\n'); sys.stdout.flush(); input()")
SENTENCE = re.compile(r"[A-Z][^\n]+\.\n")


@pytest.fixture
async def server() -> AsyncIterator[WebServer]:
    async with WebServer(APP, grace_s=0.1) as standing:
        yield standing


@pytest.fixture
async def session(server: WebServer) -> AsyncIterator[ClientSession]:
    """A browser that was let in."""
    async with browser() as one:
        async with one.get(server.link) as answer:
            assert answer.status == 200
        yield one


# ── who is let in ───────────────────────────────────────────────────────────────────────────────


async def test_the_link_is_exchanged_for_a_cookie_and_does_not_stay_in_the_address(server: WebServer) -> None:
    async with browser() as one, one.get(server.link, allow_redirects=False) as answer:
        assert (answer.status, answer.headers["Location"]) == (303, "/")
        cookie = answer.headers["Set-Cookie"]
        assert all(part in cookie for part in ("HttpOnly", "SameSite=Strict", "Path=/"))
        assert "Domain" not in cookie
        assert server.link.partition("token=")[2] not in cookie


async def test_the_link_works_once(server: WebServer, session: ClientSession) -> None:
    async with browser() as other:
        for one in (session, other):
            async with one.get(server.link) as answer:
                assert answer.status == 403
                assert "was used" in await answer.text()


@pytest.mark.parametrize(
    "path", ["/", "/page.js", "/static/js/textual.js", "/static/", "/download/1", "/ws", "/ws?page=1", "/no/such/page"]
)
async def test_without_the_cookie_nothing_is_served(server: WebServer, path: str) -> None:
    async with browser() as one, one.get(origin_of(server.link) + path) as answer:
        assert answer.status == 403
        assert SENTENCE.fullmatch(await answer.text())
        assert "'self'" not in answer.headers["Content-Security-Policy"]


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"])
async def test_a_host_that_is_not_ours_is_refused(server: WebServer, session: ClientSession, method: str) -> None:
    address = origin_of(server.link)
    async with session.request(method, address, headers={"Host": "evil.example", "Origin": address}) as answer:
        assert answer.status == 403


async def test_a_post_of_another_origin_is_refused(server: WebServer, session: ClientSession) -> None:
    address = origin_of(server.link)
    async with session.post(address, headers={"Origin": "http://127.0.0.1:1"}) as answer:
        assert answer.status == 403
    async with session.post(address, headers={"Origin": address}) as answer:
        assert answer.status == 405


@pytest.mark.parametrize("origin", [None, "null", "https://evil.example", "http://127.0.0.1:1", "http://localhost:1"])
async def test_a_websocket_of_another_origin_is_refused(
    server: WebServer, session: ClientSession, origin: str | None
) -> None:
    with pytest.raises(WSServerHandshakeError) as refused:
        await session.ws_connect(f"{origin_of(server.link)}/ws", origin=origin)
    assert refused.value.status == 403
    assert not apps_of(APP)


async def test_a_websocket_without_the_cookie_is_refused(server: WebServer) -> None:
    address = origin_of(server.link)
    async with browser() as one:
        with pytest.raises(WSServerHandshakeError) as refused:
            await one.ws_connect(f"{address}/ws", origin=address)
    assert refused.value.status == 403


async def test_it_listens_on_loopback_only(server: WebServer) -> None:
    listening = {
        connection.laddr.ip
        for connection in psutil.Process().net_connections(kind="inet")
        if connection.status == psutil.CONN_LISTEN and f":{connection.laddr.port}/" in server.link
    }
    assert listening == {"127.0.0.1"}


# ── what is served ──────────────────────────────────────────────────────────────────────────────


async def test_the_page_loads_nothing_from_elsewhere_and_everything_it_names_is_there(
    server: WebServer, session: ClientSession
) -> None:
    async with session.get(origin_of(server.link)) as answer:
        page = await answer.text()
        assert answer.content_type == "text/html"
    assert not re.findall(r"https?://", page)
    named = re.findall(r'(?:href|src)="(/[^"]+)"|url\("([^"]+)"\)', page)
    assert len(named) >= 3
    for path in ("".join(pair) for pair in named):
        async with session.get(origin_of(server.link) + path) as answer:
            assert answer.status == 200


@pytest.mark.parametrize("path", ["/", "/static/js/textual.js", "/no/such/page"])
async def test_every_answer_keeps_to_itself(server: WebServer, session: ClientSession, path: str) -> None:
    async with session.get(origin_of(server.link) + path) as answer:
        headers = answer.headers
    assert headers["Cache-Control"] == "no-store"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Content-Security-Policy"].startswith("default-src 'none'")
    assert "Python" not in headers["Server"]


@pytest.mark.parametrize(
    "path", ["/static", "/static/", "/static/js/", "/static/../server.py", "/static/%2e%2e/server.py"]
)
async def test_no_folder_is_listed_and_none_is_left(server: WebServer, session: ClientSession, path: str) -> None:
    async with session.get(origin_of(server.link) + path) as answer:
        assert answer.status in (403, 404)


# ── the app behind the page ─────────────────────────────────────────────────────────────────────


async def test_a_page_shows_the_app_and_what_is_typed_reaches_it(server: WebServer, session: ClientSession) -> None:
    async with opened(session, server.link) as page:
        await page.sees("size 60 by 20")
        await page.type("g")
        await page.sees("typed g")
        await page.say("resize", {"width": 70, "height": 30})
        await page.sees("size 70 by 30")
        await page.say("ping", "12")
        assert await page.is_told("pong") == "12"


async def test_what_no_page_sends_changes_nothing(server: WebServer, session: ClientSession) -> None:
    async with opened(session, server.link, "?width=many&height=-3") as page:
        await page.sees("size 80 by 24")
        await page.say("stdin", "\ud800")  # half a character
        await page.say("no such thing", 1)
        await page.websocket.send_bytes(b"bytes")
        await page.say("resize", {"width": -5, "height": 10**9})
        await page.say("resize", {"width": 50, "height": 20})
        await page.type("g")
        await page.sees("typed g")


ODD_FRAMES = {
    "half an object": "{",
    "nothing": "",
    "deep": "[" * 100_000,
    "a long number": "[" + "9" * 100_000 + "]",
    "large": json.dumps(["stdin", "x" * 8_000_000]),
}


@pytest.mark.parametrize("name", ODD_FRAMES)
async def test_what_is_no_json_or_too_large_ends_the_page_and_its_app_without_a_traceback(
    name: str, caplog: pytest.LogCaptureFixture
) -> None:
    async with WebServer(APP) as server, browser() as session:
        await (await session.get(server.link)).read()
        async with opened(session, server.link) as page:
            await page.sees("size 60 by 20")
            apps = apps_of(APP)
            with suppress(ConnectionError):  # the server does not wait for the end of what is too large
                await page.websocket.send_str(ODD_FRAMES[name])
            await page.is_closed()
        await gone(*apps)
        assert not [record for record in caplog.records if record.exc_info or "\n" in record.getMessage()]
        async with opened(session, server.link) as another:
            await another.sees("size 60 by 20")


async def test_another_version_of_the_protocol_is_refused_before_an_app_begins(
    server: WebServer, session: ClientSession
) -> None:
    address = origin_of(server.link)
    own = {"Origin": address, "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Key": "x" * 22 + "=="}
    for headers in ({"Sec-WebSocket-Version": "99"}, {"Sec-WebSocket-Version": ""}, {"Upgrade": "h2c"}):
        async with session.get(f"{address}/ws", headers=own | headers) as answer:
            assert answer.status == 400
    assert not apps_of(APP)


async def test_closing_the_page_ends_its_app_and_no_other(server: WebServer, session: ClientSession) -> None:
    async with opened(session, server.link) as kept:
        await kept.sees("size 60 by 20")
        (first,) = apps_of(APP)
        async with opened(session, server.link) as closed:
            await closed.sees("size 60 by 20")
            (second,) = set(apps_of(APP)) - {first}
        await gone(second)
        assert alive(first)
        await kept.type("g")
        await kept.sees("typed g")


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
        ("print('x' * 200_000)", ""),
    ],
    ids=["refuses", "speaks otherwise", "is no app"],
)
async def test_what_is_no_app_ends_with_its_complaint(program: str, words: str) -> None:
    command = (sys.executable, "-c", program)
    patience = ShutdownLimits(quit_s=0.2, term_s=0.2)
    async with WebServer(command, patience=patience) as server, browser() as session:
        await (await session.get(server.link)).read()
        async with opened(session, server.link) as page:
            await page.sees(words)
            await page.is_closed()
        assert not apps_of(command)


async def test_a_file_is_fetched_once(server: WebServer, session: ClientSession) -> None:
    async with opened(session, server.link) as page:
        await page.sees("size 60 by 20")
        await page.type("f")
        address = f"{origin_of(server.link)}/download/{await page.is_told('deliver_file_start')}"
        async with session.get(address) as answer:
            assert await answer.text() == "what the file holds\n" * 10_000
            assert answer.headers["Content-Disposition"] == "attachment; filename*=UTF-8''notes%20%C3%A4.txt"
        async with session.get(address) as answer:
            assert answer.status == 404


async def test_half_a_file_is_not_taken_for_the_whole() -> None:
    async with WebServer((sys.executable, str(ROOT / "tests/ui/breaking_off_app.py"))) as server, browser() as session:
        await (await session.get(server.link)).read()
        async with opened(session, server.link) as page:
            address = f"{origin_of(server.link)}/download/{await page.is_told('deliver_file_start')}"
            with pytest.raises(ClientPayloadError):
                await (await session.get(address)).read()


async def test_packets_of_several_threads_stay_whole() -> None:
    app = await AppProcess.start((sys.executable, str(ROOT / "tests/ui/crowded_app.py")), 80, 24, ShutdownLimits())
    try:
        drawn = [packet.data async for packet in app.packets() if isinstance(packet, Drawn)]
    finally:
        await app.end()
    assert Counter(drawn) == {letter.encode() * size: ROUNDS for letter, size in zip("abcd", SIZES, strict=True)}


async def test_only_addresses_of_the_web_are_opened(server: WebServer, session: ClientSession) -> None:
    async with opened(session, server.link) as page:
        await page.sees("size 60 by 20")
        await page.type("ju")
        assert await page.is_told("open_url") == {"url": "https://example.org/", "new_tab": True}


async def test_one_app_too_many_gets_a_sentence_and_a_closed_page_makes_room() -> None:
    async with WebServer(CAT) as server, browser() as session, AsyncExitStack() as pages:
        await (await session.get(server.link)).read()
        first = await pages.enter_async_context(opened(session, server.link))
        for _ in range(MOST_APPS - 1):
            await pages.enter_async_context(opened(session, server.link))
        async with opened(session, server.link) as refused:
            await refused.sees("4 apps are open; close one")
            await refused.is_closed()
        await until(lambda: len(apps_of(CAT)) == MOST_APPS)
        apps = set(apps_of(CAT))
        await first.websocket.close()
        await pages.enter_async_context(opened(session, server.link))
        await until(lambda: len(apps_of(CAT)) == MOST_APPS and len(apps & set(apps_of(CAT))) == MOST_APPS - 1)


# ── the end ─────────────────────────────────────────────────────────────────────────────────────


async def test_when_the_server_ends_all_apps_have_ended(server: WebServer, session: ClientSession) -> None:
    async with WebServer(APP) as standing, browser() as one, AsyncExitStack() as pages:
        await (await one.get(standing.link)).read()
        for _ in range(2):
            page = await pages.enter_async_context(opened(one, standing.link))
            await page.sees("size 60 by 20")
        apps = apps_of(APP)
        assert len(apps) == 2
        await standing.__aexit__(None, None, None)
        assert not any(map(alive, apps))


async def test_an_app_that_heeds_nothing_is_killed_with_its_children() -> None:
    patience = ShutdownLimits(quit_s=0.2, term_s=0.2)
    async with WebServer(STUBBORN, patience=patience) as server, browser() as session:
        await (await session.get(server.link)).read()
        async with opened(session, server.link) as page:
            await page.sees(".")
            child = int(page.screen.removeprefix("child ").removesuffix("."))
            apps = apps_of(STUBBORN)
            assert alive(child)
            await server.__aexit__(None, None, None)
            await gone(child, *apps)


# ── the command ─────────────────────────────────────────────────────────────────────────────────


@asynccontextmanager
async def serving(place: Place, *flags: str, cold: bool = False) -> AsyncIterator[tuple[Piped, str]]:
    """The command as a process, and its link."""
    process = await start(place, "serve", "--", *flags, cold=cold)
    try:
        yield process, (await process.stdout.readline()).decode().strip()
    finally:
        if process.returncode is None:
            process.terminate()
            await end_of(process)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 0), (signal.SIGKILL, -9)])
async def test_the_command_prints_its_link_and_a_signal_ends_it_with_its_apps(
    place: Place, number: signal.Signals, code: int
) -> None:
    """With the last signal, `harness serve` is started cold."""
    program = app_command(["--practice"])
    async with serving(place, "--practice", cold=number == signal.SIGKILL) as (process, link), browser() as session:
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{43}", link)
        await (await session.get(link)).read()
        async with opened(session, link):
            await until(lambda: apps_of(program, process.pid))
            apps = apps_of(program, process.pid)
            process.send_signal(number)
            ended = await end_of(process)
    assert (ended.code, ended.out, ended.err) == (code, "", "")
    await gone(*apps)


@pytest.mark.stories
async def test_a_conversation_in_a_tab_survives_a_reload_and_can_be_resumed_after_the_tab_was_closed(
    place: Place,
) -> None:
    async with serving(place, "--practice") as (process, link), browser() as session:
        await (await session.get(link)).read()
        async with opened(session, link, "?width=100&height=30") as page:
            await page.type("hello")
            await page.type("\r")
            await page.sees("I am the rule-based practice model")
            secret = await page.is_told("page")
            apps = apps_of(app_command(["--practice"]), process.pid)
            assert apps
        async with opened(session, link, f"?width=90&height=30&page={secret}") as page:
            await page.sees("I am the rule-based practice model")
            assert apps_of(app_command(["--practice"]), process.pid) == apps
        await gone(*apps, limit_s=GRACE_S + 10)
        assert b"harness --resume" in await process.stderr.readline()
    assert "hello" in (await run(place, "sessions")).out
    assert "hello (1 turn)" in (await run(place, "-c", "--practice")).out


@pytest.mark.stories
async def test_a_question_in_a_tab_takes_no_letters_of_whoever_is_typing(place: Place) -> None:
    script = place.folder.parent / "asks.toml"
    script.write_text(
        '[[reply]]\ntools = [{ name = "bash", input = { command = "touch ran.txt" } }]\n'
        '[[reply]]\ntext = "That was all."\n[[reply]]\ntext = "The next one."\n'
    )
    async with serving(place, "--practice", str(script)) as (_, link), browser() as session:
        await (await session.get(link)).read()
        async with opened(session, link, "?width=100&height=30") as page:
            await page.sees("asks first")
            await page.type("go\r")
            await page.sees("1 yes, once")
            await page.type("also\r")
            await page.sees("1 queued")
            await page.type("y and")
            await page.sees("y and")
            assert not (place.folder / "ran.txt").exists()
            await page.type("\t")
            await page.sees("back to the prompt")
            await page.type("n\r")
            await page.sees("That was all.")
            await page.sees("The next one.")
    assert not (place.folder / "ran.txt").exists()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("serve", "--port", "70000"), "'70000' is not a number from 0 to 65535"),
        (("serve", "--host", "0.0.0.0"), "--host"),
        (("serve", "--", "-p", "hello"), "cannot be used with serve"),
        (("serve", "--plain"), "cannot be used with serve"),
        (("serve", "--no-such-flag"), "--no-such-flag"),
    ],
)
async def test_what_cannot_be_served_is_refused_in_one_sentence(
    place: Place, arguments: tuple[str, ...], words: str
) -> None:
    ended = await run(place, *arguments)
    assert (ended.code, ended.out) == (2, "")
    assert words in ended.err
    assert ended.err.count("\n") == 1


async def test_a_taken_port_is_named(place: Place, server: WebServer) -> None:
    port = origin_of(server.link).rpartition(":")[2]
    ended = await run(place, "serve", "--port", port)
    assert (ended.code, ended.out) == (2, "")
    assert f"127.0.0.1:{port}" in ended.err
    assert "choose another --port" in ended.err


async def test_without_the_extra_the_remedy_is_named(place: Place) -> None:
    missing = place.folder.parent / "missing" / "textual_serve"
    missing.mkdir(parents=True)
    (missing / "__init__.py").write_text("raise ModuleNotFoundError('not here', name='textual_serve')\n")
    ended = await end_of(await start(place, "serve", env={"PYTHONPATH": f"{missing.parent}:{ROOT}"}, cold=True))
    assert (ended.code, ended.out) == (2, "")
    assert "pip install 'textual-serve>=1.1.3,<2'" in ended.err
    assert ended.err.count("\n") == 1
