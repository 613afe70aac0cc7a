"""Labels on the results of real tools."""

import asyncio
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.engine.tools.results import FreshnessLabels, with_label
from harness.events import CommandEnded, FreshnessLabel, Json, ResultLabelled, ToolCall
from harness.practice.faults.tool_faults import parse
from harness.tools import Tool, ToolContext, ToolResult, Workspace, standard_tools
from tests.agent.stage import calls, says, stage
from tests.agent.test_tool_rounds import call

pytestmark = pytest.mark.anyio

TOOLS = {tool.name: tool for tool in standard_tools()}


class Bench:
    """Calls real tools in a folder and asks for the label of each result."""

    def __init__(self, folder: Path) -> None:
        self.context = ToolContext(Workspace(folder), folder / "outputs", "call")
        self.labels = FreshnessLabels(strict=False)
        self.labels.begin_turn(0.0)
        self.step = 0

    async def call(self, tool: Tool | str, **input: Any) -> FreshnessLabel | None:
        tool = TOOLS[tool] if isinstance(tool, str) else tool
        self.step += 1
        result: ToolResult = await tool.run(self.context, tool.parse(input))
        call = ToolCall("call", tool.name, input)
        label = self.labels.label(tool, call, result, step=self.step, at=float(self.step))
        return label.label if label else None


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    (tmp_path / "notes.txt").write_text("one\n")
    (tmp_path / "same.txt").write_text("one\n")
    return Bench(tmp_path)


async def test_work_as_usual_carries_no_label(bench: Bench) -> None:
    work: list[tuple[str, Json]] = [
        ("read_file", {"path": "notes.txt"}),
        ("read_file", {"path": "same.txt"}),
        ("read_file", {"path": "./notes.txt"}),
        ("edit_file", {"path": "notes.txt", "old_string": "one", "new_string": "two"}),
        ("read_file", {"path": "notes.txt"}),
        ("edit_file", {"path": "notes.txt", "old_string": "two", "new_string": "one"}),
        ("read_file", {"path": "notes.txt"}),
        ("write_file", {"path": "notes.txt", "content": "one\n"}),
        ("read_file", {"path": "notes.txt"}),
        ("bash", {"command": "cat notes.txt"}),
        ("bash", {"command": "cat notes.txt"}),
        ("grep", {"pattern": "one"}),
        ("edit_file", {"path": "notes.txt", "old_string": "one", "new_string": "one more"}),
        ("grep", {"pattern": "one", "path": "same.txt"}),
        ("read_file", {"path": "notes.txt", "limit": 1}),
        ("read_file", {"path": "nowhere.txt"}),
        ("read_file", {"path": "nowhere.txt"}),
    ]
    assert [await bench.call(name, **input) for name, input in work] == [None] * len(work)


async def test_a_reader_that_repeats_its_result_is_labelled_after_a_change(bench: Bench) -> None:
    (stale,) = parse('[[fault]]\ntool = "read_file"\nkind = "stale"', "x").applied([TOOLS["read_file"]])
    assert await bench.call(stale, path="notes.txt") is None
    await bench.call("edit_file", path="notes.txt", old_string="one", new_string="two")
    assert await bench.call(stale, path="notes.txt") is FreshnessLabel.CACHED


async def test_a_kept_result_of_an_earlier_turn_is_labelled_with_its_time(bench: Bench) -> None:
    kept = bench.context.outputs / "toolu_1.txt"
    kept.parent.mkdir()
    kept.write_text("3 tests failed\n")
    os.utime(kept, (50.0, 50.0))
    running = bench.context.outputs / "b1.out"
    running.write_text("still at it\n")
    os.utime(running, (50.0, 50.0))
    assert await bench.call("read_file", path=str(kept)) is None
    bench.labels.begin_turn(60.0)
    assert await bench.call("read_file", path=str(kept)) is FreshnessLabel.UNVERIFIED
    assert await bench.call("read_file", path=str(kept), limit=1) is FreshnessLabel.UNVERIFIED
    assert await bench.call("read_file", path=str(running)) is None
    assert await bench.call("read_file", path="notes.txt") is None


@pytest.mark.parametrize("input", [{}, {"path": 3}, {"path": None}, {"path": ""}, {"path": ["a"]}])
def test_odd_input_names_no_resource(input: Json) -> None:
    for name in ("read_file", "write_file", "edit_file"):
        resource = TOOLS[name].resource
        assert resource is not None
        assert resource(input) is None


