"""Commands that only look are held to that by the kernel, and nothing else is."""

import asyncio
import ctypes
import os
import platform
import shlex
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from harness.processes import Processes, ProcessResult
from harness.sandbox import Access, Profile, ProfileName
from harness.sandbox.landlock import LandlockSandbox, landlock_version, not_held
from harness.sandbox.system_calls import seccomp_filter
from tests.cases import cases, rows
from tests.processes.traces import Shell, Trace, until
from tests.whole import examples

pytestmark = pytest.mark.anyio
landlock = pytest.mark.skipif(not landlock_version(), reason="the kernel does not offer Landlock")
scopes = pytest.mark.skipif(landlock_version() < 6, reason="the kernel's Landlock does not know scopes")
PYTHON = shlex.quote(sys.executable)
EVERYTHING = Profile(ProfileName.LOOK, readable=("/",))
SYSTEM = ("/usr", "/bin", "/lib", "/lib64", "/etc/ld.so.cache")
"""What bash needs to start."""


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where private folders are made; none may be left."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert list(folder.iterdir()) == []


def state(root: Path) -> dict[str, tuple[int, int, str | bytes]]:
    """Everything in a folder that a command could change."""
    found: dict[str, tuple[int, int, str | bytes]] = {}
    for path in sorted(root.rglob("*")):
        info = path.lstat()
        is_file = stat.S_ISREG(info.st_mode)
        found[str(path.relative_to(root))] = (
            *(info.st_mode, info.st_nlink),
            path.read_bytes() if is_file else str(path.readlink()) if path.is_symlink() else "",
        )
    return found


WRITES = {name: line.replace("PYTHON", PYTHON) for name, line in rows(__file__, "writes")}
if landlock_version() >= 3:
    WRITES["cut by its name"] = f"{PYTHON} -c \"import os; os.truncate('kept', 0)\""


@landlock
@pytest.mark.parametrize("line", WRITES.values(), ids=WRITES)
async def test_nothing_is_written(line: str, shell: Shell, root: Path) -> None:
    (root / "folder").mkdir()
    (root / "folder" / "inner").write_text("inner\n")
    (root / "empty").mkdir()
    (root / "kept").write_text("abc\n")
    (root / "link").symlink_to("kept")
    before, heard = state(root), bytearray()
    finished = await shell.run(f"{line}; code=$?; echo done; exit $code", heard, profile=ProfileName.LOOK)
    assert state(root) == before
    assert b"done" in heard
    refusals = ("Permission denied", "Operation not permitted", "PermissionError", "not permitted")
    assert any(text in heard.decode() for text in refusals), (finished, heard)


@pytest.mark.skipif(landlock_version() < 5, reason="the kernel's Landlock does not know ioctl")
async def test_no_device_is_controlled(shell: Shell) -> None:
    ours, theirs = os.openpty()
    try:
        program = f"import os, termios; termios.tcgetattr(os.open({os.ttyname(theirs)!r}, os.O_RDONLY | os.O_NOCTTY))"
        line, heard = f"{PYTHON} -c {shlex.quote(program)}", bytearray()
        assert await shell.run(line) == ProcessResult(0)
        assert await shell.run(line, heard, profile=ProfileName.LOOK) == ProcessResult(1)
    finally:
        os.close(ours)
        os.close(theirs)
    assert b"Permission denied" in heard


@landlock
async def test_other_commands_write_and_keep_their_temporary_folder(shell: Shell, root: Path) -> None:
    (root / "kept").write_text("abc\n")
    assert await shell.run("touch new; mkdir folder; mv kept folder/; echo $TMPDIR > outside") == ProcessResult(0)
    assert sorted(path.name for path in root.iterdir()) == ["folder", "new", "outside"]
    assert (root / "outside").read_text().strip() == os.environ.get("TMPDIR", "")


@scopes
async def test_no_process_outside_is_signalled(shell: Shell, root: Path) -> None:
    other = await asyncio.create_subprocess_exec("sleep", "60")
    try:
        heard = bytearray()
        await shell.run(f"kill -KILL {other.pid}; kill -0 {os.getpid()}", heard, profile=ProfileName.LOOK)
        assert heard.count(b"Operation not permitted") == 2
        assert other.returncode is None
    finally:
        other.kill()
        assert await other.wait() == -signal.SIGKILL


