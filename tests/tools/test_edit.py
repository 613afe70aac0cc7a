"""write_file and edit_file on real files."""

import asyncio
import ctypes
import os
import resource
import stat
import threading
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.events import Json, ToolOutcome
from harness.tools.edit import carry_out, edit_file_tool, plan_write, write_file_tool
from harness.tools.read_file import read_file_tool
from harness.tools.tool import Tool, ToolContext, ToolResult
from harness.tools.workspace import Workspace
from tests.whole import examples

pytestmark = pytest.mark.anyio

AT_FDCWD, RENAME_EXCHANGE = -100, 2


async def call(tool: Tool, context: ToolContext, input: Json) -> ToolResult:
    return await tool.run(context, tool.parse(input))


async def write(context: ToolContext, path: str, content: str) -> ToolResult:
    """Read the file first, as an agent has to."""
    await read(context, path)
    return await call(write_file_tool(), context, {"path": path, "content": content})


async def edit(context: ToolContext, old: str, new: str, path: str = "f", **more: bool) -> ToolResult:
    return await call(edit_file_tool(), context, {"path": path, "old_string": old, "new_string": new, **more})


async def test_a_new_file_is_written_with_its_folders(context: ToolContext, root: Path) -> None:
    result = await write(context, "deep/er/a.txt", "one\ntwo")
    assert (root / "deep/er/a.txt").read_text() == "one\ntwo"
    assert result.content == "Wrote deep/er/a.txt: 7 bytes, 2 lines."
    assert result.detail == (
        "--- /dev/null\n+++ b/deep/er/a.txt\n@@ -0,0 +1,2 @@\n+one\n+two\n\\ No newline at end of file\n"
    )


async def test_an_old_file_is_replaced_and_keeps_its_mode(context: ToolContext, root: Path) -> None:
    (root / "run.sh").write_text("old\n")
    (root / "run.sh").chmod(0o754)
    result = await write(context, "run.sh", "new\n")
    assert result.content == "Overwrote run.sh: 4 bytes, 1 line."
    assert "-old\n+new\n" in result.detail
    assert stat.S_IMODE((root / "run.sh").stat().st_mode) == 0o754


async def test_a_new_file_gets_the_mode_of_any_new_file(context: ToolContext, root: Path) -> None:
    (root / "plain").touch()
    await write(context, "ours", "x")
    assert (root / "ours").stat().st_mode == (root / "plain").stat().st_mode


async def test_a_write_goes_through_a_link_inside_and_never_outside(
    context: ToolContext, root: Path, tmp_path: Path
) -> None:
    (root / "real").write_text("old")
    (root / "link").symlink_to("real")
    await write(context, "link", "new")
    assert (root / "link").is_symlink()
    assert (root / "real").read_text() == "new"
    (root / "out").symlink_to(tmp_path / "outside.txt")
    result = await write(context, "out", "x")
    assert result.outcome is ToolOutcome.ERROR
    assert not (tmp_path / "outside.txt").exists()


async def test_what_cannot_be_written_leaves_nothing_behind(context: ToolContext, root: Path) -> None:
    (root / "folder").mkdir()
    (root / "file").touch()
    os.mkfifo(root / "pipe")
    before = sorted(root.iterdir())
    for path in ("folder", "file/below", "pipe", "/etc/x", "n" * 300):
        result = await write(context, path, "x")
        assert result.outcome is ToolOutcome.ERROR, path
        assert result.content
    assert sorted(root.iterdir()) == before


async def test_a_reader_never_sees_half_a_file(context: ToolContext, root: Path) -> None:
    (root / "f").write_text("a" * 1_000_000)
    seen = set()
    for letter in "bcdef":
        writing = asyncio.create_task(write(context, "f", letter * 1_000_000))
        while not writing.done():
            text = (root / "f").read_text()
            seen.add((len(text), len(set(text))))
            await asyncio.sleep(0)
    assert seen == {(1_000_000, 1)}
    assert [path.name for path in root.iterdir()] == ["f"]


