"""Labels on the results of real tools."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.events import FreshnessLabel, Json, ResultLabelled, ToolCall
from harness.executor.labels import Labels
from harness.practice.tool_faults_toml import parse
from harness.tools import Tool, ToolContext, ToolResult, Workspace, standard_tools
from tests.agent.stage import calls, says, stage
from tests.agent.test_tool_rounds import call

pytestmark = pytest.mark.anyio

TOOLS = {tool.name: tool for tool in standard_tools()}


class Bench:
    """Calls real tools in a folder and asks for the label of each result."""

    def __init__(self, folder: Path) -> None:
        self.context = ToolContext(Workspace(folder), folder / "outputs", "call")
        self.labels = Labels(strict=False)
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


async def test_a_reader_that_gives_what_it_gave_before_is_told_after_a_change(bench: Bench) -> None:
    (stale,) = parse('[[fault]]\ntool = "read_file"\nkind = "stale"', "x").applied([TOOLS["read_file"]])
    assert await bench.call(stale, path="notes.txt") is None
    await bench.call("edit_file", path="notes.txt", old_string="one", new_string="two")
    assert await bench.call(stale, path="notes.txt") is FreshnessLabel.CACHED


async def test_a_write_that_changes_nothing_is_no_change(bench: Bench) -> None:
    await bench.call("read_file", path="notes.txt")
    await bench.call("write_file", path="notes.txt", content="one\n")
    assert await bench.call("read_file", path="notes.txt") is None


async def test_a_tool_that_says_of_when_its_result_is(bench: Bench) -> None:
    async def old(context: ToolContext, arguments: Any) -> ToolResult:
        return ToolResult("sunny", as_of=100.0)

    bench.labels.begin_turn(200.0)
    assert await bench.call(replace(TOOLS["bash"], run=old), command="x") is FreshnessLabel.UNVERIFIED


async def test_a_tool_that_may_answer_from_a_cache(bench: Bench) -> None:
    cached = replace(TOOLS["read_file"], caches=True)
    assert await bench.call(cached, path="notes.txt") is FreshnessLabel.UNKNOWN


@pytest.mark.parametrize("input", [{}, {"path": 3}, {"path": None}, {"path": ""}, {"path": ["a"]}])
def test_odd_input_names_no_resource(input: Json) -> None:
    for name in ("read_file", "write_file", "edit_file"):
        resource = TOOLS[name].resource
        assert resource is not None
        assert resource(input) is None


async def test_the_model_reads_the_label_before_the_result_and_the_event_tells_it(tmp_path: Path) -> None:
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
