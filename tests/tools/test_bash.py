"""bash as the model meets it."""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from harness.events import FailureCategory, ToolOutcome
from harness.permissions.protected_places import Surroundings
from harness.processes import Processes, ProcessLimits, ProcessResult, SurvivingProcess
from harness.sandbox import CommandTerms, ProfileName, SandboxLevel
from harness.sandbox.landlock import landlock_version
from harness.sandbox.marked_files import Marks
from harness.sandbox.places import Places
from harness.sandbox.sandbox import Sandbox
from harness.settings import Settings
from harness.settings.sources import SECRETS, VARIABLES, from_environment
from harness.tools.bash import (
    DETAIL_CHARACTERS,
    bash_tool,
    judge,
    shell_environment,
)
from harness.tools.held_commands import MADE_OBEYED, READ_ONLY, REFUSED_PATHS
from harness.tools.read_file import read_file_tool
from harness.tools.tool import ToolCancelled, ToolContext, ToolResult
from tests.processes.traces import until
from tests.sandbox.machine import bubblewrap

pytestmark = pytest.mark.anyio


async def bash(context: ToolContext, limits: ProcessLimits, command: str, timeout: float | None = None) -> ToolResult:
    tool = bash_tool(limits)
    return await tool.run(context, tool.parse({"command": command, "timeout": timeout}))


async def test_a_command_runs_in_the_workspace_and_shows_its_exit_code(
    context: ToolContext, limits: ProcessLimits
) -> None:
    result = await bash(context, limits, "pwd; echo oops >&2")
    assert result.content == f"{context.workspace.root}\noops\n\n[exit 0]"
    assert (result.outcome, result.summary, result.full_output) == (ToolOutcome.OK, "exit 0", None)


async def test_silence_is_said(context: ToolContext, limits: ProcessLimits) -> None:
    assert (await bash(context, limits, "true")).content == "(no output)\n\n[exit 0]"


@pytest.mark.parametrize(
    ("command", "outcome", "summary"),
    [
        ("exit 1", ToolOutcome.ERROR, "exit 1"),
        ("grep nothing /dev/null", ToolOutcome.ERROR, "exit 1"),
        ("git --nonsense-flag-129; exit 129", ToolOutcome.ERROR, "exit 129"),
        ("no-such-program-here", ToolOutcome.BROKEN, "exit 127 (command not found)"),
        ("./not-executable", ToolOutcome.BROKEN, "exit 126 (found, but cannot be executed)"),
        ("kill -9 $$", ToolOutcome.BROKEN, "killed by SIGKILL"),
        ("bash -c 'kill -SEGV $$'; exit $?", ToolOutcome.BROKEN, "exit 139 (killed by SIGSEGV)"),
        ("a\0b", ToolOutcome.INVALID, "The command could not be started: embedded null byte"),
    ],
)
async def test_only_a_command_that_could_not_do_its_work_is_broken(
    command: str, outcome: ToolOutcome, summary: str, context: ToolContext, limits: ProcessLimits
) -> None:
    (context.workspace.root / "not-executable").write_text("x")
    result = await bash(context, limits, command)
    assert (result.outcome, result.summary) == (outcome, summary)


@pytest.mark.parametrize(
    ("finished", "judgement"),
    [
        (ProcessResult(0), (ToolOutcome.OK, "exit 0", None)),
        (ProcessResult(-15, timed_out=True), (ToolOutcome.BROKEN, "timed out after 2 s", FailureCategory.TIMEOUT)),
        (ProcessResult(0, timed_out=True), (ToolOutcome.BROKEN, "timed out after 2 s", FailureCategory.TIMEOUT)),
        (ProcessResult(0, left=(SurvivingProcess(1, "x"),)), (ToolOutcome.OK, "exit 0", None)),
        (ProcessResult(137), (ToolOutcome.BROKEN, "exit 137 (killed by SIGKILL)", FailureCategory.KILLED)),
        (ProcessResult(0, memory_kills=1), (ToolOutcome.OK, "exit 0", None)),
        (ProcessResult(137, memory_kills=1), (ToolOutcome.BROKEN, "out of memory, exit 137", FailureCategory.KILLED)),
        (ProcessResult(130), (ToolOutcome.ERROR, "exit 130", None)),
        (ProcessResult(255), (ToolOutcome.ERROR, "exit 255", None)),
        (ProcessResult(-200), (ToolOutcome.BROKEN, "killed by signal 200", FailureCategory.KILLED)),
    ],
)
async def test_the_judgement_of_every_end(
    finished: ProcessResult, judgement: tuple[ToolOutcome, str, FailureCategory | None]
) -> None:
    assert judge(finished, 2) == judgement


