"""Commands in a sandbox live and end as without one, and a sandbox that breaks lets nothing run outside."""

import asyncio
import os
import platform
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest

from harness.processes import Processes, ProcessLimits, ProcessResult
from harness.sandbox import Allowance, CommandTerms, ProfileName, SandboxError, SandboxLevel
from harness.sandbox.marked_files import Marks
from harness.sandbox.places import Places
from harness.sandbox.proxy import CommandNetwork
from harness.sandbox.sandbox import Sandbox, without_secrets
from harness.sandbox.system_calls import namespace_filter
from tests.processes.traces import Shell, Trace, until
from tests.sandbox.test_proxy import TALK, Gate, ok, server

pytestmark = pytest.mark.anyio
LOOK, WORK, FREE = ProfileName
HELD = [LOOK, WORK]
OURS = Sandbox(search_path=os.environ["PATH"])
full = pytest.mark.skipif(OURS.state.level is not SandboxLevel.FULL, reason=f"no full sandbox here: {OURS.state.why}")


@pytest.fixture
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where private folders are made."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@pytest.fixture
def program(tmp_path: Path) -> Path:
    """A bubblewrap that a test may break."""
    found = shutil.which("bwrap")
    folder = tmp_path / "programs"
    folder.mkdir()
    if found is not None:
        shutil.copy(found, folder / "bwrap")
    return folder / "bwrap"


@pytest.fixture
async def shell(
    program: Path, temporary: Path, root: Path, trace: Trace, limits: ProcessLimits
) -> AsyncIterator[Shell]:
    """Runs command lines with their profiles; after the test nothing of them may be left."""
    sandbox = Sandbox(roots=lambda _: (root,), search_path=str(program.parent))
    processes = Processes(limits, sandbox=sandbox)
    yield Shell(processes, trace, root, limits)
    assert await processes.aclose() == ()
    await sandbox.aclose()
    assert list(temporary.iterdir()) == []
    assert trace.left(within_s=20) == []


# ── what a command may ──────────────────────────────────────────────────────────────────────────


@full
@pytest.mark.parametrize(("profile", "made"), [(LOOK, False), (WORK, True)])
async def test_a_profile_holds_a_command_to_its_places(
    profile: ProfileName, made: bool, shell: Shell, root: Path, tmp_path: Path
) -> None:
    (tmp_path / "outside").write_text("secret\n")
    (root / "inside").write_text("text\n")
    heard = bytearray()
    await shell.run(f"cat inside {tmp_path}/outside; touch new {tmp_path}/new", heard, profile=profile)
    assert b"text" in heard
    assert b"secret" not in heard
    assert ((root / "new").exists(), (tmp_path / "new").exists()) == (made, False)


