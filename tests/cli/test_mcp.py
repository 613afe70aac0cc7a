"""`harness mcp` as a user types it, with the practice server."""

import json
import sys
from pathlib import Path

import pytest

from harness.cli.main import main
from tests.mcp.conftest import SCRIPT

SERVER = (sys.executable, "-I", "-S", SCRIPT)


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HARNESS_USER_DIR", str(tmp_path / "user"))
    monkeypatch.setenv("HARNESS_STATE_DIR", str(tmp_path / "state"))
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "user" / "mcp.json"


def test_a_server_is_added_shown_and_removed(user: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("mcp", "add", "notes", "--env", "TOKEN=${HOME}", "--env", "KEY=s3cret-text", "--", *SERVER)) == 0
    entry = json.loads(user.read_text())["mcpServers"]["notes"]
    assert entry == {
        "type": "stdio",
        "command": sys.executable,
        "args": list(SERVER[1:]),
        "env": {"TOKEN": "${HOME}", "KEY": "s3cret-text"},
    }
    assert main(("mcp", "add", "notes", "x")) == 2
    assert main(("mcp", "list")) == 0
    assert main(("mcp", "get", "notes")) == 0
    said = capsys.readouterr()
    assert "✓ notes  ready, 16 tools" in said.out
    assert "mcp__notes__delete_all (may destroy): Empty the list." in said.out
    assert "env TOKEN=${HOME}" in said.out
    assert "s3cret-text" not in said.out + said.err
    assert main(("mcp", "remove", "notes")) == 0
    assert main(("mcp", "remove", "notes")) == 2


@pytest.mark.parametrize(
    ("words", "entry"),
    [
        (("a", "--", "npx", "-y", "x"), {"type": "stdio", "command": "npx", "args": ["-y", "x"]}),
        (("a", "npx", "-y", "x"), {"type": "stdio", "command": "npx", "args": ["-y", "x"]}),
        (("a", "https://a.example/mcp"), {"type": "http", "url": "https://a.example/mcp"}),
        (("--transport", "sse", "a", "https://a.example"), {"type": "sse", "url": "https://a.example"}),
        (
            ("a", "--header", "X-Team: blue", "https://a.example"),
            {"type": "http", "url": "https://a.example", "headers": {"X-Team": "blue"}},
        ),
    ],
)
def test_the_forms_of_add(user: Path, words: tuple[str, ...], entry: dict[str, object]) -> None:
    assert main(("mcp", "add", *words)) == 0
    assert json.loads(user.read_text())["mcpServers"]["a"] == entry


@pytest.mark.parametrize(
    "words",
    [
        ("add", "a"),
        ("add", "a/b", "x"),
        ("add", "a", "--env", "TOKEN", "--", "x"),
        ("get", "nobody"),
        ("login", "nobody"),
        ("remove", "nobody"),
    ],
)
def test_what_cannot_be_done_is_one_sentence_and_code_2(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(("mcp", *words)) == 2
    assert capsys.readouterr().err.startswith("harness: ")


def test_a_folder_has_a_file_of_its_own_that_waits_for_trust(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(("mcp", "add", "--project", "notes", "--", *SERVER)) == 0
    assert "notes" in json.loads((tmp_path / "work" / ".mcp.json").read_text())["mcpServers"]
    assert main(("mcp", "list")) == 0
    assert ".mcp.json of this folder is not used until you trust it" in capsys.readouterr().err


def test_a_server_that_fails_is_shown_with_its_reason_and_code_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(("mcp", "add", "bad", "/nowhere/x")) == 0
    assert main(("mcp", "list")) == 1
    assert "✗ bad  failed: there is no program /nowhere/x" in capsys.readouterr().out