async def test_a_time_limit_is_named_and_what_was_written_is_kept(context: ToolContext, limits: ProcessLimits) -> None:
    result = await bash(context, limits, "echo begun; sleep 60", timeout=0.3)
    assert result.outcome is ToolOutcome.BROKEN
    assert result.content.startswith(
        "begun\n\n[timed out after 0.3 s; the command and all its children were ended. It "
    )
    assert "It seems to hang: it has written nothing for " in result.content


async def test_a_slow_command_is_distinguished_from_one_that_hangs(context: ToolContext, limits: ProcessLimits) -> None:
    result = await bash(context, limits, "while :; do echo more; sleep 0.05; done", timeout=0.5)
    assert "It seems to be slow, not to hang: it wrote something " in result.content


async def test_the_default_time_limit_is_that_of_the_tool(context: ToolContext, limits: ProcessLimits) -> None:
    result = await bash(context, replace(limits, time_s=0.2), "sleep 60")
    assert result.summary == "timed out after 0.2 s"


async def test_a_background_child_is_named(context: ToolContext, limits: ProcessLimits) -> None:
    result = await bash(context, limits, "sleep 60 & echo up")
    assert result.content.startswith(
        "up\n\n[exit 0; still running in the background, its output no longer read: sleep ("
    )
    assert await context.processes.aclose() == ()


async def test_ten_megabytes_are_shortened_and_kept_whole(context: ToolContext, limits: ProcessLimits) -> None:
    result = await bash(context, limits, "head -c 10000000 /dev/zero | tr '\\0' x; echo; echo END")
    assert len(result.content) <= 50_000
    assert result.content.startswith("xxx")
    assert result.content.endswith("END\n\n[exit 0]")
    assert result.full_output == context.output_file
    assert context.output_file.stat().st_size == 10_000_005
    assert str(context.output_file) in result.content
    assert len(result.detail) < 5_000


async def test_the_whole_output_can_be_read_back(context: ToolContext, limits: ProcessLimits) -> None:
    result = await bash(context, limits, "seq 100000")
    read_file = read_file_tool()
    arguments = read_file.parse({"path": str(result.full_output), "offset": 50_000, "limit": 1})
    assert (await read_file.run(context, arguments)).content.startswith(" 50000\t50000\n")


async def test_any_bytes_survive_as_text(context: ToolContext, limits: ProcessLimits) -> None:
    result = await bash(context, limits, r"printf '\xff\xc3\xa9\xed\xa0\x80\033[31mred\033[0m'")
    assert result.content == "\\xffé\\xed\\xa0\\x80red\n\n[exit 0]"
    result.content.encode()


async def test_nothing_waits_for_a_key(context: ToolContext, limits: ProcessLimits) -> None:
    assert (await bash(context, limits, "read answer || echo no answer")).content == "no answer\n\n[exit 0]"


async def test_secrets_are_not_handed_to_commands() -> None:
    names = set(Settings.model_fields) - {"prices", "headers"}  # tables, which refuse such a value
    known = [*VARIABLES, *(f"HARNESS_{name.upper()}" for name in names)]
    secret = {name for name in known if SECRETS & from_environment({name: "sk-1"}, Path.cwd()).given.keys()}
    assert {"ANTHROPIC_API_KEY", "HARNESS_AUTH_TOKEN"} < secret
    secret |= {"HARNESS_HEADERS", "ANTHROPIC_CUSTOM_HEADERS"}  # whose values may be keys
    given = shell_environment({**dict.fromkeys(secret, "sk-1"), "HOME": "/h"}, Path.cwd())
    assert not secret & set(given)
    assert given["HOME"] == "/h"