async def test_a_cancelled_write_has_happened_or_has_not(context: ToolContext, root: Path) -> None:
    for ticks in range(6):
        (root / "f").write_text("old")
        await read(context, "f")
        task = asyncio.create_task(call(write_file_tool(), context, {"path": "f", "content": "new"}))
        for _ in range(ticks):
            await asyncio.sleep(0)
        in_time = task.cancel()
        if in_time:
            with pytest.raises(asyncio.CancelledError):
                await task
        at_once = (root / "f").read_text()
        await asyncio.sleep(0.01)
        assert (root / "f").read_text() == at_once
        assert [path.name for path in root.iterdir()] == ["f"]


texts = st.text(st.sampled_from("ab\n "), max_size=30)


@settings(max_examples=examples(120), deadline=None)
@given(text=texts, old=texts.filter(bool), new=texts, everywhere=st.booleans(), crlf=st.booleans(), bom=st.booleans())
def test_an_edit_changes_exactly_what_was_asked(
    text: str, old: str, new: str, everywhere: bool, crlf: bool, bom: bool
) -> None:
    crlf = crlf and "\n" in text  # a text of one line has no kind of line end to keep

    def on_disk(value: str) -> bytes:
        return b"\xef\xbb\xbf" * bom + (value.replace("\n", "\r\n") if crlf else value).encode()

    with TemporaryDirectory() as folder:
        root = Path(folder)
        context = ToolContext(Workspace(root), root / "outputs", "id")
        (root / "f").write_bytes(on_disk(text))
        result = asyncio.run(edit(context, old, new, replace_all=everywhere))
        after = (root / "f").read_bytes()
    places = sum(text.startswith(old, start) for start in range(len(text)))
    if old != new and (places == 1 or (everywhere and places)):
        assert result.outcome is ToolOutcome.OK
        assert after == on_disk(text.replace(old, new))
    else:
        assert result.outcome is ToolOutcome.ERROR
        assert after == on_disk(text)


async def test_several_matches_are_counted_with_their_lines(context: ToolContext, root: Path) -> None:
    (root / "f").write_text("x = 1\ny\nx = 1\n")
    result = await edit(context, "x = 1", "x = 2")
    assert "occurs 2 times in f, from lines 1, 3." in result.content
    assert (root / "f").read_text() == "x = 1\ny\nx = 1\n"
    result = await edit(context, "x = 1", "x = 2", replace_all=True)
    assert (result.content, result.summary) == ("Edited f: 2 replacements.", "2 replacements")


async def test_overlapping_places_are_not_unique(context: ToolContext, root: Path) -> None:
    (root / "f").write_text("aaa")
    assert "occurs 2 times" in (await edit(context, "aa", "b")).content


@pytest.mark.parametrize(
    ("text", "old", "hint"),
    [
        ("def f():\n\treturn 1\n", "def f():\n    return 1", "Line 1 matches but for white space"),
        ("alpha\nreturn total + 1\n", "return totl + 1", "The nearest is line 2: return total + 1"),
        ("alpha\n", "zzzzzz", "does not occur in f."),
        ("alpha\n", "\nalpha", "Line 1 matches but for white space"),
    ],
)
async def test_no_match_gets_a_hint(text: str, old: str, hint: str, context: ToolContext, root: Path) -> None:
    (root / "f").write_text(text)
    assert hint in (await edit(context, old, "new")).content


async def test_an_edit_that_changes_nothing_is_refused(context: ToolContext, root: Path) -> None:
    (root / "f").write_text("a")
    assert "nothing to change" in (await edit(context, "a", "a")).content


async def test_bytes_that_are_not_utf8_stay_as_they_are(context: ToolContext, root: Path) -> None:
    (root / "f").write_bytes(b"caf\xe9 = 1\nlast")
    result = await edit(context, "= 1", "= 2")
    assert (root / "f").read_bytes() == b"caf\xe9 = 2\nlast"
    result.detail.encode()


async def test_mixed_line_ends_are_matched_as_they_are(context: ToolContext, root: Path) -> None:
    (root / "f").write_bytes(b"a\r\nb\nc\n")
    assert (await edit(context, "b\nc", "B\nC")).outcome is ToolOutcome.OK
    assert (root / "f").read_bytes() == b"a\r\nB\nC\n"


async def test_binary_missing_and_outside_files_are_not_edited(context: ToolContext, root: Path) -> None:
    (root / "f").write_bytes(b"a\0b")
    assert "binary" in (await edit(context, "a", "b")).content
    assert "does not exist" in (await edit(context, "a", "b", path="g")).content
    assert "outside the workspace" in (await edit(context, "a", "b", path="../g")).content


