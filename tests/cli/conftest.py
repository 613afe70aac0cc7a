"""A folder to work in, for commands that run in the process of the test."""

from pathlib import Path

import pytest

from tests.ui.program import Place


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    """This very process, in a folder of its own and with a clean environment."""
    place = Place(tmp_path / "project")
    place.folder.mkdir()
    monkeypatch.chdir(place.folder)
    for name in ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "MODEL_ID", "FALLBACK_MODEL_ID"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HARNESS_STATE_DIR", str(place.state))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return place