async def test_a_workspace_that_is_gone_is_reported(context: ToolContext, limits: ProcessLimits) -> None:
    context.workspace.root.rmdir()
    result = await bash(context, limits, "true")
    assert result.outcome is ToolOutcome.BROKEN
    assert "could not be started: [Errno 2] No such file or directory: '/" in result.content


async def test_a_cancelled_call_raises_with_what_it_had_and_closes_its_file(
    context: ToolContext, limits: ProcessLimits
) -> None:
    task = asyncio.create_task(bash(context, limits, "seq 100000; sleep 60"))
    await until(context.output_file.exists)
    task.cancel()
    with pytest.raises(ToolCancelled) as cancelled:
        await task
    result = cancelled.value.result
    assert (result.outcome, result.full_output) == (ToolOutcome.CANCELLED, context.output_file)
    assert result.content.startswith("1\n2\n")
    assert result.detail.startswith("1\n2\n")
    assert str(context.output_file) not in {file.path for file in psutil.Process().open_files()}


async def test_the_question_shows_the_command(context: ToolContext) -> None:
    tool = bash_tool()
    assert tool.preview is not None
    assert tool.preview(context, tool.parse({"command": "a\nb"})) == "a\nb"
    assert tool.summarise({"command": "a\nb"}) == "a …"


async def test_the_question_cannot_be_dressed_up(context: ToolContext) -> None:
    tool = bash_tool()
    assert tool.preview is not None
    command = "rm -rf x # \x1b[2K\rls \u202e"
    shown = tool.preview(context, tool.parse({"command": command}))
    assert shown == r"rm -rf x # \x1b[2K\rls \u202e"
    assert tool.summarise({"command": command}) == shown.strip()


@pytest.mark.parametrize(
    ("line", "count"), [("seq 20000", 20_000), ("seq 100", 100), ("printf 'a\\nb'", 2), ("true", 0)]
)
async def test_all_lines_are_counted_however_few_are_kept_to_be_shown(
    context: ToolContext, limits: ProcessLimits, line: str, count: int
) -> None:
    result = await bash(context, limits, line)
    assert result.detail_of == count
    assert len(result.detail) <= DETAIL_CHARACTERS
    assert result.detail.split() == [str(n) for n in range(1, len(result.detail.split()) + 1)] or "printf" in line


@pytest.mark.skipif(not landlock_version(), reason="the kernel does not offer Landlock")
async def test_a_call_that_only_looks_cannot_write_and_says_why(context: ToolContext, limits: ProcessLimits) -> None:
    processes = Processes(sandbox=Sandbox(search_path="/no/programs"))
    looking = replace(context, profile=ProfileName.LOOK, processes=processes)
    refused = await bash(looking, limits, "echo x > new")
    assert list(context.workspace.root.iterdir()) == []
    assert refused.content.endswith("Permission denied\n\n[exit 1]" + READ_ONLY)
    assert (refused.outcome, refused.summary) == (ToolOutcome.ERROR, "exit 1")


@pytest.mark.parametrize(
    ("profile", "command", "exit_code"),
    [
        (ProfileName.LOOK, "echo Permission denied", 0),
        (ProfileName.LOOK, "echo other; exit 1", 1),
        (ProfileName.FREE, "echo Permission denied; exit 1", 1),
    ],
)
async def test_nothing_is_explained_where_nothing_was_refused(
    profile: ProfileName, command: str, exit_code: int, context: ToolContext, limits: ProcessLimits
) -> None:
    result = await bash(replace(context, profile=profile), limits, command)
    assert result.content.endswith(f"[exit {exit_code}]")


@pytest.mark.skipif(not landlock_version(), reason="the kernel does not offer Landlock")
async def test_the_explanation_fits_beside_a_long_output(context: ToolContext, limits: ProcessLimits) -> None:
    tool = bash_tool(limits, 2_000)
    result = await tool.run(
        replace(context, profile=ProfileName.LOOK, processes=Processes(sandbox=Sandbox(search_path="/no/programs"))),
        tool.parse({"command": "seq 5000; echo x > new; exit 1", "timeout": None}),
    )
    assert result.content.endswith(READ_ONLY)
    assert len(result.content) <= 2_000