@scopes
async def test_no_abstract_socket_outside_is_reached(shell: Shell) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(b"")  # the kernel chooses a name
        server.listen()
        name = server.getsockname()
        program = f"import socket; socket.socket(socket.AF_UNIX).connect({name!r}); print('connected')"
        line, heard, outside = f"{PYTHON} -c {shlex.quote(program)}", bytearray(), bytearray()
        await shell.run(line, heard, profile=ProfileName.LOOK)
        await shell.run(line, outside)
    assert b"PermissionError" in heard
    assert outside == b"connected\n"


@landlock
@cases(__file__, "looks", "name line output")
async def test_looking_is_as_before(name: str, line: str, output: str, shell: Shell, root: Path) -> None:
    (root / "kept").write_text("abc\n")
    (root / "big").write_bytes((b"x" * 63 + b"\n") * 16_384)
    heard = bytearray()
    await shell.run(line, heard, profile=ProfileName.LOOK)
    assert heard.decode() == output
    assert sorted(path.name for path in root.iterdir()) == ["big", "kept"]


@landlock
@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
async def test_git_looks_at_a_real_repository(shell: Shell, root: Path) -> None:
    (root / "kept").write_text("abc\n")
    made = "git init -q -b main . && git add . && git -c user.name=a -c user.email=a@b commit -qm first"
    assert await shell.run(made) == ProcessResult(0)
    os.utime(root / "kept", (1, 1))  # git would note the new time in its index
    (root / "new").write_text("x\n")
    before, heard = state(root), bytearray()
    assert await shell.run(
        "git status --short; git log --format=%s; git diff --stat", heard, profile=ProfileName.LOOK
    ) == ProcessResult(0)
    assert heard.decode() == "?? new\nfirst\n"
    assert state(root) == before


@landlock
async def test_the_program_itself_is_not_restricted(shell: Shell, root: Path) -> None:
    async def free() -> None:
        (root / "ours").write_text("x")
        (root / "ours").unlink()
        assert await shell.run("touch theirs && rm theirs") == ProcessResult(0)

    await shell.run("true")
    threads = threading.active_count()
    for _ in range(3):
        assert await shell.run("touch no", profile=ProfileName.LOOK) == ProcessResult(1)
        await free()
    await until(lambda: threading.active_count() <= threads)
    await asyncio.to_thread(lambda: (root / "in a thread").write_text("x"))
    assert "NoNewPrivs:\t0" in Path("/proc/self/status").read_text()


@landlock
async def test_several_run_at_once_each_with_a_folder_of_its_own(shell: Shell, root: Path) -> None:
    async def one() -> tuple[ProcessResult, str]:
        heard = bytearray()
        line = ': > "$TMPDIR/mine"; sleep 0.3; ls "$TMPDIR"; echo "$TMPDIR"; echo x >> shared'
        finished = await shell.run(line, heard, profile=ProfileName.LOOK)
        return finished, heard.decode()

    (root / "shared").write_text("")
    free = asyncio.ensure_future(shell.run("echo y >> shared"))
    held = await asyncio.gather(*(one() for _ in range(4)))
    assert await free == ProcessResult(0)
    folders = set()
    for finished, text in held:
        listed, folder, refused = text.splitlines()
        folders.add(folder)
        assert (finished, listed, "Permission denied" in refused) == (ProcessResult(1), "mine", True)
    assert len(folders) == 4
    assert (root / "shared").read_text() == "y\n"


@landlock
async def test_one_cannot_write_into_the_folder_of_another(shell: Shell, temporary: Path) -> None:
    other = asyncio.ensure_future(shell.run("sleep 60", profile=ProfileName.LOOK))
    await until(lambda: any(temporary.iterdir()))
    (folder,) = temporary.iterdir()
    assert await shell.run(f"touch {folder}/x", profile=ProfileName.LOOK) == ProcessResult(1)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    other.cancel()
    await asyncio.wait({other})


@landlock
@pytest.mark.parametrize("line", ["echo up; sleep 60", "trap '' TERM; echo up; while :; do sleep 0.05; done"])
async def test_a_limit_and_a_cancellation_end_it_as_before(line: str, shell: Shell, trace: Trace) -> None:
    finished = await shell.run(line, profile=ProfileName.LOOK, time_s=0.3)
    assert (finished.timed_out, finished.left) == (True, ())
    assert trace.left(within_s=20) == []
    heard = bytearray()
    running = asyncio.ensure_future(shell.run(line, heard, profile=ProfileName.LOOK))
    await until(lambda: b"up" in heard)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert trace.left(within_s=20) == []


