"""Lines that agents run all day and that only look print the same in the sandbox as outside."""

import os
import re
import shutil
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from benchmarks.ordinary_lines import DAILY, OF_TRANSCRIPTS
from benchmarks.questions import make_workspace
from harness.processes import Processes, ProcessLimits
from harness.processes.search_path import own_search_path
from harness.sandbox import ProfileName, SandboxLevel
from harness.sandbox.marked_files import Marks
from harness.sandbox.places import Places
from harness.sandbox.sandbox import Sandbox
from harness.tools.bash import shell_command, shell_environment

pytestmark = [pytest.mark.anyio, pytest.mark.stories]
OF_SERVERS = re.compile(r"docker |gh ")
"""Lines that ask a server: no sandbox holds them."""
LOOKS = tuple(one.line for one in (*DAILY, *OF_TRANSCRIPTS) if not one.may_ask and not OF_SERVERS.match(one.line))
OF_THE_MACHINE = re.compile(r"\b(ps|df|free|uptime)\b")
"""Lines about all processes and mounts: in the sandbox they show those of the sandbox."""


def _own_path() -> str:
    """PATH without the environment that runs the tests: it leads to a checkout outside the workspace."""
    folders = os.environ["PATH"].split(os.pathsep)
    return os.pathsep.join(one for one in folders if not (Path(one).parent / "pyvenv.cfg").exists())


class Looks:
    """A workspace and a home, and how a line ends there outside and inside a sandbox."""

    def __init__(self, folder: Path, search_path: str) -> None:
        self.workspace, self.home = make_workspace(folder).resolve(), folder / "home"
        for name in (".ssh/id_rsa", "notes/plan.md", ".bashrc"):
            (self.home / name).parent.mkdir(parents=True, exist_ok=True)
            (self.home / name).write_text("secret\n")
        (self.home / ".npmrc").write_text("//registry.example/:_authToken=secret\n")
        (self.home / ".gitconfig").write_text("[user]\n\tname = Ada\n\temail = ada@example.invalid\n")
        environ = {**os.environ, "HOME": str(self.home), "PATH": _own_path()}
        for variable, tools in (("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo")):
            environ.setdefault(variable, str(Path.home() / tools))
        self.environment = shell_environment(environ, self.workspace, ProfileName.LOOK)
        nothing = Marks(lambda path: False, lambda path: False)
        places = Places(str(self.home), environ, nothing)
        self.sandbox = Sandbox(places=lambda: places, roots=lambda _: (self.workspace,), search_path=search_path)
        self.processes = Processes(ProcessLimits(time_s=60), sandbox=self.sandbox)

    async def run(self, line: str, profile: ProfileName) -> tuple[int | None, str]:
        """Its exit code and its output."""
        output = bytearray()
        finished = await self.processes.run(
            shell_command(line, self.workspace),
            cwd=self.workspace,
            environment=self.environment,
            sink=output.extend,
            profile=profile,
        )
        lines = output.decode(errors="replace").splitlines()
        return finished.exit_code, "\n".join(sorted(lines))  # rg searches in several threads

    async def differences(self) -> list[str]:
        """The lines that end otherwise in the sandbox, with both ends. A line whose words change from run to run, as
        those of `date`, counts by its exit code."""
        found = []
        for line in LOOKS:
            outside, inside = await self.run(line, ProfileName.FREE), await self.run(line, ProfileName.LOOK)
            if outside == inside:
                continue
            if OF_THE_MACHINE.search(line):
                differs = "denied" in inside[1]
            else:
                differs = inside[0] != outside[0] or await self.run(line, ProfileName.FREE) == outside
            if differs:
                found.append(f"{line!r}\n  outside: {outside}\n  inside: {inside}")
        return found


@pytest.fixture(params=[SandboxLevel.FULL, SandboxLevel.FILES])
async def looks(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Looks]:
    """With each kind of sandbox that works here."""
    full = request.param is SandboxLevel.FULL
    made = Looks(tmp_path, own_search_path(tmp_path) if full else "")
    if made.sandbox.state.level is not request.param:
        pytest.skip(f"no such sandbox: {made.sandbox.state.why}")
    yield made
    await made.processes.aclose()
    await made.sandbox.aclose()


async def test_looks_print_the_same(looks: Looks) -> None:
    assert len(LOOKS) > 300
    assert shutil.which("git", path=looks.environment["PATH"])
    before = sorted(str(path) for path in looks.workspace.rglob("*"))
    different = await looks.differences()
    assert not different, "\n".join(different)
    assert sorted(str(path) for path in looks.workspace.rglob("*")) == before
