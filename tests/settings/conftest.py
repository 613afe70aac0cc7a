"""A workspace and a user's file to read settings from."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness.settings import LoadedSettings, load


@dataclass(frozen=True)
class Place:
    """A folder to run in and the user's settings file, both fresh."""

    workspace: Path
    user_file: Path

    def write(self, *, dotenv: str = "", project: str = "", user: str = "") -> None:
        """Write the files that are not empty."""
        project_file = self.workspace / ".harness" / "settings.toml"
        for path, content in ((self.workspace / ".env", dotenv), (project_file, project), (self.user_file, user)):
            if content:
                path.parent.mkdir(exist_ok=True)
                path.touch(mode=0o600)
                path.write_text(content, encoding="utf-8")

    def load(
        self,
        flags: Mapping[str, object] | None = None,
        environ: Mapping[str, str] | None = None,
        *,
        trust: bool | None = True,
    ) -> LoadedSettings:
        """What `load` makes of it; nothing of the real environment takes part. None: the user was not asked yet."""
        asked = {} if trust is None else {"trust_folder": trust}
        return load({**asked, **(flags or {})}, environ or {}, self.workspace, user_file=self.user_file)


@pytest.fixture
def place(tmp_path: Path) -> Place:
    """Empty."""
    workspace = tmp_path / "project"
    workspace.mkdir()
    return Place(workspace, tmp_path / "home" / "settings.toml")
