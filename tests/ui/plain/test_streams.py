"""Standard input and output, and how a program ends: real pipes, sockets, files and signals."""

import asyncio
import io
import os
import pty
import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import TextIO

import pytest

from harness.base.errors import HarnessError, SettingsError
from harness.ui.plain.streams import MOST_PIPED, PATIENCE_S, LineWriter, prompt_from, until_stopped

pytestmark = pytest.mark.anyio

NULL = Path(os.devnull)


@contextmanager
def pipe() -> Iterator[tuple[TextIO, TextIO]]:
    """Both ends."""
    read, write = os.pipe()
    with os.fdopen(read, encoding="utf-8") as source, os.fdopen(write, "w", encoding="utf-8") as sink:
        yield source, sink


def asked(given: str, source: TextIO) -> tuple[str, str]:
    """The prompt, and the messages printed meanwhile."""
    err = io.StringIO()
    return prompt_from(given, source, err), err.getvalue()


# ── the prompt ──────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("given", "piped", "prompt"),
    [
        ("look", "", "look"),
        ("look", "\n\n", "look"),
        ("", "text\n", "text"),
        ("look", "\n  text\nmore\n\n", "look\n\n  text\nmore"),
        (" ", "text", "text"),
    ],
)
def test_piped_text_follows_the_prompt_that_was_given(given: str, piped: str, prompt: str) -> None:
    with pipe() as (source, sink):
        sink.write(piped)
        sink.close()
        assert asked(given, source) == (prompt, "")


def test_a_file_and_a_socket_are_read_like_a_pipe(tmp_path: Path) -> None:
    file = tmp_path / "text"
    file.write_text("from a file")
    with file.open(encoding="utf-8") as source:
        assert asked("look", source) == ("look\n\nfrom a file", "")
    ours, theirs = socket.socketpair()
    theirs.sendall(b"from a socket")
    theirs.close()
    with ours, ours.makefile("r", encoding="utf-8") as source:
        assert asked("look", source) == ("look\n\nfrom a socket", "")


def test_nothing_is_read_from_a_terminal_the_null_device_and_a_stream_that_is_none() -> None:
    ours, theirs = pty.openpty()
    os.write(ours, b"typed ahead\n")
    with os.fdopen(theirs, encoding="utf-8") as terminal, NULL.open(encoding="utf-8") as null:
        assert asked("look", terminal) == asked("look", null) == asked("look", io.StringIO("text")) == ("look", "")
    os.close(ours)
    with NULL.open(encoding="utf-8") as closed:
        pass
    assert asked("look", closed) == ("look", "")


@pytest.mark.parametrize("given", ["", " \n"])
def test_without_any_prompt_it_is_said_how_to_give_one(given: str) -> None:
    with NULL.open(encoding="utf-8") as null, pytest.raises(SettingsError, match=r'harness -p "what is here\?"'):
        asked(given, null)


def test_a_prompt_that_was_given_runs_without_a_pipe_in_which_nothing_comes() -> None:
    with pipe() as (source, _):
        prompt, said = asked("look", source)
    assert prompt == "look"
    assert said.startswith(f"nothing came on standard input for {PATIENCE_S:g} s, so the prompt runs without it")


def test_without_another_prompt_the_pipe_is_waited_for() -> None:
    err = io.StringIO()
    with pipe() as (source, sink):

        def later() -> None:
            sink.write("late")
            sink.close()

        class Err(io.StringIO):
            def write(self, text: str) -> int:
                if not writer.is_alive() and not sink.closed:
                    writer.start()
                return err.write(text)

        writer = Thread(target=later)
        assert prompt_from("", source, Err()) == "late"
        writer.join()
    assert err.getvalue().startswith("waiting for the end of standard input")


def test_what_is_no_text_is_made_readable_and_too_much_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "bytes"
    file.write_bytes(b"a\xffb")
    with file.open(encoding="utf-8") as source:
        assert asked("", source)[0] == "a\ufffdb"
    for size, fits in ((MOST_PIPED, True), (MOST_PIPED + 1, False)):
        with file.open("wb") as whole:
            whole.write(b"x" * size)
        with file.open(encoding="utf-8") as source:
            if fits:
                assert len(asked("", source)[0]) == size
            else:
                with pytest.raises(SettingsError, match="more than 10,000,000 bytes"):
                    asked("", source)


# ── the output ──────────────────────────────────────────────────────────────────────────────────────


