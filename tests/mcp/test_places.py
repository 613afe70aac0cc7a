"""What a held server gets besides the workspace, by what its entry names."""

from pathlib import Path

import pytest

from harness.mcp.places import named_paths


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "home"
    for made in ("notes", "venv/bin", "app/node_modules/server/dist", ".ssh"):
        (folder / made).mkdir(parents=True)
    (folder / "venv/pyvenv.cfg").touch()
    (folder / "venv/bin/server").touch()
    (folder / "app/node_modules/server/dist/index.js").touch()
    (folder / "server.py").touch()
    monkeypatch.setenv("HOME", str(folder))
    return folder


@pytest.mark.parametrize(
    ("word", "folders"),
    [
        ("~/notes", ["notes"]),
        ("--root=~/notes", ["notes"]),
        ("{}/notes/memory.json", ["notes"]),
        ("{}/venv/bin/server", ["venv"]),
        ("{}/app/node_modules/server/dist/index.js", ["app/node_modules"]),
        ("cd {}/notes; exec server", ["notes"]),
        ("{}/notes:{}/venv", ["notes", "venv"]),
        ("~/", [""]),
        ("{}", [""]),
        ("{}/server.py", ["server.py"]),
        ("{}/missing", []),
        ("{}/..", []),
        ("/", []),
        ("/etc/passwd", []),
        ("/usr/bin/python3", []),
        ("https://example.com/mcp", []),
        ("notes", []),
    ],
)
def test_the_folders_of_a_word(home: Path, word: str, folders: list[str]) -> None:
    wanted = [str((home / one).resolve()) for one in folders]
    assert list(dict.fromkeys(named_paths([word.replace("{}", str(home))]))) == wanted
