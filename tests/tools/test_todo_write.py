"""todo_write: a plan is taken whole, or refused in one sentence."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.events import ItemStatus, PlanItem
from harness.tools.todo_write import MOST_ITEMS, todo_write_tool
from harness.tools.tool import ArgumentError, ToolContext, ToolResult

pytestmark = pytest.mark.anyio

TODO_WRITE = todo_write_tool()

READ = {"text": "Read the settings", "status": "done", "tools": ["read_file"]}
TEST = {"text": "Run the tests", "status": "in_progress", "tools": ["bash", "bash"]}
WRITE = {"text": "Write it\n down ", "status": "pending", "tools": None}
PLAN = (
    PlanItem("Read the settings", ItemStatus.DONE, ("read_file",)),
    PlanItem("Run the tests", ItemStatus.IN_PROGRESS, ("bash",)),
    PlanItem("Write it down", ItemStatus.PENDING),
)


async def called(context: ToolContext, items: Any) -> ToolResult:
    return await TODO_WRITE.run(context, TODO_WRITE.parse({"items": items}))


async def test_the_list_is_repeated_and_leaves_the_tool_as_a_plan(context: ToolContext) -> None:
    result = await called(context, [READ, TEST, WRITE])
    assert result.plan == PLAN
    assert result.summary == "3 items, 1 done"
    assert result.content.splitlines() == [
        *("[x] Read the settings (needs read_file)", "[▸] Run the tests (needs bash)", "[ ] Write it down"),
        "3 items, 1 done.",
    ]


async def test_a_list_written_as_json_in_a_string_is_understood(context: ToolContext) -> None:
    assert (await called(context, json.dumps([READ, TEST, WRITE]))).plan == PLAN


async def test_an_empty_list_ends_the_plan(context: ToolContext) -> None:
    result = await called(context, [])
    assert (result.plan, result.content, result.summary) == ((), "The list is empty.", "no items")


async def test_the_tool_remembers_nothing_between_two_lists(context: ToolContext) -> None:
    await called(context, [READ, TEST])
    assert (await called(context, [WRITE])).plan == (PlanItem("Write it down"),)


@pytest.mark.parametrize(
    ("items", "expected"),
    [
        ([{"text": f"Part {n}", "status": "pending"} for n in range(21)], "`items` has 21 items; 20 are the most"),
        ([{"text": " \n", "status": "done"}], "`items.0.text` is empty."),
        ([READ, {"text": "x", "status": "done", "tools": [" "]}], "`items.1.tools.0` is empty."),
        ([WRITE, {"text": "Write it {down}", "status": "done"}, WRITE], "the same sub-task twice: 'Write it down'."),
        ([TEST, READ, {**TEST, "text": "Deploy"}], "`items` has 2 items in progress; at most one may be."),
        (
            [{"text": "x", "status": "completed"}],
            "'completed', but input should be 'pending', 'in_",
        ),
        ([{"text": "x"}], "`items.0.status` is missing."),
        ([{"text": "x", "status": "done", "tools": "bash"}], "`items.0.tools` was 'bash', but input should be a valid"),
        (["Read the settings"], "`items.0` was 'Read the settings', but input should be an object."),
        ('[{"text": "x"', '`items` was \'[{"text": "x"\', but input should be a valid list.'),
        ("[" * 100_000, "but input should be a valid list."),
        (None, "`items` was None"),
    ],
)
def test_a_list_that_breaks_a_rule_is_refused_in_one_sentence(items: Any, expected: str) -> None:
    with pytest.raises(ArgumentError) as refusal:
        TODO_WRITE.parse({"items": items})
    assert expected in str(refusal.value)
    assert str(refusal.value).startswith("todo_write was not run: ")
    assert "\n" not in str(refusal.value)


@given(st.lists(st.tuples(st.text(max_size=4), st.sampled_from(ItemStatus)), max_size=MOST_ITEMS + 2))
def test_a_list_is_taken_exactly_when_it_keeps_the_rules(given: list[tuple[str, ItemStatus]]) -> None:
    items = [{"text": text, "status": status.value} for text, status in given]
    texts = [" ".join(text.split()) for text, _ in given]
    keeps_the_rules = (
        len(given) <= MOST_ITEMS
        and all(texts)
        and len(set(texts)) == len(texts)
        and [status for _, status in given].count(ItemStatus.IN_PROGRESS) <= 1
    )
    try:
        taken = TODO_WRITE.parse({"items": items})
    except ArgumentError:
        assert not keeps_the_rules
    else:
        assert keeps_the_rules
        assert [item.text for item in taken.items] == texts


@pytest.mark.parametrize(
    ("items", "line"),
    [
        ([READ, TEST], "▸ Run the tests"),
        ([READ], "1 item"),
        (json.dumps([READ, TEST]), "▸ Run the tests"),
        ([], "no items"),
        ("[1", ""),
        (["x", None, {"text": 3, "status": "in_progress"}], "3 items"),
    ],
)
def test_the_call_in_one_line_is_what_is_being_worked_on(items: Any, line: str) -> None:
    assert TODO_WRITE.summarise({"items": items}) == line
