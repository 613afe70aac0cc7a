"""read_file on real files of all kinds."""

import base64
import os
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.events import ToolOutcome
from harness.tools.edit import write_file_tool
from harness.tools.read_file import read_file_tool
from harness.tools.tool import ToolContext, ToolResult
from harness.tools.workspace import Workspace
from tests.media.files import pdf, png
from tests.whole import examples

KEPT = "write_file and edit_file keep the encoding."
pytestmark = pytest.mark.anyio


async def read(context: ToolContext, path: str, **more: int) -> ToolResult:
    tool = read_file_tool()
    return await tool.run(context, tool.parse({"path": path, **more}))


async def test_lines_are_numbered(context: ToolContext, root: Path) -> None:
    (root / "a.txt").write_text("one\ntwo\n")
    result = await read(context, "a.txt")
    assert (result.content, result.summary) == ("     1\tone\n     2\ttwo", "2 lines")
    writer = write_file_tool()  # which overwrites only files it has read
    assert (await writer.run(context, writer.parse({"path": "a.txt", "content": "x"}))).outcome is ToolOutcome.OK


async def test_a_file_that_is_asked_for_as_a_whole_has_the_revision_that_a_write_of_it_has(
    context: ToolContext, root: Path
) -> None:
    (root / "link.txt").symlink_to("a.txt")
    writer = write_file_tool()
    written = await writer.run(context, writer.parse({"path": "a.txt", "content": "one\ntwo"}))
    assert written.revision is not None
    assert (await read(context, "link.txt")).revision == written.revision
    assert (await read(context, "a.txt", offset=1)).revision is None


async def test_a_range_says_where_to_continue(context: ToolContext, root: Path) -> None:
    (root / "a.txt").write_text("".join(f"line {n}\n" for n in range(1, 11)))
    result = await read(context, "a.txt", offset=4, limit=2)
    assert result.content == "     4\tline 4\n     5\tline 5\n[More lines follow: continue with offset=6.]"
    assert (await read(context, "a.txt", offset=9)).content == "     9\tline 9\n    10\tline 10"


async def test_an_offset_past_the_end_says_how_long_the_file_is(context: ToolContext, root: Path) -> None:
    (root / "a.txt").write_text("x\n" * 10)
    result = await read(context, "a.txt", offset=11)
    assert (result.outcome, result.content) == (
        ToolOutcome.ERROR,
        "a.txt has only 10 lines; offset 11 is past its end.",
    )
    assert "only 10 lines" in (await read(context, "a.txt", offset=99)).content


async def test_a_result_is_bounded_and_can_be_continued(context: ToolContext, root: Path) -> None:
    (root / "big.txt").write_text("".join(f"{n} {'x' * 500}\n" for n in range(1, 1001)))
    result = await read(context, "big.txt")
    assert len(result.content) <= 50_000
    shown = len(result.content.splitlines()) - 1
    assert result.content.endswith(f"[More lines follow: continue with offset={shown + 1}.]")


async def test_one_endless_line_is_cut_and_counts_as_one(context: ToolContext, root: Path) -> None:
    (root / "min.js").write_text("x" * 3_000_000 + "\nsecond\n")
    result = await read(context, "min.js")
    assert len(result.content) < 3_000
    assert "line cut" in result.content
    assert result.content.endswith("     2\tsecond")


