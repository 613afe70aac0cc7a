"""What the tests of the sandbox share: bubblewrap as it works here, and a place to run something in a profile."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

import pytest

from harness.sandbox.bubblewrap import BubblewrapProgram, bubblewrap_command
from harness.sandbox.places import private_folder
from harness.sandbox.probe import probe
from harness.sandbox.profile import Profile

SYSTEM = tuple(path for path in ("/usr", "/bin", "/lib", "/lib64", "/etc") if os.path.realpath(path) == path)
LINKS = tuple((path, str(Path(path).readlink())) for path in ("/bin", "/lib", "/lib64") if Path(path).is_symlink())
USER = 65534
"""Some user that is not root."""
AS_USER = ("setpriv", f"--reuid={USER}", f"--regid={USER}", "--clear-groups", "--inh-caps=-all")
CALLERS = ("self", "root in a user namespace", "user")
"""Who starts bubblewrap; the last two only where the tests run as root."""


@cache
def bubblewrap() -> BubblewrapProgram:
    """The one of this machine; the test is skipped where there is none that works."""
    found = probe(os.environ["PATH"])
    if found.bubblewrap is None:
        pytest.skip(found.state.why)
    return found.bubblewrap


def bubblewrap_of(caller: str) -> BubblewrapProgram:
    """That of one of the callers."""
    found = bubblewrap()
    if caller != "self" and os.geteuid():
        pytest.skip("only root can be somebody else")
    if caller == "self":
        return found
    return BubblewrapProgram(found.path, user_namespace=True, root=caller != "user")


@contextmanager
def folder_of(caller: str) -> Iterator[Path]:
    """A folder that belongs to a caller, below the folder for temporary files."""
    with tempfile.TemporaryDirectory() as made:
        if caller == "user":
            os.chown(made, USER, USER)
        yield Path(os.path.realpath(made))


def run_in(
    profile: Profile, *command: str, cwd: str, caller: str = "self", private: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run a command in a profile.

    Args:
        private: the folder of a session; empty: one for this command.
    """
    own = private or private_folder()
    try:
        if caller == "user":
            for path in (Path(own), *Path(own).iterdir()):
                os.chown(path, USER, USER)
        line = bubblewrap_command(
            bubblewrap_of(caller), profile, command, cwd=cwd, private=own, is_folder=os.path.isdir
        )
        started = (*AS_USER, *line) if caller == "user" else line
        return subprocess.run(started, capture_output=True, text=True, timeout=60, check=False)
    finally:
        if not private:
            shutil.rmtree(own)
