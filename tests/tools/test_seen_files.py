"""An agent overwrites only what it has seen: random interleavings beside a naive model of what it knows."""

import asyncio
import os
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from harness.events import Revision, ToolEnded, ToolOutcome
from harness.tools.edit import carry_out, edit_file_tool, plan_write, write_file_tool
from harness.tools.read_file import read_file_tool
from harness.tools.seen_files import COMPARED_BYTES, SeenFiles
from harness.tools.tool import Tool, ToolContext, ToolError, ToolResult
from harness.tools.workspace import Workspace
from tests.whole import examples

pytestmark = pytest.mark.anyio

PATHS = st.sampled_from(["a", "b", "d/c"])
CONTENTS = st.sampled_from(["", "x\n", "y\n", "x\r\ny\r\n", "x\nx\nz\n"])
STEPS = st.one_of(
    st.tuples(st.just("read"), PATHS),
    st.tuples(st.just("write"), PATHS, CONTENTS),
    st.tuples(st.just("edit"), PATHS, CONTENTS),
    st.tuples(st.sampled_from(["foreign", "own"]), st.just("put"), PATHS, CONTENTS),
    st.tuples(st.sampled_from(["foreign", "own"]), st.just("remove"), PATHS),
    st.tuples(st.sampled_from(["foreign", "own"]), st.just("move"), PATHS, PATHS),
)


async def call(tool: Tool, context: ToolContext, **input: object) -> ToolResult:
    return await tool.run(context, tool.parse(input))


def change(root: Path, how: str, path: str, other: str = "") -> None:
    """What a program other than the file tools does."""
    file = root / path
    match how:
        case "put":
            file.write_bytes(other.encode())
        case "remove":
            file.unlink(missing_ok=True)
        case "move" if file.exists():
            file.rename(root / other)


