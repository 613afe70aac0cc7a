"""The report of a pause adds up, names everything once, and says what to do."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from harness.events import (
    BreakerState,
    Deferred,
    Failure,
    FailureCategory,
    HealthRow,
    ItemStatus,
    LoggedFailure,
    PauseReport,
    PlanItem,
    ToolTally,
)
from harness.policies.breakers.capabilities import reduced
from harness.policies.breakers.cascades import CascadeGroup
from harness.policies.breakers.pause_report import failures_by_tool, pause_report
from tests.policies.breakers import reports

READ = PlanItem("Read configuration files", ItemStatus.DONE, ("read_file",))
UPDATE = PlanItem("Update documentation", tools=("edit_file",))
DEPLOY = PlanItem("Deploy to staging", tools=("bash",))
NO_BASH = Deferred(DEPLOY, "bash is open", "a probe from step 9 on")

TIMED_OUT = Failure(FailureCategory.TIMEOUT, "timed out after 120 s", "timeout")
BASH_OPEN = HealthRow("bash", BreakerState.OPEN, 3, message=TIMED_OUT.message, probe_at=9)


def open_tool(tool: str) -> HealthRow:
    return HealthRow(tool, BreakerState.OPEN, 3)


def texts_of(report: PauseReport) -> list[str]:
    waiting = [entry.item.text for entry in report.deferred]
    return [*report.completed, *report.failed, *report.not_attempted, *waiting]


def test_without_a_plan_the_report_says_so_and_lists_the_tool_calls() -> None:
    report = pause_report("the budget is used up", calls=[ToolTally("read_file", 3, 0), ToolTally("bash", 1, 2)])
    assert not report.planned
    assert report.completed == ("read_file, 3 calls", "bash, 1 call")
    assert report.failed == ("bash, 2 calls",)
    assert (report.not_attempted, report.deferred) == ((), ())
    assert report.next_steps == ("Go on",)


def test_the_next_steps_go_from_the_cause_to_the_sub_task_to_resume_with() -> None:
    log = [LoggedFailure(3, "bash", Failure(FailureCategory.TRANSPORT, "older")), LoggedFailure(4, "bash", TIMED_OUT)]
    report = pause_report("x", [READ, UPDATE, DEPLOY], [NO_BASH], (), [BASH_OPEN], 5, 5, log)
    check, go_on = report.next_steps
    assert check.startswith("Check bash: timed out after 120 s")
    assert check.endswith(". When it works again: /reset bash")
    assert go_on == "Go on with a fresh budget of 5 failures, from: Update documentation"


def test_a_group_is_one_thing_to_look_into_and_asks_for_a_confirmation() -> None:
    group = CascadeGroup("transport", frozenset({"grep", "bash", "fetch"}), due=12)
    steps = pause_report("x", health=list(map(open_tool, ("bash", "fetch", "grep", "glob"))), groups=[group]).next_steps
    assert steps[0].startswith("bash, fetch and grep failed from one cause: ")
    assert steps[0].endswith("When it is gone: /confirm")
    assert steps[1:] == ("Check glob. When it works again: /reset glob", "Go on")


def test_a_very_long_message_is_cut_in_the_advice_and_whole_in_the_log() -> None:
    fits, cut = "x" * 120, "x" * 121
    health = [HealthRow("bash", BreakerState.CLOSED, 1, message=fits), HealthRow("grep", BreakerState.CLOSED, 1)]
    log = [LoggedFailure(1, "grep", Failure(FailureCategory.CRASHED, cut))]
    report = pause_report("x", health=health, log=log)
    assert report.next_steps[:2] == (f"Check bash: {fits}", f"Check grep: {'x' * 119}…")
    assert report.log == tuple(log)


@given(reports.plans, st.sets(st.sampled_from(reports.TOOLS)))
def test_every_sub_task_of_a_plan_is_reported_exactly_once(items: list[PlanItem], open_tools: set[str]) -> None:
    scope = reduced(items, lambda tool: tool not in open_tools, lambda tool: (f"{tool} is open", "wait"))
    report = pause_report("x", items, scope.deferred)
    assert Counter(texts_of(report)) == Counter(item.text for item in items)

    for item in items:
        if item.status is ItemStatus.DONE:
            assert item.text in report.completed
        elif set(item.tools) & open_tools:
            assert item.text in [entry.item.text for entry in report.deferred]
        elif item.status is ItemStatus.IN_PROGRESS:
            assert item.text in report.failed
        else:
            assert item.text in report.not_attempted


@given(reports.plans, reports.deferrals)
def test_a_plan_and_deferrals_that_do_not_fit_lose_nothing_and_tell_nothing_twice(
    items: list[PlanItem], deferred: list[Deferred]
) -> None:
    reported = texts_of(pause_report("x", items, deferred))
    assert set(reported) == {item.text for item in items} | {entry.item.text for entry in deferred}
    assert len(reported) == len(set(reported))


@given(st.data())
def test_the_figures_add_up_and_are_those_that_were_given(data: st.DataObject) -> None:
    log, health = data.draw(reports.logs), data.draw(reports.tables)
    consumed, budget, not_logged = (data.draw(reports.counts) for _ in range(3))
    report = pause_report("x", (), (), (), health, consumed, budget, log, not_logged)
    assert (report.consumed, report.budget, report.not_logged) == (consumed, budget, not_logged)
    assert (report.log, report.health) == (tuple(log), tuple(health))
    counts = failures_by_tool(report.log)
    assert sum(counts.values()) == len(log)
    for tool, count in counts.items():
        assert count == len([entry for entry in log if entry.tool == tool])


@given(reports.tables, reports.logs, reports.groups)
def test_each_open_tool_is_looked_into_once_alone_or_with_its_group(
    health: list[HealthRow], log: list[LoggedFailure], groups: list[CascadeGroup]
) -> None:
    *steps, _ = pause_report("x", health=health, log=log, groups=groups).next_steps
    grouped = {tool for group in groups for tool in group.members}
    for row in health:
        alone = [step for step in steps if step.startswith(f"Check {row.tool}")]
        resets = [step for step in alone if step.endswith(f"/reset {row.tool}")]
        is_open = row.state is not BreakerState.CLOSED
        assert len(alone) == (row.tool not in grouped and (is_open or row.failures > 0))
        assert len(resets) == (row.tool not in grouped and is_open)
