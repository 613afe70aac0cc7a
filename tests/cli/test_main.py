"""The command line: imported modules, rejected arguments, and output of the small commands."""

import asyncio
import io
import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from harness import __version__
from harness.cli.main import main
from tests.ui.program import COMMAND, Place, end_of, run, start

HEAVY = ("anthropic", "textual", "pydantic", "asyncio", "tiktoken", "httpx2", "h11", "harness.session")


@pytest.mark.parametrize("flag", ["--version", "-v", "--help", "-h"])
def test_version_and_help_load_nothing_heavy(flag: str) -> None:
    program = (
        "import sys; from harness.cli.main import main\n"
        f"try: main([{flag!r}])\nexcept SystemExit: pass\n"
        f"print('loaded:', *(name for name in {HEAVY!r} if name in sys.modules))"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ended.stdout.rstrip().endswith("loaded:")
    assert __version__ in ended.stdout or "exit codes" in ended.stdout


def test_the_version_needs_no_more_than_the_interpreter() -> None:
    listed = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "harness", "--version"], capture_output=True, text=True, check=True
    )
    assert "argparse" not in listed.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("-p", "a", "b"), "Two prompts"),
        (("-p", "a", "--max-turns", "few"), "flag --max-steps = 'few'"),
        (("-p", "a", "--max-wait", "-1"), "flag --max-wait = '-1'"),
        (("-p", "a", "--resume"), "needs a session id"),
        (("-p", "a", "--resume", "nothing-like-it"), "nothing-like-it"),
        (("-p", "a", "--cwd", "/no/such/folder"), "is no folder"),
        (("-p", "a", "--practice", "no-such.toml"), "no-such.toml"),
        (("-p", "a", "--fork-session"), "--continue or --resume"),
        (("--carry-changes",), "add --worktree NAME"),
        (("-p", "a", "-c", "-r", "x"), "different sessions"),
        (("--output-format", "json"), "needs -p"),
        (("docter",), "did you mean `harness doctor`"),
        (("Sesions", "--all"), "did you mean `harness sessions`"),
        (("crom", "list"), "did you mean `harness cron`"),
        (("--plain", "replya"), "did you mean `harness replay`? (`harness -- replya` takes it as a prompt.)"),
        (("resume", "abc"), "did you mean `harness --resume`"),
        (("upgrade",), "`harness --help` lists the commands, and `harness -- upgrade` takes it as a prompt."),
        (("fix", "the", "bug", "--plain"), 'put it in quotes: harness "fix the bug".'),
        (("list", "the", "files"), '`harness sessions`? (`harness "list the files"` takes it as a prompt.)'),
        (("replay", "nofile"), "`harness sessions` lists them"),
        (("export", "nothing-like-it"), "nothing-like-it"),
    ],
)
def test_bad_usage_gets_one_sentence_and_exit_2(
    here: Place, capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], words: str
) -> None:
    assert main(arguments) == 2
    out, err = capsys.readouterr()
    (sentence,) = err.splitlines()
    assert out == ""
    assert words in sentence