async def test_the_model_reads_the_label_before_the_result_and_the_event_contains_it(tmp_path: Path) -> None:
    script = (
        calls(call("write_file", path="n.txt", content="one\n"))
        + calls(call("read_file", path="n.txt"))
        + calls(call("edit_file", path="n.txt", old_string="one", new_string="two"))
        + calls(call("read_file", path="n.txt"))
        + says("Done.")
    )
    faults = tmp_path / "faults.toml"
    faults.write_text('[[fault]]\ntool = "read_file"\nkind = "stale"\n')
    async with stage(tmp_path, script, tool_faults=faults) as here:
        turn = await here.turn()
        (labelled,) = turn.of(ResultLabelled)
        assert (labelled.tool, labelled.label) == ("read_file", FreshnessLabel.CACHED)
        assert labelled.evidence == "the same as in step 2, although n.txt was changed in step 3"
        label, _, rest = turn.results[-1]["content"].partition("\n")
        assert label.startswith("[PERHAPS CACHED: this may not be the present state (result of read_file;")
        assert rest == turn.results[1]["content"]


# ── what is fresh although it looks like an earlier result ──────────────────────────────────────


def behind(tool: Tool) -> Tool:
    """A tool that always returns its first result."""
    first: list[ToolResult] = []

    async def run(context: ToolContext, arguments: Any) -> ToolResult:
        if not first:
            first.append(await tool.run(context, arguments))
        return first[0]

    return replace(tool, run=run, caches=None)


async def edit(bench: Bench, old: str, new: str, path: str = "notes.txt") -> None:
    assert await bench.call("edit_file", path=path, old_string=old, new_string=new) is None


# ── what is stale although more happened since ──────────────────────────────────────────────────


async def test_a_stale_reader_is_labelled_each_time_and_the_true_one_never(bench: Bench) -> None:
    reader = behind(TOOLS["read_file"])
    assert await bench.call(reader, path="notes.txt") is None
    await edit(bench, "one", "two")
    await edit(bench, "two", "three")
    assert await bench.call("edit_file", path="notes.txt", old_string="gone", new_string="x") is None
    for _ in range(2):
        assert await bench.call(reader, path="notes.txt") is FreshnessLabel.CACHED
    assert await bench.call("read_file", path="notes.txt") is None
    assert await bench.call(reader, path="notes.txt") is FreshnessLabel.STALE


@pytest.mark.parametrize("as_of", [-1e30, 1e30, float("nan"), float("-inf")])
def test_a_time_that_no_calendar_has_ends_nothing(as_of: float) -> None:
    labels = FreshnessLabels(strict=False)
    labels.begin_turn(100.0)
    asked = ToolCall("call", "read_file", {"path": "x"})
    label = labels.label(TOOLS["read_file"], asked, ToolResult("text", as_of=as_of), step=1, at=101.0)
    assert label is None or with_label("text", label, "read_file").endswith("]\ntext")


async def test_a_name_of_a_file_cannot_end_the_line_of_the_label(bench: Bench) -> None:
    odd = "a]\nb.txt"
    (bench.context.workspace.root / odd).write_text("one\n")
    reader, asked = behind(TOOLS["read_file"]), ToolCall("call", "read_file", {"path": odd})
    await bench.call(reader, path=odd)
    await edit(bench, "one", "two", odd)
    result = await reader.run(bench.context, reader.parse(asked.input))
    label = bench.labels.label(reader, asked, result, step=3, at=3.0)
    assert label is not None
    assert with_label("text", label, "read_file").count("\n") == 1


async def test_the_output_of_a_command_that_ended_before_the_turn_says_of_when_it_is(tmp_path: Path) -> None:
    script = (
        calls(call("bash", command="echo 3 tests failed", background=True))
        + says("It runs.")
        + calls(call("read_background", id="b1"))
        + says("Three failed.")
    )
    async with stage(tmp_path, script) as here:
        ended = asyncio.Event()
        here.agent.conversation.subscribe(lambda event: ended.set() if isinstance(event, CommandEnded) else None)
        assert (await here.turn("run the tests")).of(ResultLabelled) == []
        await asyncio.wait_for(ended.wait(), 60)
        here.clock.time += 60
        turn = await here.turn("what failed?")
        (labelled,) = turn.of(ResultLabelled)
        assert (labelled.tool, labelled.label) == ("read_background", FreshnessLabel.UNVERIFIED)
        assert turn.results[-1]["content"].startswith("[NOT VERIFIED: ")


async def test_a_tool_that_keeps_its_results_or_says_so_of_one_is_labelled_as_of_unknown_age(
    bench: Bench,
) -> None:
    async def undated(context: ToolContext, arguments: Any) -> ToolResult:
        return replace(await TOOLS["read_file"].run(context, arguments), undated=True)

    assert await bench.call(replace(TOOLS["read_file"], run=undated), path="notes.txt") is FreshnessLabel.UNKNOWN
    assert await bench.call(replace(TOOLS["read_file"], caches=True), path="same.txt") is FreshnessLabel.UNKNOWN
    assert await bench.call(replace(TOOLS["read_file"], caches=None), path="same.txt") is None
