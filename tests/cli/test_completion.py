"""Completion in the shell: the candidates, and the scripts in the shells that are installed."""

import argparse
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.cli.completion import SCRIPTS, candidates
from harness.cli.main import main
from harness.cli.parser import COMMANDS, agent_parser, command_parser
from harness.events import Effort
from harness.journal import Journal, rename, session_folder


def values(*words: str) -> list[str]:
    return [value for value, _ in candidates(words)]


@pytest.mark.parametrize("command", ["", *COMMANDS])
def test_every_visible_flag_of_every_parser_is_a_candidate(command: str) -> None:
    parser = command_parser(command) if command else agent_parser()
    written = {
        name
        for action in parser._actions
        for name in action.option_strings
        if name.startswith("--") and action.help != argparse.SUPPRESS
    }
    found = set(values(*([command] if command else []), "--"))
    assert written <= found
    assert command in ("serve", "acp", "run") or found == written
    assert "--reopen" not in found


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("sh", ["shot"]),
        ("--effort ", list(Effort)),
        ("--effort h", ["high"]),
        ("--effort=h", ["--effort=high"]),
        ("--effort = h", ["high"]),
        ("-m opus --output-format s", ["stream-json"]),
        ("practice ", ["serve", "proxy", "mcp"]),
        ("tasks add --prio", ["--priority"]),
        ("tasks x ", []),
        ("export --format ", ["markdown", "json"]),
        ("completion ", ["bash", "zsh", "fish"]),
        ("completion fish ", []),
        ("learn s01", ["s01_agent_loop"]),
        ("--cwd ", [":folders"]),
        ("practice serve --script x", [":files"]),
        ("--practice pla", ["plan", ":files"]),
        ("--json-schema=x", [":files"]),
        ("-p --output-f", ["--output-format"]),
        ("--yolo --no-trust", ["--no-trust-folder"]),
        ("serve --port 1 --mod", ["--model"]),
        ("run ", [":files"]),
        ("run plan.py --mod", ["--model"]),
        ("no such -", values("--")),
    ],
)
def test_what_a_word_can_become(line: str, expected: list[str]) -> None:
    assert values(*line.split(" ")) == expected


def test_sessions_are_named_by_name_and_id(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HARNESS_STATE_DIR", str(tmp_path / "state"))
    journal = Journal.create(session_folder(tmp_path.resolve(), tmp_path / "state"), "20261126-0000-abcdef")
    journal.close()
    rename(journal.path, "my work")
    for words in (
        ("--cwd", str(tmp_path), "--resume"),
        *((name, "--cwd", str(tmp_path)) for name in ("watch", "export")),
    ):
        assert values(*words, "") == ["latest", "my work", "20261126-0000-abcdef"]
    monkeypatch.chdir(tmp_path)
    assert values("--resume", "my") == ["my work"]
    assert values("tasks", "show", "") == []


BASH = """\
source /dev/stdin <<< "$(harness completion bash)"; compopt() {{ :; }}
COMP_WORDS=(harness {line}); COMP_CWORD={last}; _harness harness; printf '%s\\n' "${{COMPREPLY[@]}}\""""
ZSH = """\
compdef() {{ :; }}; _files() {{ print -l -- *; }}; compadd() {{ print -l -- $values; }}
eval "$(harness completion zsh)"; words=(harness {line}); CURRENT={current}; _harness"""
FISH = "harness completion fish | source; complete -C 'harness {words}'"


@pytest.mark.parametrize("shell", SCRIPTS)
@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("sh",), {"shot"}),
        (("--effort", "x"), {"xhigh"}),
        (("--effort", '"xh'), {"xhigh"}),
        (("--effort", "x\\h"), {"xhigh"}),
        (("completion", ""), {"bash", "zsh", "fish"}),
        (("--json-schema", "o"), {"o n.json"}),
    ],
)
def test_the_shells_themselves_complete(tmp_path: Path, shell: str, words: tuple[str, ...], expected: set[str]) -> None:
    if (program := shutil.which(shell)) is None:
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "o n.json").touch()
    line = " ".join(f"'{word}'" for word in words)
    script = {
        "bash": BASH.format(line=line, last=len(words)),
        "zsh": ZSH.format(line=line, current=len(words) + 1),
        "fish": FISH.format(words=" ".join(words)),
    }[shell]
    quiet = {"bash": ("--norc",), "zsh": ("-f",), "fish": ("--no-config",)}[shell]
    environment = {**os.environ, "HOME": str(tmp_path)}
    command = (program, *quiet, "-c", script)
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False)
    found = {one.partition("\t")[0].replace("\\", "") for one in done.stdout.decode().splitlines()}
    assert found == expected, done.stderr


def test_an_unknown_shell_is_one_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["completion", "tcsh"])
    assert "choose from 'bash', 'zsh', 'fish'" in capsys.readouterr().err