@full
async def test_a_path_that_the_user_allows_one_command_is_its_own(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    command = ("bash", "-c", f"touch {tmp_path}/outside/new")
    for allowed in ((str(tmp_path / "outside"),), ()):
        child = await shell.processes.pipe(
            command,
            cwd=shell.root,
            environment=shell.trace.environment,
            sink=bytearray().extend,
            profile=WORK,
            terms=CommandTerms(Allowance(allowed)),
        )
        await child.wait()
        assert [path.name for path in (tmp_path / "outside").iterdir()] == ["new"] * len(allowed)
        (tmp_path / "outside" / "new").unlink(missing_ok=True)


@full
async def test_keys_that_the_entry_of_a_server_names_stay_hidden(
    tmp_path: Path, root: Path, trace: Trace, limits: ProcessLimits
) -> None:
    keys, notes, key = tmp_path / "keys", tmp_path / "notes", tmp_path / "more" / "id"
    for file in (keys / "id", notes / "n", key):
        file.parent.mkdir()
        file.write_text(f"{file.parent.name}\n")
    marks = Marks(lambda path: path == str(key) or path.startswith(f"{keys}/"), lambda path: False)
    places = Places(str(Path.home()), os.environ, marks)
    sandbox = Sandbox(places=lambda: places, roots=lambda _: (root,), search_path=os.environ["PATH"])
    processes = Processes(limits, sandbox=sandbox)
    heard = bytearray()
    child = await processes.pipe(
        ("bash", "-c", f"cat {keys}/id {notes}/n {key}; touch {keys}/new {notes}/new"),
        cwd=root,
        environment=trace.environment,
        sink=heard.extend,
        profile=WORK,
        terms=CommandTerms(Allowance((str(keys), str(notes), str(key)), server=True)),
    )
    await child.wait()
    await processes.aclose()
    await sandbox.aclose()
    assert [f"{name}\n".encode() in heard for name in ("keys", "notes", "more")] == [False, True, False]
    assert ((keys / "new").exists(), (notes / "new").exists()) == (False, True)


@full
async def test_the_private_folder_stays_between_commands_and_is_not_that_of_the_machine(shell: Shell) -> None:
    heard = bytearray()
    await shell.run("echo kept > /tmp/one; echo $TMPDIR > $TMPDIR/two; touch /var/tmp/three", profile=WORK)
    await shell.run("cat /tmp/one /tmp/two; ls /tmp /var/tmp", heard, profile=WORK)
    assert heard.decode().splitlines()[:2] == ["kept", "/tmp"]
    assert heard.count(b"three") == 2
    assert not Path("/tmp/one").exists()


@full
async def test_a_cache_of_a_program_that_is_not_known_is_kept_for_the_session(shell: Shell) -> None:
    cache, heard = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache", "of-nobody"), bytearray()
    await shell.run(f"mkdir -p {cache} && echo kept > {cache}/a", profile=WORK)
    await shell.run(f"cat {cache}/a", heard, profile=WORK)
    assert heard == b"kept\n"
    assert not cache.exists()


@full
@pytest.mark.parametrize("profile", HELD)
async def test_a_command_inherits_no_descriptor(profile: ProfileName, shell: Shell, root: Path) -> None:
    heard = bytearray()
    with (root / "open").open("w") as ours:
        os.set_inheritable(ours.fileno(), True)  # noqa: FBT003
        await shell.run("ls /proc/self/fd", heard, profile=profile)
    assert heard.split() == [b"0", b"1", b"2", b"3"]  # and the one of the listing


@full
@pytest.mark.skipif(not namespace_filter(), reason="no filter for this machine")
@pytest.mark.parametrize("profile", HELD)
async def test_a_command_reaches_neither_keyrings_nor_other_systems(profile: ProfileName, shell: Shell) -> None:
    heard = bytearray()
    add_key = {"x86_64": 248, "aarch64": 217}[platform.machine()]
    program = f"import ctypes, socket\nprint(ctypes.CDLL(None).syscall({add_key}, b'user', b'x', b'y', 1, -4))"
    await shell.run(f'{sys.executable} -c "{program}; socket.socket(socket.AF_VSOCK)"', heard, profile=profile)
    assert heard.startswith(b"-1\n")
    assert b"Address family not supported" in heard


@full
@pytest.mark.parametrize(("profile", "reached"), [(WORK, True), (LOOK, False)])
async def test_only_work_has_a_way_to_allowed_hosts_and_its_result_names_the_refused_ones(
    profile: ProfileName, *, reached: bool, root: Path, trace: Trace, limits: ProcessLimits
) -> None:
    heard = bytearray()
    async with server(ok) as (port, _):
        gate = Gate([f"localhost:{port}"])
        sandbox = Sandbox(roots=lambda _: (root,), hosts=lambda environment, *_: CommandNetwork(gate, environment))
        processes = Processes(limits, sandbox=sandbox)
        asks = f"ask('x', {port}), ask('CONNECT a.example:443 HTTP/1.1\\r\\n\\r\\n')"
        command = (sys.executable, "-c", f"{TALK}\nprint({asks})")
        result = await processes.run(
            command, cwd=root, environment=trace.environment, sink=heard.extend, profile=profile
        )
        await processes.aclose()
        await sandbox.aclose()
    assert (b"hello" in heard) is reached
    assert [(one.subject, one.why) for one in result.denials] == [("a.example:443", "not listed")] * reached
    assert gate.asked == ["a.example:443"] * reached


# ── how it lives and ends ───────────────────────────────────────────────────────────────────────


@full
@pytest.mark.parametrize("profile", HELD)
@pytest.mark.parametrize(
    ("line", "code"),
    [("exit 0", 0), ("exit 3", 3), ("kill -KILL $$", 137), ("kill -SEGV $$", 139), ("no-such-program", 127)],
)
async def test_the_exit_code_is_that_of_the_command(line: str, code: int, profile: ProfileName, shell: Shell) -> None:
    assert await shell.run(line, profile=profile) == ProcessResult(code)


@full
@pytest.mark.parametrize("profile", HELD)
@pytest.mark.parametrize("line", ["sleep 60", "trap '' TERM; while :; do sleep 1; done", "setsid sleep 60 & wait"])
async def test_a_command_that_takes_too_long_ends_with_all_its_children(
    line: str, profile: ProfileName, shell: Shell
) -> None:
    finished = await shell.run(line, profile=profile, time_s=0.5)
    assert (finished.timed_out, finished.left) == (True, ())
    assert finished.forced is line.startswith("trap")
    assert shell.trace.living() == []


@full
@pytest.mark.parametrize("profile", HELD)
async def test_what_a_command_leaves_running_lives_on_is_named_and_can_be_ended(
    profile: ProfileName, shell: Shell
) -> None:
    heard = bytearray()
    child = await shell.processes.pipe(
        ("bash", "-c", "sleep 61 & setsid sleep 62 & echo up"),
        cwd=shell.root,
        environment=shell.trace.environment,
        sink=heard.extend,
        profile=profile,
        agent="a1",
    )
    finished = await child.wait()
    assert (finished.exit_code, bytes(heard)) == (0, b"up\n")
    assert [left.name for left in finished.left] == ["sleep", "sleep"]
    assert {line for process in shell.trace.living() for line in process.cmdline()[1:2]} >= {"61", "62"}
    assert len(await shell.processes.end_left("a1")) >= 2
    assert shell.trace.living() == []


@full
@pytest.mark.parametrize("profile", HELD)
async def test_a_background_command_can_be_handed_over(profile: ProfileName, shell: Shell, tmp_path: Path) -> None:
    child = await shell.processes.start(
        ("bash", "-c", "echo up; sleep 63"),
        cwd=shell.root,
        environment=shell.trace.environment,
        output=tmp_path / "output",
        profile=profile,
    )
    await until(lambda: b"up" in child.output.read_bytes())
    child.hand_over()
    assert await shell.processes.aclose() == ()
    await shell.processes.sandbox.aclose()
    try:
        assert "63" in {word for process in shell.trace.living() for word in process.cmdline()}
    finally:
        shell.trace.kill()


DOOMED = """
import asyncio, os, sys
from pathlib import Path
from harness.processes import Processes
from harness.sandbox import ProfileName
from harness.sandbox.sandbox import Sandbox

async def main(root):
    processes = Processes(sandbox=Sandbox(roots=lambda _: (root,), search_path=os.environ["PATH"]))
    await processes.start(
        ("bash", "-c", "setsid sleep 64 & echo up; sleep 64"),
        cwd=root, environment=os.environ, output=root / "output", profile=ProfileName.WORK,
    )
    print("started", flush=True)
    await asyncio.sleep(60)

asyncio.run(main(Path(sys.argv[1])))
"""


@full
async def test_the_program_is_killed_and_nothing_of_its_sandboxes_lives_on(
    root: Path, trace: Trace, temporary: Path
) -> None:
    program = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", DOOMED, str(root)),
        env={**trace.environment, "TMPDIR": str(temporary)},
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        assert program.stdout is not None
        assert await program.stdout.readline() == b"started\n"
        await until(lambda: (root / "output").read_bytes() == b"up\n")
        program.send_signal(signal.SIGKILL)
        await program.wait()
        assert trace.left(within_s=20) == []
    finally:
        trace.kill()


# ── a sandbox that breaks ───────────────────────────────────────────────────────────────────────


@full
async def test_where_bubblewrap_is_gone_nothing_starts_and_the_machine_is_tried_again(
    shell: Shell, program: Path, root: Path
) -> None:
    assert await shell.run("true", profile=WORK) == ProcessResult(0)
    program.unlink()
    with pytest.raises(SandboxError, match=r"its sandbox cannot be made, because .*bwrap is gone .*Call it again"):
        await shell.run("touch new", profile=WORK)
    with pytest.raises(SandboxError, match=r"bubblewrap is not installed.*the user is asked"):
        await shell.run("touch new", profile=WORK)
    assert shell.processes.sandbox.state.level is not SandboxLevel.FULL
    assert not (root / "new").exists()


@full
async def test_where_the_sandbox_cannot_be_made_the_command_did_not_begin(
    shell: Shell, program: Path, root: Path
) -> None:
    assert (await shell.run("exit 1", profile=WORK)).not_begun == ""
    sandbox = shell.processes.sandbox
    before = sandbox.state
    assert before.level is SandboxLevel.FULL
    program.unlink()
    program.write_text("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2; exit 1\n")
    program.chmod(0o755)
    finished = await shell.run("touch new", profile=WORK)
    assert finished.exit_code == 1
    assert finished.not_begun.startswith("its sandbox could not be made")
    assert sandbox.state is before, "nobody who shows the state waits for a new try"
    assert sandbox.granted(WORK) is None
    assert sandbox.state.level is not SandboxLevel.FULL
    assert not (root / "new").exists()


@full
@pytest.mark.parametrize("starts", [True, False])
async def test_nothing_of_a_command_stays_open_here(root: Path, starts: bool) -> None:
    sandbox = Sandbox(roots=lambda _: (root,), search_path=os.environ["PATH"])
    before = {*Path("/proc/self/fd").iterdir()}
    entered = await sandbox.enter(LOOK, ("true",), cwd=root, environment={})
    if starts:
        with entered.start(partial(subprocess.Popen, entered.command, pass_fds=entered.pass_fds)) as child:
            assert child.wait(60) == 0
        assert await asyncio.to_thread(entered.is_empty, 20)
    entered.close()
    await until(lambda: {*Path("/proc/self/fd").iterdir()} <= before)
    await sandbox.aclose()


@full
async def test_the_machine_is_tried_once_and_not_before_each_command(root: Path, program: Path) -> None:
    program.rename(program.with_name("real"))
    program.write_text('#!/bin/sh\necho >> "$(dirname "$0")/count"\nexec "$(dirname "$0")/real" "$@"\n')
    program.chmod(0o755)
    sandbox = Sandbox(roots=lambda _: (root,), search_path=str(program.parent))
    assert sandbox.state.level is SandboxLevel.FULL
    tried = program.with_name("count").read_text()
    for _ in range(2):
        assert sandbox.granted(WORK)
    assert program.with_name("count").read_text() == tried


@full
async def test_a_workspace_that_is_the_whole_disk_has_no_sandbox(root: Path) -> None:
    sandbox = Sandbox(roots=lambda _: (Path("/"),), search_path=os.environ["PATH"])
    assert sandbox.state.in_words == "none: the workspace is the whole disk; to make it full: start in a smaller folder"
    assert sandbox.granted(WORK) is None
    with pytest.raises(SandboxError, match="the whole disk"):
        await sandbox.enter(WORK, ("true",), cwd=root, environment={})
    entered = await sandbox.enter(LOOK, ("true",), cwd=root, environment={})
    assert entered.command == ("true",)


@full
async def test_a_command_starts_by_the_look_at_the_disk_that_decided_it(root: Path) -> None:
    looks: list[Path | None] = []

    def roots(cwd: Path | None) -> tuple[Path, ...]:
        looks.append(cwd)
        return (root,)

    sandbox = Sandbox(roots=roots, search_path=os.environ["PATH"])
    for granted, looked in ((sandbox.granted(WORK, root), False), (None, True)):
        looks.clear()
        entered = await sandbox.enter(WORK, ("true",), cwd=root, environment={}, terms=CommandTerms(granted=granted))
        entered.close()
        assert (root in looks) is looked
    await sandbox.aclose()


@full
async def test_another_state_is_news_once(root: Path, program: Path) -> None:
    sandbox = Sandbox(roots=lambda _: (root,), search_path=str(program.parent))
    assert (sandbox.take_change(), sandbox.state.level, sandbox.take_change()) == (None, SandboxLevel.FULL, None)
    for breaks in (True, False):
        program.rename(program.with_name("gone")) if breaks else program.with_name("gone").rename(program)
        assert sandbox.take_change() is None, "nothing is tried for that"
        sandbox.look_again()
        if breaks:
            with pytest.raises(SandboxError, match="that it needs is missing"):  # it was decided by the full one
                await sandbox.enter(LOOK, ("true",), cwd=root, environment={})
        assert (sandbox.granted(WORK) is None) is breaks
        assert [sandbox.take_change() for _ in range(2)] == [sandbox.state, None]
        assert (sandbox.state.level is SandboxLevel.FULL) is not breaks


@full
async def test_a_private_folder_that_is_gone_is_made_again(shell: Shell, temporary: Path) -> None:
    await shell.run("touch /tmp/one", profile=WORK)
    for folder in temporary.iterdir():
        shutil.rmtree(folder)
    assert await shell.run("touch /tmp/two", profile=WORK) == ProcessResult(0)


@full
async def test_without_a_private_folder_nothing_starts(shell: Shell, temporary: Path, root: Path) -> None:
    temporary.rmdir()
    try:
        with pytest.raises(SandboxError, match=r"folder cannot be made in .* \(No such file or directory\); mend that"):
            await shell.run("touch new", profile=WORK)
    finally:
        temporary.mkdir()
    assert not (root / "new").exists()


@pytest.mark.parametrize(
    ("choice", "profile", "runs"),
    [
        ("auto", LOOK, True),
        ("auto", WORK, False),
        ("off", LOOK, True),
        ("off", WORK, False),
        ("required", LOOK, False),
        ("required", WORK, False),
        ("required", FREE, True),
    ],
)
async def test_without_bubblewrap(
    choice: str, profile: ProfileName, runs: bool, root: Path, trace: Trace, limits: ProcessLimits
) -> None:
    sandbox = Sandbox(choice, roots=lambda _: (root,), search_path=str(root))  # type: ignore[arg-type]
    processes = Processes(limits, sandbox=sandbox)
    heard = bytearray()
    with suppress(SandboxError):
        await Shell(processes, trace, root, limits).run("echo it runs", heard, profile=profile)
    await processes.aclose()
    assert bytes(heard) == (b"it runs\n" if runs else b"")


# ── what it inherits ────────────────────────────────────────────────────────────────────────────


@full
@pytest.mark.parametrize("profile", [*HELD, FREE])
async def test_a_held_command_does_not_see_the_keys_of_the_environment(
    profile: ProfileName, root: Path, trace: Trace, limits: ProcessLimits
) -> None:
    sandbox = Sandbox(roots=lambda _: (root,), search_path=os.environ["PATH"], inherited=("NAMED_*",))
    processes, heard = Processes(limits, sandbox=sandbox), bytearray()
    environment = {**trace.environment, "NPM_TOKEN": "a", "NAMED_TOKEN": "b", "PLAIN": "c"}
    line = ("bash", "-c", "echo $NPM_TOKEN $NAMED_TOKEN $PLAIN")
    await processes.run(line, cwd=root, environment=environment, sink=heard.extend, profile=profile)
    await processes.aclose()
    await sandbox.aclose()
    assert heard.split() == ([b"a", b"b", b"c"] if profile is FREE else [b"b", b"c"])


def test_no_variable_with_a_secret_is_inherited_unless_it_is_named() -> None:
    secrets = {
        "NPM_TOKEN": "a",
        "MY_API_KEY": "/is/a/path",
        "DATABASE_URL": "postgres://u:pw@h/d",
        "SSH_AUTH_SOCK": "/run/x",
        "NOTES": "see ghp_abcdefghijklmnop0123456789",
        "HTTPS_PROXY": "http://proxy:3128",
    }
    plain = {"PATH": "/usr/bin", "PWD": "/w", "LANG": "C", "KEYBOARD": "us", "VIRTUAL_ENV": "/w/.venv", "AUTHOR": "A"}
    assert without_secrets({**secrets, **plain}, ()) == plain
    assert without_secrets({**secrets, **plain}, ("NPM_*", "DATABASE_URL")) == {
        **{name: secrets[name] for name in ("NPM_TOKEN", "DATABASE_URL")},
        **plain,
    }


def test_a_setting_of_git_with_a_secret_is_emptied_and_still_counts() -> None:
    settings = {"safe.directory": "*", "http.https://a.b/.extraHeader": "AUTHORIZATION: basic x", "user.name": "A"}
    given = {"GIT_CONFIG_COUNT": "3"}
    for number, (key, value) in enumerate(settings.items()):
        given |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
    assert without_secrets(given, ()) == {**given, "GIT_CONFIG_VALUE_1": ""}