async def test_the_question_shows_the_diff_or_why_it_will_fail(context: ToolContext, root: Path) -> None:
    (root / "f").write_text("old\n")
    tool = edit_file_tool()
    assert tool.preview is not None
    shown = tool.preview(context, tool.parse({"path": "f", "old_string": "old", "new_string": "new"}))
    assert shown == "--- a/f\n+++ b/f\n@@ -1 +1 @@\n-old\n+new\n"
    assert "does not occur" in tool.preview(context, tool.parse({"path": "f", "old_string": "x", "new_string": "y"}))
    writer = write_file_tool()
    assert writer.preview is not None
    assert "outside" in writer.preview(context, writer.parse({"path": "/x", "content": ""}))
    assert writer.preview(context, writer.parse({"path": "f", "content": "old\n"})) == "(no change)"
    assert (root / "f").read_text() == "old\n"


async def test_new_content_never_runs_with_the_rights_of_the_owner(context: ToolContext, root: Path) -> None:
    (root / "tool").write_text("old")
    (root / "tool").chmod(0o6755)
    await write(context, "tool", "new")
    assert stat.S_IMODE((root / "tool").stat().st_mode) == 0o755


@pytest.mark.parametrize(
    ("before", "content", "after"),
    [
        (b"\xef\xbb\xbfold\n", "new\n", b"\xef\xbb\xbfnew\n"),
        (b"\xef\xbb\xbfold\n", "\ufeffnew\n", b"\xef\xbb\xbfnew\n"),
        (b"a\r\nb\r\n", "c\nd\n", b"c\r\nd\r\n"),
        (b"a\r\nb\r\n", "c\r\nd\n", b"c\r\nd\r\n"),
        (b"a\r\nb\n", "c\nd\n", b"c\nd\n"),
        (b"a\n", "c\r\n", b"c\r\n"),
        (b"", "c\n", b"c\n"),
    ],
)
async def test_a_file_that_is_overwritten_keeps_its_mark_and_its_line_ends(
    context: ToolContext, root: Path, before: bytes, content: str, after: bytes
) -> None:
    (root / "f").write_bytes(before)
    await write(context, "f", content)
    assert (root / "f").read_bytes() == after


async def test_a_read_only_file_is_not_changed(context: ToolContext, root: Path) -> None:
    (root / "f").write_text("old")
    (root / "f").chmod(0o444)
    for result in (await write(context, "f", "new"), await edit(context, "old", "new")):
        assert result.outcome is ToolOutcome.ERROR
        assert "f is read-only" in result.content
    assert (root / "f").read_text() == "old"


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "renameat2"), reason="nothing exchanges two names at once here")
async def test_a_folder_that_becomes_a_link_meanwhile_leads_nowhere(
    context: ToolContext, root: Path, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    for folder in (outside, root / "d"):
        folder.mkdir()
        (folder / "f").write_text("hidden" if folder is outside else "open")
    (root / "link").symlink_to(outside)
    done = threading.Event()
    libc = ctypes.CDLL(None)

    def exchange() -> None:
        here, there = os.fsencode(root / "d"), os.fsencode(root / "link")
        while not done.is_set():
            assert libc.renameat2(AT_FDCWD, here, AT_FDCWD, there, RENAME_EXCHANGE) == 0

    thread = threading.Thread(target=exchange)
    thread.start()
    try:
        for _ in range(150):
            await write(context, "d/f", "changed")
            assert "hidden" not in (await edit(context, "hiden", "else", "d/f")).content
            assert "hidden" not in (await read(context, "d/f")).content
    finally:
        done.set()
        thread.join()
    assert (outside / "f").read_text() == "hidden"
    assert [file.name for file in outside.iterdir()] == ["f"]


async def read(context: ToolContext, path: str) -> ToolResult:
    return await call(read_file_tool(), context, {"path": path})


async def test_a_file_keeps_its_other_names(context: ToolContext, root: Path) -> None:
    (root / "f").write_text("old\nrest\n")
    (root / "f").chmod(0o640)
    (root / "other").hardlink_to(root / "f")
    await edit(context, "old", "new and longer")
    assert (root / "other").read_text() == "new and longer\nrest\n"
    await write(context, "f", "short\n")
    assert (root / "other").read_text() == "short\n"
    assert (root / "f").samefile(root / "other")
    assert stat.S_IMODE((root / "f").stat().st_mode) == 0o640
    assert sorted(path.name for path in root.iterdir()) == ["f", "other"]


@pytest.mark.skipif(not hasattr(os, "setxattr"), reason="no extended attributes here")
async def test_a_file_keeps_its_extended_attributes(context: ToolContext, root: Path) -> None:
    (root / "f").write_text("old\n")
    try:
        os.setxattr(root / "f", "user.note", b"kept")
    except OSError as error:
        pytest.skip(f"no extended attributes on this disk: {error}")
    await write(context, "f", "new\n")
    assert ((root / "f").read_text(), os.getxattr(root / "f", "user.note")) == ("new\n", b"kept")


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file to another user")
async def test_a_file_keeps_its_owner_and_group(context: ToolContext, root: Path) -> None:
    (root / "f").write_text("old\n")
    os.chown(root / "f", 1234, 2345)
    await write(context, "f", "new\n")
    status = (root / "f").stat()
    assert ((root / "f").read_text(), status.st_uid, status.st_gid) == ("new\n", 1234, 2345)


async def test_a_full_disk_leaves_a_file_with_other_names_as_it_was(context: ToolContext, root: Path) -> None:
    (root / "f").write_text("old\n" * 10)
    (root / "other").hardlink_to(root / "f")
    arguments = write_file_tool().parse({"path": "f", "content": "new\n" * 1_000})
    await read(context, "f")
    planned = plan_write(context, arguments)

    def written() -> str:
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (2_000, hard))  # as a disk that is full after 2,000 bytes
        try:
            carry_out(context, planned)
        except OSError as error:
            return str(error)
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        return ""

    assert "too large" in written()
    assert (root / "f").read_text() == "old\n" * 10
    assert (root / "f").samefile(root / "other")
    assert sorted(path.name for path in root.iterdir()) == ["f", "other"]