@landlock
async def test_what_leaves_its_session_is_found(shell: Shell, trace: Trace) -> None:
    finished = await shell.run("setsid sleep 60 & echo up; wait", profile=ProfileName.LOOK, time_s=0.3)
    assert (finished.timed_out, finished.left) == (True, ())
    assert trace.left(within_s=20) == []


@landlock
async def test_a_command_in_the_background_is_held_as_well(
    processes: Processes, trace: Trace, root: Path, tmp_path: Path, temporary: Path
) -> None:
    child = await processes.start(
        ("bash", "-c", "echo seen; touch new; sleep 60"),
        cwd=root,
        environment=trace.environment,
        output=tmp_path / "out" / "b1.out",
        profile=ProfileName.LOOK,
    )
    await until(lambda: b"cannot touch" in child.output.read_bytes())
    assert len(list(temporary.iterdir())) == 1
    await child.end()
    assert child.output.read_text().startswith("seen\n")
    assert list(root.iterdir()) == []


@landlock
async def test_a_program_that_is_not_there_raises_and_leaves_nothing(processes: Processes, root: Path) -> None:
    async def attempt() -> None:
        with pytest.raises(FileNotFoundError):
            await processes.run(
                ("/no/such",), cwd=root, environment={}, sink=bytearray().extend, profile=ProfileName.LOOK
            )

    await attempt()
    before = psutil.Process().num_fds()
    for _ in range(5):
        await attempt()
    await until(lambda: psutil.Process().num_fds() <= before)


