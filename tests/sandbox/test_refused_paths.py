"""What a sandbox refused is read from what commands print about it."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from harness.sandbox import Profile, ProfileName, SandboxDenial
from harness.sandbox.landlock import LandlockSandbox, landlock_version
from harness.sandbox.refused_paths import MOST_PATHS, refused_paths
from tests.cases import cases


class Places:
    """A disk with a workspace, a folder that commands may read, and one that is not there for them."""

    def __init__(self, top: Path) -> None:
        self.work, self.system, self.outside = (top / name for name in ("work", "system", "out"))
        for folder in (
            self.work / ".git",
            self.work / ".vscode",
            self.work / "src",
            self.work / "ci",
            self.system / "lib",
        ):
            folder.mkdir(parents=True)
        (self.outside / "proj").mkdir(parents=True)
        for file in (".git/config", ".vscode/settings.json", "key.pem", "ci/more"):
            (self.work / file).touch()
        for file in ("notes.txt", "two words.txt", "run.sh"):
            (self.outside / file).touch()
        (self.system / "hosts").touch()
        (self.work / "link").symlink_to(self.outside / "notes.txt")
        self.profile = Profile(
            ProfileName.WORK,
            readable=(str(self.system),),
            writable=(str(self.work), str(self.work / "ci")),
            read_only=tuple(str(self.work / one) for one in (".git/config", ".vscode", "ci/more")),
            hidden=(str(self.work / "key.pem"),),
        )

    def named(self, text: str) -> str:
        """A text of the table with the names of this disk."""
        for name, folder in (("OUT", self.outside), ("SYS", self.system), ("WORK", self.work)):
            text = re.sub(rf"(?<![A-Z]){name}(?=[/'-]|$)", str(folder), text)
        return text

    def refused(self, output: str, profile: Profile | None = None) -> list[str]:
        """The paths that are found in an output."""
        found = refused_paths(self.named(output), profile or self.profile, self.work)
        assert {denial.kind for denial in found} <= {"path"}
        return [denial.subject for denial in found]


@pytest.fixture
def places(tmp_path: Path) -> Places:
    """A new one."""
    return Places(tmp_path.resolve())


@cases(__file__, "work", "name output expected")
def test_it_names_what_was_refused(name: str, output: str, expected: str, places: Places) -> None:
    paths = [places.named(path).replace("\u00a0", " ") for path in expected.split(" ")]
    assert places.refused(output) == paths


@cases(__file__, "nothing", "name output")
def test_other_failures_name_nothing(name: str, output: str, places: Places) -> None:
    assert places.refused(output) == []


def test_a_command_that_looks_was_refused_a_write_in_the_workspace(places: Places) -> None:
    look = Profile(ProfileName.LOOK, readable=(str(places.work), str(places.system)))
    assert places.refused("touch: cannot touch 'x': Read-only file system", look) == [str(places.work / "x")]
    assert places.refused("bash: line 1: x: Permission denied", look) == [str(places.work / "x")]
    assert places.refused("tar: x.tar: Cannot open: Permission denied", look) == []


def test_a_hidden_file_that_is_asked_for(places: Places) -> None:
    output = "cat: key.pem: Permission denied"
    assert places.refused(output) == [str(places.work / "key.pem")]


def test_it_names_a_few(places: Places) -> None:
    output = "\n".join(f"touch: cannot touch 'SYS/{number}': Read-only file system" for number in range(9))
    first = [SandboxDenial("path", str(places.system / str(number))) for number in range(MOST_PATHS)]
    assert list(refused_paths(places.named(output), places.profile, places.work)) == first


@pytest.mark.skipif(not landlock_version(), reason="the kernel does not offer Landlock")
@cases(__file__, "real", "line expected")
def test_it_names_what_was_really_refused(line: str, expected: str, places: Places) -> None:
    line = line.replace("PYTHON", shlex.quote(sys.executable))
    if shutil.which(line.split(" ")[0]) is None and line.split(" ")[0] in ("git", "make"):
        pytest.skip("the program is not there")
    programs = tuple(str(Path(path).resolve()) for path in ("/usr", "/lib", "/lib64", sys.prefix, sys.base_prefix))
    profile = replace(places.profile, readable=(*places.profile.readable, *programs))
    git = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull}
    sandbox = LandlockSandbox(profile)
    done = sandbox.start(
        lambda: subprocess.run(
            ("bash", "-c", places.named(line)),
            cwd=places.work,
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | git,
        )
    )
    sandbox.close()
    assert done.returncode != 0
    assert places.refused(done.stderr, profile) == [places.named(expected).replace("\u00a0", " ")]
