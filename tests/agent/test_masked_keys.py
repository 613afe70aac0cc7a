"""A key that a tool printed is hidden from the model, and its mask is never written to a file."""

import json
from pathlib import Path

import pytest

from harness.base.secrets import MASK
from tests.agent.stage import KEY, calls, played, says, sessions

pytestmark = pytest.mark.anyio


def writes(name: str, content: str) -> str:
    return (
        f'{{ name = "write_file", input = {{ path = "{name}", content = {json.dumps(content, ensure_ascii=False)} }} }}'
    )


async def test_a_file_with_a_hidden_key_is_not_written_over_and_any_other_is(tmp_path: Path) -> None:
    script = (
        calls('{ name = "read_file", input = { path = "keys" } }')
        + calls(writes("keys", f"KEY={MASK}\nPORT=1\n"))
        + calls(writes("notes", "PORT=1\n"))
        + says("Done.")
    )
    async with sessions(tmp_path, script) as here, await here.open() as session:
        workspace = here.loaded.settings.workspace
        (workspace / "keys").write_text(f"KEY={KEY}\n")
        turn = await played(session.run("write"))
        assert [result.get("is_error", False) for result in turn.results] == [False, True, False]
        assert MASK in str(turn.results[0]["content"])
        assert "stands for a key that is hidden" in str(turn.results[1]["content"])
        assert (workspace / "keys").read_text() == f"KEY={KEY}\n"
        assert (workspace / "notes").read_text() == "PORT=1\n"
        assert KEY not in session.path.read_text()
