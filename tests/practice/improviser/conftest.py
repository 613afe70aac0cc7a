"""A small project to talk about."""

import subprocess
from pathlib import Path

import pytest

FILES = {
    "README.md": (
        "# Demo\n\nA small demo project.\n\n## Install\n\nRun it.\n\n```sh\n# not a heading\n```\n\n## Use\n\nEnjoy.\n"
    ),
    "src/app.py": (
        '"""The application."""\n\n\nclass App:\n    def run(self) -> None:\n        pass  # TODO finish this\n\n\n'
        "def main() -> None:\n    App().run()\n"
    ),
    "docs/guide.md": "# Guide\n\nHow to use it.\n",
    "a.txt": "one\ntwo\n",
    "b.txt": "one\nthree\n",
    "config.toml": 'timeout = 10\nname = "demo"\n',
}


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with a few files."""
    folder = tmp_path / "project"
    for name, text in FILES.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


@pytest.fixture
def repository(project: Path) -> Path:
    """The same folder with one commit, on the branch main."""
    identity = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    for command in (("init", "-q", "-b", "main", "."), ("add", "."), (*identity, "commit", "-qm", "The beginning")):
        subprocess.run(("git", *command), cwd=project, check=True)
    return project
