"""The five tools of s02: what a model gets wrong is answered, and no file tool leaves the folder."""

from pathlib import Path
from typing import Any

import pytest
from anthropic.types import ToolUseBlock

from chapters.s02_tool_use.demo import HANDLERS, MOST_LINES, TOOLS, answer

pytestmark = pytest.mark.anyio


def test_both_lists_name_the_same_tools() -> None:
    assert [tool["name"] for tool in TOOLS] == list(HANDLERS)


@pytest.mark.parametrize(
    ("name", "given", "told"),
    [
        ("grep", {"pattern": "x"}, "there is no tool grep"),
        ("read_file", {"file": "a.txt"}, "read_file takes no file; it takes path, offset"),
        ("read_file", {}, "read_file needs path"),
        ("read_file", {"path": "a.txt", "offset": "one"}, "offset of read_file has to be of type integer"),
        ("read_file", {"path": "nowhere.txt"}, "No such file"),
        ("read_file", {"path": "../outside.txt"}, "outside of the folder"),
        ("read_file", {"path": "link/outside.txt"}, "outside of the folder"),
        ("write_file", {"path": "/tmp/outside.txt", "content": ""}, "outside of the folder"),
        ("edit_file", {"path": "a.txt", "old": "l", "new": "L"}, "occurs 4 times"),
        ("edit_file", {"path": "a.txt", "old": "absent", "new": ""}, "occurs 0 times"),
        ("edit_file", {"path": "raw.bin", "old": "a", "new": "b"}, "codec"),
    ],
)
async def test_a_mistake_is_answered_with_what_would_be_right(
    tmp_path: Path, name: str, given: dict[str, Any], told: str
) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.txt").write_text("hello\nall\n", "utf-8")
    (folder / "raw.bin").write_bytes(b"\xff\xfe")
    (folder / "link").symlink_to(tmp_path)
    (tmp_path / "outside.txt").write_text("not for you", "utf-8")
    result = await answer(ToolUseBlock(id="1", name=name, input=given, type="tool_use"), folder)
    assert result.get("is_error") is True
    assert told in str(result.get("content"))


async def test_tools_do_their_work(tmp_path: Path) -> None:
    assert await said(tmp_path, "write_file", path="below/ä.txt", content="ä\n") == "wrote 3 bytes"
    assert await said(tmp_path, "glob", pattern="**/*.txt") == "below/ä.txt"
    assert await said(tmp_path, "glob", pattern="*.md") == "nothing fits"
    assert await said(tmp_path, "edit_file", path="below/ä.txt", old="ä", new="ö") == "changed below/ä.txt"
    assert await said(tmp_path, "read_file", path="below/ä.txt") == "1\tö"
    assert await said(tmp_path, "bash", command="cat below/*; exit 3") == "ö\n[exit code 3]"


async def test_a_long_file_says_how_to_read_on(tmp_path: Path) -> None:
    (tmp_path / "long.txt").write_text("".join(f"line {number}\n" for number in range(1, MOST_LINES + 3)), "utf-8")
    first = (await said(tmp_path, "read_file", path="long.txt")).splitlines()
    assert first[-2:] == [f"{MOST_LINES}\tline {MOST_LINES}", f"[2 more lines, from offset {MOST_LINES + 1}]"]
    rest = await said(tmp_path, "read_file", path="long.txt", offset=MOST_LINES + 1)
    assert rest.splitlines() == [f"{number}\tline {number}" for number in (MOST_LINES + 1, MOST_LINES + 2)]


async def said(folder: Path, name: str, **given: object) -> str:
    """What a call that goes well returns."""
    result = await answer(ToolUseBlock(id="1", name=name, input=given, type="tool_use"), folder)
    assert "is_error" not in result, result
    return str(result.get("content"))
