"""Run the examples of the pages in this process, in a fresh folder, without keys or the tester's settings."""

import gc
import logging
import os
import runpy
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from harness.settings.logs import SHARED


@pytest.fixture(autouse=True)
def loggers_as_they_were() -> Iterator[None]:
    """What the program does to the loggers of its process ends with the test."""
    kept = [(log, log.handlers[:], log.propagate, log.level) for log in map(logging.getLogger, SHARED)]
    yield
    logging.captureWarnings(capture=False)
    for log, handlers, propagate, level in kept:
        log.handlers[:], log.propagate = handlers, propagate
        log.setLevel(level)


@pytest.fixture
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, where a block runs."""
    folder = tmp_path / "project"
    folder.mkdir()
    monkeypatch.chdir(folder)
    without_a_user(monkeypatch, tmp_path)
    return folder


def without_a_user(patch: pytest.MonkeyPatch, top: Path) -> None:
    """Take keys and settings out of the environment; state goes below `top`."""
    for name in [name for name in os.environ if name.startswith(("ANTHROPIC_", "HARNESS_"))]:
        patch.delenv(name)
    patch.setenv("HARNESS_STATE_DIR", str(top / "state"))
    patch.setenv("XDG_CONFIG_HOME", str(top / "config"))
    patch.setenv("HARNESS_SANDBOX", "off")


@pytest.fixture
def run_program(
    alone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[[str], str]:
    """Runs a program and returns what it printed. It must write nothing to standard error, nor leave anything open."""
    gc.freeze()  # so that only what the program leaves behind is looked through
    left: list[object] = []
    monkeypatch.setattr(sys, "unraisablehook", left.append)

    def run(code: str) -> str:
        file = tmp_path / "program.py"
        file.write_text(code, encoding="utf-8")
        runpy.run_path(str(file), run_name="__main__")
        gc.collect()
        said = capfd.readouterr()
        assert (said.err, left) == ("", [])
        return said.out

    return run
