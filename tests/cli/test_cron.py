"""`harness cron`: scheduled prompts from outside of a session, with the real files."""

import asyncio
import signal
import sys
from pathlib import Path

import psutil
import pytest

from harness.cli.main import main
from harness.practice.script import Script
from harness.practice.server import PracticeServer
from tests.processes.traces import until

SCRIPT = """
[[reply]]
text = "All is quiet."

[[reply]]
status = 400
message = "nothing today"
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder to work in, with a state folder beside it."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("HARNESS_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("HARNESS_PRACTICE", "on")
    return folder


def test_a_prompt_is_added_listed_paused_resumed_and_deleted(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["cron", "list"]) == 0
    assert capsys.readouterr().out == "No prompt is scheduled.\n"
    assert not (folder.parent / "state").exists()
    assert main(["cron", "add", "30 9 * * 1-5", "run the tests", "--zone", "Europe/Oslo"]) == 0
    made = capsys.readouterr().out
    assert made.startswith("c1 fires 30 9 * * 1-5 (Europe/Oslo). Next: ")
    assert made.endswith("It is kept for later sessions of this project, and ends after 30 days.\n")
    assert main(["cron", "pause", "c1"]) == 0
    assert main(["cron", "list"]) == 0
    assert "run the tests  [paused: by the user]" in capsys.readouterr().out
    assert main(["cron", "resume", "1"]) == 0
    assert main(["cron", "delete", "c1"]) == 0
    assert capsys.readouterr().out.splitlines() == ["c1 fires again.", "c1 is deleted."]


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (["add", "soon", "look"], 2, "five fields"),
        (["add", "@daily", " "], 1, "prompt is empty"),
        (["add", "@daily", "look", "--zone", "Mars"], 2, "no time zone"),
        (["add", "0 9 1 1 *", "look", "--zone", "UTC"], 1, "recurring jobs end after 30 days"),
        (["pause", "c7"], 1, "There is no job 'c7'; there are: c1."),
    ],
)
def test_what_cannot_be_done_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str], words: list[str], code: int, said: str
) -> None:
    assert main(["cron", "add", "@daily", "look"]) == 0
    capsys.readouterr()
    assert main(["cron", *words]) == code
    shown = capsys.readouterr()
    assert shown.out == ""
    assert said in shown.err


@pytest.mark.parametrize("kind", ["run", "pause", "resume", "delete"])
def test_a_job_of_a_project_without_any_is_an_error(
    folder: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    assert main(["cron", kind, "c1"]) == 1
    shown = capsys.readouterr()
    assert (shown.out, "There is no job 'c1'" in shown.err) == ("", True)


def test_a_prompt_is_run_without_a_screen_and_counted(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "notes.txt").write_text("TODO: water the plants\n")
    assert main(["cron", "add", "@daily", "find TODO"]) == 0
    monkeypatch.chdir(folder.parent)  # as the scheduler of the system does
    assert main(["cron", "run", "c1", "--cwd", "project"]) == 0
    monkeypatch.chdir(folder)
    assert "water the plants" in capfd.readouterr().out
    assert main(["cron", "list"]) == 0
    assert "fired 1 time" in capfd.readouterr().out
    assert main(["cron", "add", "in 3 hours", "find TODO"]) == 0
    assert main(["cron", "run", "c2"]) == 0
    assert main(["cron", "list"]) == 0
    assert "\nc2" not in capfd.readouterr().out.partition("water the plants")[2]


async def _run() -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(sys.executable, "-m", "harness", "cron", "run", "c1")


@pytest.mark.stories
@pytest.mark.anyio
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
async def test_a_signal_ends_the_prompt_and_a_single_one_is_kept(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], number: signal.Signals
) -> None:
    monkeypatch.delenv("HARNESS_PRACTICE")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-of-the-test")
    script = '[[reply]]\ntext = "I look at the log."\nchunk = 5\nfault = { kind = "stall", at = 7 }\n'
    async with PracticeServer(script=Script.parse(script)) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.base_url)
        assert main(["cron", "add", "2099-01-01 09:00", "look"]) == 0
        running = await _run()
        await until(lambda: bool(server.requests))
        (prompt,) = psutil.Process(running.pid).children()
        running.send_signal(number)
        assert await running.wait() == 128 + number
        assert not prompt.is_running()
    assert main(["cron", "list"]) == 0
    shown = capfd.readouterr()
    assert "\nc1  2099" in shown.out
    assert "harness: interrupted; to continue" in shown.err


@pytest.mark.stories
@pytest.mark.anyio
async def test_a_run_counts_its_cost_and_says_why_it_failed(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("HARNESS_PRACTICE")
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-of-the-test")
    async with PracticeServer(script=Script.parse(SCRIPT)) as server:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.base_url)
        assert main(["cron", "add", "@daily", "look"]) == 0
        assert await (await _run()).wait() == 0
        assert capfd.readouterr().out.endswith("All is quiet.\n")
        assert await (await _run()).wait() == 1
        shown = capfd.readouterr()
        assert shown.out == ""
        assert "harness: nothing today" in shown.err
    assert main(["cron", "list"]) == 0
    assert "fired 2 times; $0.0" in capfd.readouterr().out