@pytest.mark.parametrize(("left", "why"), [(True, "its sandbox could not be made"), (False, "bwrap is gone")])
async def test_a_command_whose_sandbox_breaks_did_not_run_and_the_result_says_so(
    left: bool, why: str, context: ToolContext, limits: ProcessLimits, tmp_path: Path
) -> None:
    found = shutil.which("bwrap")
    if found is None or Sandbox().state.level is not SandboxLevel.FULL:
        pytest.skip("no full sandbox here")
    program = Path(shutil.copy(found, tmp_path))
    processes = Processes(sandbox=Sandbox(search_path=str(tmp_path)))
    held = replace(context, profile=ProfileName.WORK, processes=processes)
    assert (await bash(held, limits, "exit 1")).content.endswith("[exit 1]")
    program.unlink()
    if left:
        program.write_text("#!/bin/sh\necho bwrap: no namespace; exit 1\n")
        program.chmod(0o755)
    broken = await bash(held, limits, "touch new")
    assert (broken.outcome, broken.category) == (ToolOutcome.BROKEN, FailureCategory.CANNOT_START)
    assert why in broken.content
    assert "Call it again" in broken.content
    assert ("bwrap: no namespace" in broken.content) is left
    assert list(context.workspace.root.iterdir()) == []
    await processes.aclose()
    await processes.sandbox.aclose()


@pytest.fixture
async def working(context: ToolContext, tmp_path: Path) -> AsyncIterator[ToolContext]:
    """The context of a call that the whole sandbox holds to the workspace."""
    bubblewrap()
    around = Surroundings(str(context.workspace.root), str(tmp_path))
    places = Places(str(tmp_path), os.environ, Marks(around.key_inside, lambda path: around.obeyed((path,))))
    roots = (context.workspace.root,)
    sandbox = Sandbox(places=lambda: places, roots=lambda _: roots, search_path=os.environ["PATH"])
    processes = Processes(sandbox=sandbox)
    yield replace(context, processes=processes, profile=ProfileName.WORK)
    await processes.aclose()
    await sandbox.aclose()


@pytest.mark.parametrize("again", [False, True])
async def test_a_command_starts_by_the_look_of_its_decision_if_there_was_no_other(
    working: ToolContext, limits: ProcessLimits, again: bool
) -> None:
    sandbox, key = working.processes.sandbox, working.workspace.root / ".env"
    granted = sandbox.granted(ProfileName.WORK, working.workspace.root)
    key.write_text("a key")  # a second look would hide it
    if again:
        sandbox.granted(ProfileName.WORK)
    result = await bash(replace(working, terms=CommandTerms(granted=granted)), limits, "cat .env")
    assert ("a key" in result.content) is not again


async def test_what_a_held_command_made_that_others_obey_is_named(working: ToolContext, limits: ProcessLimits) -> None:
    root = working.workspace.root
    (root / "CLAUDE.md").touch()
    made = "mkdir -p src .github/workflows && touch src/AGENTS.md .github/workflows/a.yml src/b.py"
    result = await bash(working, limits, made)
    assert result.content.endswith(MADE_OBEYED.format(paths=f"{root}/.github, {root}/src/AGENTS.md"))
    replaced = await bash(working, limits, "mv src old && mkdir src && echo x > src/AGENTS.md")
    assert replaced.content.endswith(MADE_OBEYED.format(paths=f"{root}/old/AGENTS.md, {root}/src/AGENTS.md"))
    assert (await bash(working, limits, "echo x > src/b.py; rm src/b.py")).content == "(no output)\n\n[exit 0]"
    refused = await bash(working, limits, "echo x > CLAUDE.md")
    assert REFUSED_PATHS.format(paths=root / "CLAUDE.md") in refused.content
    assert [denial.subject for denial in refused.denials] == [str(root / "CLAUDE.md")]