class Model:
    """What an agent may overwrite, worked out from whole contents."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.seen: dict[str, bytes | None] = {}

    def held(self, path: str) -> bytes | None:
        file = self.root / path
        return file.read_bytes() if file.exists() else None

    def may_write(self, path: str, content: str) -> bool:
        held = self.held(path)
        if held in (None, b"", content.encode()):
            return True
        return held == self.seen[path] if path in self.seen else held in self.seen.values()

    def may_edit(self, path: str) -> bool:
        held = self.held(path)
        unchanged = path not in self.seen or held == self.seen[path]
        return held is not None and unchanged and held.count(b"x") == 1


async def played(root: Path, steps: list[tuple[str, ...]]) -> None:
    context, model = ToolContext(Workspace(root), root / "outputs", "id"), Model(root)
    (root / "d").mkdir()
    for number, step in enumerate(steps):
        match step:
            case ("read", path):
                if (await call(read_file_tool(), context, path=path)).outcome is ToolOutcome.OK:
                    model.seen[path] = model.held(path)
            case ("write", path, content):
                before, may = model.held(path), model.may_write(path, content)
                result = await call(write_file_tool(), context, path=path, content=content)
                assert (result.outcome is ToolOutcome.OK) is may, (number, result.content)
                if may:
                    model.seen[path] = model.held(path)
                else:
                    assert model.held(path) == before
                    assert "ead it" in result.content
            case ("edit", path, content):
                before, may = model.held(path), model.may_edit(path)
                result = await call(edit_file_tool(), context, path=path, old_string="x", new_string=f"w{number}")
                assert (result.outcome is ToolOutcome.OK) is may, (number, result.content)
                assert may or model.held(path) == before
                if may and path in model.seen:
                    model.seen[path] = model.held(path)
            case ("foreign", how, *rest):
                change(root, how, *rest)
            case ("own", how, *rest):
                known = {path for path, content in model.seen.items() if model.held(path) == content}
                current = await asyncio.to_thread(context.seen.current)
                assert {path.relative_to(root).as_posix() for path in current} == known
                change(root, how, *rest)
                context.seen.adopt(current)
                model.seen |= {path: model.held(path) for path in known}


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(STEPS, max_size=12))
def test_nothing_unseen_is_overwritten_and_nothing_seen_refused(steps: list[tuple[str, ...]]) -> None:
    with TemporaryDirectory() as folder:
        asyncio.run(played(Path(folder).resolve(), steps))


async def write(context: ToolContext, path: str, content: str) -> ToolResult:
    return await call(write_file_tool(), context, path=path, content=content)


async def test_a_file_that_was_never_read_is_not_overwritten(context: ToolContext, root: Path) -> None:
    (root / "f").write_text("theirs\n")
    result = await write(context, "f", "mine\n")
    assert result.outcome is ToolOutcome.ERROR
    assert result.content == "f exists, and you have not read it. Read it first, so that nothing in it is lost."
    assert (root / "f").read_text() == "theirs\n"


async def test_a_part_that_was_read_is_enough(context: ToolContext, root: Path) -> None:
    (root / "f").write_text("one\ntwo\n")
    await call(read_file_tool(), context, path="f", limit=1)
    assert (await write(context, "f", "mine\n")).outcome is ToolOutcome.OK


async def test_a_link_and_its_target_are_one_file(context: ToolContext, root: Path) -> None:
    (root / "f").write_text("one\n")
    (root / "link").symlink_to("f")
    await call(read_file_tool(), context, path="link")
    (root / "f").write_text("two\n")
    assert "has changed" in (await write(context, "f", "mine\n")).content
    await call(read_file_tool(), context, path="f")
    assert (await write(context, "link", "mine\n")).outcome is ToolOutcome.OK
    assert (root / "link").is_symlink()


async def test_an_edit_of_a_file_that_was_not_read_does_not_count_as_reading(context: ToolContext, root: Path) -> None:
    (root / "f").write_text("one\ntwo\n")
    edited = await call(edit_file_tool(), context, path="f", old_string="one", new_string="1")
    assert edited.outcome is ToolOutcome.OK
    assert "not read it" in (await write(context, "f", "mine\n")).content


async def test_a_large_file_is_known_by_its_size_and_time(context: ToolContext, root: Path) -> None:
    (root / "f").write_bytes(b"line\n" * (COMPARED_BYTES // 5 + 1))
    await call(read_file_tool(), context, path="f", limit=1)
    (root / "f").open("ab").close()
    os.utime(root / "f", ns=(1, 1))
    assert "has changed" in (await write(context, "f", "mine\n")).content
    await call(read_file_tool(), context, path="f", limit=1)
    assert (await write(context, "f", "mine\n")).outcome is ToolOutcome.OK


@pytest.mark.parametrize("before", [None, "old\n"])
async def test_what_is_written_between_the_look_and_the_write_stays(
    before: str | None, context: ToolContext, root: Path
) -> None:
    if before is not None:
        (root / "f").write_text(before)
        await call(read_file_tool(), context, path="f")
    arguments = write_file_tool().parse({"path": "f", "content": "mine\n"})
    planned = plan_write(context, arguments)
    (root / "f").write_text("theirs\n")
    with pytest.raises(ToolError, match="f has changed since"):
        carry_out(context, planned)
    assert (root / "f").read_text() == "theirs\n"
    assert [path.name for path in root.iterdir()] == ["f"]


async def test_another_agent_has_its_own_view(context: ToolContext, root: Path) -> None:
    writes: dict[Path, tuple[SeenFiles, str]] = {}
    one = ToolContext(context.workspace, context.outputs, "1", seen=SeenFiles(writes))
    two = ToolContext(context.workspace, context.outputs, "2", seen=SeenFiles(writes))
    await write(one, "f", "one\n")
    await call(read_file_tool(), two, path="f")
    current = one.seen.current()  # a command of the first begins
    await write(two, "f", "two\n")
    one.seen.adopt(current)
    assert "has changed" in (await write(one, "f", "three\n")).content
    assert (root / "f").read_text() == "two\n"


def ended(tool: str, path: str, content: str) -> ToolEnded:
    digest = sha256(content.encode()).hexdigest()
    return ToolEnded("1", tool, ToolOutcome.OK, "", 0.1, revision=Revision(path, digest))


async def test_the_journal_says_what_was_seen(context: ToolContext, root: Path) -> None:
    events = [ended("read_file", "a", "1"), ended("write_file", "b", "2"), ended("edit_file", "c", "3")]
    context.seen.recall(root, events)
    for name, content in {"a": "1", "b": "other", "c": "3"}.items():
        (root / name).write_text(content)
    answers = {name: (await write(context, name, "new")).content for name in "abc"}
    assert "Overwrote" in answers["a"]
    assert "has changed" in answers["b"]
    assert "not read it" in answers["c"]
