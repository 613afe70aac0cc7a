"""The program works although each file it may read is a pipe, a device, endless or a link cycle."""

import os
import socket
import time
from contextlib import chdir
from pathlib import Path

import pytest

from harness.journal import session_folder
from tests.freeze.hanging import SCREEN
from tests.ui.program import Place, run
from tests.ui.terminals import Terminal

pytestmark = pytest.mark.anyio

BOUND_S = 30.0
ENDLESS = 10**12
"""Bytes of a file with a hole in it, which takes no room."""
PIPES = ("AGENTS.md", ".gitignore", ".git/HEAD", ".harness/skills/a/SKILL.md", "deep/.gitignore", "pipe")
CALLS = (
    '{ name = "glob", input = { pattern = "**/*" } }',
    '{ name = "grep", input = { pattern = "x" } }',
    '{ name = "glob", input = { pattern = "' + "**/" * 20 + 'x" } }',
    '{ name = "glob", input = { pattern = "' + "*a" * 25 + 'b" } }',
    '{ name = "read_file", input = { path = "pipe" } }',
    '{ name = "read_file", input = { path = "endless" } }',
    '{ name = "read_file", input = { path = "endless", offset = 9 } }',
    '{ name = "read_file", input = { path = "loop" } }',
    '{ name = "write_file", input = { path = "pipe", content = "x" } }',
    '{ name = "write_file", input = { path = "socket", content = "x" } }',
    '{ name = "edit_file", input = { path = "pipe", old_string = "a", new_string = "b" } }',
    '{ name = "edit_file", input = { path = "endless", old_string = "a", new_string = "b" } }',
    '{ name = "edit_file", input = { path = "ababab", old_string = "' + "ab" * 2_000 + 'x", new_string = "b" } }',
    '{ name = "edit_file", input = { path = "aaaaaa", old_string = "' + "a" * 2_000 + '", new_string = "b" } }',
    '{ name = "edit_file", input = { path = "none", old_string = "a", new_string = "b" } }',
)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """A folder with every kind of hostile file."""
    folder = tmp_path / "work"
    folder.mkdir()
    for name in PIPES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        os.mkfifo(folder / name)
    with (folder / "endless").open("wb") as file:
        file.truncate(ENDLESS)
    (folder / "loop").symlink_to("loop")
    (folder / "up").symlink_to(".")
    (folder / "zero").symlink_to("/dev/zero")
    (folder / "/".join("a" * 24)).mkdir(parents=True)
    (folder / ("a" * 200)).touch()
    (folder / "ababab").write_text(("ab" * 500_000 + "\n") * 2)
    (folder / "aaaaaa").write_text("a" * 2_000_000)
    with chdir(folder), socket.socket(socket.AF_UNIX) as one:  # the name of a socket may not be long
        one.bind("socket")
    here = Place(folder)
    sessions = session_folder(folder, here.state)
    sessions.mkdir(parents=True)
    for name in ("20200101-000000-000000.jsonl", "escape.json", "history", "zz.jsonl"):
        os.mkfifo(sessions / name)
    return here


@pytest.mark.stories
async def test_a_session_beside_hostile_files_ends_soon(place: Place) -> None:
    script = place.folder.parent / "script.toml"
    calls = ", ".join(CALLS)
    script.write_text(f'[[reply]]\ntools = [ {calls} ]\n[[reply]]\ntext = "Seen."\n')
    await run(place, "--version")  # what the tests start programs with is up
    began = time.monotonic()
    ended = await run(place, "-p", "Look.", "--yolo", "--practice", str(script))
    assert (ended.code, ended.out) == (0, "Seen.\n"), ended.err
    assert time.monotonic() - began < BOUND_S


@pytest.mark.parametrize(
    "arguments", [["sessions"], ["export", "zz"], ["watch", "zz"], ["-p", "Go on.", "-r", "zz", "--practice"]]
)
async def test_a_session_that_is_a_pipe_is_reported_at_once(place: Place, arguments: list[str]) -> None:
    await run(place, "--version")
    began = time.monotonic()
    ended = await run(place, *arguments)
    assert any(part in ended.out + ended.err for part in ("not a regular file", "cannot be opened", "cannot be read"))
    assert time.monotonic() - began < BOUND_S


async def test_a_journal_with_its_lines_in_reverse_order_is_refused_in_one_sentence(place: Place) -> None:
    script = place.folder.parent / "script.toml"
    call = '{ name = "bash", input = { command = "true" } }'
    script.write_text(f'[[reply]]\ntools = [ {call} ]\n[[reply]]\ntext = "Done."\n')
    assert (await run(place, "-p", "Go.", "--yolo", "--practice", str(script))).code == 0
    (journal,) = (one for one in place.state.glob("sessions/*/*.jsonl") if one.is_file())
    journal.write_bytes(b"".join(reversed(journal.read_bytes().splitlines(keepends=True))))
    ended = await run(place, "-p", "Go on.", "-r", journal.stem, "--practice")
    assert ended.code == 1
    assert "its journal is out of order" in ended.err


async def test_completing_a_file_beside_hostile_rules_leaves_the_keys_alive(place: Place) -> None:
    (place.folder / ".gitignore").unlink()
    (place.folder / ".gitignore").write_text("*a" * 60 + "b\n" + "**/" * 30 + "x\n")
    async with Terminal(place, "--practice", environment=SCREEN) as terminal:
        await terminal.sees("asks first")
        terminal.type("look at @abab")
        await terminal.sees("ababab")
        terminal.type("\x1b\x03\x03\x03")
        assert await terminal.ends() == 130
