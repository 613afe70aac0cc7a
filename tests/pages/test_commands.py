"""The real parser accepts each command line of the pages; quick and harmless ones are run."""

import os
import re
import shlex
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from itertools import dropwhile, takewhile
from pathlib import Path

import pytest

from harness.cli.main import main
from harness.cli.parser import COMMANDS, agent_parser, command_parser, run_options
from harness.practice.faults.model_orders import order_of
from harness.practice.faults.tool_orders import tool_order_of
from harness.ui.commands.commands import COMMANDS as SLASH
from tests.pages.blocks import ROOT, block, every_block, pages, text
from tests.pages.conftest import without_a_user

NOT_RUN = {
    "harness replay": "plays in the time that it took; tests/ui/replay does it faster",
    "harness watch": "follows a session until it is ended; tests/journal/test_follow.py",
    "harness acp": "serves until its input ends; tests/ui/acp",
    "harness serve": "opens a browser and serves until a signal; tests/ui/web",
    "harness practice": "serves until a signal; tests/practice",
    "harness learn": "a chapter runs as a test of its own; tests/chapters",
    "harness mcp": "starts programs that are not installed everywhere; tests/cli/test_mcp.py",
    "harness --worktree": "wants a repository; tests/session/test_worktrees.py",
    "harness worktree": "wants a repository with worktrees; tests/ui/commands/test_worktree_commands.py",
    "harness run": "wants a script; tests/cli/test_run.py",
    "harness fleet": "wants a database; tests/cli/test_fleet.py",
    "harness check": "wants an exercise; tests/chapters/course",
}
"""Commands that are parsed and not run here, and the test that runs them."""
OTHERS = {
    "jq": "a tool of others; tests/ui/plain/test_headless_json_answers.py reads the same output",
    "ANTHROPIC_BASE_URL=http://127.0.0.1:8765": "needs a server; tests/chapters/test_my_agents.py runs it",
    "python3": "the test command of the README is what CI runs; the start command differs by its last word",
    "uv": "a tool of others",
    "git": "a tool of others; the demo of s18 runs the same",
    "yes": "feeds the small worker of s17; its demo does the same",
    "cp": "makes a folder of the learner",
    "cd": "goes there",
    "pipx": "a tool of others; tests/test_wheel.py installs the same wheel",
}
"""First words of commands that are not ours."""
FILES = {
    "faults.toml": block("docs/scripts.md", "script"),
    "cats.json": block("docs/json-answers.md", "schema"),
    "storm.toml": block("docs/scripts.md", "script"),
    "prompts.jsonl": '{"type": "user", "message": {"role": "user", "content": "hello"}}\n',
    "broken.toml": block("docs/scripts.md", "tool-faults"),
    "steps.toml": '[[reply]]\ntools = [ { name = "glob", input = { pattern = "*" } } ]\n' * 4
    + '[[reply]]\ntext = "Done."',
}
"""What the files hold that command lines name."""


def commands() -> Iterator[tuple[str, ...]]:
    """The commands of all pages, each once: `a && b` are two."""
    for one in every_block("sh"):
        for line in one.code.splitlines():
            words = shlex.shlex(line, posix=True, punctuation_chars=True)
            words.whitespace_split = True
            command: list[str] = []
            for word in [*words, "&&"]:
                if word not in ("&&", "||", ";", "|"):
                    command.append(word)
                elif command:
                    yield tuple(command)
                    command = []


def in_sentences() -> Iterator[tuple[str, ...]]:
    """Our commands in sentences, each once."""
    found = (
        shlex.split(line) for page in pages() for line in re.findall(r"`((?:harness|python -m) [^`\n]+)`", text(page))
    )
    return map(tuple, found)


def words_of(command: tuple[str, ...]) -> tuple[str, ...]:
    """A command without the variables that are set before it."""
    return tuple(dropwhile(VARIABLE.match, command))


def is_ours(command: tuple[str, ...]) -> bool:
    """Whether it begins with `harness`, variables before it aside."""
    return Path(words_of(command)[0]).name == "harness"


VARIABLE = re.compile(r"[A-Z_]+=")
EVERY = list(dict.fromkeys(commands()))
TOLD = list(dict.fromkeys([*EVERY, *in_sentences()]))
"""Those in sentences as well, which may hold words such as FILE: they are parsed and not run."""
OURS = [command for command in EVERY if is_ours(command)]


