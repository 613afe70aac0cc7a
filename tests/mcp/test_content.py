"""What tools of servers answer, block by block."""

import base64
from pathlib import Path
from typing import Any

import pytest
from mcp.types import CallToolResult

from harness.events import ToolOutcome
from harness.mcp.content import ResultContent
from harness.practice.mcp_server import media
from harness.tools.tool import ToolContext, ToolResult
from harness.tools.workspace import Workspace


@pytest.fixture
def result(tmp_path: Path) -> Any:
    def made(characters: int = 5_000, **answer: Any) -> ToolResult:
        context = ToolContext(Workspace(tmp_path), tmp_path / "outputs", "c1")
        return ResultContent(context, characters).result(CallToolResult.model_validate(answer))

    return made


def test_each_kind_of_block_is_shown_or_named(result: Any, tmp_path: Path) -> None:
    found = result(content=media())
    assert [block["type"] for block in found.media] == ["image"]
    assert "four kinds" in found.content
    assert "[Resource note://1 (text/plain, 12 bytes): first note]" in found.content
    assert "[Resource note://2]\nthe second note" in found.content
    (audio,) = (tmp_path / "outputs").iterdir()
    assert audio.read_bytes() == b"RIFF"
    assert str(audio) in found.content


@pytest.mark.parametrize(
    ("texts", "structured", "shown"),
    [
        (['{"a": 1}'], {"a": 1}, '{"a": 1}'),
        (["plain"], {"result": "plain"}, "plain"),
        ([], {"a": 1}, '{\n "a": 1\n}'),
        (["in words"], {"a": 1}, 'in words\n\n{\n "a": 1\n}'),
        (["\ud800"], None, "\ufffd"),
        ([], None, "(nothing returned)"),
    ],
)
def test_structured_content_is_not_said_twice(result: Any, texts: list[str], structured: Any, shown: str) -> None:
    content = [{"type": "text", "text": text} for text in texts]
    assert result(content=content, structuredContent=structured).content == shown


def test_all_blocks_of_an_error_are_kept(result: Any) -> None:
    found = result(content=[{"type": "text", "text": "one"}, {"type": "text", "text": "two"}], isError=True)
    assert (found.outcome, found.content) == (ToolOutcome.ERROR, "one\n\ntwo")


def test_what_is_damaged_or_unknown_is_said(result: Any, tmp_path: Path) -> None:
    svg = base64.b64encode(b"<svg/>").decode()
    blocks = [
        {"type": "image", "data": "%%%", "mimeType": "image/png"},
        {"type": "image", "data": svg, "mimeType": "image/svg+xml"},
        {"type": "image", "data": svg, "mimeType": "../../etc/x"},
    ]
    found = result(content=blocks)
    assert not found.media
    assert {path.parent for path in (tmp_path / "outputs").iterdir()} == {tmp_path / "outputs"}
    assert found.outcome is ToolOutcome.OK


def test_a_long_text_goes_to_a_file(result: Any) -> None:
    found = result(characters=1_000, content=[{"type": "text", "text": "x" * 100_000}])
    assert len(found.content) <= 1_000
    assert found.full_output is not None
    assert found.full_output.stat().st_size == 100_000
