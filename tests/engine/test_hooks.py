"""Commands as hooks: real processes, good, bad and hostile; and functions that never come back."""

import asyncio
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from harness.engine.hooks import HookInvoker, HookRunner
from harness.events import (
    Event,
    HookPoint,
    Loop,
    LoopAsked,
    PermissionAsked,
    Projection,
    QuestionAsked,
    TextDelta,
    TransitionCode,
    TurnEnded,
    Usage,
    WaitOffered,
)
from harness.hooks import Hook, HookAnswer, HookCall, HookError, hook
from harness.processes import Processes
from tests.agent.stage import says, stage
from tests.engine.cores import core_in
from tests.processes.traces import until

pytestmark = pytest.mark.anyio

CALL = HookCall(HookPoint.BEFORE_TOOL, "/w", 1, tool="bash", call_id="c1", input={"command": "ls", "word": "行"})


class Bench:
    """Asks hooks in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes = Processes()
        self.runs = HookInvoker(self.processes, folder)

    async def ask(self, command: str, *, time_s: float = 10.0, call: HookCall = CALL) -> HookAnswer:
        """What a command answers."""
        return await self.runs.ask(Hook("hook", call.point, command, time_s=time_s), call)

    async def fails(self, command: str, *, time_s: float = 10.0, call: HookCall = CALL) -> str:
        """Why a command has no answer."""
        with pytest.raises(HookError) as caught:
            await self.ask(command, time_s=time_s, call=call)
        return str(caught.value)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


async def test_a_command_gets_the_call_on_stdin_and_runs_in_the_workspace(bench: Bench) -> None:
    await bench.ask("cat > told.json; pwd > where.txt")
    assert json.loads((bench.folder / "told.json").read_text()) == CALL.document()
    assert (bench.folder / "where.txt").read_text().strip() == str(bench.folder)


async def test_exit_2_blocks_with_stderr_and_stdout_is_not_mixed_in(bench: Bench) -> None:
    assert await bench.ask("echo noise; echo 'no force pushes' >&2; exit 2") == HookAnswer(block="no force pushes")


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("echo '{all good'", "its output is no JSON"),
        ("""echo '{"blok": "x"}'""", "'blok', which is not known"),
        ("""echo '{"input": 3}'""", "input in its answer is no object"),
        ("exit 1", "it ended with exit code 1"),
        ("no-such-program-here", "it ended with exit code 127: .*not found"),
        ("kill -SEGV $$", "it was killed by signal 11"),
        ("kill -KILL $$", "it was killed by signal 9"),
        ("head -c 3000000 /dev/zero | tr '\\0' x", "it wrote more than 100,000 bytes"),
        ("head -c 3000000 /dev/zero | tr '\\0' y >&2; exit 3", "it ended with exit code 3: y{300}$"),
    ],
)
async def test_every_other_end_is_a_failure_with_its_reason(command: str, why: str, bench: Bench) -> None:
    with pytest.raises(HookError, match=why):
        await bench.ask(command)


@pytest.mark.parametrize(
    "command",
    ["sleep 60", "trap '' TERM; while :; do sleep 0.05; done", "sleep 60 & setsid sleep 60 & wait", "yes"],
)
async def test_a_command_that_hangs_is_ended_with_all_its_children(command: str, bench: Bench) -> None:
    began = time.monotonic()
    assert await bench.fails(command, time_s=0.3) == "it took longer than 0.3 s"
    assert time.monotonic() - began < 30
    assert await bench.processes.aclose() == ()


async def test_a_command_in_a_folder_that_is_gone_is_a_failure(bench: Bench, tmp_path: Path) -> None:
    gone = HookInvoker(bench.processes, tmp_path / "gone")
    with pytest.raises(HookError, match="it could not be started"):
        await gone.ask(Hook("hook", CALL.point, "true"), CALL)


async def test_what_pays_for_the_model_is_not_in_its_environment(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-secret")
    monkeypatch.setenv("HARNESS_AUTH_TOKEN", "token-secret")
    monkeypatch.setenv("HOME_OF_HOOKS", "kept")
    await bench.ask("env > environment.txt")
    environment = (bench.folder / "environment.txt").read_text()
    assert "secret" not in environment
    assert "HOME_OF_HOOKS=kept" in environment


async def test_asking_many_times_leaks_no_descriptor(bench: Bench) -> None:
    def open_files() -> int:
        return len(os.listdir("/proc/self/fd"))  # noqa: PTH208

    await bench.ask("true")
    before = open_files()
    for _ in range(5):
        await bench.ask("cat > /dev/null")
    await until(lambda: open_files() <= before)


async def test_a_call_nested_beyond_all_reason_is_a_failure_and_no_crash(bench: Bench) -> None:
    deep: dict[str, object] = {}
    for _ in range(5_000):
        deep = {"x": deep}
    call = HookCall(HookPoint.BEFORE_TOOL, "/w", 1, tool="bash", input=deep)
    assert "nested too deeply" in await bench.fails("true", call=call)
    with pytest.raises(HookError, match="RecursionError"):
        await bench.runs.ask(Hook("hook", call.point, lambda call: None), call)


async def test_a_function_that_never_comes_back_is_not_waited_for(bench: Bench) -> None:
    released = asyncio.Event()

    async def hangs(call: HookCall) -> None:
        await released.wait()

    with pytest.raises(HookError, match=r"it took longer than 0\.05 s"):
        await bench.runs.ask(Hook("hook", CALL.point, hangs, time_s=0.05), CALL)
    with pytest.raises(HookError, match=r"it took longer than 0\.05 s"):
        await bench.runs.ask(Hook("hook", CALL.point, lambda call: time.sleep(0.5), time_s=0.05), CALL)


async def test_a_function_that_cancels_itself_cancels_nothing_else(bench: Bench) -> None:
    async def cancels(call: HookCall) -> None:
        raise asyncio.CancelledError

    with pytest.raises(HookError, match="it cancelled itself"):
        await bench.runs.ask(Hook("hook", CALL.point, cancels), CALL)


@pytest.mark.stories
def test_a_function_that_hangs_does_not_hold_up_the_end_of_the_program(tmp_path: Path) -> None:
    program = (
        "import asyncio, threading\n"
        "from pathlib import Path\n"
        "from harness.events import HookPoint\n"
        "from harness.engine.hooks import HookInvoker\n"
        "from harness.hooks import Hook, HookCall, HookError\n"
        "from harness.processes import Processes\n"
        "async def main():\n"
        "    hook = Hook('h', HookPoint.STOP, lambda call: threading.Event().wait(), time_s=0.05)\n"
        "    try:\n"
        "        await HookInvoker(Processes(), Path('.')).ask(hook, HookCall(HookPoint.STOP, '.', 1))\n"
        "    except HookError as error:\n"
        "        print(error)\n"
        "asyncio.run(main())\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    assert ended.stdout == "it took longer than 0.05 s\n"


async def test_the_hooks_of_the_end_of_a_session_run_after_an_interruption(tmp_path: Path) -> None:
    ended: list[HookPoint] = []
    hooks = [
        Hook("log", HookPoint.SESSION_END, "cat > ended.json"),
        hook("session_end", name="watches")(lambda call: ended.append(call.point)),
    ]
    silent = says("The first words, and then silence.", chunk="5", fault='{ kind = "stall", at = 5 }')
    async with stage(tmp_path, silent, hooks=hooks) as here:

        def interrupt(event: Event) -> None:
            if isinstance(event, TextDelta):
                here.agent.interrupt()

        turn = await here.turn(on_event=interrupt)
        assert turn.end.code is TransitionCode.ABORTED_STREAMING
        await here.agent.aclose()
        assert json.loads((here.workspace / "ended.json").read_text())["event"] == "session_end"
    assert ended == [HookPoint.SESSION_END]


# ── notifications ───────────────────────────────────────────────────────────────────────────────


def ended(code: TransitionCode) -> TurnEnded:
    return TurnEnded(1, code, "why", "", Usage(), 0.0, 1, 1, 1.0)


@pytest.mark.parametrize(
    ("event", "kind", "text"),
    [
        (PermissionAsked("c1", "bash", "rm x", "it deletes"), "permission", "bash rm x"),
        (PermissionAsked("c1", "look", "", "it reads"), "permission", "look"),
        (QuestionAsked("c1", "Which one?"), "question", "Which one?"),
        (
            WaitOffered(90.0, 100.0, can_switch=False, detail="the server asks to wait"),
            "wait",
            "the server asks to wait",
        ),
        (LoopAsked(Loop(Projection.TEXT, "s", 1, 3, "the same again"), ()), "loop", "the same again"),
        (ended(TransitionCode.API_ERROR), "turn_ended", "api_error: why"),
        (ended(TransitionCode.COMPLETED), "", ""),
        (ended(TransitionCode.ABORTED_TOOLS), "", ""),
        (TextDelta("words"), "", ""),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, Event) else "",
)
async def test_a_user_is_notified_of_what_waits_for_them(tmp_path: Path, event: Event, kind: str, text: str) -> None:
    calls: list[HookCall] = []
    hooks = HookRunner(core_in(tmp_path), (Hook("bell", HookPoint.NOTIFICATION, calls.append),))
    hooks.on_event(event)
    await hooks.aclose()
    assert [(call.kind, call.text) for call in calls] == ([(kind, text)] if kind else [])


async def test_a_session_without_hooks_builds_none(tmp_path: Path) -> None:
    async with stage(tmp_path, says("Done.")) as here:
        assert here.agent.parts.hooks is None
        assert (await here.turn()).end.answer == "Done."
