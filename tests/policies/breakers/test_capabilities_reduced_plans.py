"""Each sub-task of a plan is done, kept or deferred, and nothing is left out in silence."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from harness.events import ItemStatus, PlanItem
from harness.policies.breakers.capabilities import ReducedPlan, reduced

TOOLS = ("read_file", "grep", "bash", "fetch")

plans = st.lists(
    st.builds(PlanItem, st.text(max_size=3), st.sampled_from(ItemStatus), st.lists(st.sampled_from(TOOLS)).map(tuple))
)


def why(tool: str) -> tuple[str, str]:
    return f"{tool} is open", f"/reset {tool}"


def scope_of(items: list[PlanItem], *open_tools: str) -> ReducedPlan:
    return reduced(items, lambda tool: tool not in open_tools, why)


def test_a_sub_task_that_needs_several_open_tools_names_each_of_them_once() -> None:
    (deferred,) = scope_of([PlanItem("Ship it", tools=("bash", "grep", "fetch", "bash"))], "bash", "fetch").deferred
    assert deferred.reason == "bash is open; fetch is open"
    assert deferred.unblock == "/reset bash; /reset fetch"


def test_tools_that_are_down_for_one_reason_are_listed_by_it_once() -> None:
    scope = reduced([PlanItem("Ship it", tools=("bash", "fetch"))], lambda _: False, lambda _: ("no network", "wait"))
    assert scope.deferred[0].reason == "no network"
    assert scope.deferred[0].unblock == "wait"


@given(plans, st.sets(st.sampled_from(TOOLS)))
def test_every_sub_task_lands_in_exactly_one_part_as_a_naive_reading_says(
    items: list[PlanItem], open_tools: set[str]
) -> None:
    scope = scope_of(items, *open_tools)
    deferred = [entry.item for entry in scope.deferred]
    assert Counter([*scope.done, *scope.kept, *deferred]) == Counter(items)

    for part, status_is_done, needs_an_open_tool in (
        (list(scope.done), True, None),
        (list(scope.kept), False, False),
        (deferred, False, True),
    ):
        assert part == [
            item
            for item in items
            if (item.status is ItemStatus.DONE) == status_is_done
            and needs_an_open_tool in (None, bool(set(item.tools) & open_tools))
        ]
    for entry in scope.deferred:
        for tool in set(entry.item.tools) & open_tools:
            reason, unblock = why(tool)
            assert reason in entry.reason
            assert unblock in entry.unblock
    left = [item for item in items if item.status is not ItemStatus.DONE]
    assert scope.nothing_left == (bool(left) and all(set(item.tools) & open_tools for item in left))