@pytest.mark.parametrize(
    "arguments", [("--", "doctr"), ("hello", "-p"), ("-p", "sesions"), ("fix the bug",), ("Hello!",), ("直して",)]
)
def test_a_prompt_is_not_taken_for_a_command(
    here: Place, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert main(["--plain", *arguments]) == 0


@pytest.mark.parametrize("address", ["ftp://example.org", "http://user:pw@localhost:1"])
def test_a_wrong_address_gets_one_sentence_without_the_key(
    here: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv("ANTHROPIC_BASE_URL", address)
    monkeypatch.setenv("ANTHROPIC_API_KEY", "some-key")
    assert main(["-p", "hi"]) == 2
    (sentence,) = capsys.readouterr().err.splitlines()
    assert "base_url" in sentence
    assert "some-key" not in sentence


def test_a_defect_is_one_sentence_and_the_log_has_the_traceback(
    here: Place, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HARNESS_STATE_DIR", str(here.state))
    here.state.write_text("a file where the folder should be")
    assert main(["-p", "hi"]) == 1
    (sentence,) = capsys.readouterr().err.splitlines()
    assert str(here.state) in sentence


def test_two_hard_steps_and_a_long_summary_of_a_model_that_thinks_are_answered(
    here: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    call = 'tools = [ { name = "bash", input = { command = "echo one" } } ]'
    (here.folder / "thinks.toml").write_text(
        f"""
        profile = {{ thinking = "adaptive", tokens = 10000, summary_tokens = 17000 }}
        [[reply]]
        {call}
        [[reply]]
        {call}
        [[reply]]
        status = 400
        message = "prompt is too long: 210000 tokens > 200000 maximum"
        [[reply]]
        when = {{ purpose = "summary" }}
        text = "<summary>Two commands were run.</summary>"
        [[reply]]
        text = "Both ran."
        """
    )
    thinking = ["--practice", "thinks.toml", "--model", "claude-opus-5-5"]
    assert main(["-p", "run both", *thinking, "--yolo", "--output-format", "json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert (result["result"], result["num_requests"]) == ("Both ran.", 5)
    assert result["usage"]["output_tokens"] == 3 * 10_000 + 17_000


@pytest.mark.anyio
@pytest.mark.stories
async def test_another_client_can_use_the_practice_model_through_a_proxy(tmp_path: Path) -> None:
    place = Place(tmp_path)
    serving = await start(place, "practice", "serve", "--window", "50000")
    assert serving.stdout is not None
    async with asyncio.timeout(60):
        address = (await serving.stdout.readline()).decode().split()[-1]
    proxying = await start(place, "practice", "proxy", address)
    assert proxying.stdout is not None
    async with asyncio.timeout(60):
        between = (await proxying.stdout.readline()).decode().split()[-1]
    ended = await run(Place(tmp_path, between), "-p", "hello")
    assert ended.code == 0
    assert "practice model" in ended.out
    for process in (proxying, serving):
        process.send_signal(signal.SIGINT)
        end = await end_of(process)
        assert (end.code, end.err) == (0, "")
        assert "/v1/messages" in end.out


def test_python_dash_m_is_the_same_command() -> None:
    ended = subprocess.run([*COMMAND, "--version"], capture_output=True, text=True, check=True)
    assert ended.stdout == f"harness {__version__}\n"


def in_a_shell(place: Place, line: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a shell line with the command and its arguments as "$@"."""
    return subprocess.run(
        ["/bin/sh", "-c", line, "sh", *COMMAND, *arguments],
        cwd=place.folder,
        env=place.environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("arguments", [("-p", "hi"), ("sessions",)])
def test_a_folder_that_was_deleted_gets_one_sentence(here: Place, arguments: tuple[str, ...]) -> None:
    ended = in_a_shell(here, 'mkdir gone && cd gone && rmdir ../gone && "$@"', *arguments)
    assert (ended.returncode, ended.stdout) == (2, "")
    (sentence,) = ended.stderr.splitlines()
    assert "no longer exists" in sentence


@pytest.mark.parametrize(
    ("closed", "heard"),
    [
        ("<&- >&- 2>&-", False),
        *(pytest.param(*one, marks=pytest.mark.stories) for one in (("2>&-", True), ("<&-", True), (">&-", False))),
    ],
)
def test_a_standard_stream_that_is_closed_is_neither_missed_nor_taken_for_another(
    here: Place, closed: str, heard: bool
) -> None:
    ended = in_a_shell(here, f'"$@" {closed}', "-p", "list the files")
    assert ended.returncode == (0 if heard else 1)  # an answer that goes nowhere is no success
    assert ("no files" in ended.stdout) == heard
    assert "no key is set" not in ended.stdout


@pytest.mark.stories
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_an_answer_that_cannot_be_written_is_one_sentence_and_a_notice_is_none(here: Place) -> None:
    answer = in_a_shell(here, '"$@" > /dev/full', "-p", "list the files")
    assert (answer.returncode, "cannot write to standard output" in answer.stderr) == (1, True)
    notices = in_a_shell(here, '"$@" 2> /dev/full', "-p", "list the files")
    assert (notices.returncode, "no files" in notices.stdout) == (0, True)


def test_flags_of_the_app_may_be_on_both_sides_of_the_two_dashes(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main(["serve", "--no-trust-folder", "--", "-p", "hi"])
    assert "-p, --plain and --version cannot be used with serve" in capsys.readouterr().err