def is_run(command: tuple[str, ...]) -> bool:
    return " ".join(words_of(command)[:2]) not in NOT_RUN


def test_the_parser_takes_every_command_of_a_page() -> None:
    for _, *words in (words_of(command) for command in TOLD if is_ours(command)):
        if not words or words[0] not in COMMANDS:
            agent_parser().parse_args(words)
        elif words[0] in ("serve", "acp"):
            _, of_app = command_parser(words[0]).parse_known_args(words[1:])
            agent_parser().parse_args(of_app)
        elif words[0] == "run":
            run_options(words[1:])
        else:
            command_parser(words[0]).parse_args(words[1:])


@pytest.mark.parametrize("page", ["README.md", "README.ja.md", "chapters/README.md", "chapters/README.ja.md"])
def test_a_file_that_a_command_of_the_first_pages_names_is_in_the_repository(page: str) -> None:
    """Commands for a fresh clone work there; the pages about a file show it first."""
    lines = re.findall(r"(?ms)^```sh\n(.*?)^```", (ROOT / page).read_text("utf-8"))
    named = re.findall(r"[\w./-]+\.(?:json|jsonl|toml|py|md)\b", re.sub(r"#.*", "", "\n".join(lines)))
    assert [name for name in named if not (ROOT / name).exists()] == []


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the pages name; beside it the state of a program with a session and two tasks."""
    top = tmp_path_factory.mktemp("commands")
    folder = top / "project"
    folder.mkdir()
    for name in ("docs", "examples"):
        (folder / name).symlink_to(ROOT / name)
    for name, held in FILES.items():
        (folder / name).write_text(held)
    with pytest.MonkeyPatch.context() as patch:
        without_a_user(patch, top)
        patch.chdir(folder)
        assert main(["-p", "look around", "--practice", "steps.toml"]) == 0
        assert main(["tasks", "add", "write the release notes"]) == 0
        assert main(["tasks", "add", "tell everybody", "--needs", "t1"]) == 0
    return folder


@pytest.mark.parametrize("command", [command for command in OURS if is_run(command)], ids=" ".join)
def test_a_command_of_a_page_does_what_it_should(
    command: tuple[str, ...],
    recorded: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capfd: pytest.CaptureFixture[str],
) -> None:
    shutil.copytree(recorded.parent / "state", tmp_path / "state")
    without_a_user(monkeypatch, tmp_path)
    monkeypatch.chdir(recorded)
    with Path(os.devnull).open() as nobody:
        monkeypatch.setattr("sys.stdin", nobody)
        for name, _, value in (variable.partition("=") for variable in takewhile(VARIABLE.match, command)):
            monkeypatch.setenv(name, value)
        assert main(words_of(command)[1:]) == 0
    assert "Traceback" not in capfd.readouterr().err


def test_every_other_command_is_a_module_of_ours_or_is_known() -> None:
    for name, *rest in (command for command in TOLD if not is_ours(command)):
        if rest[:1] == ["-m"] and rest[1] != "venv":
            assert find_spec(rest[1]) is not None, rest[1]
        else:
            assert name in OTHERS or name.startswith(".venv/bin/"), name


def test_every_slash_command_of_a_page_exists() -> None:
    named = {(page, name) for page in pages() for name in re.findall(r"`/([a-z]+)(?: [^`]*)?`", text(page))}
    known = {*SLASH, "fix", "tokens"}  # examples of a command that a file defines, and of one that nobody defines
    assert {(page, name) for page, name in named if name not in known} == set()


ORDERS = re.compile(r"(?:`|^)/(fault|toolfault) ([^`\n]+?)(?:`|  |$)", re.MULTILINE)
PLACEHOLDER = re.compile(r"[\[…]|\b[A-Z]{2,}\b")


def test_every_fault_that_a_page_orders_is_understood() -> None:
    for command, order in ORDERS.findall("\n".join(map(text, pages()))):
        if PLACEHOLDER.search(order):
            continue
        if command == "fault":
            order_of(order)
        else:
            tool_order_of(order, [order.split()[0]])


def test_what_is_not_run_is_on_a_page() -> None:
    there = {f"harness {name}" for name in COMMANDS}
    assert NOT_RUN.keys() & there <= {" ".join(words_of(command)[:2]) for command in OURS}
