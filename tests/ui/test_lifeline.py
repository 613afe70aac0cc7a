"""An app whose server was killed."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator

import pytest

from harness.ui.web.app_process import app_command
from tests.ui.program import LIMIT_S, ROOT, Place

HOLDING = """
import signal, sys, time
from harness.ui.web.lifeline import hold
{heeding}
hold(int(sys.argv[1]), patience_s=0.1)
print("holding", flush=True)
time.sleep(600)
"""


@pytest.fixture
def pipe() -> Iterator[tuple[int, int]]:
    """Reading and writing end; the test closes the writing one, which is the end of the server."""
    reading, writing = os.pipe()
    yield reading, writing
    os.close(reading)


@pytest.mark.parametrize(
    ("heeding", "ended_by"),
    [("", signal.SIGTERM), ("signal.signal(signal.SIGTERM, signal.SIG_IGN)", signal.SIGKILL)],
    ids=["obedient", "deaf"],
)
def test_it_ends_with_its_server(pipe: tuple[int, int], heeding: str, ended_by: signal.Signals) -> None:
    reading, writing = pipe
    app = subprocess.Popen(
        [sys.executable, "-c", HOLDING.format(heeding=heeding), str(reading)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        pass_fds=[reading],
        start_new_session=True,
    )
    assert app.stdout is not None
    with app.stdout as said:
        assert said.readline() == b"holding\n"
        assert app.poll() is None
        os.close(writing)
        assert app.wait(LIMIT_S) == -ended_by


def test_the_command_behind_it_is_harness_itself(pipe: tuple[int, int], place: Place) -> None:
    reading, writing = pipe
    ended = subprocess.run(
        app_command(["--resume", "a", "--continue"]),
        cwd=place.folder,
        env=place.environment | {"HARNESS_LIFELINE": str(reading)},
        pass_fds=[reading],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    os.close(writing)
    assert ended.returncode == 2
    assert ended.stderr.startswith("harness: --continue and --resume")


def test_a_project_cannot_put_its_modules_in_place_of_ours(pipe: tuple[int, int], place: Place) -> None:
    reading, writing = pipe
    for module in ("pydantic.py", "platformdirs.py", "textual/__init__.py", "harness/__init__.py", "runpy.py"):
        file = place.folder / module
        file.parent.mkdir(exist_ok=True)
        file.write_text("raise SystemExit('a module of the project was imported')")
    ended = subprocess.run(
        app_command(["--version"]),
        cwd=place.folder,
        env=place.environment | {"HARNESS_LIFELINE": str(reading)},
        pass_fds=[reading],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    os.close(writing)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.startswith("harness ")
