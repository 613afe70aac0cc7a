"""/prompt in front of a real session."""

from pathlib import Path

import pytest

from harness.base.errors import HarnessError
from harness.engine.permissions.asker import NoAsker
from harness.session import Session, open_session
from harness.ui.commands.commands import run_command
from harness.ui.commands.results import ShowText
from tests.agent.stage import settings_of

pytestmark = pytest.mark.anyio


async def opened(folder: Path) -> Session:
    return await open_session(settings_of(folder, "http://127.0.0.1:9"), NoAsker(), warm=False)


def said(line: str, session: Session) -> str:
    """The text that a command shows."""
    result = run_command(line, session)
    assert isinstance(result, ShowText)
    return result.text


async def test_it_lists_the_parts_with_their_sizes_and_the_files_that_they_come_from(tmp_path: Path) -> None:
    (tmp_path / "workspace").mkdir()
    (tmp_path / "workspace" / "AGENTS.md").write_text("Use \x1b[31mtabs.")
    async with await opened(tmp_path) as session:
        lines = said("/prompt", session).splitlines()
        sizes = [int(line.split(" tokens")[0].split()[-1].replace(",", "")) for line in lines if " tokens" in line]
        assert sum(sizes[:-1]) == sizes[-1]
        assert lines[-1].endswith(" tokens of 1,000,000; /prompt and a name show the text")
        assert any(line.strip() == str(tmp_path / "workspace" / "AGENTS.md") for line in lines)
        shown = said("/prompt instructions", session)
        assert "Use \\x1b[31mtabs." in shown
        assert "todo_write" in said("/prompt tool schemas", session)


async def test_a_part_that_does_not_exist_is_refused_with_those_that_do(tmp_path: Path) -> None:
    async with await opened(tmp_path) as session:
        with pytest.raises(HarnessError, match="did you mean identity"):
            run_command("/prompt identify", session)
        with pytest.raises(HarnessError, match="there are identity, work, tools"):
            run_command("/prompt xyzq", session)
