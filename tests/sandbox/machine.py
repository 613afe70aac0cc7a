"""What the tests of the sandbox share: bubblewrap as it works here, and a place to run something in a profile."""

import os
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest

from harness.sandbox.bubblewrap import BubblewrapProgram, bubblewrap_command
from harness.sandbox.places import private_folder
from harness.sandbox.probe import probe
from harness.sandbox.profile import Profile

SYSTEM = tuple(path for path in ("/usr", "/bin", "/lib", "/lib64", "/etc") if os.path.realpath(path) == path)
LINKS = tuple((path, str(Path(path).readlink())) for path in ("/bin", "/lib", "/lib64") if Path(path).is_symlink())


@cache
def bubblewrap() -> BubblewrapProgram:
    """The one of this machine; the test is skipped where there is none that works."""
    found = probe(os.environ["PATH"])
    if found.bubblewrap is None:
        pytest.skip(found.state.why)
    return found.bubblewrap


def run_in(
    profile: Profile, *command: str, cwd: str, private: str = "", program: BubblewrapProgram | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a command in a profile.

    Args:
        private: the folder of a session; empty: one for this command.
    """
    own = private or private_folder()
    try:
        line = bubblewrap_command(
            program or bubblewrap(), profile, command, cwd=cwd, private=own, is_folder=os.path.isdir
        )
        return subprocess.run(line, capture_output=True, text=True, timeout=30, check=False)
    finally:
        if not private:
            shutil.rmtree(own)