def test_a_line_ends_once_and_arrives_at_once() -> None:
    with pipe() as (source, sink):
        writer = LineWriter(sink)
        writer.write("one")
        writer.write("two\n")
        assert (source.readline(), source.readline()) == ("one\n", "two\n")


def test_a_closed_reader_is_reported_as_such() -> None:
    with pipe() as (source, sink):
        source.close()
        with pytest.raises(BrokenPipeError):
            LineWriter(sink).write("one")


def test_a_full_disk_is_reported_with_where_the_answer_is() -> None:
    no_space = "cannot write to standard output: No space left on device; `harness export"
    with Path("/dev/full").open("w", encoding="utf-8") as full, pytest.raises(HarnessError, match=no_space):
        LineWriter(full).write("one")


async def test_a_slow_reader_gets_everything_in_order_and_the_work_waits_for_it() -> None:
    texts = [f"{number} {'x' * 50_000}" for number in range(100)]
    with pipe() as (source, sink):
        read: list[str] = []
        async with asyncio.timeout(60), LineWriter(sink) as writer:
            for text in texts:
                writer.write(text)
            pace = asyncio.create_task(writer.keep_pace())
            await asyncio.sleep(0)
            assert not pace.done()
            while len(read) < len(texts):
                read.append(await asyncio.to_thread(source.readline))
            await pace
        assert read == [text + "\n" for text in texts]
        assert not asyncio.get_running_loop().remove_writer(sink.fileno())


async def test_a_reader_that_reads_nothing_is_waited_for_until_the_program_ends() -> None:
    with pipe() as (_, sink):
        async with asyncio.timeout(60), LineWriter(sink) as writer:
            writer.write("x" * 2_000_000)
            pace = asyncio.create_task(writer.keep_pace())
            await asyncio.sleep(0)
            assert not pace.done()
            writer.limit(0.1)
            writer.end()
            await pace
        assert not asyncio.get_running_loop().remove_writer(sink.fileno())
        late = LineWriter(sink)
        late.write("x")
        late.limit(0.1)
        with pytest.raises(BrokenPipeError):
            await late.__aexit__(None)


async def test_a_reader_that_leaves_ends_the_wait() -> None:
    with pipe() as (source, sink):
        writer = LineWriter(sink)
        writer.write("x" * 2_000_000)
        pace = asyncio.create_task(writer.keep_pace())
        await asyncio.sleep(0)
        source.close()
        async with asyncio.timeout(60):
            with pytest.raises(BrokenPipeError):
                await pace


# ── the end ─────────────────────────────────────────────────────────────────────────────────────────


async def test_work_that_ends_by_itself_ends_well_and_its_error_is_raised() -> None:
    async def fails() -> None:
        raise ZeroDivisionError

    with pipe() as (_, sink):
        assert await until_stopped(asyncio.sleep(0), sink) == 0
        assert await until_stopped(asyncio.sleep(0), io.StringIO()) == 0
        with pytest.raises(ZeroDivisionError):
            await until_stopped(fails(), sink)


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
async def test_a_signal_ends_the_work_with_its_exit_code(number: signal.Signals, code: int) -> None:
    cleaned = False

    async def work() -> None:
        nonlocal cleaned
        asyncio.get_running_loop().call_soon(os.kill, os.getpid(), number)
        try:
            await asyncio.Event().wait()
        finally:
            cleaned = True

    with pipe() as (_, sink):
        assert await until_stopped(work(), sink) == code
    assert cleaned


async def test_the_work_ends_as_soon_as_its_reader_has_gone_although_nothing_is_written() -> None:
    with pipe() as (source, sink):

        async def work() -> None:
            asyncio.get_running_loop().call_soon(source.close)
            await asyncio.Event().wait()

        async with asyncio.timeout(60):
            with pytest.raises(BrokenPipeError):
                await until_stopped(work(), sink)
        assert not asyncio.get_running_loop().remove_reader(sink.fileno())


async def test_an_output_that_is_read_does_not_end_the_work_and_is_not_watched_after_it() -> None:
    with pipe() as (source, sink):

        async def work() -> None:
            LineWriter(sink).write("one")
            assert await asyncio.to_thread(source.readline) == "one\n"

        assert await until_stopped(work(), sink) == 0
        assert not asyncio.get_running_loop().remove_reader(sink.fileno())


async def test_cancelled_work_raises_to_its_caller() -> None:
    with pipe() as (_, sink):
        task = asyncio.create_task(until_stopped(asyncio.Event().wait(), sink))  # type: ignore[arg-type]
        await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
