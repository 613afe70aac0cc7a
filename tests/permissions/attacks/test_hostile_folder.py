"""A folder with every hostile file, cloned and used: nothing runs, nothing leaks, and refusals are shown."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harness.practice.script import Script
from harness.practice.server import PracticeServer
from tests.permissions.attacks.hostile_folder import (
    KEY,
    LINES,
    MARK,
    add_what_git_does_not_carry,
    git,
    make_hostile,
)
from tests.ui.program import Finished, Place, end_of, run, start
from tests.ui.terminals import Terminal

pytestmark = [pytest.mark.anyio, pytest.mark.skipif(sys.platform == "win32", reason="FIFOs and links")]


def script() -> str:
    """The model looks around with every tool."""
    calls: list[dict[str, Any]] = [
        *({"name": "bash", "input": {"command": line, "timeout": 2}} for line in LINES),
        *({"name": "glob", "input": {"pattern": pattern}} for pattern in ("*", "**/*.py", "**/" * 16 + "x", "*a" * 20)),
        *({"name": "grep", "input": {"pattern": pattern}} for pattern in ("x", "TOKEN|KEY")),
        *({"name": "read_file", "input": {"path": path}} for path in ("README.md", "key", "AGENTS.md", ".env", "loop")),
    ]
    replies = "".join(f"\n[[reply]]\ntools = [{_inline(call)}]\n" for call in calls)
    return f'after = "repeat"\n{replies}\n[[reply]]\ntext = "A project."\n'


def _inline(call: dict[str, Any]) -> str:
    values = ", ".join(f"{key} = {json.dumps(value)}" for key, value in call["input"].items())
    return f'{{ name = "{call["name"]}", input = {{ {values} }} }}'


@dataclass(frozen=True)
class Trial:
    """The folder, the server of the user and the one that must not be asked."""

    place: Place
    server: PracticeServer
    elsewhere: PracticeServer
    log: Path

    @property
    def environment(self) -> dict[str, str]:
        """The user's own, with their key."""
        home = self.place.folder.parent / "home"
        return {
            "ANTHROPIC_API_KEY": KEY,
            "HOME": str(home),
            "GITHUB_TOKEN": f"{MARK}-token",
            "PYTHONPATH": "",
            "HARNESS_LOOP_INTERVENTION": "0",
        }

    def check(self, *shown: str) -> None:
        """Nothing ran, nothing leaked."""
        assert self.log.read_text() == ""
        assert self.elsewhere.requests == []
        for request in self.server.requests:
            assert MARK not in json.dumps(request.body)
            assert "the-rsa-key" not in json.dumps(request.body)
            assert KEY not in json.dumps(request.body)
        for text in shown:
            assert KEY not in text
            assert MARK not in text
            assert "the-rsa-key" not in text
            assert "Traceback" not in text
            assert "\x1b]52" not in text
        assert not (self.place.folder / "written").exists()
        assert (self.place.folder / "-delete").exists()


@pytest.fixture(params=["copied", pytest.param("cloned", marks=pytest.mark.stories)])
async def trial(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Trial]:
    log, planted = tmp_path / "ran", tmp_path / "planted"
    log.touch()
    planted.write_text(f'#!/bin/sh\necho "$0 $*" >> "{log}"\n')
    planted.chmod(0o755)
    (tmp_path / "home" / ".ssh").mkdir(parents=True)
    (tmp_path / "home" / ".ssh" / "id_rsa").write_text("the-rsa-key\n")
    async with PracticeServer(script=Script.parse(script())) as server, PracticeServer() as elsewhere:
        make_hostile(tmp_path / "origin", planted, elsewhere.base_url)
        folder = tmp_path / "origin"
        if request.param == "cloned":
            folder = tmp_path / "project"
            git(tmp_path, "clone", "-q", str(tmp_path / "origin"), str(folder))
        else:
            add_what_git_does_not_carry(folder, planted)
        yield Trial(Place(folder, server.base_url), server, elsewhere, log)


async def used(trial: Trial, *arguments: str, stdin: str = "", cold: bool = False) -> Finished:
    process = await start(trial.place, *arguments, env=trial.environment, cold=cold)
    return await end_of(process, stdin)


@pytest.mark.stories
async def test_a_prompt_waits_for_the_answer_whether_the_folder_is_trusted(trial: Trial) -> None:
    ended = await used(trial, "-p", "what is this project?")
    assert ended.code == 2
    assert trial.server.requests == []
    assert "--trust-folder" in ended.err
    assert len(ended.err.splitlines()) <= 12, ended.err
    trial.check(ended.out, ended.err)


