"""/memory in front of a real session."""

from pathlib import Path

import pytest

from harness.base.errors import HarnessError
from harness.engine.permissions.asker import NoAsker
from harness.memory import MemoryOwner, MemoryType
from harness.session import open_session
from harness.ui.commands.commands import run_command
from tests.agent.stage import settings_of
from tests.memory.shelves import draft
from tests.ui.commands.test_prompt import said

pytestmark = pytest.mark.anyio


async def test_it_lists_shows_forgets_and_brings_back(tmp_path: Path) -> None:
    async with await open_session(settings_of(tmp_path, "http://127.0.0.1:9"), NoAsker(), warm=False) as session:
        assert said("/memory", session) == "There are no memories yet; say “remember that …”."
        store = session.memory.store
        store.keep(draft("Indentation", "Tabs \x9b2J everywhere.", "What they \x1b[31mwant."), MemoryOwner.PERSON)
        store.keep(draft("release day", "Friday.", "When.", MemoryType.PROJECT), MemoryOwner.PROJECT)
        (tmp_path / "memory" / "broken.md").write_bytes(b"\0")
        lines = said("/memory", session).splitlines()
        size = (tmp_path / "memory" / "indentation.md").stat().st_size
        assert lines[0] == f"  indentation  person   user        0 min    {size} B  What they [31mwant."
        assert lines[1].split()[:3] == ["release-day", "project", "project"]
        assert lines[2] == f"  ! {tmp_path / 'memory' / 'broken.md'}: is left out: it is no text in UTF-8"
        shown = said("/memory Release day", session)
        assert "release-day · project · project · 0 min old · " in shown
        assert f"written in session {session.id}" in shown
        assert shown.endswith("\nWhen.\n\nFriday.")
        assert "\x9b" not in said("/memory indentation", session)
        file = store.folders[MemoryOwner.PROJECT] / "release-day.md"
        assert said("/memory edit release-day", session) == str(file)
        assert said("/memory edit broken", session) == str(tmp_path / "memory" / "broken.md")
        assert said("/memory forget release day project", session).startswith(
            "Forgotten, for the project; /memory undo"
        )
        assert not file.exists()
        assert "can restore: release-day." in said("/memory", session)
        assert said("/memory undo release-day", session) == "Restored release-day, for the project."
        assert "Friday." in file.read_text()


async def test_what_cannot_be_done_is_a_sentence(tmp_path: Path) -> None:
    settings = settings_of(tmp_path, "http://127.0.0.1:9")
    async with await open_session(settings, NoAsker(), warm=False) as session:
        session.memory.store.keep(draft("indentation"), MemoryOwner.PERSON)
        for line, words in (
            ("/memory forget", "Which memory"),
            ("/memory indentaton", "did you mean indentation"),
            ("/memory edit none", "There is no memory 'none'"),
            ("/memory undo indentation", "Nothing is kept"),
            ("/memory ../../etc/passwd", "There is no memory"),
        ):
            with pytest.raises(HarnessError, match=words):
                run_command(line, session)
    off = settings_of(tmp_path, "http://127.0.0.1:9", memory=False)
    async with await open_session(off, NoAsker(), warm=False) as session:
        with pytest.raises(HarnessError, match="Memory is off"):
            run_command("/memory", session)
