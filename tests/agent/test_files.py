"""The files of the workspace, as a front end lists them."""

from pathlib import Path

import pytest

from harness.session import NoAsker, open_session
from tests.agent.stage import settings_of

pytestmark = pytest.mark.anyio


async def test_a_session_lists_the_files_of_its_workspace_without_what_git_ignores(tmp_path: Path) -> None:
    loaded = settings_of(tmp_path, "http://127.0.0.1:9")
    root = loaded.settings.workspace
    for name in ("notes.md", "src/天気.py", "src/deep/loop.py", "build/out.o", ".git/config"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("")
    (root / ".gitignore").write_text("build/\n")
    async with await open_session(loaded, NoAsker()) as session:
        files = session.files()
        assert {".gitignore", "notes.md", "src/天気.py", "src/deep/loop.py"} <= set(files)
        assert not [file for file in files if file.startswith(("build/", ".git/"))]
        assert session.files(limit=2) == files[:2]
