"""Files of other programs, as those write them."""

import json
from pathlib import Path

import pytest

from harness.cli.main import main

CLAUDE_CODE = """{
  "numStartups": 184,
  "oauthAccount": {"emailAddress": "me@example.com"},
  "mcpServers": {
    "context7": {"type": "http", "url": "https://mcp.context7.com/mcp", "headers": {"API_KEY": "ctx7sk-S3CRET1"}},
    "supabase": {"type": "stdio", "command": "npx", "args": ["-y", "s", "--access-token=sbp_S3CRET2"], "env": {}},
    "ide": {"type": "ws-ide", "url": "ws://127.0.0.1:3000", "authToken": "S3CRET3"},
    "linear": {"type": "sse", "url": "https://mcp.linear.app/sse"}
  },
  "projects": {
    "HERE": {
      "allowedTools": [], "enabledMcpjsonServers": [], "disabledMcpServers": ["linear"],
      "mcpServers": {"db": {"type": "stdio", "command": "npx", "args": ["db://u:S3CRET4@localhost/db"], "env": {}}}
    },
    "/other": {"mcpServers": {"puppeteer": {"command": "npx", "args": []}}},
    "/none": {"mcpServers": {}}
  }
}"""
VS_CODE = """{
\t// servers of this project
\t"inputs": [
\t\t{"type": "promptString", "id": "github-token", "description": "GitHub token", "password": true},
\t\t{"type": "pickString", "id": "region", "options": ["eu", "us"], "default": "eu"}, /* the last one */
\t],
\t"servers": {
\t\t"microsoft/playwright-mcp": {"command": "npx", "args": ["--in", "${input:region}"], "gallery": true},
\t\t"fs": {
\t\t\t"command": "npx",
\t\t\t"args": ["${workspaceFolder}/src", "http://no-comment", "/*", ",]"],
\t\t\t"env": {"TOKEN": "${input:github-token}", "C": "${command:x.y}"},
\t\t\t"envFile": "${workspaceFolder}/.env", // last
\t\t},
\t}
}"""
CURSOR = """{"mcpServers": {
  "notion": {"url": "https://mcp.notion.com/mcp", "headers": {"Authorization": "Bearer ${env:NOTION}"}},
  "again": {"url": "https://mcp.notion.com/mcp", "headers": {"Authorization": "Bearer ${env:NOTION}"}},
  "free": {"command": "node", "args": ["${userHome}/s.js"], "trusted": true, "sandbox": "free"}, "n": 3}}"""
DESKTOP = (
    '\ufeff{"globalShortcut": "", "mcpServers": {"files": {"command": "npx", "args": ["-y", "server", "/Users/me"]}}}'
)


@pytest.fixture(autouse=True)
def user(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HARNESS_USER_DIR", str(tmp_path / "user"))
    monkeypatch.chdir(tmp_path)
    return tmp_path / "user" / "mcp.json"


@pytest.mark.parametrize(
    ("text", "taken", "said"),
    [
        (
            CLAUDE_CODE,
            ["context7", "supabase", "linear", "db"],
            (
                "context7  taken: https://mcp.context7.com\n",
                "ide  left out: its type is 'ws-ide'; it can be stdio, http or sse; not taken over: authToken\n",
                "puppeteer  left out: of another folder; run this in /other\n",
                "4 servers added",
            ),
        ),
        (
            VS_CODE,
            ["microsoft-playwright-mcp", "fs"],
            (
                "taken: npx; there it is 'microsoft/playwright-mcp'; not taken over: gallery\n",
                "not taken over: envFile; set GITHUB_TOKEN: GitHub token; harness does not know ${command:x.y}\n",
            ),
        ),
        (
            CURSOR,
            ["notion", "free"],
            (
                "again  left out: it is notion once more\n",
                "free  taken: node; not taken over: trusted, sandbox\n",
                "n  left out: it is not a table\n",
            ),
        ),
        (DESKTOP, ["files"], ("files  taken: npx\n",)),
    ],
)
def test_servers_of_another_program_are_taken_over(
    user: Path, capsys: pytest.CaptureFixture[str], text: str, taken: list[str], said: tuple[str, ...]
) -> None:
    source = user.parent.parent / "source.json"
    source.write_text(text.replace("HERE", str(user.parent.parent)), "utf-8")
    assert main(("mcp", "import", str(source))) == 0
    output = capsys.readouterr().out
    entries = json.loads(user.read_text())["mcpServers"]
    assert list(entries) == taken
    assert all(line in output for line in said), output
    assert "S3CRET" not in output
    assert entries.get("linear", {"disabled": True})["disabled"]
    if fs := entries.get("fs"):
        assert fs["args"] == ["${workspaceFolder}/src", "http://no-comment", "/*", ",]"]
        assert fs["env"]["TOKEN"] == "${GITHUB_TOKEN}"
        assert entries["microsoft-playwright-mcp"]["args"] == ["--in", "${REGION:-eu}"]


def test_a_name_that_exists_is_kept_unless_told_otherwise(user: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("cursor.json").write_text(CURSOR)
    assert main(("mcp", "add", "notion", "https://mine.example")) == 0
    assert main(("mcp", "import", "cursor.json", "--only", "notion")) == 0
    assert "notion  left out: there is one of this name; --replace takes this one" in capsys.readouterr().out
    assert json.loads(user.read_text())["mcpServers"]["notion"]["url"] == "https://mine.example"
    assert main(("mcp", "import", "cursor.json", "--only", "notion", "--replace")) == 0
    assert json.loads(user.read_text())["mcpServers"]["notion"]["url"] == "https://mcp.notion.com/mcp"
    assert list(json.loads(user.read_text())["mcpServers"]) == ["notion"]


@pytest.mark.parametrize("text", ["{", "[]", '{"mcpServers": 3}', "{}", None])
def test_a_file_without_servers_is_one_sentence_and_code_2(
    capsys: pytest.CaptureFixture[str], text: str | None
) -> None:
    if text is not None:
        Path("x.json").write_text(text)
    assert main(("mcp", "import", "x.json")) == 2
    assert capsys.readouterr().err.startswith("harness: x.json ")


def test_what_an_editor_refers_to_is_known_at_the_start(
    user: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROGRAM", "nothing")
    assert main(("mcp", "add", "a", "--", "${workspaceFolder}/${env:PROGRAM}")) == 0
    assert main(("mcp", "list")) == 1
    assert f"there is no program {user.parent.parent}/nothing" in capsys.readouterr().out
