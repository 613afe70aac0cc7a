"""`harness serve` as a process, with the real app behind the page."""

import re
import signal
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from harness.ui.web.served_app import app_command
from harness.ui.web.server import WebServer
from tests.ui.processes import apps_of, gone, until
from tests.ui.program import LIMIT_S, ROOT, Place, end_of, run, start
from tests.ui.warm import Piped
from tests.ui.web.page import entered, opened, origin_of

pytestmark = pytest.mark.anyio

PRACTICE = app_command(["--practice"])


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


@pytest.mark.grid(1)
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 0), (signal.SIGTERM, 0), (signal.SIGKILL, -9)])
async def test_the_command_prints_its_link_and_a_signal_ends_it_with_its_apps(
    place: Place, number: signal.Signals, code: int
) -> None:
    """With the last signal, `harness serve` is started cold."""
    async with serving(place, "--practice", cold=number == signal.SIGKILL) as (process, link):
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]{43}", link)
        async with entered(link) as session, opened(session, link):
            await until(lambda: apps_of(PRACTICE, process.pid))
            apps = apps_of(PRACTICE, process.pid)
            process.send_signal(number)
            ended = await end_of(process)
    assert (ended.code, ended.out, ended.err) == (code, "", "")
    await gone(*apps)


def ended_turns(place: Place) -> int:
    """The turns of all sessions that have ended."""
    return sum(file.read_text("utf-8").count('"type":"turn_ended"') for file in place.state.rglob("*.jsonl"))


@pytest.mark.stories
async def test_a_conversation_survives_a_reload_and_can_be_resumed_after_the_tab_was_closed(place: Place) -> None:
    """The prompt of the command line is sent once."""
    async with serving(place, "hello there", "--practice") as (process, link), entered(link) as session:
        async with opened(session, link, "?width=100&height=30") as page:
            await page.sees("I am the rule-based practice model")
            await until(lambda: ended_turns(place) == 1)
        assert b"harness --resume" in await process.stderr.readline()
        async with opened(session, page.address, "?width=90&height=30") as again:
            await again.sees("I am the rule-based practice model")
            await again.type("and now?\r")
            await again.sees("and now?")
            await again.sees("I am the rule-based practice model")
            await until(lambda: ended_turns(place) == 2)
        await gone(*apps_of(app_command(["hello there", "--practice"]), process.pid))
    listed = (await run(place, "sessions")).out
    assert listed.count("\n") == 1
    assert "hello there (2 turns)" in (await run(place, "-c", "--practice")).out


@pytest.mark.stories
async def test_a_question_in_a_tab_takes_no_letters_typed_for_the_prompt(place: Place) -> None:
    script = place.folder.parent / "asks.toml"
    script.write_text(
        '[[reply]]\ntools = [{ name = "bash", input = { command = "touch ran.txt" } }]\n'
        '[[reply]]\ntext = "That was all."\n'
    )
    async with (
        serving(place, "--practice", str(script)) as (_, link),
        entered(link) as session,
        opened(session, link, "?width=100&height=30") as page,
    ):
        await page.sees("asks first")
        await page.type("go\r")
        await page.sees("yes, once")
        await page.type("also\r")
        await page.sees("joins after your answer")
        await page.type("y and")
        await page.sees("y and")
        assert not (place.folder / "ran.txt").exists()
        await page.type("\t")
        await page.sees("back to the prompt")
        await page.type("\x1b[A\r")  # a letter would continue the draft
        await page.sees("why not?")
        await page.type("\r")
        await page.sees("That was all.")
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


def test_a_project_cannot_put_its_modules_in_place_of_ours(place: Place) -> None:
    for module in ("pydantic.py", "platformdirs.py", "textual/__init__.py", "harness/__init__.py", "runpy.py"):
        file = place.folder / module
        file.parent.mkdir(exist_ok=True)
        file.write_text("raise SystemExit('a module of the project was imported')")
    ended = subprocess.run(
        app_command(["--version"]),
        cwd=place.folder,
        env=place.environment,
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith("harness ")