@settings(max_examples=examples(150), deadline=None)
@given(text=st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0\ufeff"), min_size=1, max_size=200))
def test_the_lines_shown_are_the_lines_of_the_file(text: str) -> None:
    import asyncio

    data = text.encode()
    if any(data.startswith(magic) for magic in (b"GIF8", b"PK\x03\x04", b"%PDF")):
        return
    with TemporaryDirectory() as folder:
        context = ToolContext(Workspace(Path(folder)), Path(folder) / "outputs", "id")
        (Path(folder) / "f").write_bytes(data)
        shown = asyncio.run(read(context, "f")).content
    lines = text.split("\n")
    expected = lines[:-1] if lines[-1] == "" else lines
    assert shown == "\n".join(f"{n:>6}\t{line.removesuffix(chr(13))}" for n, line in enumerate(expected, 1))


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        (b"\xef\xbb\xbfmarked\n", "     1\tmarked"),
        (b"a\r\nb\r\n", "     1\ta\n     2\tb"),
        ("größe\n".encode("utf-16"), f"     1\tgröße\n[The file is UTF-16; shown as text. {KEPT}]"),
        (b"caf\xe9\nok\n", f"     1\tcafé\n     2\tok\n[The file is Latin-1; shown as text. {KEPT}]"),
        (
            "日本語のテキスト\n".encode("cp932"),
            f"     1\t日本語のテキスト\n[The file is Shift JIS; shown as text. {KEPT}]",
        ),
        (
            "日本語のテキスト\n".encode("euc_jp"),
            f"     1\t日本語のテキスト\n[The file is EUC-JP; shown as text. {KEPT}]",
        ),
        (
            "café ".encode() + b"caf\xe9\nok\n",
            "     1\tcafé caf\ufffd\n     2\tok\n[Not valid UTF-8: bad bytes, on 1 line, are shown as \ufffd.]",
        ),
        ("\ufffd is fine\n".encode(), "     1\t\ufffd is fine"),
        (b"", "(the file is empty)"),
        (b"\n", "     1\t"),
    ],
)
async def test_encodings(data: bytes, shown: str, context: ToolContext, root: Path) -> None:
    (root / "f").write_bytes(data)
    assert (await read(context, "f")).content == shown


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"\x89PNG\r\n\x1a\n", "f cannot be read as an image"),
        (b"%PDF-1.7 ...", "f cannot be read as a PDF"),
        (b"abc\0def", "a binary file of 7 bytes"),
        (b"\x7fELF\x02", "an ELF program"),
    ],
)
async def test_binary_files_are_refused_with_kind_and_size(
    data: bytes, kind: str, context: ToolContext, root: Path
) -> None:
    (root / "f").write_bytes(data)
    result = await read(context, "f")
    assert result.outcome is ToolOutcome.ERROR
    assert kind in result.content


async def test_an_image_is_shown_with_its_size_and_the_revision_of_its_file(context: ToolContext, root: Path) -> None:
    data = png(30, 20)
    (root / "dot.txt").write_bytes(data)  # what it is says its content, not its name
    result = await read(context, "dot.txt")
    (block,) = result.media
    assert base64.b64decode(block["source"]["data"]) == data
    assert "30 × 20 pixels" in result.content
    assert (result.summary, result.outcome) == ("30×20", ToolOutcome.OK)
    assert result.revision is not None
    assert result.revision.resource == "dot.txt"
    writer = write_file_tool()
    assert (await writer.run(context, writer.parse({"path": "dot.txt", "content": "x"}))).outcome is ToolOutcome.OK


async def test_a_pdf_is_shown_as_a_document(context: ToolContext, root: Path) -> None:
    (root / "paper.pdf").write_bytes(pdf(3))
    result = await read(context, "paper.pdf")
    (block,) = result.media
    assert (block["type"], block["title"], result.summary) == ("document", "paper.pdf", "3 pages")


async def test_an_image_that_is_too_large_is_refused_before_it_is_read(context: ToolContext, root: Path) -> None:
    with (root / "huge.png").open("wb") as file:
        file.write(png(1, 1))
        file.truncate(60_000_000)
    result = await read(context, "huge.png")
    assert result.outcome is ToolOutcome.ERROR
    assert result.content == "huge.png has 60,000,000 bytes, and an image or PDF may have 50,000,000."


async def test_what_cannot_be_read_is_answered(context: ToolContext, root: Path) -> None:
    (root / "config.toml").touch()
    os.mkfifo(root / "pipe")
    for path, reported in {
        "confg.toml": "Near it: config.toml",
        ".": "is a directory of 2 entries: config.toml, pipe",
        "pipe": "not a regular file but a named pipe",
        "../x": f"outside the workspace (it leads to {root.parent / 'x'})",
        "x" * 4_000: "File name too long",
    }.items():
        result = await read(context, path)
        assert result.outcome is ToolOutcome.ERROR
        assert reported in result.content


async def test_a_link_that_leads_out_is_refused(context: ToolContext, root: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("s")
    (root / "link").symlink_to(tmp_path / "secret")
    (root / "folder").symlink_to(tmp_path)
    for path in ("link", "folder/secret"):
        result = await read(context, path)
        assert result.outcome is ToolOutcome.ERROR
        assert str(root) in result.content


async def test_the_summary_names_the_lines(context: ToolContext) -> None:
    assert read_file_tool().summarise({"path": "a", "offset": 7}) == "a from line 7"


async def test_a_line_without_an_end_is_refused(context: ToolContext, root: Path) -> None:
    with (root / "endless").open("wb") as file:
        file.write(b"text\n" + b"x" * 9_000)
        file.truncate(2_000_000_000_000)  # sparse: it takes no space
    result = await read(context, "endless", offset=2)
    assert result.outcome is ToolOutcome.ERROR
    assert "a line of more than 20,000,000 characters; use bash" in result.content
