"""Fixtures that every room's tests share."""

import gc
import os
import signal
import sys
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import is_hypothesis_test as is_property
from hypothesis import settings

from tests.fleet import postgres
from tests.whole import WHOLE

STORIES = "stories"
STORY_S = 300
"""Seconds that a test of the long command may take."""

# How long an example takes says more of the machine than of us.
settings.register_profile("every day", deadline=None, max_examples=20)
settings.register_profile("whole", deadline=None, max_examples=100)
settings.load_profile("whole" if WHOLE else "every day")

# Otherwise each program that a test starts compiles all of ours again.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A command that says python3 starts this interpreter, and not what the machine happens to have first.
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}"

# Tests do not see the home folder of the user who runs them.
os.environ["HARNESS_HOME_DIR"] = os.devnull
for _clipboard in ("DISPLAY", "TMUX", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"):
    os.environ.pop(_clipboard, None)  # what is copied in a test stays in it

# A shell that starts the tests in the background has them, and all that they start, ignore Ctrl-C.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Collecting makes hardly any garbage. What hands the tests to the workers collects nothing, and keeps its collector.
if "PYTEST_XDIST_WORKER" in os.environ:
    gc.disable()


def pytest_configure(config: pytest.Config) -> None:
    """The long command plays more examples."""
    if config.option.markexpr == STORIES:
        settings.load_profile("whole")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """The long command also plays all properties, and the cases of a grid that the everyday command leaves out."""
    played: Counter[str] = Counter()
    for item in items:
        case = item.nodeid.partition("[")[0]
        played[case] += 1
        grid = item.get_closest_marker("grid")
        rest = grid is not None and played[case] > grid.args[0]
        if rest or (config.option.markexpr == STORIES and is_property(getattr(item, "obj", None))):
            item.add_marker(STORIES)
        if item.get_closest_marker(STORIES) is not None and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(STORY_S))


def pytest_collection_finish() -> None:
    """Freeze imported objects: collecting them repeatedly took a tenth of the time."""
    gc.enable()
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)  # one worker spent a seventh of its time on looking


def pytest_sessionfinish() -> None:
    """Stop the Postgres of this run, if a test has started one."""
    postgres.leave()


@pytest.fixture
def anyio_backend() -> str:
    """Async tests run on asyncio, as the program does."""
    return "asyncio"
