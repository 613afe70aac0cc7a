"""The memory of commands: where it can be limited, the members of a group, and the report of a kill.

The kernel kills only where the user may make control groups. Elsewhere a folder takes their place, and the command
itself writes what the kernel would count.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from subprocess import PIPE, Popen

import psutil
import pytest

from harness.base.errors import HarnessError
from harness.engine.build.from_settings import memory_limit
from harness.processes import Processes, ProcessLimits, ProcessResult
from harness.processes.memory_groups import MemoryGroup, MemoryGroups, memory_groups, own_group, place_for_groups
from harness.settings import Settings
from tests.processes.traces import Trace

pytestmark = pytest.mark.anyio

LIMIT = 64 * 2**20
V2 = "34 24 0:30 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n"


async def run(memory: MemoryGroups, line: str, root: Path, trace: Trace, limits: ProcessLimits) -> ProcessResult:
    processes = Processes(limits, memory)
    try:
        child = await processes.pipe(
            ("bash", "-c", line),
            cwd=root,
            environment=trace.environment,
            sink=bytearray().extend,
            limit_memory=True,
        )
        return await child.within(limits.time_s)
    finally:
        assert await processes.aclose() == ()


@pytest.mark.parametrize(
    ("mounts", "groups", "found"),
    [
        (V2, "0::/user.slice/a.scope\n", ("/sys/fs/cgroup", "/sys/fs/cgroup/user.slice/a.scope")),
        (V2, "0::/\n", ("/sys/fs/cgroup", "/sys/fs/cgroup")),
        (V2.replace(" / ", " /pod7 "), "0::/pod7/a\n", ("/sys/fs/cgroup", "/sys/fs/cgroup/a")),
        (V2.replace(" / ", " /pod7 "), "0::/pod8\n", None),
        ("31 24 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n", "4:memory:/\n0::/\n", None),
        (V2, "4:memory:/a\n", None),
    ],
)
def test_the_group_of_a_process(mounts: str, groups: str, found: tuple[str, str] | None) -> None:
    assert own_group(mounts, groups) == (None if found is None else (Path(found[0]), Path(found[1])))


def test_groups_are_made_beside_the_own_one_where_the_kernel_limits_them(tmp_path: Path) -> None:
    own = tmp_path / "user" / "terminal"
    own.mkdir(parents=True)
    with pytest.raises(HarnessError, match="does not limit the memory of groups in it"):
        place_for_groups(tmp_path, own)
    (own.parent / "cgroup.subtree_control").write_text("cpu memory pids\n")
    (own / "memory.max").write_text("4000000000\n")
    with pytest.raises(HarnessError, match="has a memory limit itself, which groups beside it would evade"):
        place_for_groups(tmp_path, own)
    (own / "memory.max").write_text("max\n")
    with pytest.raises(HarnessError, match="you may not make control groups in"):
        place_for_groups(tmp_path, own)
    (own.parent / "cgroup.procs").touch()
    assert place_for_groups(tmp_path, own) == own.parent
    assert place_for_groups(own.parent, own.parent) == own.parent


async def test_a_command_runs_in_a_group_of_its_own_and_its_kills_are_reported(
    root: Path, tmp_path: Path, trace: Trace, limits: ProcessLimits
) -> None:
    place = tmp_path / "place"
    (gone := place / "harness-4194305-00ff").mkdir(parents=True)  # the program that made it has ended
    (ours := place / f"harness-{os.getpid()}-00ff").mkdir()
    line = f"cd {place}/harness-*-????????; until read -r first < cgroup.procs; do :; done; [ $$ = $first ] || exit 1"
    line += f"; [ $(cat memory.max) = {LIMIT} ] || exit 2"
    line += "; printf 'max 9\\noom_kill 2\\n' > memory.events"
    result = await run(MemoryGroups(place, LIMIT), line, root, trace, limits)
    assert (result.exit_code, result.memory_kills, result.memory_limit) == (0, 2, LIMIT)
    assert result.memory_note == "the kernel killed 2 processes of it at its memory limit of 64 MiB"
    assert (gone.exists(), ours.exists()) == (False, True)


async def test_a_command_whose_memory_cannot_be_limited_does_not_run(
    root: Path, trace: Trace, limits: ProcessLimits
) -> None:
    class Vanishing(MemoryGroups):
        def make(self) -> MemoryGroup:
            return MemoryGroup(root / "gone", LIMIT)

    with pytest.raises(OSError, match=r"its memory cannot be limited \(bash_memory\): No such file"):
        await run(Vanishing(root, LIMIT), "sleep 60", root, trace, limits)
    assert trace.living() == []


@pytest.fixture
def real_group() -> Iterator[Path]:
    """A control group of the kernel, of any kind."""
    try:
        found = own_group(Path("/proc/self/mountinfo").read_text(), Path("/proc/self/cgroup").read_text())
        folder = (found[0] if found else Path("/nowhere")) / f"harness-test-{os.getpid()}"
        folder.mkdir()
    except OSError:
        pytest.skip("this user may make no control group here")
    yield folder
    assert not folder.exists()


def test_a_process_moves_with_its_children_and_an_empty_group_goes(real_group: Path) -> None:
    group = MemoryGroup(real_group, LIMIT)
    with Popen(["bash", "-c", "sleep 60 & echo; wait"], stdout=PIPE, start_new_session=True) as shell:
        assert shell.stdout is not None
        shell.stdout.readline()
        leader = psutil.Process(shell.pid)
        members = {leader, *leader.children()}
        group.add(leader)
        assert (real_group / "cgroup.procs").read_text().split() == sorted(str(one.pid) for one in members)
        group.remove()
        assert real_group.exists()
        for one in members:
            one.kill()
        psutil.wait_procs(members, timeout=60)
    while (real_group / "cgroup.procs").read_text():
        pass
    group.remove()


def test_a_limit_that_has_no_effect_is_reported() -> None:
    reports: list[str] = []
    groups = memory_limit(Settings(bash_memory=LIMIT), reports.append)
    assert [one.partition(":")[0] for one in reports] == (
        ["Commands have no memory limit, so bash_memory has no effect"] if groups is None else []
    )
    assert memory_limit(Settings(), reports.append) is None


async def test_the_kernel_ends_what_needs_more(root: Path, trace: Trace, limits: ProcessLimits) -> None:
    try:
        groups = memory_groups(LIMIT)
    except HarnessError as error:
        pytest.skip(f"no memory limit here: {error}")
    line = "python3 -c 'print(len(bytearray(10**9)))'; exit 3"
    result = await run(groups, line, root, trace, limits)
    assert (result.exit_code, result.memory_kills, result.memory_limit) == (3, 1, LIMIT)