@landlock
async def test_without_room_for_a_private_folder_it_still_runs_and_writes_nothing(
    shell: Shell, root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    heard = bytearray()
    assert await shell.run("touch new; echo ${TMPDIR-unset}", heard, profile=ProfileName.LOOK) == ProcessResult(0)
    assert (root / "new").exists() is False
    assert b"Permission denied" in heard


ONE_COMMAND = """
import asyncio, os, sys
from pathlib import Path
from harness.processes import Processes
from harness.sandbox import ProfileName
from harness.sandbox.landlock import landlock_version
from harness.sandbox.sandbox import Sandbox

async def main():
    processes, heard = Processes(sandbox=Sandbox(search_path="/no/programs")), bytearray()
    line = "touch new && echo ${TMPDIR-unset}"
    environment = {"PATH": os.environ["PATH"]}
    await processes.run(
        ("bash", "-c", line), cwd=Path.cwd(), environment=environment, sink=heard.extend, profile=ProfileName.LOOK
    )
    await processes.aclose()
    print(landlock_version(), heard.decode().strip())

"""
WITHOUT_THE_CALL = """
import ctypes, struct

steps = ((0x20, 0, 0, 0), (0x15, 0, 1, 444), (0x06, 0, 0, 0x50000 | 38), (0x06, 0, 0, 0x7FFF0000))
filter = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in steps))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, struct.pack("HP", len(steps), ctypes.addressof(filter)), 0, 0) == 0
"""
"""landlock_create_ruleset is answered with ENOSYS, as an older kernel and many containers do."""


@pytest.mark.skipif(sys.platform != "linux", reason="needs seccomp")
def test_where_the_kernel_has_no_landlock_the_command_runs_without(root: Path) -> None:
    program = f"{ONE_COMMAND}{WITHOUT_THE_CALL}\nasyncio.run(main())"
    done = subprocess.run((sys.executable, "-c", program), cwd=root, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "0 unset\n"), done.stderr
    assert (root / "new").exists()


@landlock
def test_where_the_kernel_refuses_nothing_starts(root: Path) -> None:
    """Sixteen restrictions, one in the other, are the most that a thread may have."""
    program = """
from harness.sandbox import Profile, ProfileName, SandboxError
from harness.sandbox.landlock import LandlockSandbox

levels = []

def deeper():
    levels.append(1)
    sandbox = LandlockSandbox(Profile(ProfileName.LOOK, readable=("/",)))
    try:
        return sandbox.start(deeper)
    finally:
        sandbox.close()

try:
    deeper()
except SandboxError as error:
    print(len(levels), error.strerror)
"""
    done = subprocess.run((sys.executable, "-c", program), cwd=root, capture_output=True, text=True, check=False)
    assert done.stdout == "17 the kernel refuses to make its sandbox (Landlock): Argument list too long\n", done.stderr


@landlock
def test_what_a_start_raises_is_raised_and_garbage_is_collected_again() -> None:
    import gc

    sandbox = LandlockSandbox(EVERYTHING)
    with pytest.raises(ZeroDivisionError):
        sandbox.start(lambda: 1 // 0)
    assert gc.isenabled()
    assert sandbox.start(gc.isenabled) is False
    gc.disable()
    assert sandbox.start(gc.isenabled) is False
    assert not gc.isenabled()
    gc.enable()
    sandbox.close()
    sandbox.close()


@pytest.mark.skipif(sys.platform != "linux" or platform.machine() != "x86_64", reason="the number of its system call")
def test_the_version_is_what_the_kernel_says() -> None:
    assert landlock_version() == max(0, ctypes.CDLL(None).syscall(444, None, 0, 1))


def held(profile: Profile, *command: str, version: int | None = None) -> "subprocess.CompletedProcess[str]":
    """What a command does that starts in the sandbox of a profile."""
    sandbox = LandlockSandbox(profile, version)
    try:
        return sandbox.start(
            lambda: subprocess.run(
                command, capture_output=True, text=True, check=False, env={"PATH": os.defpath, **sandbox.environment}
            )
        )
    finally:
        sandbox.close()


NAMES = ("a", "b", "c")
TRIES = """
shopt -s nullglob
for path; do
    if [[ -d $path ]]; then
        names=("$path"/*)
        { : > "$path/new"; } 2> /dev/null && made=made || made=
        echo "$path ${#names[@]} $made"
    else
        { : < "$path"; } 2> /dev/null && read=read || read=
        { : >> "$path"; } 2> /dev/null && written=written || written=
        echo "$path $read $written"
    fi
done
"""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two levels of folders, with files in the lower one."""
    top = tmp_path_factory.mktemp("tree").resolve()
    for outer in NAMES:
        for inner in NAMES:
            (top / outer / inner).mkdir(parents=True)
            (top / outer / inner / "file").write_text("x")
        (top / outer / "file").write_text("x")
    return top


@landlock
@given(data=st.data())
@settings(max_examples=examples(300), suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_files_answer_as_the_longest_path_says(tree: Path, data: st.DataObject) -> None:
    paths = [str(tree), *map(str, sorted(tree.rglob("*")))]
    chosen = st.lists(st.sampled_from(paths), max_size=3, unique=True).map(tuple)
    readable, writable, read_only, hidden = (data.draw(chosen) for _ in range(4))
    profile = Profile(ProfileName.WORK, (*SYSTEM, *readable), writable, read_only, hidden)
    done = held(profile, "bash", "-c", TRIES, "bash", *paths)
    answers = {line.split(" ")[0]: line.split(" ")[1:] for line in done.stdout.splitlines()}
    assert answers.keys() == set(paths), done.stderr
    weaker = {access: {path for path in paths if profile.access(path) < access} for access in Access}
    for path in paths:
        access = profile.access(path)
        if not Path(path).is_dir():
            assert answers[path] == ["read" * (access >= Access.READ), "written" * (access is Access.WRITE)], path
            continue
        (Path(path) / "new").unlink(missing_ok=True)
        listed, made = answers[path]
        if access >= Access.READ:
            assert listed != "0", path
        inside = {other for other in weaker[Access.WRITE] if other.startswith(f"{path}/")}
        assert (made == "made") is (access is Access.WRITE and not inside), path


@landlock
def test_nothing_outside_is_listed_run_or_read_as_another_user(tree: Path) -> None:
    program = tree / "a" / "program"
    program.write_text("#!/bin/sh\necho ran\n")
    program.chmod(0o755)
    profile = Profile(ProfileName.LOOK, readable=SYSTEM)
    line = f"ls {tree}; cat {program}; {program}; ls / /root /home /run /var /tmp; cat /proc/{os.getpid()}/environ"
    done = held(profile, "bash", "-c", line)
    program.unlink()
    assert done.stdout == ""
    assert done.stderr.count("Permission denied") == len(done.stderr.splitlines()) >= 7


@landlock
def test_root_keeps_its_rights_over_files_and_processes_only() -> None:
    done = held(EVERYTHING, "grep", "^CapEff", "/proc/self/status")
    assert int(done.stdout.split()[1], 16) & ~0b100_1111_1011 == 0, "see capabilities(7): clock, network, devices, …"


@landlock
def test_a_command_inherits_no_descriptor() -> None:
    done = held(EVERYTHING, "bash", "-c", "echo /proc/self/fd/*")
    assert done.stdout == "/proc/self/fd/0 /proc/self/fd/1 /proc/self/fd/2 /proc/self/fd/3\n"  # 3: the folder it lists


@landlock
def test_temporary_files_move_between_folders() -> None:
    rename = f"{PYTHON} -c \"import os; os.rename('a/f', 'b/f')\""
    line = f'cd "$TMPDIR" && mkdir a b && echo x > a/f && ln a/f b/g && {rename}; ls b'
    assert held(EVERYTHING, "bash", "-c", line).stdout == "f\ng\n"


@landlock
@pytest.mark.parametrize("version", range(1, landlock_version() + 1))
def test_each_version_holds_what_it_knows(version: int, tree: Path) -> None:
    """An older kernel, as far as a newer one can act as one."""
    profile = Profile(ProfileName.LOOK, readable=(*SYSTEM, str(tree)))
    with socket.create_server(("127.0.0.1", 0)) as server, subprocess.Popen(("sleep", "60")) as other:
        tries = {
            "reading outside": "cat /etc/passwd",
            "writing": f": >> {tree}/a/file",
            "emptying a file by its name": f"truncate -c -s 0 {tree}/a/file",
            "TCP": f": < /dev/tcp/127.0.0.1/{server.getsockname()[1]}",
            "signals and abstract sockets": f"kill -0 {other.pid}",
        }
        held_to = {
            what for what, line in tries.items() if held(profile, "bash", "-c", line, version=version).returncode != 0
        }
        other.kill()
    missing = set(not_held(version))
    filtered = bool(seccomp_filter(changes=True))
    assert held_to == {"reading outside", "writing", *tries} - missing | {"emptying a file by its name"} & held_to
    assert len(missing) == sum(version < since for since in ((3, 5, 6) if filtered else (3, 4, 5, 6)))


def test_a_kernel_without_landlock_starts_nothing() -> None:
    program = f"""{WITHOUT_THE_CALL}
from harness.sandbox import Profile, ProfileName, SandboxError
from harness.sandbox.landlock import LandlockSandbox

try:
    LandlockSandbox(Profile(ProfileName.LOOK)).start(lambda: print("started"))
except SandboxError as error:
    print(error.strerror)
"""
    done = subprocess.run((sys.executable, "-c", program), capture_output=True, text=True, check=False)
    assert done.stdout == "the kernel refuses to make its sandbox (Landlock): Function not implemented\n", done.stderr


@landlock
@pytest.mark.skipif(not seccomp_filter(changes=False), reason="no filter for this machine")
def test_what_landlock_lets_through_is_refused(tree: Path) -> None:
    file, server = tree / "a" / "file", socket.socket(socket.AF_UNIX)
    server.bind(str(tree / "server"))
    server.listen()
    before = file.stat()
    program = f"""
import os, socket

for attempt in (
    lambda: os.chmod({str(file)!r}, 0o600),
    lambda: os.chown({str(file)!r}, 1, 1),
    lambda: os.utime({str(file)!r}, (1, 1)),
    lambda: os.setxattr({str(file)!r}, "user.x", b"y"),
    lambda: socket.socket(socket.AF_UNIX).connect({str(tree / "server")!r}),
    lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM),
):
    try:
        attempt()
    except PermissionError:
        print("refused")
socket.socket(socket.AF_NETLINK, socket.SOCK_RAW).close()
a, b = socket.socketpair()
a.send(b"x")
print(b.recv(1))
"""
    profile = Profile(ProfileName.LOOK, readable=("/",))
    done = held(profile, sys.executable, "-c", program)
    server.close()
    (tree / "server").unlink()
    assert done.stdout == "refused\n" * 6 + "b'x'\n", done.stderr
    assert file.stat() == before