async def test_a_prompt_in_the_folder_runs_nothing_of_it(trial: Trial) -> None:
    ended = await used(trial, "-p", "what is this project?", "--no-trust-folder")
    assert ended.code == 4, ended  # commands were refused
    assert ended.out.strip() == "A project."
    assert len(trial.server.requests) > len(LINES)
    trial.check(ended.out, ended.err)
    kept = "".join(path.read_text() for path in trial.place.state.rglob("*.jsonl"))
    assert "what is this project?" in kept
    trial.check(kept)


INSTALLED = Path(sys.executable).with_name("harness")
"""The installed command, which unlike `python -m` does not put the current folder first in sys.path."""


async def installed(trial: Trial, *arguments: str) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        INSTALLED,
        *arguments,
        cwd=trial.place.folder,
        env=trial.place.environment | trial.environment,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


@pytest.mark.stories
@pytest.mark.skipif(not INSTALLED.exists(), reason="the command is not installed")
async def test_what_starts_cold_imports_nothing_of_the_folder(trial: Trial) -> None:
    for arguments in (("--version",), ("doctor",), ("-p", "hi", "--no-trust-folder", "--max-turns", "2")):
        out, err = await (await installed(trial, *arguments)).communicate()
        trial.check(out.decode(), err.decode())
    assert trial.server.requests


@pytest.mark.stories
@pytest.mark.skipif(not INSTALLED.exists(), reason="the command is not installed")
@pytest.mark.stories
async def test_the_app_in_a_browser_imports_nothing_of_the_folder(trial: Trial) -> None:
    pytest.importorskip("textual_serve", reason="textual-serve is not installed (the extra `web`)")
    from tests.ui.web.page import entered, opened

    process = await installed(trial, "serve", "--", "--no-trust-folder")
    assert process.stdout is not None
    link = (await process.stdout.readline()).decode().strip()
    async with entered(link) as session, opened(session, link) as page:
        await page.sees("left out")
    process.terminate()
    out, err = await process.communicate()
    trial.check(out.decode(), err.decode())


async def test_no_command_believes_the_folder(trial: Trial) -> None:
    for command in ("doctor", "sessions", "settings", "breakers", "admission", "transitions", "export"):
        ended = await used(trial, command)
        assert ended.code in (0, 1, 2), command
        trial.check(ended.out, ended.err)


@pytest.mark.stories
async def test_a_conversation_in_lines_asks_before_anything_of_it_runs(trial: Trial) -> None:
    async with Terminal(trial.place, "--no-trust-folder", "--plain", environment=trial.environment) as terminal:
        await terminal.sees("Ctrl-D quits")
        terminal.type("what is this project?\r")
        await terminal.sees("allow it?")
        trial.check(terminal.screen)


def with_settings(folder: Path) -> Path:
    (folder / ".harness").mkdir(parents=True)
    (folder / "docs").mkdir()
    (folder / "docs" / "tour.toml").write_text('[[reply]]\ntext = "Planted."\n')
    (folder / ".harness" / "settings.toml").write_text('practice_script = "docs/tour.toml"\n')
    return folder


@pytest.mark.parametrize("flag", ["", "--trust-folder"])
async def test_such_a_setting_ends_the_program_before_any_request(tmp_path: Path, flag: str) -> None:
    folder = with_settings(tmp_path / "project")
    async with PracticeServer() as server:
        ended = await run(Place(folder, server.base_url), "-p", "hi", *filter(None, [flag]))
        assert server.requests == []
    assert (ended.code, ended.out) == (2, "")
    (sentence,) = ended.err.splitlines()
    assert "practice_script" in sentence


FIFOS = (".gitignore", "AGENTS.md", ".harness/settings.toml", ".env", ".git/HEAD", ".harness/agents/x.md")


@pytest.fixture(params=[*FIFOS[:2], *(pytest.param(name, marks=pytest.mark.stories) for name in FIFOS[2:])])
def folder_with_a_fifo(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    path = folder / str(request.param)
    path.parent.mkdir(parents=True)
    os.mkfifo(path)
    return folder


async def test_a_fifo_instead_of_a_file_holds_nothing_up(folder_with_a_fifo: Path) -> None:
    looks = '[[reply]]\ntools = [{ name = "glob", input = { pattern = "**/*" } }]\n[[reply]]\ntext = "Done."\n'
    async with PracticeServer(script=Script.parse(looks)) as server:
        ended = await run(Place(folder_with_a_fifo, server.base_url), "-p", "hi", "--no-trust-folder")
    assert ended.code in (0, 2)
    assert ended.out.strip() == "Done." or len(ended.err.splitlines()) == 1
