"""What is set, from where, and what will happen."""

import io
import re
import socket
from pathlib import Path

import pytest

from harness.doctor import doctor
from harness.practice.server import PracticeServer
from tests.ui.program import Place, run

KEY = "sk-ant-0123456789-abcdefghijkl-WXYZ"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder, and an environment that sets nothing but where things are kept."""
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "MODEL_ID", "FALLBACK_MODEL_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HARNESS_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    project = tmp_path / "project"
    project.mkdir()
    return project


def examined(folder: Path) -> tuple[int, str]:
    out = io.StringIO()
    return doctor(out, workspace=str(folder)), out.getvalue()


def test_without_a_key_the_practice_model_will_answer(folder: Path) -> None:
    code, page = examined(folder)
    assert code == 0
    assert "practice-1, the built-in rule-based practice model" in page
    assert "set ANTHROPIC_API_KEY" in page


def test_every_value_has_its_origin_and_the_key_is_masked(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    (folder / ".env").write_text("MODEL_ID=claude-from-env\n")
    (folder / ".harness").mkdir()
    (folder / ".harness" / "settings.toml").write_text("max_turns = 7\n")
    code, page = examined(folder)
    assert code == 0
    assert re.search(r"•••, \d+ characters \(environment ANTHROPIC_API_KEY\)", page)
    assert "claude-from-env (.env MODEL_ID)" in page
    assert f"7 ({folder / '.harness' / 'settings.toml'}: max_turns)" in page
    assert KEY not in page


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("HARNESS_MAX_TURNS", "few", "HARNESS_MAX_TURNS = 'few'"),
        ("ANTHROPIC_API_KEY", "two words", "api_key"),
        ("ANTHROPIC_BASE_URL", "ftp://example.org", "http://"),
        ("HARNESS_STATE_DIR", "/dev/null/state", "HARNESS_STATE_DIR"),
        ("HARNESS_PRACTICE_SCRIPT", "no-such.toml", "no-such.toml"),
        ("HARNESS_ESCAPE_POLICY", "copis=5", "perhaps copies was meant."),
    ],
)
def test_what_would_fail_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, variable: str, value: str, words: str
) -> None:
    monkeypatch.setenv(variable, value)
    code, page = examined(folder)
    assert code == 1
    (line,) = (line for line in page.splitlines() if "✗" in line)
    assert words in line


def test_what_is_done_about_loops_is_said(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "✓ loops: led out of\n" in examined(folder)[1]
    monkeypatch.setenv("HARNESS_ESCAPE", "off")
    monkeypatch.setenv("HARNESS_ESCAPE_POLICY", "copies=5 nudges=2")
    assert "✓ loops: only told of, with nudges=2, copies=5\n" in examined(folder)[1]


@pytest.mark.anyio
async def test_only_online_asks_the_server(tmp_path: Path) -> None:
    async with PracticeServer() as server:
        place = Place(tmp_path, server.base_url)
        assert (await run(place, "doctor")).code == 0
        assert server.requests == []
        ended = await run(place, "doctor", "--online")
    assert ended.code == 0
    assert [request.path.partition("?")[0] for request in server.requests] == ["/v1/models"]


def test_a_server_that_does_not_answer_is_a_failure(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    monkeypatch.setenv("ANTHROPIC_BASE_URL", f"http://127.0.0.1:{port}")
    out = io.StringIO()
    assert doctor(out, workspace=str(folder), online=True) == 1
    assert "check address, key and network" in out.getvalue()