TEXTS = {"latin-1": "café\n", "cp1252": "“café”\n", "cp932": "日本語のテスト\n", "euc_jp": "日本語のテスト\n"}


@pytest.mark.parametrize("codec", [*TEXTS, "utf-16", "utf-32", "utf-8-sig"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
async def test_a_file_keeps_its_encoding(codec: str, end: str, context: ToolContext, root: Path) -> None:
    def on_disk(text: str) -> bytes:
        return text.replace("\n", end).encode(codec)

    text = TEXTS.get(codec, "größe\n")
    letter = text.strip("“”\n")[0]
    (root / "f").write_bytes(on_disk(f"key = 1\n{text}"))
    assert (await edit(context, "1", f"2 {letter}")).outcome is ToolOutcome.OK
    assert (root / "f").read_bytes() == on_disk(f"key = 2 {letter}\n{text}")
    result = await write(context, "f", f"{text}new\n")
    assert (root / "f").read_bytes() == on_disk(f"{text}new\n")
    assert "+new" in result.detail


@pytest.mark.parametrize("codec", TEXTS)
async def test_a_character_that_the_encoding_does_not_have_is_refused(
    codec: str, context: ToolContext, root: Path
) -> None:
    before = TEXTS[codec].encode(codec)
    (root / "f").write_bytes(before)
    for result in (await write(context, "f", "ok \U0001f600\n"), await edit(context, "\n", " \U0001f600\n")):
        assert result.outcome is ToolOutcome.ERROR
        assert "which has no '\U0001f600' (in the new text). Write it without that character" in result.content
    assert (root / "f").read_bytes() == before


@settings(max_examples=examples(200), deadline=None)
@given(st.binary(max_size=60))
def test_any_bytes_around_an_edit_stay_as_they_are(data: bytes) -> None:
    with TemporaryDirectory() as folder:
        root = Path(folder)
        context = ToolContext(Workspace(root), root / "outputs", "id")
        (root / "f").write_bytes(b"@old@\n" + data)
        result = asyncio.run(edit(context, "@old@", "@new@"))
        after = (root / "f").read_bytes()
    ok = result.outcome is ToolOutcome.OK
    assert after == (b"@new@\n" if ok else b"@old@\n") + data
    assert ok or b"\0" in data or b"@old@" in data
